"""`tallycam run` as a process: its faults, its socket, its console. Button and lights require a board."""

import contextlib
import os
import re
import select
import socket
import time
from pathlib import Path

import pytest
from appliance import BOARD, DEVICE, Appliance, Terminal, has_route, plain
from processes import HUNG
from recording import Recording, media_so_far, wait_for_media
from servers import free_port
from tallycam import TALLYCAM, Receiver

pytestmark = pytest.mark.takes(minutes=0.5, processors=0.05)

GOOD = {"url": "rtmp://127.0.0.1:1/live", "key": "not-for-anybodys-eyes"}


def test_a_stream_is_started_stopped_and_received(children):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()))
    assert camera.ask("start").child.returncode == 0
    status = camera.wait_for("live")
    assert status["destination"].endswith("/live/***")
    wait_for_media(camera.process, receiver.path, frames=11)
    assert camera.ask("stop").child.returncode == 0
    camera.wait_for("ready" if has_route() else "no network")
    assert receiver.summary()["videoFrames"] > 10


def test_starting_without_a_stream_file_is_explained(children):
    camera = Appliance(children)
    answer = camera.ask("start")
    assert answer.child.returncode == 7
    assert "stream.json" in answer.stderr and "missing" in answer.stderr


def test_start_at_boot(children):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), device={**DEVICE, "startAtBoot": True})
    camera.wait_for("live")


def test_a_new_stream_file_moves_the_live_stream(children):
    first, second = Receiver(children, "first"), Receiver(children, "second")
    camera = Appliance(children, stream=plain(first.url()))
    camera.ask("start")
    camera.wait_for("live")
    camera.write("stream", plain(second.url()))
    assert first.summary()["videoFrames"] > 0
    camera.wait_for("live")
    # Wait for frames, not just a connection.
    wait_for_media(camera.process, second.path, frames=11)
    camera.ask("stop")
    assert second.summary()["videoFrames"] > 10


def test_a_server_that_comes_late_and_goes(children):
    port = free_port()
    camera = Appliance(children, stream={"url": f"rtmp://127.0.0.1:{port}/live", "key": "x"})
    camera.ask("start")
    assert camera.wait_for("connecting")
    words = [TALLYCAM, "receive", "--listen", f"127.0.0.1:{port}"]
    server = children.start("server", words)
    camera.wait_for("live")
    server.interrupt_and_wait()
    camera.wait_for("reconnecting")
    children.start("server", words)
    camera.wait_for("live")


def test_an_absent_server_is_reported_while_retrying(children):
    port = free_port()
    camera = Appliance(children, stream={"url": f"rtmp://127.0.0.1:{port}/live", "key": "x"})
    camera.ask("start")
    status = camera.wait_for("fault" if has_route() else "no network")
    assert status["isStreamWanted"]
    if has_route():
        assert [fault["blinks"] for fault in status["faults"]] == [7]
        camera.wait_for_faults("(7 blinks)", f"127.0.0.1:{port}")
    children.start("server", [TALLYCAM, "receive", "--listen", f"127.0.0.1:{port}"])
    camera.wait_for("live")
    assert not camera.status()["faults"]
    camera.wait_for_faults()
    camera.ask("stop")
    camera.wait_for("ready" if has_route() else "no network")


def test_a_signed_stream_waits_for_the_clock(children):
    """Waits as long as the start script's mark says that a time server is being asked."""
    receiver = Receiver(children)
    mark = children.directory / "network/clock-awaited"
    mark.parent.mkdir()
    mark.write_text("")
    server = {"publish": {"rtmp": f"127.0.0.1:{receiver.port}"}}
    signed = {"hub": "live", "title": "camera", "publishKey": "key", "hosts": server}
    camera = Appliance(children, stream=signed)
    camera.ask("start")
    camera.wait_for("connecting" if has_route() else "no network")
    time.sleep(2)
    # Nothing has connected yet.
    assert receiver.process.stdout.count("\n") == 1
    # Streams that do not need the clock start at once.
    camera.write("stream", {**signed, "publishSecurity": "static"})
    camera.wait_for("live")
    camera.ask("stop")
    camera.wait_for("ready" if has_route() else "no network")
    camera.write("stream", signed)
    time.sleep(2.5)
    camera.ask("start")
    camera.wait_for("connecting" if has_route() else "no network")
    mark.unlink()
    camera.wait_for("live")
    camera.ask("stop")
    camera.wait_for("ready" if has_route() else "no network")
    events = camera.console("events 200")
    assert events.index("waiting for the time of day") < events.index("the clock is set")


