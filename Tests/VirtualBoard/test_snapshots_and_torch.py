"""Snapshots, torch and double press of the shipped program, with vivid's camera and the lines and LEDs of the virtual board."""

import json
import subprocess

import numpy
import pytest
from board import HOST, Board
from light_record import LightRecord
from lights import LOOKS
from recording import Recording
from stalls import Stalls
from waiting import wait_until

pytestmark = pytest.mark.takes(minutes=1.2, processors=0.5)

PLACE = "/tmp/p"
WIDTH, HEIGHT = 640, 480
BOARD = {
    "name": "Bench", "encoder": "openh264", "button": {"line": "GPIO17", "activeLow": True}, "statusLED": {"line": "GPIO27"},
    "flashLED": {"line": "GPIO22"},
}  # fmt: skip
DEVICE = {
    "camera": "/dev/video0", "dimension": f"{WIDTH}x{HEIGHT}", "audio": {"source": "silence"}, "statusInterval": 1,
    "quality": {"lowest": "Low1", "start": "Low3", "highest": "Low3"},
}  # fmt: skip


class Camera:
    """`tallycam run` in the guest, with these files."""

    def __init__(self, board: Board, nginx, device: dict, wiring: dict = BOARD, state: str = "ready"):
        self.board = board
        server, _, key = nginx.url("snapshots").replace("127.0.0.1", HOST).rpartition("/")
        files = {"board": wiring, "stream": {"url": server, "key": key}, "device": DEVICE | device}
        board.run(f"umount {PLACE}/full 2>/dev/null; rm -rf {PLACE}; mkdir -p {PLACE}/boot {PLACE}/state {PLACE}/network")
        for name, content in files.items():
            board.put(f"{PLACE}/boot/{name}.json", json.dumps(content))
        board.release("GPIO17")
        self.process = board.start(
            f"exec tallycam run --boot {PLACE}/boot --state {PLACE}/state --socket {PLACE}/socket --network {PLACE}/network "
            "--simulate-power"
        )
        self.wait_for(state)

    def ask(self, words: str, check: bool = True):
        return self.board.run(f"tallycam {words} --socket {PLACE}/socket", check=check)

    def status(self) -> dict:
        return json.loads(self.ask("status --json").text)

    def wait_for(self, state: str, timeout: float = 40) -> dict:
        states = (state, "degraded") if state == "live" else (state,)

        def status() -> dict | None:
            text = self.ask("status --json", check=False).text
            return found if text.startswith("{") and (found := json.loads(text))["state"] in states else None

        return wait_until(status, timeout, lambda: f"{self.ask('status', check=False).text}\n{self.events()}")

    def events(self) -> str:
        return self.board.run(f"echo events 50 | socat -t 5 - UNIX:{PLACE}/socket", check=False).text

    def wait_for_event(self, words: str, timeout: float = 15) -> None:
        wait_until(lambda: words in self.events(), timeout, self.events)

    def wait_for_torch(self, is_lit: bool, timeout: float = 15) -> None:
        wait_until(lambda: self.board.is_high("GPIO22") == is_lit, timeout, self.events, interval=0.1)

    def snapshot(self, words: str = "", path: str = f"{PLACE}/snapshot.jpg") -> bytes:
        self.ask(f"snapshot --output {path} {words}")
        return self.board.get(path)


def dropped_share(before: dict, after: dict) -> float:
    """The share of the camera's frames that were dropped between two statuses."""
    dropped, taken = (after[name] - before[name] for name in ("sourceDropped", "sourceFrames"))
    return dropped / (dropped + taken)


def decoded(jpeg: bytes, pixels: str = "rgb24") -> numpy.ndarray:
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "mjpeg", "-i", "-", "-f", "rawvideo", "-pix_fmt", pixels, "-"],
        input=jpeg, capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert run.stderr == b""
    return numpy.frombuffer(run.stdout, numpy.uint8).reshape(HEIGHT, WIDTH, -1).astype(int)


def tags(jpeg: bytes, tmp_path) -> dict:
    path = tmp_path / "snapshot.jpg"
    path.write_bytes(jpeg)
    run = subprocess.run(
        ["ffprobe", "-v", "error", "-show_frames", "-of", "json", path], capture_output=True, check=True, timeout=60)
    [frame] = json.loads(run.stdout)["frames"]
    return frame["tags"]


