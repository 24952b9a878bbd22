"""The virtual board: boots the guest of board/virtual, runs commands in it, presses its button, shapes its network.

    with Board(folder) as board:
        board.run("v4l2-ctl --list-devices").text
        camera = board.start("exec tallycam publish ...")     # keeps running; camera.end() ends it
        board.press("GPIO17"); board.is_high("GPIO27")
        board.shape(rate="1mbit"); board.cut(); board.restore()

The guest reaches the host's loopback at HOST, over the network that can be shaped and cut. Commands take another way.
"""

import functools
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from guest_process import GuestCommandFailed, GuestProcess, Output
from guest_programs import compile_for_guest
from made import made
from qemu import Clock, Machine
from waiting import PATIENCE, NeverHappened, wait_until

CHECKOUT = Path(__file__).resolve().parents[2]
RECIPE = CHECKOUT / "board/virtual"
TALLYCAM = CHECKOUT / "out/aarch64/tallycam"
HOST = "10.0.2.2"
AGENT = RECIPE / "agent.c"
DISPLAY = "screen"
# Without security measures that are no part of what is tested (with KASLR, each system call empties QEMU's table of addresses
# and costs the host nine times as much), and without the kernel's tests of its own ciphers, entropy and probes at each start.
LEAN = (
    "init_on_alloc=0 init_on_free=0 lsm= audit=0 nokaslr randomize_kstack_offset=off cryptomgr.notests "
    "initcall_blacklist=jent_mod_init,init_kprobe_trace"
)


