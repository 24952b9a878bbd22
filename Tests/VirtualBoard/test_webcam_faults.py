"""The webcam of a computer that has to share the camera or the port, or that has to wait for a press; and when one of both sides stops,
sleeps, is unplugged or killed."""

import json
from itertools import pairwise

import numpy
import pytest
from encoder import Appliance, ResourceUse
from recording import Recording
from usb_host import CONTROLLER, HOST_RING, SAMPLES, UsbHost
from webcam import CONFIGFS, FORMATS, SMALL, Webcam, look

pytestmark = [pytest.mark.takes(minutes=3.7, processors=0.3)]


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


@pytest.mark.slow
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
