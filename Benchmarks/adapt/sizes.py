"""Which frame size suits how many bits: fixed sizes at fixed bit rates, for three kinds of content, on a link that is good
enough for all of them. What `FrameSizing`'s constants come from."""

from dataclasses import dataclass

import report
from goals import Result
from participants import Participant, Setting, tallycam

CONTENTS = ["natural", "head", "screen"]
# What `FrameSizeLadder` makes of 1280x720; in place of its 448x252, which nobody can ask for, the next one that has a name.
SIZES = ["1280x720", "960x540", "640x360", "480x270"]
# kbit/s of video and frames a second, of that quality.
QUALITIES = {"Low1": (150, 12), "Low2": (264, 15), "Medium1": (512, 30), "Medium3": (1000, 30)}
SCRIPT = [(20_000, 12.0)]
# Bits that each pixel of a frame is to have, as the controller wants them.
WANTED = 0.06


@dataclass(frozen=True)
class Point:
    """One size at one quality."""

    quality: str
    size: str
    result: Result

    @property
    def bits(self) -> float:
        """For each pixel of each frame, if none is left out."""
        (rate, fps), (width, height) = QUALITIES[self.quality], map(int, self.size.split("x"))
        return rate * 1000 / fps / (width * height)

    @property
    def sent(self) -> float:
        """Of the frames that are due."""
        return self.result.parts[0].frames_per_second / QUALITIES[self.quality][1]

    @property
    def ssim(self) -> float:
        return self.result.parts[0].ssim or 0.0


def participants(setting: Setting) -> list[Participant]:
    return [
        tallycam(f"{quality} {size}", setting, "never", "nothing", quality=quality, size=size)
        for quality in QUALITIES for size in SIZES
    ]  # fmt: skip


def show(content: str, results: list[Result]) -> None:
    points = [Point(*result.participant.name.split(), result) for result in results]
    rows = [["kbit/s", "fps", "size", "bits a pixel", "frames sent", "screen SSIM", "less than the best"]]
    for quality, (rate, fps) in QUALITIES.items():
        same = [point for point in points if point.quality == quality]
        best = max(point.ssim for point in same)
        chosen = next((point for point in same if point.bits >= WANTED), same[-1])
        for point in same:
            mark = "  <- chosen" if point is chosen else ""
            rows.append([
                str(rate), str(fps), point.size, f"{point.bits:.3f}", f"{point.sent:.0%}", f"{point.ssim:.3f}",
                f"{best - point.ssim:.3f}{mark}",
            ])  # fmt: skip
    print(f"\n{content}")
    report.show_table(rows)
