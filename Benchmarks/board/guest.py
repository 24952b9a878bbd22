"""The virtual board for measuring: each instruction takes 1 ns of its time, and its processor counts them."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
sys.path.insert(0, str(CHECKOUT / "Tests/VirtualBoard"))

from board import TALLYCAM, Board, built_modules  # noqa: E402

FRAMES_PER_SECOND = 30
# A camera's HDMI input scales to any size; as a webcam vivid has only a few sizes, without 320x240.
CAMERA_WORDS = "n_devs=1 node_types=0x1 num_inputs=1 input_types=0x3 vid_cap_nr=0 allocators=1"
TIMINGS = "cvt,width=1280,height=720,fps=30"
# In the status: frames of which the processor has read a byte.
LOOKS = ("sourceConverted", "sourceMapped", "sourcePasses")


@dataclass
class Run:
    """One stream, from exec to exit."""

    frames: int
    user: int
    kernel: int
    calls: int
    looks: int


@dataclass
class Service:
    """The device with a live stream, from exec to SIGTERM."""

    frames: int
    user: int
    # The program's own memory while live, in kB: heap, stacks and changed data.
    own: int
    # What the send buffers and the recording hold, in kB: a GOP at most.
    buffered: float


# `tallycam run` is live for some seconds, and nobody asks it anything before its end, which would cost instructions.
SERVE = """
rm -rf {place}/state; mkdir -p {place}/state {place}/network
/board/count /tmp/counts tallycam run --boot {place}/boot --state {place}/state --socket {place}/socket --network {place}/network \
    --simulate-power >/tmp/run.log 2>&1 &
count=$!
sleep 2; tallycam start --socket {place}/socket >/dev/null; sleep {seconds}
tallycam status --json --socket {place}/socket >/tmp/status
for program in $(pidof tallycam); do
    ! grep -qa -- --simulate-power /proc/$program/cmdline || grep Anonymous: /proc/$program/smaps_rollup >/tmp/memory
done
kill -TERM $count; wait $count
cat /tmp/status
"""
PLACE = "/tmp/bench"


class MeasuringBoard(Board):
    """The camera and the encoder of the virtual board, a receiver on loopback, and a program that counts.

    Everything is in the guest, so that the host's other work changes no number.
    """

    def __init__(self, folder: Path, tallycam: Path = TALLYCAM):
        files = {"tallycam": tallycam, "count": compile_counter(folder)} | built_modules()
        super().__init__(folder, files=files, counts_instructions=True)
        self.run("mount -t tracefs tracefs /sys/kernel/tracing")
        self.run(f"rmmod vivid && modprobe vivid {CAMERA_WORDS} && v4l2-ctl -d /dev/video0 --set-dv-bt-timings {TIMINGS}")
        receiver = self.start("exec tallycam receive --listen 127.0.0.1:1935")
        receiver.wait_for("listening", 30)

    def publish(self, size: str, seconds: int, targets: int = 1) -> Run:
        """From the camera's DMABUF through the hardware encoder to the socket, at the highest bit rate, with a status every
        second."""
        servers = [{"name": f"s{number}", "url": f"rtmp://127.0.0.1/live/x{number}"} for number in range(targets)]
        self.put("/tmp/stream.json", json.dumps({"targets": servers}))
        script = (
            "/board/count /tmp/counts tallycam publish --stream /tmp/stream.json --reconnect 0 "
            f"--video v4l2:/dev/video0,size={size},format=NV12 --audio none --encoder v4l2 --dimension {size} "
            f"--quality High3 --adapt nothing --status-interval 1 --events json --duration {seconds}"
        )
        text = self.run(script, timeout=900).text
        events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        # The first target's.
        ended = next(event for event in events if event["name"] == "ended")
        status = [event for event in events if event["name"] == "status"][-1]
        expected = seconds * FRAMES_PER_SECOND
        # A server that accepts the stream after another one waits for a keyframe.
        if abs(ended["videoFrames"] - expected) > expected * 0.02 + 2 * (targets - 1):
            raise SystemExit(f"bench-board: {ended['videoFrames']} frames in {seconds} s; the board is too slow:\n{text[-3000:]}")
        counts = json.loads(self.get("/tmp/counts"))
        return Run(
            ended["videoFrames"], counts["user"], counts["kernel"], counts["calls"],
            sum(status[name] for name in LOOKS))  # fmt: skip

    def serve(self, size: str, seconds: int, *, targets: int = 1, records: bool = False) -> Service:
        """The same by `tallycam run`, with or without a recording of the stream."""
        servers = [{"name": f"s{number}", "url": "rtmp://127.0.0.1/live", "key": f"x{number}"} for number in range(targets)]
        quality = {"lowest": "High3", "start": "High3", "highest": "High3"}
        device = {
            "camera": "/dev/video0", "dimension": size, "quality": quality, "audio": {"source": "none"},
            "record": {"when": "live" if records else "off", "folder": f"{PLACE}/state/kept"},
        }  # fmt: skip
        self.run(f"mkdir -p {PLACE}/boot")
        for name, content in {"board": {"name": "Bench"}, "device": device, "stream": {"targets": servers}}.items():
            self.put(f"{PLACE}/boot/{name}.json", json.dumps(content))
        status = json.loads(self.run(SERVE.format(place=PLACE, seconds=seconds), timeout=900).text)
        live = [target["state"] for target in status["targets"]] if targets > 1 else [status["state"]]
        # It takes a moment to be live.
        expected = (seconds - 2) * FRAMES_PER_SECOND
        if live != ["live"] * targets or status["videoFrames"] < expected or records != ("file" in status["recording"]):
            raise SystemExit(f"bench-board: not live as expected: {status}\n{self.get('/tmp/run.log').decode()[-3000:]}")
        counts = json.loads(self.get("/tmp/counts"))
        own = int(self.get("/tmp/memory").decode().split()[1])
        return Service(status["videoFrames"], counts["user"], own, 2 * status["bitsPerSecond"] / 8000)

    def encode_in(self, milliseconds: int) -> None:
        """Sets how long the encoder takes for a frame; 0 means as long as its work takes."""
        self.run(f"echo {milliseconds} > /sys/module/virtual_h264/parameters/frame_ms")


def compile_counter(folder: Path) -> Path:
    program = folder / "count"
    words = ["aarch64-linux-gnu-gcc-14", "-O2", "-Wall", "-Wextra", "-Werror", "-static", HERE / "count.c", "-o", program]
    subprocess.run(words, check=True)
    return program
