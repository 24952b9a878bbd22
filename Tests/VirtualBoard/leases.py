"""The buffers that a camera leases to a stream: what the guest's kernel and the stream's status report about them."""

import re
from itertools import pairwise

from board import Board
from encoder import Stream, unaccounted

DEBUG = "/sys/kernel/debug"
# Who may hold a buffer's memory: the leased descriptor, the processor's mapping, and one encoder with the kernel's import and
# two holds of its driver. As on the Pi these are the codec's hold, and the hold of the code that shares memory with the
# VideoCore.
ENCODER_HOLDS = 3
HOLDERS = 2 + ENCODER_HOLDS
# With five of six buffers away at each look, one of them is never seen at home in one of ten thousand runs.
LOOKS = 60


def mount_debug(board: Board) -> None:
    """What the kernel reports about the holders of buffers. The guest keeps it."""
    board.run(f"grep -q ' {DEBUG} ' /proc/mounts || mount -t debugfs debugfs {DEBUG}")


class Leases:
    """The buffers of the V4L2 camera at /dev/video0, all used by one stream. They are examined from outside: the driver reports
    for each buffer whether it has it, the kernel how many holders its memory has."""

    def __init__(self, board: Board):
        self.board = board
        mount_debug(board)
        # When the driver was last queried, by the guest's clock.
        self.asked = 0.0
        self.count = len(self._queued())
        # The largest number of leased buffers at once, and for each fault the time until every buffer had been back.
        self.most_leased = 0
        self.seconds: list[float] = []

    def _queued(self) -> list[bool]:
        """For each buffer, whether the driver has it: to be filled, or filled and not yet taken."""
        script = "read up idle </proc/uptime; echo $up; v4l2-ctl -d /dev/video0 --list-buffers"
        up, text = self.board.run(script).text.split("\n", 1)
        self.asked = float(up)
        flags = [set(re.split(r",\s*", line)) for line in re.findall(r"^\s*Flags\s*: (.*)$", text, re.MULTILINE)]
        assert flags, text
        return [bool({"queued", "done"} & words) for words in flags]

    def look(self) -> set[int]:
        """Which buffers are leased now."""
        queued = self._queued()
        assert len(queued) == self.count, f"the camera has {len(queued)} buffers, and had {self.count}"
        self.most_leased = max(self.most_leased, queued.count(False))
        return {index for index, is_queued in enumerate(queued) if not is_queued}

    def assert_return(self, within: float = 5) -> None:
        """Checks that each buffer is back with the driver at some moment. A buffer that is kept for good never is. Most are away
        most of the time, so this takes many looks, which are rare on a busy host."""
        away, looks = self.look(), 1
        start = self.asked
        while away:
            assert self.asked < start + within or looks < LOOKS, f"buffers {away} were not released within {within} s"
            away, looks = away & self.look(), looks + 1
        self.seconds.append(self.asked - start)

    def assert_held(self, at_most: int = HOLDERS) -> None:
        """Checks that no closed encoder holds a buffer's memory."""
        text = self.board.run(f"cat {DEBUG}/dma_buf/bufinfo").text
        holders = [int(count) for count in re.findall(r"^\d+\s+\S+\s+\S+\s+(\d+)\s+videobuf2", text, re.MULTILINE)]
        assert len(holders) == self.count, text
        assert max(holders) <= at_most, f"the camera's buffers are held by {holders}, at most {at_most} are known"

    def __str__(self) -> str:
        return (
            f"{self.count} buffers of the camera, {self.most_leased} leased at once at most, {len(self.seconds)} times each was "
            f"back, within {max(self.seconds):.1f} s"
        )


def calm_parts(stream: Stream, troubles: list[tuple[float, float]]) -> list[list[dict]]:
    """The stream's reports while the hardware encodes without trouble: one list for each interval between `troubles`, whose
    times are by the program's clock."""
    ends = [(0.0, 0.0), *troubles, (float("inf"), float("inf"))]
    parts = []
    for (_, start), (end, _) in pairwise(ends):
        # A report counts the time before it; one about falling back to software is followed by a minute of software.
        within = [report for report in stream.of("status") if start + 2 < report["t"] < end - 0.5]
        parts.append([report for report in within if report["encoder"] != "openh264"])
    return [part for part in parts if len(part) > 1]


def assert_camera_goes_on(stream: Stream, troubles: list[tuple[float, float]], buffers: int) -> list[float]:
    """Checks that without trouble frames come as before, and that all frames being processed are accounted for.

    Returns the share of frames that the camera lost, for each interval without trouble.
    """
    shares = []
    for part in calm_parts(stream, troubles):
        grown = {name: part[-1][name] - part[0][name] for name in ("sourceFrames", "sourceDropped")}
        assert grown["sourceFrames"] > 0, f"the camera stalled: {part}"
        shares.append(grown["sourceDropped"] / (grown["sourceFrames"] + grown["sourceDropped"]))
        # Emulation loses one in fifty frames, next to other machines one in ten. A camera with too few buffers loses most.
        assert shares[-1] < 0.3, f"the camera lost {shares[-1]:.0%} of its frames: {part}"
        under_way = min(unaccounted(report) for report in part)
        assert under_way <= buffers, f"{under_way} frames are in no counter: {part}"
    assert len(shares) > len(troubles) / 2
    return shares


def assert_nobody_looks(stream: Stream) -> None:
    """Checks that whatever happens to the hardware encoder, the processor neither reads nor copies a frame for it."""
    # Software encoding may last less than the time between two reports.
    bridges = [event["t"] for event in stream.events if event["code"] == 1103]
    for before, after in pairwise(stream.of("status")):
        is_bridged = any(before["t"] < at <= after["t"] for at in bridges)
        if "openh264" not in (before["encoder"], after["encoder"]) and not is_bridged:
            looks = [after[name] - before[name] for name in ("sourcePasses", "sourceMapped")]
            assert looks == [0, 0], f"passes and mapped frames: {looks}: {after}"
