"""External errors produce one line that says what failed, where, and what to do, and a matching exit status."""

import os
import socket
import subprocess
from contextlib import contextmanager

import media
import pytest
from processes import Process
from recording import Recording
from servers import free_port
from tallycam import TALLYCAM, Receiver, last_event, late_end, publish_arguments, start_publisher

USAGE, CONNECTION, MEDIA, RECORDING, SYSTEM = 2, 3, 4, 5, 6
NOWHERE = "rtmp://127.0.0.1:1/live/x"


def fails(children, words: list, status: int, *parts: str) -> Process:
    """Runs the program and expects this exit status and one line with these parts."""
    process = children.run("tallycam", [TALLYCAM, *words])
    return assert_failure(process, status, *parts)


def assert_failure(process: Process, status: int, *parts: str) -> Process:
    assert process.child.returncode == status, process.report()
    lines = failure_lines(process)
    assert len(lines) == 1, process.report()
    for part in parts:
        assert part in lines[0], f"'{part}' is not in: {lines[0]}"
    return process


def failure_lines(process: Process) -> list[str]:
    return [line for line in process.stderr.splitlines() if line.startswith("tallycam: ")]


def publish(url: str = NOWHERE, **options) -> list:
    return publish_arguments(url, **options)


# Command line


@pytest.mark.parametrize(
    "words, parts",
    [
        ([], ["--help"]),
        (["frobnicate"], ["frobnicate", "--help"]),
        (["publish"], ["--url", "--stream"]),
        (["publish", "--frobnicate"], ["--frobnicate", "usage"]),
        (["publish", "--url"], ["--url", "usage"]),
        (["publish", "--url", NOWHERE, "--stream", "x.json"], ["--url", "--stream"]),
        (["publish", "--url", NOWHERE, "more"], ['unexpected argument "more"', "usage"]),
        (["--verison"], ["--verison", "did you mean --version?"]),
        (["--version", "--json"], ["--version takes no arguments"]),
        (["help", "--socket", "x"], ["unknown option --socket", "usage: tallycam help [COMMAND]"]),
        (["help", "status", "now"], ['unexpected argument "now"', "usage"]),
        (["publish", "--url", NOWHERE, "--ca", ""], ["--ca is empty", "usage"]),
        (["run", "--socket", ""], ["--socket is empty", "usage"]),
        (["run", "--boot", "/dev/null"], ["the boot folder /dev/null is not a folder", "--boot"]),
        (["set", "quality"], ["missing argument", "NAME VALUE"]),
        (publish(quality="Medium9"), ["Medium9", "Low1", "High3"]),
        (publish(quality=""), ["quality", "Low1", "High3"]),
        (publish(audio_quality="Low9"), ["Low9", "High1", "High2"]),
        (publish(encoder="x265"), ["x265", "openh264"]),
        (publish(events="xml"), ["xml", "json", "text"]),
        (publish(duration="-1"), ["--duration", "-1"]),
        (publish(duration="nan"), ["--duration", "nan"]),
        (publish(duration="1e300"), ["--duration", "1e300"]),
        (publish(video="none", audio="none"), ["--video", "--audio"]),
        (publish(video="camera9"), ["camera9", "synthetic", "raw:"]),
        (publish(audio="drums"), ["drums", "tone", "raw:"]),
        (publish(video="raw:-"), ["format"]),
        (publish(video="raw:-,format=rgb,size=640x480,fps=30"), ["rgb", "i420", "nv12"]),
        (publish(video="raw:-,format=i420,size=0x480,fps=30"), ["0x480"]),
        (publish(video="raw:-,format=i420,size=99999999999999999999x2,fps=30"), ["99999999999999999999x2"]),
        (publish(video="raw:-,format=i420,size=640x480,fps=0"), ["fps"]),
        (publish(audio="raw:-,rate=0,channels=1"), ["rate"]),
        (publish(audio="raw:-,rate=44100,channels=99"), ["channels", "1 to 8"]),
        (publish(audio="raw:-,rate=192001,channels=2"), ["rate", "8000 to 192000"]),
        (publish(audio=["tone"] * 5), ["--audio", "4 times"]),
        (publish(audio=["tone", "none"]), ["--audio none"]),
        (publish(audio=["raw:-,rate=48000,channels=2"] * 2), ["standard input"]),
        (publish(audio=["tone", "drums"]), ["drums", "tone", "alsa"]),
        (publish(audio=["tone,gain=50", "silence"]), ["gain", "-60 to 40"]),
        (publish(audio="raw:-,format=s24le,rate=48000,channels=2"), ["s24le", "s16le, s32le or f32le"]),
        (publish(video="raw:-,format=argb,size=640x480,fps=30"), ["argb", "bgra, rgba or bgrx"]),
        (["publish", "--url", NOWHERE, "--pace", "fast"], ["--pace", "--from-flv"]),
        (publish(pace="slow"), ["--pace", "realtime or fast", "slow"]),
        (publish(orientation="45"), ["--orientation", "0, 90, 180 or 270", "45"]),
        (publish(dimension="source"), ["--dimension source", "no size of its own", "size=WxH"]),
        (publish(video="raw:-,format=i420,size=8x8,fps=30", dimension="source"), ["--dimension source", "8x8"]),
        (["publish", "--url", NOWHERE, "--from-flv", "x.flv", "--orientation", "90"], ["--orientation", "--from-flv"]),
        (["publish", "--url", NOWHERE, "--from-flv", "x.flv", "--quality", "Low1"], ["--quality", "--from-flv"]),
        (["receive"], ["--listen"]),
        (["receive", "--listen", "nonsense"], ["--listen"]),
        (["receive", "--listen", "127.0.0.1:99999"], ["--listen"]),
        (["receive", "--listen", "127.0.0.1:0", "--record", ""], ["--record is empty", "usage"]),
        (["receive", "--listen", "127.0.0.1:0", "--overwrite"], ["--overwrite can only be used with --record", "usage"]),
        (["check"], ["usage"]),
        (["snapshot", "50", "--quality", "60"], ["given twice", "60"]),
    ],
    ids=lambda value: " ".join(value)[:60] if value and value[0] not in ("", "--help") else None,
)
def test_a_wrong_command_line(children, words, parts):
    fails(children, words, USAGE, *parts)


