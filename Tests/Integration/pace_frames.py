"""Passes raw pictures on at an even pace, as a camera gives them.

Usage: pace_frames.py BYTES_PER_PICTURE PICTURES_PER_SECOND < pictures > paced

Time begins when the reader has taken the first picture: until then it was not ready.
"""

import sys
import time


def main(size: int, rate: int) -> None:
    number = 0
    begin = None
    while len(picture := sys.stdin.buffer.read(size)) == size:
        if begin is not None:
            time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        try:
            sys.stdout.buffer.write(picture)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            return
        begin = begin or time.monotonic()
        number += 1


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
