"""The files on the card: faults are reported everywhere, disappear when repaired, and leave nothing unsafe behind."""

import json
import os
import re
import time
from datetime import datetime
from pathlib import Path

import pytest
from appliance import BOARD, DEVICE, Appliance, Terminal, has_route, plain
from scenarios import run_selected
from tallycam import TALLYCAM, Receiver

pytestmark = pytest.mark.takes(minutes=0.7, processors=0.2)

GOOD = {"url": "rtmp://127.0.0.1:1/live", "key": "not-for-anybodys-eyes"}

# File, content, blinks, line of the fault, words about the fault, words about the remedy.
BROKEN = {
    "stream.json is missing": ("stream", None, 2, 1, "missing", '{"url"'),
    "stream.json is empty": ("stream", "", 2, 1, "stream.json", '{"url"'),
    "stream.json is garbage": ("stream", b"\x00\xff\xfe\x80garbage", 2, 1, "saved as", '{"url"'),
    "stream.json is UTF-16": ("stream", '{"url": "rtmp://a/b/c"}'.encode("utf-16"), 2, 1, "UTF-8", '{"url"'),
    "stream.json is a list": ("stream", "[1]", 2, 1, "must be an object", "url"),
    "a comma is missing": ("stream", '{\n "url": "rtmp://a/b"\n "key": "x"}', 2, 3, "comma", '{"url"'),
    "a quote is missing": ("stream", '{\n "url": "rtmp://a/b\n}', 2, 2, "line", '{"url"'),
    "no url": ("stream", '{"key": "x"}', 2, 1, "missing", "url"),
    "url of a web page": ("stream", '{"url": "https://example.com/live/x"}', 2, 1, "scheme is https", "rtmps"),
    "url without a name": ("stream", '{"url": "rtmp://example.com/live"}', 2, 1, "stream name", "url"),
    "a port out of range": ("stream", '{"url": "rtmp://example.com:99999/live/x"}', 2, 1, "port", "url"),
    "a key with a space": ("stream", '{"url": "rtmp://example.com/live", "key": "a b"}', 2, 1, "space", "key"),
    "a name given twice": ("stream", '{"url": "rtmp://a/b/c", "url": "rtmp://a/b/d"}', 2, 1, "twice", '"url": "rtmps'),
    "Pili title too short": (
        "stream", '{"hub": "h", "title": "abc", "publishKey": "k",\n "hosts": {"publish": {"rtmp": "a.example"}}}',
        2, 1, "4 to 100", "title",
    ),
    "Pili hosts missing": ("stream", '{"hub": "h", "title": "abcd", "publishKey": "k"}', 2, 1, "hosts", "publish"),
    "disabled": ("stream", '{"url": "rtmp://a/b/c",\n "disabled": true}', 2, 2, "disabled", "false"),
    "device.json broken": ("device", '{"camera": }', 3, 1, "device.json", '{"dimension"'),
    "an unknown quality": ("device", '{\n\n"quality": {"start": "Medum1"}}', 3, 3, "Medium1", "start"),
    "an unknown dimension": ("device", '{"dimension": "big"}', 3, 1, "dimension", "640x480"),
    "text for a number": ("device", '{"statusInterval": "3"}', 3, 1, "whole number", "3"),
    "a buffer out of range": ("device", '{"buffer": {"seconds": 9}}', 3, 1, "from 1", "seconds"),
    "Wi-Fi password too short": ("network", '{"wifi": [{"ssid": "Studio",\n"password": "short12"}]}', 3, 2, "8 to 63", "password"),
    "a host name with a blank": ("network", '{"hostName": "my camera"}', 3, 1, "hostName", "camera-2"),
    "a time zone without its continent": ("network", '{"timeZone": "Berlin"}', 3, 1, 'did you mean "Europe/Berlin"?', "Europe/Berlin"),
    "board.json missing": ("board", None, 9, 1, "missing", '{"name"'),
    "a line that does not exist": ("board", '{"name": "x", "button": {"line": "NOWHERE"}}', 9, 1, "NOWHERE", '"line": "'),
}  # fmt: skip


