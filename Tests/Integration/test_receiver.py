"""`tallycam receive` accepts other publishers' streams and loses nothing."""

import contextlib
import resource
import signal
import socket

import flv
import pytest
from processes import HUNG, Children
from recording import Recording
from rtmp_wire import OBSLikePublisher
from tallycam import TALLYCAM, Receiver, events, last_event, start_publisher, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.6, processors=0.3)

FRAMES = 90


@pytest.fixture
def receiver(children):
    return Receiver(children)


def assert_counts(receiver: Receiver, frames: int, audio_packets: int) -> Recording:
    summary = receiver.summary()
    recording = Recording(receiver.recording())
    assert recording.decoded.complaints == ""
    assert recording.disorder() == []
    assert len(recording.frames) == recording.decoded.frames == summary["videoFrames"] == frames
    assert len(recording.audio_packets) == recording.decoded.audio_packets == audio_packets
    assert abs(summary["audioSeconds"] - audio_packets * 1024 / 44100) < 0.01
    return recording


def media_of(path) -> list[flv.Tag]:
    return [tag for tag in flv.read_tags(path) if tag.kind != flv.SCRIPT and not tag.is_video_end]


def test_it_accepts_ffmpeg(receiver, children, encoded_flv):
    publisher = children.run("ffmpeg", [
        "ffmpeg", "-v", "error", "-i", encoded_flv, "-c", "copy", "-f", "flv", receiver.url(),
    ])  # fmt: skip
    assert publisher.child.returncode == 0, publisher.report()
    sent = media_of(encoded_flv)
    recording = assert_counts(receiver, 120, sum(tag.is_audio for tag in sent))
    assert media_of(recording.path) == sent


def test_it_accepts_ffmpeg_encoding_live(receiver, children):
    publisher = children.run("ffmpeg", [
        "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=30",
        "-f", "lavfi", "-i", "sine=440:r=44100", "-t", FRAMES / 30, "-c:v", "libx264", "-preset", "veryfast",
        "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-c:a", "aac", "-f", "flv", receiver.url(),
    ])  # fmt: skip
    assert publisher.child.returncode == 0, publisher.report()
    summary = receiver.summary()
    assert_counts(receiver, FRAMES, round(summary["audioSeconds"] * 44100 / 1024))


@pytest.mark.parametrize("sink", ["rtmp2sink", "rtmpsink"])
def test_it_accepts_gstreamer(receiver, children: Children, sink):
    # rtmpsink accepts librtmp's options after the URL, and is usually used with "live=1".
    location = receiver.url() + (" live=1" if sink == "rtmpsink" else "")
    # 90 frames and 3 s of audio, in blocks of 1024 samples.
    publisher = children.run("gstreamer", [
        "gst-launch-1.0", "-q", "-e",
        "videotestsrc", f"num-buffers={FRAMES}", "!", "video/x-raw,width=320,height=240,framerate=30/1", "!",
        "openh264enc", "gop-size=60", "!", "h264parse", "!", "queue", "!", "mux.",
        "audiotestsrc", "num-buffers=129", "samplesperbuffer=1024", "!",
        "audio/x-raw,rate=44100,channels=2", "!", "voaacenc", "!", "aacparse", "!", "queue", "!", "mux.",
        "flvmux", "name=mux", "streamable=true", "!", sink, f"location={location}",
    ])  # fmt: skip
    assert publisher.child.returncode == 0, publisher.report()
    summary = receiver.summary()
    audio_packets = round(summary["audioSeconds"] * 44100 / 1024)
    assert 128 <= audio_packets <= 131, summary
    assert_counts(receiver, FRAMES, audio_packets)


@pytest.mark.parametrize("chunk_size", [4096, 128, 65536])
def test_it_accepts_what_obs_sends(receiver, encoded_flv, chunk_size):
    sent = media_of(encoded_flv)
    publisher = OBSLikePublisher(receiver.url(), chunk_size)
    publisher.send_metadata(640, 360, 30)
    for tag in sent:
        publisher.send_tag(tag)
    publisher.close()
    recording = assert_counts(receiver, 120, sum(tag.is_audio for tag in sent))
    assert media_of(recording.path) == sent
    assert recording.metadata["encoder"].startswith("obs-output module")


