"""How the host waits for a guest. A guest's clock runs with its instructions, so a busy machine only makes the guest slow.

A test states the longest time that a wait takes on an idle machine. The host waits `PATIENCE` times as long, so that its waits
only end what hangs. Upper limits that a test checks are compared with the guest's own clock (`Board.seconds`)."""

import time
from collections.abc import Callable

PATIENCE = 20


class NeverHappened(TimeoutError, AssertionError):
    """The awaited condition did not occur. A guest whose connection is late ends in the same way as a test's own condition."""


def deadline(seconds: float) -> float:
    """Seconds of the host's monotonic clock."""
    return time.monotonic() + PATIENCE * seconds


def wait_until[Result](
    condition: Callable[[], Result], seconds: float, otherwise: Callable[[], object] | str, *, interval: float = 0.2
) -> Result:
    """The value of `condition` as soon as it is true. `otherwise` describes the actual state if it never becomes true."""
    end = deadline(seconds)
    while not (result := condition()):
        if time.monotonic() > end:
            said = otherwise if isinstance(otherwise, str) else otherwise()
            raise NeverHappened(f"not within {PATIENCE} times {seconds} s: {said}")
        time.sleep(interval)
    return result
