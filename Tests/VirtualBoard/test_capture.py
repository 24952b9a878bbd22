"""Cameras and microphones of the virtual board: vivid through V4L2, snd-aloop through ALSA."""

import json
import re
import subprocess

import pytest
from board import HOST
from encoder import set_faults
from loopback import events, publish, speak
from recording import Recording
from stalls import Stalls
from waiting import wait_until

pytestmark = pytest.mark.takes(minutes=3.7, processors=0.25)


def captured(board, source: str, frames: int, *options: str, timeout: float = 120) -> dict:
    words = f"tallycam capture --video {source} --frames {frames} {' '.join(options)}"
    return json.loads(board.run(words, timeout=timeout).text.splitlines()[-1])


@pytest.fixture
def vivid(board) -> str:
    """The camera's path. At the end of the test the camera is back in its place."""
    name = "vivid.0"
    yield "/dev/video0"
    board.run(f"[ -e /sys/bus/platform/drivers/vivid/{name} ] || echo {name} > /sys/bus/platform/drivers/vivid/bind")


def test_cameras_are_listed_with_their_modes(board, vivid):
    lines = [json.loads(line) for line in board.run("tallycam cameras --json").text.splitlines()]
    camera = next(entry for entry in lines if entry["source"] == f"v4l2:{vivid}")
    assert camera["model"] == "vivid"
    assert {"format": "NV12", "size": "640x360"}.items() <= next(
        mode for mode in camera["modes"] if mode["format"] == "NV12" and mode["size"] == "640x360"
    ).items()
    assert "brightness" in {control["name"] for control in camera["controls"]}
    assert "NV12" in board.run("tallycam cameras").text


def test_frames_arrive_as_dmabuf_in_order_and_unread(board, vivid):
    report = captured(board, f"v4l2:{vivid}", 60, "--dimension 320x180")
    assert report["format"] == "NV12" and report["frames"] == report["dmabuf"] == 60
    assert report["disorders"] == report["repeated"] == report["decoded"] == 0
    assert report["mapped"] == 0


# V4L2's formats with what the stream gets of them, and how the saved frame is read. vivid has no compressed format.
FORMATS = {
    "NV12": ("NV12", "nv12"), "YU12": ("YU12", "yuv420p"), "YUYV": ("YUYV", "yuyv422"), "UYVY": ("UYVY", "uyvy422"),
    "RGB3": ("BG24", "rgb24"), "BGR3": ("RG24", "bgr24"),
} | {
    code: ("YU12", "yuv420p")
    for code in ["YVYU", "NV16", "NV61", "YV12", "BA81", "GBRG", "GRBG", "RGGB"]
}  # fmt: skip
# How many bits their samples have beyond eight, and how many bytes.
GRAY_FORMATS = {"GREY": (0, 1), "Y16": (8, 2)}
SAMPLES = 320 * 180


def colors(data: bytes, layout: str) -> list[int]:
    """Y, U and V in 32x2 fields of a frame of 320x180."""
    words = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", layout, "-s", "320x180", "-i", "-", "-frames:v", "1",
             "-vf", "scale=32:2:flags=area,format=yuv444p", "-f", "rawvideo", "-"]  # fmt: skip
    return list(subprocess.run(words, input=data, capture_output=True, check=True, timeout=60).stdout)


def test_every_format_shows_the_same_frame(board, vivid, capsys):
    board.run(f"v4l2-ctl -d {vivid} -c osd_text_mode=2")
    frames, faults = {}, []
    for code, (given, layout) in FORMATS.items():
        report = captured(
            board, f"v4l2:{vivid},format={code},size=320x180", 3, "--dimension 320x180 --save /tmp/frames")
        is_decoded = given == "YU12" != code
        # A fourth frame may be decoded before the program ends.
        right = (3, 4) if is_decoded else (0,)
        if report["format"] != given or report["decoded"] not in right or report["passes"] != report["decoded"]:
            faults.append((code, report))
        frames[code] = colors(board.get("/tmp/frames"), layout)
    board.run(f"v4l2-ctl -d {vivid} -c osd_text_mode=0; rm /tmp/frames")
    truth = frames["NV12"]
    assert len(set(truth[:64])) > 5, "the frame shows no color bars"
    lines = []
    for code, frame in frames.items():
        luma = max(abs(a - b) for a, b in zip(frame[:64], truth[:64]))
        chroma = max(abs(a - b) for a, b in zip(frame[64:], truth[64:]))
        lines.append(f"{code}: luma off by {luma}, chroma by {chroma} at most")
        if max(luma, chroma) > 5:
            faults.append(lines[-1])
    with capsys.disabled():
        print("\n  " + "\n  ".join(lines))
    assert not faults


