"""Random faults of the hardware encoder, and a judge of what follows each fault."""

import errno
import itertools
import random
import re
from collections import defaultdict
from dataclasses import dataclass, field

from encoder import Publisher, ResourceUse, Stream, set_faults
from leases import ENCODER_HOLDS, HOLDERS, Leases

SOFTWARE, RESTARTED, RECONNECTING = 1103, 1104, 1102
# The recovery's times: after so much time without trouble it starts at its first step again, and it tries the hardware again.
RECOVERY, RETRY = 10, 60
# How long a frame takes in the encoder, in turn: slightly more than the camera's 33 ms, as on a Pi, and far more.
FRAME_TIMES = 20, 36, 60
# How many frames after its opening an encoder stalls. The present one has passed them and stalls at once. The next one does not
# stall before the fault is removed, and can stall again later.
STALL_AFTER = 60, 100


@dataclass
class Fault:
    """`parameters` in the order in which they are set; `events` in their expected order, the last with a matching reason."""

    name: str
    parameters: dict[str, int]
    events: list[int] = field(default_factory=list)
    reason: str = ""
    # A second of silence, another one after a keyframe was requested, and an opening on an emulated machine; or frames.
    within: float = 6
    # A frame is lost that others refer to: the next one sent is a keyframe.
    is_damage: bool = False
    command: str | None = None
    # A parameter that is removed some time after the first event; the later events follow from that.
    healed_by_hand: str | None = None

    @property
    def escalates(self) -> bool:
        """Whether the recovery takes another step because of it. If so, the next such fault must wait."""
        return bool(self.events) or "stall_until_key" in self.parameters


def silent(rng: random.Random) -> list[Fault]:
    """Faults that are counted and corrected but not reported."""
    every = rng.randint(30, 60)
    return [
        Fault("skips", {"skip_every": rng.randint(2, 12)}),
        Fault("a pattern of skips", {"skip_period": 8, "skip_pattern": rng.randint(1, 63)}),
        Fault("an error now and then", {"error_every": every}, within=10, is_damage=True),
        Fault("headers alone now and then", {"headers_every": every}, within=10, is_damage=True),
    ]


def hangs(stall: dict[str, int]) -> list[Fault]:
    """A call does not return while the stalled encoder is closed and reopened. Software encoding bridges that, too."""
    return [
        Fault(f"{name} that hangs", {parameter: 1, **stall}, [SOFTWARE, RESTARTED], "works again", within=14,
              healed_by_hand=parameter)
        for name, parameter in (("closing", "hang_release"), ("opening", "hang_open"), ("a call for buffers", "hang_buffers"))
    ]  # fmt: skip


def troubles(rng: random.Random, rate: float) -> list[Fault]:
    """Faults that end with a keyframe or with another opening of the encoder."""
    often, after = max(2, int(rate / 5)), rng.randint(*STALL_AFTER)
    stall = {"stall_opens": 1, "swallow_after": after}
    return [
        Fault("a stall that a keyframe ends", {"stall_until_key": 1, **stall}, is_damage=True),
        Fault("inputs swallowed", stall, [RESTARTED], "no frame for"),
        Fault("inputs kept", {"stall_opens": 1, "stall_after": after}, [RESTARTED], "no frame for"),
        # Longer than closing is waited for: software encoding takes over, and the hardware comes back by itself.
        Fault("slow to stop", {"stop_ms": 2000, "stall_opens": 1, "stall_after": after}, [SOFTWARE, RESTARTED],
              "works again", within=14),
        # Frames come in several buffers until the next opening.
        Fault("small buffers", {"buffer_bytes": rng.randint(4000, 8000), **stall}, [RESTARTED], "no frame for"),
        Fault("an endless drain", {"endless_drain": 1, **stall}, [RESTARTED], "no frame for"),
        Fault("many errors", {"error_every": often}, [RESTARTED], "faulty frames"),
        Fault("headers alone often", {"headers_every": often}, [RESTARTED], "faulty frames"),
        *hangs({"swallow_after": after, "stall_opens": 1}),
    ]  # fmt: skip


def shortages(rng: random.Random) -> list[Fault]:
    """The next opening gets no memory, with each of the errors that drivers return: 640x360 needs 1035 kB. It leads to software
    encoding, as a live stream keeps its size."""
    stall = {"stall_opens": 1, "swallow_after": rng.randint(*STALL_AFTER)}
    return [
        Fault(f"no memory ({errno.errorcode[number]})", {"memory_kb": 1000, "memory_errno": number, **stall}, [SOFTWARE],
              "got no memory")
        for number in (errno.EPERM, errno.EINVAL, errno.ENOMEM)
    ]  # fmt: skip


