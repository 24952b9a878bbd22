"""A source that pauses, and audio that is muted: the tracks go on."""

import signal
import subprocess
import sys
import time

import pytest
from recording import Recording
from tallycam import Receiver, last_event, start_publisher, wait_for_event

pytestmark = [pytest.mark.takes(minutes=0.2, processors=0.1), pytest.mark.paced]

# Writes frames for a second, pauses for two, and writes for one more.
PAUSING_CAMERA = """
import sys, time
size = 320 * 240 * 3 // 2
start = time.monotonic()
for number in [*range(30), *range(90, 120)]:
    time.sleep(max(0, start + number / 30 - time.monotonic()))
    sys.stdout.buffer.write(bytes([40 + number]) * (320 * 240) + bytes([128]) * (size - 320 * 240))
    sys.stdout.buffer.flush()
"""


def test_while_a_camera_gives_nothing_its_last_frame_goes_out_again(children):
    receiver = Receiver(children)
    camera = children.start("camera", [sys.executable, "-c", PAUSING_CAMERA], piped=True)
    publisher = start_publisher(
        children, receiver.url(), stdin=camera.pipe, video="raw:-,format=i420,size=320x240,fps=30", quality="Medium1",
        dimension="320x240", status_interval=1,
    )  # fmt: skip
    assert publisher.wait(20) == 0, publisher.report()
    status = last_event(publisher, "status")
    assert status["sourceRepeated"] > 40 and status["sourceFrames"] >= 30, status
    recording = Recording(receiver.recording())
    times = [tag.timestamp for tag in recording.frames]
    gaps = [after - before for before, after in zip(times, times[1:])]
    # A fifth of a second is given to writers that do not come evenly.
    assert 200 <= max(gaps) < 400, max(gaps)
    assert len(times) > 105, "4 s at 30 fps, less what the first gap takes"
    assert recording.decoded.complaints == ""


def loudness(path) -> list[int]:
    """The largest sample of each tenth of a second."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-ac", "1", "-ar", "8000", "-f", "s16le", "-"],
        capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples = memoryview(run.stdout).cast("h")
    return [max(map(abs, samples[at : at + 800])) for at in range(0, len(samples) - 799, 800)]


def test_muted_audio_goes_out_as_silence(children):
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), quality="Low1", dimension="320x240", duration=4)
    wait_for_event(publisher, "publishing")
    time.sleep(1)
    publisher.send(signal.SIGUSR1)
    assert wait_for_event(publisher, "muted")["muted"] is True
    time.sleep(1.5)
    publisher.send(signal.SIGUSR1)
    assert publisher.wait(20) == 0, publisher.report()
    recording = Recording(receiver.recording())
    loud = loudness(recording.path)
    silent = [at for at, level in enumerate(loud) if level < 20]
    assert 10 <= len(silent) <= 20 and silent[-1] - silent[0] == len(silent) - 1, loud
    assert min(loud[:5] + loud[-5:]) > 1000
    gaps = [after.timestamp - before.timestamp for before, after in zip(recording.audio_packets, recording.audio_packets[1:])]
    assert max(gaps) <= 24, "the track never disappears"
