"""All writes of a board to its card, one by one, so that the card can be had as it was after any of them.

QEMU records them in the format of the kernel's dm-log-writes, and an SD card of QEMU's writes one sector at a time, as a real one
does.
"""

import json
import struct
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

from card import Card

SECTOR = 512
FLUSH, DISCARD = 1, 4


class Write(NamedTuple):
    sector: int
    data: bytes


class RecordedWrites:
    """To be used before a board starts from the card, with the board's `drive`."""

    def __init__(self, card: Card):
        self.card = card
        self._before = card.folder / "before.img"
        self._log = card.folder / "writes"
        self._log.write_bytes(b"")
        self._renew(card.path, self._before)

    @staticmethod
    def _renew(source, target) -> None:
        subprocess.run(["cp", "--sparse=always", str(source), str(target)], check=True)

    @property
    def drive(self) -> tuple[str, ...]:
        return tuple(word for node in self.nodes("slot") for word in ("-blockdev", json.dumps(node)))

    def nodes(self, name: str) -> list[dict]:
        """QEMU's block devices, the last of which has this name and uses the others."""
        card, log = f"{name}-card", f"{name}-log"
        return [
            {"driver": "file", "node-name": card, "filename": str(self.card.path)},
            {"driver": "file", "node-name": log, "filename": str(self._log)},
            {"driver": "blklogwrites", "node-name": name, "file": card, "log": log, "log-sector-size": SECTOR},
        ]

    def __iter__(self) -> Iterator[Write]:
        """The writes in their order. The log starts with a sector that describes it, and each entry with one of its own."""
        with open(self._log, "rb") as log:
            magic, version, _, size = struct.unpack("<QQQI", log.read(SECTOR)[:28])
            assert (magic, version, size) == (0x6A736677736872, 1, SECTOR)
            while len(head := log.read(SECTOR)) == SECTOR:
                sector, count, flags, _ = struct.unpack("<QQQQ", head[:32])
                assert not flags & DISCARD
                if count:
                    yield Write(sector, log.read(count * SECTOR))

    def flushes(self) -> list[int]:
        """After how many writes the board waited until the disk had them all."""
        found, count = [], 0
        with open(self._log, "rb") as log:
            log.seek(SECTOR)
            while len(head := log.read(SECTOR)) == SECTOR:
                _, sectors, flags, _ = struct.unpack("<QQQQ", head[:32])
                if flags & FLUSH and count and (not found or found[-1] < count):
                    found.append(count)
                if sectors:
                    count += 1
                    log.seek(sectors * SECTOR, 1)
        return found

    def cuts(self, most: int, always: int) -> Iterator[int]:
        """Makes the card as it was before, and then as it was after more and more writes: after the last and the middle one of
        rows of neighbors, at most so many and evenly spread, and after each write of the sector `always`. Yields how many writes
        it has."""
        writes = list(self)
        ends = [0, *(n for n in range(1, len(writes)) if writes[n].sector != writes[n - 1].sector + 1), len(writes)]
        cuts = sorted({*ends, *((first + last) // 2 for first, last in zip(ends, ends[1:]))})
        # The first writes are few and different.
        step = len(cuts) // most + 1
        chosen = {number for number, write in enumerate(writes, 1) if write.sector == always}
        cuts = sorted({*cuts[:20], *cuts[20:-1:step], cuts[-1], *chosen})
        self._renew(self._before, self.card.path)
        with open(self.card.path, "r+b", buffering=0) as file:
            done = 0
            for cut in cuts:
                self._apply(file, writes[done:cut])
                done = cut
                yield cut

    def replay(self, count: int) -> None:
        """Makes the card as it was after that many writes."""
        self._renew(self._before, self.card.path)
        with open(self.card.path, "r+b", buffering=0) as file:
            self._apply(file, list(self)[:count])

    @staticmethod
    def _apply(file, writes: list[Write]) -> None:
        for write in writes:
            file.seek(write.sector * SECTOR)
            file.write(write.data)
