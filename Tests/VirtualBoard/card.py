"""A board that runs from the SD card image: everything is the card's own, but for a shell that the tests reach."""

import json
import shutil
import subprocess
import time
from pathlib import Path

from board import CHECKOUT, RECIPE, Board, free_port
from qemu import Machine

IMAGE = CHECKOUT / "out/virtual/sdcard.img"


def make_image() -> Path:
    """The card's image of the present program."""
    subprocess.run([str(CHECKOUT / "scripts/image-virtual")], check=True)
    return IMAGE


class Card:
    """A card of its own for one board, a copy of the image. Its boot partition is read and written from outside."""

    def __init__(self, folder: Path, image: Path):
        self.folder = folder
        self.path = folder / "sdcard.img"
        subprocess.run(["cp", "--sparse=always", str(image), str(self.path)], check=True)
        # The first entry of the partition table names its first sector.
        with open(self.path, "rb") as file:
            entry = file.read(512)[446:462]
        self.offset = int.from_bytes(entry[8:12], "little") * 512

    def _mtools(self, *words: str, **options) -> subprocess.CompletedProcess:
        command, *rest = words
        return subprocess.run(
            [command, "-i", f"{self.path}@@{self.offset}", *rest], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )

    def names(self) -> set[str]:
        return {line.removeprefix("::/") for line in self._mtools("mdir", "-b", "::").stdout.decode().split("\n") if line}

    def read(self, name: str) -> bytes:
        result = self._mtools("mcopy", "-n", f"::{name}", "-")
        return result.stdout if result.returncode == 0 else b""

    def write(self, name: str, content: bytes | str | dict) -> None:
        data = json.dumps(content) if isinstance(content, dict) else content
        data = data.encode() if isinstance(data, str) else data
        result = self._mtools("mcopy", "-o", "-", f"::{name}", input=data)
        assert result.returncode == 0, result.stderr


class CardBoard(Board):
    """The virtual board with a card in its slot, as its firmware starts it."""

    def __init__(self, folder: Path, card: Card, *, memory: int = 512):
        self.folder = folder
        self.card = card
        self.running = []
        self.port = free_port()
        network = (
            "-netdev", f"user,id=control,net=10.0.3.0/24,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-10.0.3.15:7001",
            "-device", "virtio-net-pci,netdev=control,mac=52:54:00:00:00:01,romfile=",
            "-netdev", "user,id=uplink,net=10.0.2.0/24",
            "-device", "virtio-net-pci,id=uplink-card,netdev=uplink,mac=52:54:00:00:00:02,romfile=",
        )  # fmt: skip
        slot = (
            "-drive", f"file={card.path},format=raw,if=none,id=slot",
            "-device", "sdhci-pci", "-device", "sd-card,drive=slot", "-device", "virtio-rng-pci", "-device", "i6300esb",
        )  # fmt: skip
        # What the firmware of a Raspberry Pi does: it takes kernel and command line out of the first partition.
        for name in ("Image", "initramfs"):
            (folder / name).write_bytes(card.read(name))
        self.power_on = time.monotonic()
        self.machine = Machine(
            folder, kernel=folder / "Image", initramfs=self._initramfs(folder, {}),
            command_line=card.read("cmdline.txt").decode().strip(), device_tree=self._device_tree(memory),
            memory=memory, arguments=network + slot,
        )  # fmt: skip

    def _initramfs(self, source: Path, files: dict[str, Path]) -> Path:
        first = (source / "initramfs").read_bytes()
        stage = self.folder / "handed-over"
        shutil.rmtree(stage, ignore_errors=True)
        shutil.copytree(CHECKOUT / "board/virtual-card/guest", stage / "board")
        shutil.copy2(RECIPE / "guest/agent", stage / "board/agent")
        names = "\n".join(str(path.relative_to(stage)) for path in sorted(stage.rglob("*")))
        packed = subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=stage, input=names.encode(), check=True,
            stdout=subprocess.PIPE,
        ).stdout  # fmt: skip
        result = self.folder / "initramfs-with-tests"
        result.write_bytes(first + bytes(-len(first) % 4) + packed)
        return result

    @property
    def console(self) -> str:
        return self.machine.console.read_text(errors="replace") if self.machine.console.exists() else ""

    def wait_for_console(self, text: str, timeout: float = 120) -> float:
        """Seconds since power-on."""
        self.machine.wait_for_console(text, timeout)
        return time.monotonic() - self.power_on

    def wait_for_agent(self) -> None:
        self._wait_for_agent()

    def status(self) -> dict:
        return json.loads(self.run("tallycam status --json").text)

    def wait_for_state(self, state: str, timeout: float = 60) -> dict:
        deadline = time.monotonic() + timeout
        while True:
            status = self.run("tallycam status --json", check=False)
            if status.status == 0 and json.loads(status.text)["state"] == state:
                return json.loads(status.text)
            assert time.monotonic() < deadline, f"not {state} but {status.text}\n{self.console[-3000:]}"
            time.sleep(0.3)

    def wait_until(self, condition: str, timeout: float) -> None:
        """Until a shell command of the guest succeeds."""
        deadline = time.monotonic() + timeout
        while self.run(condition, check=False).status != 0:
            assert time.monotonic() < deadline, f"not within {timeout} s: {condition}"
            time.sleep(0.2)

    def edit(self, name: str, content: bytes | str | dict) -> None:
        """Changes a file of the boot partition from within. The camera mounts it read-only again when it has written
        something itself, perhaps just now."""
        data = json.dumps(content) if isinstance(content, dict) else content
        script = (
            f"cat >/tmp/edit; n=0; until cmp -s /tmp/edit /boot/{name} || [ $n = 50 ]; do n=$((n + 1));"
            f" mount -o remount,rw /boot && cat /tmp/edit >/boot/{name} && sync; sleep 0.1; done 2>/dev/null;"
            f" mount -o remount,ro /boot; cmp /tmp/edit /boot/{name}"
        )
        self.run(script, stdin=data if isinstance(data, bytes) else data.encode())

    def click(self, seconds: float = 0.2) -> None:
        """One press of the button, timed in the guest."""
        line = self._line("GPIO17")
        self.run(f"echo pull-down > $(echo {line}/pull); sleep {seconds}; echo pull-up > $(echo {line}/pull)")

    def lamp(self, line: str, seconds: float) -> list[tuple[bool, float]]:
        """How a lamp was lit for a while: levels in turn, each with how long it lasted, the first and last cut off."""
        path = self._line(line)
        script = (
            f"f=$(echo {path}/value); end=$(( $(cut -d. -f1 /proc/uptime) + {int(seconds) + 1} ));"
            " while [ $(cut -d. -f1 /proc/uptime) -lt $end ]; do read v < $f; read t r < /proc/uptime; echo $t $v; done"
        )
        samples = [line.split() for line in self.run(script, timeout=seconds + 60).text.splitlines()]
        runs: list[tuple[bool, float, float]] = []
        for time_text, value in samples:
            lit, now = value == "1", float(time_text)
            if runs and runs[-1][0] == lit:
                runs[-1] = (lit, runs[-1][1], now)
            else:
                runs.append((lit, runs[-1][2] if runs else now, now))
        return [(lit, end - begin) for lit, begin, end in runs]

    def wait_for_end(self, timeout: float = 40) -> None:
        """The machine has switched itself off."""
        self.machine.process.wait(timeout)

    def cut_power(self) -> None:
        self.machine.process.kill()
        self.machine.process.wait()
