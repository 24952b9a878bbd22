"""`tallycam doctor` and the lists of devices: on the command line, on the console and through the control socket."""

import json
import socket
import threading

import pytest
from appliance import BOARD, DEVICE, Appliance, Terminal, plain
from certificates import KEYS, Certificates
from servers import free_port
from tallycam import TALLYCAM, Receiver
from tls_servers import Stunnel

pytestmark = pytest.mark.takes(minutes=0.2, processors=0.15)

STEPS = [
    "card", "network", "time", "name lookup", "server", "key", "camera", "encoder", "microphone", "button", "light",
    "recording",
]  # fmt: skip
KEY = "secret-stream-key"


def examine(children, boot, *options, status: int | None = None) -> tuple[dict[str, dict], dict]:
    """The lines of an examination without a running camera, by their steps, and its summary."""
    words = ["--json", "--boot", boot, "--state", boot, "--network", boot, *options]
    doctor = children.run("doctor", [TALLYCAM, "doctor", *words])
    assert doctor.stderr == "" and KEY not in doctor.stdout, doctor.report()
    *lines, summary = [json.loads(line) for line in doctor.stdout.splitlines()]
    assert [line["step"] for line in lines] == STEPS
    # A container may have no network.
    assert doctor.child.returncode == (1 if summary["problems"] else 0) if status is None else status, doctor.report()
    return {line["step"]: line for line in lines}, summary


def boot_of(children, **files):
    boot = children.directory / "boot"
    boot.mkdir(exist_ok=True)
    for name, content in {"board": BOARD, "device": DEVICE, **files}.items():
        (boot / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return boot


def test_a_server_in_reach_is_connected_to_but_never_published_to(children, nginx):
    server = nginx.url("x").removesuffix("/x")
    lines, summary = examine(children, boot_of(children, stream={"url": server, "key": KEY}))
    assert lines["card"]["result"] == "ok", lines
    assert lines["name lookup"]["result"] == "not checked" and lines["server"]["result"] == "ok", lines
    assert lines["server"]["text"].startswith("127.0.0.1:")
    assert lines["key"]["result"] == "ok" and "***" in lines["key"]["text"]
    assert lines["camera"]["result"] == "ok" and lines["encoder"]["text"] == "software (OpenH264), as board.json asks"
    assert lines["button"]["result"] == lines["light"]["result"] == "not checked"
    assert lines["recording"]["result"] == "ok" and f"{children.directory}/boot/recordings, " in lines["recording"]["text"], lines
    assert not (children.directory / "boot/recordings").exists()
    assert not {"card", "server", "key", "camera", "encoder"} & {*summary["problems"], *summary["warnings"]}


def test_each_line_that_is_not_ok_names_the_next_step(children):
    stream = {"url": f"rtmp://127.0.0.1:{free_port()}/live", "key": KEY}
    lines, summary = examine(children, boot_of(children, stream=stream, device={"camera": "/dev/video63"}), status=1)
    assert lines["server"]["result"] == "problem" and "Connection refused" in lines["server"]["text"]
    assert "docs/trouble/network.md" in lines["server"]["next"]
    assert lines["camera"]["result"] == "problem" and "/dev/video63" in lines["camera"]["text"]
    assert {"server", "camera"} <= set(summary["problems"])
    for line in lines.values():
        assert ("next" in line) == (line["result"] in ("problem", "warning")), line


def test_a_folder_for_recordings_that_cannot_be_used_is_a_problem(children):
    device = {**DEVICE, "record": {"when": "always", "folder": "/nowhere/recordings"}}
    lines, summary = examine(children, boot_of(children, device=device), status=1)
    assert "nothing can be recorded: access /nowhere" in lines["recording"]["text"] and "recording" in summary["problems"], lines


def test_a_name_that_does_not_exist_is_found_before_the_server(children):
    stream = {"url": "rtmp://camera.invalid/live", "key": KEY}
    lines, _ = examine(children, boot_of(children, stream=stream), status=1)
    assert lines["name lookup"]["result"] == "problem" and "camera.invalid" in lines["name lookup"]["text"]
    assert lines["server"]["result"] == "not checked"


@pytest.mark.parametrize("authority, result", [("ca.pem", "ok"), (None, "problem")])
def test_a_certificate_is_checked(children, nginx, authority, result):
    certificates = Certificates(children.directory / "certificates", {"p256": KEYS["p256"]})
    port = Stunnel(children, certificates, ["p256"], nginx.port).ports["p256", "1.3"]
    stream = {"url": f"rtmps://localhost:{port}/live", "key": KEY}
    if authority:
        stream["caFile"] = str(certificates.path(authority))
    lines, _ = examine(children, boot_of(children, stream=stream))
    assert lines["name lookup"]["result"] == "ok" and "localhost is " in lines["name lookup"]["text"], lines
    assert lines["server"]["result"] == result and "certificate" in lines["server"]["text"], lines


@pytest.mark.parametrize("answer, problem", [
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "answered the handshake with version 72 instead of 3"),
    (b"", "the server did not answer handshake in time"),
])  # fmt: skip
def test_a_server_of_another_kind_is_a_problem(children, answer, problem):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            peer, _ = listener.accept()
            peer.sendall(answer)
            while peer.recv(4096):
                pass
            peer.close()

        thread = threading.Thread(target=serve)
        thread.start()
        stream = {"url": f"rtmp://127.0.0.1:{listener.getsockname()[1]}/live", "key": KEY}
        lines, _ = examine(children, boot_of(children, stream=stream))
        thread.join()
    assert lines["server"]["result"] == "problem" and problem in lines["server"]["text"], lines


