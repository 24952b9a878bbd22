"""Files that a program creates, counted by inotify(7)."""

import ctypes
import os

IN_CREATE = 0x100


class Creations:
    """Counts the files that are created in a folder (inotify(7)), because each write attempt starts with that."""

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK)
        assert self.libc.inotify_add_watch(self.fd, os.fsencode(path), IN_CREATE) >= 0
        self.names: list[str] = []

    def count(self, prefix: str) -> int:
        try:
            data = os.read(self.fd, 1 << 20)
        except BlockingIOError:
            data = b""
        while data:
            length = int.from_bytes(data[12:16], "little")
            self.names.append(data[16 : 16 + length].rstrip(b"\0").decode())
            data = data[16 + length :]
        return sum(name.startswith(prefix) for name in self.names)
