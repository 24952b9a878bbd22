"""The clock and counter in the synthetic video, read from what was received: what is missing, and how late it is."""

import binascii
import subprocess
import time
from dataclasses import dataclass

import pytest
from recording import Recording, assert_whole
from tallycam import Receiver, last_event, start_publisher

pytestmark = [pytest.mark.takes(minutes=0.2, processors=0.2), pytest.mark.paced]

COLUMNS, ROWS = 40, 3


@dataclass(frozen=True)
class Reading:
    number: int
    milliseconds: int  # of CLOCK_MONOTONIC


def read_strip(luma: memoryview, width: int, height: int) -> Reading:
    """The strip of blocks along the lower edge: sync, frame number, time and checksum."""
    block = max(2, min(width // COLUMNS, height // 12))
    top = height - ROWS * block
    bits = "".join(
        "1" if luma[(top + row * block + block // 2) * width + (2 * column + 1) * width // (2 * COLUMNS)] >= 128 else "0"
        for row in range(ROWS)
        for column in range(COLUMNS)
    )
    assert bits[:8] == "10100110", "no strip"
    content = int(bits[8:80], 2).to_bytes(9, "big")
    assert binascii.crc_hqx(content, 0xFFFF) == int(bits[80:96], 2), "a damaged strip"
    return Reading(int.from_bytes(content[:4], "big"), int.from_bytes(content[4:], "big"))


def read_all(recording: Recording) -> list[Reading]:
    width, height = recording.sps.width, recording.sps.height
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", recording.path, "-fps_mode", "passthrough", "-f", "rawvideo",
         "-pix_fmt", "gray", "-"],
        capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    frames, size = memoryview(run.stdout), width * height
    return [read_strip(frames[at : at + size], width, height) for at in range(0, len(frames), size)]


@pytest.mark.parametrize("quality, dimension", [("Low1", "416x234"), ("Medium1", "640x480"), ("High3", "1280x720")])
def test_every_frame_tells_its_number_and_time(children, quality, dimension):
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), quality=quality, dimension=dimension, duration=2.5)
    assert publisher.wait(15) == 0, publisher.report()
    now = time.monotonic() * 1000
    sent = last_event(publisher, "ended")
    recording = Recording(receiver.recording())
    assert_whole(recording, sent)

    readings = read_all(recording)
    assert len(readings) == len(recording.frames)
    numbers = [reading.number for reading in readings]
    assert numbers == sorted(set(numbers))
    missing = numbers[-1] - numbers[0] + 1 - len(numbers)
    assert missing <= sent["videoSkipped"], "what is missing was skipped by the encoder"

    # The stream's timestamps are the times at which the frames were taken.
    shifts = [tag.timestamp - reading.milliseconds for tag, reading in zip(recording.frames, readings)]
    assert max(shifts) - min(shifts) <= 1
    assert 0 <= now - readings[-1].milliseconds < 1000
