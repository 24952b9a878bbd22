"""How long a board's card takes from the kernel's start to the console's prompt, by stage, in QEMU's Raspberry Pi 3B.

Started by `make bench-boot`. Each instruction of the guest takes a nanosecond of its time, and a waiting guest skips to the end
of its wait. The console is read from outside, so a busy machine can add some hundredths of a second. The times are those of
instructions and of the guest's own waits.
"""

import argparse
import gzip
import json
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

# The chip's counter of microseconds since the start.
COUNTER = 0x3F003004
START = CHECKOUT / "rootfs-overlay/etc/init.d"
# What the console shows at the end of a stage.
STAGES = {
    "kernel": "stage: initramfs", "initramfs": "stage: root", "mounts": "stage: mounts",
    **{path.name: f"stage: {path.name}" for path in sorted(START.glob("S*"))}, "program, to its prompt": "tallycam> ",
}  # fmt: skip
PROMPT = list(STAGES.values())[-1]
LONGEST = 600


def marked(initramfs: bytes, init: str) -> bytes:
    """The initramfs, whose init reports its start and its end, and puts a start script in place that reports its steps."""
    lines = init.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    lines.insert(first, "echo 'stage: initramfs'\n")
    last = next(number for number, line in enumerate(lines) if line.startswith("exec") and "switch_root" in line)
    lines.insert(last, "$bb cp /rcS /root/dev/rcS; $bb mount --bind /root/dev/rcS /root/etc/init.d/rcS; echo 'stage: root'\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("init", "".join(lines)), ("rcS", reporting((START / "rcS").read_text()))):
            path = Path(folder) / name
            path.write_text(text)
            path.chmod(0o755)
        added = subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=folder, input=b"init\nrcS\n", check=True, stdout=subprocess.PIPE
        ).stdout  # fmt: skip
    return initramfs + bytes(-len(initramfs) % 4) + gzip.compress(added)


def reporting(script: str) -> str:
    """The card's start script, which reports the mounts and each script after it."""
    loop, call = "for script in ", '"$script" start\n'
    assert script.count(loop) == 1 and script.count(call) == 1
    script = script.replace(loop, f"echo 'stage: mounts' >/dev/console\n{loop}")
    return script.replace(call, f'{call}    echo "stage: ${{script##*/}}" >/dev/console\n')


class MeasuredBoot:
    def __init__(self, folder: Path, card: Card, loaded: Loaded):
        self.console, control = folder / "console", folder / "qmp"
        self.process = subprocess.Popen([
            "qemu-system-aarch64", "-M", RASPI3B.name, "-accel", "tcg,thread=single,tb-size=256", "-icount", "shift=0,sleep=off",
            "-display", "none", "-no-reboot", "-kernel", loaded.kernel, "-initrd", loaded.initramfs, "-dtb", loaded.device_tree,
            "-append", loaded.command_line, *(word.format(card=card.path) for word in RASPI3B.slot), "-nic", "none",
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

    def stages(self) -> dict[str, float]:
        """Seconds from the start to the end of each stage."""
        ends, deadline = {}, time.monotonic() + LONGEST
        while len(ends) < len(STAGES):
            assert time.monotonic() < deadline and self.process.poll() is None, self.console.read_text(errors="replace")[-2000:]
            shown = self.console.read_text(errors="replace") if self.console.exists() else ""
            for name, mark in STAGES.items():
                if name not in ends and mark in shown:
                    ends[name] = self.microseconds() / 1e6
            time.sleep(0.005)
        return ends

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def measure(image: Path, init: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        card = Card(folder, image)
        description = json.loads((CHECKOUT / "board/rpi3/board.json").read_text())
        # QEMU restarts the machine as soon as a watchdog is started.
        del description["watchdog"]
        card.write("board.json", description)
        card.write("device.json", {"camera": "synthetic", "dimension": "320x240"})
        loaded = load(card, folder, RASPI3B.trees)
        fit(loaded, RASPI3B)
        loaded.initramfs.write_bytes(marked(loaded.initramfs.read_bytes(), init))
        boot = MeasuredBoot(folder, card, loaded)
        try:
            return boot.stages()
        finally:
            boot.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    image = make_board_image("rpi3")
    init = (CHECKOUT / "board/common/initramfs-init").read_text()
    runs = [measure(image, init) for _ in range(arguments.runs)]
    before = 0.0
    for name in STAGES:
        end = min(run[name] for run in runs)
        print(f"{name:24} {end - before:6.2f} s")
        before = end
    print(f"{'to the prompt':24} {before:6.2f} s")


if __name__ == "__main__":
    main()
