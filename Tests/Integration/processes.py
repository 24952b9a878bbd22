"""Child processes with captured output that never outlive their test."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

# A shell without job control starts background commands with SIGINT ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# In seconds. Ends a hanging test; it does not decide any result. On a busy machine, everything takes several times as long,
# with stalls of seconds.
HUNG = 120


class Unfinished(Exception):
    """Something that a test waited for did not happen. The message says what, with the latest output of the process."""


class Process:
    """One child. Standard output and standard error go to NAME.out and NAME.err."""

    def __init__(self, name: str, argv: list, directory: Path, stdin=subprocess.DEVNULL, env=None, piped=False, priority=0):
        self.name = name
        self.argv = [str(word) for word in argv]
        self.out_path = directory / f"{name}.out"
        self.err_path = directory / f"{name}.err"
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.child = subprocess.Popen(
                self.argv, stdin=stdin, stdout=subprocess.PIPE if piped else out, stderr=err, cwd=directory,
                env=None if env is None else {**os.environ, **env},
            )  # fmt: skip
        if priority:
            with contextlib.suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, self.child.pid, priority)
        if stdin not in (subprocess.DEVNULL, subprocess.PIPE):
            stdin.close()  # the child has it; with a second holder, the writer would not detect that the reader is gone

    @property
    def pipe(self):
        """The child's output, if it was started with `piped`."""
        return self.child.stdout

    @property
    def stdout(self) -> str:
        return self.out_path.read_text(errors="replace")

    @property
    def stderr(self) -> str:
        return self.err_path.read_text(errors="replace")

    @property
    def running(self) -> bool:
        return self.child.poll() is None

    def send(self, signal_number: int) -> None:
        if self.running:
            self.child.send_signal(signal_number)

    def wait_until_it_handles_signals(self) -> None:
        """Reads the signal through a descriptor (signalfd(2)); a signal before that would simply end the process."""

        def handles() -> bool:
            with contextlib.suppress(FileNotFoundError):
                return any("signalfd" in os.readlink(entry) for entry in Path(f"/proc/{self.child.pid}/fd").iterdir())
            return False

        self.wait_until(handles, "descriptor for signals")

    def wait(self, timeout: float = HUNG) -> int:
        """The exit status; negative is the signal that ended it."""
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Unfinished(f"did not end within {timeout} s\n{self.report()}") from None

    def wait_until(self, condition, what: str, interval: float = 0.02) -> None:
        """Checks every `interval` seconds."""
        deadline = time.monotonic() + HUNG
        while not condition():
            if not self.running and not condition():
                raise Unfinished(f"ended before {what}\n{self.report()}")
            if time.monotonic() > deadline:
                raise Unfinished(f"no {what} within {HUNG} s\n{self.report()}")
            time.sleep(interval)

    def interrupt_and_wait(self, signal_number: int = signal.SIGINT) -> int:
        self.send(signal_number)
        return self.wait()

    def kill(self) -> None:
        if self.running:
            self.child.kill()
        self.child.wait()

    def report(self) -> str:
        tail = "\n".join(f"  {line}" for line in self.stderr.splitlines()[-15:])
        last = "\n".join(f"  {line}" for line in self.stdout.splitlines()[-8:])
        return f"{self.name}: {' '.join(self.argv)}\n status {self.child.returncode}\n stderr:\n{tail}\n stdout:\n{last}"


class Children:
    """The processes of one test or fixture, all of which are ended with it."""

    def __init__(self, directory: Path, priority: int = 0):
        self.directory = directory
        # Negative if a stream needs to be as live as the machine allows.
        self.priority = priority
        self.all: list[Process] = []
        self.lock = threading.Lock()

    def start(self, name: str, argv: list, **options) -> Process:
        with self.lock:
            process = Process(self._free_name(name), argv, self.directory, priority=self.priority, **options)
            self.all.append(process)
        return process

    def run(self, name: str, argv: list, **options) -> Process:
        """Starts it and waits until it ends, whatever its status."""
        process = self.start(name, argv, **options)
        process.wait()
        return process

    def _free_name(self, name: str) -> str:
        taken = {process.name for process in self.all}
        candidates = [name] + [f"{name}-{number}" for number in range(2, len(taken) + 3)]
        return next(candidate for candidate in candidates if candidate not in taken)

    def end_all(self) -> None:
        for process in self.all:
            process.send(signal.SIGTERM)
        deadline = time.monotonic() + 2
        for process in self.all:
            try:
                process.child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()

    def report(self) -> str:
        return "\n".join(process.report() for process in self.all)
