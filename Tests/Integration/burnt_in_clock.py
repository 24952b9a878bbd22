"""Reads the clock and counter that are drawn into the synthetic video from received frames."""

import binascii
import subprocess
from dataclasses import dataclass

from processes import HUNG
from recording import Recording

COLUMNS, ROWS = 40, 3


@dataclass(frozen=True)
class Reading:
    number: int
    milliseconds: int  # of CLOCK_MONOTONIC


def read_strip(luma: memoryview, width: int, height: int) -> Reading:
    """The strip of blocks along the bottom edge."""
    block = max(2, min(width // COLUMNS, height // 12))
    top = height - ROWS * block
    return read_bits("".join(
        "1" if luma[(top + row * block + block // 2) * width + (2 * column + 1) * width // (2 * COLUMNS)] >= 128 else "0"
        for row in range(ROWS)
        for column in range(COLUMNS)
    ))  # fmt: skip


def read_bits(bits: str) -> Reading:
    """Sync, frame number, time and checksum."""
    assert bits[:8] == "10100110", "no strip"
    content = int(bits[8:80], 2).to_bytes(9, "big")
    assert binascii.crc_hqx(content, 0xFFFF) == int(bits[80:96], 2), "a damaged strip"
    return Reading(int.from_bytes(content[:4], "big"), int.from_bytes(content[4:], "big"))


def read_all(recording: Recording) -> list[Reading]:
    width, height = recording.sps.width, recording.sps.height
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", recording.path, "-fps_mode", "passthrough", "-f", "rawvideo",
         "-pix_fmt", "gray", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    frames, size = memoryview(run.stdout), width * height
    return [read_strip(frames[at : at + size], width, height) for at in range(0, len(frames), size)]