@functools.cache
def parts() -> Path:
    """The folder with kernel, initramfs and root file system, made on first use."""
    return Path(made("scripts/board-parts"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Board:
    def __init__(
        self, folder: Path, *, memory: int = 768, kernel_words: str = "", files: dict[str, Path] | None = None,
        interactive: bool = False, counts_instructions: bool = False, clock: Clock = Clock.OWN_TIME, display: bool = False,
        saved: Path | None = None,
    ):  # fmt: skip
        """Memory is in MB, `files` are put into the guest's /board at boot under the given names, and the kernel gets further
        words. A graphics card with one display can be added; `screenshot` captures it. `saved` is a folder that `save` has made
        for a board with the same arguments: this board continues from there instead of booting."""
        self.folder = folder
        # Only one processor where instructions are counted: two would take turns, each for as long as QEMU chooses.
        self.processors = 1 if counts_instructions else 2
        self.clock = Clock.HOST_TIME if interactive else Clock.INSTRUCTIONS if counts_instructions else clock
        self.running: list[GuestProcess] = []
        self.port = free_port()
        self._saved = saved or self._prepare(memory, files or {})
        source = parts()
        self.machine = Machine(
            folder, kernel=source / "Image", initramfs=self._saved / "initramfs",
            command_line=f"console=ttyAMA0 quiet loglevel=4 panic=-1 {LEAN} {kernel_words}",
            device_tree=self._saved / "board.dtb", memory=memory, processors=self.processors,
            arguments=self._devices(source, display), interactive=interactive, clock=self.clock,
            state=saved / "state" if saved else None,
        )  # fmt: skip
        if interactive:
            return
        try:
            if saved:
                self.machine.go_on()
                self._wait_for_agent()
                self._take_date_and_chance()
            else:
                self.machine.wait_for_console("virtual board: ready", 180)
                self._wait_for_agent()
                (folder / "boot-seconds").write_text(str(self.seconds))
        except BaseException:
            self.close()
            raise

    @property
    def boot_seconds(self) -> float:
        """The duration of the boot by the guest's own clock, until the agent answered."""
        return float((self._saved / "boot-seconds").read_text())

    def save(self) -> None:
        """Saves the board's state into its folder, which ends the board. Other boards can continue from there."""
        self.machine.save(self.folder / "state")

    def _devices(self, source: Path, display: bool) -> tuple[str, ...]:
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
        return network + disk + card

    def _prepare(self, memory: int, files: dict[str, Path]) -> Path:
        """Puts together what a boot needs besides the parts, in the board's folder."""
        self._initramfs(parts(), files)
        self._device_tree(memory)
        return self.folder

    def _initramfs(self, source: Path, files: dict[str, Path]) -> Path:
        """The prepared initramfs, followed by what changes from boot to boot."""
        stage = self.folder / "handed-over"
        shutil.rmtree(stage, ignore_errors=True)
        shutil.copytree(RECIPE / "guest", stage / "board")
        compile_for_guest(AGENT, stage / "board")
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
        words = Machine.words(memory, self.processors, Clock.HOST_TIME)
        words[2] = f"virt,dumpdtb={base}"
        for command in (
            words + ["-display", "none", "-nodefaults"],
            ["dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o", str(overlay), str(RECIPE / "zero-2-w.dtso")],
            ["fdtoverlay", "-i", str(base), "-o", str(result), str(overlay)],
        ):  # fmt: skip
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return result

    def _wait_for_agent(self) -> None:
        wait_until(self._is_answered, 60, lambda: f"no answer from the guest; see {self.machine.console}", interval=0.3)

    def _is_answered(self) -> bool:
        """A connection attempt while the guest has no network may get no answer at all. Another one is made after ten
        seconds."""
        attempt = None
        try:
            attempt = self.start("true")
            attempt.wait(10 / PATIENCE)
            return True
        except (OSError, GuestCommandFailed, NeverHappened):
            if self.machine.process.poll() is not None:
                raise
            return False
        finally:
            if attempt:
                attempt.abandon()
                self.running.remove(attempt)

    def _take_date_and_chance(self) -> None:
        """Boards that continue from the same saved board have its date and its random numbers. The kernel mixes this into its
        own random numbers within seconds."""
        self.run(f"date -u -s @{time.time():.0f} >/dev/null; cat >/dev/urandom", stdin=os.urandom(64))

    # The guest's own clock.

    @property
    def seconds(self) -> float:
        """Seconds since power-on."""
        return float(self.run("read up idle </proc/uptime; echo $up").text)

    def sleep(self, seconds: float) -> None:
        """Waits until this much time has passed in the guest."""
        self.run(f"sleep {seconds:.2f}", timeout=seconds + 60)

    # Commands and files.

    def start(self, script: str, stdin: bytes = b"") -> "GuestProcess":
        process = GuestProcess(self, script, stdin)
        self.running.append(process)
        return process

    def run(self, script: str, *, stdin: bytes = b"", timeout: float = 60, check: bool = True) -> Output:
        """Runs a shell script in the guest, and returns its standard output and error together."""
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
        """Connects the line to ground, as a pressed button does that is wired to it."""
        self.pull(line, "down")

    def release(self, line: str) -> None:
        self.pull(line, "up")

    def is_high(self, line: str) -> bool:
        return self.run(f"cat {self._line(line)}/value").text.strip() == "1"

    # The network between guest and host.

    def shape(
        self, rate: str | None = None, delay: str | None = None, loss: str | None = None, reorder: str | None = None
    ) -> None:
        """Limits what the guest sends: `rate` and `delay` in tc's notation (1mbit, 50ms), `loss` in percent (5%). With
        `reorder`, the given share of packets (25%) is sent without delay, ahead of the delayed ones."""
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
        """Limits what the guest receives, with the same arguments. Incoming packets pass through a separate device for that."""
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
        """Pulls the network cable: the guest sees that the carrier is gone."""
        self.machine.monitor("set_link", name="uplink-card", up=False)

    def restore(self) -> None:
        self.machine.monitor("set_link", name="uplink-card", up=True)

    def screenshot(self) -> Path:
        """Captures the display's content as a PPM."""
        path = self.folder / "screen.ppm"
        path.unlink(missing_ok=True)
        self.machine.monitor("screendump", filename=str(path), device=DISPLAY)
        return path

    def swallow(self) -> None:
        """Drops everything in both directions, without telling either side."""
        self.shape(loss="100%")

    def close(self) -> None:
        self.machine.close()

    def __enter__(self) -> "Board":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def shell() -> None:
    """Runs the guest interactively, with its console here. Everything is removed at the end."""
    folder = CHECKOUT / "out/board-shell"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = {"tallycam": TALLYCAM} if TALLYCAM.exists() else {}
    print("virtual board: poweroff ends it; the host's loopback is 10.0.2.2", file=sys.stderr)
    board = Board(folder, files=files | built_modules(), interactive=True)
    status = board.machine.process.wait()
    raise SystemExit(status)


def built_modules() -> dict[str, Path]:
    """The kernel modules of the encoder and of the Raspberry Pi's camera, built from the current source."""
    if not (RECIPE / "encoder/Kbuild").exists():
        return {}
    paths = made("scripts/board-parts --modules").split()
    return dict(zip(("encoder.ko", "pi-camera.ko"), map(Path, paths), strict=True))


if __name__ == "__main__":
    os.chdir(CHECKOUT)
    shell()
