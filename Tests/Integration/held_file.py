"""A file whose readers block for as long as the test wants, as on a hanging card (fanotify(7), permission events)."""

import contextlib
import ctypes
import os
import select
import struct
import threading
from pathlib import Path

FAN_CLOEXEC, FAN_NONBLOCK, FAN_CLASS_CONTENT = 0x1, 0x2, 0x4
FAN_MARK_ADD = 0x1
FAN_OPEN_PERM = 0x10000
FAN_ACCESS_PERM = 0x20000
AT_FDCWD = -100
FAN_ALLOW = 1
# fanotify_event_metadata: length, version, reserved, length of this part, mask, descriptor, process.
EVENT = struct.Struct("=IBBHQii")


class HeldFile:
    """Anyone who opens the file blocks in open(2) until `release`; stat(2) still works. The holding process itself must not
    open it."""

    def __init__(self, path: Path, mask: int = FAN_OPEN_PERM):
        libc = ctypes.CDLL(None, use_errno=True)
        self.listener = libc.fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, os.O_RDONLY | os.O_CLOEXEC)
        self._check(self.listener, path)
        marked = libc.fanotify_mark(self.listener, FAN_MARK_ADD, ctypes.c_uint64(mask), AT_FDCWD, os.fsencode(path))
        self._check(marked, path)

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


class ReadHeldFile(HeldFile):
    """Readers continue until `hold`, and from then on block in read(2) until `release`. To be created before the file is opened:
    the kernel asks only about files that were opened under watch."""

    def __init__(self, path: Path):
        super().__init__(path, FAN_ACCESS_PERM)
        self.is_held = False
        self.allowing = threading.Thread(target=self._allow, daemon=True)
        self.allowing.start()

    def _allow(self) -> None:
        while not self.is_held:
            if select.select([self.listener], [], [], 0.05)[0] and not self.is_held:
                events = os.read(self.listener, 4096)
                for at in range(0, len(events), EVENT.size):
                    descriptor = EVENT.unpack_from(events, at)[5]
                    os.write(self.listener, struct.pack("iI", descriptor, FAN_ALLOW))
                    os.close(descriptor)

    def hold(self) -> None:
        self.is_held = True
        self.allowing.join()

    def release(self) -> None:
        self.hold()
        super().release()


@contextlib.contextmanager
def held(path: Path, kind: type[HeldFile] = HeldFile):
    file = kind(path)
    try:
        yield file
    finally:
        file.release()
