"""HLS in the files that nginx writes."""

from pathlib import Path


def segments(playlist: Path) -> list[Path]:
    """The MPEG-TS files that a playlist names."""
    lines = playlist.read_text().splitlines() if playlist.exists() else []
    return [playlist.with_name(line) for line in lines if line and not line.startswith("#")]


def whole(playlist: Path) -> Path:
    """The playlist of a finished stream, stored next to nginx's own, which looks as if the stream continued."""
    path = playlist.with_name("whole.m3u8")
    path.write_text(playlist.read_text() + "#EXT-X-ENDLIST\n")
    return path
