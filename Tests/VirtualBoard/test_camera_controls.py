"""A camera's controls, changed while a stream is live: what the camera reports, and what the frames at the server show."""

import json
import re

import pytest
from encoder import Appliance
from live_controls import HEIGHT, UPRIGHT, WIDTH, Live, brightness, corners, first, frames_of, said, spread
from pi_camera import Frame, set_parameters

pytestmark = [pytest.mark.takes(minutes=2.4, processors=0.45), pytest.mark.paced]

ISP = "/dev/video13"


def test_exposure_time_and_gain_are_set(pi_camera, nginx):
    live = Live(pi_camera, nginx, "exposure")
    answer = live.set("exposure-time", "5", "gain", "2")
    assert said(answer, r"exposure-time 5 \(([\d.]+) ms") == pytest.approx(5, abs=0.05)
    assert said(answer, r"gain 2 \(.*gain ([\d.]+)\)") == pytest.approx(2, rel=0.02)
    short = live.look()
    live.set("exposure-time", "1/100")
    long = live.look()
    shown = [brightness(frame) for frame in live.shown()]
    assert shown[long] > shown[short] + 20


@pytest.mark.slow
def test_exposure_is_locked_and_released(pi_camera, nginx):
    """Twice the light at the same exposure. Later automatic exposure restores the same brightness."""
    live = Live(pi_camera, nginx, "locked")
    live.set("exposure-time", "1/100")
    live.set("exposure", "auto")
    free = live.look(2)
    found = live.set("exposure", "locked")
    set_parameters(pi_camera, light=600)
    locked = live.look(2)
    # A manual setting knows no correction.
    assert said(live.set("exposure-value", "0"), r"([\d.]+) ms") == said(found, r"([\d.]+) ms")
    live.set("exposure", "auto", "exposure-value", "0")
    normal = live.look(3)
    shown = [brightness(frame) for frame in live.shown()]
    assert shown[locked] > shown[free] + 30
    assert shown[normal] == pytest.approx(shown[free], abs=12)


def test_automatic_exposure_is_corrected(pi_camera, nginx):
    live = Live(pi_camera, nginx, "corrected")
    live.set("exposure", "auto", "exposure-value", "0")
    normal = live.look()
    live.set("exposure-value", "1")
    brighter = live.look(3)
    live.set("metering", "spot")
    live.look(1)
    # The first answer in a slow guest may come before its camera has reported this.
    assert "metering spot (spot" in live.set("metering", "spot")
    shown = [brightness(frame) for frame in live.shown()]
    assert shown[brighter] > shown[normal] + 20


def test_white_balance_is_locked_and_released(pi_camera, nginx):
    live = Live(pi_camera, nginx, "balance")
    free = live.look(2)
    found = live.set("white-balance", "locked")
    set_parameters(pi_camera, temperature=2950)
    locked = live.look(2)
    again = live.set("white-balance", "locked")
    assert re.search(r"[\d.]+/[\d.]+", again)[0] == re.search(r"[\d.]+/[\d.]+", found)[0]
    live.set("white-balance", "auto")
    settled = live.look(5)
    gray = [frame.field(0, 0) for frame in live.shown()]
    assert abs(gray[free].cb - 128) <= 4 and abs(gray[free].cr - 128) <= 4
    assert gray[locked].cr > gray[free].cr + 10
    assert abs(gray[settled].cr - 128) < (gray[locked].cr - 128) / 2


@pytest.mark.slow
def test_white_balance_is_set(pi_camera, nginx):
    """Sets it to a light by its name, and to two gains."""
    live = Live(pi_camera, nginx, "gains")
    settled = live.look()
    assert "daylight" in live.set("white-balance", "daylight")
    answer = live.set("white-balance", "3/1.6")
    assert "3/1.6" in answer.partition("(")[2], answer
    red = live.look()
    gray = [frame.field(0, 0) for frame in live.shown()]
    assert gray[red].cr > gray[settled].cr + 10


def test_brightness_contrast_and_saturation_are_set(pi_camera, nginx):
    live = Live(pi_camera, nginx, "colors")
    live.set("exposure", "locked", "white-balance", "locked", "focus", "manual")
    plain = live.look()
    assert live.set("brightness", "0.3") == "brightness 0.3"
    bright = live.look()
    assert live.set("brightness", "0", "contrast", "2") == "brightness 0, contrast 2"
    contrast = live.look()
    assert live.set("contrast", "1", "saturation", "0") == "contrast 1, saturation 0"
    gray = live.look()
    shown = live.shown()
    assert brightness(shown[bright]) > brightness(shown[plain]) + 30
    assert spread(shown[contrast]) > 1.2 * spread(shown[plain])
    assert corners(shown[plain]) == UPRIGHT and corners(shown[gray]) == ["gray"] * 4