def test_a_faulty_file_is_the_first_problem(children):
    lines, summary = examine(children, boot_of(children, stream='{"url": "http://127.0.0.1/"}'), status=1)
    assert summary["problems"][0] == "card" and lines["card"]["text"].startswith("stream.json:1:")
    assert [lines[step]["result"] for step in ("name lookup", "server", "key")] == ["not checked"] * 3


def test_the_key_of_an_example_is_a_problem(children):
    lines, _ = examine(
        children, boot_of(children, stream={"url": f"rtmp://127.0.0.1:{free_port()}/live", "key": "your-stream-key"}), status=1
    )
    assert lines["key"]["result"] == "problem"


def test_a_folder_that_is_missing_is_the_first_problem(children):
    lines, summary = examine(children, children.directory / "nowhere", status=1)
    assert summary["problems"][0] == "card" and lines["card"]["next"].endswith("--boot")


def test_a_running_camera_answers_for_itself(children):
    terminal = Terminal()
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), board={**BOARD, "console": terminal.name})
    camera.ask("start")
    camera.wait_for("live")
    doctor = camera.ask("doctor")
    words = [line.partition(":")[0] for line in doctor.stdout.splitlines()]
    assert words == [*STEPS, "summary"], doctor.report()
    assert "\nserver:       ok: live to rtmp://127.0.0.1:" in doctor.stdout
    assert "\ncamera:       ok: synthetic" in doctor.stdout and "in use and delivers frames\n" in doctor.stdout
    assert "\nencoder:      ok: the stream is encoded by " in doctor.stdout
    assert "problem" in doctor.stdout.splitlines()[-1] and doctor.child.returncode in (0, 1)
    lines = [json.loads(line) for line in camera.console("doctor json").removeprefix("ok\n").splitlines()]
    assert [line.get("step") for line in lines] == [*STEPS, None]
    terminal.type(b"doctor\r")
    terminal.wait_for(b"summary:")


def test_the_lists_say_what_is_in_use(children):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()))
    assert "(in use)" not in camera.ask("cameras").stdout
    camera.ask("start")
    camera.wait_for("live")
    assert "synthetic  " in (answer := camera.ask("cameras").stdout) and "(in use)\n" in answer
    assert json.loads(camera.ask("cameras", "--json").stdout.splitlines()[0])["inUse"] is True
    assert camera.ask("microphones").child.returncode == 0


def test_socket_and_console_refuse_other_words(children):
    camera = Appliance(children)
    for command in ("cameras", "microphones", "doctor"):
        assert camera.console(f"{command} all").startswith(f"error\nusage: {command} [json]")
