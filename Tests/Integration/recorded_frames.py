"""The encoded frames of recordings, as two files have them in common: by the hash of their bytes."""

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import flv
from processes import HUNG


@dataclass(frozen=True)
class Frame:
    digest: str
    seconds: float
    is_keyframe: bool


def of_movie(path: Path) -> list[Frame]:
    """The frames of an MP4 file by ffmpeg, in the order of the file."""
    run = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-show_packets", "-show_data_hash", "md5",
         "-show_entries", "packet=dts_time,flags,data_hash", "-of", "json", str(path)],
        capture_output=True, text=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert run.stderr == "", run.stderr
    return [
        Frame(packet["data_hash"].removeprefix("MD5:"), float(packet["dts_time"]), "K" in packet["flags"])
        for packet in json.loads(run.stdout)["packets"]
    ]


def of_flv(path: Path) -> list[Frame]:
    """The complete frames of a server's recording."""
    return [
        Frame(hashlib.md5(tag.body[5:]).hexdigest(), tag.timestamp / 1000, tag.is_keyframe)
        for tag in flv.read_tags(path, is_growing=True) if tag.is_frame
    ]  # fmt: skip


def gops(frames: list[Frame]) -> list[list[Frame]]:
    """Each starts with its keyframe."""
    found: list[list[Frame]] = []
    for frame in frames:
        if frame.is_keyframe or not found:
            found.append([])
        found[-1].append(frame)
    return found
