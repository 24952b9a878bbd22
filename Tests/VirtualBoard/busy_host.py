"""Imitates a busy host, which does not run an emulated machine for moments: `scripts/test --busy`."""

import os
import random
import signal
import subprocess
import threading

VARIABLE = "TALLYCAM_BUSY"
# Seconds. A frame lasts 33 to 67 ms in most tests, so these are one to several frames.
STALLS = (0.06, 0.09, 0.15, 0.25)
BETWEEN = 0.7


def imitate_busy_host(machine: subprocess.Popen) -> None:
    """Stops that process about once a second until it ends, if this was asked for."""
    if os.environ.get(VARIABLE):
        threading.Thread(target=_stall, args=(machine,), daemon=True).start()


def _stall(machine: subprocess.Popen) -> None:
    pause = threading.Event()
    while machine.poll() is None:
        pause.wait(BETWEEN * random.uniform(0.5, 1.5))
        # Nothing is sent to a process that has ended and was waited for.
        machine.send_signal(signal.SIGSTOP)
        pause.wait(random.choice(STALLS))
        machine.send_signal(signal.SIGCONT)