class Supplicant:
    """Stands in for wpa_supplicant at its control interface: a datagram socket by the name of the Wi-Fi interface."""

    def __init__(self, directory: Path, status: str):
        """`directory` has its control interface; `status` is its answer to STATUS."""
        self.path = directory / "wlan0"
        directory.mkdir(exist_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(os.fspath(self.path))
        self.socket.settimeout(HUNG)
        client = None
        asked = []
        while asked[-2:] != [b"ATTACH", b"STATUS"]:
            request, client = self.socket.recvfrom(4096)
            asked.append(request)
        self.client = client
        self.say(status)

    def say(self, *messages: str) -> None:
        for message in messages:
            self.socket.sendto(message.encode(), self.client)

    def end(self) -> None:
        self.socket.close()
        self.path.unlink()


def test_what_wpa_supplicant_says_is_reported(children):
    """A wrong password is reported until the network is joined; networks out of range only if none was in range since the file
    was read."""
    refusal = '<3>CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid="Studio" auth_failures=1 duration=10 reason=WRONG_KEY'
    lost = "<3>CTRL-EVENT-NETWORK-NOT-FOUND "
    camera = Appliance(children, stream=GOOD)
    usual = "ready" if has_route() else "no network"
    first = Supplicant(camera.supplicant, "wpa_state=SCANNING\n")
    try:
        first.say(refusal)
        camera.wait_for("fault")
        camera.wait_for_faults('"Studio" rejected the password', "(3 blinks)")
        first.say("<3>CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:01:00 completed [id=0 id_str=]")
        camera.wait_for(usual)
        camera.wait_for_faults()
        first.say(refusal)
        camera.wait_for("fault")
    finally:
        first.end()
    # It has ended, so its reports are dropped.
    camera.wait_for(usual)
    second = Supplicant(camera.supplicant, "wpa_state=SCANNING\n")
    try:
        second.say(lost, lost, lost)
        time.sleep(1)
        assert ("none of its Wi-Fi networks is in range" in camera.faults()) == (not has_route())
        assert camera.status()["state"] == usual
    finally:
        second.end()


def test_a_missing_camera_is_reported_until_it_returns(children):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), device={**DEVICE, "camera": "nowhere"})
    camera.ask("start")
    camera.wait_for("fault")
    assert [fault["blinks"] for fault in camera.status()["faults"]][0] == 4
    camera.wait_for_faults('"nowhere"', "(4 blinks)")
    camera.write("device", DEVICE)
    camera.wait_for("live")
    camera.wait_for_faults()


def test_events_survive_a_restart(children):
    camera = Appliance(children)
    camera.ask("start")
    assert camera.process.interrupt_and_wait() == 0
    first = camera.events()
    assert "cannot start" in first and len(first.splitlines()) <= 200
    camera.start().interrupt_and_wait()
    assert camera.events().startswith(first.splitlines()[0])


def test_a_boot_partition_that_cannot_be_written_is_reported(children):
    camera = Appliance(children, stream=GOOD)
    # A folder in place of the file cannot be replaced with a file.
    (camera.boot / "faults.txt").mkdir()
    camera.write("stream", "{}")
    camera.wait_until(lambda status: any("cannot be written" in detail for detail in status["details"]))
    assert 9 in [fault["blinks"] for fault in camera.status()["faults"]]
    (camera.boot / "faults.txt").rmdir()
    camera.wait_for_faults("stream.json")


def test_folders_may_be_named_from_where_it_is_started(children):
    camera = Appliance(children, stream=GOOD)
    camera.process.interrupt_and_wait()
    names = [word for name in ("boot", "state", "socket", "network") for word in (f"--{name}", name)]
    children.start("run", [TALLYCAM, "run", *names, "--simulate-power"]).wait_until(camera.listens, "socket")
    camera.wait_for("ready" if has_route() else "no network")
    assert not camera.faults()


def test_faults_repaired_while_off_are_no_longer_reported(children):
    (children.directory / "boot").mkdir()
    (children.directory / "boot/faults.txt").write_text("of yesterday")
    camera = Appliance(children, stream=GOOD, device={**DEVICE, "statusInterval": 99})
    camera.wait_for_faults("statusInterval")
    assert "yesterday" not in camera.faults()
    camera.process.interrupt_and_wait()
    camera.write("device", DEVICE)
    camera.start()
    camera.wait_for_faults()


