"""The log of `tallycam run`, and its events for followers on the control socket."""

import fcntl
import os
import socket
import struct
import subprocess
import termios
import time

import pytest
from appliance import LIVE, Appliance, Terminal, has_route, plain
from processes import HUNG
from tallycam import TALLYCAM, Receiver, events, on_terminal, wait_for_event

GOOD = {"url": "rtmp://127.0.0.1:1/live", "key": "x"}
USUAL = "ready" if has_route() else "no network"


class LoggingAppliance(Appliance):
    """Starts it with additional options."""

    def __init__(self, children, *options, **files):
        self.options = options
        super().__init__(children, **files)

    def start(self):
        process = self.children.start("run", [
            TALLYCAM, "run", "--boot", self.boot, "--state", self.state, "--socket", self.socket,
            "--network", self.children.directory / "network", "--supplicant", self.supplicant, "--simulate-power",
            *self.options,
        ])  # fmt: skip
        process.wait_until(self.listens, "socket")
        return process


def test_the_log_is_written_on_request(children):
    camera = LoggingAppliance(children, "--log", stream=GOOD)
    camera.wait_for(USUAL)
    camera.process.wait_until(lambda: USUAL in camera.process.stdout, "state")
    assert camera.process.interrupt_and_wait() == 0
    lines = camera.process.stdout.splitlines()
    assert lines[0].endswith("starts") and lines[-1].endswith("Tallycam ends"), lines
    assert set(camera.events().splitlines()) <= set(lines) and camera.process.stderr == ""


def test_the_log_is_written_to_a_terminal(children):
    terminal = Terminal()
    folders = {name: children.directory / name for name in ("boot", "state", "network")}
    for folder in folders.values():
        folder.mkdir()
    options = [word for name, folder in folders.items() for word in (f"--{name}", str(folder))]
    argv = [str(TALLYCAM), "run", *options, "--socket", str(children.directory / "socket"), "--simulate-power"]
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=terminal.slave, stderr=terminal.slave)
    try:
        terminal.wait_for(b" starts")
        terminal.wait_for(b"stream.json")
    finally:
        child.terminate()
        child.wait(HUNG)


def test_no_log_is_written_to_a_file_without_a_request(children):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    assert camera.process.interrupt_and_wait() == 0
    assert camera.process.stdout == camera.process.stderr == ""


def test_events_are_objects_without_secrets(children):
    receiver = Receiver(children)
    url = receiver.url("s3cr3t")
    camera = LoggingAppliance(children, "--events", "json", "--log", stream=plain(url))
    camera.ask("start")
    wait_for_event(camera.process, "status")
    camera.ask("stop")
    camera.wait_for(USUAL)
    assert camera.process.interrupt_and_wait() == 0
    reported = events(camera.process)
    names = [event["name"] for event in reported]
    for name in ("message", "deviceStateChanged", "stateChanged", "connected", "publishing", "status", "ended"):
        assert name in names, names
    assert all(event["t"] >= 0 and isinstance(event["code"], int) for event in reported)
    assert any(event.get("state") in (*LIVE, "live in software") for event in reported if event["name"] == "deviceStateChanged")
    assert "starts" in camera.process.stderr and "s3cr3t" not in camera.process.stdout + camera.process.stderr


def test_a_missing_boot_folder_ends_the_program(children):
    run = children.run("run", [
        TALLYCAM, "run", "--boot", "nowhere", "--state", ".", "--socket", "socket", "--network", ".", "--events", "json",
    ])  # fmt: skip
    assert run.child.returncode == 2
    message = "the boot folder nowhere does not exist; name the folder with the JSON files with --boot"
    assert run.stderr == f"tallycam: {message}\n"
    assert [event["message"] for event in events(run)] == [message]


def test_a_missing_socket_ends_the_program(children):
    run = children.run("run", [TALLYCAM, "run", "--boot", ".", "--state", ".", "--socket", "nowhere/socket", "--network", "."])
    assert run.child.returncode == 6
    assert "nowhere/socket" in run.stderr and "No such file or directory" in run.stderr and "--socket" in run.stderr


def test_a_file_in_place_of_the_socket_is_not_replaced(children):
    path = children.directory / "notes"
    path.write_text("mine")
    run = children.run("run", [TALLYCAM, "run", "--boot", ".", "--state", ".", "--socket", path, "--network", "."])
    assert run.child.returncode == 6 and path.read_text() == "mine"
    assert "the file there is not a socket; name another socket" in run.stderr, run.report()


def test_a_booting_camera_continues_without_a_boot_folder(children):
    camera = LoggingAppliance(children, "--unattended", stream=GOOD)
    camera.wait_for(USUAL)
    camera.process.interrupt_and_wait()
    camera.boot = children.directory / "nowhere"
    camera.process = camera.start()
    assert any("stream.json" in detail for detail in camera.wait_for("fault" if has_route() else "no network")["details"])


