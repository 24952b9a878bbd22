"""How long a board's card takes from the kernel's start to the console's prompt and to its network, by stage, and from a press to
the first frame at a server, in QEMU's Raspberry Pi 3B.

Started by `make bench-boot`. Each instruction of the guest takes a nanosecond of its time, and a waiting guest skips to the end
of its wait. The console is read from outside, so a busy machine can add some hundredths of a second to the stages up to the
prompt. Network and press are marked by the guest's own kernel. The times are those of instructions and of the guest's own waits.
"""

import argparse
import contextlib
import gzip
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
sys.path.insert(0, str(CHECKOUT / "Tests/VirtualBoard"))
sys.path.insert(0, str(CHECKOUT / "Tests/Integration"))

from card import Card, make_board_image  # noqa: E402
from pi_firmware import Loaded, load  # noqa: E402
from raspi import RASPI3B, fit  # noqa: E402

ADAPTER = ("-netdev", "user,id=uplink,restrict=on", "-device", "usb-net,netdev=uplink")
SCRIPT = CHECKOUT / "rootfs-overlay/usr/share/udhcpc/default.script"

# The chip's counter of microseconds since the start.
COUNTER = 0x3F003004
START = CHECKOUT / "rootfs-overlay/etc/init.d"
# What the console shows at the end of a stage.
STAGES = {
    "kernel": "stage: initramfs", "initramfs": "stage: root", "mounts": "stage: mounts",
    **{path.name: f"stage: {path.name}" for path in sorted(START.glob("S*"))}, "program, to its prompt": "tallycam> ",
}  # fmt: skip
MEASURED = "stage: measured"
LONGEST = 600


def marked(initramfs: bytes, init: str) -> bytes:
    """The initramfs, whose init reports its start and its end, and puts scripts in place that report their steps."""
    lines = init.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    lines.insert(first, "echo 'stage: initramfs'\n")
    last = next(number for number, line in enumerate(lines) if line.startswith("exec") and "switch_root" in line)
    placed = {"rcS": "etc/init.d/rcS", "default.script": str(SCRIPT.relative_to(CHECKOUT / "rootfs-overlay"))}
    place = "".join(f"$bb mount --bind /root/dev/{name} /root/{path}; " for name, path in placed.items())
    lines.insert(last, f"$bb cp /press /rcS /default.script /root/dev/; {place}echo 'stage: root'\n")
    texts = {
        "init": "".join(lines), "rcS": reporting((START / "rcS").read_text()), "default.script": reporting_address(SCRIPT.read_text()),
        "press": Path(__file__).with_name("press").read_text(),
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = Path(folder) / name
            path.write_text(text)
            path.chmod(0o755)
        added = subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=folder, input="\n".join(texts).encode(), check=True,
            stdout=subprocess.PIPE,
        ).stdout  # fmt: skip
    return initramfs + bytes(-len(initramfs) % 4) + gzip.compress(added)


def reporting(script: str) -> str:
    """The card's start script, which reports the mounts and each script after it, and at last starts `press`."""
    loop, call = "for script in ", '"$script" start\n'
    assert script.count(loop) == 1 and script.count(call) == 1
    script = script.replace(loop, f"echo 'stage: mounts' >/dev/console; echo 'bench: mounts' >/dev/kmsg\n{loop}")
    return script.replace(call, f'{call}    echo "stage: ${{script##*/}}" >/dev/console\n') + "/dev/press >/dev/null 2>&1 &\n"


def reporting_address(script: str) -> str:
    """udhcpc's script, which reports an address once it is set and its gateway is in use."""
    bound = 'if [ "$1" = bound ]; then\n'
    assert script.count(bound) == 1
    return script.replace(bound, f"{bound}            echo 'bench: network' >/dev/kmsg\n")


