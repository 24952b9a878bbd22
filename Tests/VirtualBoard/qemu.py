"""A QEMU virtual machine: started from kernel, initramfs and disks or from a saved state, and controlled through QMP, with its
console in a file."""

import json
import socket
import subprocess
import time
from enum import Enum
from pathlib import Path

from busy_host import imitate_busy_host
from waiting import deadline, wait_until


class Clock(Enum):
    """What a guest's clock follows, as QEMU options."""

    # Each instruction takes 2 ns of the guest's time, however slow emulation is. While the guest is idle, its clock follows the
    # host's. On a busy machine the guest's time passes more slowly, which changes nothing inside the guest.
    OWN_TIME = ("tcg,thread=single", "-icount", "shift=1")
    # The same with processors that are twice as fast, for work besides a large stream.
    QUICK_OWN_TIME = ("tcg,thread=single", "-icount", "shift=0")
    # As on real hardware: what is emulated too slowly is late. Two threads of the host emulate two processors.
    HOST_TIME = ("tcg,thread=multi",)
    # Each instruction takes 1 ns, and a waiting guest skips to the end of its wait. Times are purely those of instructions, and
    # the processor's own counter (`perf_event_open`) reports them. Nothing outside the guest can keep pace with it.
    INSTRUCTIONS = ("tcg,thread=single", "-icount", "shift=0,sleep=off")


class Machine:
    """`-M virt` with an ARM Cortex-A53, as slow as emulation is. Ends with `close`."""

    def __init__(
        self, folder: Path, *, kernel: Path, initramfs: Path, command_line: str, device_tree: Path | None = None,
        memory: int = 768, processors: int = 2, arguments: tuple[str, ...] = (), interactive: bool = False,
        clock: Clock = Clock.OWN_TIME, state: Path | None = None,
    ):  # fmt: skip
        """`folder` gets console.log and the control socket. `arguments` are QEMU's own, for disks and networks. With a saved
        `state` of a machine with the same arguments, this machine stands still at the saved point until `go_on`."""
        self.console = folder / "console.log"
        self._monitor = None
        control = folder / "qmp"
        words = self.words(memory, processors, clock) + [
            "-nodefaults", "-display", "none", "-no-reboot",
            "-kernel", str(kernel), "-initrd", str(initramfs), "-append", command_line,
            "-qmp", f"unix:{control},server=on,wait=off",
            *(("-dtb", str(device_tree)) if device_tree else ()), *arguments,
            *(("-incoming", f"file:{state}") if state else ()),
        ]  # fmt: skip
        if interactive:
            words += ["-chardev", f"stdio,id=console,signal=off,logfile={self.console}"]
        else:
            words += ["-chardev", f"file,id=console,path={self.console}"]
        words += ["-serial", "chardev:console"]
        with open(folder / "qemu.log", "w") as log:
            self.process = subprocess.Popen(
                words, stdin=None if interactive else subprocess.DEVNULL, stderr=None if interactive else log
            )
        imitate_busy_host(self.process)
        self._control = control

    @staticmethod
    def words(memory: int, processors: int, clock: Clock = Clock.OWN_TIME) -> list[str]:
        # MB of translated code; the default of a gigabyte is too much where several machines run at once.
        accelerator, *more = clock.value
        return [
            "qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a53", "-accel", f"{accelerator},tb-size=256", *more,
            "-smp", str(processors), "-m", str(memory),
        ]  # fmt: skip

    def monitor(self, command: str, **arguments) -> object:
        """The answer to a QMP command; events are skipped."""
        if self._monitor is None:
            self._monitor = self._connected().makefile("rw")
            self._monitor.readline()
            self.monitor("qmp_capabilities")
        self._monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._monitor.flush()
        while line := self._monitor.readline():
            answer = json.loads(line)
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise RuntimeError(f"QEMU refused {command}: {answer['error']['desc']}")
        raise self._ended()

    def _connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(160)
        end = deadline(10)
        while True:
            try:
                connection.connect(str(self._control))
                return connection
            except (FileNotFoundError, ConnectionRefusedError):
                if self.process.poll() is not None:
                    raise self._ended() from None
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def _ended(self) -> RuntimeError:
        folder = self.console.parent
        return RuntimeError(f"QEMU ended with status {self.process.poll()}; see {folder}\n{(folder / 'qemu.log').read_text()}")

    def save(self, path: Path) -> None:
        """Stops the machine, and saves its state for another one."""
        self.monitor("stop")
        self.monitor("migrate-set-parameters", **{"max-bandwidth": 1 << 34})
        self.monitor("migrate", uri=f"file:{path}")
        wait_until(lambda: self._migration() == "completed", 60, self._migration, interval=0.05)

    def _migration(self) -> str:
        answer = self.monitor("query-migrate")
        if answer.get("status") == "failed":
            raise RuntimeError(f"QEMU could not save the machine: {answer.get('error-desc')}")
        return answer.get("status", "not started")

    def go_on(self) -> None:
        """Continues from the saved state."""
        wait_until(lambda: self._status() == "paused", 60, self._status, interval=0.02)
        self.monitor("cont")

    def _status(self) -> str:
        return self.monitor("query-status")["status"]

    def wait_for_console(self, text: str, timeout: float, after: int = 0) -> None:
        """Waits until the console shows it, after the given number of characters."""

        def is_there() -> bool:
            has_ended = self.process.poll() is not None
            if text in (self.console.read_text(errors="replace") if self.console.exists() else "")[after:]:
                return True
            if has_ended:
                raise self._ended()
            return False

        wait_until(is_there, timeout, f"no {text!r} on the console; see {self.console}", interval=0.1)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
