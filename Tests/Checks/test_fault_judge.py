"""The judge of the encoder's mixed faults: the answers that it accepts, and those that make it fail. A script represents the
program and its encoder, in virtual time."""

import contextlib
import heapq
import random
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from swift_source import CHECKOUT

sys.path += [str(CHECKOUT / "Tests/VirtualBoard"), str(CHECKOUT / "Tests/Integration")]

from fault_mix import (  # noqa: E402
    RECOVERY, RESTARTED, RETRY, SOFTWARE, Fault, Judge, assert_keyframes, hangs, refusals, shortages, silent, troubles,
)  # fmt: skip

RATE = 30
HANGS = {"hang_release", "hang_open", "hang_buffers"}
DROPS = -1104


@dataclass(frozen=True)
class Answer:
    """The program's report, the given number of seconds after a fault. Without a code, the encoder skips a frame instead."""

    after: float
    code: int | None = None
    reason: str = ""


def specified(parameters: dict[str, int]) -> list[Answer]:
    """The answers that the recovery must give to these parameters of the encoder module."""
    often = [name for name in ("error_every", "headers_every") if name in parameters]
    if parameters.keys() & {"skip_every", "skip_pattern", "stall_until_key"}:
        return [Answer(1)]
    if often:
        every = parameters[often[0]]
        return [Answer(2, RESTARTED, "faulty frames")] if every <= RATE / 5 else [Answer(every / RATE)]
    if parameters.keys() & HANGS:
        return [Answer(2, SOFTWARE, "has not returned")]
    if "stop_ms" in parameters:
        return [Answer(2, SOFTWARE, "has not returned"), Answer(6, RESTARTED, "works again")]
    for name, reason in (
        ("memory_kb", "got no memory"), ("fail_buffers", "got no memory"), ("busy_format", "refuses the format"),
        ("slow_bitrate", "has not returned"),
    ):  # fmt: skip
        if name in parameters:
            return [Answer(3, SOFTWARE, reason)]
    if parameters.get("stall_opens", 0) > 1:
        return [Answer(8, SOFTWARE, "accepted frames but returned none")]
    return [Answer(2, RESTARTED, "no frame for 1.0 s")] if parameters.keys() & {"stall_after", "swallow_after"} else []


class Script:
    """Replaces board, publisher and clock: it accepts parameters, lets time pass, and reports answers when they are due."""

    def __init__(self, answers: Callable[[dict], list[Answer]] = specified, retry: float = RETRY):
        self.answers = answers
        self.retry = retry
        self.now = 0.0
        self.events: list[dict] = []
        self.encoder = "v4l2:/dev/video11"
        self.skipped = 0
        # The present value of each parameter, and every setting with its time.
        self.parameters: dict[str, int] = {}
        self.settings: list[tuple[float, dict[str, int]]] = []
        self.commands: list[str] = []
        self.process = SimpleNamespace(has_ended=False, text="the program's output")
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._report_status()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        end = self.now + seconds
        while self._due and self._due[0][0] <= end:
            self.now, _, action = heapq.heappop(self._due)
            action()
        self.now = end
        assert self.now < 3600, "the judge takes more than an hour"

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._due, (self.now + seconds, len(self._due) + len(self.events), action))

    def report(self, name: str, code: int, **values) -> None:
        self.events.append({"name": name, "code": code, "t": self.now, **values})

    def _report_status(self) -> None:
        self.report(
            "status", 1100, encodedFrames=int(self.now * RATE), skippedFrames=self.skipped, targetFramesPerSecond=RATE,
            videoFramesPerSecond=RATE - 1, encoder=self.encoder,
        )  # fmt: skip
        self.later(0.2, self._report_status)

    def run(self, script: str) -> None:
        """Imitates a board's shell that only sets parameters."""
        changed = {name: int(value) for value, name in re.findall(r"echo (-?\d+) > \S+/(\w+)", script)}
        self.settings.append((self.now, changed))
        if any(self.parameters.get(name) and changed.get(name) == 0 for name in HANGS):
            self.later(1, lambda: self.answer(Answer(0, RESTARTED, "works again")))
        self.parameters |= changed
        if self.encoder != "openh264":
            for answer in self.answers({name: value for name, value in changed.items() if value > 0}):
                self.later(answer.after, lambda answer=answer: self.answer(answer))

    def answer(self, answer: Answer) -> None:
        if answer.code is None:
            self.skipped += 1
            return
        self.report("answer", answer.code, reason=answer.reason)
        if answer.code == SOFTWARE and not any(self.parameters.get(name) for name in HANGS | {"stop_ms"}):
            self.later(self.retry, lambda: self.answer(Answer(0, RESTARTED, "works again")))
        self.encoder = "openh264" if answer.code == SOFTWARE else "v4l2:/dev/video11"

    def command(self, line: str) -> None:
        self.commands.append(line)

    @property
    def last_status(self) -> dict:
        return [event for event in self.events if event["name"] == "status"][-1]