def test_it_accepts_one_publisher_after_another(receiver, children, encoded_flv):
    for _ in range(2):
        publisher = children.run("ffmpeg", [
            "ffmpeg", "-v", "error", "-i", encoded_flv, "-c", "copy", "-f", "flv", receiver.url(),
        ])  # fmt: skip
        assert publisher.child.returncode == 0, publisher.report()
    receiver.process.wait_until(lambda: receiver.process.stdout.count('"publisherEnded"') == 2, "second publisher's end")
    assert receiver.process.interrupt_and_wait() == 0


def test_it_counts_more_audio_than_64_bits_of_nanosamples_hold(children):
    receiver = children.start("receive", [TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--events", "json"])
    publisher = OBSLikePublisher(f"rtmp://{wait_for_event(receiver, 'listening')['address']}/live/x")
    publisher.send_tag(flv.Tag(flv.AUDIO, 0, b"\xaf\x00\x12\x10"))  # AAC-LC, 44.1 kHz, stereo
    publisher.send_tag(flv.Tag(flv.AUDIO, 0, b"\xaf\x01"))
    publisher.repeat_last(9_100_000)
    publisher.close()
    assert wait_for_event(receiver, "publisherEnded")["audioPackets"] == 9_100_001
    assert last_event(receiver, "publisherEnded")["audioSeconds"] == pytest.approx(9_100_001 * 1024 / 44100)


def test_an_earlier_recording_stays_until_something_is_published(children, tmp_path):
    path = tmp_path / "earlier.flv"
    path.write_bytes(b"precious")
    words = [TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", path]
    receiver = children.start("receive", [*words, "--overwrite"])
    receiver.wait_until(lambda: "listening" in receiver.stdout, "listener")
    assert receiver.interrupt_and_wait() == 0
    assert path.read_bytes() == b"precious"
    refused = children.run("receive", words)
    assert refused.child.returncode == 5 and f"{path} failed: File exists; name another file" in refused.stderr
    assert path.read_bytes() == b"precious"


def test_a_second_recording_skips_an_existing_file(children, tmp_path, encoded_flv):
    path, taken = tmp_path / "x.flv", tmp_path / "x-2.flv"
    taken.write_bytes(b"precious")
    receiver = children.start("receive", [
        TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", path, "--events", "json",
    ])  # fmt: skip
    url = f"rtmp://{wait_for_event(receiver, 'listening')['address']}/live/x"
    for number in (1, 2):
        words = ["ffmpeg", "-v", "error", "-i", encoded_flv, "-c", "copy", "-f", "flv", url]
        assert children.run("ffmpeg", words).child.returncode == 0
        receiver.wait_until(lambda: receiver.stdout.count('"publisherEnded"') == number, f"end {number}")  # noqa: B023
    found = [(event["stream"], event["recording"]) for event in events(receiver) if event["name"] == "publisherEnded"]
    assert found == [(1, str(path)), (2, str(tmp_path / "x-3.flv"))]
    assert taken.read_bytes() == b"precious"


def test_a_recording_has_its_duration_and_size(receiver, children, encoded_flv):
    publisher = children.run("ffmpeg", [
        "ffmpeg", "-v", "error", "-i", encoded_flv, "-c", "copy", "-f", "flv", receiver.url(),
    ])  # fmt: skip
    assert publisher.child.returncode == 0, publisher.report()
    metadata = Recording(path := receiver.recording()).metadata
    assert metadata["filesize"] == path.stat().st_size
    tags = media_of(path)
    span = (max(tag.timestamp for tag in tags) - min(tag.timestamp for tag in tags)) / 1000
    assert span < metadata["duration"] < span + 0.1


def test_a_killed_receivers_recording_is_complete_and_claims_no_duration(receiver, children, encoded_flv):
    publisher = OBSLikePublisher(receiver.url(), 4096)
    publisher.send_metadata(640, 360, 30)
    for tag in media_of(encoded_flv):
        publisher.send_tag(tag)
    publisher.close()
    receiver.process.wait_until(lambda: receiver.path.stat().st_size > 10_000, "data")
    receiver.process.kill()
    recording = Recording(receiver.path)
    assert recording.metadata["duration"] in (0, pytest.approx(4, abs=0.2))
    assert recording.decoded.frames == len(recording.frames)


def test_a_player_is_refused(receiver, children):
    player = children.run("ffprobe", ["ffprobe", "-v", "info", receiver.url()])
    assert player.child.returncode != 0 and "only receives streams" in player.stderr, player.report()
    refusal = wait_for_event(receiver.process, "refused")
    assert refusal["reason"] == "player" and refusal["application"] == "live/***"
    assert receiver.process.interrupt_and_wait() == 0


def test_a_second_publisher_of_a_stream_is_refused(receiver, children):
    first = start_publisher(children, receiver.url(), quality="Low2")
    wait_for_event(receiver.process, "publisherStarted")
    second = start_publisher(children, receiver.url(), quality="Low2", reconnect=0)
    assert second.wait() == 3 and "refused the stream name: Another connection publishes" in second.stderr, second.report()
    assert "..;" not in second.stderr and ".;" not in second.stderr
    assert wait_for_event(receiver.process, "refused")["reason"] == "nameInUse"
    assert start_publisher(children, receiver.url("other"), quality="Low2", duration=0.5).wait() == 0
    assert first.running and first.interrupt_and_wait() == 0


def test_a_stopped_camera_is_replaced(receiver, children):
    first = start_publisher(children, receiver.url(), quality="Low2")
    wait_for_event(receiver.process, "publisherStarted")
    first.send(signal.SIGSTOP)
    second = start_publisher(children, receiver.url(), quality="Low2", duration=0.5, reconnect="endless")
    assert second.wait() == 0, second.report()
    assert receiver.process.stdout.count('"publisherStarted"') == 2
    first.kill()


def publish_to(receiver: Receiver, name: str, tags: list[flv.Tag]) -> OBSLikePublisher:
    """A publisher that has sent the tags and stays connected."""
    publisher = OBSLikePublisher(receiver.url(name))
    publisher.send_metadata(640, 360, 30)
    for tag in tags:
        publisher.send_tag(tag)
    return publisher


def connect_often(receiver: Receiver, count: int, stack: contextlib.ExitStack) -> None:
    """Connections that send nothing. Those that are not accepted wait in the kernel."""
    for _ in range(count):
        stack.enter_context(socket.create_connection(("127.0.0.1", receiver.port)))


def accepted(receiver: Receiver) -> int:
    return receiver.process.stdout.count('"accepted"')


@pytest.mark.parametrize(
    "descriptors, report",
    [(24, "Too many open files (EMFILE); new connections wait"), (1024, "32 connections are open; new ones wait")],
)
def test_too_many_connections_disturb_no_recording(receiver, encoded_flv, descriptors, report):
    resource.prlimit(receiver.process.child.pid, resource.RLIMIT_NOFILE, (descriptors, descriptors))
    tags = media_of(encoded_flv)
    publisher = publish_to(receiver, "x", tags[:-10])
    with contextlib.ExitStack() as stack:
        connect_often(receiver, 100, stack)
        receiver.process.wait_until(lambda: report in receiver.process.stderr, "report")
        for tag in tags[-10:]:
            publisher.send_tag(tag)
        publisher.close()
        summary = receiver.summary()
    # All the others were accepted later, when those before them had left.
    receiver.process.wait_until(lambda: accepted(receiver) == 101, "last connection")
    publish_to(receiver, "y", tags).close()
    receiver.process.wait_until(lambda: receiver.process.stdout.count('"publisherEnded"') == 2, "second publisher's end")
    assert receiver.process.stderr.count(report) == 1, receiver.process.report()
    assert receiver.process.interrupt_and_wait() == 0, receiver.process.report()
    assert summary["videoFrames"] == 120
    assert media_of(receiver.path) == tags
    assert Recording(receiver.path).metadata["filesize"] == receiver.path.stat().st_size


def test_a_silent_client_is_disconnected(receiver):
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=HUNG) as client:
        assert client.recv(1) == b""
    receiver.process.wait_until(lambda: "published nothing within 10 s" in receiver.process.stderr, "reason")
    assert receiver.process.interrupt_and_wait() == 0
