"""`tallycam run` as a process: its boot partition is a folder, its serial line a pseudo-terminal."""

import json
import os
import select
import socket
import time
from collections.abc import Callable

from processes import HUNG, Children, Process
from tallycam import TALLYCAM

BOARD = {"name": "Bench", "encoder": "openh264"}
DEVICE = {"camera": "synthetic", "quality": {"lowest": "Low1", "start": "Low3", "highest": "Low3"}, "dimension": "320x240"}


# Where servers get too little processor time, the uplink looks poor.
LIVE = ("live", "degraded")


class Appliance:
    """A camera whose boot partition is a folder."""

    # The command that starts the program, if any.
    prefix: tuple[str, ...] = ()
    # More options of `tallycam run`.
    options: tuple[str, ...] = ()

    def __init__(self, children: Children, **files):
        self.children = children
        self.boot = children.directory / "boot"
        self.state = children.directory / "state"
        self.socket = children.directory / "socket"
        # A separate one, because tests of other files run at the same time.
        self.supplicant = children.directory / "supplicant"
        for folder in (self.boot, self.state, children.directory / "network"):
            folder.mkdir(exist_ok=True)
        for name, content in {"board": BOARD, "device": DEVICE, **files}.items():
            self.write(name, content)
        self.process = self.start()

    def start(self) -> Process:
        process = self.children.start("run", [
            *self.prefix, TALLYCAM, "run", "--boot", self.boot, "--state", self.state, "--socket", self.socket,
            "--network", self.children.directory / "network", "--supplicant", self.supplicant, "--simulate-power",
            *self.options,
        ])  # fmt: skip
        process.wait_until(self.listens, "socket")
        return process

    def listens(self) -> bool:
        """The file alone may have been left by a camera that crashed."""
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(os.fspath(self.socket)) == 0

    def write(self, name: str, content) -> None:
        """A JSON file of the boot partition: a value, text, bytes, or None to have no file."""
        path = self.boot / f"{name}.json"
        if content is None:
            path.unlink(missing_ok=True)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))

    def ask(self, *words) -> Process:
        return self.children.run(words[0], [TALLYCAM, *words, "--socket", self.socket])

    def console(self, command: str) -> str:
        """The socket's answer to a console command."""
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(os.fspath(self.socket))
            client.settimeout(HUNG)
            client.sendall(f"{command}\n".encode())
            answer = b""
            while block := client.recv(65536):
                answer += block
        return answer.decode()

    def status(self) -> dict:
        answer = self.console("status json")
        assert answer.startswith("ok\n"), answer
        return json.loads(answer.removeprefix("ok\n"))

    def wait_for(self, state: str) -> dict:
        return self.wait_until(lambda status: status["state"] in (LIVE if state == "live" else [state]))

    def wait_until(self, condition: Callable[[dict], bool]) -> dict:
        """The first status that meets the condition. One without a field that the condition reads does not meet it: some fields
        exist only during a stream."""
        deadline = time.monotonic() + HUNG
        while not meets(condition, status := self.status()):
            assert time.monotonic() < deadline, f"{status}\n{self.events()}"
            time.sleep(0.1)
        return status

    def faults(self) -> str:
        try:
            return (self.boot / "faults.txt").read_text()
        except FileNotFoundError:
            return ""

    def wait_for_faults(self, *words: str) -> str:
        """Waits until faults.txt, which a separate thread writes, contains all of these words; without any, until it is
        gone."""
        deadline = time.monotonic() + HUNG
        while not (all(word in self.faults() for word in words) if words else not self.faults()):
            assert time.monotonic() < deadline, f"{self.faults()}\n{self.status()}\n{self.events()}"
            time.sleep(0.05)
        return self.faults()

    def events(self) -> str:
        path = self.state / "events"
        return path.read_text() if path.exists() else ""


def meets(condition: Callable[[dict], bool], status: dict) -> bool:
    try:
        return condition(status)
    except KeyError:
        return False


def plain(url: str) -> dict:
    server, _, key = url.rpartition("/")
    return {"url": server, "key": key}


def cpu_seconds(camera: Appliance) -> float:
    """Processor time that the program has used so far."""
    with open(f"/proc/{camera.process.child.pid}/stat") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def own_kilobytes(camera: Appliance) -> int:
    """The program's own memory: heap, stacks and changed data. Pages of its file are not counted, since all that run it share
    them and the kernel can drop them."""
    with open(f"/proc/{camera.process.child.pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


def has_route() -> bool:
    with open("/proc/net/route") as table:
        return any(line.split()[1] == "00000000" for line in table.readlines()[1:])


class Terminal:
    """The other end of the serial line."""

    def __init__(self):
        self.master, self.slave = os.openpty()
        self.name = os.ttyname(self.slave)
        self.seen = b""

    def wait_for(self, text: bytes) -> None:
        deadline = time.monotonic() + HUNG
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 4096)

    def type(self, text: bytes) -> None:
        self.seen = b""
        os.write(self.master, text)

    def hang_up(self) -> None:
        """Like unplugging an adapter."""
        os.close(self.slave)
        os.close(self.master)