@pytest.mark.parametrize("code", GRAY_FORMATS)
def test_gray_cameras_keep_their_luma(board, vivid, code):
    """Compares them with the driver's own bytes as read by another program."""
    board.run(f"v4l2-ctl -d {vivid} -c osd_text_mode=2")
    board.run(
        f"v4l2-ctl -d {vivid} --set-fmt-video=width=320,height=180,pixelformat='{code:4}' --stream-mmap "
        "--stream-count=1 --stream-to=/tmp/raw"
    )
    report = captured(board, f"v4l2:{vivid},format={code},size=320x180", 1, "--dimension 320x180 --save /tmp/frame")
    raw, frame = board.get("/tmp/raw"), board.get("/tmp/frame")
    board.run(f"v4l2-ctl -d {vivid} -c osd_text_mode=0; rm /tmp/raw /tmp/frame")
    assert (report["format"], report["decoded"]) == ("YU12", 1)
    shift, width = GRAY_FORMATS[code]
    samples = [int.from_bytes(raw[place : place + width], "little") >> shift for place in range(0, len(raw), width)]
    assert len(samples) == SAMPLES and len(set(samples)) > 5
    assert list(frame[:SAMPLES]) == samples and set(frame[SAMPLES:]) == {128}


def test_controls_are_set_by_name_and_refusals_list_them(board, vivid):
    captured(board, f"v4l2:{vivid},brightness=77", 1)
    refused = board.run(f"tallycam capture --video v4l2:{vivid},brightness=999", check=False)
    assert refused.status == 4 and "from 0 to 255" in refused.text
    refused = board.run(f"tallycam capture --video v4l2:{vivid},focus=1", check=False)
    assert refused.status == 4 and "brightness" in refused.text


def test_busy_and_forbidden_cameras_are_distinguished(board, vivid):
    holder = board.start(f"exec tallycam capture --video v4l2:{vivid} --frames 100000")
    board.run("sleep 3")
    busy = board.run(f"tallycam capture --video v4l2:{vivid}", check=False)
    holder.end()
    assert busy.status == 4 and "in use by another program" in busy.text
    board.run(f"chmod 600 {vivid}; echo nobody:x:65534:65534::/:/bin/sh >> /etc/passwd")
    # socat changes the user. A script keeps the colons away from socat's own parser.
    board.run(f"printf '#!/bin/sh\\nexec tallycam capture --video v4l2:{vivid}\\n' > /tmp/try && chmod 755 /tmp/try")
    forbidden = board.run("socat -u EXEC:/tmp/try,su=nobody,stderr STDOUT", check=False)
    assert "cannot be opened: permission denied" in forbidden.text


