"""The shipped program as the webcam of a computer: the kernel's f_uvc and f_uac2 on this side, uvcvideo and snd-usb-audio on
the other, and a patched usbip-vudc for the cable (test_usb_rig.py)."""

import re
from collections.abc import Iterable
from itertools import pairwise

import numpy
import pytest
from burnt_in_clock import read_all
from encoder import set_faults
from loopback import tone
from recording import Recording
from usb_host import HOST_RING, SAMPLES
from waiting import wait_until
from webcam import Webcam, decoded, look, numbers_of, readings_of, source_words, without_cards

pytestmark = [pytest.mark.takes(minutes=3.1, processors=0.35)]

# The rate of the test source, and of every camera here.
SOURCE_RATE = 30
RATE = 48_000
# The number of title cards that a computer may receive, at five per second, until a camera is open.
CARDS = 12


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


@pytest.mark.parametrize("coding", ["MJPG", "NV12", pytest.param("YUYV", marks=pytest.mark.slow)])
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


@pytest.mark.parametrize("coding", ["MJPG", pytest.param("NV12", marks=pytest.mark.slow)])
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_the_computers_drivers_find_nothing_wrong(board, webcam):
    camera = webcam(camera="/dev/video0", dimension="320x240")
    text = board.run(f"v4l2-compliance -d {camera.node}", timeout=200, check=False).text
    failures = re.findall(r"^\s*test (.*): FAIL$", text, re.MULTILINE)
    assert re.search(r"Total for uvcvideo.*: \d+, Succeeded: \d+, Failed: 0", text), (failures, text[-3000:])
