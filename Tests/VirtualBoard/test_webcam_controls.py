"""A webcam's controls, changed while a stream is live: what its driver has, and what the frames at the server show. The kernel's
own test drivers represent the webcam."""

import functools
import re
from collections.abc import Callable

import pytest
from encoder import Appliance
from live_controls import HEIGHT, WIDTH, Live, bars, brightness, color, first, said
from waiting import wait_until

pytestmark = [pytest.mark.takes(minutes=1, processors=0.45), pytest.mark.paced]


def webcam_with_defaults(board) -> str:
    """Its node. The driver keeps settings from test to test, so they are reset."""
    node = board.run("v4l2-ctl --list-devices | grep -A1 vivid | grep -o '/dev/video[0-9]*' | head -1").text.strip()
    board.run(f"v4l2-ctl -d {node} -c brightness=128,saturation=128,horizontal_flip=0,vertical_flip=0,gain_automatic=1")
    return node


def driver_value(board, node: str, name: str) -> int:
    return int(board.run(f"v4l2-ctl -d {node} -C {name}").text.split(":")[1])


def start_webcam(board, nginx, name: str) -> tuple[Live, Callable[[str], int]]:
    """A stream of the webcam, and a function that returns the driver's settings."""
    node = webcam_with_defaults(board)
    live = Live(board, nginx, name, source=f"v4l2:{node},size={WIDTH}x{HEIGHT}")
    return live, functools.partial(driver_value, board, node)


def test_a_webcams_driver_applies_settings_to_frames(encoder, nginx):
    live, driver = start_webcam(encoder, nginx, "webcam")
    plain = live.look()
    assert live.set("brightness", "200") == "brightness 200" and driver("brightness") == 200
    bright = live.look()
    assert live.set("brightness", "128", "saturation", "0") == "brightness 128, saturation 0"
    assert (driver("brightness"), driver("saturation")) == (128, 0)
    gray = live.look()
    assert live.set("saturation", "128", "mirror", "on") == "saturation 128, mirror on" and driver("horizontal_flip") == 1
    assert live.set("flip", "on") == "flip on" and driver("vertical_flip") == 1
    turned = live.look()
    assert live.set("mirror", "off", "flip", "off") == "mirror off, flip off" and driver("horizontal_flip") == 0
    shown = live.shown()
    assert brightness(shown[bright]) > brightness(shown[plain]) + 30
    assert color(shown[plain]) > 40 > 12 > color(shown[gray])
    # Bars from left to right: when mirrored, the first is the last.
    left, right = shown[plain].field(0, 5), shown[turned].field(15, 6)
    assert abs(left.y - right.y) < 12 and abs(left.cb - right.cb) < 12


def test_a_webcams_gain_ends_its_automatic_gain(encoder, nginx):
    live, driver = start_webcam(encoder, nginx, "webcam-gain")
    answer = live.set("gain", "50")
    assert driver("gain") == 50 and driver("gain_automatic") == 0, answer
    live.set("exposure", "auto")
    assert driver("gain_automatic") == 1
    live.set("exposure", "locked")
    assert driver("gain_automatic") == 0
    live.shown()


def test_a_webcam_refuses_missing_controls(encoder, nginx):
    live, _ = start_webcam(encoder, nginx, "webcam-wrong")
    for line, words in (
        ("brightness 300", r"brightness must be 0 to 255, not \"300\""), ("lens 2", "lens is unavailable: the camera has a fixed focus"),
        ("focus-point 0.5,0.5", "does not support a point"), ("zoom 2", "have no more pixels than the stream's"),
    ):  # fmt: skip
        assert re.search(words, answer := live.set(*line.split())), answer
    live.shown()


@pytest.mark.slow
def test_a_webcam_itself_turns_frames_by_180_degrees(encoder, nginx):
    node = webcam_with_defaults(encoder)
    appliance = Appliance(
        encoder, nginx, "turned", camera=node, orientation=180, mirrored=True, dimension=f"{WIDTH}x{HEIGHT}")
    appliance.live_with()
    driver = functools.partial(driver_value, encoder, node)
    assert (driver("horizontal_flip"), driver("vertical_flip")) == (0, 1)
    assert appliance.ask("set mirror on") == "mirror on\n" and driver("horizontal_flip") == 1
    sources = appliance.wait(lambda status: status.get("sources", {}).get("sourceFrames", 0) > 30)["sources"]
    assert sources["sourceRotated"] == 0, sources
    appliance.stop()
    # Reset for the next program that opens it.
    assert (driver("horizontal_flip"), driver("vertical_flip")) == (0, 0)


def test_a_driver_gets_changes_in_one_line_at_once(encoder, nginx):
    node = webcam_with_defaults(encoder)
    live = Live(encoder, nginx, "at-once", source=f"v4l2:{node},size={WIDTH}x{HEIGHT}")
    before = live.look()
    live.set("brightness", "200", "saturation", "0")
    after = live.look()
    live.shown()
    frames = live.shown_between(before, after)
    plain = frames[0]
    bright = first(frames, lambda frame: brightness(frame) > brightness(plain) + 15)
    # The driver draws while it is being set: at most one frame has half of the changes.
    assert abs(bright - first(frames, lambda frame: color(frame) < 12)) <= 1


