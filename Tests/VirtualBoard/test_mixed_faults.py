"""The hardware encoder with every fault of its, at random and for long."""

import random
import time
from collections import Counter

from encoder import Publisher, ResourceUse, assert_decodes, set_faults, unaccounted

# Faults with the range of their parameter, and how long the encoder is well afterwards.
MIXED = [
    ("skip_every", 2, 12, 0), ("error_every", 20, 60, 0.5), ("headers_every", 20, 60, 0.5),
    ("swallow_after", 3, 12, 9), ("stall_after", 3, 12, 9), ("skip_every", 2, 3, 0), ("error_every", 6, 10, 5),
]  # fmt: skip
# A stall makes the encoder be opened again, and what opening and closing meet is only met then. Pictures that come in
# several buffers stay until the next opening.
AT_REOPENING = [("buffer_bytes", 4000, 8000, 6), ("endless_drain", 1, 1, 6)]
# The hardware cannot be used for a minute at least: few of these, or nothing else meets it.
REFUSALS = [("busy_format", 1, 1, 8), ("fail_buffers", 1, 1, 8), ("slow_bitrate", 1, 1, 8)]


def provoke(encoder, publisher, rng, fault: str, value: int) -> None:
    """Sets a fault for a while, with what makes the encoder meet it."""
    at_reopening = fault in ("buffer_bytes", "endless_drain", "busy_format", "fail_buffers")
    stall = {"swallow_after": rng.randint(3, 12)} if at_reopening else {}
    set_faults(encoder, stall_opens=1, **{fault: value}, **stall)
    if fault == "slow_bitrate":
        publisher.command("set quality Low3")
    time.sleep(5 if at_reopening or fault == "slow_bitrate" else rng.uniform(1, 3))
    set_faults(encoder, **{fault: 0}, **dict.fromkeys(stall, 0))
    if fault == "slow_bitrate":
        publisher.command("set quality Medium1")


def test_mixed_faults(encoder, nginx, capsys):
    """Faults at random for five minutes: the stream never drops, no buffer, no memory and no descriptor is lost."""
    seed = random.SystemRandom().randrange(1 << 32)
    with capsys.disabled():
        print(f"\n  seed {seed}")
    rng = random.Random(seed)
    publisher = Publisher(
        encoder, nginx, "mixed", "--dimension 640x360", "--quality Medium1", "--commands",
        source="v4l2:/dev/video0,size=640x360,format=NV12",
    )  # fmt: skip
    publisher.wait_pictures(60)
    use = ResourceUse(encoder, publisher.process.pid)
    begin = time.monotonic()
    # One refusal at the begin, so that the software encoder's memory is no growth later, and one more at any time.
    first, second = rng.sample(REFUSALS, 2)
    kinds = MIXED + AT_REOPENING + [second]
    met = Counter()
    while time.monotonic() - begin < 300:
        fault, least, most, calm = rng.choice(kinds) if met else first
        if fault == second[0]:
            kinds.remove(second)
        met[fault] += 1
        provoke(encoder, publisher, rng, fault, rng.randint(least, most))
        time.sleep(calm)
        use.measure()
    assert not publisher.process.has_ended
    before = publisher.pictures
    publisher.wait_pictures(before + 60)
    use.measure()
    stream = publisher.stop()
    with capsys.disabled():
        events = Counter(code for code in stream.codes if code in (1103, 1104))
        print(f"\n  {len(use.resident)} faults: {dict(met)}; {use}; events {dict(events)}")
    assert use.is_flat, use
    assert [event["state"] for event in stream.of("stateChanged")].count("reconnecting") == 0
    reports = stream.of("status")
    assert sum(event["encoder"] != "openh264" for event in reports) > 0.25 * len(reports), "the faults met the hardware"
    assert 1102 not in stream.codes and 1103 in stream.codes, "a refusal leads to software, and never off the air"
    assert all(event["code"] >= 0 for event in stream.events)
    assert all("reason" in event for event in stream.events if event["code"] in (1103, 1104))
    # Every picture that the camera lent came out or is counted: no slot holds one.
    assert abs(unaccounted(reports[-1])) < 20, reports[-1]
    assert stream.ended["videoSkipped"] > 100
    assert_decodes(stream)
