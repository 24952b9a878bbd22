"""A board that runs from the SD card image. Everything is the card's own, except for a shell that the tests use."""

import json
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from board import AGENT, CHECKOUT, HOST, LEAN, Board, built_modules, free_port
from guest_programs import compile_for_guest
from made import made
from qemu import Machine
from waiting import PATIENCE, wait_until

IMAGE = CHECKOUT / "out/virtual/sdcard.img"
# device.json of most tests, and one for vivid. A camera's frames are in the driver's memory, and only the encoder asks for
# more.
SMALL = {
    "camera": "synthetic", "dimension": "320x240",
    "quality": {"lowest": "Low1", "start": "Low3", "highest": "Low3"}, "torch": "live",
}  # fmt: skip
VIVID_DEVICE = {
    **SMALL, "camera": "/dev/video0", "audio": {"source": "silence"}, "dimension": "640x480", "statusInterval": 1,
}  # fmt: skip
# For the stream and for its recording.
NAME = "card"
# The programs in board/virtual-card/guest that run before the card's own: the image has nothing of the tests.
HANDED_OVER = "rdinit=/board/early init=/dev/board/go"
# A folder that is there from the start. The card's system mounts /proc and its own /tmp while the tests may already be waiting.
GUEST_FOLDER = "/dev/board"
# A pipe for the card's shell that never carries data.
PAUSE = f"[ -p {GUEST_FOLDER}/pause ] || mkfifo {GUEST_FOLDER}/pause; exec 3<>{GUEST_FOLDER}/pause;"


def server(port: int) -> dict:
    """stream.json for nginx at that port of the host."""
    return {"url": f"rtmp://{HOST}:{port}/live", "key": NAME}


def make_image() -> Path:
    """The card's image with the current program."""
    made("scripts/image-virtual")
    return IMAGE


