"""The shipped program as the webcam of a computer: the kernel's f_uvc and f_uac2 on this side, uvcvideo and snd-usb-audio on
the other, and a patched usbip-vudc for the cable (test_usb_rig.py)."""

import json
import re
import subprocess
from collections.abc import Iterable
from itertools import pairwise

import numpy
import pytest
from guest_process import GuestProcess
from burnt_in_clock import Reading, read_all, read_strip
from encoder import Appliance, ResourceUse, kernel_is_content, set_faults
from loopback import tone
from recording import Recording
from usb_host import CONTROLLER, HOST_RING, SAMPLES, UsbHost
from waiting import wait_until

pytestmark = [pytest.mark.takes(minutes=6.8, processors=0.3)]

CONFIGFS = "/sys/kernel/config/usb_gadget"
# The formats as a computer reads them: uvcvideo's names with ffmpeg's.
FORMATS = {"MJPG": "mjpeg", "NV12": "nv12", "YUYV": "yuyv422"}
# The rate of the test source, and of every camera here.
SOURCE_RATE = 30
RATE = 48_000
SMALL = {"dimension": "640x480", "webcam": True}
# The number of title cards that a computer may receive, at five per second, until a camera is open.
CARDS = 12


class Webcam:
    """`tallycam run` in the guest, plugged into the guest's computer."""

    def __init__(self, board, nginx, host, wiring: dict | None = None, **device):
        self.board = board
        self.host = host
        self.camera = Appliance(board, nginx, "webcam", wiring, **(SMALL | device))
        self.plug()

    def plug(self) -> None:
        self.host.plug()
        self.node = self.host.video_node()
        self.wait_for_state("attached")

    @property
    def state(self) -> dict:
        return self.camera.wait(lambda status: "webcam" in status)["webcam"]

    def wait_for_state(self, state: str) -> dict:
        return self.camera.wait(lambda status: status.get("webcam", {}).get("state") == state)["webcam"]

    def record(self, coding: str, size: str, count: int, rate: int = 30) -> numpy.ndarray:
        """The luma of frames as a program on the computer receives them, decoded by ffmpeg there."""
        width, height = map(int, size.split("x"))
        data = self.read(coding, size, count, rate)
        return numpy.frombuffer(decoded(data, "gray", *source_words(coding, size)), numpy.uint8).reshape(-1, height, width)

    def read(self, coding: str, size: str, count: int, rate: int = 30) -> bytes:
        width, height = size.split("x")
        self.board.run(
            f"v4l2-ctl -d {self.node} --set-fmt-video=width={width},height={height},pixelformat={coding} --set-parm={rate} "
            f"--stream-mmap --stream-count={count} --stream-to=/tmp/frames",
            timeout=200,
        )
        return self.board.get("/tmp/frames")

    def end(self) -> None:
        """Checks that the program ends and leaves nothing behind."""
        self.host.unplug()
        if not self.camera.process.has_ended:
            self.camera.process.signal("TERM")
            self.camera.process.wait(30)
        assert self.board.run(f"ls -A {CONFIGFS}").text == ""


def source_words(coding: str, size: str) -> list[str]:
    return ["-f", "mjpeg"] if coding == "MJPG" else ["-f", "rawvideo", "-pix_fmt", FORMATS[coding], "-s", size]


def decoded(data: bytes, pixels: str, *source: str, filters: str = "null") -> bytes:
    out = ["-vf", filters, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixels, "-"]
    run = subprocess.run(["ffmpeg", "-v", "error", *source, "-i", "-", *out], input=data, capture_output=True, check=True, timeout=100)
    assert run.stderr == b"", run.stderr.decode()
    return run.stdout


@pytest.fixture
def webcam(board, nginx, usb_host):
    made = []

    def make(**options) -> Webcam:
        made.append(Webcam(board, nginx, usb_host, **options))
        return made[-1]

    yield make
    for one in reversed(made):
        one.end()
    kernel_is_content(board)