@pytest.mark.parametrize(
    "dimension",
    ["0x0", "8x8", "640x0", "-640x480", "640", "640x", "x480", "640x480x2", "99999x99999", "9223372036854775807x16",
     "99999999999999999999x99999999999999999999", "640.5x480", "banana", ""],
)  # fmt: skip
def test_an_impossible_size(children, dimension):
    # A number too large for any integer is not repeated digit by digit.
    shown = dimension if len(dimension) < 30 else "impossible"
    fails(children, publish(dimension=dimension), USAGE, shown, "dimension", "640x480")


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/live/x", "rtmp://", "rtmp:///live/x", "127.0.0.1/live/x", "", "rtmp://host", "rtmp://host/",
     "rtmp://host:0/live/x", "rtmp://host:99999/live/x", "rtmp://host:port/live/x", "rtmp://[::1/live/x",
     "rtmp://ho st/live/x", "rtmp://host/live/x\n", "rtmp://host/live", "//host/live/x", "rtmp:host/live/x",
     "rtmp://" + "a" * 100_000 + "/live/x"],
    ids=lambda url: url[:30],
)  # fmt: skip
def test_a_url_that_is_not_rtmp(children, url):
    process = fails(children, publish(url), USAGE, "--url", "rtmp://HOST")
    assert len(failure_lines(process)[0]) < 500


# stream.json


