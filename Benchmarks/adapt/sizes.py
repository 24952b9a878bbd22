"""The best frame size for a bit rate: fixed sizes at fixed bit rates, for three kinds of content, on a link that is good enough
for all of them. The constants of `FrameSizing` are derived from it."""

from dataclasses import dataclass

import report
from goals import Result
from participants import Participant, Setting, tallycam

CONTENTS = ["natural", "head", "screen"]
# The sizes of `FrameSizeLadder` for 1280x720; 448x252 cannot be requested, so it is replaced by the next named size.
SIZES = ["1280x720", "960x540", "640x360", "480x270"]
# The quality's kbit/s of video and frames per second.
QUALITIES = {"Low1": (150, 12), "Low2": (264, 15), "Medium1": (512, 30), "Medium3": (1000, 30)}
SCRIPT = [(20_000, 12.0)]
# The bits per pixel that the controller aims for.
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
        """The share of the due frames."""
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