@pytest.mark.slow
def test_sharpness_and_denoise_are_set(pi_camera, nginx):
    """Checks the settings of the image signal processor: its module here draws neither edges nor noise."""
    live = Live(pi_camera, nginx, "edges")

    def driver(*names: str) -> str:
        return pi_camera.run(" && ".join(f"v4l2-ctl -d {ISP} -C {name}" for name in names)).text

    before = driver("sharpen")
    assert live.set("saturation", "1", "sharpness", "4") == "saturation 1, sharpness 4"
    assert driver("sharpen") != before
    ways = {}
    for word in ("off", "minimal", "fast", "high-quality"):
        assert live.set("denoise", word) == f"denoise {word}"
        ways[word] = driver("denoise", "colour_denoise")
    assert len(set(ways.values())) == 4, ways
    live.shown()


def test_zoom_glides_to_its_setting(pi_camera, nginx):
    live = Live(pi_camera, nginx, "zoom")
    whole = live.look()
    answer = live.set("zoom", "2")
    assert said(answer, r"zoom 2(?: \(([\d.]+)\))?" if "(" in answer else "zoom (2)") == pytest.approx(2, rel=0.02)
    middle = live.look()
    live.set("zoom-center", "0.25,0.25")
    corner = live.look()
    live.set("zoom", "1", "zoom-center", "0.5,0.5")
    back = live.look()
    shown = live.shown()

    def away(frame: Frame, left: int, top: int) -> float:
        """Each field of the scene has four fields of the frame."""
        return max(abs(frame.field(x, y).y - shown[whole].field(left + x // 2, top + y // 2).y)
                   for x in range(16) for y in range(12))  # fmt: skip

    assert away(shown[middle], 4, 3) < 14 and away(shown[corner], 0, 0) < 14
    assert corners(shown[back]) == UPRIGHT

    def between(earlier: int, later: int, left: int, top: int) -> list[Frame]:
        """Frames in transition, which show neither view. `left` and `top` are of the zoomed one."""
        return [frame for frame in live.shown_between(earlier, later)
                if away(frame, left, top) > 20 and corners(frame) != UPRIGHT]  # fmt: skip

    # A transition takes 0.3 s, and a busy host may let the guest stand still for that long.
    assert between(whole, middle, 4, 3) or between(corner, back, 0, 0), "zoom jumped"


def test_the_frame_is_mirrored_and_flipped_while_live(pi_camera, nginx):
    live = Live(pi_camera, nginx, "mirror")
    moments = []
    for words in ("mirror on", "flip on", "mirror off", "flip off"):
        assert live.set(words) == words
        moments.append(live.look())
    shown = [corners(frame) for frame in live.shown()]
    assert shown == [
        ["green", "red", "yellow", "blue"], ["yellow", "blue", "green", "red"], ["blue", "yellow", "red", "green"], UPRIGHT,
    ]  # fmt: skip


def test_the_camera_itself_turns_frames_by_180_degrees(pi_camera, nginx):
    """The processor makes no pass over the frame, and points refer to the visible frame."""
    appliance = Appliance(pi_camera, nginx, "half", camera="back", orientation=180, dimension=f"{WIDTH}x{HEIGHT}")
    appliance.live_with()
    # The lens has finished its initial search.
    appliance.wait(lambda status: status.get("sources", {}).get("sourceFrames", 0) > 60)
    assert said(appliance.ask("set focus-point 0.5,0.1"), r"([\d.]+) dioptres") > 6
    appliance.ask("set mirror on")
    pi_camera.sleep(2)
    # This pass is for the mirror.
    appliance.wait(lambda status: status.get("sources", {}).get("sourceRotated", 0) > 0)
    appliance.stop()
    frames = frames_of(nginx, "half")
    assert corners(frames[15]) == ["yellow", "blue", "green", "red"]
    assert corners(frames[-1]) == ["blue", "yellow", "red", "green"]


def test_changes_in_one_line_take_effect_with_one_frame(pi_camera, nginx):
    """The image signal processor gets brightness and contrast in one table: one frame earlier neither was applied."""
    live = Live(pi_camera, nginx, "line")
    live.set("exposure", "locked", "white-balance", "locked")
    before = live.look()
    live.set("brightness", "0.3", "contrast", "0.3")
    after = live.look()
    live.shown()
    frames = live.shown_between(before, after)
    plain = frames[0]
    assert first(frames, lambda frame: brightness(frame) > brightness(plain) + 15) == first(
        frames, lambda frame: spread(frame) < 0.7 * spread(plain))  # fmt: skip


def test_impossible_changes_are_refused_and_the_stream_continues(pi_camera, nginx):
    live = Live(pi_camera, nginx, "wrong")
    for line, words in (
        ("zoome 2", "did you mean zoom"), ("zoom 9", r"^refused: zoom must be 1 to 3\.6, not \"9\""), ("lens 99", r"lens must be 0 to 15 dioptres, not \"99\""),
        ("focus-point 1.5,0", "focus-point must be X,Y"), ("exposure-point 0.5,0.5", "exposure-point is unavailable: libcamera"),
        ("white-balance candle", "auto, locked, .*daylight"), ("exposure-time 0", "exposure-time must be"),
        # Either the whole line is applied, or nothing of it.
        ("brightness 0.9 lens 99", "lens must be 0 to 15"), ("quality Nonsense zoom 2", "video quality"),
    ):  # fmt: skip
        assert re.search(words, answer := live.set(line)), answer
    answer = live.set("gain", "4")
    assert "gain 4" in answer
    text = live.process.text
    live.command("controls")
    live.process.wait_for("mute: unavailable", 10)
    listed = live.process.text[len(text) :]
    assert "brightness 0 (" in listed and "zoom 1 (1 to 3.6" in listed and "gain 4" in listed, listed
    live.shown()


def test_a_returning_camera_gets_its_settings_again(pi_camera, nginx):
    live = Live(pi_camera, nginx, "back")
    live.set("mirror", "on", "exposure-time", "3", "gain", "1.5")
    # Long enough that the camera is closed and opened again.
    set_parameters(pi_camera, silent=1)
    live.process.wait_for("sourceInterrupted", 30)
    pi_camera.sleep(3)
    set_parameters(pi_camera, silent=0)
    live.process.wait_for("sourceReturned", 40)
    live.wait_frames(live.frames + 20)
    answer = live.set("brightness", "0.1")
    assert answer == "brightness 0.1"
    text = live.process.text
    live.command("controls")
    live.process.wait_for("flip off", 10)
    assert re.search(r"exposure-time 3 \(.*now (2\.9|3)", live.process.text[len(text) :]), live.process.text[len(text) :]
    live.stop()


def controls_of(appliance: Appliance) -> dict[str, dict]:
    return {control["name"]: control for control in json.loads(appliance.ask("controls --json"))}


def start_with_controls(board, nginx) -> Appliance:
    """The appliance with a device.json that sets some controls, one of which its camera does not have."""
    return Appliance(
        board, nginx, "socket", camera="back", dimension=f"{WIDTH}x{HEIGHT}", audio={"source": "none"},
        controls={"lens": 2.5, "mirror": True, "white-balance": "daylight", "exposure-point": "0.5,0.5"},
    )  # fmt: skip


def test_controls_of_the_device_file_are_applied_when_the_camera_is_open(pi_camera, nginx):
    appliance = start_with_controls(pi_camera, nginx)
    before = controls_of(appliance)
    # The USB device port belongs to no camera.
    assert [name for name, control in before.items() if "missing" not in control] == ["webcam"] and len(before) == 23, before
    appliance.live_with()
    pi_camera.sleep(3)
    controls = controls_of(appliance)
    assert controls["lens"]["value"] == "2.5" and controls["lens"]["reported"].startswith("2.5"), controls["lens"]
    assert (controls["lens"]["minimum"], controls["lens"]["maximum"], controls["lens"]["unit"]) == (0, 15, "dioptres")
    assert controls["mirror"]["value"] == "on" and controls["white-balance"]["value"] == "daylight"
    assert controls["focus"]["value"] == "manual"
    assert "missing" in controls["exposure-point"]
    appliance.wait_for_event("exposure-point is unavailable")
    appliance.stop()


def test_commands_at_the_socket_are_answered_with_the_cameras_reports(pi_camera, nginx):
    appliance = start_with_controls(pi_camera, nginx)
    appliance.live_with()
    answer = appliance.ask("set exposure-time 1/200 zoom 2")
    assert re.match(r"exposure-time 5 \((4\.9\d*|5) ms.*\nzoom 2", answer), answer
    socket = "--socket /tmp/e/socket"
    wrong = pi_camera.run(f"tallycam set zoom 99 {socket}", check=False)
    assert wrong.status == 7 and "zoom must be 1 to 3.6" in wrong.text
    # Two at once; both are answered.
    first = pi_camera.start(f"tallycam set brightness 0.2 {socket}")
    second = pi_camera.start(f"tallycam set contrast 1.5 {socket}")
    assert "brightness 0.2" in first.wait(15).text and "contrast 1.5" in second.wait(15).text
    appliance.stop()
    appliance.process.signal("TERM")
    appliance.process.wait(20)
