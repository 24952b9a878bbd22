"""libcamera's cameras on the virtual board: its virtual pipeline, and vimc with its image processing module."""

import json
from pathlib import Path

import pytest
from board import HOST
from recording import Recording
from waiting import wait_until

pytestmark = pytest.mark.takes(minutes=1.2, processors=0.75)

VIMC = "platform/vimc.0 Sensor B"


@pytest.fixture(scope="module", autouse=True)
def described(booted):
    """The settings of vimc's module, which libcamera reads."""
    booted.run("mkdir -p /usr/share/libcamera/ipa/vimc")
    booted.put("/usr/share/libcamera/ipa/vimc/vimc.conf", Path("/usr/share/libcamera/ipa/vimc/vimc.conf"))


@pytest.fixture
def vimc(board) -> str:
    """vimc as `--video` expects it. At the end of the test the camera is back in its place."""
    yield f"libcamera:{VIMC}"
    board.run("[ -e /sys/bus/platform/drivers/vimc/vimc.0 ] || echo vimc.0 > /sys/bus/platform/drivers/vimc/bind")


def captured(board, source: str, frames: int, *options: str, timeout: float = 180) -> dict:
    words = f"tallycam capture --video '{source}' --frames {frames} {' '.join(options)}"
    return json.loads(board.run(words, timeout=timeout).text.splitlines()[-1])


def test_cameras_are_listed_with_their_modes(board):
    lines = [json.loads(line) for line in board.run("tallycam cameras --json").text.splitlines()]
    virtual = next(entry for entry in lines if entry["source"] == "libcamera:Virtual0")
    assert (virtual["id"], virtual["model"], virtual["location"]) == ("Virtual0", "A model", "back")
    assert {mode["size"] for mode in virtual["modes"] if mode["format"] == "NV12"} >= {"320x240", "640x360"}
    assert (round(virtual["slowestFPS"]), round(virtual["fastestFPS"])) == (5, 60)
    vimc = next(entry for entry in lines if entry["id"] == VIMC)
    controls = {control["name"]: control for control in vimc["controls"]}
    assert controls["Brightness"]["type"] == "real"
    assert (controls["Brightness"]["minimum"], controls["Brightness"]["maximum"]) == (-1, 1)
    assert "BG24" in {mode["format"] for mode in vimc["modes"]}
    controls = {control["name"]: control for control in virtual["controls"]}
    assert (controls["FaceDetectMode"]["type"], controls["FaceDetectMode"]["values"]) == ("choice", ["FaceDetectModeOff"])
    assert (controls["FrameDurationLimits"]["type"], controls["FrameDurationLimits"]["count"]) == ("integer", 2)
    text = board.run("tallycam cameras").text
    assert "libcamera:Virtual0  A model, back" in text and "5.0 to 60.0 frames per second" in text


def test_a_hundred_frames_of_the_virtual_camera_arrive_in_order_and_unread(board):
    report = captured(board, "libcamera:back,fps=10", 100, "--dimension 320x240")
    assert (report["format"], report["size"]) == ("NV12", "320x240")
    assert report["frames"] == report["captured"] == report["dmabuf"] == 100
    assert report["disorders"] == report["dropped"] == report["repeated"] == report["mapped"] == 0


def test_ten_frames_come_through_vimcs_module(board, vimc):
    report = captured(board, f"{vimc},Brightness=0.2,fps=1", 10, "--dimension 160x120")
    assert report["format"] == "BG24"
    assert report["disorders"] == report["mapped"] == 0
    # vimc processes its frames on the processor: a busy emulated one does not always have a new frame after a second.
    assert report["captured"] + report["repeated"] == report["frames"] == report["dmabuf"] == 10
    assert report["captured"] >= 3


@pytest.mark.parametrize("settings", ["FaceDetectMode=Off,FrameDurationLimits=100000/100000", "FaceDetectMode=0"])
def test_lists_and_named_values_are_set(board, settings):
    assert captured(board, f"libcamera:Virtual0,{settings}", 5, "--dimension 320x240")["captured"] == 5


def test_refused_controls_are_answered_with_the_cameras_list(board, vimc):
    cases = {
        f"{vimc},Brightness=2": "a number from -1.0 to 1.0",
        f"{vimc},Brightness=much": "a number from -1.0 to 1.0",
        f"{vimc},LensPosition=1": "it has Brightness, Contrast",
        f"{vimc},VerticalFlip=on": 'has no control "VerticalFlip"; it has Brightness, Contrast',
        f"{vimc},format=NV12": "gives no NV12; it gives BG24",
        "libcamera:Virtual0,FaceDetectMode=Full": "one of FaceDetectModeOff",
        "libcamera:Virtual0,FrameDurationLimits=100000": "2 times a whole number from",
        "libcamera:Virtual0,HorizontalFlip=on": 'has no control "HorizontalFlip"',
    }
    for source, words in cases.items():
        refused = board.run(f"tallycam capture --video '{source}'", check=False)
        assert refused.status == 4 and words in refused.text, (source, refused.text)