def refusals(rng: random.Random) -> list[Fault]:
    """Other faults that lead to software encoding."""
    stall = {"stall_opens": 1, "swallow_after": rng.randint(*STALL_AFTER)}
    return [
        Fault("the format refused", {"busy_format": 1, **stall}, [SOFTWARE], "refuses the format"),
        Fault("buffers refused", {"fail_buffers": 1, **stall}, [SOFTWARE], "got no memory"),
        Fault("a bit rate that hangs", {"slow_bitrate": 1}, [SOFTWARE], "has not returned", command="set quality Low3"),
        Fault(
            # Both trials of its opening stall.
            "a stall after each opening", {"stall_opens": 3, "swallow_after": 1}, [SOFTWARE],
            "accepted frames but returned none", within=12,
        ),
    ]  # fmt: skip


class StreamClock:
    """The clock of a stream's program, estimated from its events. Querying the guest would cost it time."""

    def __init__(self, publisher: Publisher):
        self.publisher = publisher

    def monotonic(self) -> float:
        return max((event.get("t", 0) for event in self.publisher.events[-5:]), default=0)

    def sleep(self, seconds: float) -> None:
        end = self.monotonic() + seconds
        self.publisher.wait(lambda: self.monotonic() >= end, seconds + 20, "no event says that time passes", interval=0.02)


class Judge:
    """Injects faults one after the other, and fails at once when something other than the specified events follows."""

    def __init__(self, board, publisher: Publisher, rng: random.Random, leases: Leases, use: ResourceUse, clock):
        """`clock` has `monotonic` and `sleep` in seconds, like the module `time`, by the program's clock."""
        self.board = board
        self.publisher = publisher
        self.rng = rng
        self.leases = leases
        self.use = use
        self.clock = clock
        # For each kind, how long it took until the program reacted.
        self.seconds: dict[str, list[float]] = defaultdict(list)
        # From when to when, by the program's clock.
        self.past: list[tuple[Fault, float, float]] = []
        self.last_escalation = float("-inf")
        # The faults that are left in this round.
        self.due: list[str] = []

    @property
    def reported(self) -> list[dict]:
        """The events of the recovery, and of a stream that drops frames."""
        codes = (SOFTWARE, RESTARTED, RECONNECTING)
        return [event for event in self.publisher.events if event["code"] in codes or event["code"] < 0]

    @property
    def rate(self) -> float:
        """Frames per second without a fault."""
        reports = [event for event in self.publisher.events if event["name"] == "status"][-6:]
        return min(reports[-1]["targetFramesPerSecond"], max(event["videoFramesPerSecond"] for event in reports))

    def _measured(self, name: str) -> float:
        return next((event[name] for event in reversed(self.publisher.events) if name in event), 0)

    @property
    def frames(self) -> float:
        """The number of frames that went through the encoder."""
        return self._measured("encodedFrames") + self._measured("skippedFrames")

    def measure(self, holders: int = HOLDERS) -> None:
        """Checks that the camera has its buffers back, and that nothing was left behind."""
        self.leases.assert_return()
        self.leases.assert_held(holders)
        self.use.measure()

    def inject(self, fault: Fault) -> None:
        if fault.is_damage:
            # An encoder that is too slow leaves out frames all the time. Here only the fault should do that.
            set_faults(self.board, frame_ms=FRAME_TIMES[0])
            self.clock.sleep(1)
        before, start = len(self.reported), self._measured("t")
        skipped = self._measured("skippedFrames")
        # A fault that occurs now and then does so within this many frames; a busy machine may leave out another one before.
        due = self.frames + max(fault.parameters.get(name, 0) for name in ("error_every", "headers_every"))
        set_faults(self.board, **fault.parameters)
        if fault.command:
            self.publisher.command(fault.command)
        injected = self.clock.monotonic()
        if "stall_after" in fault.parameters:
            self.clock.sleep(0.5)
            self.leases.look()

        def is_answered() -> bool:
            new = len(self.reported) - before
            is_left_out = self._measured("skippedFrames") > skipped and (not fault.is_damage or self.frames >= due)
            return new >= len(fault.events) and (new > 0 or is_left_out)

        if fault.healed_by_hand:
            self._wait(lambda: len(self.reported) > before, fault, before, fault.within)
            self.clock.sleep(self.rng.uniform(0, 3))
            set_faults(self.board, **{fault.healed_by_hand: 0})
        self._wait(is_answered, fault, before, fault.within)
        self.seconds[fault.name].append(self.clock.monotonic() - injected)
        if not fault.escalates:
            self.clock.sleep(self.rng.uniform(0, 1))
        if fault.events[-1:] == [SOFTWARE]:
            # The hardware is opened once more while software encodes, and must be refused then, too.
            self.clock.sleep(4)
        # The number of further stalls stays zero.
        set_faults(self.board, **{name: 0 for name in fault.parameters})
        self.clock.sleep(1)
        new = self.reported[before:]
        assert self._is_specified([event["code"] for event in new], fault), f"{fault} was followed by {new}"
        assert not new or re.search(fault.reason, new[-1]["reason"]), f"{fault} was followed by {new}"
        self.measure()
        self.past.append((fault, start, self._measured("t")))
        if fault.escalates:
            self.last_escalation = self.clock.monotonic()

    @staticmethod
    def _is_specified(codes: list[int], fault: Fault) -> bool:
        """Damaged frames continue until the fault is cleared by hand, possibly long enough for a second opening."""
        return codes == fault.events or ("faulty" in fault.reason and codes == 2 * fault.events)

    def _wait(self, condition, fault, before: int, seconds: float) -> None:
        deadline = self.clock.monotonic() + seconds
        while not condition():
            assert not self.publisher.process.has_ended, self.publisher.process.text[-3000:]
            assert self.clock.monotonic() < deadline, (
                f"within {seconds} s {fault} was followed by {self.reported[before:]} only; {self.publisher.last_status}"
            )
            self.clock.sleep(0.05)

    def refuse(self, fault: Fault) -> None:
        """Leads to software encoding."""
        self.clock.sleep(max(0, self.last_escalation + RECOVERY + 1 - self.clock.monotonic()))
        self.inject(fault)

    def fall(self, fault: Fault) -> None:
        """Leads to software encoding. There the hardware's faults change nothing, and a minute later the hardware is back."""
        self.refuse(fault)
        fallen, before = self.clock.monotonic(), len(self.reported)
        self.publisher.command("set quality Medium1")
        set_faults(self.board, skip_every=2, error_every=3, stall_opens=-1, swallow_after=1)
        self.clock.sleep(RETRY - 12)
        assert self.publisher.last_status["encoder"] == "openh264", self.publisher.last_status
        self.measure(HOLDERS - ENCODER_HOLDS)
        set_faults(self.board, skip_every=0, error_every=0, swallow_after=0)
        assert len(self.reported) == before, f"while software encoded, these were reported: {self.reported[before:]}"
        self._wait(lambda: len(self.reported) > before, "a minute in software", before, fallen + RETRY + 5 - self.clock.monotonic())
        self.seconds["the hardware tried again"].append(self.clock.monotonic() - fallen)
        self.clock.sleep(1)
        (event,) = self.reported[before:]
        assert event["code"] == RESTARTED and "works again" in event["reason"], event
        self.measure()
        self.last_escalation = self.clock.monotonic()

    def mix(self, seconds: float, wanted: set[str] = frozenset()) -> None:
        """Injects all faults round after round, each at a distance from the last, with silent faults between them. Continues
        until each of `wanted` has occurred."""
        end = self.clock.monotonic() + seconds
        # The module stalls once per opening: after a stall that a keyframe has ended, the next fault must not need one.
        has_stalled = False
        times = itertools.cycle(FRAME_TIMES)
        while has_stalled or self.clock.monotonic() < end or wanted - self.seconds.keys():
            set_faults(self.board, frame_ms=next(times))
            if self.clock.monotonic() - self.last_escalation < RECOVERY + 1:
                self.inject(self.rng.choice(silent(self.rng)))
            else:
                kinds = {fault.name: fault for fault in troubles(self.rng, self.rate)}
                if not self.due:
                    self.due = list(kinds)
                    self.rng.shuffle(self.due)
                fitting = [name for name in self.due if not has_stalled or "stall_opens" not in kinds[name].parameters]
                name = (fitting or ["many errors"])[-1]
                if fitting:
                    self.due.remove(name)
                self.inject(kinds[name])
                has_stalled = not kinds[name].events