def test_faults_are_written_even_if_events_cannot_be(children):
    camera = Appliance(children, stream=GOOD)
    (camera.boot / "events.txt").mkdir()
    camera.write("stream", "{}")
    camera.wait_for_faults("stream.json")
    camera.wait_until(lambda status: any("cannot be written" in text and "events.txt" in text for text in status["details"]))
    (camera.boot / "events.txt").rmdir()
    camera.process.wait_until((camera.boot / "events.txt").exists, "events.txt")


def open_files(pid: int) -> set[str]:
    """What a process has open now."""
    names = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.add(os.readlink(descriptor))
    return names


def test_the_serial_console_takes_commands_and_edits_lines(children):
    terminal = Terminal()
    camera = Appliance(children, stream=GOOD, board={**BOARD, "console": terminal.name})
    terminal.wait_for(b"tallycam> ")
    # "statux" with the last letter deleted.
    terminal.type(b"statux\x7fs\r")
    terminal.wait_for(b"board:    Bench")
    # Up recalls the line, Ctrl-U clears it.
    terminal.type(b"\x1b[A\x15help\r")
    terminal.wait_for(b"poweroff")
    terminal.type(b"nonsense\r")
    terminal.wait_for(b"unknown command")
    assert terminal.name in open_files(camera.process.child.pid)
    camera.write("device", {**DEVICE, "console": False})
    camera.process.wait_until(lambda: terminal.name not in open_files(camera.process.child.pid), "the console to be closed")
    while select.select([terminal.master], [], [], 0)[0]:
        os.read(terminal.master, 4096)
    terminal.type(b"help\r")
    time.sleep(0.5)
    assert not select.select([terminal.master], [], [], 0)[0] or b"poweroff" not in os.read(terminal.master, 4096)


def test_the_quality_of_a_live_stream_is_changed(children):
    receiver = Receiver(children)
    terminal = Terminal()
    camera = Appliance(children, stream=plain(receiver.url()), board={**BOARD, "console": terminal.name})
    terminal.wait_for(b"tallycam> ")
    terminal.type(b"quality Low1\r")
    terminal.wait_for(b"not live")
    camera.ask("start")
    camera.wait_for("live")
    terminal.type(b"quality Lowest\r")
    terminal.wait_for(b"is unknown")
    terminal.type(b"quality Low1\r")
    terminal.wait_for(b"asked for")
    terminal.wait_for(b"now quality Low1")
    terminal.type(b"set fps 8 mute on\r")
    terminal.wait_for(b"fps 8")
    camera.wait_until(lambda status: status["quality"].startswith("Low1"))
    so_far = sum(tag.is_frame for tag in media_so_far(receiver.path))
    wait_for_media(camera.process, receiver.path, frames=so_far + 15)
    camera.ask("stop")
    recording = Recording(receiver.recording())
    assert recording.decoded.complaints == ""
    times = [tag.timestamp for tag in recording.frames]
    gaps = [after - before for before, after in zip(times, times[1:])]
    # Low3 has 15 frames per second, then there are 8; some may be missing.
    assert min(gaps) < 70 and min(gaps[-3:]) > 95, gaps


def test_no_other_file_has_these_terminals():
    """Nor does the process that has started this one, and which starts the other files' processes at the same time."""
    theirs = os.stat(f"/proc/{os.getppid()}/root/dev/pts")
    assert os.stat("/dev/pts").st_dev != theirs.st_dev


def test_power_off_ends_in_order(children):
    receiver = Receiver(children)
    terminal = Terminal()
    camera = Appliance(children, stream=plain(receiver.url()), board={**BOARD, "console": terminal.name})
    camera.ask("start")
    camera.wait_until(lambda status: status.get("videoFrames", 0) > 0)
    terminal.type(b"poweroff\r")
    assert camera.process.wait() == 0
    assert receiver.summary()["videoFrames"] > 0
    assert "powering off" in camera.events()


def test_events_before_the_clock_is_set_count_from_the_boot(children):
    """The clock shows the image's date until a time server has answered."""
    mark = children.directory / "network/clock-awaited"
    mark.parent.mkdir()
    mark.write_text("")
    camera = Appliance(children, stream=GOOD)
    assert camera.process.interrupt_and_wait() == 0
    assert all(re.match(r"\+\d+\.\ds ", line) for line in camera.events().splitlines())
    mark.unlink()
    camera.process = camera.start()
    assert camera.process.interrupt_and_wait() == 0
    assert re.search(r"(?m)^20\d\d-\S+Z Tallycam .* starts$", camera.events())
