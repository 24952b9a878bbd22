"""An SNTP server (RFC 4330) with a clock of the test's choice."""

import contextlib
import math
import socket
import struct
import threading
from collections.abc import Callable

# NTP counts from 1900.
EPOCH = 2_208_988_800


class TimeServer:
    """On the host's loopback, which the guest reaches. It uses the protocol's standard port, the only one that clients know."""

    def __init__(self, now: Callable[[], float]):
        """`now` is its clock, in seconds since 1970; it is asked by another thread."""
        self.now = now
        # Its clock at the first answer; infinite before that.
        self.first_answer = math.inf
        # Its clock at each request, for a failure's report.
        self.requests: list[float] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 123))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        while True:
            try:
                request, client = self._socket.recvfrom(512)
            except OSError:
                return
            if client is None:
                return
            if len(request) < 48:
                continue
            now = self.now()
            self.requests.append(round(now, 1))
            time = self._timestamp(now)
            # No leap second, version 4, server; stratum 1, as from a radio clock.
            head = struct.pack("!BBbbII4s", 0x24, 1, 6, -20, 0, 1 << 4, b"TEST")
            answer = head + time + request[40:48] + time + time
            self.first_answer = min(self.first_answer, now)
            self._socket.sendto(answer, client)

    @staticmethod
    def _timestamp(now: float) -> bytes:
        return struct.pack("!Q", int((now + EPOCH) * (1 << 32)) & 0xFFFF_FFFF_FFFF_FFFF)

    def __enter__(self) -> "TimeServer":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        # Closing alone would leave the port in use as long as the thread waits.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()
