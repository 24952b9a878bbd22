"""Writes raw frames (I420) with a burnt-in clock to standard output, at an even pace like a camera.

Usage: camera.py FRAMES WIDTH HEIGHT FPS

FRAMES is a raw file whose frames are repeated endlessly. A frame for which the reader is not ready in time is left out, as with
a camera.
"""

import fcntl
import os
import sys
import time
from pathlib import Path

import strip
from loop import Loop


def main(path: str, width: int, height: int, fps: int) -> None:
    loop = Loop(Path(path), width, height, fps)
    # A small pipe, as frames that wait in it grow old.
    fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
    start, number = time.monotonic(), 0
    while True:
        due = start + number / fps
        time.sleep(max(0.0, due - time.monotonic()))
        try:
            write_all(strip.burn(loop.frame(number), number, int(due * 1000), width, height))
        except BrokenPipeError:
            return
        number = max(number + 1, int((time.monotonic() - start) * fps))


def write_all(parts: list) -> None:
    for part in parts:
        part = memoryview(part)
        while part:
            part = part[os.write(1, part) :]


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