def test_another_cameras_name_is_refused_with_the_list(board):
    refused = board.run("tallycam capture --video libcamera:front", check=False)
    assert refused.status == 4 and 'there is no camera "front"; there is ' in refused.text
    assert "Virtual0 (back)" in refused.text
    assert "in use" not in refused.text and "permission denied" not in refused.text


def test_a_camera_in_use_is_reported_and_leaves_the_others_free(board, vimc):
    holder = board.start(f"exec tallycam capture --video '{vimc},fps=1' --frames 100000 --dimension 160x120")
    board.run("sleep 5")
    number = board.run("pidof tallycam").text.strip()
    busy = board.run(f"tallycam capture --video '{vimc},fps=1' --frames 1", check=False)
    other = captured(board, "libcamera:Virtual0,fps=10", 5, "--dimension 320x240")
    holder.end()
    # Another process cannot set vimc up while it streams, so libcamera does not even list it there.
    assert busy.status == 4 and f'there is no camera "{VIMC}" to be had' in busy.text
    assert "in use by another program" in busy.text and f"(process {number})" in busy.text
    assert other["captured"] == 5


def test_a_forbidden_camera_is_reported(board, vimc):
    board.run("grep -q nobody /etc/passwd || echo nobody:x:65534:65534::/:/bin/sh >> /etc/passwd")
    script = f"#!/bin/sh\nexec tallycam capture --video '{vimc}'\n"
    board.put("/tmp/try-libcamera", script, "755")
    board.run("chmod 600 /dev/media*")
    # socat changes the user. The script keeps the colons away from socat's own parser.
    forbidden = board.run("socat -u EXEC:/tmp/try-libcamera,su=nobody,stderr STDOUT", check=False)
    assert "cannot be opened: permission denied" in forbidden.text and "in use" not in forbidden.text


@pytest.mark.slow
def test_a_camera_with_one_stream_ignores_a_useful_second_size(board, vimc, nginx):
    url = nginx.url("one").replace("127.0.0.1", HOST)
    sender = board.start(
        f"exec tallycam publish --video '{vimc},fps=2,size=320x240' --audio silence --quality Low1 --dimension 320x240 "
        "--smallest-size 160x120 --resize seamless --encoder openh264 --duration 15 --status-interval 1 --events json "
        f"--url {url}"
    )
    output = sender.wait(120)
    ended = next(json.loads(line) for line in output.text.splitlines() if '"name":"ended"' in line)
    assert output.status == 0 and ended["sourceFrames"] > 0, output.text[-2000:]


@pytest.mark.slow
def test_an_unbound_camera_returns_and_the_connection_stays(board, vimc, nginx):
    """With a software encoder: vimc's thread keeps its processor for so long that contiguous memory takes seconds."""
    url = nginx.url("vimc").replace("127.0.0.1", HOST)
    sender = board.start(
        f"exec tallycam publish --video '{vimc},fps=2,size=160x120' --audio silence --quality Low1 --dimension 320x240 "
        f"--encoder openh264 --adapt nothing --duration 40 --status-interval 1 --events json --url {url}"
    )
    sender.wait_for('"name":"status".*"sourceFrames":[1-9]', 60)
    files = "ls /proc/$(pidof tallycam)/fd | wc -l"
    before = int(board.run(files).text)
    board.run("echo vimc.0 > /sys/bus/platform/drivers/vimc/unbind")
    sender.wait_for('"name":"sourceInterrupted"', 30)
    board.run("sleep 3; echo vimc.0 > /sys/bus/platform/drivers/vimc/bind")
    sender.wait_for('"name":"sourceReturned"', 30)
    # Nothing of the lost camera is kept: buffers, devices, its manager.
    wait_until(lambda: int(board.run(files).text) <= before, 20, lambda: board.run("ls -l /proc/$(pidof tallycam)/fd").text)
    output = sender.wait(120)
    assert output.status == 0
    events = [json.loads(line) for line in output.text.splitlines() if line.startswith("{")]
    names = [event["name"] for event in events]
    assert "reconnecting" not in names and names.count("connected") == 1
    status = [event for event in events if event["name"] == "status"][-1]
    assert status["sourceRepeated"] > 4 and status["sourceInterruptions"] >= 1
    recording = Recording(nginx.recording("vimc"))
    assert not recording.disorder() and not recording.decoded.complaints
