"""A stand-in for the firmware of a Raspberry Pi: it reads a card's boot partition as the firmware does, as far as the cards need
it. config.txt decides about kernel, initramfs and overlays.

    loaded = load(card, folder, Trees("bcm2710-rpi-3-b", "bcm2837-rpi-3-b"))
"""

import gzip
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from card import Card

# Settings that have no effect on what is loaded.
IGNORED = {"arm_64bit", "disable_overscan", "disable_splash", "boot_delay", "camera_auto_detect", "gpu_mem", "dtparam"}
# Offset 56 of a 64-bit kernel: "ARM\x64".
KERNEL_MAGIC = b"ARMd"


@dataclass
class Settings:
    """config.txt without conditional sections, which no card has."""

    values: dict[str, str] = field(default_factory=dict)
    overlays: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str) -> "Settings":
        settings = cls()
        for line in filter(None, (line.split("#")[0].strip() for line in text.splitlines())):
            assert not line.startswith("["), f"the stand-in knows no sections: {line}"
            if line.startswith("initramfs "):
                _, settings.values["initramfs"], place = line.split()
                assert place == "followkernel", line
                continue
            key, value = line.split("=", 1)
            if key == "dtoverlay":
                name, *parameters = value.split(",")
                settings.overlays.append((name, dict(word.partition("=")[::2] for word in parameters)))
            else:
                known = IGNORED | {"kernel", "start_file", "fixup_file", "upstream_kernel"}
                assert key in known, f"the stand-in does not know {line}"
                settings.values[key] = value
        return settings


@dataclass(frozen=True)
class Trees:
    """The names of a board's device tree: Raspberry Pi's, and with `upstream_kernel=1` that of the kernel's source."""

    own: str
    upstream: str


@dataclass
class Loaded:
    kernel: Path
    initramfs: Path
    device_tree: Path
    command_line: str


def load(card: Card, folder: Path, trees: Trees) -> Loaded:
    """Loads what the firmware of the board with these device trees loads, into files of the folder."""
    settings = Settings.parse(card.read("config.txt").decode())
    tree = trees.upstream if settings.values.get("upstream_kernel") == "1" else trees.own
    for key in ("start_file", "fixup_file"):
        assert card.read(settings.values[key]), f"{settings.values[key]} is not on the card"
    loaded = Loaded(folder / "Image", folder / "initramfs", folder / "board.dtb", card.read("cmdline.txt").decode().strip())
    kernel = card.read(settings.values["kernel"])
    kernel = gzip.decompress(kernel) if kernel.startswith(b"\x1f\x8b") else kernel
    assert kernel[56:60] == KERNEL_MAGIC, "this is not a 64-bit kernel"
    loaded.kernel.write_bytes(kernel)
    loaded.initramfs.write_bytes(card.read(settings.values["initramfs"]))
    device_tree = card.read(f"{tree}.dtb")
    assert device_tree, f"{tree}.dtb is not on the card"
    loaded.device_tree.write_bytes(device_tree)
    # The firmware applies overlays only while this file is there.
    assert card.read("overlays/README")
    for name, parameters in settings.overlays:
        overlay = folder / f"{name}.dtbo"
        content = card.read(f"overlays/{name}.dtbo")
        assert content, f"overlays/{name}.dtbo is not on the card"
        overlay.write_bytes(content)
        for parameter, value in parameters.items():
            set_parameter(overlay, parameter, value)
        run("fdtoverlay", "-i", loaded.device_tree, "-o", loaded.device_tree, overlay)
    return loaded


def run(*words: str | Path) -> str:
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def set_parameter(overlay: Path, name: str, value: str) -> None:
    """What `__overrides__` says of a parameter: a property to set (a label's handle and the property's name), or fragments to
    switch on (handle 0, and "=N" for each)."""
    data = bytes(int(byte, 16) for byte in run("fdtget", "-t", "bx", overlay, "/__overrides__", name).split())
    handle, target = int.from_bytes(data[:4], "big"), data[4:].rstrip(b"\0").decode()
    if handle:
        node = next(node for node in nodes(overlay) if handle_of(overlay, node) == handle)
        run("fdtput", "-t", "s", overlay, node, target, value)
        return
    assert re.fullmatch(r"(=\d+)+", target), target
    for number in re.findall(r"=(\d+)", target):
        switch_on(overlay, number)


def switch_on(overlay: Path, number: str) -> None:
    """Renames the fragment's node, which fdtput cannot."""
    source = run("dtc", "-q", "-I", "dtb", "-O", "dts", overlay)
    changed = re.sub(rf"(fragment@{number} \{{.*?)__dormant__", r"\1__overlay__", source, count=1, flags=re.DOTALL)
    subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", str(overlay)], input=changed, text=True, check=True)


def nodes(tree: Path, node: str = "/") -> list[str]:
    found = [node]
    for child in run("fdtget", "-l", tree, node).split():
        found += nodes(tree, f"{node.rstrip('/')}/{child}")
    return found


def handle_of(tree: Path, node: str) -> int | None:
    properties = run("fdtget", "-p", tree, node).split()
    return int(run("fdtget", "-t", "u", tree, node, "phandle")) if "phandle" in properties else None
