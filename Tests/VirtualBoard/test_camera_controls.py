"""A camera's controls, changed while a stream is live: what the camera reports, and what the frames at the server show."""

import functools
import json
import re
from collections.abc import Callable

import pytest
from encoder import Appliance
from live_controls import HEIGHT, UPRIGHT, WIDTH, Live, bars, brightness, color, corners, first, frames_of, said, spread
from pi_camera import Frame, nodes, set_parameters
from waiting import wait_until

pytestmark = [pytest.mark.takes(minutes=4.3, processors=0.45), pytest.mark.paced]

ISP = "/dev/video13"


def webcam(board) -> str:
    """The driver keeps its settings; this test starts from the defaults."""
    node = board.run("v4l2-ctl --list-devices | grep -A1 vivid | grep -o '/dev/video[0-9]*' | head -1").text.strip()
    board.run(f"v4l2-ctl -d {node} -c brightness=128,saturation=128,horizontal_flip=0,vertical_flip=0,gain_automatic=1")
    return node


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


# The scene's lowest fields are near, the others farther away.


def test_the_lens_is_moved(pi_camera, nginx):
    live = Live(pi_camera, nginx, "lens")
    assert said(live.set("lens", "4"), r"\(([\d.]+) dioptres\)") == pytest.approx(4, abs=0.1)
    middle = live.look()
    assert said(live.set("lens", "8"), r"\(([\d.]+) dioptres\)") == pytest.approx(8, abs=0.1)
    near = live.look()
    shown = live.shown()
    for moment, sharp, soft in ((near, 11, 0), (middle, 0, 11)):
        assert shown[moment].field(0, sharp).spread > shown[moment].field(0, soft).spread + 3, moment


def test_focus_follows_the_focus_point(pi_camera, nginx):
    live = Live(pi_camera, nginx, "focus")
    live.set("lens", "8")
    answer = live.set("focus", "auto")
    assert "focused" in answer and said(answer, r"([\d.]+) dioptres") == pytest.approx(4, abs=1)
    # A lens that stands still focuses there once.
    answer = live.set("focus-point", "0.5,0.9")
    assert "focused" in answer and said(answer, r"([\d.]+) dioptres") == pytest.approx(8, abs=1)
    live.shown()


def test_a_focus_point_refers_to_the_flipped_frame(pi_camera, nginx):
    """Once the frame is upside down, its top shows the scene's lowest part."""
    live = Live(pi_camera, nginx, "flipped")
    live.set("flip", "on", "focus-point", "0.5,0.5")
    answer = live.set("focus-point", "0.5,0.1")
    assert said(answer, r"([\d.]+) dioptres") == pytest.approx(8, abs=1)
    live.shown()


class Browser:
    """A program in the guest that talks to the page of the camera, as a browser does."""

    host = "127.0.0.1:8080"

    def __init__(self, board):
        self.board = board
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, body: dict | None = None):
        """The answer's JSON, if it is not a refusal."""
        text = json.dumps(body or {})
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        lines = [f"{method} /api/v1/{path} HTTP/1.1", f"Host: {self.host}", f"Origin: http://{self.host}", f"Cookie: {cookies}",
                 f"Content-Length: {len(text)}", "Connection: close", "", text]  # fmt: skip
        answer = self.board.run(f"socat -t 20 - TCP:{self.host}", stdin="\r\n".join(lines).encode()).text
        head, _, content = answer.replace("\r", "").partition("\n\n")
        assert head.startswith("HTTP/1.1 2"), answer
        self.cookies |= dict(re.findall(r"(?im)^set-cookie: ([\w-]+)=(\w+)", head))
        return json.loads(content)


def test_a_tap_on_the_page_moves_the_lens(pi_camera, nginx):
    """With the request that the page sends for a tap, which a test in Chromium looks at (test_page_in_browser.py)."""
    appliance = Appliance(
        pi_camera, nginx, "tap", options=f"--page {Browser.host}", camera="back", dimension=f"{WIDTH}x{HEIGHT}",
        audio={"source": "none"})  # fmt: skip
    browser = Browser(pi_camera)
    assert browser.ask("POST", "pairing")["state"] == "waiting"
    assert "admitted" in appliance.ask("page allow")
    assert browser.ask("GET", "pairing")["state"] == "granted"
    appliance.live_with()
    # The lens has finished its initial search.
    appliance.wait(lambda status: status.get("sources", {}).get("sourceFrames", 0) > 60)
    node = next(path for name, path in nodes(pi_camera).items() if name.startswith("dw9807"))

    def position() -> int:
        """Where the driver's lens is, higher for what is nearer."""
        return int(pi_camera.run(f"v4l2-ctl -d {node} -C focus_absolute").text.split(":")[1])

    def control(name: str) -> dict:
        return next(control for control in browser.ask("GET", "controls") if control["name"] == name)

    def tap(point: str, dioptres: float) -> int:
        """Where the lens is when the search has found what is there. The answer may come before its last steps."""
        (line,) = browser.ask("POST", "commands", {"command": f"set focus-point {point}"})["lines"]
        assert line.startswith("focus-point ") and "focused" in line, line
        wait_until(
            lambda: said(control("lens")["reported"], r"([\d.]+) dioptres") == pytest.approx(dioptres, abs=1), 20,
            lambda: f"{line}; lens {control('lens')}")  # fmt: skip
        return position()

    near, middle = tap("0.5,0.9", 8), tap("0.5,0.5", 4)
    # At least two dioptres apart, each of which is 32 of the lens's steps.
    assert near > middle + 60
    offered = control("focus-point")
    # Around that point: left, top, width and height.
    assert offered["value"] == "0.4,0.4,0.2,0.2" and "missing" not in offered, offered
    appliance.stop()


