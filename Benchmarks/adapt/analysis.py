"""The view of a spectator at the far end, from recordings and the times at which frames arrived."""

import statistics
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import strip

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Integration"))

import flv  # noqa: E402

FRESH = 3.0  # seconds
# A steady link's use is measured from here on.
SETTLING = 10.0


@dataclass(frozen=True)
class Frame:
    arrival: float  # CLOCK_MONOTONIC
    taken: float | None  # the same; `None` when it cannot be read
    byte_count: int
    is_corrupt: bool
    number: int | None = None  # the source's
    size: tuple[int, int] | None = None  # as encoded; `None` before the first sequence header


@dataclass
class Recording:
    """The result of one publication: its frames in the order of arrival, and a decoder's verdict on the file."""

    path: Path
    frames: list[Frame]
    # A decoder gives nothing for frames that it cannot decode, mostly those before the first keyframe.
    undecoded: int
    complaints: list[str]


@dataclass
class Verdict:
    fresh_share: float
    worst_age: float
    worst_age_connected: float
    corrupt: int
    frames: int
    seconds_to_frame: float | None
    longest_freeze_connected: float
    # The kbit/s of media that arrived, for each part.
    media_rates: list[float] = field(default_factory=list)


def is_usable_header(tag: flv.Tag) -> bool:
    """Whether a decoder can start with it: some programs send an empty one."""
    return tag.is_video_header and len(tag.body) > 16


def log2_max_frame_num(header: flv.Tag) -> int:
    record = header.body[5:]
    sps = record[8 : 8 + int.from_bytes(record[6:8], "big")].replace(b"\0\0\3", b"\0\0")
    bits = flv._Bits(sps[4:])
    bits.ue()
    if sps[1] in (100, 110, 122, 244):
        if bits.ue() == 3:
            bits.u(1)
        bits.ue(), bits.ue(), bits.u(1)
        if bits.u(1):
            raise flv.FLVError("scaling matrices are not read")
    return bits.ue() + 4


def frame_number(tag: flv.Tag, bits_of_number: int) -> int | None:
    """`frame_num` of a frame (H.264 section 7.3.3); `None` if it cannot be read."""
    data, at = tag.body[5:], 0
    while at + 4 < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4] & 0x1F in (1, 5):
            bits = flv._Bits(data[at + 5 : at + 29].replace(b"\0\0\3", b"\0\0"))
            bits.ue(), bits.ue(), bits.ue()
            return bits.u(bits_of_number)
        at += 4 + size
    return None


def dangling(tags: list[flv.Tag]) -> list[bool]:
    """Whether each frame refers, directly or indirectly, to a missing one."""
    result, header_bits, last, is_broken = [], None, None, True
    for tag in tags:
        if is_usable_header(tag):
            header_bits = log2_max_frame_num(tag)
        if not tag.is_frame:
            continue
        number = None if header_bits is None else frame_number(tag, header_bits)
        if tag.is_keyframe and header_bits is not None:
            is_broken = False
        elif last is None or number is None or (number - last) % (1 << header_bits) not in (0, 1):
            is_broken = True
        last = number
        result.append(is_broken)
    return result


def frame_sizes(tags: list[flv.Tag]) -> list[tuple[int, int] | None]:
    """The size of each frame, which may change with every sequence header."""
    result, size = [], None
    for tag in tags:
        if is_usable_header(tag):
            sps = flv.sps_of_header(tag)
            size = (sps.width, sps.height)
        elif tag.is_frame:
            result.append(size)
    return result