def test_events_are_followed_as_they_happen(children):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url("s3cr3t")))
    camera.wait_for(USUAL)
    argv = [TALLYCAM, "events", "--follow", "--socket", camera.socket]
    lines = children.start("lines", [*argv, "3"])
    program = children.start("json", [*argv, "--json"])
    assert wait_for_event(program, "deviceStateChanged")["state"] == USUAL
    assert len(events(program)) == 1
    lines.wait_until(lambda: USUAL in lines.stdout, "line")
    camera.ask("start")
    wait_for_event(program, "status")
    lines.wait_until(lambda: "live at" in lines.stdout, "line")
    assert camera.process.interrupt_and_wait() == 0
    # The end of the camera's program ends both.
    assert lines.wait() == program.wait() == 0
    assert lines.stdout.endswith("Tallycam ends\n") and lines.stderr == program.stderr == ""
    assert "s3cr3t" not in lines.stdout + program.stdout


def test_a_follower_ends_when_its_reader_is_gone(children):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    reading, writing = os.pipe()
    child = subprocess.Popen([TALLYCAM, "events", "--follow", "--socket", camera.socket], stdout=writing)
    os.close(writing)
    assert os.read(reading, 10)
    os.close(reading)
    assert child.wait(HUNG) == 0


def test_a_follower_that_has_stopped_sending_is_served(children):
    """Like `printf 'events follow\\n'
    nc -N -U SOCKET`, which closes its sending direction at once.
    """
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    with socket.socket(socket.AF_UNIX) as follower:
        follower.settimeout(HUNG)
        follower.connect(os.fspath(camera.socket))
        follower.sendall(b"events follow 0\n")
        follower.shutdown(socket.SHUT_WR)
        assert follower.recv(3) == b"ok\n"
        # By the time the camera's thread has answered another client, it has checked this connection again.
        assert camera.status()["state"] == USUAL
        camera.write("device", "no JSON")
        heard = b""
        while b"device.json" not in heard:
            block = follower.recv(65536)
            assert block, heard
            heard += block


@pytest.mark.parametrize("words", [["status"], ["faults"], ["events"]])
def test_output_wraps_at_words_on_a_terminal(children, words):
    camera = Appliance(children, stream=GOOD, device={"camera": "synthetic", "statusInterval": "three"})
    camera.wait_until(lambda status: status["details"])
    plain_text = camera.ask(*words).stdout
    shown = on_terminal([TALLYCAM, *words, "--socket", camera.socket], 80)
    lines, longest = shown.splitlines(), max(map(len, plain_text.splitlines()))
    assert longest > 80 >= max(map(len, lines)), shown
    details = [line for line in plain_text.splitlines() if len(line) > 80]
    assert all(" ".join(line.split()) in " ".join(shown.split()) for line in details if "running" not in line), shown
    follow_ups = [line for line in lines if line.startswith(" ")]
    indent = {"status": 10, "faults": 2}.get(words[0], len(lines[0].split()[0]) + 1)
    assert follow_ups and all(len(line) - len(line.lstrip()) == indent for line in follow_ups), shown


def test_followed_events_wrap_at_words_on_a_terminal(children):
    camera = Appliance(children, stream=GOOD, device={"camera": "synthetic", "statusInterval": "three"})
    camera.wait_until(lambda status: status["details"])
    terminal = Terminal()
    fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    words = [TALLYCAM, "events", "--follow", "--socket", camera.socket]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=terminal.slave) as child:
        terminal.wait_for(b"statusInterval")
        assert camera.process.interrupt_and_wait() == 0
        terminal.wait_for(b"Tallycam ends")
        assert child.wait(HUNG) == 0
    lines = terminal.seen.decode().splitlines()
    assert max(map(len, lines)) <= 80 and any(line.startswith(21 * " ") and line[21] != " " for line in lines), lines


def test_the_fifth_follower_is_refused_and_commands_still_work(children):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    argv = [TALLYCAM, "events", "--follow", "--json", "--socket", camera.socket]
    followers = [children.start(f"follower{number}", argv) for number in range(4)]
    for follower in followers:
        follower.wait_until(lambda follower=follower: follower.stdout, "state")
    refused = children.run("refused", argv)
    assert refused.child.returncode == 7 and "4 clients already follow the events" in refused.stderr
    assert camera.status()["state"] == USUAL
    # A follower that has left makes room.
    followers[0].interrupt_and_wait()

    another = None
    deadline = time.monotonic() + HUNG
    while another is None or not another.stdout:
        if another is None or not another.running:
            another = children.start("another", argv)
        assert time.monotonic() < deadline, another.report()
        time.sleep(0.05)


@pytest.mark.parametrize("words, complaint", [
    (["--json"], "--json needs --follow"), (["--follow", "--json", "5"], "--json does not take N"),
    (["0"], "N must be 1 to 1000, not"), (["many"], "N must be 1 to 1000, not"),
    (["--follow", "1001"], "N must be 0 to 1000, not"),
])  # fmt: skip
def test_invalid_arguments_are_refused(children, words, complaint):
    run = children.run("events", [TALLYCAM, "events", *words])
    assert run.child.returncode == 2 and complaint in run.stderr, run.report()
