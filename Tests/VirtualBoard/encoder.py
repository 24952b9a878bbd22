"""The encoder module's faults, and streams of the shipped binary through that encoder to a server on the host."""

import errno
import json
from dataclasses import dataclass
from statistics import median

from board import HOST, Board
from guest_process import GuestProcess
from recording import Recording
from stalls import Stalls
from waiting import NeverHappened, wait_until

SMALL = "--dimension 320x240"
PARAMETERS = "/sys/module/virtual_h264/parameters"
FAULTS = [
    "skip_every", "skip_pattern", "skip_period", "error_every", "headers_every", "stall_after", "swallow_after",
    "stall_until_key", "endless_drain", "busy_format", "fail_buffers", "memory_kb", "slow_bitrate", "lossless",
    "buffer_bytes", "hang_open", "hang_buffers", "hang_release", "stop_ms", "frame_ms",
    "silent", "no_component", "stream_errno", "least_width", "rounds_down", "scaler_limit", "scaler_stall_after",
]  # fmt: skip


def set_faults(board: Board, **values: int) -> None:
    board.run("; ".join(f"echo {value} > {PARAMETERS}/{name}" for name, value in values.items()) or "true")


def clear_faults(board: Board) -> None:
    set_faults(board, **dict.fromkeys(FAULTS, 0), stall_opens=-1, memory_errno=errno.EPERM)


@dataclass
class Stream:
    """A publisher's output, and what nginx has recorded of its stream."""

    events: list[dict]
    recording: Recording
    """All of its output, including the text for people."""
    text: str
    """Seconds for which a busy host kept the guest from running at once. Any gap and any delay may be longer by that."""
    stalled: float

    @property
    def most_replaced(self) -> int:
        """Frames that the next one may have replaced: after a stall several are due at once, and only the newest one waits for the
        encoder."""
        return 4 if self.stalled else 0

    def of(self, name: str) -> list[dict]:
        return [event for event in self.events if event["name"] == name]

    @property
    def codes(self) -> list[int]:
        return [event["code"] for event in self.events if "code" in event]

    @property
    def ended(self) -> dict:
        (event,) = self.of("ended")
        return event


class Publisher:
    """`tallycam publish` in the guest, streaming to nginx on the host."""

    def __init__(
        self, board: Board, nginx, name: str, *options: str, source: str = "synthetic", audio: str = "none",
        cameras: dict[str, str] | None = None,
    ):  # fmt: skip
        self.board = board
        self.nginx = nginx
        self.name = name
        self.source = source
        video = " ".join(f"--camera {name}={source}" for name, source in (cameras or {}).items()) or f"--video {source}"
        self.commands = f"/tmp/commands-{name}"
        words = [
            "exec tallycam publish --events json --encoder v4l2 --status-interval 1 --reconnect 0",
            f"--url rtmp://{HOST}:{nginx.port}/live/{name} {video} --audio {audio}", *options,
        ]  # fmt: skip
        if "--resize" not in " ".join(options):
            # A slow guest must not make a test's frame smaller.
            words.append("--resize never")
        if "--commands" in options:
            # The pipe is opened for both directions, so that the end of one command does not close it.
            words = [f"mkfifo {self.commands};", *words, f"<> {self.commands}"]
        self._stalls = Stalls(board)
        self.process: GuestProcess = board.start(" ".join(words))
        self._events: list[dict] = []
        # The number of output lines that `_events` covers.
        self._read = 0

    def command(self, *lines: str) -> None:
        """Sends lines as a person types them in a terminal. Needs --commands."""
        self.board.run(f"cat > {self.commands}", stdin="".join(f"{line}\n" for line in lines).encode())

    @property
    def events(self) -> list[dict]:
        # Lines that are not JSON objects are for people; the last line may be incomplete.
        lines = self.process.text.split("\n")[:-1]
        self._events += [json.loads(line) for line in lines[self._read :] if line.startswith("{")]
        self._read = len(lines)
        return list(self._events)

    def wait(self, condition, timeout: float, otherwise, *, interval: float = 0.2) -> object:
        """The value of `condition` as soon as it is true, while the program runs. `otherwise` returns what to report
        otherwise."""

        def checked() -> object:
            has_ended = self.process.has_ended
            if not (result := condition()) and has_ended:
                raise NeverHappened(f"the program has ended; {said()}")
            return result

        def said() -> str:
            return f"{otherwise if isinstance(otherwise, str) else otherwise()}; {self.process.text[-3000:]}"

        return wait_until(checked, timeout, said, interval=interval)

    def wait_live(self, timeout: float = 60) -> None:
        self.process.wait_for('"code":1002', timeout)

    def wait_frames(self, count: int, timeout: float = 60) -> None:
        self.wait(lambda: self.frames >= count, timeout, lambda: f"{self.frames} of {count} frames")

    def wait_status(self, condition, timeout: float) -> dict:
        """Waits for a status report that meets the condition."""
        return self.wait(lambda: (status := self.last_status) and condition(status) and status, timeout, "no such status")

    def wait_event(self, code: int, count: int, timeout: float) -> None:
        """Waits until the program has reported this many events with this code."""
        self.wait(
            lambda: sum(event.get("code") == code for event in self.events) >= count, timeout, f"fewer than {count} of {code}")

    @property
    def last_status(self) -> dict | None:
        reports = [event for event in self.events if event["name"] == "status"]
        return reports[-1] if reports else None

    @property
    def frames(self) -> int:
        return max([event.get("videoFrames", 0) for event in self.events] or [0])

    def finish(self, timeout: float = 60, status: int = 0) -> Stream:
        """Waits until the program ends by itself."""
        output = self.process.wait(timeout)
        assert output.status == status, output.text[-3000:]
        stream = Stream(self.events, Recording(self.nginx.recording(self.name)), output.text, self._stalls.end())
        # Without this, no frame could be missed.
        assert self.source == "synthetic" or stream.ended["sourceFrames"] > 0, stream.ended
        return stream

    def stop(self, timeout: float = 30) -> Stream:
        self.process.signal("INT")
        return self.finish(timeout)


