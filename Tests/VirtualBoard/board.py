"""The virtual board: boots the guest of board/virtual, runs commands in it, presses its button, shapes its network.

    with Board(folder) as board:
        board.run("v4l2-ctl --list-devices").text
        camera = board.start("exec tallycam publish ...")     # goes on by itself; camera.end() ends it
        board.press("GPIO17"); board.is_high("GPIO27")
        board.shape(rate="1mbit"); board.cut(); board.restore()

The guest reaches the host's loopback at HOST, over the network that can be shaped and cut. Commands take another way.
"""

import base64
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from qemu import Machine

CHECKOUT = Path(__file__).resolve().parents[2]
RECIPE = CHECKOUT / "board/virtual"
TALLYCAM = CHECKOUT / "out/aarch64/tallycam"
HOST = "10.0.2.2"
DISPLAY = "screen"
# What the kernel would do for its safety costs up to a tenth of an emulated processor's time.
LEAN = "init_on_alloc=0 init_on_free=0 apparmor=0 audit=0 nokaslr randomize_kstack_offset=off"


def parts() -> Path:
    """The folder with kernel, initramfs and root file system; made on first use."""
    words = [str(CHECKOUT / "scripts/board-parts")]
    return Path(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.strip())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Output:
    status: int
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")


class GuestCommandFailed(AssertionError):
    pass


