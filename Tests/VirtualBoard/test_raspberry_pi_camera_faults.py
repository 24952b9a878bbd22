"""A Raspberry Pi's camera, its lens or its image signal processor fails: what is reported, what continues, and that it
recovers."""

import json

import pytest
from board import HOST
from pi_camera import IMX708, WHOLE, load, set_parameters, shoot
from recording import Recording

pytestmark = [pytest.mark.takes(minutes=4.5, processors=0.2), pytest.mark.usefixtures("camera_probe")]

CAMERA = f"libcamera:{IMX708}"
GOES_ON = "repeating the last frame until"
IS_BACK = "is back after"


class Capture:
    """`tallycam capture` in the guest, while faults come and go."""

    def __init__(self, board, frames: int, camera: str = CAMERA):
        words = f"--dimension 640x360 --fps 20 --frames {frames}"
        self.process = board.start(f"exec tallycam capture --video '{camera}' {words}")

    def finish(self, timeout: float = 90) -> dict:
        output = self.process.wait(timeout)
        assert output.status == 0, output.text
        self.text = output.text
        report = json.loads(output.text.splitlines()[-1])
        assert report["disorders"] == 0 and report["mapped"] == 0, output.text
        assert report["captured"] + report["repeated"] == report["frames"] == report["dmabuf"], report
        return report


# The camera stops delivering frames.


@pytest.mark.parametrize("fault", [
    "silent", *(pytest.param(name, marks=pytest.mark.slow) for name in ("no_statistics", "no_embedded")),
])
def test_frames_of_a_stopped_camera_are_repeated_until_it_returns(pi_camera, fault):
    """A sensor that falls silent, an ISP that delivers no statistics, and missing embedded data, for which libcamera waits a
    second in vain. A second that a busy host loses costs twenty repeated frames."""
    capture = Capture(pi_camera, 240)
    pi_camera.sleep(3)
    set_parameters(pi_camera, **{fault: 1})
    capture.process.wait_for(GOES_ON, 20)
    pi_camera.sleep(1)
    set_parameters(pi_camera, **{fault: 0})
    capture.process.wait_for(IS_BACK, 20)
    report = capture.finish()
    assert report["repeated"] > 10 and report["captured"] > 60, report
    assert capture.text.count(IS_BACK) == 1, capture.text


def test_a_stream_continues_while_the_sensor_is_silent(pi_camera, nginx):
    url = nginx.url("silent").replace("127.0.0.1", HOST)
    sender = pi_camera.start(
        f"exec tallycam publish --video '{CAMERA}' --audio silence --quality Low3 --dimension 640x360 --adapt nothing "
        f"--encoder v4l2 --resize never --duration 16 --status-interval 1 --events json --url {url}"
    )
    sender.wait_for('"name":"status".*"sourceFrames":[1-9][0-9]', 60)
    set_parameters(pi_camera, silent=1)
    sender.wait_for('"name":"sourceInterrupted"', 20)
    set_parameters(pi_camera, silent=0)
    sender.wait_for('"name":"sourceReturned"', 20)
    output = sender.wait(90)
    assert output.status == 0, output.text[-3000:]
    events = [json.loads(line) for line in output.text.splitlines() if line.startswith("{")]
    names = [event["name"] for event in events]
    assert "reconnecting" not in names and names.count("connected") == 1
    recording = Recording(nginx.recording("silent"))
    assert not recording.disorder() and not recording.decoded.complaints


def test_a_camera_unbound_while_streaming_returns(pi_camera):
    """The receiver with sensor and lens, as when a loose cable unbinds its driver."""
    driver = "/sys/bus/platform/drivers/unicam"
    capture = Capture(pi_camera, 200)
    pi_camera.sleep(3)
    pi_camera.run(f"echo unicam.0 > {driver}/unbind")
    capture.process.wait_for(GOES_ON, 20)
    pi_camera.run(f"echo unicam.0 > {driver}/bind")
    capture.process.wait_for(IS_BACK, 20)
    report = capture.finish()
    assert report["repeated"] > 4 and report["captured"] > 60, report


# The camera is missing, or does not start.


