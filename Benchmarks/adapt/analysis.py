"""What a viewer at the far end would have seen, from recordings and the times at which frames arrived."""

import statistics
import subprocess
import sys
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

import strip

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Integration"))

import flv  # noqa: E402

FRESH = 3.0  # seconds
# A steady link's use counts from here on.
SETTLING = 10.0


@dataclass(frozen=True)
class Frame:
    arrival: float  # CLOCK_MONOTONIC
    taken: float | None  # the same; `None` when it cannot be read
    byte_count: int
    is_corrupt: bool


@dataclass
class Verdict:
    fresh_share: float
    worst_age: float
    worst_age_connected: float
    corrupt: int
    frames: int
    seconds_to_frame: float | None
    # Of each part: kbit/s of media that arrived.
    media_rates: list[float] = field(default_factory=list)


def header_of(tags: list[flv.Tag]) -> flv.Tag | None:
    """The sequence header; `None` where a program sent none, or an empty one: nobody can decode that."""
    return next((tag for tag in tags if tag.is_video_header and len(tag.body) > 16), None)


def frame_numbers(tags: list[flv.Tag], header: flv.Tag) -> list[int | None]:
    """`frame_num` of each frame (H.264 section 7.3.3); `None` where it cannot be read."""
    bits_of_number = log2_max_frame_num(header)

    def number(tag: flv.Tag) -> int | None:
        data, at = tag.body[5:], 0
        while at + 4 < len(data):
            size = int.from_bytes(data[at : at + 4], "big")
            if data[at + 4] & 0x1F in (1, 5):
                bits = flv._Bits(data[at + 5 : at + 29].replace(b"\0\0\3", b"\0\0"))
                bits.ue(), bits.ue(), bits.ue()
                return bits.u(bits_of_number)
            at += 4 + size
        return None

    return [number(tag) for tag in tags]


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


def dangling(tags: list[flv.Tag]) -> list[bool]:
    """Whether each frame refers, itself or by another, to one that is not there."""
    header = header_of(tags)
    frames = [tag for tag in tags if tag.is_frame]
    if header is None:
        return [True] * len(frames)
    modulus = 1 << log2_max_frame_num(header)
    result, last, is_broken = [], None, True
    for tag, number in zip(frames, frame_numbers(frames, header)):
        if tag.is_keyframe:
            is_broken = False
        elif last is None or number is None or (number - last) % modulus not in (0, 1):
            is_broken = True
        last = number
        result.append(is_broken)
    return result


def decode(path: Path, tags: list[flv.Tag]) -> list[strip.Reading | None]:
    """The readings of all frames in a recording, in their order."""
    header = header_of(tags)
    if header is None:
        return []
    width, height = (lambda sps: (sps.width, sps.height))(flv.sps_of_header(header))
    crop = strip.ROWS * strip.block_height(width, height)
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-flags", "+output_corrupt", "-i", str(path), "-fps_mode", "passthrough",
         "-vf", f"crop={width}:{crop}:0:{height - crop}", "-f", "rawvideo", "-pix_fmt", "gray", "-"],
        capture_output=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    size = width * crop
    frames = memoryview(run.stdout)
    return [read_cropped(frames[at : at + size], width, height) for at in range(0, len(frames) - size + 1, size)]


def read_cropped(luma: memoryview, width: int, height: int) -> strip.Reading | None:
    crop = strip.ROWS * strip.block_height(width, height)
    return strip.read(Shifted(luma, (height - crop) * width), width, height)


class Shifted:
    """The lower part of a plane, addressed as if all of it were there."""

    def __init__(self, luma: memoryview, offset: int):
        self.luma, self.offset = luma, offset

    def __getitem__(self, index: int) -> int:
        return self.luma[index - self.offset]


def read_stream(path: Path, arrivals: list[dict]) -> list[Frame]:
    tags = flv.read_tags(path)
    frames = [tag for tag in tags if tag.is_frame]
    readings = decode(path, tags)
    # A decoder gives nothing for frames that it cannot make sense of; those before the first keyframe, mostly.
    readings = [None] * (len(frames) - len(readings)) + readings
    broken = dangling(tags)
    return [
        Frame(arrival["clock"], reading and reading.milliseconds / 1000, len(tag.body), is_broken or reading is None)
        for tag, arrival, reading, is_broken in zip(frames, arrivals, readings, broken)
    ]


def ages(frames: list[Frame], start: float, end: float, step: float = 0.02) -> list[tuple[float, float]]:
    """How old the newest whole frame is, at even times; a viewer sees that one."""
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


def judge(
    frames: list[Frame], sizes: list[dict], start: float, script: list[tuple[int, float]], recovery: float = 1.0
) -> Verdict:
    """
    sizes: all that arrived, with audio, as events with `clock` and `bytes`.
    script: rate in kbit/s and seconds of each part.
    recovery: seconds after a blackout that count as part of it for the age while connected.
    """
    end = start + sum(seconds for _, seconds in script)
    seen = ages(frames, start, end)
    parts, at = [], 0.0
    for kilobits, seconds in script:
        parts.append((kilobits, at, at + seconds))
        at += seconds
    blackouts = [(first, last) for kilobits, first, last in parts if kilobits == 0]
    connected = [age for moment, age in seen if not any(first <= moment < last + recovery for first, last in blackouts)]
    rates = []
    for _, first, last in parts:
        first = min(first + SETTLING, last - 1)
        arrived = sum(item["bytes"] for item in sizes if start + first <= item["clock"] < start + last)
        rates.append(arrived * 8 / 1000 / (last - first))
    back = start + blackouts[-1][1] if blackouts else None
    # What waited for the link is not live: the first one that was taken after its return counts.
    following = [frame.arrival - back for frame in frames
                 if back and not frame.is_corrupt and frame.taken > back]  # fmt: skip
    inside = [frame for frame in frames if start <= frame.arrival < end]
    return Verdict(
        fresh_share=statistics.fmean(age < FRESH for _, age in seen), worst_age=max(age for _, age in seen),
        worst_age_connected=max(connected), corrupt=sum(frame.is_corrupt for frame in inside),
        frames=len(inside), seconds_to_frame=min(following, default=None) if blackouts else None, media_rates=rates,
    )  # fmt: skip