class Board:
    def __init__(
        self, folder: Path, *, memory: int = 768, kernel_words: str = "", files: dict[str, Path] | None = None,
        interactive: bool = False, counts_instructions: bool = False, display: bool = False,
    ):  # fmt: skip
        """`files` are put into the guest's /board at boot, by their names there; MB of memory; words for the kernel; a card with
        one display, which `screenshot` sees."""
        self.folder = folder
        # One processor where instructions are counted: two would take turns, each for as long as QEMU likes.
        self.processors = 1 if counts_instructions else 2
        self.running: list[GuestProcess] = []
        source = parts()
        self.port = free_port()
        network = (
            "-netdev", f"user,id=control,net=10.0.3.0/24,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-10.0.3.15:7001",
            "-device", "virtio-net-pci,netdev=control,mac=52:54:00:00:00:01,romfile=",
            "-netdev", "user,id=uplink,net=10.0.2.0/24",
            "-device", "virtio-net-pci,id=uplink-card,netdev=uplink,mac=52:54:00:00:00:02,romfile=",
        )  # fmt: skip
        disk = (
            "-drive", f"file={source / 'root.squashfs'},format=raw,if=none,id=root,readonly=on",
            "-device", "virtio-blk-pci,drive=root", "-device", "virtio-rng-pci", "-device", "i6300esb",
        )  # fmt: skip
        card = ("-device", f"virtio-gpu-pci,id={DISPLAY}") if display else ()
        start = time.monotonic()
        self.machine = Machine(
            folder, kernel=source / "Image", initramfs=self._initramfs(source, files or {}),
            command_line=f"console=ttyAMA0 quiet loglevel=4 panic=-1 {LEAN} {kernel_words}",
            device_tree=self._device_tree(memory), memory=memory, processors=self.processors,
            arguments=network + disk + card, interactive=interactive, counts_instructions=counts_instructions,
        )  # fmt: skip
        if interactive:
            return
        try:
            self.machine.wait_for_console("virtual board: ready", 180)
            self._wait_for_agent()
        except BaseException:
            self.close()
            raise
        self.boot_seconds = time.monotonic() - start

    def _initramfs(self, source: Path, files: dict[str, Path]) -> Path:
        """The prepared one, and behind it what changes from boot to boot."""
        stage = self.folder / "handed-over"
        shutil.rmtree(stage, ignore_errors=True)
        shutil.copytree(RECIPE / "guest", stage / "board")
        for name, path in files.items():
            shutil.copy2(path, stage / "board" / name)
        names = "\n".join(str(path.relative_to(stage)) for path in sorted(stage.rglob("*")))
        packed = subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=stage, input=names.encode(), check=True,
            stdout=subprocess.PIPE,
        ).stdout  # fmt: skip
        first = (source / "initramfs").read_bytes()
        result = self.folder / "initramfs"
        result.write_bytes(first + bytes(-len(first) % 4) + packed)
        shutil.rmtree(stage)
        return result

    def _device_tree(self, memory: int) -> Path:
        base, overlay, result = (self.folder / name for name in ("virt.dtb", "board.dtbo", "board.dtb"))
        words = Machine.words(memory, self.processors)
        words[2] = f"virt,dumpdtb={base}"
        for command in (
            words + ["-display", "none", "-nodefaults"],
            ["dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o", str(overlay), str(RECIPE / "zero-2-w.dtso")],
            ["fdtoverlay", "-i", str(base), "-o", str(result), str(overlay)],
        ):  # fmt: skip
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return result

    def _wait_for_agent(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                self.run("true", timeout=10)
                return
            except (OSError, GuestCommandFailed, TimeoutError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.3)

    # Commands and files.

    def start(self, script: str, stdin: bytes = b"") -> "GuestProcess":
        process = GuestProcess(self, script, stdin)
        self.running.append(process)
        return process

    def run(self, script: str, *, stdin: bytes = b"", timeout: float = 60, check: bool = True) -> Output:
        """Runs a shell script in the guest; its standard output and error together."""
        output = self.start(script, stdin).wait(timeout)
        if check and output.status != 0:
            raise GuestCommandFailed(f"{script}\nended with status {output.status}:\n{output.text[-4000:]}")
        return output

    def put(self, path: str, content: bytes | str | Path, mode: str = "644") -> None:
        data = content.read_bytes() if isinstance(content, Path) else content
        data = data.encode() if isinstance(data, str) else data
        self.run(f"cat > '{path}' && chmod {mode} '{path}'", stdin=data, timeout=120)

    def get(self, path: str) -> bytes:
        return self.run(f"cat '{path}'", timeout=300).data

    def end_all(self) -> None:
        """Ends what a test has left running."""
        for process in self.running:
            process.end()
        self.running.clear()

    # GPIO lines, by the names of the board's lines.

    def _line(self, name: str) -> str:
        offset = {"ID_SDA": 0, "ID_SCL": 1, "HDMI_HPD_N": 28, "STATUS_LED_N": 29}.get(name)
        if offset is None:
            offset = int(re.fullmatch(r"GPIO(\d+)", name)[1])
        return f"/sys/devices/platform/gpio-sim*/gpiochip*/sim_gpio{offset}"

    def pull(self, line: str, direction: str) -> None:
        self.run(f"echo pull-{direction} > $(echo {self._line(line)}/pull)")

    def press(self, line: str) -> None:
        """To ground, as a button does that is wired to it."""
        self.pull(line, "down")

    def release(self, line: str) -> None:
        self.pull(line, "up")

    def is_high(self, line: str) -> bool:
        return self.run(f"cat {self._line(line)}/value").text.strip() == "1"

    # The network between guest and host.

    def shape(
        self, rate: str | None = None, delay: str | None = None, loss: str | None = None, reorder: str | None = None
    ) -> None:
        """Limits what the guest sends: `rate` and `delay` in tc's words (1mbit, 50ms), `loss` in percent (5%), and how many
        packets `reorder` lets go before those that are delayed (25%)."""
        self.unshape()
        parent = "root"
        if delay or loss:
            words = (f" delay {delay}" if delay else "") + (f" loss {loss}" if loss else "")
            words += f" reorder {reorder}" if reorder else ""
            self.run(f"tc qdisc add dev uplink root handle 1: netem limit 5000{words}")
            parent = "parent 1:"
        if rate:
            self.run(f"tc qdisc add dev uplink {parent} handle 2: tbf rate {rate} burst 16kb latency 2s")

    def shape_ingress(self, rate: str | None = None, delay: str | None = None, loss: str | None = None) -> None:
        """Limits what the guest receives, in the same words: it goes through a device of its own for that."""
        self.unshape_ingress()
        words = (f" delay {delay}" if delay else "") + (f" loss {loss}" if loss else "") + (f" rate {rate}" if rate else "")
        self.run(
            "ip link add ingress type ifb && ip link set ingress up && tc qdisc add dev uplink ingress && "
            "tc filter add dev uplink ingress matchall action mirred egress redirect dev ingress && "
            f"tc qdisc add dev ingress root netem limit 5000{words}"
        )

    def unshape_ingress(self) -> None:
        self.run("tc qdisc del dev uplink ingress 2>/dev/null; ip link del ingress 2>/dev/null || true")

    def unshape(self) -> None:
        self.run("tc qdisc del dev uplink root 2>/dev/null || true")

    def cut(self) -> None:
        """Takes the cable out: the guest sees its carrier go."""
        self.machine.monitor("set_link", name="uplink-card", up=False)

    def restore(self) -> None:
        self.machine.monitor("set_link", name="uplink-card", up=True)

    def screenshot(self) -> Path:
        """What the display shows, as a PPM."""
        path = self.folder / "screen.ppm"
        path.unlink(missing_ok=True)
        self.machine.monitor("screendump", filename=str(path), device=DISPLAY)
        return path

    def swallow(self) -> None:
        """Nothing gets through in either direction, and nobody learns of it."""
        self.shape(loss="100%")

    def close(self) -> None:
        self.machine.close()

    def __enter__(self) -> "Board":
        return self

    def __exit__(self, *_) -> None:
        self.close()


class GuestProcess:
    """A script that runs in the guest. What it writes is collected by a thread."""

    def __init__(self, board: Board, script: str, stdin: bytes):
        self.board = board
        self.script = script
        self._received = bytearray()
        self._changed = threading.Condition()
        self._ended = False
        self._connection = socket.create_connection(("127.0.0.1", board.port), timeout=30)
        self._connection.settimeout(None)
        threading.Thread(target=self._collect, args=(stdin,), daemon=True).start()

    def _collect(self, stdin: bytes) -> None:
        try:
            threading.Thread(target=self._feed, args=(stdin,), daemon=True).start()
            while data := self._connection.recv(65536):
                with self._changed:
                    self._received += data
                    self._changed.notify_all()
        except OSError:
            pass
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _feed(self, stdin: bytes) -> None:
        try:
            self._connection.sendall(base64.b64encode(self.script.encode()) + b"\n" + stdin)
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    @property
    def has_ended(self) -> bool:
        return self._ended

    @property
    def pid(self) -> int:
        self.wait_until(lambda data: b"\n" in data, 30)
        return int(bytes(self._received).split(b"\n", 1)[0])

    @property
    def text(self) -> str:
        """What it has written so far."""
        with self._changed:
            data = bytes(self._received)
        return data.partition(b"\n")[2].partition(b"\0")[0].decode(errors="replace")

    def wait_until(self, condition, timeout: float) -> None:
        """`condition` is asked with all the bytes so far, each time that more have come."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not condition(bytes(self._received)):
                if self._ended or not self._changed.wait(deadline - time.monotonic()):
                    what = "ended" if self._ended else f"not within {timeout} s"
                    said = bytes(self._received[-3000:]).decode(errors="replace")
                    raise TimeoutError(f"{self.script}: {what}; it wrote:\n{said}")

    def wait_for(self, pattern: str, timeout: float) -> re.Match:
        """Waits for a regular expression in what it writes."""
        compiled = re.compile(pattern.encode(), re.MULTILINE)
        self.wait_until(lambda data: compiled.search(data.partition(b"\n")[2]), timeout)
        return re.search(pattern, self.text, re.MULTILINE)

    def wait(self, timeout: float) -> Output:
        deadline = time.monotonic() + timeout
        with self._changed:
            while not self._ended:
                if not self._changed.wait(max(0, deadline - time.monotonic())) and time.monotonic() > deadline:
                    raise TimeoutError(
                        f"{self.script}: still running after {timeout} s; it wrote:\n"
                        + bytes(self._received[-3000:]).decode(errors="replace")
                    )
            data = bytes(self._received)
        body, separator, status = data.partition(b"\n")[2].rpartition(b"\0")
        if not separator:
            raise GuestCommandFailed(f"{self.script}: the connection broke off after {data[-2000:]!r}")
        return Output(int(status), body)

    def signal(self, name: str) -> None:
        self.board.run(f"kill -{name} {self.pid}", check=False)

    def end(self) -> None:
        """Kills it if it still runs."""
        if not self._ended:
            self.signal("KILL")
            with self._changed:
                self._changed.wait_for(lambda: self._ended, 10)
        self._connection.close()


def shell() -> None:
    """The guest for a person: its console here, everything gone at the end."""
    folder = CHECKOUT / "out/board-shell"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = {"tallycam": TALLYCAM} if TALLYCAM.exists() else {}
    print("virtual board: poweroff ends it; the host's loopback is 10.0.2.2", file=sys.stderr)
    board = Board(folder, files=files | built_modules(), interactive=True)
    status = board.machine.process.wait()
    raise SystemExit(status)


def built_modules() -> dict[str, Path]:
    """The kernel modules of the encoder and of the Raspberry Pi's camera, built from the present source."""
    if not (RECIPE / "encoder/Kbuild").exists():
        return {}
    words = [str(CHECKOUT / "scripts/board-parts"), "--modules"]
    paths = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return dict(zip(("encoder.ko", "pi-camera.ko"), map(Path, paths), strict=True))


if __name__ == "__main__":
    os.chdir(CHECKOUT)
    shell()
