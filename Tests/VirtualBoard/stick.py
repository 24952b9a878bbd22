"""USB sticks that a test plugs into the card's board, each a file of the host."""

import subprocess
from pathlib import Path

from card import CardBoard
from waiting import wait_until

# The machine has no USB port by itself.
PORT = ("-device", "qemu-xhci,id=usb")
START = 1 << 20
SYSTEMS = {
    "FAT32": (0x0C, ["mkfs.vfat", "-F", "32", "-s", "1"]), "exFAT": (0x07, ["mkfs.exfat", "-q"]),
    "ext4": (0x83, ["mke2fs", "-q", "-t", "ext4"]),
}  # fmt: skip


class Stick:
    """A stick with one partition, as it comes from the shop."""

    def __init__(self, folder: Path, system: str, *, megabytes: int = 96):
        self.folder = folder
        self.path = folder / "stick.img"
        self.name = "stick"
        kind, make = SYSTEMS[system]
        partition = folder / "partition.img"
        with open(partition, "wb") as file:
            file.truncate((megabytes << 20) - START)
        subprocess.run([*make, str(partition)], check=True, capture_output=True)
        entry = bytes([0, 0, 2, 0, kind, 0xFF, 0xFF, 0xFF]) + (START >> 9).to_bytes(4, "little")
        entry += ((megabytes << 11) - (START >> 9)).to_bytes(4, "little")
        with open(self.path, "wb") as file:
            file.truncate(megabytes << 20)
            file.seek(446)
            file.write(entry + bytes(48) + b"\x55\xaa")
        words = ["dd", f"if={partition}", f"of={self.path}", "bs=1M", "seek=1", "conv=notrunc,sparse", "status=none"]
        subprocess.run(words, check=True)
        partition.unlink()

    def nodes(self, *, is_locked: bool = False) -> list[dict]:
        return [{"driver": "file", "node-name": self.name, "filename": str(self.path), "read-only": is_locked}]

    def plug(self, board: CardBoard, nodes: list[dict] | None = None) -> None:
        """`nodes` are what QEMU has between the port and the stick; the last one has the stick's name."""
        self._nodes = nodes or self.nodes()
        for node in self._nodes:
            board.machine.monitor("blockdev-add", **node)
        board.machine.monitor("device_add", driver="usb-storage", id=self.name, bus="usb.0", drive=self.name)

    def pull(self, board: CardBoard) -> None:
        """Whether the board is ready for it or not."""
        board.machine.monitor("device_del", id=self.name)
        wait_until(lambda: self._is_free(board), 20, "the stick is still in the port", interval=0.1)

    def _is_free(self, board: CardBoard) -> bool:
        """QEMU lets go of the file when the guest has noticed."""
        while self._nodes:
            try:
                board.machine.monitor("blockdev-del", **{"node-name": self._nodes[-1]["node-name"]})
            except RuntimeError:
                return False
            self._nodes.pop()
        return True
