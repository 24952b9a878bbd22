"""A source that pauses, and muted audio: the tracks continue."""

import signal
import subprocess
import sys

import pytest
from processes import HUNG
from recording import Recording, frames_due
from tallycam import Receiver, last_event, start_publisher, wait_for_event, wait_for_statuses

pytestmark = pytest.mark.takes(minutes=0.2, processors=0.1)

# Writes frames for a second, pauses until it receives a line, and writes for another second.
PAUSING_CAMERA = """
import sys, time
size = 320 * 240 * 3 // 2
start = time.monotonic()
for number in range(60):
    if number == 30:
        sys.stdin.readline()
        start = time.monotonic() - 1
    time.sleep(max(0, start + number / 30 - time.monotonic()))
    sys.stdout.buffer.write(bytes([40 + number]) * (320 * 240) + bytes([128]) * (size - 320 * 240))
    sys.stdout.buffer.flush()
"""


def test_a_silent_cameras_last_frame_is_repeated(children):
    receiver = Receiver(children)
    camera = children.start("camera", [sys.executable, "-c", PAUSING_CAMERA], piped=True, stdin=subprocess.PIPE)
    publisher = start_publisher(
        children, receiver.url(), stdin=camera.pipe, video="raw:-,format=i420,size=320x240,fps=30", quality="Medium1",
        dimension="320x240", status_interval=1,
    )  # fmt: skip
    publisher.wait_until(lambda: (last_event(publisher, "status") or {"sourceRepeated": 0})["sourceRepeated"] > 40, "repeated frames")
    camera.child.stdin.write(b"\n")
    camera.child.stdin.flush()
    assert publisher.wait() == 0, publisher.report()
    sent = last_event(publisher, "ended")
    # A frame that arrives between repetitions may be older than they are.
    assert sent["sourceFrames"] >= 58 and sent["videoFrames"] > 30 and frames_due(sent) > 90, sent
    recording = Recording(receiver.recording())
    assert abs(len(recording.frames) - sent["videoFrames"]) <= 1
    assert recording.decoded.complaints == ""


def loudness(path) -> list[int]:
    """The largest sample of each tenth of a second."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-ac", "1", "-ar", "8000", "-f", "s16le", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples = memoryview(run.stdout).cast("h")
    return [max(map(abs, samples[at : at + 800])) for at in range(0, len(samples) - 799, 800)]


def test_muted_audio_is_sent_as_silence(children):
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), quality="Low1", dimension="320x240", status_interval=1)
    wait_for_statuses(publisher, 2)
    publisher.send(signal.SIGUSR1)
    assert wait_for_event(publisher, "muted")["muted"] is True
    wait_for_statuses(publisher, 2)
    publisher.send(signal.SIGUSR1)
    publisher.wait_until(lambda: last_event(publisher, "muted")["muted"] is False, "audio again")
    wait_for_statuses(publisher, 2)
    assert publisher.interrupt_and_wait() == 0, publisher.report()
    recording = Recording(receiver.recording())
    loud = loudness(recording.path)
    silent = [at for at, level in enumerate(loud) if level < 20]
    assert len(silent) >= 5 and silent[-1] - silent[0] == len(silent) - 1, loud
    assert min(loud[:5] + loud[-5:]) > 1000
    gaps = [after.timestamp - before.timestamp for before, after in zip(recording.audio_packets, recording.audio_packets[1:])]
    assert max(gaps) <= 24, "the track never disappears"
