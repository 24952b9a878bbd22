"""Instructions and time of a frame, each from two runs of different lengths."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from material import CHECKOUT

# Frames, and then the words of the command and the file that it reads.
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


def arm64_instructions(command: Command) -> float:
    """qemu-user translates one instruction at a time and writes a line for each that is executed."""

    def count(words: list[str], given: Path) -> float:
        reader, writer = os.pipe()
        with given.open("rb") as file:
            emulator = subprocess.Popen(
                ["qemu-aarch64", "-one-insn-per-tb", "-d", "exec,nochain", "-D", f"/dev/fd/{writer}", *words],
                stdin=file, stdout=subprocess.DEVNULL, pass_fds=[writer])  # fmt: skip
        os.close(writer)
        with os.fdopen(reader, "rb") as log:
            lines = 0
            while portion := log.read(1 << 20):
                lines += portion.count(b"\n")
        if emulator.wait() != 0:
            raise SystemExit(f"bench-filters: {words} ended with {emulator.returncode}")
        return float(lines)

    return difference(count, command, (1, 2))


def nanoseconds(command: Command, quick: bool) -> float:
    """Of processor time; the least of some runs, for other programs only make it more."""

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

    return difference(count, command, (20, 120) if quick else (20, 320))
