"""The burnt-in clock of Tallycam's synthetic video: drawn here for other programs' cameras, and read at the end."""

import binascii
from dataclasses import dataclass

COLUMNS, ROWS = 40, 3


@dataclass(frozen=True)
class Reading:
    number: int
    milliseconds: int  # of CLOCK_MONOTONIC


def block_height(width: int, height: int) -> int:
    return max(2, min(width // COLUMNS, height // 12))


def strip_height(width: int, height: int) -> int:
    """The number of lines at the lower edge of a frame that the strip occupies; 96 at 1280x720, whose blocks have 8x8 pixels at
    320x180."""
    return ROWS * block_height(width, height)


def draw(number: int, milliseconds: int, width: int, height: int) -> list[bytes]:
    """The strip's luma, one line for each row of blocks; each must be repeated `block_height` times."""
    content = number.to_bytes(4, "big") + milliseconds.to_bytes(5, "big")
    code = b"\xa6" + content + binascii.crc_hqx(content, 0xFFFF).to_bytes(2, "big") + bytes(3)
    bits = "".join(f"{byte:08b}" for byte in code)
    edges = [column * width // COLUMNS for column in range(COLUMNS + 1)]
    return [
        b"".join(
            (b"\xeb" if bits[row * COLUMNS + column] == "1" else b"\x10") * (edges[column + 1] - edges[column])
            for column in range(COLUMNS)
        )
        for row in range(ROWS)
    ]


def burn(frame: memoryview, number: int, milliseconds: int, width: int, height: int) -> list:
    """The pieces of an I420 frame with the strip over its lower edge, to be written one after another."""
    block = block_height(width, height)
    kept = (height - ROWS * block) * width
    return [frame[:kept], *(line * block for line in draw(number, milliseconds, width, height)), frame[width * height :]]


def read(luma: memoryview, width: int, height: int) -> Reading | None:
    """The reading of a strip; `None` if it is missing or damaged.

    luma: only the strip's lines, of a frame of that size.
    """
    block = block_height(width, height)
    bits = "".join(
        "1" if luma[(row * block + block // 2) * width + (2 * column + 1) * width // (2 * COLUMNS)] >= 128 else "0"
        for row in range(ROWS)
        for column in range(COLUMNS)
    )
    content = int(bits[8:80], 2).to_bytes(9, "big")
    if bits[:8] != "10100110" or binascii.crc_hqx(content, 0xFFFF) != int(bits[80:96], 2):
        return None
    return Reading(int.from_bytes(content[:4], "big"), int.from_bytes(content[4:], "big"))