class MeasuredBoot:
    def __init__(self, folder: Path, card: Card, loaded: Loaded, network: bool):
        self.console, control = folder / "console", folder / "qmp"
        self.process = subprocess.Popen([
            "qemu-system-aarch64", "-M", RASPI3B.name, "-accel", "tcg,thread=single,tb-size=256", "-icount", "shift=0,sleep=off",
            "-display", "none", "-no-reboot", "-kernel", loaded.kernel, "-initrd", loaded.initramfs, "-dtb", loaded.device_tree,
            "-append", loaded.command_line, *(word.format(card=card.path) for word in RASPI3B.slot), *(ADAPTER if network else ("-nic", "none")),
            "-qmp", f"unix:{control},server=on,wait=on", "-serial", f"file:{self.console}",
        ], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        while not control.exists():
            assert self.process.poll() is None, "QEMU has ended"
            time.sleep(0.01)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(control))
        self._monitor = connection.makefile("rw")
        self._monitor.readline()
        self._ask("qmp_capabilities")

    def _ask(self, command: str, **arguments) -> object:
        self._monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._monitor.flush()
        while "return" not in (answer := json.loads(self._monitor.readline())):
            assert "error" not in answer, answer
        return answer["return"]

    def microseconds(self) -> int:
        text = self._ask("human-monitor-command", **{"command-line": f"xp /1wx {COUNTER}"})
        return int(text.split(":")[1], 16)

    def stages(self, wanted: dict[str, str]) -> dict[str, float]:
        """Seconds from the start to the end of each stage."""
        ends, deadline = {}, time.monotonic() + LONGEST
        while len(ends) < len(wanted):
            assert time.monotonic() < deadline and self.process.poll() is None, self.shown[-2000:]
            shown = self.shown
            for name, mark in wanted.items():
                if name not in ends and mark in shown:
                    ends[name] = self.microseconds() / 1e6
            time.sleep(0.005)
        return ends

    @property
    def shown(self) -> str:
        return self.console.read_text(errors="replace") if self.console.exists() else ""

    def marks(self) -> dict[str, float]:
        """Seconds of the kernel's clock at what `press` has marked, for the first time each."""
        found = re.findall(r"\[ *(\d+\.\d+)\] bench: (\w+)", self.shown)
        return {name: float(at) for at, name in reversed(found)}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def started(image: Path, *, network: bool):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        card = Card(folder, image)
        description = json.loads((CHECKOUT / "board/rpi3/board.json").read_text())
        # QEMU restarts the machine as soon as a watchdog is started.
        del description["watchdog"]
        card.write("board.json", description)
        card.write("device.json", {"camera": "synthetic", "dimension": "320x240", "audio": {"source": "silence"}})
        card.write("stream.json", {"url": "rtmp://127.0.0.1/live", "key": "bench"})
        loaded = load(card, folder, RASPI3B.trees)
        fit(loaded, RASPI3B)
        init = (CHECKOUT / "board/common/initramfs-init").read_text()
        loaded.initramfs.write_bytes(marked(loaded.initramfs.read_bytes(), init))
        boot = MeasuredBoot(folder, card, loaded, network)
        try:
            yield boot
        finally:
            boot.close()


def measure(image: Path) -> dict[str, float]:
    """Without a network, which starts beside the stages up to the prompt."""
    with started(image, network=False) as boot:
        return boot.stages(STAGES)


def measure_press(image: Path) -> dict[str, float]:
    """Seconds from the start to the network's address, and from a press to what follows it."""
    with started(image, network=True) as boot:
        ends = boot.stages({"mounts": STAGES["mounts"], "measured": MEASURED})
        marks = boot.marks()
        since = {name: marks[name] - marks["pressed"] for name in ("camera", "accepted", "frame")}
        # The kernel's clock starts later than the machine's.
        return {"network": marks["network"] + ends["mounts"] - marks["mounts"], **since}


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--image", type=Path, help="another image of a Raspberry Pi 3 with Debian's kernel")
    arguments = parser.parse_args()
    count, image = arguments.runs, arguments.image or make_board_image("rpi3")
    before = 0.0
    for name, end in least([measure(image) for _ in range(count)]).items():
        print(f"{name:32} {end - before:6.2f} s")
        before = end
    print(f"{'to the prompt':32} {before:6.2f} s")
    press = least([measure_press(image) for _ in range(count)])
    print(f"{'to the network, USB Ethernet':32} {press['network']:6.2f} s")
    print("after a press, in the same run:")
    for name, text in (("accepted", "a server accepts the stream"), ("camera", "the camera's first frame"), ("frame", "it is at the server")):
        print(f"  {text:30} {press[name]:6.3f} s")


if __name__ == "__main__":
    main()
