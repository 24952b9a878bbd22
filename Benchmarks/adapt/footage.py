"""Makes loops of raw frames (I420) like those of a camera: each one depends on its number alone, and the last one
leads to the first.

Usage: footage.py CONTENT WIDTHxHEIGHT FPS FILE [SECONDS]

CONTENT is natural (a textured scene under a moving camera, with moving objects), head (a person who talks, before a
soft background), screen (windows with text that scrolls), or synthetic (Tallycam's own test pattern; needs its
program). The camera passes no place twice within a loop, so that a late frame is not taken for a recent one.
"""

import os
import subprocess
import sys
from pathlib import Path

import scenes
from loop import Loop

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAM = CHECKOUT / "out/x86_64/tallycam"
SECONDS = 12
CONTENTS = ["natural", "head", "screen", "synthetic"]


def make_loop(
    folder: Path, content: str, width: int, height: int, fps: int, seconds: int = SECONDS, program: str | Path = PROGRAM
) -> Loop:
    """The loop's file in that folder, made if it does not exist."""
    path = folder / f"{content}-{width}x{height}-{fps}fps-{seconds}s.i420"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        write_frames(partial, content, width, height, fps, seconds * fps, program)
        partial.rename(path)
    return Loop(path, width, height, fps)


def write_frames(
    path: Path, content: str, width: int, height: int, fps: int, count: int, program: str | Path = PROGRAM
) -> None:
    """Writes the frames of a whole loop of `count` frames; width and height are even."""
    if content == "synthetic":
        words = ["--video", "synthetic", "--dimension", f"{width}x{height}", "--fps", str(fps), "--frames", str(count)]
        subprocess.run([program, "capture", *words, "--save", path], check=True, stdout=subprocess.DEVNULL)
        return
    scene = scenes.SCENES[content](width, height, count)
    with open(path, "wb") as file:
        for number in range(count):
            for plane in scene.frame(number):
                file.write(plane.tobytes())


def main(content: str, size: str, fps: str, path: str, seconds: str = str(SECONDS)) -> None:
    width, height = map(int, size.split("x"))
    write_frames(Path(path), content, width, height, int(fps), int(fps) * int(seconds))
    print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB")


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6) or sys.argv[1] not in CONTENTS:
        sys.exit(__doc__)
    main(*sys.argv[1:])
