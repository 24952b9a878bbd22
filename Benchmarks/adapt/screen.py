"""The content of a viewer's screen, part by part: frames per second, freezes, sizes, and similarity to the scene."""

import statistics
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import analysis
import strip
from analysis import Recording
from loop import Loop
from ssim import ssim

# The average number of seconds between two samples of the screen.
STEP = 0.1
# A tenth of a second is three frames: with even steps all samples would meet the frames at the same phase. Whether that is just
# before or just after a frame's arrival would be chance, worth 0.05. So each sample has its own place within its tenth, and the
# places are spread evenly (by the golden ratio).
SPREAD = 0.618034


@dataclass(frozen=True)
class View:
    """The results for one part of the script, or for all of it."""

    frames_per_second: float
    longest_freeze: float
    size_changes: int
    ssim: float | None  # the mean; `None` if the clock was never legible


def views(
    recordings: list[Recording], loop: Loop, start: float, script: list[tuple[int, float]]
) -> tuple[list[View], View]:
    """The results for each part, and for the whole."""
    parts = [(first, last) for _, first, last in analysis.parts_of(script)]
    end = parts[-1][1]
    likeness = screen_ssim(recordings, loop, start, start + end)
    frames = sorted((frame for recording in recordings for frame in recording.frames), key=lambda frame: frame.arrival)
    changes = [after.arrival for before, after in zip(frames, frames[1:]) if after.size != before.size]

    def view(first: float, last: float) -> View:
        def count(moments: list[float]) -> int:
            return sum(start + first <= moment < start + last for moment in moments)

        whole = [frame.arrival for frame in frames if not frame.is_corrupt]
        values = likeness and likeness[round(first / STEP) : round(last / STEP)]
        return View(
            count(whole) / (last - first), analysis.longest_freeze(frames, start + first, start + last), count(changes),
            statistics.fmean(values) if values else None,
        )  # fmt: skip

    return [view(*part) for part in parts], view(0, end)


def screen_ssim(recordings: list[Recording], loop: Loop, start: float, end: float) -> list[float] | None:
    """SSIM at each step: the newest frame that has arrived by then, compared with the source's frame of that moment.

    Delay, freezes, blur and blocks all reduce it. The strip with the clock is left out. 0 before the first frame; `None` if no
    frame's clock is legible, as the source's frame is then unknown.
    """
    origin = source_start(recordings, loop.fps)
    if origin is None:
        return None
    moments = [start + (step + step * SPREAD % 1) * STEP for step in range(round((end - start) / STEP))]
    shown = shown_frames(recordings, moments)
    numbers = [max(0, int((moment - origin) * loop.fps)) for moment in moments]
    height = loop.height - strip.strip_height(loop.width, loop.height)

    def pairs() -> Iterator[tuple[bytes, bytes]]:
        following = iter(number for number, frame in zip(numbers, shown) if frame is not None)
        for luma in shown_luma(recordings, shown, (loop.width, loop.height), height):
            yield luma, loop.luma(next(following))[: loop.width * height]

    values = iter(ssim(pairs(), loop.width, height))
    return [0.0 if frame is None else next(values) for frame in shown]


def source_start(recordings: list[Recording], fps: int) -> float | None:
    """When the source's frame 0 was due, according to the burnt-in clocks; `None` if none is legible."""
    starts = [
        frame.taken - frame.number / fps for recording in recordings for frame in recording.frames
        if frame.taken is not None
    ]  # fmt: skip
    return statistics.median(starts) if starts else None


def shown_frames(recordings: list[Recording], moments: list[float]) -> list[tuple[int, int] | None]:
    """The newest frame at each moment, as the index of its recording and its own index in it; `None` before the first frame."""
    order = sorted(
        (frame.arrival, (which, index)) for which, recording in enumerate(recordings)
        for index, frame in enumerate(recording.frames) if index >= recording.undecoded
    )  # fmt: skip
    arrivals = [arrival for arrival, _ in order]
    places = [bisect_right(arrivals, moment) - 1 for moment in moments]
    return [order[place][1] if place >= 0 else None for place in places]


def shown_luma(
    recordings: list[Recording], shown: list[tuple[int, int] | None], size: tuple[int, int], height: int
) -> Iterator[bytes]:
    """The upper lines of each shown frame, as often as it is shown; publications follow one another."""
    times = Counter(shown)
    for which, recording in enumerate(recordings):
        wanted = [index for at, index in filter(None, times) if at == which]
        if not wanted:
            continue
        with open("/dev/null", "w") as log:
            for index, luma in enumerate(analysis.decode(recording.path, size, (0, height), log), recording.undecoded):
                for _ in range(times[which, index]):
                    yield luma
                if index == max(wanted):
                    break
