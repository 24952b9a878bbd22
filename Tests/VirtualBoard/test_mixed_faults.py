"""The hardware encoder with all its faults in random order, for a minute or six, on frames that the camera leases. Each fault
has exactly the specified consequences within the specified time, and the camera gets its buffers back."""

import random

import pytest
from fault_mix import RECONNECTING, STALL_AFTER, Judge, StreamClock, assert_keyframes, hangs, refusals, shortages, troubles
from seeds import seed_of_this_run

from encoder import KEPT_SOFTWARE_ENCODER, Publisher, ResourceUse, assert_decodes
from leases import Leases, assert_camera_goes_on, assert_nobody_looks

pytestmark = [pytest.mark.takes(minutes=1.8, processors=0.25), pytest.mark.paced]

# For the short mix, which has some of the kinds in each run, and for the long one, which has all those that do not need a
# minute each.
SECONDS, LONG_SECONDS = 60, 360


def start_judge(encoder, nginx, name: str) -> Judge:
    publisher = Publisher(
        encoder, nginx, name, "--dimension 640x360", "--quality Medium1", "--commands", "--trace",
        source="v4l2:/dev/video0,size=640x360,format=NV12",
    )  # fmt: skip
    publisher.wait_frames(STALL_AFTER[1] + 20)
    use = ResourceUse(encoder, publisher.process.pid)
    clock = StreamClock(publisher)
    judge = Judge(encoder, publisher, random.Random(seed_of_this_run()), Leases(encoder), use, clock)
    judge.measure()
    return judge


def stop_and_judge(judge: Judge, capsys) -> None:
    """Checks that the stream has never disconnected; that no buffer of the camera, no memory and no descriptor is lost; that
    every frame is accounted for; and that no program reads a frame that the hardware encodes."""
    stream = judge.publisher.stop()
    with capsys.disabled():
        print(f"\n  {judge.use}\n  {judge.leases}")
        for name, seconds in judge.seconds.items():
            print(f"  {len(seconds)} times {name}: {min(seconds):.1f} to {max(seconds):.1f} s until it was answered")
    # In a stall the encoder keeps the camera's own buffers.
    assert judge.leases.most_leased > 2, judge.leases
    assert [event["state"] for event in stream.of("stateChanged")].count("reconnecting") == 0
    assert RECONNECTING not in stream.codes and all(code >= 0 for code in stream.codes)
    assert_keyframes(stream, judge)
    assert_nobody_looks(stream)
    escalations = [(start, end) for fault, start, end in judge.past if fault.escalates]
    shares = assert_camera_goes_on(stream, escalations, judge.leases.count)
    with capsys.disabled():
        print(f"  {len(shares)} times without trouble: {min(shares):.1%} to {max(shares):.1%} of the frames lost")
    assert_decodes(stream)


def test_mixed_faults(encoder, nginx, capsys):
    """Different kinds in each run, and finally one that leads to software, where the stream continues."""
    judge = start_judge(encoder, nginx, "mixed")
    # A fault that software bridges comes first; the stalled encoder keeps the camera's buffers.
    judge.inject(judge.rng.choice(hangs({"stall_opens": 1, "stall_after": STALL_AFTER[0]})))
    judge.mix(SECONDS)
    # Only later faults may be bridged by software.
    assert judge.use.is_flat(but_for=KEPT_SOFTWARE_ENCODER), str(judge.use)
    judge.refuse(judge.rng.choice(shortages(judge.rng) + refusals(judge.rng)))
    judge.publisher.wait_frames(judge.publisher.frames + 20)
    assert judge.publisher.last_status["encoder"] == "openh264"
    stop_and_judge(judge, capsys)


@pytest.mark.slow
@pytest.mark.takes(minutes=9)
def test_mixed_faults_for_long(encoder, nginx, capsys):
    """Every kind of fault, including one lack of memory and one refusal that lead to software, from which the hardware comes
    back."""
    judge = start_judge(encoder, nginx, "long")
    start = judge.clock.monotonic()
    falls = [judge.rng.choice(group(judge.rng)) for group in (shortages, refusals)]
    judge.rng.shuffle(falls)
    # One of these comes first, so that the software encoder's memory does not count as growth later.
    for number, fault in enumerate(falls):
        judge.fall(fault)
        judge.mix(LONG_SECONDS * (number + 1) / len(falls) - (judge.clock.monotonic() - start))
    wanted = {fault.name for fault in troubles(judge.rng, 30)}
    judge.mix(0, wanted)
    judge.publisher.wait_frames(judge.publisher.frames + 60)
    judge.measure()
    # Memory of the second fallback that the C library keeps does not count as growth, either.
    assert judge.use.is_flat(but_for=KEPT_SOFTWARE_ENCODER), str(judge.use)
    assert wanted <= judge.seconds.keys() and len(judge.seconds) >= len(wanted) + 5, judge.seconds.keys()
    stop_and_judge(judge, capsys)