@pytest.fixture(scope="module")
def broken(request, tmp_path_factory):
    runs = run_selected(request, tmp_path_factory.mktemp("broken"), break_and_mend)
    yield runs
    runs.end()


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_reported_everywhere_and_heals(broken, case):
    broken.result(case)


def break_and_mend(children, case):
    name, content, blinks, line, problem, example = BROKEN[case]
    camera = Appliance(children, stream=GOOD)
    camera.wait_for("ready" if has_route() else "no network")
    camera.write(name, content)
    status = camera.wait_until(lambda status: blinks in [fault["blinks"] for fault in status["faults"]])
    reported = camera.wait_for_faults(f"({blinks} blinks)", problem)
    assert f"{name}.json, line {line}," in reported
    assert re.search(rf"example: .*{re.escape(example)}", reported)
    assert any(problem in detail for detail in status["details"])
    # Every fault comes with a correct example; one that names a line comes with that line's own.
    assert reported.count("wrong:") == reported.count("example:") + reported.count("the whole file is ignored")
    assert "short12" not in reported + camera.events() and "not-for-anybodys-eyes" not in reported + camera.events()
    camera.write(name, {"stream": GOOD, "device": DEVICE, "board": BOARD}.get(name))
    camera.wait_for("ready" if has_route() else "no network")
    camera.wait_for_faults()


def test_a_faulty_device_file_leaves_a_working_camera(children):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), device={"camera": "synthetic", "dimension": "big"})
    # The default camera is missing here; valid parts of a faulty file are not used.
    assert 3 in [fault["blinks"] for fault in camera.status()["faults"]]
    camera.write("device", DEVICE)
    camera.wait_until(lambda status: 3 not in [fault["blinks"] for fault in status["faults"]])
    assert camera.ask("start").child.returncode == 0
    camera.wait_for("live")


def test_people_read_local_time_and_a_new_zone_keeps_the_network(children):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for("ready" if has_route() else "no network")
    camera.write("network", {"timeZone": "Asia/Kathmandu"})
    camera.wait_until(lambda _: "the time zone is now Asia/Kathmandu" in camera.console("events 200"))
    lines = camera.console("events 200").splitlines()
    first = next(line for line in lines if " starts" in line)
    changed = next(line for line in lines if "time zone is now" in line)
    assert re.match(r"20\d\d-\S+Z ", first) and re.match(r"20\d\d-\S+\+05:45 ", changed)
    # The same clock, a few seconds later.
    seconds = [datetime.fromisoformat(line.split()[0]).timestamp() for line in (first, changed)]
    assert 0 <= seconds[1] - seconds[0] < 60
    assert not any("network's settings" in line for line in lines)


def test_network_settings_are_written(children):
    (children.directory / "network.json").write_text(json.dumps({
        "hostName": "camera-2", "country": "de", "timeServers": ["time.example"],
        "wifi": [{"ssid": 'Stu"dio', "password": "quite secret"}, {"ssid": "open", "hidden": True}],
    }))  # fmt: skip
    run = children.run("network", [TALLYCAM, "network", "--file", children.directory / "network.json", "--output", children.directory])
    assert run.child.returncode == 0, run.stderr
    assert (children.directory / "hostname").read_text() == "camera-2\n"
    assert (children.directory / "timeservers").read_text() == "time.example\n"
    path = children.directory / "wpa_supplicant.conf"
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert "country=DE" in text and "ssid=5374752264696f" in text and 'psk="quite secret"' in text
    assert text.index("5374752264696f") < text.index("6f70656e") and "key_mgmt=NONE" in text and "scan_ssid=1" in text


