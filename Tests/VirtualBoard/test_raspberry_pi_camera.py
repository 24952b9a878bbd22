"""The Raspberry Pi's camera: libcamera's rpi/vc4 pipeline with its real autofocus, exposure and white balance, on a module that
imitates the sensor, the receiver and the image signal processor. Tests of the frames, and of the streams made of them."""

import json
import re
import subprocess

import pytest
from encoder import Publisher, assert_decodes
from leases import DEBUG, ENCODER_HOLDS, mount_debug
from pi_camera import BARS, COLUMNS, IMX219, IMX708, MIDDLE, NEAR, ROWS, WHOLE, fields_of, load, set_parameters, shoot
from waiting import wait_until

pytestmark = [pytest.mark.takes(minutes=1.2, processors=0.5), pytest.mark.paced, pytest.mark.usefixtures("camera_probe")]

CAMERA = f"libcamera:{IMX708}"
HARDWARE = "v4l2:/dev/video11"
DIOPTRES = 0.3
MANUAL, AUTO, CONTINUOUS = 0, 1, 2
FOCUSED = 2
# A frame's status in libcamera's numbers.
SUCCESS = 0
# Exposure and gain, each fixed separately.
FIXED = "ExposureTimeMode=1 AnalogueGainMode=1"


def captured(board, source: str, frames: int, *options: str) -> dict:
    words = f"tallycam capture --video '{source}' --frames {frames} {' '.join(options)}"
    return judged(board.run(words, timeout=90).text)


def judged(text: str) -> dict:
    """The report, after checks that frames came in order and that nobody read them. On a slow guest some of them are
    repeated."""
    report = json.loads(text.splitlines()[-1])
    assert report["captured"] + report["repeated"] == report["frames"] == report["dmabuf"], report
    assert report["captured"] > report["repeated"] and report["disorders"] == 0, report
    return report


# The camera's description.


def test_a_camera_is_listed_as_on_a_board(pi_camera):
    lines = [json.loads(line) for line in pi_camera.run("tallycam cameras --json").text.splitlines()]
    (camera,) = [line for line in lines if line["model"] == "imx708"]
    assert (camera["id"], camera["location"]) == (IMX708, "back")
    assert "NV12" in {mode["format"] for mode in camera["modes"]}
    controls = {control["name"] for control in camera["controls"]}
    assert controls >= {"AfMode", "AfWindows", "LensPosition", "ExposureTime", "AnalogueGain", "AwbEnable", "ScalerCrop"}


def test_ranges_are_listed_for_the_mode_of_a_stream(pi_camera):
    """As libcamera reports them once the camera is configured; before that, exposure goes up to 66 ms and the lens to 32."""
    lines = [json.loads(line) for line in pi_camera.run("tallycam cameras --json --dimension 640x360").text.splitlines()]
    (camera,) = [line for line in lines if line["model"] == "imx708"]
    assert camera["rangesAt"] == "640x360" and "rangesProblem" not in camera
    ranges = {control["name"]: (control["minimum"], control["maximum"]) for control in camera["controls"]}
    true = shoot(pi_camera, 1, WHOLE).description["controls"]
    for name in ("ExposureTime", "LensPosition", "AnalogueGain"):
        assert ranges[name] == pytest.approx(true[name][:2], rel=0.01), name


def test_a_configured_camera_has_accurate_ranges(pi_camera):
    description = shoot(pi_camera, 1, WHOLE).description
    controls = description["controls"]
    # Line times of the mode: 8 lines at least, and the longest frame minus 48 lines.
    assert controls["ExposureTime"][:2] == [pytest.approx(106, abs=2), pytest.approx(112_072_000, rel=0.01)]
    assert controls["LensPosition"][:2] == [0.0, 15.0]
    assert controls["AnalogueGain"][:2] == [pytest.approx(1024 / (1024 - 112), abs=0.001), 16.0]
    assert controls["ScalerCrop"][1] == "(0, 0)/4608x2592"
    assert description["properties"]["Rotation"] == 180


def test_frames_arrive_in_order_as_dmabuf_and_unread(pi_camera):
    report = captured(pi_camera, CAMERA, 60, "--dimension 640x360")
    assert (report["format"], report["size"]) == ("NV12", "640x360")
    assert report["frames"] == 60 and report["mapped"] == 0


# Exposure, white balance, focus.


@pytest.mark.parametrize("light", [20, 300, 5000])
def test_exposure_settles_within_ten_frames(pi_camera, light):
    set_parameters(pi_camera, light=light)
    shots = shoot(pi_camera, 24, WHOLE)
    for frame in shots.frames:
        frame["Exposure"] = frame["ExposureTime"] * frame["AnalogueGain"]
    # libcamera marks those that a client should not show.
    first = next(index for index, frame in enumerate(shots.frames) if frame["status"] == SUCCESS)
    assert first < 10 and shots.settled("Exposure", 0.05) - first <= 10, [round(frame["Exposure"]) for frame in shots.frames]
    assert shots.last["AeState"] == 2
    assert shots.last["Lux"] == pytest.approx(light, rel=0.05)
    # The frame is equally bright in each of these lights.
    assert 100 < shots.last.field(0, 0).y < 140