@pytest.mark.parametrize(
    "setting, decoded, conversions",
    [
        # The encoder's size and format; its size; another size.
        ("format=YU12,size=640x360", 0, 0), ("format=YVYU,size=640x360", 1, 0), ("format=NV12,size=640x480", 0, 1),
        *(pytest.param(f"format={setting}", 0, 1, marks=pytest.mark.slow) for setting in (
            "NV12,size=640x360", "YUYV,size=640x360", "UYVY,size=1280x720", "RGB3,size=640x480")),
        # Decoding plus scaling, and enlarging, cannot be done in one pass; the status reports that.
        ("format=YVYU,size=1280x720", 1, 1), ("format=YUYV,size=320x180", 0, 2),
    ],
)  # fmt: skip
def test_the_processor_passes_over_a_frame_at_most_once(board, vivid, nginx, setting, decoded, conversions):
    """From the camera's memory to the software encoder, in all formats of the camera; exceptions are reported."""
    url = nginx.url("once").replace("127.0.0.1", HOST)
    sender = board.run(
        f"tallycam publish --video v4l2:{vivid},fps=10,{setting} --audio none --encoder openh264 --quality Low1 "
        f"--url {url} --dimension 640x360 --adapt nothing --duration 5 --status-interval 1 --events json", timeout=60,
    )  # fmt: skip
    status = [event for event in events(sender.text) if event["name"] == "status"][-1]
    frames = status["sourceFrames"] + status["sourceRepeated"]
    assert frames > 3
    # Decoded frames may still wait for the encoder, which has not taken them yet.
    waiting = status["sourceDecoded"] - decoded * status["sourceFrames"]
    assert 0 <= waiting <= 3 * decoded, status
    assert status["sourcePasses"] == status["sourceDecoded"] + status["sourceConverted"]
    if decoded + conversions <= 1:
        assert status["sourcePasses"] <= frames + waiting
    # The counters are read while a frame is being processed.
    assert abs(status["sourceConverted"] - conversions * frames) <= 2 * conversions


@pytest.mark.parametrize(
    "setting, conversions", [("format=NV12,size=640x480", 0), pytest.param("format=YU12,size=640x480", 0, marks=pytest.mark.slow),
                             ("format=YUYV,size=640x480", 2)])  # fmt: skip
def test_a_hardware_encoder_reads_the_cameras_memory(board, vivid, nginx, setting, conversions):
    """Nobody reads or copies a frame with a suitable format; another one is converted into the encoder's memory."""
    url = nginx.url("leased").replace("127.0.0.1", HOST)
    sender = board.run(
        f"tallycam publish --video v4l2:{vivid},fps=10,{setting} --audio none --encoder v4l2 --quality Low1 --url {url} "
        "--dimension 640x480 --adapt nothing --duration 5 --status-interval 1 --events json", timeout=60,
    )  # fmt: skip
    status = [event for event in events(sender.text) if event["name"] == "status"][-1]
    frames = status["sourceFrames"] + status["sourceRepeated"]
    assert status["encoder"] == "v4l2:/dev/video11" and frames > 10
    assert abs(status["sourcePasses"] - conversions * frames) <= 3 * conversions
    assert (status["sourceMapped"] > 0) == (conversions > 0)


def unbound_for_seconds(board, sender) -> list[dict]:
    """Takes the camera of a live stream away and returns it.

    Returns the statuses since then. The stream has kept its one connection to its end.
    """
    sender.wait_for('"name":"status".*"sourceFrames":[1-9]', 40)
    board.run("echo vivid.0 > /sys/bus/platform/drivers/vivid/unbind")
    sender.wait_for('"name":"sourceInterrupted"', 20)
    board.run("sleep 3; echo vivid.0 > /sys/bus/platform/drivers/vivid/bind")
    sender.wait_for('"name":"sourceReturned"', 20)
    output = sender.wait(90)
    assert output.status == 0
    happened = events(output.text)
    names = [event["name"] for event in happened]
    assert "reconnecting" not in names and names.count("connected") == 1
    assert not {"encoderRestarted", "softwareEncoderInUse"} & set(names), names
    statuses = [event for event in happened[names.index("sourceReturned") :] if event["name"] == "status"]
    assert statuses[-1]["sourceRepeated"] > 10
    return statuses


@pytest.mark.slow
def test_a_hardware_encoder_continues_with_the_last_frame_of_an_unbound_camera(board, vivid, nginx):
    """No program has read its frames before: the last one must still be available for repetition. It is repeated from memory
    that no driver owns, at no cost for the encoder: the encoder is not opened again, and reads the camera's memory as before
    once the camera is back."""
    url = nginx.url("unboundlent").replace("127.0.0.1", HOST)
    sender = board.start(
        f"tallycam publish --video v4l2:{vivid},fps=10,format=NV12,size=640x480 --audio none --encoder v4l2 --quality Low1 "
        f"--url {url} --dimension 640x480 --adapt nothing --duration 20 --status-interval 1 --events json"
    )
    statuses = unbound_for_seconds(board, sender)
    assert {status["encoder"] for status in statuses} == {"v4l2:/dev/video11"}
    # The last report before the camera's first frames may include a repeated frame.
    first, last = statuses[1], statuses[-1]
    assert last["sourceFrames"] > first["sourceFrames"] + 20
    for count in ("sourceMapped", "sourceConverted", "sourcePasses"):
        assert last[count] == first[count], (count, first, last)
    recording = Recording(nginx.recording("unboundlent"))
    assert not recording.disorder() and not recording.decoded.complaints