class Appliance:
    """`tallycam run`, with streams one after the other in one process."""

    def __init__(self, board, nginx, name: str, wiring: dict | None = None, options: str = "", **device):
        self.board = board
        server, _, key = nginx.url(name).replace("127.0.0.1", HOST).rpartition("/")
        files = {
            "board": {"name": "Bench", "encoder": "auto"} | (wiring or {}), "stream": {"url": server, "key": key},
            "device": {
                "camera": "synthetic", "dimension": "320x240", "audio": {"source": "silence"}, "statusInterval": 1,
                "quality": {"lowest": "Low1", "start": "Low3", "highest": "Low3"},
            } | device,
        }  # fmt: skip
        board.run("rm -rf /tmp/e; mkdir -p /tmp/e/boot /tmp/e/state /tmp/e/network")
        for file, content in files.items():
            board.put(f"/tmp/e/boot/{file}.json", json.dumps(content))
        self.process = board.start(
            "exec tallycam run --boot /tmp/e/boot --state /tmp/e/state --socket /tmp/e/socket --network /tmp/e/network "
            f"--simulate-power {options}"
        )
        self.wait(lambda status: status["state"] == "ready")

    def ask(self, word: str, check: bool = True) -> str:
        return self.board.run(f"tallycam {word} --socket /tmp/e/socket", check=check).text

    def wait(self, condition, timeout: float = 30) -> dict:
        last = ""

        def status() -> dict | None:
            nonlocal last
            last = self.ask("status --json", check=False)
            return found if last.startswith("{") and condition(found := json.loads(last)) else None

        return wait_until(status, timeout, lambda: f"{last}\n{self.process.text[-3000:]}", interval=0.4)

    @property
    def events(self) -> str:
        return self.board.run("echo events 50 | socat -t 5 - UNIX:/tmp/e/socket").text

    def wait_for_event(self, text: str, timeout: float = 20) -> None:
        wait_until(lambda: text in self.events, timeout, lambda: self.events, interval=0.5)

    def live_with(self) -> str:
        """Starts a stream, and returns the name of its encoder."""
        self.ask("start")
        return self.wait(lambda status: status["state"] == "live" and "encoder" in status)["encoder"]

    def stop(self) -> None:
        self.ask("stop")
        # A connected computer gets the camera again.
        self.wait(lambda status: status["state"] in ("ready", "webcam"))

    def wait_until_encoders_are_closed(self) -> None:
        """A driver's call that hung returns some time after the fault is cleared. Until then the device is in use."""

        def threads() -> list[str]:
            return self.board.run("cat /proc/$(pidof tallycam)/task/*/comm", check=False).text.split()

        wait_until(lambda: "encoder" not in threads(), 20, lambda: f"threads: {threads()}")


