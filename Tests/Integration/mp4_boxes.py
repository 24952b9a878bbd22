"""The boxes of an MP4 file (ISO 14496-12 section 4.2)."""

from pathlib import Path


def boxes(path: Path) -> list[str]:
    """The names of the complete ones. A file that grows may end within a box, and may not exist yet."""
    data, place, found = path.read_bytes() if path.exists() else b"", 0, []
    while place + 8 <= len(data):
        length = int.from_bytes(data[place : place + 4])
        if length == 1:
            length = int.from_bytes(data[place + 8 : place + 16])
        if place + length <= len(data):
            found.append(data[place + 4 : place + 8].decode())
        place += length
    return found


def fragments(path: Path) -> int:
    """The complete fragments of a recording that is not finished: each ends with its media."""
    return boxes(path).count("mdat")
