"""How the host waits for a guest. A guest's clock runs with its instructions, so a busy machine only makes the guest slow.

A test gives the time that a wait takes on an idle machine at most. The host waits `PATIENCE` times as long, so that its waits
only end what hangs. What must not take longer than some time is compared in the guest's own clock (`Board.seconds`)."""

import time
from collections.abc import Callable

PATIENCE = 8


class NeverHappened(TimeoutError, AssertionError):
    """What was waited for has not happened. A guest whose connection is late ends in the same way as a test's own condition."""


def deadline(seconds: float) -> float:
    """Of the host's monotonic clock."""
    return time.monotonic() + PATIENCE * seconds


def wait_until[Result](
    condition: Callable[[], Result], seconds: float, otherwise: Callable[[], object] | str, *, interval: float = 0.2
) -> Result:
    """What `condition` gives as soon as that is true. `otherwise` says what is there instead when it never becomes so."""
    end = deadline(seconds)
    while not (result := condition()):
        if time.monotonic() > end:
            said = otherwise if isinstance(otherwise, str) else otherwise()
            raise NeverHappened(f"not within {PATIENCE} times {seconds} s: {said}")
        time.sleep(interval)
    return result