@pytest.mark.parametrize("temperature", [2950, 5753])
def test_white_balance_finds_the_light(pi_camera, temperature):
    set_parameters(pi_camera, temperature=temperature)
    last = shoot(pi_camera, 24, WHOLE).last
    assert last["ColourTemperature"] == pytest.approx(temperature, rel=0.05)
    grays = [last.field(column, row) for column, row in ((0, 0), (6, 3), (8, 5), (1, 10))]
    assert all(abs(gray.cb - 128) <= 3 and abs(gray.cr - 128) <= 3 for gray in grays), grays
    colors = [last.field(*place).color for place in ((2, 2), (13, 2), (2, 9), (13, 9))]
    assert colors == ["red", "green", "blue", "yellow"]


# In the sensor's pixels: the nearer part of the scene.
WINDOW = "AfMetering=1 AfWindows=1536/1900/1536/600"
WINDOWS = pytest.mark.parametrize("window, depth", [
    pytest.param("", MIDDLE, id="middle"), pytest.param(WINDOW, NEAR, id="window", marks=pytest.mark.slow),
])  # fmt: skip


@WINDOWS
def test_focus_follows_phase_detection(pi_camera, window, depth):
    last = shoot(pi_camera, 45, WHOLE, f"AfMode={CONTINUOUS}", window).last
    assert last["AfState"] == FOCUSED
    assert last["LensPosition"] == pytest.approx(depth / 100, abs=DIOPTRES)
    # Fields at the focused depth have sharp stripes, others have none.
    middle, near = last.field(0, 0), last.field(0, 11)
    sharp, soft = (near, middle) if depth == NEAR else (middle, near)
    assert sharp.spread > 4 * soft.spread + 4, (sharp, soft)


@WINDOWS
def test_focus_uses_contrast_without_phase_detection(pi_camera, window, depth):
    set_parameters(pi_camera, pdaf=0)
    shots = shoot(pi_camera, 130, WHOLE, f"AfMode={AUTO} AfTrigger=0", window)
    assert shots.last["AfState"] == FOCUSED
    assert shots.last["LensPosition"] == pytest.approx(depth / 100, abs=DIOPTRES)
    # It has tried positions on both sides.
    positions = [frame["LensPosition"] for frame in shots.frames]
    assert min(positions) < depth / 100 - 1 and max(positions) > depth / 100


# Fixed values: in the metadata, and in the pixels.


def test_exposure_and_gain_keep_their_settings(pi_camera):
    def shot(exposure: int, gain: float):
        last = shoot(pi_camera, 14, WHOLE, FIXED, f"ExposureTime={exposure} AnalogueGain={gain}").last
        assert last["ExposureTime"] == pytest.approx(exposure, abs=14)
        assert last["AnalogueGain"] == pytest.approx(gain, rel=0.01)
        return last.field(0, 0).y

    dark, long, sensitive = shot(4000, 2), shot(8000, 2), shot(4000, 4)
    assert long > dark + 20
    assert sensitive == pytest.approx(long, abs=2)


def test_the_lens_keeps_its_setting(pi_camera):
    for position, place in ((4, (0, 0)), (8, (0, 11))):
        last = shoot(pi_camera, 14, WHOLE, f"AfMode={MANUAL} LensPosition={position}").last
        assert last["LensPosition"] == pytest.approx(position, abs=0.05)
        others = [last.field(0, row).spread for row in (0, 11) if (0, row) != place]
        assert last.field(*place).spread > 4 * max(others) + 4


def test_color_gains_keep_their_settings(pi_camera):
    def shot(red: float, blue: float):
        last = shoot(pi_camera, 14, WHOLE, f"AwbEnable=0 ColourGains={red}/{blue}").last
        assert last.numbers("ColourGains") == pytest.approx([red, blue], rel=0.01)
        return last.field(0, 0)

    plain, red, blue = shot(2.3, 1.6), shot(3.0, 1.6), shot(2.3, 2.2)
    assert red.cr > plain.cr + 8 and blue.cb > plain.cb + 8


