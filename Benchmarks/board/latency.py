"""The time from the encoder driver's notification that a frame is done to the system call that hands it to the socket.

As traced by the guest's kernel: when videobuf2 has finished a coded buffer (`vb2_buf_done`), when the program has taken it
(`vb2_dqbuf`), and when the program's network thread calls `sendmsg`. The packet is appended to the send buffer between the last
two, so the measured time is longer than the path into that buffer.
"""

import re
from dataclasses import dataclass, field

from guest import MeasuringBoard

TRACING = "/sys/kernel/tracing"
# V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE; of all the board's devices in use, only the encoder's output has this type.
CODED = 9
EVENTS = ("vb2/vb2_buf_done", "vb2/vb2_dqbuf", "syscalls/sys_enter_sendmsg")
LINE = re.compile(r"^ *(\S+)-\d+ +\[\d+\] \S+ +(\d+\.\d+): (vb2_buf_done|vb2_dqbuf|sys_sendmsg)\b", re.MULTILINE)
# Leave out connecting and disconnecting; seconds.
START, END = 2.0, 0.5


@dataclass
class Latencies:
    """Milliseconds since the frame was done, for each frame of a stream."""

    taken: list[float] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)


def trace(board: MeasuringBoard, size: str, seconds: int) -> str:
    """The kernel's trace of one stream."""
    board.run(
        f"cd {TRACING} && echo 0 > tracing_on && echo 8192 > buffer_size_kb && echo mono > trace_clock && echo > trace"
        + "".join(f" && echo 1 > events/{event}/enable" for event in EVENTS)
        + "".join(f" && echo 'type == {CODED}' > events/{event}/filter" for event in EVENTS if event.startswith("vb2"))
        + " && echo 1 > tracing_on"
    )
    try:
        board.publish(size, seconds)
        return board.get(f"{TRACING}/trace").decode()
    finally:
        board.run(f"echo 0 > {TRACING}/tracing_on; echo 0 > {TRACING}/events/enable")


def latencies(text: str) -> Latencies:
    """Requires that each frame is sent before the next one is done, as they could not be distinguished otherwise."""
    found = [(thread, float(time), event) for thread, time, event in LINE.findall(text)]
    times = [time for _, time, event in found if event == "vb2_buf_done"]
    start, end = times[0] + START, times[-1] - END
    result = Latencies()
    done = taken = None
    for thread, time, event in found:
        if event == "vb2_buf_done":
            if done is not None:
                raise SystemExit(f"bench-board: the frame that was done at {done:.6f} s was not sent before the next one")
            done = time if start <= time <= end else None
        elif done is not None and event == "vb2_dqbuf":
            taken = time
        elif done is not None and taken is not None and thread == "network":
            result.taken.append((taken - done) * 1000)
            result.sent.append((time - done) * 1000)
            done = taken = None
    return result
