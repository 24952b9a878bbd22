"""How the frame size of a stream changed: when, to which size, and with how long a gap."""

import flv
from encoder import Publisher, Stream

# From the last frame of one size to the first of the next, in ms; this includes a frame's own duration at 15 fps. One missing
# frame is allowed, as a stall of less than 0.1 s is not reported; two are not.
LONGEST_GAP = 190


def sizes_of(stream: Stream) -> list[tuple[int, int]]:
    """The frame sizes in the order of the headers, without repetitions."""
    headers = [flv.sps_of_header(tag) for tag in stream.recording.tags if tag.is_video_header]
    sizes = [(sps.width, sps.height) for sps in headers]
    return [size for index, size in enumerate(sizes) if index == 0 or size != sizes[index - 1]]


def gaps_at_changes(stream: Stream) -> list[int]:
    """Milliseconds between the frames on either side of each header with another size."""
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
    """Waits until the quality has changed accordingly."""
    publisher.wait(
        lambda: any(event["name"] == "qualityChanged" and condition(event) for event in publisher.events), timeout,
        "no such change of the quality",
    )  # fmt: skip


def assert_grows_without_gap(stream: Stream) -> None:
    """Frames dropped on a stalled network are not a gap of the encoder: only changes upwards are certain to have no drops. The
    last change must be upwards."""
    gaps = gaps_at_changes(stream)
    assert gaps and gaps[-1] <= LONGEST_GAP + stream.stalled * 1000, (gaps, stream.stalled)