def make_board_image(board: str) -> Path:
    """The image of a real board, with the current program and Debian's kernel."""
    folder = CHECKOUT / "out/test-images" / board
    subprocess.run(
        [str(CHECKOUT / "scripts/image"), "--kernel", "debian", "--output", str(folder.relative_to(CHECKOUT)), board],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return folder / "sdcard.img"


class Card:
    """A card for one board: a copy of the image. Its boot partition is read and written from outside."""

    def __init__(self, folder: Path, image: Path, *, megabytes: int = 512):
        self.folder = folder
        self.path = folder / "sdcard.img"
        subprocess.run(["cp", "--sparse=always", str(image), str(self.path)], check=True)
        # QEMU's cards have sizes of powers of two.
        with open(self.path, "r+b") as file:
            file.truncate(megabytes << 20)
        self.offset = self.entry(0)[0] * 512

    def entry(self, number: int) -> tuple[int, int]:
        """First sector and number of sectors, from the partition table."""
        with open(self.path, "rb") as file:
            file.seek(446 + 16 * number + 8)
            return int.from_bytes(file.read(4), "little"), int.from_bytes(file.read(4), "little")

    def _mtools(self, *words: str, **options) -> subprocess.CompletedProcess:
        command, *rest = words
        return subprocess.run(
            [command, "-i", f"{self.path}@@{self.offset}", *rest], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )

    def names(self) -> set[str]:
        return {line.removeprefix("::/") for line in self._mtools("mdir", "-b", "::").stdout.decode().split("\n") if line}

    def all_names(self) -> set[str]:
        """Of files in all folders."""
        listing = self._mtools("mdir", "-b", "-/", "::").stdout.decode().splitlines()
        return {line.removeprefix("::/") for line in listing if line and not line.endswith("/")}

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

    def __init__(
        self, folder: Path, card: Card, *, memory: int = 512, clock: str | None = None, drive: tuple[str, ...] | None = None,
        devices: tuple[str, ...] = (),
    ):
        """`clock` is the machine's clock at power-on, such as 2001-02-03; with `None`, it is the host's time. `drive` is what
        QEMU has between the slot and the card, under the name `slot`. `devices` are more of QEMU's arguments."""
        self.folder = folder
        self.card = card
        self.processors = 2
        self.running = []
        self.port = free_port()
        # The page, from the host.
        self.page_port = free_port()
        network = (
            "-netdev", f"user,id=control,net=10.0.3.0/24,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-10.0.3.15:7001",
            "-device", "virtio-net-pci,netdev=control,mac=52:54:00:00:00:01,romfile=",
            "-netdev", f"user,id=uplink,net=10.0.2.0/24,hostfwd=tcp:127.0.0.1:{self.page_port}-:80",
            "-device", "virtio-net-pci,id=uplink-card,netdev=uplink,mac=52:54:00:00:00:02,romfile=",
        )  # fmt: skip
        # QEMU asks each of a drive's layers for each byte whether it is still there, so there is only one.
        slot = (
            *(drive or ("-blockdev", f"driver=file,node-name=slot,filename={card.path}")),
            "-device", "sdhci-pci", "-device", "sd-card,drive=slot", "-device", "virtio-rng-pci", "-device", "i6300esb",
        )  # fmt: skip
        # This is what the firmware of a Raspberry Pi does: it reads kernel and command line from the first partition.
        for name in ("Image", "initramfs"):
            (folder / name).write_bytes(card.read(name))
        self.machine = Machine(
            folder, kernel=folder / "Image", initramfs=self._initramfs(folder, {}),
            command_line=f"{card.read('cmdline.txt').decode().strip()} {HANDED_OVER} {LEAN}",
            device_tree=self._device_tree(memory), memory=memory, processors=self.processors,
            arguments=network + slot + devices + (("-rtc", f"base={clock}") if clock else ()),
        )  # fmt: skip

    def _initramfs(self, source: Path, files: dict[str, Path]) -> Path:
        first = (source / "initramfs").read_bytes()
        stage = self.folder / "handed-over"
        shutil.rmtree(stage, ignore_errors=True)
        shutil.copytree(CHECKOUT / "board/virtual-card/guest", stage / "board")
        compile_for_guest(AGENT, stage / "board")
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

    def wait_for_agent(self) -> None:
        self._wait_for_agent()

    @property
    def is_running(self) -> bool:
        return self.machine.process.poll() is None

    def status(self) -> dict:
        return json.loads(self.run("tallycam status --json").text)

    def wait_for_state(self, state: str, timeout: float = 60) -> dict:
        answer = f"{GUEST_FOLDER}/status"
        asking = f"tallycam status --json >{answer} 2>&1 && grep -q '^{{\"state\": *\"{state}\"' {answer}"
        ended = self.run(f"{self._waiting(asking, timeout)}; cat {answer}", timeout=timeout + 30, check=False)
        assert ended.status == 0, f"not {state} but {self.run(f'cat {answer}').text}\n{self.console[-3000:]}"
        return json.loads(ended.text)

    def load_camera(self) -> None:
        """vivid with memory that an encoder can read."""
        self.run("modprobe vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0x0 vid_cap_nr=0 allocators=1")

    def load_encoder(self) -> None:
        """The virtual board's hardware encoder, which the card's image does not contain."""
        self.put("/tmp/encoder.ko", built_modules()["encoder.ko"])
        self.run("modprobe v4l2-mem2mem && modprobe videobuf2-vmalloc && insmod /tmp/encoder.ko")

    def wait_until(self, condition: str, timeout: float, otherwise: Callable[[], str] = lambda: "") -> None:
        """Waits until a shell command succeeds in the guest. `otherwise` describes what the host knows if it never does."""
        ended = self.run(self._waiting(condition, timeout), timeout=timeout + 30, check=False)
        assert ended.status == 0, f"not within {PATIENCE} times {timeout} s: {condition}; {otherwise()}"

    @staticmethod
    def _waiting(condition: str, timeout: float) -> str:
        """A script that polls inside the guest, since each command from outside costs the guest more than most conditions.
        Reading the pipe with a timeout replaces sleep, which would be one more program to start. An idle guest's clock follows
        the host's, whose servers may be slow, so this wait has the host's patience, too."""
        return (
            f"{PAUSE} until read t r </proc/uptime; do read -t 0.1 w <&3; done 2>/dev/null;"
            f" end=$((${{t%.*}} + {math.ceil(PATIENCE * timeout)}));"
            f" until {{ {condition}; }}; do read t r </proc/uptime; [ ${{t%.*}} -lt $end ] || exit 1;"
            " read -t 0.4 w <&3 || :; done"
        )

    def edit(self, name: str, content: bytes | str | dict) -> None:
        """Changes a file of the boot partition from inside the guest. The camera remounts the partition read-only after writing
        to it, possibly at this very moment."""
        data = json.dumps(content) if isinstance(content, dict) else content
        script = (
            "until grep -q ' /boot ' /proc/mounts; do sleep 0.1; done;"
            f" cat >/tmp/edit; n=0; until cmp -s /tmp/edit /boot/{name} || [ $n = 50 ]; do n=$((n + 1));"
            f" mount -o remount,rw /boot && cat /tmp/edit >/boot/{name} && sync; sleep 0.1; done 2>/dev/null;"
            f" mount -o remount,ro /boot; cmp /tmp/edit /boot/{name}"
        )
        self.run(script, stdin=data if isinstance(data, bytes) else data.encode())

    def click(self, seconds: float = 0.2) -> None:
        """Presses the button once, timed in the guest."""
        line = self._line("GPIO17")
        self.run(f"echo pull-down > $(echo {line}/pull); sleep {seconds}; echo pull-up > $(echo {line}/pull)")

    def lamp(self, line: str, seconds: float, pauses: int = 1000) -> list[tuple[bool, float]]:
        """How an LED was lit for a while: alternating levels with their durations, the first and last of them cut off. Ends
        early after the given number of pauses (dark for more than a second)."""
        script = (
            f"{PAUSE} f=$(echo {self._line(line)}/value); read t r </proc/uptime; end=$((${{t%.*}} + {int(seconds) + 1})); n=0; last=;"
            f" while [ ${{t%.*}} -lt $end ] && [ $n -lt {pauses} ]; do read v <$f; read t r </proc/uptime;"
            ' [ "$v" != "$last" ] || { read -t 0.02 w <&3; continue; }; now=${t%.*}${t#*.}; echo $t $v;'
            " [ \"$last\" != 0 ] || [ $((now - since)) -le 100 ] || n=$((n + 1)); last=$v; since=$now; done; echo $t $last"
        )
        samples = [line.split() for line in self.run(script, timeout=seconds + 60).text.splitlines()]
        changes = [(float(time_text), value == "1") for time_text, value in samples]
        return [(lit, after - start) for (start, lit), (after, _) in zip(changes, changes[1:])]

    def wait_for_end(self, timeout: float = 40) -> None:
        """Waits until the machine has switched itself off."""
        wait_until(lambda: not self.is_running, timeout, lambda: f"the machine still runs:\n{self.console[-3000:]}")

    def cut_power(self) -> None:
        self.machine.process.kill()
        self.machine.process.wait()


class Slot:
    """A card to be prepared, and the boards that were started from it."""

    def __init__(self, folder: Path, image: Path):
        self.card = Card(folder, image)
        self.folder = folder
        self.boards: list[CardBoard] = []

    def start(self, **options) -> CardBoard:
        self.boards.append(CardBoard(self.folder, self.card, **options))
        return self.boards[-1]

    def start_ready(self, files: dict, **options) -> CardBoard:
        for name, content in files.items():
            self.card.write(name, content)
        board = self.start(**options)
        board.wait_for_agent()
        board.wait_for_state("ready", 120)
        return board

    def close(self) -> None:
        for board in self.boards:
            board.close()


class SharedCardBoard:
    """One board for several tests in turn, and a new one when that board has ended."""

    def __init__(self, make_slot):
        self.make_slot = make_slot
        self.slot = None

    def ready(self, device: dict, stream: dict, network: dict | None = None) -> CardBoard:
        """The board, ready, with these files on the card."""
        files = {"device.json": device, "stream.json": stream, "network.json": network or {}}
        if self.slot is None or not self.slot.boards[-1].is_running:
            self.close()
            self.slot = self.make_slot()
            return self.slot.start_ready(files)
        board = self.slot.boards[-1]
        board.end_all()
        for name, content in files.items():
            board.edit(name, content)
        # The program looks at its files every two seconds.
        board.sleep(3)
        board.wait_for_state("ready", 60)
        return board

    def close(self) -> None:
        if self.slot is not None:
            self.slot.close()
            self.slot = None
