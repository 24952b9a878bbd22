"""A constant uplink behind a program that buffers data: a proxy, a tunnel, a TLS terminator. Once the stream has detected the
buffer, its rate stays close to the link's."""

import sys
from pathlib import Path

import pytest
from processes import Children
from tallycam import Receiver, events, not_judged, start_publisher, was_busy

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=2.6, processors=0.3), pytest.mark.paced]

KILOBITS = 450
# In seconds: the stream's length, and when the buffer is known. Detecting it takes four occasions when it was full, about ten
# seconds apart.
DURATION, LEARNED = 150, 90


def asked_rates(seen: list[dict], first: float) -> list[tuple[float, float]]:
    """The encoders' target in kbit/s at each time from `first` on, starting with the target at that time."""
    changes = [
        (event["t"], (event["videoBitsPerSecond"] + event["audioBitsPerSecond"]) / 1000)
        for event in seen if event["name"] == "qualityChanged"
    ]  # fmt: skip
    before = [rate for at, rate in changes if at <= first]
    return [(first, before[-1])] + [change for change in changes if change[0] > first]


def test_the_rate_is_even_once_the_buffer_is_known(children: Children, capsys):
    children.priority = -10
    receiver = Receiver(children)
    proxy = children.start("proxy", [
        sys.executable, Path(__file__).with_name("buffering_proxy.py"), KILOBITS, receiver.port,
    ])  # fmt: skip
    proxy.wait_until(lambda: proxy.stdout.endswith("\n"), "port of the proxy")
    publisher = start_publisher(
        children, f"rtmp://127.0.0.1:{proxy.stdout.strip()}/live/x", quality="High3", dimension="640x360",
        resize="never", duration=DURATION,
    )  # fmt: skip
    assert publisher.wait(2 * DURATION) == 0, publisher.report()
    start = next(event["t"] for event in events(publisher) if event["name"] == "publishing")
    found = asked_rates(events(publisher), start + LEARNED)
    rates = [rate for _, rate in found]
    late = sum(map(float, proxy.stderr.split()))
    if was_busy(publisher, 100) or late > 2:
        return not_judged(capsys, "the rates, as the uplink was not constant")
    # Without detection, the rate went from 150 to 1500 kbit/s within seconds, because every burst was taken for a better link.
    assert max(rates) < 2 * KILOBITS and min(rates) > KILOBITS / 3, found
    assert len(found) <= 20, found
