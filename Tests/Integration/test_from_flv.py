"""An encoded file is published unchanged: every tag, byte for byte, and none before its time. FilePublisherTests checks the
exact times in virtual time."""

import itertools
import os
import signal
import socket
import time

import flv
import media
import pytest
from rtmp_wire import Tap
from scenarios import end_at_once
from tallycam import TALLYCAM, Receiver, events, last_event, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.7, processors=0.1)

SECONDS = 4  # of the file


def publish(children, path, url, pace: str | None = None):
    start = time.monotonic()
    words = [TALLYCAM, "publish", "--from-flv", path, "--url", url, "--events", "json"]
    publisher = children.run("publish", words + (["--pace", pace] if pace else []))
    assert publisher.child.returncode == 0, publisher.report()
    return time.monotonic() - start


def media_of(path) -> list[flv.Tag]:
    return [tag for tag in flv.read_tags(path) if tag.kind in (flv.AUDIO, flv.VIDEO)]


def is_header(tag: flv.Tag) -> bool:
    return tag.is_video_header or tag.is_audio_header


def relative(tags: list[flv.Tag]) -> list[flv.Tag]:
    return [flv.Tag(tag.kind, tag.timestamp - tags[0].timestamp, tag.body) for tag in tags]


@pytest.mark.parametrize("pace, at_least", [("fast", 0), ("realtime", SECONDS - 0.5), (None, SECONDS - 0.5)])
def test_the_file_arrives_unchanged(children, encoded_flv, pace, at_least):
    receiver = Receiver(children)
    seconds = publish(children, encoded_flv, receiver.url(), pace)
    assert media_of(receiver.recording()) == media_of(encoded_flv)
    assert at_least <= seconds


def test_nginx_receives_the_same(nginx, children, encoded_flv):
    """Except for the headers, which nginx repeats at the recording's start."""
    publish(children, encoded_flv, nginx.url("x"), "fast")
    received = media_of(nginx.recording("x"))
    sent = media_of(encoded_flv)
    assert {tag for tag in received if is_header(tag)} == {tag for tag in sent if is_header(tag)}
    assert [tag for tag in received if not is_header(tag)] == [tag for tag in sent if not is_header(tag)]


def test_realtime_sends_each_tag_at_its_time(children, encoded_flv):
    """Nothing is sent before its time since the start."""
    receiver = Receiver(children)
    tap = Tap(receiver.port)
    words = [TALLYCAM, "publish", "--from-flv", encoded_flv, "--url", tap.url("x"), "--pace", "realtime"]
    start = time.monotonic()
    publisher = children.start("publish", words)
    while publisher.running:
        stamps = [message.timestamp for message in tap.messages() if message.kind in (flv.AUDIO, flv.VIDEO)]
        assert max(stamps, default=0) <= 1000 * (time.monotonic() - start)
        time.sleep(0.1)
    assert publisher.wait() == 0


def test_a_file_with_b_frames_keeps_its_composition_offsets(children, tmp_path):
    path = tmp_path / "b.flv"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=2", "-c:v", "libx264", "-bf", 3, "-pix_fmt", "yuv420p", path
    )
    offsets = {tag.body[2:5] for tag in media_of(path) if tag.is_frame}
    assert len(offsets) > 1
    receiver = Receiver(children)
    publish(children, path, receiver.url(), "fast")
    assert media_of(receiver.recording()) == media_of(path)


@pytest.mark.parametrize("shift", [0xFFFFFF - 1000, 0x7FFFFFFF - 1000])
def test_large_timestamps_are_transmitted(children, encoded_flv, tmp_path, shift):
    """Extended timestamps, and the sign bit of 31 bits."""
    path = tmp_path / "late.flv"
    tags = [flv.Tag(tag.kind, tag.timestamp + shift, tag.body) for tag in media_of(encoded_flv)]
    flv.write_tags(path, tags)
    receiver = Receiver(children)
    publish(children, path, receiver.url(), "fast")
    wrapped = [
        flv.Tag(tag.kind, tag.timestamp & 0xFFFFFFFF, tag.body) for tag in media_of(receiver.recording())
    ]
    assert relative(wrapped) == relative(tags)


def test_a_large_frame_is_transmitted(children, tmp_path):
    path = tmp_path / "large.flv"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=10:d=1,noise=alls=100:allf=t", "-c:v", "libx264", "-qp", 2,
        "-preset", "ultrafast", "-pix_fmt", "yuv420p", path,
    )  # fmt: skip
    assert max(len(tag.body) for tag in media_of(path)) > 500_000
    receiver = Receiver(children)
    publish(children, path, receiver.url(), "fast")
    assert media_of(receiver.recording()) == media_of(path)


@pytest.mark.parametrize("is_connected", [False, True])
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_silent_pipe_does_not_delay_a_stop(children, encoded_flv, tmp_path, signal_number, is_connected):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    receiver = Receiver(children)
    words = [TALLYCAM, "publish", "--from-flv", pipe, "--url", receiver.url(), "--pace", "fast"]
    publisher = children.start("publish", [*words, "--events", "json"])
    if is_connected:
        with open(pipe, "wb") as file:
            file.write(encoded_flv.read_bytes()[:50_000])
            file.flush()
            wait_for_event(publisher, "publishing")
            end_at_once(publisher, signal_number)
    else:
        publisher.wait_until_it_handles_signals()
        end_at_once(publisher, signal_number)


