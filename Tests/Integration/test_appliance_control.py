"""Only one `tallycam run` at a time, its socket for several clients, and what it leaves behind when it crashes."""

import os
import re
import select
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import media
from appliance import BOARD, DEVICE, Appliance, Terminal, cpu_seconds, has_route, plain
from processes import HUNG
from tallycam import TALLYCAM, Receiver

GOOD = {"url": "rtmp://127.0.0.1:1/live", "key": "x"}
USUAL = "ready" if has_route() else "no network"


def test_a_second_instance_is_refused_and_changes_nothing(children):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    for _ in range(2):
        second = children.run("second", camera.process.argv)
        assert second.child.returncode == 6
        assert second.stderr == f"tallycam: tallycam run is already running (socket {camera.socket})\n"
        assert camera.status()["state"] == USUAL
    assert camera.events().count(" starts") <= 1
    # The socket of a crashed instance is taken over.
    camera.process.kill()
    assert camera.socket.exists()
    camera.process = camera.start()
    camera.wait_for(USUAL)


def test_idle_clients_block_nobody(children):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    idle = []
    for _ in range(40):
        client = socket.socket(socket.AF_UNIX)
        client.connect(os.fspath(camera.socket))
        client.settimeout(HUNG)
        idle.append(client)
    assert camera.console("status json").startswith("ok\n")
    # All of them are disconnected, including one that sends a little now and then.
    for number, client in enumerate(idle[:-1]):
        # Eight are kept at a time, including the one that asked; the others get the reason for their refusal.
        assert client.recv(100) == (b"error\ntoo many clients: the oldest is disconnected\n" if number < 33 else b""), number
    start = time.monotonic()
    dripping = socket.socket(socket.AF_UNIX)
    dripping.connect(os.fspath(camera.socket))
    try:
        while time.monotonic() - start < HUNG:
            dripping.sendall(b"s")
            time.sleep(0.2)
        raise AssertionError("a client that never ends its line is kept")
    except (BrokenPipeError, ConnectionResetError):
        pass


def test_surplus_clients_do_not_break_anyones_answer(children, tmp_path):
    """Snapshots for slow readers, while others connect and send nothing."""
    # Noise makes a JPEG large.
    noise = tmp_path / "noise.png"
    media.run_ffmpeg("-f", "lavfi", "-i", "color=gray:s=960x540,noise=alls=100", "-frames:v", 1, noise)
    filters = [{"filter": "image", "file": str(noise), "width": 1}]
    camera = Appliance(children, stream=GOOD, device={**DEVICE, "dimension": "1920x1080", "filters": filters})
    camera.wait_for(USUAL)

    def client(command: bytes = b"") -> socket.socket:
        made = socket.socket(socket.AF_UNIX)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.connect(os.fspath(camera.socket))
        made.settimeout(HUNG)
        made.sendall(command)
        return made

    def read(connection: socket.socket) -> bytes:
        """Reads slowly, but never pauses for 5 s, after which a client is disconnected."""
        answer = b""
        while block := connection.recv(16_384):
            answer += block
            time.sleep(0.01)
        return answer

    with ThreadPoolExecutor(6) as pool:
        first = [client(b"snapshot send 100\n") for _ in range(3)]
        answers = []
        for connection in first:
            # Wait until the others have their answers before more clients ask.
            select.select([connection], [], [], HUNG)
            answers.append(pool.submit(read, connection))
        idle = [client() for _ in range(12)]
        answers += [pool.submit(read, client(b"snapshot send 100\n")) for _ in range(3)]
    for number, future in enumerate(answers):
        answer = future.result()
        assert answer.startswith(b"ok\n\xff\xd8") and answer.endswith(b"\xff\xd9"), (number, answer[:80], answer[-80:])
        assert len(answer) > 300_000, "more than the socket takes at once"
    for connection in idle:
        assert connection.recv(100) in (b"", b"error\ntoo many clients: the oldest is disconnected\n")
    assert camera.process.child.poll() is None and camera.status()["state"] == USUAL