def test_snapshots_with_and_without_a_stream(board, nginx, tmp_path, capsys):
    camera = Camera(board, nginx, {"snapshots": {"count": 2, "size": "stream"}})
    # Without a stream: the camera is opened for the snapshot, and closed again.
    started = board.seconds
    idle = camera.snapshot()
    took = board.seconds - started
    assert tags(idle, tmp_path)["Model"].strip() == "vivid"
    assert board.run("fuser /dev/video0", check=False).status != 0
    # vivid's bars, from the left: white, yellow, cyan, green, magenta, red, blue, black; the text is above the middle.
    bars = decoded(idle)[HEIGHT - 20, [int(WIDTH * (at + 0.5) / 8) for at in range(8)]]
    wanted = [(1, 1, 1), (1, 1, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (0, 0, 1), (0, 0, 0)]
    assert [tuple(int(value > 100) for value in pixel) for pixel in bars] == wanted, bars

    camera.ask("start")
    camera.wait_for("live")
    board.sleep(2)
    # A busy host keeps vivid from some frames, perhaps only beside the snapshots.
    shares = []
    while not any(beside <= alone + 0.1 for alone, beside in shares):
        assert len(shares) < LOOKS, shares
        before = camera.status()["sources"]
        # As many commands as there will be snapshots: an emulated processor needs time for each.
        for _ in range(5):
            camera.ask("status")
        board.sleep(1.5)
        between = camera.status()["sources"]
        for _ in range(4):
            assert camera.ask("snapshot").text.startswith(f"{PLACE}/state/snapshots/snapshot-")
        live = camera.snapshot("--quality 60")
        board.sleep(1.5)
        after = camera.status()["sources"]
        assert [after[name] - between[name] for name in ("sourceRepeated", "sourceInterruptions")] == [0, 0]
        shares.append((dropped_share(before, between), dropped_share(between, after)))
    kept = board.run(f"ls {PLACE}/state/snapshots").text.split()
    assert kept == [f"snapshot-{4 * len(shares) - 1:06}.jpg", f"snapshot-{4 * len(shares):06}.jpg"]
    assert len(live) < len(idle) and (decoded(live) > 100).any()
    camera.ask("stop")
    camera.wait_for("ready")
    recording = Recording(nginx.recording("snapshots"))
    assert recording.decoded.complaints == ""
    times = [tag.timestamp for tag in recording.frames]
    with capsys.disabled():
        gap = max(after - before for before, after in zip(times, times[1:]))
        print(f"\n  a snapshot without a stream: {took:.1f} s; largest gap of {len(times)} frames: {gap} ms")


def test_without_a_stream_a_snapshot_has_the_cameras_full_size(board, nginx, tmp_path):
    camera = Camera(board, nginx, {})
    large = camera.snapshot()
    # The size differs from the stream's, which is the reader's default.
    assert decoded(large).size == 2160 * 3840 * 3
    assert tags(large, tmp_path)["Model"].strip() == "vivid"
    assert board.run("fuser /dev/video0", check=False).status != 0


def test_a_full_disk_is_reported_and_the_stream_continues(board, nginx):
    camera = Camera(board, nginx, {"snapshots": {"folder": f"{PLACE}/full/snapshots", "quality": 100, "size": "stream", "count": 1}})
    # Nothing is mounted there.
    assert "No such file" in camera.ask("snapshot", check=False).text
    board.run(f"mkdir {PLACE}/full; mount -t tmpfs -o size=40k tmpfs {PLACE}/full")
    camera.ask("start")
    camera.wait_for("live")
    refused = camera.ask("snapshot", check=False)
    assert refused.status != 0 and "No space left on device" in refused.text
    assert board.run(f"ls -A {PLACE}/full/snapshots").text == "", "a failed snapshot has left a file"
    # The first report comes after a second.
    board.sleep(2)
    frames = camera.status()["sources"]["sourceFrames"]
    board.sleep(2)
    status = camera.status()
    assert status["state"] in ("live", "degraded") and status["sources"]["sourceFrames"] > frames and status["faults"] == []
    board.run(f"mount -o remount,size=1m {PLACE}/full")
    assert camera.ask("snapshot").text.strip() == f"{PLACE}/full/snapshots/snapshot-000001.jpg"
    # The oldest snapshot is removed only if the new one fits in its place.
    oldest, fill = f"{PLACE}/full/snapshots/snapshot-000001.jpg", f"dd if=/dev/zero of={PLACE}/full/rest bs=4k 2> /dev/null || true"
    board.run(f"truncate -s 4k {oldest}; {fill}")
    assert "No space left on device" in camera.ask("snapshot", check=False).text
    assert board.run(f"ls -A {PLACE}/full/snapshots").text.split() == ["snapshot-000001.jpg"]
    board.run(f"rm {PLACE}/full/rest; dd if=/dev/zero of={oldest} bs=4k count=128 2> /dev/null; {fill}")
    camera.ask("snapshot")
    assert board.run(f"ls -A {PLACE}/full/snapshots").text.split() == ["snapshot-000002.jpg"]
    # Free space counts, too: neither it nor the oldest snapshot alone is enough.
    oldest, spare = f"{PLACE}/full/snapshots/snapshot-000002.jpg", f"{PLACE}/full/spare"
    size = int(board.run(f"stat -c %s {oldest}").text)
    assert size > 40 << 10
    board.run(f"truncate -s {size - (8 << 10)} {oldest}; dd if=/dev/zero of={spare} bs=4k count=7 2> /dev/null; {fill}; rm {spare}")
    camera.ask("snapshot")
    assert board.run(f"ls -A {PLACE}/full/snapshots").text.split() == ["snapshot-000003.jpg"]


def answered(light: LightRecord, stalls: Stalls) -> bool:
    """Whether the last press was answered. test_card.py has the exact limit."""
    return light.answer() < 200 + stalls.longest * 1000


def test_two_presses_take_a_snapshot_and_one_still_starts(board, nginx, capsys):
    camera = Camera(board, nginx, {"doublePress": "snapshot", "snapshots": {"size": "stream"}})
    light, stalls = LightRecord(board), Stalls(board)
    light.start()
    light.press_twice()
    camera.wait_for_event("snapshot in ")
    changes = light.changes()
    assert answered(light, stalls), changes
    # Two blinks, twice as long as those that answer a long press.
    released = max(when for when, what in changes if what == "released")
    shown = [(when - released, what) for when, what in changes if what in ("lit", "dark") and when > released]
    blinks = [after - when for (when, what), (after, _) in zip(shown, shown[1:]) if what == "lit" and when < 0.6]
    assert len(blinks) == 2 and all(abs(blink - 0.2) < 0.08 for blink in blinks), changes
    assert "button pressed twice" in camera.events() and "connecting" not in camera.events()
    assert decoded(board.get(f"{PLACE}/state/snapshots/snapshot-000001.jpg")).shape == (HEIGHT, WIDTH, 3)
    light.start()
    light.press()
    camera.wait_for("live")
    assert answered(light, stalls)
    light.press_twice()
    camera.wait_for_event("/snapshot-000002.jpg")
    assert camera.status()["isStreamWanted"]
    light.press()
    camera.wait_for("ready")
    with capsys.disabled():
        print("\n  " + "\n  ".join(light.measured))


@pytest.mark.parametrize("meaning, asked", [
    ("camera", "no other camera: there is one camera"),
    pytest.param("mute", "there is no audio to mute", marks=pytest.mark.slow),
    pytest.param("torch", "no torch: board.json names no flash LED", marks=pytest.mark.slow),
])  # fmt: skip
def test_two_presses_for_something_missing_say_so_and_one_still_starts(board, nginx, meaning, asked):
    wiring = {name: value for name, value in BOARD.items() if name != "flashLED"}
    camera = Camera(board, nginx, {"doublePress": meaning}, wiring, state="fault" if meaning == "torch" else "ready")
    light, stalls = LightRecord(board), Stalls(board)
    light.start()
    light.press_twice()
    camera.wait_for_event(asked)
    assert answered(light, stalls)
    light.press()
    camera.wait_for("live")
    # None of this interrupts the stream.
    light.press_twice()
    board.sleep(2)
    assert camera.status()["isStreamWanted"] and camera.wait_for("live")
    light.press()
    camera.wait_for("fault" if meaning == "torch" else "ready")


def test_the_torch_by_command_by_the_light_and_for_a_snapshot(board, nginx):
    camera = Camera(board, nginx, {"snapshots": {"flash": "on"}})
    camera.ask("set torch on")
    camera.wait_for_torch(True)
    camera.ask("set torch off")
    camera.wait_for_torch(False)
    # Lit only for the snapshot.
    taking = board.start(f"tallycam snapshot --socket {PLACE}/socket")
    camera.wait_for_torch(True, 5)
    assert taking.wait(30).status == 0
    camera.wait_for_torch(False, 5)
    # vivid measures no light: it is derived from luma.
    camera.ask("start")
    camera.wait_for("live")
    camera.ask("set torch auto")
    board.sleep(4)
    assert not board.is_high("GPIO22")
    camera.ask("set brightness 0 contrast 0")
    camera.wait_for_torch(True, 20)
    # For two seconds, brightness counts as the torch's own light.
    board.sleep(3)
    camera.ask("set brightness 255")
    camera.wait_for_torch(False, 20)
    camera.ask("stop")
    camera.wait_for("ready")


def test_a_kernel_led_works_as_a_torch(board, nginx):
    wiring = BOARD | {"flashLED": {"led": "ACT"}}
    board.run("echo heartbeat >/sys/class/leds/ACT/trigger")
    camera = Camera(board, nginx, {}, wiring)
    brightness = "/sys/class/leds/ACT/brightness"
    assert "[none]" in board.run("cat /sys/class/leds/ACT/trigger").text
    camera.ask("set torch on")
    board.run(f"for _ in $(seq 50); do [ $(cat {brightness}) = $(cat /sys/class/leds/ACT/max_brightness) ] && exit; sleep 0.1; done; exit 1")
    assert not board.is_high("STATUS_LED_N")  # lit at low level
    camera.process.signal("TERM")
    camera.process.wait(20)
    assert board.run(f"cat {brightness}").text.strip() == "0", "the LED is not dark after the program's end"


def test_a_missing_torch_is_reported_with_the_available_ones(board, nginx):
    # It streams without a torch, too.
    camera = Camera(board, nginx, {}, BOARD | {"flashLED": {"led": "ACTT"}}, state="fault")
    text = camera.ask("status").text
    assert 'there is no LED "ACTT"' in text and '"ACT"' in text, text
    camera.ask("start")
    camera.wait_for("live")
