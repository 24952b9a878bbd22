"""The card in QEMU's Raspberry Pi 3B: its own device tree and its own peripherals, as far as QEMU has them.

    with RaspberryPi3(folder, card) as board:
        board.wait_for("tallycam> ", 300)
        board.type("status\r")

Debian's kernel has the drivers of that board's card slot, network and watchdog as modules; they and the device tree come
from the package that the virtual board's kernel comes from, and go into the initramfs beside the card's own.
"""

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from board import parts
from card import Card
from waiting import deadline

MODULES = "bcm2835 sdhci-iproc mmc_block squashfs vfat nls_ascii nls_cp437 ext4 dwc2 cdc_ether rndis_host".split()


def drivers() -> Path:
    """A folder with the device tree, and with `added/modules`: a list, and the modules in the order of their loading. It is
    kept beside the parts that it is made from."""
    source = parts()
    release = (source / "kernel-release").read_text().strip()
    result = source / ("raspi3b-" + hashlib.sha256(" ".join(MODULES).encode()).hexdigest()[:8])
    if result.exists():
        return result
    package = next((source.parent / "archives").glob(f"linux-image-{release}_*_arm64.deb"))
    with tempfile.TemporaryDirectory(dir=source) as folder:
        tree, made = Path(folder) / "kernel", Path(folder) / "made"
        subprocess.run(["dpkg-deb", "-x", str(package), str(tree)], check=True)
        (tree / "lib").symlink_to("usr/lib")
        subprocess.run(["depmod", "-b", str(tree), release], check=True)
        words = ["modprobe", "-d", str(tree), "-S", release, "--show-depends", "--ignore-install", "-a", *MODULES]
        lines = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        paths = list(dict.fromkeys(Path(line.split()[1]) for line in lines if line.startswith("insmod ")))
        modules = made / "added/modules"
        modules.mkdir(parents=True)
        for path in paths:
            unpacked = subprocess.run(["xz", "-dc", str(path)], stdout=subprocess.PIPE, check=True).stdout
            (modules / path.name.removesuffix(".xz")).write_bytes(unpacked)
        (modules / "list").write_text("".join(path.name.removesuffix(".xz") + "\n" for path in paths))
        shutil.copy2(tree / f"usr/lib/linux-image-{release}/broadcom/bcm2837-rpi-3-b.dtb", made / "board.dtb")
        # As the overlay miniuart-bt of config.txt does: without Bluetooth on it the full UART is a terminal.
        subprocess.run(["fdtput", "-r", str(made / "board.dtb"), "/soc/serial@7e201000/bluetooth"], check=True)
        made.rename(result)
    return result


class RaspberryPi3:
    def __init__(self, folder: Path, card: Card):
        self.seen = b""
        added, device_tree = drivers() / "added", drivers() / "board.dtb"
        names = "\n".join(str(path.relative_to(added)) for path in sorted(added.rglob("*")))
        packed = subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=added, input=names.encode(), check=True,
            stdout=subprocess.PIPE,
        ).stdout  # fmt: skip
        first = card.read("initramfs")
        (folder / "initramfs").write_bytes(first + bytes(-len(first) % 4) + packed)
        (folder / "Image").write_bytes(card.read("Image"))
        console, ours = folder / "console", None
        self.power_on = time.monotonic()
        with open(folder / "qemu.log", "w") as log:
            self.process = subprocess.Popen([
                "qemu-system-aarch64", "-M", "raspi3b", "-accel", "tcg,thread=multi,tb-size=256", "-display", "none", "-no-reboot",
                "-kernel", folder / "Image", "-initrd", folder / "initramfs", "-dtb", device_tree,
                "-append", card.read("cmdline.txt").decode().strip(),
                "-drive", f"file={card.path},format=raw,if=sd",
                "-netdev", "user,id=uplink,net=10.0.2.0/24", "-device", "usb-net,netdev=uplink",
                "-chardev", f"socket,id=console,path={console},server=on,wait=on,logfile={folder / 'console.log'}",
                "-serial", "chardev:console",
            ], stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip
        end = deadline(20)
        while ours is None:
            try:
                ours = socket.socket(socket.AF_UNIX)
                ours.connect(os.fspath(console))
            except OSError:
                ours = None
                assert time.monotonic() < end and self.process.poll() is None, (folder / "qemu.log").read_text()
                time.sleep(0.1)
        ours.settimeout(0.5)
        self.console = ours

    def wait_for(self, text: str, timeout: float) -> float:
        """Waits until the console shows the text; returns seconds since power-on."""
        end = deadline(timeout)
        while text.encode() not in self.seen:
            assert time.monotonic() < end, f"no {text!r} but\n{self.seen[-3000:].decode(errors='replace')}"
            try:
                data = self.console.recv(65536)
                assert data, "QEMU has ended"
                self.seen += data
            except TimeoutError:
                continue
        return time.monotonic() - self.power_on

    def type(self, text: str) -> None:
        self.seen = b""
        self.console.sendall(text.encode())

    def wait_until(self, command: str, answer: str, timeout: float) -> float:
        """Types a command repeatedly until the answer contains the text; returns seconds since power-on."""
        end = deadline(timeout)
        while True:
            self.type(command)
            try:
                return self.wait_for(answer, 3)
            except AssertionError:
                if time.monotonic() > end:
                    raise

    def __enter__(self) -> "RaspberryPi3":
        return self

    def __exit__(self, *_) -> None:
        self.console.close()
        self.process.kill()
        self.process.wait()
