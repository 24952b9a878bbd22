"""Cameras and microphones of the virtual board: vivid through V4L2, snd-aloop through ALSA."""

import json

import pytest
from board import HOST
from recording import Recording


def captured(board, source: str, frames: int, *options: str, timeout: float = 120) -> dict:
    words = f"tallycam capture --video {source} --frames {frames} {' '.join(options)}"
    return json.loads(board.run(words, timeout=timeout).text.splitlines()[-1])


@pytest.fixture
def vivid(board) -> str:
    """The camera's path, and the camera where it was when the test ends."""
    name = "vivid.0"
    yield "/dev/video0"
    board.run(f"[ -e /sys/bus/platform/drivers/vivid/{name} ] || echo {name} > /sys/bus/platform/drivers/vivid/bind")


def test_cameras_are_listed_with_what_they_offer(board, vivid):
    lines = [json.loads(line) for line in board.run("tallycam cameras --json").text.splitlines()]
    camera = next(entry for entry in lines if entry["source"] == f"v4l2:{vivid}")
    assert camera["model"] == "vivid"
    assert {"format": "NV12", "size": "640x360"}.items() <= next(
        mode for mode in camera["modes"] if mode["format"] == "NV12" and mode["size"] == "640x360"
    ).items()
    assert "brightness" in {control["name"] for control in camera["controls"]}
    assert "NV12" in board.run("tallycam cameras").text


def test_pictures_come_as_dmabuf_in_order_and_nobody_looks_at_them(board, vivid):
    report = captured(board, f"v4l2:{vivid}", 60, "--dimension 320x180")
    assert report["format"] == "NV12" and report["frames"] == report["dmabuf"] == 60
    assert report["disorders"] == report["repeated"] == report["decoded"] == 0
    assert report["mapped"] == 0


@pytest.mark.parametrize(
    "code, given, decoded",
    [("YUYV", "YUYV", 0), ("UYVY", "UYVY", 0), ("RGB3", "BG24", 0), ("YVYU", "YU12", 10)],
)  # fmt: skip
def test_formats_that_libyuv_does_not_read_are_decoded(board, vivid, code, given, decoded):
    report = captured(board, f"v4l2:{vivid},format={code}", 10, "--dimension 320x180")
    assert (report["format"], report["decoded"]) == (given, decoded)


def test_controls_are_set_by_name_and_refused_with_the_list(board, vivid):
    captured(board, f"v4l2:{vivid},brightness=77", 1)
    refused = board.run(f"tallycam capture --video v4l2:{vivid},brightness=999", check=False)
    assert refused.status == 4 and "from 0 to 255" in refused.text
    refused = board.run(f"tallycam capture --video v4l2:{vivid},focus=1", check=False)
    assert refused.status == 4 and "brightness" in refused.text


def test_busy_and_forbidden_cameras_are_told_apart(board, vivid):
    holder = board.start(f"exec tallycam capture --video v4l2:{vivid} --frames 100000")
    board.run("sleep 3")
    busy = board.run(f"tallycam capture --video v4l2:{vivid}", check=False)
    holder.end()
    assert busy.status == 4 and "in use by another program" in busy.text
    board.run(f"chmod 600 {vivid}; echo nobody:x:65534:65534::/:/bin/sh >> /etc/passwd")
    # socat changes the user; its own reading of colons is kept out of the way by a script.
    board.run(f"printf '#!/bin/sh\\nexec tallycam capture --video v4l2:{vivid}\\n' > /tmp/try && chmod 755 /tmp/try")
    forbidden = board.run("socat -u EXEC:/tmp/try,su=nobody,stderr STDOUT", check=False)
    assert "may not be opened by this user" in forbidden.text


def test_microphones_are_listed(board):
    assert "alsa:hw:Loopback,1" in board.run("tallycam microphones").text


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def publish(url: str, seconds: int, camera: str) -> str:
    return (
        f"exec tallycam publish --video v4l2:{camera} --audio alsa:hw:Loopback,1 --quality Low3 --dimension 320x240 "
        f"--adapt nothing --duration {seconds} --status-interval 1 --events json --url {url}"
    )


def speak(board) -> None:
    """Noise into the loop, at a rate that is not the stream's."""
    board.start("while true; do aplay -q -D hw:Loopback,0 -f S16_LE -c 2 -r 48000 /dev/urandom; done")
    board.run("sleep 2")