def test_a_crop_zooms(pi_camera):
    """To the middle half of both sides: each field of the scene has four fields of the frame."""
    whole = shoot(pi_camera, 14, WHOLE).last
    zoomed = shoot(pi_camera, 14, WHOLE, "ScalerCrop=1152/648/2304/1296").last
    assert zoomed["ScalerCrop"] == "(1152, 648)/2304x1296"
    away = [zoomed.field(x, y).y - whole.field(4 + x // 2, 3 + y // 2).y for x in range(COLUMNS) for y in range(ROWS)]
    # Exposure measures the whole frame, so that brightness does not change.
    assert max(map(abs, away)) < 8, away


@pytest.mark.parametrize("flips, corners", [
    ("", ["red", "green", "blue", "yellow"]),
    (",HorizontalFlip=on", ["green", "red", "yellow", "blue"]),
    (",VerticalFlip=on", ["blue", "yellow", "red", "green"]),
    (",HorizontalFlip=on,VerticalFlip=on", ["yellow", "blue", "green", "red"]),
])  # fmt: skip
def test_frames_are_upright_and_can_be_flipped(pi_camera, flips, corners):
    """The module is mounted upside down, like those of the Raspberry Pi: both of the sensor's flips together make frames
    upright."""
    captured(pi_camera, f"{CAMERA}{flips}", 12, "--dimension 640x360 --save /tmp/frames")
    frame = fields_of(pi_camera.get("/tmp/frames")[-640 * 360 * 3 // 2 :], 640, 360)
    # Corners of the area that the sensor's mode for this size covers, or of the whole.
    for inset in (1, 2):
        places = [(inset, inset), (15 - inset, inset), (inset, 11 - inset), (15 - inset, 11 - inset)]
        found = [frame.field(*place).color for place in places]
        if "gray" not in found:
            break
    assert found == corners


def test_two_cameras_face_back_and_front(pi_camera):
    """As on a Compute Module: a Module 3, and a Module 2 without a lens, at the same time."""
    load(pi_camera, "sensors=imx708,imx219")
    lines = [json.loads(line) for line in pi_camera.run("tallycam cameras --json").text.splitlines()]
    found = {line["model"]: line for line in lines if line["model"].startswith("imx")}
    assert (found["imx708"]["id"], found["imx708"]["location"]) == (IMX708, "back")
    assert (found["imx219"]["id"], found["imx219"]["location"]) == (IMX219, "front")
    controls = {control["name"] for control in found["imx219"]["controls"]}
    assert "ExposureTime" in controls and not controls & {"AfMode", "LensPosition"}
    words = "--frames 60 --dimension 640x360"
    other = pi_camera.start(f"exec tallycam capture --video libcamera:front {words}")
    captured(pi_camera, CAMERA, 60, "--dimension 640x360")
    judged(other.wait(90).text)
    last = shoot(pi_camera, 16, camera="imx219", size="640x480").last
    assert last["AeState"] == 2 and last["Lux"] == pytest.approx(300, rel=0.1)


# Streams.


def importers(board, bytes_of_a_frame: int) -> int:
    """The number of holders of the camera's most held buffer of that size."""
    text = board.run(f"cat {DEBUG}/dma_buf/bufinfo").text
    held = re.findall(rf"^0*{-(-bytes_of_a_frame // 4096) * 4096}\s+\S+\s+\S+\s+(\d+)\s+videobuf2", text, re.MULTILINE)
    return max(map(int, held), default=0)


def wait_for_import(board, bytes_of_a_frame: int) -> None:
    wait_until(
        lambda: importers(board, bytes_of_a_frame) > ENCODER_HOLDS, 20,
        lambda: board.run(f"cat {DEBUG}/dma_buf/bufinfo").text, interval=0.5,
    )  # fmt: skip


def bars_received(path, width: int, height: int) -> list[tuple[int, ...]]:
    """Red, green and blue in the middle of each bar of the last frame, in the color space that the stream declares."""
    words = ["ffmpeg", "-v", "error", "-i", str(path), "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
    data = subprocess.run(words, capture_output=True, check=True, timeout=120).stdout
    frame = data[-width * height * 3 :]
    middles = [((2 * bar + 1) * width // 16 + height // 2 * width) * 3 for bar in range(8)]
    return [tuple(frame[at : at + 3]) for at in middles]


@pytest.mark.parametrize("size", [
    pytest.param((640, 360), id="640x360"), pytest.param((1280, 720), id="1280x720", marks=pytest.mark.slow),
])
def test_a_stream_has_the_sensors_colors_without_copies(pi_camera, nginx, size):
    """Sensor -> receiver -> ISP -> DMABUF -> hardware encoder -> server."""
    width, height = size
    mount_debug(pi_camera)
    set_parameters(pi_camera, color_bars=1)
    publisher = Publisher(
        pi_camera, nginx, f"bars{height}", f"--dimension {width}x{height}", "--quality Low3", "--adapt nothing",
        # Daylight's gains: with their color matrix a full red has no blue.
        source=f"{CAMERA},AwbEnable=off,ColourGains=2.35/1.6",
    )  # fmt: skip
    publisher.wait_frames(20)
    wait_for_import(pi_camera, width * height * 3 // 2)
    publisher.wait_frames(publisher.frames + 20)
    stream = publisher.stop()
    assert_decodes(stream)
    assert {report["encoder"] for report in stream.of("status")} == {HARDWARE}
    assert (stream.recording.sps.width, stream.recording.sps.height) == size
    status = stream.of("status")[-1]
    assert status["sourceConverted"] == status["sourcePasses"] == status["sourceMapped"] == 0, status
    received = bars_received(stream.recording.path, width, height)
    away = max(abs(a - b) for bar, wanted in zip(received, BARS) for a, b in zip(bar, wanted))
    assert away <= 3, received
