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


def test_mixed_faults(encoder, nginx, capsys):
    """Faults at random for five minutes: the stream never drops, no buffer, no memory and no descriptor is lost."""
    rng = random.Random(20261121)
    publisher = Publisher(
        encoder, nginx, "mixed", "--dimension 640x360", "--quality Medium1",
        source="v4l2:/dev/video0,size=640x360,format=NV12",
    )  # fmt: skip
    publisher.wait_pictures(60)
    use = ResourceUse(encoder, publisher.process.pid)
    begin = time.monotonic()
    while time.monotonic() - begin < 300:
        fault, least, most, calm = rng.choice(MIXED)
        set_faults(encoder, **{fault: rng.randint(least, most)}, stall_opens=1)
        time.sleep(rng.uniform(1, 3))
        set_faults(encoder, **{fault: 0})
        time.sleep(calm)
        use.measure()
    assert not publisher.process.has_ended
    before = publisher.pictures
    publisher.wait_pictures(before + 60)
    use.measure()
    stream = publisher.stop()
    with capsys.disabled():
        print(f"\n  {len(use.resident)} faults; {use}; events {Counter(c for c in stream.codes if c in (1103, 1104))}")
    assert use.is_flat, use
    assert [event["state"] for event in stream.of("stateChanged")].count("reconnecting") == 0
    reports = stream.of("status")
    assert sum(event["encoder"] != "openh264" for event in reports) > 0.5 * len(reports), "the faults met the hardware"
    assert all(event["code"] >= 0 for event in stream.events)
    assert all("reason" in event for event in stream.events if event["code"] in (1103, 1104))
    # Every picture that the camera lent came out or is counted: no slot holds one.
    assert abs(unaccounted(reports[-1])) < 20, reports[-1]
    assert stream.ended["videoSkipped"] > 100
    assert_decodes(stream)
