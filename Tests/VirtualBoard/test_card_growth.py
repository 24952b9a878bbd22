"""The card's last partition grows to the card's end at the first start, and a power cut at any moment of it harms nothing."""

import random
import subprocess
import time
from pathlib import Path

import pytest
from card import SMALL, Card, CardBoard, server
from seeds import seed_of_this_run
from waiting import wait_until

pytestmark = pytest.mark.takes(minutes=3, processors=0.5)

MEGABYTES = 1024
SECTORS = MEGABYTES << 11
BLOCK = 4096


class GrowingCard(Card):
    """A card that is larger than its image, read from outside while a board runs from it."""

    def __init__(self, folder: Path, image: Path):
        super().__init__(folder, image, megabytes=MEGABYTES)
        self.write("device.json", SMALL)
        self.write("stream.json", server(1))
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
        assert first == self.first and size in (self.size, SECTORS - self.first), (first, size)
        return size > self.size

    @property
    def has_grown_file_system(self) -> bool:
        return self._number((self.first << 9) + 1028) * BLOCK > (self.size << 9)

    def check_file_system(self) -> None:
        """Replays the journal on a copy, as the next start does, and finds nothing to repair."""
        copy = self.folder / "state.ext4"
        copy.unlink(missing_ok=True)
        subprocess.run(
            ["dd", f"if={self.path}", f"of={copy}", "bs=1M", f"skip={self.first >> 11}", "conv=sparse", "status=none"], check=True,
        )  # fmt: skip
        subprocess.run(["e2fsck", "-p", "-E", "journal_only", str(copy)], stdout=subprocess.DEVNULL)
        checked = subprocess.run(["e2fsck", "-f", "-n", str(copy)], stdout=subprocess.PIPE, text=True)
        assert checked.returncode == 0, checked.stdout


def is_grown(board: CardBoard) -> None:
    size = int(board.run("df -P /state | tail -n 1").text.split()[1])
    assert size > (SECTORS - board.card.first) // 2 * 0.9, f"/state has {size} kB"
    assert board.run("grep ' /state ' /proc/mounts").text.split()[0] == "/dev/mmcblk0p4"


def start_ready(card: GrowingCard) -> CardBoard:
    board = CardBoard(card.folder, card)
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    return board


def test_the_last_partition_grows_at_the_first_start_and_keeps_its_files(image, tmp_path):
    card = GrowingCard(tmp_path, image)
    assert not card.has_grown_partition
    board = start_ready(card)
    try:
        is_grown(board)
        board.run("echo kept >/state/kept; dd if=/dev/zero of=/state/large bs=1M count=200 2>/dev/null; sync")
    finally:
        board.close()
    card.check_file_system()
    board = start_ready(card)
    try:
        assert board.run("cat /state/kept").text == "kept\n"
    finally:
        board.close()


def cut_while_growing(card: GrowingCard, chance: random.Random) -> str:
    """Cuts the power as soon as the table, or the file system, has changed, or a little after that."""
    board = CardBoard(card.folder, card)
    stage = chance.choice(["table", "file system"])
    try:
        changed = (lambda: card.has_grown_partition) if stage == "table" else (lambda: card.has_grown_file_system)
        wait_until(changed, 120, lambda: board.console[-2000:], interval=0.0005)
        delay = chance.choice([0, chance.uniform(0, 0.3)])
        time.sleep(delay)
    finally:
        board.cut_power()
    return f"{stage}, {delay:.3f} s after it"


@pytest.mark.parametrize("count", [2, pytest.param(12, marks=pytest.mark.slow)])
def test_a_power_cut_while_it_grows_harms_nothing(image, tmp_path, capsys, count):
    chance = random.Random(seed_of_this_run())
    for _ in range(count):
        card = GrowingCard(tmp_path, image)
        configuration = card.read("device.json")
        when = cut_while_growing(card, chance)
        with capsys.disabled():
            print(f"\n  cut at {when}: file system grown: {card.has_grown_file_system}", end="")
        card.check_file_system()
        board = start_ready(card)
        try:
            is_grown(board)
        finally:
            board.close()
        assert card.read("device.json") == configuration
        card.check_file_system()
