"""Instructions and time per frame, each from two runs of different lengths."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from material import CHECKOUT

sys.path[:0] = [str(CHECKOUT / "Benchmarks/board"), str(CHECKOUT / "Tests/VirtualBoard")]

from board import Board  # noqa: E402
from guest import compile_counter  # noqa: E402

# A program that has read a frame executes more.
LEAST_INSTRUCTIONS = 100_000
# From the number of frames to the command's arguments and its input file.
Command = Callable[[int], tuple[list[str], Path]]


def build() -> None:
    for arch in ("x86_64", "aarch64"):
        subprocess.run([CHECKOUT / "scripts/build", arch, "filter-frames"], check=True)


def difference(measure: Callable[[list[str], Path], float], command: Command, lengths: tuple[int, int]) -> float:
    short, long = (measure(*command(frames)) for frames in lengths)
    return (long - short) / (lengths[1] - lengths[0])


def instructions(command: Command, lengths: tuple[int, int] = (2, 12)) -> float:
    """As valgrind's callgrind counts them, in all threads."""

    def count(words: list[str], given: Path) -> float:
        with given.open("rb") as file:
            result = subprocess.run(
                ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words], stdin=file,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
        counted = re.search(r"Collected : (\d+)", result.stderr)
        if result.returncode != 0 or not counted:
            raise SystemExit(f"bench-filters: {words}:\n{result.stderr[-2000:]}")
        return float(counted[1])

    return difference(count, command, lengths)


class Guest:
    """The virtual board, whose processor counts its instructions exactly (Benchmarks/board)."""

    def __init__(self, folder: Path, files: dict[str, Path]):
        program = {"filter-frames": CHECKOUT / "out/aarch64/filter-frames", "count": compile_counter(folder)}
        self.board = Board(folder, files=program | files, counts_instructions=True)
        self.board.run("mount -t tracefs tracefs /sys/kernel/tracing")

    def close(self) -> None:
        self.board.close()

    def instructions(self, words: list[str], frame: str) -> float:
        """The program's own instructions.

        `frame` and other files named in `words` are in /board.
        """

        def count(frames: int) -> float:
            command = " ".join(shlex.quote(word) for word in [*words, "--repeat", str(frames)])
            self.board.run(f"/board/count /tmp/counts /board/filter-frames {command} < /board/{frame} > /dev/null", timeout=300)
            counted = float(json.loads(self.board.get("/tmp/counts"))["user"])
            if counted < LEAST_INSTRUCTIONS:
                raise SystemExit(f"bench-filters: {command} has done nothing in the guest")
            return counted

        return (count(12) - count(2)) / 10


def nanoseconds(command: Command, lengths: tuple[int, int], quick: bool) -> float:
    """Processor time: the minimum of several runs, as other programs only increase it."""

    def count(words: list[str], given: Path) -> float:
        def once() -> float:
            with given.open("rb") as file:
                child = subprocess.Popen(words, stdin=file, stdout=subprocess.DEVNULL)
                _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                raise SystemExit(f"bench-filters: {words} ended with {child.returncode}")
            return usage.ru_utime + usage.ru_stime

        return min(once() for _ in range(2 if quick else 5)) * 1e9

    return difference(count, command, lengths)