class Buffers:
    """Replaces the camera's leases: all buffers are returned, unless the test keeps one."""

    def __init__(self):
        self.returns, self.held = 0, []
        self.is_one_kept = False

    def look(self) -> None:
        pass

    def assert_return(self) -> None:
        assert not self.is_one_kept, "buffer 2 was not released"
        self.returns += 1

    def assert_held(self, holders: int) -> None:
        self.held.append(holders)


def make_judge(script: Script) -> Judge:
    return Judge(script, script, random.Random(1), Buffers(), SimpleNamespace(measure=lambda: None), clock=script)


def each_kind() -> list[Fault]:
    rng = random.Random(2)
    return [*silent(rng), *troubles(rng, RATE), *shortages(rng), *refusals(rng)]


SWALLOWED = Fault("inputs swallowed", {"stall_opens": 1, "swallow_after": 70}, [RESTARTED], "no frame for")


@pytest.mark.parametrize("fault", each_kind(), ids=lambda fault: fault.name)
def test_the_specified_answer_to_a_fault_is_accepted(fault):
    script = Script()
    judge = make_judge(script)
    judge.inject(fault)
    assert [event["code"] for event in judge.reported] == fault.events
    assert len(judge.seconds[fault.name]) == 1 and judge.leases.returns == 1
    [(judged, start, end)] = judge.past
    assert judged is fault and start < end
    # The module counts the remaining stalls down by itself, which ended the fault.
    assert not any(script.parameters[name] for name in fault.parameters), "the fault was not removed"
    assert (judge.last_escalation > 0) == fault.escalates
    assert script.commands == ([fault.command] if fault.command else [])


@pytest.mark.parametrize(
    "answers, words",
    [
        ([], r"within 6 s .*inputs swallowed.* was followed by \[\] only"),
        ([Answer(7, RESTARTED, "no frame for 1.0 s")], "within 6 s"),
        ([Answer(2, SOFTWARE, "no frame for 1.0 s")], "was followed by"),
        ([Answer(2, RESTARTED, "faulty frames")], "was followed by"),
        ([Answer(2, RESTARTED, "no frame for 1.0 s"), Answer(2.5, SOFTWARE, "got no memory")], "was followed by"),
        ([Answer(2, RESTARTED, "no frame for 1.0 s"), Answer(2.5, RESTARTED, "no frame for 1.0 s")], "was followed by"),
        ([Answer(2, DROPS, "connection lost")], "was followed by"),
        ([Answer(1)], "was followed by"),
    ],
    ids=["nothing", "too late", "another event", "another reason", "one more", "twice", "the stream drops", "a skipped frame"],
)
def test_any_other_answer_to_a_fault_fails(answers, words):
    judge = make_judge(Script(lambda parameters: answers if "swallow_after" in parameters else []))
    with pytest.raises(AssertionError, match=words):
        judge.inject(SWALLOWED)


def test_a_silent_fault_must_stay_silent():
    judge = make_judge(Script(lambda parameters: [Answer(1, RESTARTED, "no frame for 1.0 s")] if parameters else []))
    with pytest.raises(AssertionError, match="was followed by"):
        judge.inject(Fault("skips", {"skip_every": 2}))


def test_faulty_frames_may_take_two_restarts():
    twice = [Answer(2, RESTARTED, "faulty frames"), Answer(2.5, RESTARTED, "faulty frames")]
    judge = make_judge(Script(lambda parameters: twice if "error_every" in parameters else []))
    judge.inject(Fault("many errors", {"error_every": 6}, [RESTARTED], "faulty frames"))
    assert len(judge.past) == 1


def test_a_frame_skipped_before_the_fault_is_due_is_not_its_answer():
    """A busy machine skips one: the fault's own skip comes with the 45th frame."""
    judge = make_judge(Script(lambda parameters: [Answer(0.1)] if "error_every" in parameters else []))
    judge.inject(Fault("an error now and then", {"error_every": 45}, within=10, is_damage=True))
    assert judge.seconds["an error now and then"][0] >= 45 / RATE


def test_a_hanging_call_is_released_only_after_the_first_event():
    script = Script()
    judge = make_judge(script)
    fault = hangs({"swallow_after": 70, "stall_opens": 1})[0]
    judge.inject(fault)
    software, restarted = judge.reported
    ended = min(at for at, changed in script.settings if changed.get(fault.healed_by_hand) == 0)
    assert software["t"] <= ended < restarted["t"]


def test_a_program_that_ends_fails_at_once():
    script = Script(lambda parameters: [])
    script.later(1, lambda: setattr(script.process, "has_ended", True))
    with pytest.raises(AssertionError, match="the program's output"):
        make_judge(script).inject(SWALLOWED)
    assert script.now < 3


def test_a_buffer_that_is_not_returned_fails():
    judge = make_judge(Script())
    judge.leases.is_one_kept = True
    with pytest.raises(AssertionError, match="buffer 2"):
        judge.inject(SWALLOWED)


def test_a_refusal_waits_until_the_recovery_starts_over():
    script = Script()
    judge = make_judge(script)
    judge.inject(SWALLOWED)
    escalated = judge.last_escalation
    judge.refuse(refusals(random.Random(3))[0])
    assert judge.past[1][1] >= escalated + RECOVERY