def decode(path: Path, size: tuple[int, int], lines: tuple[int, int], log: IO[str]) -> Iterator[bytes]:
    """The luma of each frame in a recording, scaled to one size even where the stream's size differs or changes.

    lines: the first one wanted, and how many. log: receives the decoder's complaints.
    """
    (width, height), (top, count) = size, lines
    # Numbers replace timestamps, because some programs give two frames the same one, which is not a decoding fault. ffmpeg
    # rebuilds its filters where the stream's size changes; `gray` alone would stretch the range of luma.
    filters = f"scale={width}:{height}:flags=bicubic,crop={width}:{count}:0:{top}:exact=1,format=yuv420p,extractplanes=y"
    process = subprocess.Popen(
        ["ffmpeg", "-v", "error", "-nostdin", "-flags", "+output_corrupt", "-i", str(path), "-map", "0:v",
         "-fps_mode", "passthrough", "-vf", filters, "-bsf:v", "setts=ts=N", "-f", "rawvideo", "-"],
        stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while len(luma := process.stdout.read(width * count)) == width * count:
            yield luma
    finally:
        process.stdout.close()
        process.wait()


def read_recording(path: Path, arrivals: list[dict], size: tuple[int, int] | None = None) -> Recording:
    """
    arrivals: the receiver's events of the video messages in it.
    size: the source's, in which the clock was burnt; that of the first sequence header unless given.
    """
    tags = flv.read_tags(path)
    frames = [tag for tag in tags if tag.is_frame]
    sizes, broken = frame_sizes(tags), dangling(tags)
    size = size or next(filter(None, sizes), None)
    readings, complaints = read_clocks(path, size) if size else ([], [])
    undecoded = max(0, len(frames) - len(readings))
    readings = [None] * undecoded + readings
    return Recording(path, [
        Frame(arrival["clock"], reading and reading.milliseconds / 1000, len(tag.body), is_broken or reading is None,
              reading and reading.number, encoded_size)
        for tag, arrival, reading, is_broken, encoded_size in zip(frames, arrivals, readings, broken, sizes)
    ], undecoded, complaints)  # fmt: skip


def read_clocks(path: Path, size: tuple[int, int]) -> tuple[list[strip.Reading | None], list[str]]:
    """The burnt-in clock of each decoded frame, and the decoder's complaints."""
    height = strip.strip_height(*size)
    with tempfile.TemporaryFile("w+") as log:
        readings = [strip.read(luma, *size) for luma in decode(path, size, (size[1] - height, height), log)]
        log.seek(0)
        return readings, log.read().splitlines()


def ages(frames: list[Frame], start: float, end: float, step: float = 0.02) -> list[tuple[float, float]]:
    """The age of the newest intact frame, at even times; a viewer sees that frame."""
    shown = sorted((frame for frame in frames if not frame.is_corrupt), key=lambda frame: frame.arrival)
    arrivals = [frame.arrival for frame in shown]
    newest, taken = -1e9, []
    for frame in shown:
        newest = max(newest, frame.taken)
        taken.append(newest)
    result, moment = [], start
    while moment < end:
        index = bisect_right(arrivals, moment) - 1
        result.append((moment - start, moment - (taken[index] if index >= 0 else start)))
        moment += step
    return result


def parts_of(script: list[tuple[int, float]]) -> list[tuple[int, float, float]]:
    """Rate in kbit/s, first and last second of each part of a script."""
    parts, at = [], 0.0
    for kilobits, seconds in script:
        parts.append((kilobits, at, at + seconds))
        at += seconds
    return parts


def connected_spans(script: list[tuple[int, float]], recovery: float) -> list[tuple[float, float]]:
    """First and last second of each stretch without a blackout and the seconds after it."""
    spans, first, end = [], 0.0, sum(seconds for _, seconds in script)
    for kilobits, start, last in parts_of(script):
        if kilobits == 0:
            spans.append((first, start))
            first = last + recovery
    return [(start, last) for start, last in [*spans, (first, end)] if start < last]


def longest_freeze(frames: list[Frame], first: float, last: float) -> float:
    """The longest time between two moments without an intact frame; times as in `Frame.arrival`."""
    inside = sorted(frame.arrival for frame in frames if not frame.is_corrupt and first < frame.arrival < last)
    moments = [first, *inside, last]
    return max(after - before for before, after in zip(moments, moments[1:]))


def judge(
    frames: list[Frame], sizes: list[dict], start: float, script: list[tuple[int, float]], recovery: float = 1.0
) -> Verdict:
    """
    sizes: all that arrived, with audio, as events with `clock` and `bytes`.
    script: rate in kbit/s and seconds of each part.
    recovery: seconds after a blackout that count as part of it for the age and the freezes while connected.
    """
    parts, spans = parts_of(script), connected_spans(script, recovery)
    end = start + parts[-1][2]
    seen = ages(frames, start, end)
    connected = [age for moment, age in seen if any(first <= moment < last for first, last in spans)]
    rates = []
    for _, first, last in parts:
        first = min(first + SETTLING, last - 1)
        arrived = sum(item["bytes"] for item in sizes if start + first <= item["clock"] < start + last)
        rates.append(arrived * 8 / 1000 / (last - first))
    back = link_return(script)
    # A frame that waited for the link is not live: the first frame captured after the link's return counts.
    following = [frame.arrival - start - back for frame in frames
                 if back is not None and not frame.is_corrupt and frame.taken > start + back]  # fmt: skip
    inside = [frame for frame in frames if start <= frame.arrival < end]
    return Verdict(
        fresh_share=statistics.fmean(age < FRESH for _, age in seen), worst_age=max(age for _, age in seen),
        worst_age_connected=max(connected), corrupt=sum(frame.is_corrupt for frame in inside),
        frames=len(inside), seconds_to_frame=min(following, default=None),
        longest_freeze_connected=max(longest_freeze(frames, start + first, start + last) for first, last in spans),
        media_rates=rates,
    )  # fmt: skip


def link_return(script: list[tuple[int, float]]) -> float | None:
    """The second at which the last blackout ends; `None` without a blackout."""
    return next((last for kilobits, _, last in reversed(parts_of(script)) if kilobits == 0), None)


def highest_again(values: list[tuple[float, Any]], back: float, end: float) -> float | None:
    """The first moment from `back` on, and before `end`, at which a value is at its maximum again; `None` for never.

    values: moments in order, each with the value that applies from then on.
    """
    values = [(moment, value) for moment, value in values if moment < end]
    highest = max((value for _, value in values), default=None)
    held = [value for moment, value in values if moment <= back]
    if held and held[-1] == highest:
        return back
    return next((moment for moment, value in values if moment > back and value == highest), None)