def test_a_sensor_that_fails_to_start_is_reported_and_used_once_it_starts(pi_camera):
    """There is no last frame that could be repeated."""
    set_parameters(pi_camera, fail_start=1)
    refused = pi_camera.run(f"tallycam capture --video {CAMERA} --frames 5", check=False)
    assert refused.status == 4 and "Input/output error" in refused.text and GOES_ON not in refused.text
    set_parameters(pi_camera, fail_start=0)
    assert Capture(pi_camera, 40).finish()["captured"] > 20


@pytest.mark.parametrize("words", ["sensors=none", "heap=0"])
def test_a_camera_that_cannot_be_set_up_is_missing(pi_camera, words):
    """A receiver whose sensor does not answer, and a kernel without a heap of contiguous memory."""
    load(pi_camera, words)
    refused = pi_camera.run(f"tallycam capture --video {CAMERA}", check=False)
    assert refused.status == 4 and f'there is no camera "{IMX708}"' in refused.text
    assert "imx708" not in pi_camera.run("tallycam cameras").text


def test_a_full_heap_is_reported(pi_camera):
    set_parameters(pi_camera, heap_full=1)
    refused = pi_camera.run(f"tallycam capture --video {CAMERA} --frames 5", check=False)
    assert refused.status == 4 and "Cannot allocate memory" in refused.text
    set_parameters(pi_camera, heap_full=0)
    assert Capture(pi_camera, 10).finish()["captured"] == 10


# Frames continue despite a fault.


@pytest.mark.parametrize("fault", [
    {"wrong_embedded": 1}, {"skip_every": 5}, {"refuse_controls": 1},
    *(pytest.param(fault, marks=pytest.mark.slow) for fault in (
        {"lens_stuck": 1}, {"refuse_controls": 2}, {"refuse_controls": 4})),
], ids=lambda fault: "-".join(f"{name}-{value}" for name, value in fault.items()))  # fmt: skip
def test_frames_continue_despite_faults(pi_camera, fault):
    """Wrong embedded data, lost frames, a lens that sticks, and controls that fail with EIO: from the start, and for a
    while."""
    set_parameters(pi_camera, **fault)
    assert Capture(pi_camera, 20, f"{CAMERA},AfMode=Continuous").finish()["captured"] == 20
    set_parameters(pi_camera, **dict.fromkeys(fault, 0))
    capture = Capture(pi_camera, 60, f"{CAMERA},AfMode=Continuous")
    pi_camera.sleep(2)
    set_parameters(pi_camera, **fault)
    pi_camera.sleep(1)
    set_parameters(pi_camera, **dict.fromkeys(fault, 0))
    report = capture.finish()
    assert report["captured"] == 60 and GOES_ON not in capture.text, report


@pytest.mark.parametrize("words, fault", [("", {"wrong_embedded": 1}), ("embedded=0", {})], ids=["wrong", "no node"])
def test_exposure_and_white_balance_settle_without_embedded_data(pi_camera, words, fault):
    load(pi_camera, words)
    set_parameters(pi_camera, **fault)
    last = shoot(pi_camera, 40, WHOLE).last
    assert last["AeState"] == 2 and last["Lux"] == pytest.approx(300, rel=0.1)
    assert last["ColourTemperature"] == pytest.approx(5753, rel=0.05)
    assert 100 < last.field(0, 0).y < 140


def test_a_sequence_with_lost_frames_has_rising_times(pi_camera):
    set_parameters(pi_camera, skip_every=5)
    times = [frame["SensorTimestamp"] for frame in shoot(pi_camera, 40, WHOLE).frames]
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert min(gaps) > 0
    # One in five is missing: the gap is twice as wide as the others.
    shortest = sorted(gaps)[len(gaps) // 4]
    assert sum(gap > 1.7 * shortest for gap in gaps) >= 6, gaps


@pytest.mark.slow
def test_contrast_focus_does_not_report_a_sticking_lens_as_focused(pi_camera):
    set_parameters(pi_camera, pdaf=0, lens_stuck=1)
    shots = shoot(pi_camera, 130, WHOLE, "AfMode=1 AfTrigger=0")
    assert 3 in {frame["AfState"] for frame in shots.frames[-5:]}, shots.last["AfState"]


def test_a_module_without_its_lens_delivers_frames_without_focus(pi_camera):
    load(pi_camera, "lens=0")
    assert Capture(pi_camera, 20).finish()["captured"] == 20
    last = shoot(pi_camera, 14, WHOLE).last
    # A fixed focus is sharp.
    assert last.field(0, 0).spread > 8