def fall(script: Script) -> Judge:
    judge = make_judge(script)
    judge.fall(refusals(random.Random(3))[0])
    return judge


def test_software_returns_to_hardware_after_a_minute():
    judge = fall(Script())
    assert [event["code"] for event in judge.reported] == [SOFTWARE, RESTARTED]
    assert judge.seconds["the hardware tried again"][0] < RETRY
    # While software encodes, no encoder holds a buffer.
    assert len(judge.leases.held) == 3 and judge.leases.held[1] < judge.leases.held[0] == judge.leases.held[2]


@pytest.mark.parametrize("retry, words", [(30, "v4l2:/dev/video11"), (RETRY + 30, "a minute in software")], ids=["too early", "never"])
def test_a_hardware_encoder_that_returns_too_late_fails(retry, words):
    with pytest.raises(AssertionError, match=words):
        fall(Script(retry=retry))


def test_an_event_while_software_encodes_fails():
    script = Script()
    script.later(20, lambda: script.report("answer", DROPS, reason="connection lost"))
    with pytest.raises(AssertionError, match="while software encoded, these were reported"):
        fall(script)


def test_a_mix_has_every_fault_once_per_round_at_a_distance():
    judge = make_judge(Script())
    wanted = {fault.name for fault in troubles(random.Random(4), RATE)}
    judge.mix(0, wanted)
    escalating = [(fault, start, end) for fault, start, end in judge.past if fault.escalates]
    assert {fault.name for fault, _, _ in escalating} == wanted
    assert {fault.name for fault, _, _ in judge.past} & {fault.name for fault in silent(random.Random(4))}
    # Where the module cannot stall again, the mix injects many errors once more.
    names = [fault.name for fault, _, _ in escalating if fault.name != "many errors"]
    assert len(names) == len(set(names))
    for (before, _, end), (after, start, _) in zip(escalating, escalating[1:]):
        assert start >= end + RECOVERY, (before, after)
        assert before.events or "stall_opens" not in after.parameters, "the module can stall only once per opening"


def test_a_mix_lasts_for_its_time():
    script = Script()
    make_judge(script).mix(60)
    assert 60 <= script.now < 90


# Keyframes in a stream of ten seconds with a fault from 4 to 7 s.


def frames(keys: list[float], silence: tuple[float, float] = (0, 0)) -> SimpleNamespace:
    """At 25 per second, except during the silence; the first frame after each of these times is a keyframe."""
    times = [number / 25 for number in range(250) if not silence[0] < number / 25 < silence[1]]
    firsts = {min(time for time in times if time >= key) for key in keys}
    tags = [SimpleNamespace(timestamp=round(1000 * time), is_keyframe=time in firsts) for time in times]
    status = [{"name": "status", "code": 1100, "t": float(at), "targetFramesPerSecond": 25} for at in range(10)]
    return SimpleNamespace(
        events=[{"name": "publishing", "code": 1002, "t": 0.0}], recording=SimpleNamespace(frames=tags), of=lambda name: status)


def judged(fault: Fault, *reported: float) -> SimpleNamespace:
    """The judge's record of that fault, and the times of restarts."""
    events = [{"name": "answer", "code": RESTARTED, "t": at, "reason": ""} for at in reported]
    return SimpleNamespace(reported=events, past=[(fault, 4.0, 7.0)])


DAMAGE = Fault("an error now and then", {"error_every": 45}, is_damage=True)


def test_a_silence_that_ends_with_a_keyframe_is_accepted():
    assert_keyframes(frames([0, 6.5], silence=(5, 6.5)), judged(SWALLOWED, 6.4))


def test_a_restart_without_a_keyframe_fails():
    with pytest.raises(AssertionError, match="no keyframe followed"):
        assert_keyframes(frames([0], silence=(5, 6.5)), judged(SWALLOWED, 6.4))


def test_a_silence_that_ends_without_a_keyframe_fails():
    with pytest.raises(AssertionError, match="a silence ended without a keyframe"):
        assert_keyframes(frames([0, 7.2], silence=(5, 6.5)), judged(SWALLOWED, 6.4))


def test_a_lost_frame_needs_a_keyframe_in_its_place():
    assert_keyframes(frames([0, 5.04], silence=(4.96, 5.04)), judged(DAMAGE))
    for stream in (frames([0], silence=(4.96, 5.04)), frames([0, 5.04])):
        with pytest.raises(AssertionError, match="no keyframe where a frame was lost"):
            assert_keyframes(stream, judged(DAMAGE))


@pytest.mark.parametrize("slow, is_found", [(range(5), True), (range(4, 7), False), (range(10), False)])
def test_a_lost_frame_is_found_by_the_rates_next_to_it(slow, is_found):
    """Reports of a rate at which the gap is usual hide it only if there is no other next to it."""
    stream = frames([0, 5.04], silence=(4.96, 5.04))
    for at in slow:
        stream.of("status")[at]["targetFramesPerSecond"] = 15
    with contextlib.nullcontext() if is_found else pytest.raises(AssertionError, match="no keyframe where a frame was lost"):
        assert_keyframes(stream, judged(DAMAGE))
