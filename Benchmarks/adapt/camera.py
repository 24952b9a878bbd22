"""Writes raw frames (I420) with a burnt-in clock to standard output, at an even pace, as a camera gives them.

Usage: camera.py FRAMES WIDTH HEIGHT FPS

FRAMES is a raw file whose frames are shown again and again. A frame that the reader is not ready for in time is
left out, as a camera's would be.
"""

import fcntl
import mmap
import os
import sys
import time

import strip


def main(path: str, width: int, height: int, fps: int) -> None:
    size = width * height * 3 // 2
    with open(path, "rb") as file:
        frames = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    # Room for little: what waits in the pipe is old.
    fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
    view, count = memoryview(frames), len(frames) // size
    block = strip.block_height(width, height)
    kept = (height - strip.ROWS * block) * width
    start, number = time.monotonic(), 0
    while True:
        due = start + number / fps
        time.sleep(max(0.0, due - time.monotonic()))
        frame = view[number % count * size :][:size]
        lines = strip.draw(number, int(due * 1000), width, height)
        try:
            write_all([frame[:kept], *(line * block for line in lines), frame[width * height :]])
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