def test_a_faulty_key_does_not_cost_the_network(children):
    """A camera without a screen must not lose its Wi-Fi because of a typo next to it."""
    (children.directory / "network.json").write_text(json.dumps({
        "hostName": "my camera", "country": "Germany", "timeServers": [5, "time.example"],
        "wifi": [{"ssid": "bad", "password": "short12"}, {"ssid": "Studio", "password": "quite secret", "hidden": 1}],
    }))  # fmt: skip
    run = children.run("network", [TALLYCAM, "network", "--file", children.directory / "network.json", "--output", children.directory])
    assert run.child.returncode == 2, run.stderr
    for key in ("hostName", "country", "timeServers[0]", "wifi[0].password", "wifi[1].hidden"):
        assert f" {key}: " in run.stderr
    assert "short12" not in run.stderr
    assert (children.directory / "hostname").read_text() == "tallycam\n"
    assert (children.directory / "timeservers").read_text() == "time.example\n"
    text = (children.directory / "wpa_supplicant.conf").read_text()
    assert 'psk="quite secret"' in text and text.count("network={") == 1 and "short12" not in text


@pytest.mark.parametrize(
    "members",
    [
        '"password": null', '"password": ""', '"password": 12345678', '"password": null, "password": "hush-hush"',
        '"password": "hush-hush", "password": null', '"ssid": "b", "password": "hush-hush"', '"pasword": "hush-hush"',
    ],
)  # fmt: skip
def test_a_wrong_password_creates_no_open_network(children, members):
    (children.directory / "network.json").write_text(f'{{"country": "DE", "wifi": [{{"ssid": "Studio", {members}}}]}}')
    run = children.run("network", [TALLYCAM, "network", "--file", children.directory / "network.json", "--output", children.directory])
    assert run.child.returncode == 2 and "wifi[0]." in run.stderr and "hush" not in run.stderr.replace("pasword", ""), run.stderr
    assert (children.directory / "wpa_supplicant.conf").read_text() == ""


def test_unreadable_files_are_reported_with_their_present_problem(children):
    """Each is a different fault from the one before, although none contains any text."""
    camera = Appliance(children, stream=None)
    path = camera.boot / "stream.json"
    camera.wait_for_faults("the file is missing")
    path.write_text(" " * (2 << 20))
    camera.wait_for_faults("the limit is 65536 bytes")
    path.unlink()
    path.mkdir()
    camera.wait_for_faults("not a regular file")
    path.rmdir()
    path.symlink_to(path)
    camera.wait_for_faults("symbolic links")
    path.unlink()
    os.mkfifo(path)
    camera.wait_for_faults("not a regular file")
    path.unlink()
    camera.write("stream", GOOD)
    camera.wait_for("ready" if has_route() else "no network")
    camera.wait_for_faults()


def test_certificates_that_appear_later_are_used(children):
    stream = {"url": "rtmps://127.0.0.1:1/live", "key": "x", "caFile": "server.pem"}
    camera = Appliance(children, stream=stream)
    camera.wait_for_faults('example: "caFile": "server.pem"')
    (camera.boot / "server.pem").write_text("no certificates")
    time.sleep(3)
    assert "caFile" in camera.faults()
    (camera.boot / "server.pem").write_bytes(Path("/etc/ssl/certs/ca-certificates.crt").read_bytes())
    camera.wait_for("ready" if has_route() else "no network")
    camera.wait_for_faults()
    (camera.boot / "server.pem").unlink()
    camera.wait_for_faults("server.pem")
    assert "stream.json, line 1, column 59 (2 blinks)" in camera.faults(), camera.faults()


def test_switched_off_features_stay_off_despite_a_fault(children):
    """A rejected device file must not open a console that was closed."""
    terminal = Terminal()
    camera = Appliance(
        children, stream=GOOD, board={**BOARD, "console": terminal.name}, device={"console": False, "statusInterval": 0}
    )
    camera.wait_for_faults("switched off stays off")
    terminal.type(b"help\r")
    time.sleep(3)
    # Only the line's own echo.
    assert b"poweroff" not in os.read(terminal.master, 4096)


def test_a_rejected_device_file_is_reported(children):
    camera = Appliance(children, stream=GOOD, device={"dimension": "1280x720", "statusInterval": "3"})
    camera.wait_for_faults("the whole file is ignored")
    assert "statusInterval" in camera.faults()
    camera.write("device", DEVICE)
    camera.wait_for("ready" if has_route() else "no network")
    camera.wait_for_faults()
