"""The compared programs: each as the command that publishes an FLV file unchanged."""

from dataclasses import dataclass
from pathlib import Path
from typing import Callable

APPLICATION = "live"


@dataclass(frozen=True)
class Destination:
    port: int
    stream: str

    @property
    def url(self) -> str:
        return f"rtmp://127.0.0.1:{self.port}/{APPLICATION}/{self.stream}"


@dataclass(frozen=True)
class Sender:
    name: str
    # (clip, destination, whether at the clip's own pace) -> command
    command: Callable[[Path, Destination, bool], list[str]]
    is_peer: bool = False


def limit(program: Path) -> Sender:
    def command(clip: Path, to: Destination, realtime: bool) -> list[str]:
        pace = "realtime" if realtime else "fast"
        return [str(program), pace, str(clip), "127.0.0.1", str(to.port), APPLICATION, to.stream]

    return Sender("limit", command)


def tallycam(program: Path) -> Sender:
    def command(clip: Path, to: Destination, realtime: bool) -> list[str]:
        pace = "realtime" if realtime else "fast"
        return [str(program), "publish", "--from-flv", str(clip), "--pace", pace, "--url", to.url]

    return Sender("tallycam", command)


def ffmpeg() -> Sender:
    def command(clip: Path, to: Destination, realtime: bool) -> list[str]:
        pace = ["-re"] if realtime else []
        return ["ffmpeg", "-v", "error", "-nostdin", *pace, "-i", str(clip), "-c", "copy",
                "-flvflags", "no_duration_filesize", "-f", "flv", to.url]  # fmt: skip

    return Sender("ffmpeg", command, is_peer=True)


def gstreamer(sink: str) -> Sender:
    def command(clip: Path, to: Destination, realtime: bool) -> list[str]:
        location = f"{to.url} live=1" if sink == "rtmpsink" else to.url
        pipeline = (
            f"filesrc location={clip} ! flvdemux name=in  in.video ! queue ! out.video  in.audio ! queue ! out.audio "
            f"flvmux name=out streamable=true ! {sink} sync={str(realtime).lower()}"
        )
        return ["gst-launch-1.0", "-q", *pipeline.split(), f"location={location}"]

    return Sender(f"gst {sink}", command, is_peer=True)