def test_the_mute_signal_does_not_affect_a_file(children, encoded_flv):
    receiver = Receiver(children)
    words = [TALLYCAM, "publish", "--from-flv", encoded_flv, "--url", receiver.url(), "--events", "json"]
    publisher = children.start("publish", words)
    wait_for_event(publisher, "publishing")
    publisher.send(signal.SIGUSR1)
    assert publisher.wait() == 0, publisher.report()
    assert media_of(receiver.recording()) == media_of(encoded_flv)


def starts_late(path, encoded_flv, seconds: int):
    """Like the recording of a publisher that reconnected: headers and metadata at 0, media much later."""
    tags = flv.read_tags(encoded_flv)
    shift = seconds * 1000
    flv.write_tags(path, [
        tag if tag.kind not in (flv.AUDIO, flv.VIDEO) or is_header(tag)
        else flv.Tag(tag.kind, tag.timestamp + shift, tag.body) for tag in tags
    ])  # fmt: skip


# The last is beyond 2^31 ms.
@pytest.mark.parametrize("seconds", [60, 3600, 2_200_000])
def test_a_file_whose_media_starts_late_is_published_from_there(children, encoded_flv, tmp_path, seconds):
    path = tmp_path / "late.flv"
    starts_late(path, encoded_flv, seconds)
    receiver = Receiver(children)
    took = publish(children, path, receiver.url())
    assert SECONDS - 0.5 <= took < 60
    assert len(media_of(receiver.recording())) == len(media_of(path))


def test_a_given_length_counts_from_the_first_frame(children, encoded_flv, tmp_path):
    path = tmp_path / "late.flv"
    starts_late(path, encoded_flv, 6)
    receiver = Receiver(children)
    words = [TALLYCAM, "publish", "--from-flv", path, "--url", receiver.url(), "--duration", "2", "--events", "json"]
    publisher = children.run("publish", words)
    assert publisher.child.returncode == 0, publisher.report()
    assert 55 <= last_event(publisher, "ended")["videoFrames"] <= 65


def test_a_file_reports_its_states_and_status(children, encoded_flv):
    receiver = Receiver(children)
    words = [TALLYCAM, "publish", "--from-flv", encoded_flv, "--url", receiver.url(), "--events", "json"]
    publisher = children.run("publish", [*words, "--status-interval", "1"])
    assert publisher.child.returncode == 0, publisher.report()
    states = [event["state"] for event in events(publisher) if event["name"] == "stateChanged"]
    assert states == ["connecting", "live", "disconnecting", "disconnected"]
    status = [event for event in events(publisher) if event["name"] == "status"]
    # Each a second after the last one; those that a busy machine misses are skipped.
    assert status and all(event["t"] >= number for number, event in enumerate(status, start=1))
    for event in status:
        assert event["code"] == 2002 and event["state"] == "live"
    # A busy machine sends nothing for a while, and then more at once. A report's rates are those since the one before.
    counts = [0, *(event["videoFrames"] for event in status)]
    assert counts == sorted(counts) and counts[-1] > 0
    for event, frames in zip(status, (after - before for before, after in itertools.pairwise(counts))):
        assert frames < 15 or abs(event["audioPacketsPerSecond"] / event["videoFramesPerSecond"] - 43 / 30) < 0.4, event
        assert frames < 15 or event["bitsPerSecond"] > 2_000, event


def test_a_file_that_cannot_be_sent_ends_in_an_error(children, encoded_flv):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    words = [TALLYCAM, "publish", "--from-flv", encoded_flv, "--url", f"rtmp://127.0.0.1:{port}/live/x"]
    publisher = children.run("publish", [*words, "--events", "json"])
    assert publisher.child.returncode == 3
    names = [event.get("state", event["name"]) for event in events(publisher)]
    assert names == ["connecting", "error", "failed"]


def test_a_truncated_file_arrives_up_to_its_end(nginx, children, encoded_flv, tmp_path):
    """As left behind by a killed recorder."""
    path = tmp_path / "cut.flv"
    path.write_bytes(encoded_flv.read_bytes()[:-1500])
    tap = Tap(nginx.port)
    words = [TALLYCAM, "publish", "--from-flv", path, "--url", tap.url("x"), "--pace", "fast", "--events", "json"]
    publisher = children.run("publish", words)
    assert publisher.child.returncode == 4, publisher.report()
    assert "cut.flv" in publisher.stderr
    assert [command[0] for command in tap.commands()][-2:] == ["FCUnpublish", "deleteStream"]
    whole = media_of(encoded_flv)
    sent = [message for message in tap.messages() if message.kind in (flv.AUDIO, flv.VIDEO)]
    assert len(whole) - 8 <= len(sent) < len(whole)


def test_the_server_is_served_while_a_pipe_pauses(children, encoded_flv, tmp_path):
    """A server that closes meanwhile is noticed at once, not only with the pipe's next bytes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    receiver = Receiver(children)
    words = [TALLYCAM, "publish", "--from-flv", pipe, "--url", receiver.url(), "--pace", "fast", "--events", "json"]
    publisher = children.start("publish", [*words, "--status-interval", "1"])
    with open(pipe, "wb") as file:
        file.write(encoded_flv.read_bytes()[:100_000])
        file.flush()
        wait_for_event(publisher, "publishing")
        wait_for_event(publisher, "status")
        receiver.process.kill()
        assert publisher.wait() == 3, publisher.report()


def test_a_file_is_not_reconnected(children, encoded_flv):
    words = [TALLYCAM, "publish", "--from-flv", encoded_flv, "--url", "rtmp://127.0.0.1:1/live/x", "--reconnect", "3"]
    publisher = children.run("publish", words)
    assert publisher.child.returncode == 2
    assert "--reconnect cannot be combined with --from-flv" in publisher.stderr
