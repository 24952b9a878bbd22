"""What is on a card's image: the files of its boot partition and of its root file system, and which modules its lists of drivers
need."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from board import CHECKOUT
from card import Card


@dataclass
class Contents:
    """Files with their sizes, by path."""

    boot: dict[str, int]
    root: dict[str, int] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()

    @classmethod
    def of(cls, image: Path, folder: Path) -> "Contents":
        card = Card(folder, image)
        boot = {name: len(card.read(name)) for name in card.all_names()}
        squashed = folder / "root.squashfs"
        first, sectors = card.entry(1)
        with open(card.path, "rb") as file:
            file.seek(first << 9)
            squashed.write_bytes(file.read(sectors << 9))
        unpacked = folder / "root"
        subprocess.run(["unsquashfs", "-quiet", "-no-progress", "-dest", str(unpacked), str(squashed)], check=True)
        found = [path for path in unpacked.rglob("*") if path.is_symlink() or path.is_file()]
        return cls(
            boot,
            {str(path.relative_to(unpacked)): path.stat().st_size for path in found if not path.is_symlink()},
            {str(path.relative_to(unpacked)): str(path.readlink()) for path in found if path.is_symlink()},
            unpacked,
        )

    @property
    def release(self) -> str:
        return next((self.folder / "usr/lib/modules").iterdir()).name

    def modules(self) -> set[str]:
        folder = f"usr/lib/modules/{self.release}/"
        return {path.removeprefix(folder) for path in self.root if path.startswith(folder) and path.endswith(".ko")}

    def needed_modules(self, names: list[str]) -> set[str]:
        """These and what they need, according to modprobe on the image."""
        words = ["modprobe", "-d", str(self.folder / "usr"), "-S", self.release, "--show-depends", "--ignore-install", "-a", *names]
        lines = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        paths = [line.split()[1] for line in lines if line.startswith("insmod ")]
        return {path.split(f"/lib/modules/{self.release}/")[1] for path in paths}


def listed_modules(board: str, kernel: str) -> list[str]:
    """What the board's lists name for that kernel, without the names that a kernel may lack."""
    names = []
    for path in ("common", board):
        for line in (CHECKOUT / "board" / path / "modules").read_text().splitlines():
            kind, *words = line.split("#")[0].split() or ("",)
            if kind in ("root", "initramfs", f"root:{kernel}", f"initramfs:{kernel}"):
                names += words
    return [name.removesuffix("?") for name in names]
