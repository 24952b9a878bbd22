"""Child processes: their priority, and how much they have computed."""

import os
import subprocess


def with_priority(niceness: int, words: list[str]) -> list[str]:
    return ["nice", "-n", str(niceness), *words]


def processor_seconds(child: subprocess.Popen) -> float:
    """Waits for its end. Includes what it has started and waited for, such as a test's guests."""
    _, ended, use = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(ended)
    return use.ru_utime + use.ru_stime