def test_a_missing_stream_file(children, tmp_path):
    path = tmp_path / "missing.json"
    for command in (["check", path], ["publish", "--stream", path]):
        fails(children, command, USAGE, str(path), "No such file")


def test_a_folder_for_a_stream_file(children, tmp_path):
    fails(children, ["check", tmp_path], USAGE, str(tmp_path))


def test_a_pipe_is_not_checked(children, tmp_path):
    os.mkfifo(tmp_path / "stream.json")
    fails(children, ["check", tmp_path / "stream.json"], USAGE, "stream.json: is not a regular file")


@pytest.mark.parametrize(
    "text, place",
    [
        ("", "1:1"),
        ("{", "1:2"),
        ('{"url": "rtmp://h/a",\n "key": }', "2:9"),
        ('{"url": "rtmp://h/a"} trailing', "1:23"),
        ("[1, 2", "1:6"),
        ('"just text"', "1:1"),
        ("[" * 60_000, "1:"),
        ('{"url": "\xff\xfe"}', "1:"),
    ],
    ids=["empty", "open object", "value missing", "trailing text", "open array", "no object", "deep", "no UTF-8"],
)
def test_a_malformed_stream_file(children, tmp_path, text, place):
    path = tmp_path / "stream.json"
    path.write_bytes(text.encode("latin-1"))
    for command in (["check", path], ["publish", "--stream", path]):
        fails(children, command, USAGE, f"{path}:{place}")


FAULTY = """{
  "title": "no",
  "hub": 7,
  "publishSecurity": "secret",
  "hosts": {
    "publish": { "rtmp": "" }
  }
}
"""


def test_check_names_the_place_of_every_fault(children, tmp_path):
    path = tmp_path / "stream.json"
    path.write_text(FAULTY)
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == USAGE, check.report()
    lines = failure_lines(check)
    for place in ("2:", "3:", "4:", "6:"):
        assert any(line.startswith(f"tallycam: {path}:{place}") for line in lines), f"{place}\n{check.report()}"
    assert any("publishKey" in line for line in lines), "what is missing is a fault too"
    assert len(lines) == 5


def test_check_is_content_with_a_good_file(children, tmp_path):
    path = tmp_path / "stream.json"
    path.write_text(
        '{"id": "z1.hub1.stream1", "title": "stream1", "hub": "hub1", "publishKey": "0123456789abcdef",'
        ' "publishSecurity": "dynamic", "disabled": false, "profiles": null,'
        ' "hosts": {"publish": {"rtmp": "publish.example.com"}, "live": {"http": "live.example.com"}}}'
    )
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == 0, check.report()
    assert "publish.example.com" in check.stdout
    assert "0123456789abcdef" not in check.stdout + check.stderr


def test_a_disabled_stream_is_refused(children, tmp_path):
    path = tmp_path / "stream.json"
    path.write_text('{"disabled": true, "url": "rtmp://127.0.0.1:1/live", "key": "k1"}')
    fails(children, ["publish", "--stream", path], USAGE, str(path), "disabled")


# The server


def test_a_refused_connection(children):
    port = free_port()
    process = fails(
        children, publish(f"rtmp://127.0.0.1:{port}/live/x"), CONNECTION, f"127.0.0.1:{port}", "refused"
    )
    event = last_event(process, "failed")
    assert event["code"] == -1001


def test_an_unknown_host(children):
    process = fails(children, publish("rtmp://nothing.invalid/live/x"), CONNECTION, "nothing.invalid")
    # Without a name server, as in a network namespace, the answer is unknown.
    assert last_event(process, "failed")["code"] in (-1000, -1300)


def test_an_application_that_the_server_does_not_know(nginx, children):
    fails(children, publish(f"rtmp://127.0.0.1:{nginx.port}/nothing/x"), CONNECTION, f"127.0.0.1:{nginx.port}")


