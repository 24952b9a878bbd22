"""A QEMU virtual machine: started from kernel, initramfs and disks, controlled over QMP, its console in a file."""

import json
import socket
import subprocess
import time
from pathlib import Path


class Machine:
    """`-M virt` with an ARM Cortex-A53, as slow as emulation is. Ends with `close`."""

    def __init__(
        self, folder: Path, *, kernel: Path, initramfs: Path, command_line: str, device_tree: Path | None = None,
        memory: int = 768, processors: int = 2, arguments: tuple[str, ...] = (), interactive: bool = False,
        counts_instructions: bool = False,
    ):  # fmt: skip
        """`folder` takes console.log and the control socket. `arguments` are QEMU's own, for disks and networks."""
        self.console = folder / "console.log"
        self._monitor = None
        control = folder / "qmp"
        words = self.words(memory, processors, counts_instructions) + [
            "-nodefaults", "-display", "none", "-no-reboot",
            "-kernel", str(kernel), "-initrd", str(initramfs), "-append", command_line,
            "-qmp", f"unix:{control},server=on,wait=off",
            *(("-dtb", str(device_tree)) if device_tree else ()), *arguments,
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
        self._control = control

    @staticmethod
    def words(memory: int, processors: int, counts_instructions: bool = False) -> list[str]:
        """With counted instructions each takes 1 ns of the guest's time, however slow emulation is, and the processor's own
        counter (`perf_event_open`) knows them."""
        # MB of translated code; a gigabyte, as much as it would take else, is too much where several run beside each other.
        code = "tb-size=256"
        clock = ["tcg,thread=multi"]
        if counts_instructions:
            clock = ["tcg,thread=single", "-icount", "shift=0,sleep=off"]
        return [
            "qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a53", "-accel", f"{clock[0]},{code}", *clock[1:],
            "-smp", str(processors), "-m", str(memory),
        ]  # fmt: skip

    def monitor(self, command: str, **arguments) -> object:
        """A QMP command's answer; events are passed over."""
        if self._monitor is None:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(20)
            deadline = time.monotonic() + 10
            while not self._control.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            connection.connect(str(self._control))
            self._monitor = connection.makefile("rw")
            self._monitor.readline()
            self.monitor("qmp_capabilities")
        self._monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._monitor.flush()
        while True:
            answer = json.loads(self._monitor.readline())
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise RuntimeError(f"QEMU refused {command}: {answer['error']['desc']}")

    def wait_for_console(self, text: str, timeout: float, after: int = 0) -> None:
        """Until the console shows it, after so many characters."""
        deadline = time.monotonic() + timeout
        while text not in (self.console.read_text(errors="replace") if self.console.exists() else "")[after:]:
            if self.process.poll() is not None:
                raise RuntimeError(f"QEMU ended with status {self.process.returncode}; see {self.console.parent}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {text!r} on the console within {timeout} s; see {self.console}")
            time.sleep(0.1)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
