"""The frame size follows the network while the hardware encodes: its next encoder opens beside the present one."""

import time

import flv
import pytest

from encoder import Publisher, Stream, assert_decodes, kernel_is_content

pytestmark = pytest.mark.takes(minutes=2, processors=0.5)

CAMERA = "v4l2:/dev/video0,size=1280x720,format=NV12,fps=15"
FULL = (1280, 720)
# From the last frame of one size to the first of the next, ms: a frame's own time at 15 fps included.
LONGEST_GAP = 150


def sizes_of(stream: Stream) -> list[tuple[int, int]]:
    """In the order of the headers, each once in a row."""
    headers = [flv.sps_of_header(tag) for tag in stream.recording.tags if tag.is_video_header]
    sizes = [(sps.width, sps.height) for sps in headers]
    return [size for index, size in enumerate(sizes) if index == 0 or size != sizes[index - 1]]


def gaps_at_changes(stream: Stream) -> list[int]:
    """Milliseconds between the frames on either side of each header of another size."""
    gaps, size, last = [], None, None
    for tag in stream.recording.tags:
        if tag.is_video_header:
            sps = flv.sps_of_header(tag)
            changed = size is not None and (sps.width, sps.height) != size
            size, before = (sps.width, sps.height), last if changed else None
        elif tag.is_frame:
            if last is not None and before is not None:
                gaps.append(tag.timestamp - before)
            last, before = tag.timestamp, None
    return gaps


def wait_for_change(publisher: Publisher, condition, timeout: float) -> None:
    """Until the quality has changed so."""
    deadline = time.monotonic() + timeout
    while not any(event["name"] == "qualityChanged" and condition(event) for event in publisher.events):
        assert time.monotonic() < deadline and not publisher.process.has_ended, publisher.process.text[-3000:]
        time.sleep(0.3)


def test_the_frame_size_follows_the_network_without_a_gap(encoder, nginx, capsys):
    publisher = Publisher(
        encoder, nginx, "resize", "--dimension 1280x720", "--quality Medium3", "--bitrate 150,1000,1000",
        "--resize seamless", source=CAMERA,
    )  # fmt: skip
    publisher.wait_frames(30)
    encoder.shape(rate="260kbit")
    wait_for_change(publisher, lambda event: event["width"] < FULL[0], 60)
    publisher.wait_frames(publisher.frames + 60)
    encoder.unshape()
    wait_for_change(publisher, lambda event: event["reason"] == "sizeFits" and event["width"] == FULL[0], 90)
    publisher.wait_frames(publisher.frames + 60)
    stream = publisher.stop()
    sizes, gaps = sizes_of(stream), gaps_at_changes(stream)
    with capsys.disabled():
        print(f"\n  sizes {sizes}, gaps {gaps} ms")
    assert sizes[0] == sizes[-1] == FULL and len(sizes) >= 3
    assert all(width * 9 == height * 16 for width, height in sizes)
    # What a stalled network dropped is no gap of the encoder's: only changes upwards are surely without drops.
    assert gaps and gaps[-1] <= LONGEST_GAP, gaps
    assert not {1102, 1103, 1104} & set(stream.codes)
    assert_decodes(stream)
    kernel_is_content(encoder)
