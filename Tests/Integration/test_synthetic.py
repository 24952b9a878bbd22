"""Reads the clock and counter of the synthetic video from received frames: which are missing, and when they were captured."""

import time

import pytest
from burnt_in_clock import read_all
from recording import Recording, assert_whole
from tallycam import Receiver, last_event, start_publisher

pytestmark = pytest.mark.takes(minutes=0.2, processors=0.2)


@pytest.mark.parametrize("quality, dimension", [("Low1", "416x234"), ("Medium1", "640x480"), ("High3", "1280x720")])
def test_every_frame_has_its_number_and_time(children, quality, dimension):
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), quality=quality, dimension=dimension, duration=2.5)
    assert publisher.wait() == 0, publisher.report()
    now = time.monotonic() * 1000
    sent = last_event(publisher, "ended")
    recording = Recording(receiver.recording())
    assert_whole(recording, sent)

    readings = read_all(recording)
    assert len(readings) == len(recording.frames)
    numbers = [reading.number for reading in readings]
    assert numbers == sorted(set(numbers))
    missing = numbers[-1] - numbers[0] + 1 - len(numbers)
    accounted = sent["videoSkipped"] + sent["videoDropped"] + sent["videoDecimated"] + sent["sourceDropped"]
    assert missing <= accounted, "what is missing was skipped by the encoder, or could not be drawn in time"

    # The stream's timestamps are the capture times of the frames.
    shifts = [tag.timestamp - reading.milliseconds for tag, reading in zip(recording.frames, readings)]
    assert max(shifts) - min(shifts) <= 1
    assert now >= readings[-1].milliseconds
