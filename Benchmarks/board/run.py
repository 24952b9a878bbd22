"""The cost of one frame on a board: the shipped ARM64 binary from the camera's DMABUF through the hardware encoder to the
socket, on the virtual board.

Started by `make bench-board`. The emulated processor counts each instruction, and time is measured in instructions: a busy
machine changes neither. Ends with status 1 if a goal is missed.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from guest import CHECKOUT, MeasuringBoard
from latency import latencies, trace

SIZES = ("320x240", "640x360", "1280x720")
MOST_INSTRUCTIONS = 95_000
# From the smallest size to the largest. One instruction for every 64 bytes of a frame would increase the cost by a fifth.
MOST_GROWTH = 0.03
MOST_LATENCY = 2.0
# As a share of the cost of a stream to one server, encoding included.
MOST_FOR_A_TARGET = 0.25
MOST_FOR_A_RECORDING = 0.2
# In kB, beside what its buffer holds.
MOST_MEMORY_FOR_A_TARGET, MOST_MEMORY_FOR_A_RECORDING = 1024, 512
# About the time of a Pi's encoder for a frame, so that it finishes at a quiet moment.
ENCODER_MILLISECONDS = 20


@dataclass
class Cost:
    """The cost of one frame."""

    user: float
    kernel: float
    calls: float
    # Frames of which the processor has read a byte.
    looks: int
    # Milliseconds since the encoder's buffer was done: median, median, maximum.
    taken: float
    sent: float
    latest: float


def measure(board: MeasuringBoard, size: str, seconds: int) -> Cost:
    """The difference between a stream and one of twice its length excludes the start and the end."""
    board.encode_in(0)
    short, long = board.publish(size, seconds), board.publish(size, 2 * seconds)
    frames = long.frames - short.frames
    board.encode_in(ENCODER_MILLISECONDS)
    times = latencies(trace(board, size, seconds))
    return Cost(
        (long.user - short.user) / frames, (long.kernel - short.kernel) / frames, (long.calls - short.calls) / frames,
        short.looks + long.looks,
        statistics.median(times.taken), statistics.median(times.sent), max(times.sent))  # fmt: skip


def share_of_a_target(board: MeasuringBoard, size: str, seconds: int) -> float:
    """What a second server adds to a stream, as a share of its user instructions with one."""
    board.encode_in(0)
    user = {}
    for targets in (1, 2):
        short, long = (board.publish(size, time, targets) for time in (seconds, 2 * seconds))
        user[targets] = (long.user - short.user) / (long.frames - short.frames)
    return user[2] / user[1] - 1


@dataclass
class Additions:
    """What a second server and a recording add to a stream to one server."""

    # As shares of its user instructions; the first one by `publish`, the others by `run`.
    publish_target: float
    target: float
    recording: float
    # In kB.
    target_memory: int
    recording_memory: int
    # What a recording holds until a GOP is complete.
    gop: float


def measure_additions(board: MeasuringBoard, size: str, seconds: int) -> Additions:
    board.encode_in(0)
    user, own, gop = {}, {}, 0.0
    for name, options in {"one": {}, "target": {"targets": 2}, "recording": {"records": True}}.items():
        short, long = (board.serve(size, time, **options) for time in (seconds, 2 * seconds))
        user[name] = (long.user - short.user) / (long.frames - short.frames)
        own[name], gop = long.own, long.buffered
        print(f"bench-board: {name}: {user[name]:.0f} user instructions a frame of run, {own[name]} kB", flush=True)
    return Additions(
        share_of_a_target(board, size, seconds), user["target"] / user["one"] - 1, user["recording"] / user["one"] - 1,
        own["target"] - own["one"], own["recording"] - own["one"], gop,
    )  # fmt: skip


def table(costs: dict[str, Cost]) -> str:
    headings = (
        "a frame of", "user instructions", "kernel's, on its behalf", "system calls", "done to taken, ms",
        "done to socket, ms", "at most",
    )  # fmt: skip
    rows = [headings] + [
        (size, f"{cost.user:.0f}", f"{cost.kernel:.0f}", f"{cost.calls:.1f}", f"{cost.taken:.3f}", f"{cost.sent:.3f}",
         f"{cost.latest:.3f}")
        for size, cost in costs.items()
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def judge(costs: dict[str, Cost], added: Additions) -> list[tuple[bool, str]]:
    """Each goal, whether it is met, and by which value."""
    return (judge_costs(costs) if costs else []) + judge_additions(added)


def judge_costs(costs: dict[str, Cost]) -> list[tuple[bool, str]]:
    smallest, *_, largest = costs.values()
    most = max(cost.user for cost in costs.values())
    growth = {name: getattr(largest, name) / getattr(smallest, name) - 1 for name in ("user", "calls")}
    slowest = max(cost.sent for cost in costs.values())
    return [
        (most <= MOST_INSTRUCTIONS, f"a frame takes {most:.0f} user instructions; the goal is {MOST_INSTRUCTIONS} at most"),
        (
            all(value <= MOST_GROWTH for value in growth.values()),
            f"from the smallest size to the largest its instructions grow by {growth['user']:.1%} and its system calls by "
            f"{growth['calls']:.1%}; the goal is {MOST_GROWTH:.0%} at most",
        ),
        (
            not any(cost.looks for cost in costs.values()),
            f"the processor looked into {sum(cost.looks for cost in costs.values())} frames; the goal is none",
        ),
        (slowest < MOST_LATENCY, f"a frame is in the socket {slowest:.3f} ms after the driver has it done, in the median; "
                                 f"the goal is less than {MOST_LATENCY:g} ms"),
    ]  # fmt: skip


def judge_additions(added: Additions) -> list[tuple[bool, str]]:
    return [
        (
            max(added.publish_target, added.target) <= MOST_FOR_A_TARGET,
            f"a second server adds {added.publish_target:.1%} of the instructions of publish and {added.target:.1%} of run; "
            f"the goal is {MOST_FOR_A_TARGET:.0%} at most",
        ),
        (
            added.recording <= MOST_FOR_A_RECORDING,
            f"a recording adds {added.recording:.1%} of the instructions; the goal is {MOST_FOR_A_RECORDING:.0%} at most",
        ),
        (
            added.target_memory <= MOST_MEMORY_FOR_A_TARGET,
            f"a second server adds {added.target_memory} kB; the goal is {MOST_MEMORY_FOR_A_TARGET} at most",
        ),
        (
            added.recording_memory - added.gop <= MOST_MEMORY_FOR_A_RECORDING,
            f"a recording adds {added.recording_memory} kB, {added.gop:.0f} of them for a GOP; the goal is "
            f"{MOST_MEMORY_FOR_A_RECORDING} at most beside it",
        ),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-board", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="streams of 4 and 8 s instead of 10 and 20")
    parser.add_argument("--additions", action="store_true", help="only a second server and a recording")
    options = parser.parse_args()
    seconds = 4 if options.quick else 10
    os.chdir(CHECKOUT)
    costs: dict[str, Cost] = {}
    with tempfile.TemporaryDirectory(prefix="bench-board-") as folder, MeasuringBoard(Path(folder)) as board:
        print(f"bench-board: the board is up after {board.boot_seconds:.0f} s", flush=True)
        for size in () if options.additions else SIZES:
            print(f"bench-board: {size}", flush=True)
            costs[size] = measure(board, size, seconds)
        print("bench-board: two servers, a recording", flush=True)
        added = measure_additions(board, SIZES[0], seconds)
    out = CHECKOUT / "out/bench-board.json"
    found = {size: asdict(cost) for size, cost in costs.items()} | {"additions": asdict(added)}
    out.write_text(json.dumps(found, indent=1) + "\n")
    if costs:
        print(table(costs))
    verdicts = judge(costs, added)
    for is_met, text in verdicts:
        print(f"bench-board: {'met' if is_met else 'MISSED'}: {text}")
    return 0 if all(is_met for is_met, _ in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