def test_an_unbound_camera_returns_and_the_connection_stays(board, vivid, nginx):
    speak(board)
    stalls = Stalls(board)
    sender = board.start(publish(nginx.url("unbound").replace("127.0.0.1", HOST), 30, vivid))
    assert unbound_for_seconds(board, sender)[-1]["sourceInterruptions"] == 1
    recording = Recording(nginx.recording("unbound"))
    assert not recording.disorder() and not recording.decoded.complaints
    gaps = [b.timestamp - a.timestamp for a, b in zip(recording.frames, recording.frames[1:])]
    assert max(gaps) < 1500 + stalls.longest * 1000


def test_a_hanging_camera_driver_delays_nothing_else(encoder, nginx):
    """Opening this node does not return. The test uses an encoder's node for that: whether it is a camera would be queried
    later."""
    set_faults(encoder, hang_open=1)
    try:
        start = encoder.seconds
        refused = encoder.run(publish(f"rtmp://{HOST}:9/live/x", 5, "/dev/video11"), check=False, timeout=60)
        listed = encoder.run("tallycam cameras", check=False, timeout=60)
        took = encoder.seconds - start
    finally:
        set_faults(encoder, hang_open=0)
    assert refused.status == 4 and "the driver of /dev/video11 has not answered for 3.0 seconds" in refused.text
    assert "note: the driver of /dev/video11 has not answered" in listed.text
    assert listed.status == 0 and "v4l2:/dev/video0 " in listed.text
    assert took < 25


def test_the_console_has_lines_for_camera_and_audio(board, vivid, nginx):
    """The appliance's status has them; JSON has the same numbers."""
    speak(board)
    server, _, key = nginx.url("console").replace("127.0.0.1", HOST).rpartition("/")
    files = {
        "board": {"name": "Bench", "encoder": "openh264", "microphone": "hw:Loopback,1"},
        "stream": {"url": server, "key": key},
        "device": {"camera": vivid, "dimension": "320x240", "audio": {"source": "microphone"}},
    }  # fmt: skip
    board.run("rm -rf /tmp/a; mkdir -p /tmp/a/boot /tmp/a/state /tmp/a/network")
    for name, content in files.items():
        board.put(f"/tmp/a/boot/{name}.json", json.dumps(content))
    board.start(
        "exec tallycam run --boot /tmp/a/boot --state /tmp/a/state --socket /tmp/a/socket --network /tmp/a/network "
        "--simulate-power"
    )
    board.run("for _ in $(seq 60); do [ -S /tmp/a/socket ] && break; sleep 0.5; done; tallycam start --socket /tmp/a/socket")

    def sources_now() -> dict:
        return json.loads(board.run("tallycam status --json --socket /tmp/a/socket").text).get("sources", {})

    # The level is available after the first whole second of audio.
    sources = wait_until(lambda: "audioPeakDecibels" in (now := sources_now()) and now, 60, sources_now, interval=1)
    assert sources["sourceFrames"] > 0 and sources["sourceConverted"] > 0 and sources["audioSamples"] > 0
    assert sources["audioPeakDecibels"] > -20 and {"sourceDropped", "sourceRepeated", "audioOverruns"} <= set(sources)
    text = board.run("tallycam status --socket /tmp/a/socket").text
    assert re.search(r"^camera: +\d+ frames, \d+ missed, \d+ repeated, 0 decoded, \d+ converted$", text, re.MULTILINE), text
    assert re.search(r"^audio: +peak -?\d+\.\d dBFS, \d+ overruns(, drift -?\d+\.\d ppm)?$", text, re.MULTILINE), text
