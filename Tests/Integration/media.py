"""Decodes files with ffmpeg, and makes clips to publish."""

import itertools
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import flv
from processes import HUNG


@dataclass(frozen=True)
class Decoded:
    frames: int
    audio_packets: int
    complaints: str


def decode(path: Path) -> Decoded:
    """Decodes the whole file and counts the resulting video and audio frames.

    `complaints` has everything that a decoder or demuxer logs at level `error`.
    """
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-xerror", "-err_detect", "explode", "-copyts", "-i", str(path),
         "-map", "0:v?", "-map", "0:a?", "-fps_mode", "passthrough", "-enc_time_base:v", "demux",
         "-f", "framecrc", "-"],
        capture_output=True, text=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    kinds, counts = {}, Counter()
    for line in run.stdout.splitlines():
        if line.startswith("#media_type"):
            index, kind = line.removeprefix("#media_type ").split(": ")
            kinds[index] = kind
        elif not line.startswith("#"):
            counts[kinds[line.split(",")[0].strip()]] += 1
    complaints = run.stderr.strip()
    if run.returncode != 0:
        complaints += f"\nffmpeg ended with status {run.returncode}"
    return Decoded(counts["video"], counts["audio"], complaints.strip())


def frame_sizes(path: Path) -> list[tuple[str, int]]:
    """Sizes of the decoded frames, in order, with the number of consecutive frames: `[("640x360", 60), ...]`."""
    run = subprocess.run(
        ["ffprobe", "-v", "quiet", "-select_streams", "v", "-show_entries", "frame=width,height", "-of", "csv=p=0:s=x", str(path)],
        capture_output=True, text=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    # Frames with side data have an additional empty field.
    sizes = [line.rstrip("x") for line in run.stdout.split()]
    return [(size, len(list(frames))) for size, frames in itertools.groupby(sizes)]


def mean_brightness(path: Path) -> list[float]:
    """The mean luma of each frame."""
    words = ["ffmpeg", "-v", "error", "-i", str(path), "-map", "0:v", "-fps_mode", "passthrough",
             "-vf", "scale=8:8:flags=area,format=gray", "-f", "rawvideo", "-"]  # fmt: skip
    data = subprocess.run(words, capture_output=True, check=True, timeout=HUNG).stdout
    return [sum(data[place : place + 64]) / 64 for place in range(0, len(data), 64)]


def run_ffmpeg(*arguments) -> None:
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", *map(str, arguments)],
        check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip


# A soft texture that moves smoothly, sensor noise, and a sharp moving pattern in front: enough for 2 Mbit/s, but not so much
# that an encoder constantly skips frames.
RICH_SCENE = (
    "nullsrc=s=96x54:d=1:r=1,geq=lum='random(1)*255':cb='96+random(2)*64':cr='96+random(3)*64',"
    "scale=1920x1080:flags=bicubic,format=yuv420p,loop=-1:1,fps=30,setpts=N/30/TB,"
    "crop=1280:720:x='320+300*sin(t*0.3)':y='180+170*sin(t*0.24)',noise=alls=2:allf=t[texture];"
    "testsrc2=s=640x360:r=30[pattern];"
    "[texture][pattern]overlay=x='320+200*sin(t*0.3)':y=180,format=yuv420p"
)


def make_rich_clip(path: Path, seconds: int = 22) -> Path:
    run_ffmpeg(
        "-filter_complex", RICH_SCENE, "-t", seconds,
        "-c:v", "libx264", "-preset", "ultrafast", "-qp", 18, "-bf", 0, "-g", 60, path,
    )  # fmt: skip
    return path


def make_raw(clip: Path, path: Path, width: int, height: int, fps: int, seconds: float, format="yuv420p") -> Path:
    """Raw frames, decoded and scaled from a clip."""
    run_ffmpeg(
        "-i", clip, "-t", seconds, "-vf", f"fps={fps},scale={width}:{height}",
        "-pix_fmt", format, "-f", "rawvideo", path,
    )  # fmt: skip
    return path


def make_encoded_flv(path: Path, seconds: float = 4) -> Path:
    run_ffmpeg(
        "-f", "lavfi", "-i", f"testsrc2=s=640x360:r=30:d={seconds}",
        "-f", "lavfi", "-i", f"sine=440:r=44100:d={seconds}",
        "-c:v", "libx264", "-preset", "ultrafast", "-bf", 0, "-g", 60, "-pix_fmt", "yuv420p",
        "-c:a", "aac", "-b:a", "128k", "-ac", 2, path,
    )  # fmt: skip
    return path


def make_resized_flv(path: Path, sizes: list[str], seconds: int = 2, has_audio: bool = True) -> Path:
    """The output of an encoder whose frame size changes: each part has its own sequence header and starts with a keyframe. 30
    fps with a keyframe every second; the audio is continuous."""
    tags = []
    for number, size in enumerate(sizes):
        part = path.with_name(f"{path.stem}-{number}.flv")
        run_ffmpeg(
            "-f", "lavfi", "-i", f"testsrc2=s={size}:r=30:d={seconds}", "-c:v", "libx264", "-preset", "ultrafast",
            "-bf", 0, "-g", 30, "-pix_fmt", "yuv420p", part,
        )  # fmt: skip
        start = 1000 * seconds * number
        video = [tag for tag in flv.read_tags(part) if tag.kind == flv.VIDEO and not tag.is_video_end]
        tags += [flv.Tag(tag.kind, tag.timestamp + start, tag.body) for tag in video]
    if has_audio:
        tone = path.with_name(f"{path.stem}-tone.flv")
        run_ffmpeg("-f", "lavfi", "-i", f"sine=440:r=44100:d={seconds * len(sizes)}", "-c:a", "aac", "-b:a", "64k", tone)
        tags += [tag for tag in flv.read_tags(tone) if tag.kind == flv.AUDIO]
    flv.write_tags(path, sorted(tags, key=lambda tag: tag.timestamp))
    return path