def test_manual_focus_keeps_the_found_position(pi_camera, nginx):
    live = Live(pi_camera, nginx, "kept")
    live.set("flip", "on", "focus-point", "0.5,0.1")
    answer = live.set("flip", "off", "focus-point", "0.4,0.3,0.2,0.2")
    assert said(answer, r"([\d.]+) dioptres") == pytest.approx(4, abs=1)
    held = live.set("focus", "manual")
    assert said(held, r"([\d.]+) dioptres") == pytest.approx(said(answer, r"([\d.]+) dioptres"), abs=0.1)
    live.shown()


def test_a_focus_point_refers_to_the_visible_frame(pi_camera, nginx):
    """Zoomed in, the lowest part of the scene's upper half is far away, and that of the lower half is near."""
    live = Live(pi_camera, nginx, "point")
    live.set("lens", "6")
    live.set("zoom", "2", "zoom-center", "0.5,0.25")
    assert said(live.set("focus-point", "0.5,0.9"), r"([\d.]+) dioptres") == pytest.approx(4, abs=1)
    live.set("zoom-center", "0.5,0.75")
    assert said(live.set("focus-point", "0.5,0.9"), r"([\d.]+) dioptres") == pytest.approx(8, abs=1)
    live.stop()


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
        return [frame for frame in live.all[live.moments[earlier] : live.moments[later]]
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


def test_a_webcam_itself_turns_frames_by_180_degrees(encoder, nginx):
    node = webcam(encoder)
    appliance = Appliance(
        encoder, nginx, "turned", camera=node, orientation=180, mirrored=True, dimension=f"{WIDTH}x{HEIGHT}")
    appliance.live_with()

    def driver(name: str) -> int:
        return int(encoder.run(f"v4l2-ctl -d {node} -C {name}").text.split(":")[1])

    assert (driver("horizontal_flip"), driver("vertical_flip")) == (0, 1)
    assert appliance.ask("set mirror on") == "mirror on\n" and driver("horizontal_flip") == 1
    sources = appliance.wait(lambda status: status.get("sources", {}).get("sourceFrames", 0) > 30)["sources"]
    assert sources["sourceRotated"] == 0, sources
    appliance.stop()
    # Reset for the next program that opens it.
    assert (driver("horizontal_flip"), driver("vertical_flip")) == (0, 0)


def test_changes_in_one_line_take_effect_with_one_frame(pi_camera, nginx):
    """The image signal processor gets brightness and contrast in one table: one frame earlier neither was applied."""
    live = Live(pi_camera, nginx, "line")
    live.set("exposure", "locked", "white-balance", "locked")
    before = live.look()
    live.set("brightness", "0.3", "contrast", "0.3")
    after = live.look()
    live.shown()
    frames = live.all[live.moments[before] : live.moments[after]]
    plain = frames[0]
    assert first(frames, lambda frame: brightness(frame) > brightness(plain) + 15) == first(
        frames, lambda frame: spread(frame) < 0.7 * spread(plain))  # fmt: skip


def test_a_driver_gets_changes_in_one_line_at_once(encoder, nginx):
    node = webcam(encoder)
    live = Live(encoder, nginx, "at-once", source=f"v4l2:{node},size={WIDTH}x{HEIGHT}")
    before = live.look()
    live.set("brightness", "200", "saturation", "0")
    after = live.look()
    live.shown()
    frames = live.all[live.moments[before] : live.moments[after]]
    plain = frames[0]
    bright = first(frames, lambda frame: brightness(frame) > brightness(plain) + 15)
    # The driver draws while it is being set: at most one frame has half of the changes.
    assert abs(bright - first(frames, lambda frame: color(frame) < 12)) <= 1


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


# A webcam, represented by the kernel's own test driver: settings are checked in the driver.


def driver_value(board, node: str, name: str) -> int:
    return int(board.run(f"v4l2-ctl -d {node} -C {name}").text.split(":")[1])


def start_webcam(board, nginx, name: str) -> tuple[Live, Callable[[str], int]]:
    """A stream of the webcam, and a function that returns the driver's settings."""
    node = webcam(board)
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
    node = webcam(encoder)
    live = Live(encoder, nginx, "crop", source=f"v4l2:{node},size=1280x720")
    live.look()
    assert re.match("zoom 2.*, zoom-center 0,0.5", live.set("zoom", "2", "zoom-center", "0,0.5"))
    zoomed = live.look(2)
    assert live.set("zoom", "1").startswith("zoom 1")
    back = live.look(2)
    shown = live.shown()
    assert bars(shown[zoomed]) <= bars(shown[back]) / 2 + 1 < bars(shown[back]), (bars(shown[zoomed]), bars(shown[back]))
