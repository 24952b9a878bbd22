"""Every key of device.json and board.json works as described in docs/reference or is refused; none is silently ignored."""

import json
import os
import re
import select
import subprocess
import time
from pathlib import Path

import pytest
from appliance import BOARD, DEVICE, Appliance, Terminal, has_route, plain
from processes import HUNG
from recording import Recording, wait_for_media
from scenarios import run_selected
from servers import free_port
from tallycam import Receiver

pytestmark = pytest.mark.takes(minutes=1.2, processors=0.1)

NOWHERE = {"url": "rtmp://127.0.0.1:1/live", "key": "x"}


def wait_for_blinks(camera: Appliance, blinks: int) -> str:
    reported = camera.wait_for_faults(f"({blinks} blinks)")
    assert blinks in [fault["blinks"] for fault in camera.status()["faults"]]
    return reported


def wait_for_good(camera: Appliance) -> None:
    camera.wait_for("ready" if has_route() else "no network")
    camera.wait_for_faults()


# Valid files that are refused at once, with blinks and words, followed by a correct file.
REFUSED = {
    "a flash LED without a line": ({"device": {**DEVICE, "torch": "live"}}, 3, "torch", {"device": DEVICE}),
    "a lens that is not there": ({"board": {**BOARD, "lens": "dw9807 10-000c"}}, 9, "dw9807 10-000c", {"board": BOARD}),
    "a console that is not there": ({"board": {**BOARD, "console": "/dev/nothing"}}, 9, "/dev/nothing", {"board": BOARD}),
    "a console that is not wanted": (
        {"board": {**BOARD, "console": "/dev/nothing"}}, 9, "/dev/nothing", {"device": {**DEVICE, "console": False}},
    ),
    "a watchdog that is not there": ({"board": {**BOARD, "watchdog": "/dev/nothing"}}, 9, "/dev/nothing", {"board": BOARD}),
    "a button that is not there": ({"board": {**BOARD, "button": {"line": "NOWHERE"}}}, 9, "NOWHERE", {"board": BOARD}),
    "a status LED that is not there": ({"board": {**BOARD, "statusLED": {"line": "NOWHERE"}}}, 9, "NOWHERE", {"board": BOARD}),
    "a flash LED that is not there": ({"board": {**BOARD, "flashLED": {"line": "NOWHERE"}}}, 9, "NOWHERE", {"board": BOARD}),
    "a chip that is not there": (
        {"board": {**BOARD, "button": {"line": "GPIO17", "chip": "nothing"}}}, 9, "nothing", {"board": BOARD},
    ),
}  # fmt: skip


def assert_place(faults: str, words: str, files: dict, blinks: int) -> None:
    """The fault is reported with file, line, key, problem and an example. The files have one line per key."""
    part = next(part for part in faults.split("\n\n")[1:] if words in part)
    file, line, key = re.match(r"(\w+)\.json, line (\d+), column \d+ \((?:%d) blinks\)\n  key:     (\S+)\n" % blinks, part).groups()
    assert re.search(r"\n  wrong:   .*\n  example: \".+", part), part
    written = json.dumps(files[file], indent=1).splitlines()
    *_, name = key.split(".")
    assert f'"{name}"' in written[int(line) - 1], part


def in_lines(files: dict) -> dict:
    return {name: json.dumps(content, indent=1) for name, content in files.items()}


@pytest.fixture(scope="module")
def refused(request, tmp_path_factory):
    runs = run_selected(request, tmp_path_factory.mktemp("refused"), ask_for_too_much)
    yield runs
    runs.end()


@pytest.mark.parametrize("case", REFUSED)
def test_unsupported_keys_are_reported_at_once_until_repaired(refused, case):
    refused.result(case)


def ask_for_too_much(children, case):
    files, blinks, words, right = REFUSED[case]
    camera = Appliance(children, stream=NOWHERE, **in_lines(files))
    faults = wait_for_blinks(camera, blinks)
    assert_place(faults, words, files, blinks)
    for name, content in right.items():
        camera.write(name, content)
    wait_for_good(camera)


