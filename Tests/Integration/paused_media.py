"""The frames and audio of a recording while its stream is paused."""

import subprocess
from pathlib import Path

from processes import HUNG

# Mean difference of two neighboring frames, on a scale of 255. The test pattern moves by several; an encoder's noise is far
# less.
MOTION = 0.5


def decoded(path: Path, width: int, height: int, pixels: str) -> list[bytes]:
    """All frames, scaled to this size."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-fps_mode", "passthrough", "-vf", f"scale={width}:{height}:flags=area",
         "-pix_fmt", pixels, "-f", "rawvideo", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    size = width * height * (3 if pixels == "rgb24" else 1)
    return [run.stdout[at : at + size] for at in range(0, len(run.stdout), size)]


def still_frames(path: Path) -> range:
    """The longest run of frames that equal their predecessor."""
    frames = decoded(path, 80, 60, "gray")
    moves = [True] + [
        sum(abs(a - b) for a, b in zip(before, after)) / len(after) > MOTION for before, after in zip(frames, frames[1:])
    ]
    runs, since = [], None
    for at, moving in enumerate([*moves, True]):
        if moving and since is not None:
            runs.append(range(since, at))
        since = None if moving else since if since is not None else at
    return max(runs, key=len)


def loudness(path: Path, since: float, end: float) -> int:
    """The largest sample in this part of the audio, of 32,767."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-ac", "1", "-ar", "8000", "-f", "s16le", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples = memoryview(run.stdout).cast("h")
    return max(abs(sample) for sample in samples[int(since * 8000) : int(end * 8000)])


def colors(frame: bytes) -> tuple[tuple, tuple]:
    """The center of the frame, and its top edge; 8x8 pixels each."""
    def pixel(x, y):
        return tuple(frame[3 * (8 * y + x) : 3 * (8 * y + x) + 3])

    return pixel(4, 4), pixel(4, 0)


def is_red(color: tuple) -> bool:
    return color[0] > 200 and color[1] < 40 and color[2] < 40


def is_black(color: tuple) -> bool:
    return max(color) < 30
