"""A script that runs in a guest: its output, and how it ends."""

import contextlib
import re
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from waiting import PATIENCE, NeverHappened, deadline

if TYPE_CHECKING:
    from board import Board


@dataclass
class Output:
    status: int
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")


class GuestCommandFailed(AssertionError):
    pass


class GuestProcess:
    """A script that runs in the guest. A thread collects its output."""

    def __init__(self, board: "Board", script: str, stdin: bytes):
        self.board = board
        self.script = script
        self._received = bytearray()
        self._changed = threading.Condition()
        self._ended = False
        self._connection = socket.create_connection(("127.0.0.1", board.port), timeout=30)
        self._connection.settimeout(None)
        threading.Thread(target=self._collect, args=(stdin,), daemon=True).start()

    def _collect(self, stdin: bytes) -> None:
        try:
            threading.Thread(target=self._feed, args=(stdin,), daemon=True).start()
            while data := self._connection.recv(65536):
                with self._changed:
                    self._received += data
                    self._changed.notify_all()
        except OSError:
            pass
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _feed(self, stdin: bytes) -> None:
        try:
            script = self.script.encode()
            self._connection.sendall(b"%d\n" % len(script) + script + stdin)
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    @property
    def has_ended(self) -> bool:
        return self._ended

    @property
    def pid(self) -> int:
        self.wait_until(lambda data: b"\n" in data, 30)
        return int(bytes(self._received).split(b"\n", 1)[0])

    @property
    def text(self) -> str:
        """The output so far."""
        with self._changed:
            data = bytes(self._received)
        return data.partition(b"\n")[2].partition(b"\0")[0].decode(errors="replace")

    def wait_until(self, condition, timeout: float) -> None:
        """Calls `condition` with all bytes so far, each time that more have arrived."""
        end = deadline(timeout)
        with self._changed:
            while not condition(bytes(self._received)):
                if self._ended or not self._changed.wait(max(0, end - time.monotonic())):
                    what = "ended" if self._ended else f"not within {PATIENCE} times {timeout} s"
                    said = bytes(self._received[-3000:]).decode(errors="replace")
                    raise NeverHappened(f"{self.script}: {what}; it wrote:\n{said}")

    def wait_for(self, pattern: str, timeout: float) -> re.Match:
        """Waits until the output matches a regular expression."""
        compiled = re.compile(pattern.encode(), re.MULTILINE)
        self.wait_until(lambda data: compiled.search(data.partition(b"\n")[2]), timeout)
        return re.search(pattern, self.text, re.MULTILINE)

    def wait(self, timeout: float) -> Output:
        end = deadline(timeout)
        with self._changed:
            while not self._ended:
                if not self._changed.wait(max(0, end - time.monotonic())) and time.monotonic() > end:
                    raise NeverHappened(
                        f"{self.script}: still running after {PATIENCE} times {timeout} s; it wrote:\n"
                        + bytes(self._received[-3000:]).decode(errors="replace")
                    )
            data = bytes(self._received)
        body, separator, status = data.partition(b"\n")[2].rpartition(b"\0")
        if not separator:
            raise GuestCommandFailed(f"{self.script}: the connection broke off after {data[-2000:]!r}")
        return Output(int(status), body)

    def signal(self, name: str) -> None:
        self.board.run(f"kill -{name} {self.pid}", check=False)

    def end(self) -> None:
        """Kills the script if it still runs, with the processes that it has started and waits for."""
        if not self._ended:
            pid = self.pid
            self.board.run(f"kill -STOP {pid}; kill -KILL {pid} $(cat /proc/{pid}/task/{pid}/children)", check=False)
            with self._changed:
                self._changed.wait_for(lambda: self._ended, 10)
        self.abandon()

    def abandon(self) -> None:
        """Stops collecting its output."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