def test_a_stream_name_that_is_taken(nginx, children):
    first = start_publisher(children, nginx.url("x"), quality="Low1")
    first.wait_until(lambda: last_event(first, "publishing"), "first publisher")
    process = fails(children, publish(nginx.url("x"), quality="Low1"), CONNECTION, f"127.0.0.1:{nginx.port}")
    assert last_event(process, "failed")["code"] == -1008
    assert "lready publishing" in process.stderr
    assert first.interrupt_and_wait() == 0


def test_a_server_that_speaks_no_rtmp(children):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        publisher = start_publisher(children, f"rtmp://127.0.0.1:{port}/live/x", reconnect=0)
        client, _ = server.accept()
        client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 200)
        publisher.wait()
        assert_failure(publisher, CONNECTION, f"127.0.0.1:{port}")
        client.close()


def test_a_server_that_disappears(nginx, children):
    publisher = start_publisher(children, nginx.url("x"), quality="Low1")
    publisher.wait_until(lambda: last_event(publisher, "publishing"), "stream")
    nginx.process.kill()
    publisher.wait()
    assert_failure(publisher, CONNECTION, f"127.0.0.1:{nginx.port}")


def test_a_port_that_is_taken(children):
    receiver = Receiver(children)
    fails(children, ["receive", "--listen", receiver.address], SYSTEM, receiver.address, "in use")


# Sources


def test_a_missing_source(children, nginx, tmp_path):
    path = tmp_path / "missing.yuv"
    fails(
        children, publish(nginx.url("x"), video=f"raw:{path},format=i420,size=320x240,fps=30"),
        MEDIA, str(path), "No such file",
    )  # fmt: skip
    path = tmp_path / "missing.pcm"
    fails(children, publish(nginx.url("x"), audio=f"raw:{path},rate=44100,channels=2"), MEDIA, str(path), "No such file")


def test_a_source_that_is_a_folder(children, nginx, tmp_path):
    fails(
        children, publish(nginx.url("x"), video=f"raw:{tmp_path},format=i420,size=320x240,fps=30"), MEDIA, str(tmp_path)
    )