# Faults that only a stream finds; they are retried while a stream is wanted.
MISSING = {
    "no camera at all": ({"device": {**DEVICE, "camera": "auto"}}, 4, "no camera", {"device": DEVICE}),
    "no camera of that path": ({"device": {**DEVICE, "camera": "/dev/video63"}}, 4, "/dev/video63", {"device": DEVICE}),
    "no microphone": (
        {"device": {**DEVICE, "audio": {"source": "microphone"}}}, 5, "microphone", {"device": DEVICE},
    ),
    "not the board's microphone": ({"board": {**BOARD, "microphone": "hw:CARD=nowhere"}}, 5, "nowhere", {"board": BOARD}),
    "no hardware encoder": ({"board": {**BOARD, "encoder": "v4l2"}}, 8, "encoder", {"board": BOARD}),
}  # fmt: skip


@pytest.fixture(scope="module")
def missing(request, tmp_path_factory):
    runs = run_selected(request, tmp_path_factory.mktemp("missing"), miss)
    yield runs
    runs.end()


@pytest.mark.parametrize("case", MISSING)
def test_missing_devices_are_reported_until_they_appear(missing, case):
    missing.result(case)


def miss(children, case):
    files, blinks, words, right = MISSING[case]
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), **in_lines(files))
    camera.ask("start")
    assert_place(wait_for_blinks(camera, blinks), words, files, blinks)
    for name, content in right.items():
        camera.write(name, content)
    camera.wait_for("live")
    camera.wait_for_faults()


def recorded(children, audio_packets: int = 5, **device) -> Path:
    """The start of a stream from a camera with these choices."""
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), device={**DEVICE, **device})
    camera.ask("start")
    wait_for_media(camera.process, receiver.path, frames=10, audio_packets=audio_packets)
    camera.ask("stop")
    path = receiver.recording()
    camera.process.interrupt_and_wait()
    return path


def first_frame(path: Path, width: int, height: int) -> list[tuple[int, ...]]:
    """The mean colors of the first frame, in this many columns and rows."""
    words = ["ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-vf", f"scale={width}:{height}:flags=area"]
    data = subprocess.run([*words, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], stdout=subprocess.PIPE, check=True).stdout
    return [tuple(data[at : at + 3]) for at in range(0, len(data), 3)]


def difference(first: list, second: list) -> float:
    pairs = [abs(a - b) for one, other in zip(first, second, strict=True) for a, b in zip(one, other, strict=True)]
    return sum(pairs) / len(pairs)


def size(path: Path) -> tuple[int, int]:
    sps = Recording(path).sps
    return sps.width, sps.height


def test_orientation_and_mirrored(children):
    upright = first_frame(recorded(children), 8, 6)
    rows = [upright[at : at + 8] for at in range(0, 48, 8)]
    mirrored = [color for row in rows for color in reversed(row)]
    rotated = list(reversed(upright))
    cases = [({"orientation": 180}, rotated, mirrored), ({"mirrored": True}, mirrored, rotated)]
    for device, right, wrong in cases:
        frame = first_frame(recorded(children, **device), 8, 6)
        assert difference(frame, right) < 12, (device, difference(frame, right))
        assert difference(frame, wrong) > 2 * difference(frame, right), device
    # With a quarter turn, the camera's frames are in landscape format, and the stream's size is as requested.
    path = recorded(children, orientation=90, dimension="240x320")
    assert size(path) == (240, 320)


def test_dimension_and_audio(children):
    path = recorded(children, dimension="480x270", audio={"source": "silence", "quality": "Low1"})
    assert size(path) == (480, 270)
    assert Recording(path).audio_packets and Recording(path).metadata["audiodatarate"] == 64
    assert not Recording(recorded(children, audio_packets=0, audio={"source": "none"})).audio_packets


def test_quality_and_status_interval_follow_the_file(children):
    receiver = Receiver(children)
    device = {**DEVICE, "quality": {"lowest": "Low1", "start": "Low2", "highest": "Low2"}, "statusInterval": 1}
    camera = Appliance(children, stream=plain(receiver.url()), device=device)
    assert "starts at Low2, within Low1 to Low2, 320x240" in camera.ask("status").stdout
    camera.ask("start")
    camera.wait_for("live")
    status = camera.wait_until(lambda status: "quality" in status)
    assert status["quality"].startswith("Low2") and status["encoder"] == "openh264"


def test_a_missing_microphone_is_retried_while_the_stream_is_wanted(children):
    camera = Appliance(
        children, stream=NOWHERE, device={**DEVICE, "audio": {"source": "microphone"}},
        board={**BOARD, "microphone": "hw:99"},
    )  # fmt: skip
    camera.ask("start")
    deadline = time.monotonic() + HUNG
    while not re.search(r"the stream has failed .*\(3 times, the last ", events := camera.console("events 200")):
        assert time.monotonic() < deadline, events
        time.sleep(0.5)
    wait_for_blinks(camera, 5)
    # Repeated reports are counted; nothing is written to either partition of the card for them.
    assert events.count("the stream has failed") == 1 and "times" not in camera.events()


