#!/usr/bin/env python3
"""The cost of a computer's webcam on the board: instructions per frame in each mode, and for ten seconds without use.

Each instruction takes 1 ns of the guest's time, so the kernel's time of a thread equals the number of its instructions.
"""

import json
import re
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1] / "Tests/VirtualBoard"), str(HERE.parents[1] / "Tests/Integration")]

from board import TALLYCAM, Board, built_modules  # noqa: E402
from usb_host import UsbHost  # noqa: E402

FRAMES = 40
IDLE_SECONDS = 10
MODES = [
    ("MJPG", "640x360"), ("MJPG", "640x480"), ("MJPG", "1280x720"), ("MJPG", "1920x1080"),
    ("NV12", "640x360"), ("NV12", "640x480"), ("YUYV", "640x360"), ("YUYV", "640x480"),
]  # fmt: skip
PLACE = "/tmp/bench"


class Camera:
    def __init__(self, board: Board, dimension: str, webcam: bool = True):
        self.board = board
        device = {"camera": "/dev/video0", "dimension": dimension, "webcam": webcam, "audio": {"source": "silence"}}
        board.run(f"rm -rf {PLACE}; mkdir -p {PLACE}/boot {PLACE}/state {PLACE}/network")
        for name, content in {"board": {"name": "Bench"}, "device": device}.items():
            board.put(f"{PLACE}/boot/{name}.json", json.dumps(content))
        self.process = board.start(
            f"exec tallycam run --boot {PLACE}/boot --state {PLACE}/state --socket {PLACE}/socket --network {PLACE}/network "
            "--simulate-power"
        )
        self.pid = self.process.pid

    def status(self) -> dict:
        text = self.board.run(f"tallycam status --json --socket {PLACE}/socket", check=False).text
        return json.loads(text).get("webcam", {}) if text.startswith("{") else {}

    def wait_for(self, state: str) -> dict:
        deadline = time.monotonic() + 120
        while (status := self.status()).get("state") != state:
            if time.monotonic() > deadline:
                raise SystemExit(f"bench-webcam: {status}\n{self.process.text[-2000:]}")
            time.sleep(0.5)
        return status

    def nanoseconds(self) -> dict[str, int]:
        """Each thread's time on a processor."""
        script = f"for task in /proc/{self.pid}/task/*; do echo $(cat $task/comm) $(cat $task/schedstat); done"
        counts: dict[str, int] = {}
        for name, spent in re.findall(r"^(\S+) (\d+) \d+ \d+$", self.board.run(script).text, re.MULTILINE):
            counts[name] = counts.get(name, 0) + int(spent)
        return counts

    def end(self) -> None:
        self.process.signal("TERM")
        self.process.wait(60)


def measure(board: Board, host: UsbHost, coding: str, size: str, colorspace: str = "sRGB") -> None:
    """`colorspace` is vivid's name for it."""
    width, height = size.split("x")
    choices = board.run("v4l2-ctl -d /dev/video0 --list-ctrls-menus").text
    number = re.search(rf"^\s*(\d+): {re.escape(colorspace)}", choices.split(" colorspace ", 1)[1], re.MULTILINE)[1]
    board.run(f"v4l2-ctl -d /dev/video0 -c colorspace={number}")
    camera = Camera(board, size)
    host.plug()
    node = host.video_node()
    camera.wait_for("attached")
    before, sent = camera.nanoseconds(), camera.status()["sentFrames"]
    board.run(
        f"v4l2-ctl -d {node} --set-fmt-video=width={width},height={height},pixelformat={coding} --stream-mmap "
        f"--stream-count={FRAMES} --stream-to=/dev/null",
        timeout=900,
    )
    status = camera.wait_for("attached")
    after = camera.nanoseconds()
    frames = status["sentFrames"] - sent
    spent = (after["webcam"] - before["webcam"]) / frames
    print(f"{coding}  {size:>9}  {colorspace:>8}  {spent / 1e6:7.2f}  {status['sentBytes'] / max(1, status['sentFrames']) / 1000:7.0f}", flush=True)
    host.unplug()
    camera.end()


def idle(board: Board, host: UsbHost, name: str, webcam: bool, is_plugged: bool) -> None:
    camera = Camera(board, "640x480", webcam)
    if webcam:
        camera.wait_for("notAttached")
    if is_plugged:
        host.plug()
        camera.wait_for("attached")
    board.run("sleep 3")
    before = camera.nanoseconds()
    board.run(f"sleep {IDLE_SECONDS}")
    after = camera.nanoseconds()
    spent = {name: after[name] - before.get(name, 0) for name in after}
    own = sum(count for thread, count in spent.items() if thread.startswith("webcam"))
    print(f"{name:24}  {sum(spent.values()) / 1e6:6.2f}  {own:6}", flush=True)
    if is_plugged:
        host.unplug()
    camera.end()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = {"tallycam": TALLYCAM} | built_modules()
        with Board(Path(folder), files=files, counts_instructions=True) as board:
            host = UsbHost(board)
            print(f"Million instructions of the program in {IDLE_SECONDS} s, and those of the webcam's threads")
            idle(board, host, "no webcam", False, False)
            idle(board, host, "webcam, no computer", True, False)
            idle(board, host, "webcam, not in use", True, True)
            print("\nMillion instructions of the thread webcam a frame, and kilobytes of it; camera: vivid, at that size")
            for coding, size in MODES:
                measure(board, host, coding, size)
            # Computers read this as BT.601.
            measure(board, host, "MJPG", "1280x720", "Rec. 709")


if __name__ == "__main__":
    main()
