"""A board's card in QEMU's machine of that board: the real device tree, and the real peripherals as far as QEMU has them.

    with RaspberryPi(RASPI3B, folder, card) as board:
        board.wait_for("tallycam> ", 300)
        board.type("status\r")
"""

import contextlib
import os
import socket
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from board import LEAN
from busy_host import imitate_busy_host
from card import Card
from pi_firmware import Loaded, Trees, load, run
from waiting import NeverHappened, deadline


@dataclass(frozen=True)
class Machine:
    """A machine of QEMU, and what it lacks of the board."""

    name: str
    trees: Trees
    # How the card gets into the board's slot.
    slot: tuple[str, ...]
    # Nodes of the device tree whose drivers would bring the kernel down, as nothing answers at their addresses.
    absent: tuple[str, ...] = ()
    # The card's supply is switched by the firmware, which QEMU does not have.
    supplied: str | None = None


RASPI3B = Machine("raspi3b", Trees("bcm2710-rpi-3-b", "bcm2837-rpi-3-b"), ("-drive", "file={card},format=raw,if=sd"))
RASPI4B = Machine(
    "raspi4b", Trees("bcm2711-rpi-4-b", "bcm2711-rpi-4-b"),
    # QEMU's own choice is the slot of the Wi-Fi chip.
    ("-drive", "file={card},format=raw,if=none,id=slot", "-device", "sd-card,drive=slot,bus=/generic-sdhci/sd-bus"),
    absent=(
        "/soc/interrupt-controller@7ef00100", "/soc/i2c@7ef04500", "/soc/i2c@7ef09500", "/soc/clock@7ef00000",
        "/soc/hdmi@7ef00700", "/soc/hdmi@7ef05700", "/soc/hvs@7e400000", "/gpu",
    ),
    supplied="/emmc2bus/mmc@7e340000",
)  # fmt: skip


def fit(loaded: Loaded, machine: Machine) -> None:
    """Takes from the device tree what the machine does not have."""
    for node in machine.absent:
        run("fdtput", "-t", "s", loaded.device_tree, node, "status", "disabled")
    if machine.supplied:
        run("fdtput", "-d", loaded.device_tree, machine.supplied, "vqmmc-supply", "vmmc-supply")


class RaspberryPi:
    def __init__(self, machine: Machine, folder: Path, card: Card, *, devices: tuple[str, ...] = ()):
        """`devices` are more of QEMU's arguments."""
        self.seen, self._has_ended = b"", False
        self._changed = threading.Condition()
        loaded = load(card, folder, machine.trees)
        fit(loaded, machine)
        console, ours = folder / "console", None
        self.power_on = time.monotonic()
        with open(folder / "qemu.log", "w") as log:
            self.process = subprocess.Popen([
                "qemu-system-aarch64", "-M", machine.name, "-accel", "tcg,thread=multi,tb-size=256", "-display", "none", "-no-reboot",
                "-kernel", loaded.kernel, "-initrd", loaded.initramfs, "-dtb", loaded.device_tree,
                "-append", f"{loaded.command_line} {LEAN}",
                *(word.format(card=card.path) for word in machine.slot),
                "-netdev", "user,id=uplink,net=10.0.2.0/24", "-device", "usb-net,netdev=uplink", *devices,
                "-chardev", f"socket,id=console,path={console},server=on,wait=on,logfile={folder / 'console.log'}",
                "-serial", "chardev:console",
            ], stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip
        imitate_busy_host(self.process)
        end = deadline(20)
        while ours is None:
            try:
                ours = socket.socket(socket.AF_UNIX)
                ours.connect(os.fspath(console))
            except OSError:
                ours = None
                assert time.monotonic() < end and self.process.poll() is None, (folder / "qemu.log").read_text()
                time.sleep(0.1)
        self.console = ours
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Reads all the time: QEMU writes letter by letter, fewer than 300 of which fill a socket, and then stops the machine."""
        with contextlib.suppress(OSError):
            while data := self.console.recv(65536):
                with self._changed:
                    self.seen += data
                    self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def wait_for(self, text: str, timeout: float) -> float:
        """Waits until the console shows the text; returns seconds since power-on."""
        end = deadline(timeout)
        with self._changed:
            while text.encode() not in self.seen:
                assert not self._has_ended, "QEMU has ended"
                if not self._changed.wait(max(0, end - time.monotonic())):
                    raise NeverHappened(f"no {text!r} but\n{self.seen[-3000:].decode(errors='replace')}")
        return time.monotonic() - self.power_on

    def type(self, text: str) -> None:
        with self._changed:
            self.seen = b""
        self.console.sendall(text.encode())

    def wait_until(self, command: str, answer: str, timeout: float) -> float:
        """Types a command every 20 s until the answer contains the text; returns seconds since power-on."""
        end = deadline(timeout)
        while True:
            self.type(command)
            try:
                return self.wait_for(answer, 1)
            except NeverHappened:
                if time.monotonic() > end:
                    raise

    def __enter__(self) -> "RaspberryPi":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.console.close()
