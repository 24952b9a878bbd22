"""A time server whose clock is wrong on purpose (SNTP, RFC 4330). The guest reaches it on the host's loopback."""

import socket
import struct
import threading
import time

# Seconds from 1900 to 1970.
ERA = 2_208_988_800


class TimeServer:
    def __init__(self, ahead: float, port: int = 123):
        self.ahead = ahead
        self.asked = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))

    def now(self) -> float:
        """Seconds since 1970 by its clock."""
        return time.time() + self.ahead

    def __enter__(self) -> "TimeServer":
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def _stamp(self) -> bytes:
        seconds = self.now() + ERA
        return struct.pack(">II", int(seconds) & 0xFFFFFFFF, int(seconds % 1 * (1 << 32)))

    def _serve(self) -> None:
        while True:
            try:
                question, sender = self.socket.recvfrom(512)
            except OSError:
                return
            if len(question) < 48:
                continue
            self.asked += 1
            received = self._stamp()
            # No leap second, the question's version, a server of stratum 1 with a precision of a microsecond.
            head = struct.pack(">BBbbII4s", question[0] & 0x38 | 4, 1, question[2], -20, 0, 0, b"TEST")
            self.socket.sendto(head + received + question[40:48] + received + self._stamp(), sender)