def test_attempts_are_limited_if_configured(children):
    files = {
        "stream": {"key": "x", "url": f"rtmp://127.0.0.1:{free_port()}/live"}, "device": {**DEVICE, "reconnectAttempts": 0},
    }  # fmt: skip
    camera = Appliance(children, **in_lines(files))
    camera.ask("start")
    assert_place(wait_for_blinks(camera, 7), "127.0.0.1", files, 7)


class Watchdog(Terminal):
    """A terminal in place of a watchdog device: whatever is fed to it comes out at the other end."""

    def __str__(self):
        return self.name

    def read_bytes(self) -> bytes:
        while select.select([self.master], [], [], 0)[0]:
            self.seen += os.read(self.master, 4096)
        return self.seen


@pytest.fixture
def watchdog():
    return Watchdog()


@pytest.mark.parametrize("key", ["watchdog", "console"])
def test_a_file_instead_of_a_device_is_reported_and_left_alone(children, key):
    path = Path(f"/dev/shm/tallycam-no-device-{os.getpid()}")
    path.write_bytes(b"precious")
    try:
        files = {"board": {**BOARD, key: str(path)}}
        camera = Appliance(children, stream=NOWHERE, **in_lines(files))
        faults = wait_for_blinks(camera, 9)
        assert_place(faults, "wrong:   must be", files, 9)
        assert f'example: "{key}": "/dev/' in faults
        time.sleep(3)
        assert camera.process.interrupt_and_wait() == 0
        assert path.read_bytes() == b"precious"
    finally:
        path.unlink()


@pytest.mark.parametrize("key", ["watchdog", "console"])
def test_the_wrong_kind_of_device_is_not_even_opened(children, key):
    camera = Appliance(children, stream=NOWHERE, board={**BOARD, key: "/dev/null"})
    assert "must be a" in wait_for_blinks(camera, 9)
    # Each attempt to open it would be counted.
    time.sleep(3)
    process = Path(f"/proc/{camera.process.child.pid}/fd")
    assert "/dev/null" not in {os.readlink(entry) for entry in process.iterdir() if int(entry.name) > 2}


def test_the_watchdog_is_fed_and_disarmed_at_the_end(children, watchdog):
    camera = Appliance(children, stream=NOWHERE, board={**BOARD, "watchdog": str(watchdog)})
    camera.process.wait_until(lambda: len(watchdog.read_bytes()) >= 2, "second meal of the watchdog")
    assert set(watchdog.read_bytes()) == {0}
    camera.write("board", BOARD)
    camera.process.wait_until(lambda: watchdog.read_bytes().endswith(b"V"), "end of the watchdog")
    camera.write("board", {**BOARD, "watchdog": str(watchdog)})
    camera.process.wait_until(lambda: watchdog.read_bytes().endswith(b"\0"), "watchdog again")
    assert camera.process.interrupt_and_wait() == 0
    assert watchdog.read_bytes().endswith(b"V") and watchdog.read_bytes().count(b"V") == 2


def thread_of(camera: Appliance, name: str) -> int:
    threads = Path(f"/proc/{camera.process.child.pid}/task").iterdir()
    return next(int(thread.name) for thread in threads if (thread / "comm").read_text() == f"{name}\n")


def test_the_watchdog_is_not_fed_while_a_thread_hangs(children, watchdog):
    """strace stops the connection's thread when it is about to send."""
    receiver = Receiver(children)
    camera = Appliance(children, board={**BOARD, "watchdog": str(watchdog)}, stream=plain(receiver.url()))
    camera.ask("start")
    camera.wait_for("live")
    hold = "inject=sendmsg:delay_enter=3600s"
    children.start("strace", ["strace", "-p", thread_of(camera, "network"), "-e", "trace=sendmsg", "-e", hold])
    deadline = time.monotonic() + HUNG
    while 'the thread "network" hangs' not in camera.events():
        assert time.monotonic() < deadline, camera.events()
        time.sleep(0.5)
    fed = len(watchdog.read_bytes())
    assert fed > 0
    time.sleep(5)
    assert len(watchdog.read_bytes()) == fed