def test_camera_and_microphone_are_published_together(board, vivid, nginx):
    speak(board)
    sender = board.run(publish(nginx.url("capture").replace("127.0.0.1", HOST), 20, vivid), timeout=120)
    status = [event for event in events(sender.text) if event["name"] == "status"][-1]
    assert status["sourceInterruptions"] == status["audioInterruptions"] == 0
    assert status["audioFrames"] > 15 * 44_100 and status["audioPeakDecibels"] > -20
    assert status["sourceDecoded"] == 0
    recording = Recording(nginx.recording("capture"))
    assert not recording.disorder() and not recording.decoded.complaints
    first = abs(recording.pictures[0].timestamp - recording.sounds[0].timestamp)
    assert first < 200, "the tracks begin together"
    sound_time = (recording.sounds[-1].timestamp - recording.sounds[0].timestamp) / 1000
    assert abs(sound_time - (len(recording.sounds) - 1) * 1024 / recording.sample_rate) < 0.04


@pytest.mark.parametrize(
    "setting, decoded, converted",
    [
        ("format=YUYV,size=640x360", False, True), ("format=NV12,size=640x360", False, True),
        ("format=YU12,size=320x180", False, False), ("format=UYVY,size=320x180", False, True),
        ("format=RGB3,size=640x360", False, True), ("format=YVYU,size=320x180", True, False),
        ("format=YVYU,size=640x360", True, True),
    ],
)  # fmt: skip
def test_a_picture_is_converted_once_at_most(board, vivid, nginx, setting, decoded, converted):
    """Format and size in one go, whatever the camera gives; decoding is counted for itself."""
    url = nginx.url("once").replace("127.0.0.1", HOST)
    sender = board.run(
        f"tallycam publish --video v4l2:{vivid},{setting} --audio none --encoder openh264 --quality Low3 --url {url} "
        "--dimension 320x180 --adapt nothing --duration 5 --status-interval 1 --events json", timeout=60,
    )  # fmt: skip
    status = [event for event in events(sender.text) if event["name"] == "status"][-1]
    pictures = status["sourceFrames"] + status["sourceRepeated"]
    assert pictures > 5
    # The counters are read while pictures are under way.
    assert abs(status["sourceDecoded"] - (status["sourceFrames"] if decoded else 0)) <= 3
    assert 0 < status["sourceConverted"] <= pictures if converted else status["sourceConverted"] == 0


def test_busy_and_forbidden_microphones_are_told_apart(board):
    words = "tallycam publish --video none --audio alsa:hw:Loopback,1 --duration 2 --url rtmp://127.0.0.1:9/live/x"
    # The loop has eight of them; one is enough to listen.
    hold = "exec arecord -q -D hw:Loopback,1 -f S16_LE -c 2 -r 48000 /dev/null"
    holders = [board.start(hold) for _ in range(8)]
    board.run(
        "for _ in $(seq 100); do [ $(grep -L closed /proc/asound/Loopback/pcm1c/sub*/status | wc -l) = 8 ] && exit; "
        "sleep 0.2; done; exit 1"
    )
    busy = board.run(words, check=False)
    for holder in holders:
        holder.end()
    assert busy.status == 4 and "in use by another program" in busy.text
    board.run("grep -q nobody /etc/passwd || echo nobody:x:65534:65534::/:/bin/sh >> /etc/passwd")
    board.run(f"chmod 600 /dev/snd/*; printf '#!/bin/sh\\nexec {words}\\n' > /tmp/hear && chmod 755 /tmp/hear")
    forbidden = board.run("socat -u EXEC:/tmp/hear,su=nobody,stderr STDOUT", check=False)
    assert "may not be opened by this user" in forbidden.text and "group audio" in forbidden.text


def test_an_unbound_camera_returns_and_the_connection_stays(board, vivid, nginx):
    speak(board)
    sender = board.start(publish(nginx.url("unbound").replace("127.0.0.1", HOST), 30, vivid))
    sender.wait_for('"name":"status".*"sourceFrames":[1-9]', 40)
    board.run("echo vivid.0 > /sys/bus/platform/drivers/vivid/unbind")
    sender.wait_for('"name":"sourceInterrupted"', 20)
    board.run("sleep 3; echo vivid.0 > /sys/bus/platform/drivers/vivid/bind")
    sender.wait_for('"name":"sourceReturned"', 20)
    output = sender.wait(90)
    assert output.status == 0
    names = [event["name"] for event in events(output.text)]
    assert "reconnecting" not in names and names.count("connected") == 1
    status = [event for event in events(output.text) if event["name"] == "status"][-1]
    assert status["sourceRepeated"] > 10 and status["sourceInterruptions"] == 1
    recording = Recording(nginx.recording("unbound"))
    assert not recording.disorder() and not recording.decoded.complaints
    gaps = [b.timestamp - a.timestamp for a, b in zip(recording.pictures, recording.pictures[1:])]
    assert max(gaps) < 1500
