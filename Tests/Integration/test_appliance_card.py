"""A card that is full, read-only or does not answer: the camera says so, goes on, and leaves it alone."""

import ctypes
import os
import subprocess
import time

import pytest
from appliance import BOARD, Appliance, Terminal, cpu_seconds, has_route, plain
from tallycam import Receiver

pytestmark = pytest.mark.takes(minutes=2.3, processors=0.05)

GOOD = {"url": "rtmp://127.0.0.1:1/live", "key": "x"}
USUAL = "ready" if has_route() else "no network"
IN_CREATE = 0x100


class Creations:
    """Counts the files that are made in a folder (inotify(7)): each attempt to write one starts with that."""

    def __init__(self, path):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK)
        assert self.libc.inotify_add_watch(self.fd, os.fsencode(path), IN_CREATE) >= 0
        self.names: list[str] = []

    def count(self, prefix: str) -> int:
        try:
            data = os.read(self.fd, 1 << 20)
        except BlockingIOError:
            data = b""
        while data:
            length = int.from_bytes(data[12:16], "little")
            self.names.append(data[16 : 16 + length].rstrip(b"\0").decode())
            data = data[16 + length :]
        return sum(name.startswith(prefix) for name in self.names)


@pytest.fixture
def small_boot(children):
    """A boot partition of 64 kB; the build root has a mount namespace of its own."""
    path = children.directory / "boot"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", path], check=True)
    yield path
    children.end_all()
    subprocess.run(["umount", "--lazy", path], check=True)


def wait_for_detail(camera: Appliance, words: str, timeout: float = 10) -> dict:
    deadline = time.monotonic() + timeout
    while words not in " ".join((status := camera.status())["details"]):
        assert time.monotonic() < deadline, status
        time.sleep(0.1)
    assert 9 in [fault["blinks"] for fault in status["faults"]]
    return status


def test_a_full_card_is_tried_seldom_and_written_when_there_is_room(children, small_boot):
    terminal = Terminal()
    board = {**BOARD, "console": terminal.name}
    camera = Appliance(children, stream="{}", board=board)
    camera.wait_for_faults("stream.json")
    camera.write("stream", GOOD)
    camera.wait_for_faults()
    creations = Creations(small_boot)
    full = small_boot / "full"
    with open(full, "wb", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(b"x" * 4096)
    # There is room for it in its own place.
    camera.write("stream", "{ ")
    start = time.monotonic()
    wait_for_detail(camera, "cannot be written")
    terminal.wait_for(b"No space left on device")
    # Two, four and eight seconds lie between the attempts.
    time.sleep(max(0, start + 20 - time.monotonic()))
    assert 3 <= creations.count(".faults.txt") <= 5
    assert camera.faults() == "" and camera.console("events 200").count("No space left on device") == 1
    full.unlink()
    camera.wait_for_faults("stream.json", timeout=25)
    assert not any("cannot be written" in detail for detail in camera.status()["details"])
    assert not list(small_boot.glob(".*.tmp"))
    count = creations.count(".faults.txt")
    time.sleep(5)
    assert creations.count(".faults.txt") == count, "what is written is left alone"


def test_a_card_that_stays_read_only_is_reported_and_left_alone(children, small_boot):
    """Without the right to mount, which stands for a card that refuses."""

    class Unprivileged(Appliance):
        prefix = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")

        def start(self):
            subprocess.run(["mount", "-o", "remount,ro", small_boot], check=True)
            return super().start()

    camera = Unprivileged(children, stream="{}")
    status = wait_for_detail(camera, "mount ")
    assert "Operation not permitted" in " ".join(status["details"])
    assert [fault["blinks"] for fault in status["faults"]][0] == 2
    before = cpu_seconds(camera)
    time.sleep(6)
    assert cpu_seconds(camera) - before < 0.3
    assert camera.console("events 200").count("Operation not permitted") == 1
    assert camera.process.interrupt_and_wait() == 0


def slowest_answer(camera: Appliance, seconds: float) -> float:
    """Of the control socket, which the same thread serves as the button."""
    slowest, end = 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        assert camera.console("status json").startswith("ok\n")
        slowest = max(slowest, time.monotonic() - start)
        time.sleep(0.05)
    return slowest


def test_a_card_that_does_not_answer_holds_up_nothing_and_is_reported(children):
    """A pipe without a writer in the place of faults.txt: whoever reads what is there waits, as for a dying card."""
    receiver = Receiver(children)
    watchdog = Terminal()
    camera = Appliance(children, stream=plain(receiver.url()), board={**BOARD, "watchdog": watchdog.name})
    camera.wait_for(USUAL)
    os.mkfifo(camera.boot / "faults.txt")
    camera.write("network", {"hostName": "my camera"})
    start = time.monotonic()
    time.sleep(3)
    assert slowest_answer(camera, 5) < 0.1
    # A stream starts, lives and ends meanwhile.
    assert camera.ask("start").child.returncode == 0
    camera.wait_for("live")
    camera.ask("stop")
    camera.wait_for("fault")
    wait_for_detail(camera, "has not answered", timeout=70)
    assert 55 < time.monotonic() - start < 70
    fed = len(read_all(watchdog))
    time.sleep(5)
    assert len(read_all(watchdog)) > fed, "a restart would not help"
    assert slowest_answer(camera, 2) < 0.1
    # It answers again.
    let_it_answer(camera)
    camera.wait_for_faults("hostName")
    # It looks every two seconds.
    deadline = time.monotonic() + 5
    while any("has not answered" in detail for detail in camera.status()["details"]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    camera.write("network", None)
    camera.wait_for_faults()


def let_it_answer(camera: Appliance) -> None:
    pipe = camera.boot / "faults.txt"
    os.close(os.open(pipe, os.O_WRONLY))
    # Who reads the pipe now waits as well.
    deadline = time.monotonic() + 5
    while pipe.is_fifo():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def read_all(terminal: Terminal) -> bytes:
    os.set_blocking(terminal.master, False)
    try:
        while block := os.read(terminal.master, 4096):
            terminal.seen += block
    except BlockingIOError:
        pass
    return terminal.seen


@pytest.mark.parametrize("kind", ["answers late", "never answers"])
def test_a_power_off_waits_for_the_card_but_not_for_ever(children, kind):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    os.mkfifo(camera.boot / "faults.txt")
    camera.write("stream", "{}")
    camera.wait_for("fault")
    start = time.monotonic()
    assert "powering off" in camera.console("poweroff")
    time.sleep(3)
    assert camera.process.running
    if kind == "answers late":
        let_it_answer(camera)
        assert camera.process.wait(3) == 0
        assert "stream.json" in camera.faults() and "powering off" in camera.events()
    else:
        assert camera.process.wait(15) == 0
        assert 9 < time.monotonic() - start < 14


def test_what_a_power_cut_has_left_is_removed(children):
    boot, state = children.directory / "boot", children.directory / "state"
    for folder in (boot, state):
        folder.mkdir()
    left = [boot / ".faults.txt.311.4.tmp", boot / ".events.txt.311.5.tmp", state / ".events.311.6.tmp"]
    others = [boot / ".notes.txt.311.4.tmp", boot / "faults.txt.tmp", state / ".nonce-a.1.1.tmp"]
    for path in [*left, *others]:
        path.write_text("cut off")
    (boot / "faults.txt").write_text("of a run that the power cut ended")
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    camera.wait_for_faults()
    assert camera.process.interrupt_and_wait() == 0
    assert not [path for path in left if path.exists()]
    assert all(path.exists() for path in others)