# kB that OpenH264 needs for 640x360, with a margin; and the same with the frames made for it, where the C library keeps all freed
# memory.
SOFTWARE_ENCODER, KEPT_SOFTWARE_ENCODER = 4500, 10500


class ResourceUse:
    """The memory of a process in the guest, measured from time to time; kB."""

    def __init__(self, board: Board, pid: int):
        self.board = board
        self.pid = pid
        # Resident memory: its own, and what it maps of files and devices. The buffers of an encoder are freed and allocated
        # with each change of size.
        self.own: list[int] = []
        self.mapped: list[int] = []
        self.descriptors: list[int] = []
        self.threads: list[int] = []

    def measure(self) -> None:
        text = self.board.run(
            f"awk '/VmRSS|RssAnon|Threads/ {{print $2}}' /proc/{self.pid}/status; ls /proc/{self.pid}/fd | wc -l"
        ).text.split()
        resident, own, threads, descriptors = map(int, text)
        self.own.append(own)
        self.mapped.append(resident - own)
        self.threads.append(threads)
        self.descriptors.append(descriptors)

    def is_flat(self, but_for: int = SOFTWARE_ENCODER) -> bool:
        """Whether nothing grows: in the last third of the time the maximum stays within that of the time before, and the median
        within that of the third before. One software encoder more is allowed: it may be running during any measurement, and the
        C library sometimes keeps freed memory and sometimes does not."""
        third = max(1, len(self.own) // 3)
        return (
            all(max(values[-third:]) < max(values[:-third]) + most for values, most in
                ((self.own, but_for), (self.mapped, 2000)))
            and all(median(values[-third:]) < median(values[-2 * third : -third]) + most for values, most in
                    ((self.own, but_for), (self.mapped, 500)))
            and max(self.descriptors[-third:]) <= max(self.descriptors[: third + 1]) + 2
            and self.threads[-1] <= max(self.threads[: third + 1])
        )

    def __str__(self) -> str:
        return (
            f"own kB {self.own}, mapped kB {self.mapped}, descriptors {self.descriptors}, threads {self.threads}"
        )


def unaccounted(report: dict) -> int:
    """Frames from the camera that no counter includes: in a status those still being processed, at the end lost ones."""
    given = report["sourceFrames"] + report["sourceRepeated"]
    counted = sum(report[name] for name in ("videoFrames", "videoSkipped", "videoDropped", "videoDecimated"))
    return given - counted if given else 0


def assert_decodes(stream: Stream) -> None:
    """Checks that ffmpeg decodes every frame that was sent without a warning. Each frame was either sent or counted as lost."""
    assert unaccounted(stream.ended) == 0, stream.ended
    decoded = stream.recording.decoded
    assert decoded.complaints == ""
    counts = decoded.frames, stream.ended["videoFrames"], len(stream.recording.frames)
    assert len(set(counts)) == 1, f"decoded, sent, recorded: {counts}"
    assert not stream.recording.disorder()
    # New headers start with a keyframe.
    video = [tag for tag in stream.recording.tags if tag.is_video_header or tag.is_frame]
    assert all(after.is_keyframe for tag, after in zip(video, video[1:]) if tag.is_video_header)


def assert_goes_on_with_a_keyframe(stream: Stream) -> None:
    """Checks that the first frame after the longest gap, which is that of the stall, is a keyframe."""
    frames = stream.recording.frames
    gaps = ((after.timestamp - before.timestamp, after) for before, after in zip(frames, frames[1:]))
    gap, after = max(gaps, key=lambda pair: pair[0])
    assert gap > 900 and after.is_keyframe, (gap, after.timestamp)


def kernel_is_content(board: Board) -> None:
    log = board.run("dmesg | grep -E 'BUG|WARNING|Oops|Call trace|schedule_timeout: wrong' || true").text.splitlines()
    # From vivid itself: when it is late with a frame, it computes a negative sleep, and the kernel logs a trace about it.
    late = sum("schedule_timeout: wrong" in line for line in log)
    faults = [line for line in log if "Call trace" not in line and "schedule_timeout: wrong" not in line]
    traces = sum("Call trace" in line for line in log)
    assert not faults and traces <= late, board.run("dmesg | grep -E -B 20 -A 60 'BUG|WARNING|Oops|Call trace'; dmesg | tail -n 50").text
