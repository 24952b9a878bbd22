"""The product's command line, for tests."""

import contextlib
import fcntl
import itertools
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

from processes import HUNG, Children, Process

CHECKOUT = Path(__file__).resolve().parents[2]
TALLYCAM = CHECKOUT / "out/x86_64/tallycam"
TALLYCAM_ARM64 = CHECKOUT / "out/aarch64/tallycam"
# Each connection step is given the maximum time limit.
PATIENT = {"connect_timeout": "60", "handshake_timeout": "60"}


def events(process: Process) -> list[dict]:
    """The events that a command with `--events json` has printed so far."""
    lines = process.stdout.split("\n")[:-1]
    return [json.loads(line) for line in lines]


def last_event(process: Process, name: str) -> dict | None:
    found = [event for event in events(process) if event["name"] == name]
    return found[-1] if found else None


def wait_for_event(process: Process, name: str) -> dict:
    process.wait_until(lambda: last_event(process, name) is not None, f"event '{name}'")
    return last_event(process, name)


def was_busy(publisher: Process, frames: int = 15) -> bool:
    """Whether the processor was too slow for more frames than this, according to the program's last report."""
    return last_event(publisher, "ended")["sourceDropped"] > frames


def late_end(publisher: Process, seconds: float) -> float:
    """Seconds by which the program was late when it ended a file's video, which lasts this long. Audio goes on until then."""
    start = next(event["t"] for event in events(publisher) if event["name"] == "connected")
    end = next(event["t"] for event in events(publisher) if event["name"] == "sourceEnded" and event["track"] == "video")
    return max(0.0, end - start - seconds)


def not_judged(capsys, text: str) -> None:
    """Shows in the output of the run that a busy machine left a test with less to judge. It returns then: what cannot be known is no
    failure, but a person who reads the total should know."""
    with capsys.disabled():
        print(f"\n  not judged on this busy machine: {text}")


def wait_for_statuses(process: Process, count: int) -> list[dict]:
    """Waits for this many more `status` events. With `--status-interval 1`, at least a second of the stream lies between two of
    them, on any machine."""
    before = sum(event["name"] == "status" for event in events(process))

    def more() -> list[dict]:
        return [event for event in events(process) if event["name"] == "status"][before:]

    process.wait_until(lambda: len(more()) >= count, f"{count} more of event 'status'", interval=0.1)
    return more()


def publish_arguments(url: str | None, **options) -> list:
    """`publish` with its options: `audio_quality="High1"` becomes `--audio-quality High1`, `trace=True` becomes `--trace`, and
    a list repeats the option. Unless the test limits reconnecting, a server may stall for seconds."""
    patience = {} if "reconnect" in options else PATIENT
    options = {"url": url, "video": "synthetic", "audio": "tone", "events": "json", **patience, **options}
    words = ["publish"]
    for name, value in options.items():
        for single in value if isinstance(value, list) else [value]:
            if single is not None:
                words += [f"--{name.replace('_', '-')}", *([] if single is True else [single])]
    return words


def start_publisher(children: Children, url: str | None, name: str = "publish", stdin=None, prefix=(), **options) -> Process:
    extra = {} if stdin is None else {"stdin": stdin}
    return children.start(name, [*prefix, TALLYCAM, *publish_arguments(url, **options)], **extra)


def decoded_at_pace(children: Children, clip: Path, width: int, height: int, fps: int, seconds: float = 3600) -> Process:
    """Part of a clip, decoded by ffmpeg to I420 in the process's `pipe`, each frame at its time."""
    decoder = children.start("decoder", [
        "ffmpeg", "-v", "error", "-i", clip, "-t", seconds, "-vf", f"scale={width}:{height}",
        "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
    ], piped=True)  # fmt: skip
    words = [sys.executable, Path(__file__).with_name("pace_frames.py"), width * height * 3 // 2, fps]
    return children.start("pacer", words, stdin=decoder.pipe, piped=True)


def on_terminal(words: list, columns: int) -> str:
    """The command's output on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([str(word) for word in words], stdin=theirs, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while block := os.read(ours, 65536):
                text += block
        os.close(ours)
        child.wait(HUNG)
    return text.decode().replace("\r\n", "\n")


class Receiver:
    """`tallycam receive`, recording a single publisher."""

    numbers = itertools.count(1)

    def __init__(self, children: Children, name: str = "receive"):
        self.path = children.directory / f"{name}-{next(Receiver.numbers)}.flv"
        self.process = children.start(name, [
            TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", self.path, "--events", "json",
        ])  # fmt: skip
        self.address = wait_for_event(self.process, "listening")["address"]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def url(self, name: str = "x") -> str:
        return f"rtmp://{self.address}/live/{name}"

    def summary(self) -> dict:
        """The recording, after the publisher has left."""
        return wait_for_event(self.process, "publisherEnded")

    def recording(self, name: str = "x") -> Path:
        self.summary()
        status = self.process.interrupt_and_wait()
        assert status == 0, self.process.report()
        return self.path