def test_a_missing_socket_is_reported_and_retried(children):
    folder = children.directory / "later"
    camera = object.__new__(Appliance)
    camera.children, camera.boot, camera.state = children, children.directory / "boot", children.directory / "state"
    camera.socket = folder / "socket"
    for path in (camera.boot, camera.state):
        path.mkdir()
    for name, content in {"board": BOARD, "device": DEVICE, "stream": GOOD}.items():
        camera.write(name, content)
    camera.process = children.start("run", [
        TALLYCAM, "run", "--boot", camera.boot, "--state", camera.state, "--socket", camera.socket,
        "--network", children.directory / "network", "--simulate-power", "--unattended",
    ])  # fmt: skip
    camera.wait_for_faults("no commands can be received", str(folder), "(9 blinks)")
    folder.mkdir()
    camera.process.wait_until(camera.socket.exists, "socket")
    camera.wait_for(USUAL)
    camera.wait_for_faults()


def test_a_stream_resumes_after_the_program_has_crashed(children):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()))
    camera.ask("start")
    camera.wait_for("live")
    for number in range(1, 4):
        camera.process.kill()
        camera.process = camera.start()
        camera.wait_for("live")
        reported = f"the program had crashed during a stream, which starts again: {number} of at most 3"
        assert reported in camera.console("events 200")
    # It looks as if the stream crashes the program.
    camera.process.kill()
    camera.process = camera.start()
    camera.wait_for("fault" if has_route() else "no network")
    reported = camera.wait_for_faults("keeps crashing", "(9 blinks)")
    assert "press the button" in reported and not camera.status()["isStreamWanted"]
    # Someone presses the button.
    camera.ask("start")
    camera.wait_for("live")
    camera.wait_for_faults()


def test_a_stopped_stream_does_not_restart(children):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), device={**DEVICE, "startAtBoot": True})
    camera.wait_for("live")
    camera.ask("stop")
    camera.wait_for(USUAL)
    camera.process.kill()
    # This is not a boot: someone has ended the stream that started at boot.
    camera.process = camera.start()
    time.sleep(2)
    assert camera.status()["state"] == USUAL and not camera.status()["isStreamWanted"]
    # After a proper end with a live stream, the next start counts as a boot: only streams configured for that start.
    camera.ask("start")
    camera.wait_for("live")
    assert camera.process.interrupt_and_wait(signal_number=signal.SIGTERM) == 0
    camera.write("device", DEVICE)
    camera.process = camera.start()
    time.sleep(2)
    assert camera.status()["state"] == USUAL
    assert not re.search("had crashed during", camera.console("events 200"))


def test_a_console_that_hangs_up_is_reported_and_reopened(children):
    """It stays readable forever, but must not be read forever."""
    terminal = Terminal()
    camera = Appliance(children, stream=GOOD, board={**BOARD, "console": terminal.name})
    terminal.wait_for(b"tallycam> ")
    camera.wait_for(USUAL)
    terminal.hang_up()
    camera.wait_for_faults('"console"', terminal.name)
    assert 9 in [fault["blinks"] for fault in camera.status()["faults"]]
    before = cpu_seconds(camera)
    time.sleep(4)
    assert cpu_seconds(camera) - before < 0.2
    other = Terminal()
    camera.write("board", {**BOARD, "console": other.name})
    other.wait_for(b"tallycam> ")
    camera.wait_for_faults()
    camera.wait_for(USUAL)


def test_a_hanging_program_is_not_awaited_forever(children):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    camera.process.child.send_signal(signal.SIGSTOP)
    asked = camera.ask("status")
    assert asked.child.returncode == 6 and "does not answer" in asked.stderr
    camera.process.child.send_signal(signal.SIGCONT)
    camera.wait_for(USUAL)
