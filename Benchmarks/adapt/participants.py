"""The participants: Tallycam with its policies and at fixed sizes, ffmpeg and GStreamer."""

import subprocess
from dataclasses import dataclass

from network import SERVER

URL = f"rtmp://{SERVER}:1935/live/x"
FPS = 30


@dataclass(frozen=True)
class Setting:
    """The common settings of all participants of a round."""

    program: str
    # The source's.
    width: int
    height: int
    # Whether `publish` has `--resize`.
    can_resize: bool

    @property
    def size(self) -> str:
        return f"{self.width}x{self.height}"


@dataclass(frozen=True)
class Participant:
    name: str
    command: list[str]
    is_ours: bool = False
    # Whether the goals apply to it.
    is_judged: bool = False
    # Whether its fixed size is a reference for participants that change theirs.
    is_fixed: bool = False


def can_resize(program: str) -> bool:
    help_text = subprocess.run([program, "publish", "--help"], capture_output=True, text=True, check=True).stdout
    return "--resize" in help_text


def tallycam(
    name: str, setting: Setting, resize: str | None, adapt: str | None = "seamless", quality: str = "High3",
    size: str | None = None, is_judged: bool = False, is_fixed: bool = False,
) -> Participant:  # fmt: skip
    """A policy of `None` leaves it to the program."""
    words = [
        setting.program, "publish", "--url", URL, "--video", f"raw:-,format=i420,size={setting.size},fps={FPS}",
        "--quality", quality, "--dimension", size or setting.size, "--reconnect", "endless",
        "--events", "json", "--trace", "--status-interval", "1",
    ]  # fmt: skip
    words += ["--adapt", adapt] if adapt else []
    words += ["--resize", resize] if resize and setting.can_resize else []
    return Participant(name, words, True, is_judged, is_fixed)


def ffmpeg(name: str, setting: Setting, *output: str) -> Participant:
    command = [
        "ffmpeg", "-v", "error", "-use_wallclock_as_timestamps", "1", "-f", "rawvideo", "-pix_fmt", "yuv420p",
        "-s", setting.size, "-r", str(FPS), "-i", "-",
        "-re", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100", "-map", "0:v", "-map", "1:a",
        "-c:v", "libx264", "-preset", "superfast", "-tune", "zerolatency", "-g", "60",
        "-b:v", "2000k", "-maxrate", "2000k", "-bufsize", "2000k", "-c:a", "aac", "-b:a", "128k", *output, URL,
    ]  # fmt: skip
    return Participant(name, command)


def gstreamer(name: str, setting: Setting) -> Participant:
    pipeline = (
        f"fdsrc fd=0 blocksize={setting.width * setting.height * 3 // 2} ! "
        f"rawvideoparse width={setting.width} height={setting.height} format=i420 framerate={FPS}/1 ! queue ! "
        "openh264enc bitrate=2000000 gop-size=60 rate-control=bitrate complexity=low ! h264parse ! queue ! "
        f"flvmux name=mux streamable=true ! rtmp2sink location={URL} "
        "audiotestsrc is-live=true wave=sine ! audio/x-raw,rate=44100,channels=2 ! voaacenc bitrate=128000 ! "
        "aacparse ! queue ! mux."
    )
    return Participant(name, ["gst-launch-1.0", "-q", *pipeline.split()])


def everybody(setting: Setting) -> dict[str, Participant]:
    fifo = ["-f", "fifo", "-fifo_format", "flv", "-drop_pkts_on_overflow", "1", "-attempt_recovery", "1",
            "-recover_any_error", "1", "-recovery_wait_time", "1"]  # fmt: skip
    items = [
        tallycam("seamless", setting, "seamless", is_judged=True),
        tallycam("restart", setting, "restart", is_judged=True),
        # Also restarts the stream for the tier of qualities.
        tallycam("restart tiers", setting, "restart", adapt="restart", is_judged=True),
        tallycam("never", setting, "never", is_judged=True, is_fixed=True),
        tallycam("640x360", setting, "never", size="640x360", is_fixed=True),
        tallycam("480x270", setting, "never", size="480x270", is_fixed=True),
        # Low and Medium only, which all players can follow without a break.
        tallycam("Medium3", setting, "seamless", quality="Medium3"),
        gstreamer("gst rtmp2sink", setting),
        ffmpeg("ffmpeg", setting, "-f", "flv"),
        ffmpeg("ffmpeg fifo", setting, *fifo),
    ]
    return {item.name: item for item in items}


def names(setting: Setting, is_quick: bool, ours_only: bool) -> list[str]:
    """The default participants in pairs, a large frame beside a small one where possible."""
    ours = ["seamless", "480x270", "restart", "640x360", "never", "restart tiers"]
    if is_quick:
        chosen = ["seamless", "480x270", "never", "640x360"]
    else:
        chosen = ours if ours_only else [*ours, "gst rtmp2sink", "ffmpeg", "ffmpeg fifo"]
    return [name for name in chosen if setting.can_resize or name not in ("seamless", "restart", "restart tiers")]


def lowest(setting: Setting) -> list[Participant]:
    """The lowest quality, with the program's own choices and without any adaptation."""
    return [
        tallycam("Low1", setting, None, None, quality="Low1", is_judged=True),
        tallycam("Low1, nothing adapts", setting, "never", "nothing", quality="Low1"),
    ]