def assert_keyframes(stream: Stream, judge: Judge) -> None:
    """Checks for a keyframe after each gap, at each step of the recovery, and in place of frames that refer to a lost one."""
    (zero,) = [event["t"] for event in stream.events if event["code"] == 1002]
    frames = [(zero + tag.timestamp / 1000, tag.is_keyframe) for tag in stream.recording.frames]
    gaps = [(before, after, is_key) for (before, _), (after, is_key) in zip(frames, frames[1:])]
    for event in judge.reported:
        # Closing, contiguous memory for another opening, and a second of silence if that one stalls at once, too.
        keys = [at for at, is_key in frames if is_key and -0.7 < at - event["t"] < 3]
        assert keys, f"no keyframe followed {event}"
    rates = [(event["t"], event["targetFramesPerSecond"]) for event in stream.of("status")]

    def lacks_a_frame(before: float, after: float) -> bool:
        """By the highest rate of the reports next to this gap: the rate may just have changed."""
        rate = max([rate for at, rate in rates if before - 1.5 < at < after + 1.5] or [30])
        return after - before > 1.4 / rate

    for fault, start, end in judge.past:
        during = [gap for gap in gaps if start - 0.5 < gap[1] < end + 1]
        # While an encoder is closed slowly the camera fills its buffers and waits: the keyframe is the first of these.
        ends = [after for before, after, is_key in during if is_key and after - before > 0.9]
        silences = [gap for gap in during if gap[1] - gap[0] > 0.9]
        broken = [gap for gap in silences if not gap[2] and not any(0 <= gap[0] - end < 0.7 for end in ends)]
        assert not fault.escalates or not broken, f"{fault.name}: a silence ended without a keyframe: {broken}"
        missing = [gap for gap in during if gap[2] and lacks_a_frame(*gap[:2])]
        assert missing or not fault.is_damage, f"{fault.name}: no keyframe where a frame was lost, {start} to {end} s"
