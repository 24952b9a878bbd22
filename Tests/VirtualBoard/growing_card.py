"""A card that is larger than its image, so that its first start lets the last partition grow. It is read from outside while a
board runs from it."""

import os
import random
import subprocess
import time
from pathlib import Path

from card import Card, CardBoard
from waiting import wait_until

BLOCK = 4096
# A first start changes these on the card, in this order.
STAGES = ("table", "file system")


class GrowingCard(Card):
    def __init__(self, folder: Path, image: Path, files: dict, *, megabytes: int = 1024):
        super().__init__(folder, image, megabytes=megabytes)
        for name, content in files.items():
            self.write(name, content)
        self.sectors = megabytes << 11
        self.first, self.size = self.partition()

    def _number(self, offset: int) -> int:
        with open(self.path, "rb") as file:
            file.seek(offset)
            return int.from_bytes(file.read(4), "little")

    def partition(self) -> tuple[int, int]:
        return self.entry(3)

    @property
    def has_grown_partition(self) -> bool:
        first, size = self.partition()
        assert first == self.first and size in (self.size, self.sectors - self.first), (first, size)
        return size > self.size

    @property
    def has_grown_file_system(self) -> bool:
        return self._number((self.first << 9) + 1028) * BLOCK > (self.size << 9)

    def check_file_system(self) -> str:
        """Replays the journal on a copy, as the next start does, and finds nothing to repair. Returns how far the card has grown:
        new, table (only the partition has grown), partial or grown."""
        copy = self.folder / "state.ext4"
        self._copy_partition(copy)
        subprocess.run(["e2fsck", "-p", "-E", "journal_only", str(copy)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        checked = subprocess.run(["e2fsck", "-f", "-n", str(copy)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert checked.returncode == 0, checked.stdout
        with open(copy, "rb") as file:
            file.seek(1028)
            size = int.from_bytes(file.read(4), "little") * BLOCK >> 9
        if size == self.size:
            return "table" if self.has_grown_partition else "new"
        return "grown" if size + 8192 >= self.partition()[1] else "partial"

    def grow_in_part(self, size: str) -> None:
        """Lets the file system grow to that size, as a cut between two of the kernel's steps would leave it."""
        copy = self.folder / "state.ext4"
        self._copy_partition(copy)
        subprocess.run(["e2fsck", "-f", "-p", str(copy)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["resize2fs", str(copy), size], check=True, capture_output=True)
        words = ["dd", f"if={copy}", f"of={self.path}", "bs=1M", f"seek={self.first >> 11}", "conv=notrunc", "status=none"]
        subprocess.run(words, check=True)

    def _copy_partition(self, target: Path) -> None:
        """Without what was never written."""
        start, end = self.first << 9, self.sectors << 9
        with open(self.path, "rb") as source, open(target, "wb") as copy:
            copy.truncate(end - start)
            place = start
            while True:
                try:
                    place = os.lseek(source.fileno(), place, os.SEEK_DATA)
                except OSError:
                    break
                hole = os.lseek(source.fileno(), place, os.SEEK_HOLE)
                os.lseek(source.fileno(), place, os.SEEK_SET)
                copy.seek(place - start)
                copy.write(os.read(source.fileno(), hole - place))
                place = hole

    def cut_while_growing(self, stage: str, delay: float) -> None:
        """Starts a board from this card, and cuts its power some time after that stage has changed the card."""
        board = CardBoard(self.folder, self)
        try:
            changed = {"table": lambda: self.has_grown_partition, "file system": lambda: self.has_grown_file_system}[stage]
            wait_until(changed, 120, lambda: board.console[-2000:], interval=0.0005)
            time.sleep(delay)
        finally:
            board.cut_power()


def is_grown(board: CardBoard) -> None:
    size = int(board.run("df -P /state | tail -n 1").text.split()[1])
    assert size > (board.card.sectors - board.card.first) // 2 * 0.9, f"/state has {size} kB"
    assert board.run("grep ' /state ' /proc/mounts").text.split()[0] == "/dev/mmcblk0p4"


def random_moment(chance: random.Random) -> tuple[str, float]:
    return chance.choice(STAGES), chance.choice([0, chance.uniform(0, 0.3)])
