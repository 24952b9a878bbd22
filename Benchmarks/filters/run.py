"""The cost of filters per frame: instructions on x86_64 and ARM64, and nanoseconds, compared with the most similar filters of
ffmpeg.

Started by `make bench-filters`. All numbers are differences of two runs with different numbers of frames, which excludes the
start; for ffmpeg, a run without a filter is subtracted, too, which excludes reading and dropping frames. Ends with status 1 if
a goal is missed.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import counting
from material import CHECKOUT, OUT, Material

SIZES = ((640, 480), (1280, 720))
# The lowest clock rate at which a Zero 2 W streams, and its cycles per instruction of this kind: two NEON instructions of 128
# bits do not start together there, and some loads wait for the second-level cache.
A53_HERTZ = 1_000_000_000
A53_CYCLES_PER_INSTRUCTION = 2.0
# For the timed runs: a frame takes ffmpeg longer.
OUR_FRAMES = (100, 2100)
FFMPEG_FRAMES = (20, 420)
MOST_SMOOTH_MILLISECONDS = 12.0
MOST_NANOSECONDS_PER_PIXEL = 1.5


@dataclass(frozen=True)
class Case:
    name: str
    # As for --filter; or options of the program.
    ours: tuple[str, ...]
    # As for ffmpeg's -filter_complex, from [0] on; None where it has nothing similar.
    ffmpeg: str | None
    # The part of the frame's pixels that are covered; 0 where all of them are.
    covers: str = ""


CASES = (
    Case("image", ("image,file={logo},position=0,0",), "movie={logo}[l];[0][l]overlay=0:0:format=yuv420", "logo"),
    Case("text", ("text,text={words},size=0.06,position=0,0,outline=0.05",),
         "drawtext=text='{words}':fontfile={font}:fontsize=h*0.0515:fontcolor=white:borderw=2:x=4:y=4", "text"),
    # Drawn again for each frame: the goal for covered pixels applies to text that stays.
    Case("text that changes", ("text,text={frame} {words},size=0.06,position=0,0,outline=0.05",),
         "drawtext=text='%{n} {words}':fontfile={font}:fontsize=h*0.0515:fontcolor=white:borderw=2:x=4:y=4"),
    # ffmpeg's filter must convert its frames to red, green and blue, and back.
    Case("lut", ("lut,file={look}",), "lut3d={look}"),
    Case("smooth", ("smooth,strength=0.7",), "smartblur=lr=3:ls=0.7:lt=20"),
    Case("smooth (bilateral)", ("smooth,strength=0.7",), "bilateral=sigmaS=3:sigmaR=0.07:planes=1"),
    Case("whiten", ("whiten",), "lutyuv=y=val+0.5*(val-16)*(235-val)/219"),
    Case("redden", ("redden",), "lutyuv=u=val-8:v=val+7"),
    Case("crop", ("crop,left=0.25,top=0.25,width=0.5,height=0.5",), "fillborders={column}:{column}:{row}:{row}:fixed"),
    Case("gray", ("gray",), "hue=s=0"),
    Case("mirror", ("mirror",), "hflip"),
    # In the format of cameras; the content does not matter for rotation.
    Case("rotate by 90", ("--format nv12 --rotate 90",), "transpose=clock"),
    Case("image, text, smooth", ("image,file={logo},position=0,0", "text,text={words},size=0.06", "smooth"), None),
)  # fmt: skip


@dataclass
class Cost:
    """The cost of one frame."""

    x86: float
    arm64: float
    nanoseconds: float
    ffmpeg_x86: float | None
    ffmpeg_nanoseconds: float | None
    covered: int


def measure(case: Case, material: Material, guest: counting.Guest, quick: bool) -> Cost:
    ours = [material.filled(text) for text in case.ours]
    ffmpeg = case.ffmpeg and material.filled(case.ffmpeg)
    return Cost(
        counting.instructions(lambda frames: material.our_command(ours, frames)),
        guest.instructions(*material.guest_command(case.ours)),
        counting.nanoseconds(lambda frames: material.our_command(ours, frames), OUR_FRAMES, quick),
        None if not ffmpeg else counting.instructions(lambda frames: material.ffmpeg_command(ffmpeg, frames), (2, 6))
        - material.ffmpeg_base(counting.instructions, (2, 6)),
        None if not ffmpeg else counting.nanoseconds(lambda frames: material.ffmpeg_command(ffmpeg, frames), FFMPEG_FRAMES, quick)
        - material.ffmpeg_base(counting.nanoseconds, FFMPEG_FRAMES, quick),
        material.covered_pixels(case.covers),
    )  # fmt: skip


def thousands(value: float | None) -> str:
    return "–" if value is None else f"{value / 1000:.0f}"


def row(name: str, size: tuple[int, int], cost: Cost) -> tuple[str, ...]:
    ratio = "–" if not cost.ffmpeg_x86 else f"{cost.ffmpeg_x86 / max(cost.x86, 1):.1f}"
    time_ratio = "–" if not cost.ffmpeg_nanoseconds else f"{cost.ffmpeg_nanoseconds / max(cost.nanoseconds, 1):.1f}"
    return (
        name, f"{size[0]}x{size[1]}", thousands(cost.x86), thousands(cost.arm64), f"{cost.nanoseconds / 1000:.0f}",
        thousands(cost.ffmpeg_x86), thousands(cost.ffmpeg_nanoseconds), ratio, time_ratio,
    )  # fmt: skip


def table(costs: list[tuple[Case, tuple[int, int], Cost]]) -> str:
    rows = [("filter", "frame", "x86_64", "ARM64", "µs", "ffmpeg's x86_64", "ffmpeg's µs", "fewer, times", "faster, times")]
    rows += [row(case.name, size, cost) for case, size, cost in costs]
    widths = [max(len(line[column]) for line in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |" for line in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def judge(costs: list[tuple[Case, tuple[int, int], Cost]]) -> list[tuple[bool, str]]:
    """Each goal, whether it is met, and by which value."""
    verdicts = []
    for case, size, cost in costs:
        place = f"{case.name} at {size[0]}x{size[1]}"
        if case.covers:
            each = cost.nanoseconds / cost.covered
            verdicts.append((
                each <= MOST_NANOSECONDS_PER_PIXEL,
                f"{place} takes {each:.2f} ns for each of {cost.covered} pixels; the goal is {MOST_NANOSECONDS_PER_PIXEL} at most",
            ))
        if case.name == "smooth" and size == (640, 480):
            milliseconds = cost.arm64 * A53_CYCLES_PER_INSTRUCTION / A53_HERTZ * 1000
            verdicts.append((
                milliseconds <= MOST_SMOOTH_MILLISECONDS,
                f"{place} takes {milliseconds:.1f} ms of a Cortex-A53 at 1 GHz, at {A53_CYCLES_PER_INSTRUCTION} cycles an "
                f"instruction; the goal is {MOST_SMOOTH_MILLISECONDS:.0f} at most",
            ))
        if cost.ffmpeg_x86 is not None:
            verdicts.append((
                cost.x86 <= cost.ffmpeg_x86,
                f"{place} takes {cost.x86 / 1e6:.2f} million instructions, ffmpeg's nearest {cost.ffmpeg_x86 / 1e6:.2f}",
            ))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-filters", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less time for nanoseconds, 640x480 only")
    parser.add_argument("--only", default="", help="cases whose name starts so")
    options = parser.parse_args()
    os.chdir(CHECKOUT)
    OUT.mkdir(parents=True, exist_ok=True)
    counting.build()
    materials = [Material(*size) for size in (SIZES[:1] if options.quick else SIZES)]
    costs = []
    with tempfile.TemporaryDirectory(prefix="bench-filters-") as folder:
        files = {path.name: path for material in materials for path in (material.frame, material.logo, material.look)}
        guest = counting.Guest(Path(folder), files)
        try:
            for material in materials:
                for case in CASES:
                    if case.name.startswith(options.only):
                        size = (material.width, material.height)
                        costs.append((case, size, measure(case, material, guest, options.quick)))
                        print("bench-filters: " + "  ".join(row(case.name, size, costs[-1][2])), flush=True)
        finally:
            guest.close()
    name = "results.json"
    (OUT / name).write_text(json.dumps([[case.name, size, asdict(cost)] for case, size, cost in costs], indent=1) + "\n")
    print("Instructions in thousands a frame.\n" + table(costs))
    verdicts = judge(costs)
    for is_met, text in verdicts:
        print(f"bench-filters: {'met' if is_met else 'MISSED'}: {text}")
    return 0 if all(is_met for is_met, _ in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