def readings_of(frames: numpy.ndarray) -> list[Reading]:
    """The readings that are burnt into the test source's frames; each is intact."""
    height, width = frames.shape[1:]
    return [read_strip(memoryview(frame.tobytes()), width, height) for frame in frames]


def without_cards(frames: numpy.ndarray) -> numpy.ndarray:
    """The frames without the leading title cards (words on black), which appear where the camera takes longer than a second to
    open."""
    is_card = (frames < 20).reshape(len(frames), -1).mean(axis=1) > 0.9
    first = len(frames) if is_card.all() else int(numpy.argmin(is_card))
    return frames[first:]


def numbers_of(frames: numpy.ndarray) -> list[int]:
    return [reading.number for reading in readings_of(frames)]


def test_a_computer_finds_the_modes_that_the_bus_carries(board, webcam):
    camera = webcam()
    text = board.run(f"v4l2-ctl -d {camera.node} --info --list-formats-ext").text
    offered = {}
    for line in text.splitlines():
        if found := re.search(r"'(\w{4})'", line):
            coding = found[1]
        elif found := re.search(r"Size: Discrete (\S+)", line):
            size = found[1]
        elif found := re.search(r"\((\d+)\.\d+ fps\)", line):
            offered.setdefault(coding, {}).setdefault(size, []).append(int(found[1]))
    small, rates = ["640x360", "640x480"], [30, 25, 20, 15, 10, 5]
    assert offered == {
        "MJPG": {size: rates for size in (*small, "1280x720", "1920x1080")},
        "NV12": {size: rates for size in small}, "YUYV": {"640x360": rates, "640x480": rates[2:]},
    }  # fmt: skip
    assert camera.state["speed"] == "high"


def assert_frames(camera: Webcam, coding: str, size: str, count: int, rate: int, least: float) -> None:
    """Checks that all requested frames arrive whole and in order. Frames missing in between were counted as lost, or exceed the
    rate.

    least: the smallest part of the rate that must arrive; an emulated processor is slow, and may be shared.
    """
    lost = camera.state["lostFrames"]
    numbers = numbers_of(without_cards(camera.record(coding, size, count + CARDS, rate)))[:count]
    assert len(numbers) == count
    steps = [second - first for first, second in pairwise(numbers)]
    assert min(steps) > 0, numbers
    state = camera.wait_for_state("attached")
    assert state["sentFrames"] >= count
    most = SOURCE_RATE // rate + 1
    assert sum(step > most for step in steps) <= state["lostFrames"] - lost, (numbers, state)
    wanted = (numbers[-1] - numbers[0]) * rate / SOURCE_RATE
    assert count > least * wanted, (numbers, state)