@pytest.mark.parametrize("size", [0, 1, 320 * 240 * 3 // 2 - 1])
def test_a_source_shorter_than_a_frame(children, nginx, tmp_path, size):
    path = tmp_path / "short.yuv"
    path.write_bytes(bytes(size))
    fails(
        children, publish(nginx.url("x"), video=f"raw:{path},format=i420,size=320x240,fps=30"),
        MEDIA, str(path), "115200",
    )  # fmt: skip


def test_a_pipe_shorter_than_a_frame(children, nginx):
    writer = children.start("writer", ["head", "-c", "1000", "/dev/zero"], piped=True)
    publisher = start_publisher(
        children, nginx.url("x"), stdin=writer.pipe, video="raw:-,format=i420,size=320x240,fps=30"
    )
    publisher.wait()
    assert_failure(publisher, MEDIA, "standard input", "115200")


def test_a_sample_rate_that_does_not_fit_the_bitrate(children, nginx, tmp_path):
    path = tmp_path / "x.pcm"
    path.write_bytes(bytes(64_000))
    words = publish(nginx.url("x"), audio=f"raw:{path},rate=11025,channels=1", audio_quality="High2@11025")
    fails(children, words, USAGE, "11025", "128000")


def test_a_source_that_ends_ends_the_stream(children, nginx, tmp_path):
    """The end of a file is not a failure: its contents have been published."""
    path = tmp_path / "one-second.yuv"
    path.write_bytes(bytes(320 * 240 * 3 // 2 * 30))
    publisher = start_publisher(
        children, nginx.url("x"), video=f"raw:{path},format=i420,size=320x240,fps=30", dimension="320x240"
    )
    assert publisher.wait() == 0, publisher.report()
    sent = last_event(publisher, "ended")
    assert sent["videoFrames"] + sent["videoSkipped"] == 30
    assert str(path) in publisher.stderr, "the log says what ended"
    recording = Recording(nginx.recording("x"))
    assert recording.decoded.complaints == ""
    assert recording.audio_packets[-1].timestamp < 1500 + 1000 * late_end(publisher, 1)


def test_a_source_that_ends_within_a_frame_is_reported(children, nginx, tmp_path):
    path = tmp_path / "torn.yuv"
    path.write_bytes(bytes(320 * 240 * 3 // 2 * 15 + 5000))
    publisher = start_publisher(
        children, nginx.url("x"), video=f"raw:{path},format=i420,size=320x240,fps=30", dimension="320x240"
    )
    assert publisher.wait() == 0, publisher.report()
    sent = last_event(publisher, "ended")
    assert sent["videoFrames"] + sent["videoSkipped"] == 15
    assert "5000" in publisher.stderr and str(path) in publisher.stderr


@pytest.mark.parametrize(
    "content",
    [b"", b"FLV", b"not an FLV file at all", b"FLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00" + b"\xff" * 40],
    ids=["empty", "cut off", "something else", "garbage behind the header"],
)
def test_a_faulty_flv_file(children, nginx, tmp_path, content):
    path = tmp_path / "faulty.flv"
    path.write_bytes(content)
    fails(children, ["publish", "--from-flv", path, "--url", nginx.url("x"), "--pace", "fast"], MEDIA, str(path))


@pytest.mark.parametrize("content, kind", [
    (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG image"), (b"\0\0\0\x20ftypisom" + bytes(300), "an MP4 file"),
    (b'{"url": "rtmp://127.0.0.1/live/x"}', "a JSON file"),
])  # fmt: skip
def test_a_file_of_another_kind_is_named(children, nginx, tmp_path, content, kind):
    path = tmp_path / "other.flv"
    path.write_bytes(content)
    words = ["publish", "--from-flv", path, "--url", nginx.url("x"), "--pace", "fast"]
    fails(children, words, MEDIA, f"this is {kind}, not an FLV file")


def test_a_truncated_flv_file(children, nginx, tmp_path, encoded_flv):
    path = tmp_path / "cut.flv"
    path.write_bytes(encoded_flv.read_bytes()[:100_000])
    fails(children, ["publish", "--from-flv", path, "--url", nginx.url("x"), "--pace", "fast"], MEDIA, str(path))
    assert media.decode(nginx.recording("x")).frames > 3, "what is whole is published"


def test_a_missing_flv_file(children, nginx, tmp_path):
    path = tmp_path / "missing.flv"
    fails(children, ["publish", "--from-flv", path, "--url", nginx.url("x")], MEDIA, str(path), "No such file")


# The recording


@contextmanager
def small_disk(path, kilobytes: int):
    """A file system of this size; the build root has its own mount namespace."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)


def test_a_full_disk_while_recording(children, tmp_path):
    with small_disk(tmp_path / "disk", 256) as disk:
        path = disk / "x.flv"
        receiver = children.start(
            "receive", [TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", path, "--events", "json"]
        )
        receiver.wait_until(lambda: last_event(receiver, "listening"), "listener")
        address = last_event(receiver, "listening")["address"]
        start_publisher(children, f"rtmp://{address}/live/x", quality="High3")
        receiver.wait()
        assert_failure(receiver, RECORDING, str(path), "No space left", "free")
        assert path.stat().st_size > 200_000
        # Whole tags only.
        assert Recording(path).decoded.complaints == ""


def test_a_recording_into_a_pipe(children, tmp_path):
    os.mkfifo(path := tmp_path / "pipe.flv")
    fails(children, ["receive", "--listen", "127.0.0.1:0", "--record", path], RECORDING, str(path), "is a pipe")


def test_a_recording_that_cannot_be_made(children, tmp_path):
    for path in (tmp_path / "missing" / "x.flv", tmp_path):
        fails(children, ["receive", "--listen", "127.0.0.1:0", "--record", path], RECORDING, str(path))
