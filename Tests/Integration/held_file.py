"""A file whose readers block for as long as the test wants, as on a hanging card (fanotify(7), permission events)."""

import contextlib
import ctypes
import os
import select
from pathlib import Path

FAN_CLOEXEC, FAN_NONBLOCK, FAN_CLASS_CONTENT = 0x1, 0x2, 0x4
FAN_MARK_ADD = 0x1
FAN_OPEN_PERM = 0x10000
AT_FDCWD = -100


class HeldFile:
    """Anyone who opens the file blocks in open(2) until `release`; stat(2) still works. The holding process itself must not
    open it."""

    def __init__(self, path: Path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.listener = libc.fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, os.O_RDONLY | os.O_CLOEXEC)
        self._check(self.listener, path)
        mask = ctypes.c_uint64(FAN_OPEN_PERM)
        self._check(libc.fanotify_mark(self.listener, FAN_MARK_ADD, mask, AT_FDCWD, os.fsencode(path)), path)

    @staticmethod
    def _check(result: int, path: Path) -> None:
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))

    @property
    def is_waited_for(self) -> bool:
        return bool(select.select([self.listener], [], [], 0)[0])

    def release(self) -> None:
        """Lets the waiting readers continue."""
        os.close(self.listener)


@contextlib.contextmanager
def held(path: Path):
    file = HeldFile(path)
    try:
        yield file
    finally:
        file.release()