@pytest.mark.parametrize("coding", FORMATS)
def test_frames_of_each_format_arrive_whole(webcam, coding):
    assert_frames(webcam(), coding, "640x480", 60, 10, least=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("coding, size, rate", [
    ("MJPG", "640x360", 30), ("MJPG", "640x480", 30), ("MJPG", "1280x720", 30), ("MJPG", "1920x1080", 5),
    ("NV12", "640x360", 30), ("NV12", "640x480", 15), ("YUYV", "640x360", 20), ("YUYV", "640x480", 20),
])  # fmt: skip
def test_three_hundred_frames_of_each_mode_arrive_whole(webcam, coding, size, rate):
    wide = {"dimension": "640x360" if size == "640x360" else "1280x720"}
    assert_frames(webcam(**({} if size == "640x480" else wide)), coding, size, 300, rate, least=0.15)


@pytest.mark.parametrize("coding", ["MJPG", "NV12"])
def test_a_computer_receives_the_colors_of_a_snapshot(board, webcam, coding):
    """A frame in BT.709, as from 720 lines on. Snapshots are converted through red, green and blue."""
    camera = webcam(dimension="1280x720")
    size, small = "640x360", "scale=64:36:flags=area"
    frames = decoded(camera.read(coding, size, CARDS), "rgb24", *source_words(coding, size), filters=small)
    frame = frames[-64 * 36 * 3 :]
    camera.wait_for_state("attached")
    camera.camera.ask("snapshot --output /tmp/snapshot.jpg")
    snapshot = decoded(board.get("/tmp/snapshot.jpg"), "rgb24", "-f", "mjpeg", filters=small)
    seen, wanted = (numpy.frombuffer(image, numpy.uint8).reshape(36, 64, 3).astype(int) for image in (frame, snapshot))
    # Clock, counter and ball move between the two.
    differences = numpy.abs(seen - wanted).max(axis=2)
    assert numpy.percentile(differences, 70) < 8, differences
    saturated = wanted.max(axis=2) - wanted.min(axis=2) > 100
    assert saturated.sum() > 500 and numpy.median(differences[saturated]) < 8, differences


def test_the_stream_and_a_computer_get_frames_of_the_same_readings(encoder, nginx, webcam):
    # The stream is lossless, so that its frames can be read.
    set_faults(encoder, lossless=1)
    camera = webcam(dimension="320x240")
    camera.camera.live_with()
    readings = readings_of(without_cards(camera.record("MJPG", "640x480", 40, 15)))
    camera.wait_for_state("attached")
    status = camera.camera.wait(lambda status: status["state"] in ("live", "degraded"))
    camera.camera.stop()
    recording = Recording(nginx.recording("webcam"))
    streamed = read_all(recording)
    assert not recording.disorder()
    # The burnt-in time is that of the reading: no two are the same.
    assert len(set(readings) & set(streamed)) > 10, (readings, streamed)
    assert {reading.number: reading for reading in readings + streamed} == {
        reading.number: reading for reading in streamed + readings}
    assert status["webcam"]["sentFrames"] >= 40 and status["framesPerSecond"] > 0, status


def ended_streams(camera: Webcam) -> list[tuple[str, str, str]]:
    """For each stream that has ended: frames sent, skipped by the encoder, dropped."""
    line = r"ended: (\d+) frames .*, (\d+) frames skipped by the encoder, (\d+) dropped"
    return re.findall(line, camera.camera.events)


def lost_share(camera: Webcam) -> float:
    """Of a stream's frames, by its own counters: those that camera, encoder and buffer have lost."""
    before = len(ended_streams(camera))
    camera.camera.live_with()
    status = camera.camera.wait(lambda status: status.get("sources", {}).get("sourceFrames", 0) > 150, timeout=120)
    camera.camera.stop()
    # The device can be ready before the stream's last event arrives.
    wait_until(lambda: len(ended_streams(camera)) > before, 60, "the stream's end is not among the events")
    sent, skipped, dropped = map(int, ended_streams(camera)[-1])
    lost = skipped + dropped + status["sources"]["sourceDropped"]
    return lost / (sent + lost)


def test_a_computer_costs_a_stream_no_frames(webcam):
    """Neither a computer that reads frames, nor one that stops and keeps all frames that it was given."""
    camera = webcam(camera="/dev/video0", dimension="320x240")
    alone = lost_share(camera)
    program = look(camera, "--set-fmt-video=width=640,height=480,pixelformat=NV12 --set-parm=5")
    sent = camera.state["sentFrames"]
    beside = lost_share(camera)
    assert camera.state["sentFrames"] > sent
    program.signal("STOP")
    still = lost_share(camera)
    program.signal("CONT")
    program.end()
    # Losses from the processor's load alone are not the computer's; a busy host makes some at any time.
    alone = max(alone, lost_share(camera))
    assert max(beside, still) < alone + 0.1, (alone, beside, still)


TONE = 1000
TONE_SECONDS = 10


@pytest.fixture
def microphone(board):
    """A silent loop, except for a ten-second tone at half of full scale that starts when /tmp/go exists."""
    board.run("rmmod snd-aloop && modprobe snd-aloop enable=1 id=Loopback")
    board.put("/tmp/second", tone(TONE, RATE, 2, 2, 1))
    board.run(f"rm -f /tmp/go; for _ in $(seq {TONE_SECONDS}); do cat /tmp/second; done > /tmp/tone")
    board.start(
        "{ while ! [ -e /tmp/go ]; do head -c 19200 /dev/zero; done; cat /tmp/tone; exec cat /dev/zero; } | "
        f"exec aplay -q -D hw:Loopback,0 -t raw -f S16_LE -c 2 -r {RATE}"
    )
    yield "hw:Loopback,1"
    board.end_all()
    # The player is behind a pipe, and takes a moment to close the card.
    board.run(
        "killall aplay; for _ in $(seq 50); do rmmod snd-aloop && break; sleep 0.1; done; "
        "rm -f /tmp/second /tmp/tone /tmp/go /tmp/heard; modprobe snd-aloop")


def parts_of(samples: numpy.ndarray, frequency: int) -> numpy.ndarray:
    """For each hundredth of a second, level (as a part of full scale) and phase of a frequency."""
    block = RATE // 100
    waves = numpy.exp(-2j * numpy.pi * frequency * numpy.arange(len(samples)) / RATE)
    whole = len(samples) // block * block
    return (samples * waves)[:whole].reshape(-1, block).mean(axis=1) * 2 / 32768


def test_the_computer_records_ten_seconds_of_tone(board, microphone, webcam):
    """As long as they were played, by the recording's own time; an emulated machine's time differs from ours."""
    camera = webcam(wiring={"microphone": microphone}, audio={"source": "microphone"})
    record = board.start(f"exec arecord {SAMPLES} -D hw:{camera.host.audio_card()} {HOST_RING} /tmp/heard")
    camera.camera.wait(lambda status: status["webcam"]["isRecorded"])
    # The camera records at the same time.
    camera.host.wait("grep -q RUNNING /proc/asound/Loopback/pcm1c/sub0/status")
    start = int(board.run("touch /tmp/go; stat -c %s /tmp/heard").text)
    end = start + (TONE_SECONDS + 5) * RATE * 4
    camera.host.wait(f"[ $(stat -c %s /tmp/heard) -gt {end} ]", 60)
    record.signal("INT")
    assert not record.wait(20).text, record.text
    data = board.get("/tmp/heard")
    samples = numpy.frombuffer(data[: len(data) // 4 * 4], numpy.int16).reshape(-1, 2)
    assert (samples[:, 0] == samples[:, 1]).all()
    parts = parts_of(samples[:, 0].astype(float), TONE)
    heard = numpy.abs(parts) > 0.45
    places = numpy.flatnonzero(heard)
    assert len(places), "the recording has no tone"
    # A machine that stalls leaves gaps on either side of the loop; nothing is recorded twice.
    span = places[-1] - places[0] + 1
    assert 0.6 * TONE_SECONDS < len(places) / 100 < 1.01 * TONE_SECONDS, (len(places), span)
    assert 0.9 * TONE_SECONDS < span / 100 < 1.1 * TONE_SECONDS, (len(places), span)
    assert abs(numpy.median(numpy.abs(parts[heard])) - 0.5) < 0.01
    # Balancing the clocks changes the pitch by a thousandth at most.
    turns = numpy.angle(parts[1:] * parts[:-1].conj())[heard[1:] & heard[:-1]]
    assert abs(numpy.median(turns)) < 2 * numpy.pi * TONE / 100 * 1e-3, turns


def test_a_slider_on_the_computer_moves_the_camera(board, webcam):
    camera = webcam(camera="/dev/video0", dimension="320x240")
    controls = board.run(f"v4l2-ctl -d {camera.node} --list-ctrls").text
    assert {"brightness", "contrast", "saturation"} <= set(re.findall(r"^\s*(\w+) 0x", controls, re.MULTILINE)), controls

    def brightness() -> int:
        return int(board.run("v4l2-ctl -d /dev/video0 --get-ctrl brightness").text.split(": ")[1])

    lowest, highest, usual = map(
        int, re.search(r"brightness 0x\w+ \(int\)\s*: min=(\S+) max=(\S+) step=1 default=(\S+)", controls).groups())
    # As vivid reports it.
    assert usual == 12800
    # While no program uses the camera: the setting applies once one does.
    board.run(f"v4l2-ctl -d {camera.node} --set-ctrl brightness={highest}")
    bright = camera.record("NV12", "640x480", 20, 5)[-1].mean()
    assert brightness() == 255
    program = board.start(f"exec v4l2-ctl -d {camera.node} --stream-mmap --stream-to=/dev/null")
    camera.wait_for_state("active")
    board.run(f"v4l2-ctl -d {camera.node} --set-ctrl brightness={lowest}")
    camera.host.wait("v4l2-ctl -d /dev/video0 --get-ctrl brightness | grep -qx 'brightness: 0'")
    program.end()
    camera.wait_for_state("attached")
    dark = camera.record("NV12", "640x480", 20, 5)[-1].mean()
    assert bright > dark + 50, (bright, dark)
    assert board.run(f"v4l2-ctl -d {camera.node} --get-ctrl brightness").text.strip() == f"brightness: {lowest}"


def test_the_webcam_costs_nothing_while_unused(board, webcam, capsys):
    camera = webcam(camera="/dev/video0", dimension="320x240")
    pid = camera.camera.process.pid

    def wakeups() -> dict[str, int]:
        text = board.run(
            f"for task in /proc/{pid}/task/*; do "
            "echo $(cat $task/comm) $(awk '/^voluntary/ {print $2}' $task/status); done"
        ).text
        return {name: int(count) for name, count in re.findall(r"^(webcam\S*) (\d+)$", text, re.MULTILINE)}

    def calls(tasks: Iterable[str]) -> dict[str, int]:
        """Their system calls within ten seconds."""
        board.run(f"rm -f /tmp/calls; timeout -s INT 10 strace -c -o /tmp/calls {' '.join(f'-p {task}' for task in tasks)}", check=False)
        rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?([a-z]\w*)$", board.get("/tmp/calls").decode(), re.MULTILINE)
        return {name: int(count) for count, name in rows if name != "total"}

    def tasks(name: str = "") -> list[str]:
        return board.run(f"cd /proc/{pid}/task; grep -l '^{name}' */comm").text.replace("/comm", "").split()

    def opened() -> str:
        return board.run(f"ls -l /proc/{pid}/fd | grep -c /dev/video0 || true").text.strip()

    report = []
    for state in ("attached", "notAttached"):
        if state == "notAttached":
            camera.host.unplug()
        camera.wait_for_state(state)
        assert opened() == "0"
        before = wakeups()
        board.run("sleep 10")
        assert wakeups() == before and len(before) == 2, (state, before)
        # The one call in which each waits is restarted when strace attaches.
        assert sum(calls(tasks("webcam")).values()) <= 2, state
        # Activity about once a second that exists anyway.
        everything = calls(tasks())
        assert everything and not {"ioctl", "mmap"} & everything.keys() and sum(everything.values()) < 300, (state, everything)
        report.append(f"{state}: {everything}")
    camera.plug()
    with capsys.disabled():
        print("\n  calls of all threads in ten seconds, " + "; ".join(report))


def test_a_press_of_the_button_permits_a_computer_to_use_the_camera(board, webcam):
    board.release("GPIO17")
    camera = webcam(webcam="ask", camera="/dev/video0", wiring={"button": {"line": "GPIO17", "activeLow": True}})
    pid = camera.camera.process.pid
    # The computer probes the microphone when it finds it.
    board.run("sleep 1")
    assert "wants to see or hear" not in camera.camera.events and "isRecorded\":true" not in camera.camera.ask("status --json")

    def is_open() -> bool:
        return board.run(f"ls -l /proc/{pid}/fd | grep -c /dev/video0 || true").text.strip() != "0"

    program = board.start(
        f"exec v4l2-ctl -d {camera.node} --set-fmt-video=width=640,height=480,pixelformat=NV12 --stream-mmap "
        "--stream-to=/tmp/frames --stream-count=100000"
    )
    camera.camera.wait(lambda status: status["webcam"]["waitsForPress"])
    assert camera.camera.wait(lambda status: True)["state"] == "waiting for a press"
    board.run("sleep 2")
    assert not is_open()
    board.press("GPIO17")
    board.sleep(0.2)
    board.release("GPIO17")
    camera.camera.wait(lambda status: status["state"] == "webcam")
    camera.host.wait(f"ls -l /proc/{pid}/fd | grep -q /dev/video0")
    sent = camera.state["sentFrames"]
    # After the last title card.
    camera.camera.wait(lambda status: status["webcam"]["sentFrames"] > sent + 20)
    program.end()
    frames = numpy.frombuffer(board.get("/tmp/frames"), numpy.uint8)
    size = 640 * 480 * 3 // 2
    frames = frames[: len(frames) // size * size].reshape(-1, size)[:, : 640 * 480].reshape(-1, 480, 640)
    # Words on black, then the camera's frames: vivid's bars.
    assert (frames[0] < 20).mean() > 0.9 and frames[0].max() > 200
    assert (frames[-1] > frames[0]).mean() > 0.1 > (frames[1] > frames[0]).mean()


def look(camera: Webcam, options: str = "") -> GuestProcess:
    """A program on the computer that keeps receiving frames."""
    program = camera.board.start(f"exec v4l2-ctl -d {camera.node} {options} --stream-mmap --stream-to=/dev/null")
    program.wait_for("<", 30)
    camera.wait_for_state("active")
    return program


def test_a_stream_takes_over_the_camera_from_a_computer_and_returns_it(board, webcam):
    """The computer still receives frames, from the stream's reading of the camera, also while the server does not answer."""
    camera = webcam(camera="/dev/video0", dimension="320x240")
    program = look(camera)

    def goes_on(state: str) -> None:
        before = camera.camera.wait(lambda status: status["state"] == state)["webcam"]["sentFrames"]
        camera.camera.wait(lambda status: status["state"] == state and status["webcam"]["sentFrames"] > before + 20)

    for _ in range(3):
        goes_on("webcam")
        camera.camera.live_with()
        goes_on("live")
        camera.camera.stop()
    board.start("exec socat TCP-LISTEN:1999,fork,reuseaddr SYSTEM:'sleep 1000'")
    stream = json.loads(board.get("/tmp/e/boot/stream.json"))
    board.put("/tmp/e/boot/stream.json", json.dumps(stream | {"url": "rtmp://127.0.0.1:1999/live"}))
    camera.camera.wait_for_event("the files on the boot partition have changed")
    camera.camera.ask("start")
    goes_on("connecting")
    camera.camera.stop()
    goes_on("webcam")
    program.end()
    events = camera.camera.events
    assert "fail" not in events and "no camera" not in events, events


ASLEEP = "/sys/module/usbip_vudc/parameters/asleep"


def test_a_sleeping_computer_keeps_no_camera_open(board, webcam):
    """The controller reports nothing: in the middle of a frame, neither frames nor audio are fetched any more."""
    camera = webcam(camera="/dev/video0", dimension="320x240")
    program = look(camera)
    record = board.start(f"exec arecord {SAMPLES} -D hw:{camera.host.audio_card()} {HOST_RING} /dev/null")
    camera.camera.wait(lambda status: status["state"] == "webcam" and status["webcam"]["isRecorded"])
    board.run(f"echo 1 > {ASLEEP}")
    try:
        camera.camera.wait(
            lambda status: status["webcam"]["isStalled"] and not status["webcam"]["isRecorded"] and status["state"] == "ready")
        camera.host.wait("! fuser -s /dev/video0")
    finally:
        board.run(f"echo 0 > {ASLEEP}")
    state = camera.camera.wait(lambda status: not status["webcam"]["isStalled"] and status["webcam"]["isRecorded"])
    sent = state["webcam"]["sentFrames"]
    camera.camera.wait(lambda status: status["state"] == "webcam" and status["webcam"]["sentFrames"] > sent + 20)
    record.end()
    program.end()
    camera.camera.wait(lambda status: status["webcam"]["state"] == "attached" and not status["webcam"]["isRecorded"])


def test_the_computers_drivers_find_nothing_wrong(board, webcam):
    camera = webcam(camera="/dev/video0", dimension="320x240")
    text = board.run(f"v4l2-compliance -d {camera.node}", timeout=200, check=False).text
    failures = re.findall(r"^\s*test (.*): FAIL$", text, re.MULTILINE)
    assert re.search(r"Total for uvcvideo.*: \d+, Succeeded: \d+, Failed: 0", text), (failures, text[-3000:])


def measure_settled(camera: Webcam, use: ResourceUse) -> None:
    """Measures when the threads that had the camera and the microphones open have ended and released everything."""
    camera.host.wait(f"! cat /proc/{use.pid}/task/*/comm | grep -q '^idle-'")
    looks = []
    while True:
        use.measure()
        looks.append((use.threads[-1], use.descriptors[-1]))
        if len(looks) == 20 or len(looks) > 2 and len(set(looks[-3:])) == 1:
            return
        for values in (use.own, use.mapped, use.threads, use.descriptors):
            values.pop()
        camera.board.sleep(0.5)


def plug_and_unplug(camera: Webcam, cycles: int) -> None:
    """Pulls the cable in the middle of frames and audio, each time."""
    seen = camera.host.descriptors()
    use = ResourceUse(camera.board, camera.camera.process.pid)
    for cycle in range(cycles):
        look(camera)
        if cycle % 2:
            camera.board.start(f"exec arecord {SAMPLES} -D hw:{camera.host.audio_card()} {HOST_RING} /dev/null")
            camera.camera.wait(lambda status: status["webcam"]["isRecorded"])
        camera.host.unplug()
        camera.wait_for_state("notAttached")
        measure_settled(camera, use)
        camera.plug()
        assert camera.host.descriptors() == seen
    assert len(set(use.descriptors[1:])) == 1 and len(set(use.threads[1:])) == 1, str(use)
    # The C library keeps some of the freed memory; no cycle's buffers stay.
    third = cycles // 3
    assert max(use.own[-third:]) < max(use.own[:-third]) + 1500, str(use)
    events = camera.camera.events
    assert "no webcam" not in events and "fail" not in events, events


def test_the_cable_is_pulled_during_transfers(webcam):
    plug_and_unplug(webcam(), 6)


@pytest.mark.slow
def test_the_cable_is_pulled_fifty_times(webcam):
    plug_and_unplug(webcam(), 50)


def rate_of(times: list[int]) -> tuple[float, int]:
    """For frames at those milliseconds: their rate per second, and the longest time without one."""
    return (len(times) - 1) * 1000 / (times[-1] - times[0]), max(second - first for first, second in pairwise(times))


@pytest.mark.parametrize("changes", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_a_computer_resets_reconfigures_and_stops(board, nginx, webcam, changes):
    """The stream to the server continues through all of it."""
    camera = webcam(dimension="320x240")
    camera.camera.live_with()
    # Frames from before that, each converted for the encoder in one pass.
    camera.camera.wait(lambda status: status.get("sources", {}).get("sourceConverted", 0) > 60, timeout=60)
    # Another program finds the camera busy.
    program = look(camera)
    second = board.run(f"v4l2-ctl -d {camera.node} --stream-mmap --stream-count=1", check=False)
    assert "busy" in second.text, second.text
    # The program stops in the middle of frames, for longer than all buffers last.
    program.signal("STOP")
    board.run("sleep 2")
    program.signal("CONT")
    program.end()
    camera.wait_for_state("attached")
    choices = [(coding, size) for coding in FORMATS for size in ("640x360", "640x480")]
    for index in range(changes):
        coding, size = choices[index % len(choices)]
        width, height = size.split("x")
        program = look(camera, f"--set-fmt-video=width={width},height={height},pixelformat={coding}")
        state = camera.state
        assert (state["format"], state["width"]) == (FORMATS[coding].removesuffix("422"), int(width)), state
        program.end()
    # A reset during use: the computer leaves the configuration, and selects it again.
    program = look(camera)
    # This takes the camera off the bus for a moment, possibly before the configuration is requested again.
    board.run(
        "device=$(echo /sys/devices/platform/vhci_hcd.0/usb*/*-1); echo 0 > $device/authorized; echo 1 > $device/authorized",
        check=False,
    )
    camera.host.unplug()
    camera.wait_for_state("notAttached")
    camera.plug()
    look(camera).end()
    status = camera.camera.wait(lambda status: status["state"] in ("live", "degraded"))
    camera.camera.stop()
    recording = Recording(nginx.recording("webcam"))
    assert not recording.disorder() and len(recording.frames) > 60, status
    times = [frame.timestamp for frame in recording.frames]
    # At least half of its rate without a computer, and no long gap: the emulated machine does both sides' work.
    count = 30
    (before, gap), (after, longest) = rate_of(times[:count]), rate_of(times[count:])
    assert after > before / 2 and longest < max(4 * gap, 5000), (before, gap, after, longest)
    assert "reconnect" not in camera.camera.events


def test_a_killed_program_leaves_nothing_to_disturb_the_next(board, nginx, usb_host, webcam):
    camera = webcam()
    look(camera)
    camera.camera.process.signal("KILL")
    camera.camera.process.wait(10)
    assert board.run(f"ls -A {CONFIGFS}").text.strip() == "tallycam"
    usb_host.unplug()
    again = webcam()
    look(again).end()
    again.camera.ask("webcam stop")
    assert board.run(f"ls -A {CONFIGFS}").text == ""
    assert "webcam" not in again.camera.wait(lambda status: True)
    # The next program is without a webcam, and removes the leftovers all the same.
    again.camera.ask("webcam start")
    camera.host.plug()
    again.wait_for_state("attached")


def test_a_taken_port_is_reported_with_its_owner(board, nginx, usb_host):
    other = f"{CONFIGFS}/other"
    board.run(
        f"mkdir {other} && cd {other} && mkdir configs/c.1 functions/uac2.0 && ln -s $PWD/functions/uac2.0 configs/c.1/ && "
        f"echo {CONTROLLER} > UDC"
    )
    camera = Appliance(board, nginx, "webcam", **SMALL)
    reason = camera.wait(lambda status: "reason" in status.get("webcam", {}))["webcam"]["reason"]
    assert reason == f"{CONTROLLER} is in use by the gadget other; remove that first"
    board.run(f"cd {other}; echo > UDC; rm configs/c.1/uac2.0; rmdir configs/c.1 functions/uac2.0; cd ..; rmdir other")
    usb_host.plug()
    camera.wait(lambda status: status["webcam"]["state"] == "attached")
    usb_host.unplug()
    camera.process.signal("TERM")
    camera.process.wait(30)
    assert board.run(f"ls -A {CONFIGFS}").text == ""


def test_a_board_without_a_device_port_reports_that_and_streams(board, nginx, usb_host):
    usb_host.close()
    # A kernel with gadget support, on a board whose port belongs to a hub.
    board.run("modprobe libcomposite")
    try:
        camera = Appliance(board, nginx, "webcam", **SMALL)
        status = camera.wait(lambda status: "reason" in status.get("webcam", {}))
        assert status["webcam"]["state"] == "failed"
        camera.live_with()
        camera.stop()
        assert camera.events.count("no webcam") == 1, camera.events
    finally:
        # The program looks for a port again and again, and would set up a gadget that nobody removes.
        board.end_all()
        UsbHost(board)