@pytest.fixture
def parts(encoder):
    """The nodes of vimc by their names. Each of its sensors has a lens, joined to it by the media controller. Its first sensor
    is set to the format that the next part takes."""

    def node(name: str) -> str:
        found = encoder.run(f"grep -lx '{name}' /sys/class/video4linux/*/name").text.split("/")[4]
        return f"/dev/{found}"

    # libcamera, which supports vimc, may have set its parts differently.
    encoder.run("rmmod vimc && modprobe vimc")
    media = encoder.run("ls -d /sys/devices/platform/vimc.0/media*").text.strip().rsplit("/", 1)[1]
    encoder.run(f"media-ctl -d /dev/{media} --set-v4l2 '\"Sensor A\":0[fmt:SRGGB8_1X8/640x480]'")
    encoder.run(f"v4l2-ctl -d {node('Raw Capture 0')} -v width=640,height=480,pixelformat=RGGB")
    yield node
    encoder.end_all()
    encoder.run("rmmod vimc && modprobe vimc")


@pytest.mark.slow
def test_a_lens_with_a_node_of_its_own_is_moved(encoder, parts, nginx):
    def position(name: str) -> int:
        return int(encoder.run(f"v4l2-ctl -d {parts(name)} -C focus_absolute").text.split(":")[1])

    other = position("Lens B")
    live = Live(encoder, nginx, "lens", source=f"v4l2:{parts('RGB/YUV Capture')},size=640x480")
    assert said(live.set("lens", "5"), r"lens 5 \(([\d.]+) dioptres\)") == pytest.approx(5, abs=0.01)
    assert position("Lens A") == 512 and position("Lens B") == other
    assert live.set("lens", "0") == "lens 0 (0 dioptres)" and position("Lens A") == 0
    assert re.match(r"refused: lens must be 0 to 10 dioptres, not \"11\"", live.set("lens", "11"))
    live.stop()


@pytest.fixture
def cropping_camera(encoder):
    """The kernel's test driver as an HDMI receiver with a 1280x720 signal, which produces frames of any part of its signal."""
    words = "n_devs=1 node_types=0x1 num_inputs=1 vid_cap_nr=0 allocators=1"
    encoder.run(f"rmmod vivid && modprobe vivid {words} input_types=0x3")
    yield "/dev/video0"
    encoder.end_all()
    encoder.run(f"rmmod vivid && modprobe vivid {words} input_types=0x0")


@pytest.mark.slow
def test_a_driver_that_crops_zooms(encoder, cropping_camera, nginx):
    live = Live(encoder, nginx, "selection", source=f"v4l2:{cropping_camera},size={WIDTH}x{HEIGHT}")
    whole = live.look()

    def crop() -> str:
        return encoder.run(f"v4l2-ctl -d {cropping_camera} --get-selection target=crop").text

    # The answer comes when the zoom is nearly there. How near depends on when the frames came.
    answer = live.set("zoom", "2", "zoom-center", "0.25,0.5")
    reported = re.fullmatch(r"zoom 2(?: \((.+)\))?, zoom-center 0\.25,0\.5(?: \((.+),(.+)\))?", answer)
    assert reported, answer
    zoom, *center = (float(number or asked) for number, asked in zip(reported.groups(), (2, 0.25, 0.5)))
    assert zoom == pytest.approx(2, abs=0.1) and center == pytest.approx([0.25, 0.5], abs=0.01), answer
    wait_until(lambda: "Left 0, Top 180, Width 640, Height 360" in crop(), 10, crop)
    zoomed = live.look(2)
    assert re.match(r"refused: zoom must be 1 to 2, not \"3\"", live.set("zoom", "3"))
    assert live.set("zoom", "1").startswith("zoom 1")
    back = live.look(2)
    assert "Width 1280, Height 720" in crop()
    shown = live.shown()
    assert bars(shown[zoomed]) <= bars(shown[back]) / 2 + 1 < bars(shown[back]) == bars(shown[whole])
    assert live.last_status["sourcePasses"] == 0, live.last_status


def test_larger_frames_of_a_webcam_are_zoomed_during_conversion(encoder, nginx):
    node = webcam_with_defaults(encoder)
    live = Live(encoder, nginx, "crop", source=f"v4l2:{node},size=1280x720")
    live.look()
    assert re.match("zoom 2.*, zoom-center 0,0.5", live.set("zoom", "2", "zoom-center", "0,0.5"))
    zoomed = live.look(2)
    assert live.set("zoom", "1").startswith("zoom 1")
    back = live.look(2)
    shown = live.shown()
    assert bars(shown[zoomed]) <= bars(shown[back]) / 2 + 1 < bars(shown[back]), (bars(shown[zoomed]), bars(shown[back]))
