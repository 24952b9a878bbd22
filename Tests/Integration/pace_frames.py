"""Relays raw frames at an even pace, like a camera.

Usage: pace_frames.py BYTES_PER_FRAME FRAMES_PER_SECOND < frames > paced

Time starts when the reader has accepted the first frame, because it was not ready before.
"""

import sys
import time


def main(size: int, rate: int) -> None:
    number = 0
    start = None
    while len(frame := sys.stdin.buffer.read(size)) == size:
        if start is not None:
            time.sleep(max(0.0, start + number / rate - time.monotonic()))
        try:
            sys.stdout.buffer.write(frame)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            return
        start = start or time.monotonic()
        number += 1


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
