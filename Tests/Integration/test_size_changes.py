"""A frame size that changes inside a stream, as `publish --from-flv` sends it, and how servers and players handle it
(docs/services). ffplay is not included: its demuxers and decoder are ffmpeg's."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import flv
import hls
import media
import pytest
from processes import Children, Process
from recording import Recording
from servers import NginxRTMP
from tallycam import TALLYCAM, Receiver, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.4, processors=0.3)

SIZES = ["640x360", "320x176", "640x360"]
SECONDS = 3
PARTS = [(size, SECONDS * 30) for size in SIZES]
FRAMES = sum(count for _, count in PARTS)


@dataclass
class Published:
    """One stream of three sizes, and everything derived from it."""

    sent: Path
    recording: Recording
    subscribed: Path
    joined: Path
    pushed: Recording
    playlist: Path


@pytest.fixture(scope="module")
def resized_flv(tmp_path_factory):
    return media.make_resized_flv(tmp_path_factory.mktemp("resized") / "resized.flv", SIZES, SECONDS)


@pytest.fixture(scope="module")
def published(module_children, resized_flv):
    """At the pace of its timestamps, like a live stream, from a pipe that pauses until all receivers are present."""
    receiver = Receiver(module_children)
    nginx = NginxRTMP(module_children, hls=True, directives=f"push {receiver.url('x').removesuffix('/x')};")
    subscriber = subscribe(module_children, nginx, "subscribed")
    subscriber.wait_until(lambda: "play: name='x'" in nginx.log, "subscription")
    os.mkfifo(pipe := module_children.directory / "pipe.flv")
    publisher = module_children.start("publish", [TALLYCAM, "publish", "--from-flv", pipe, "--url", nginx.url("x")])
    data, middle = resized_flv.read_bytes(), offset(resized_flv, 1.5 * SECONDS)
    first = offset(resized_flv, 0.5)
    with open(pipe, "wb", buffering=0) as writer:
        writer.write(data[:first])
        # nginx connects to the next server when the stream starts, and on a busy machine not at once.
        wait_for_event(receiver.process, "publisherStarted")
        writer.write(data[first:middle])
        # One second each, up to the second part.
        publisher.wait_until(lambda: len(hls.segments(nginx.playlist("x"))) > SECONDS, "segment of the second part")
        late = subscribe(module_children, nginx, "joined")
        late.wait_until(lambda: nginx.log.count("play: name='x'") == 2, "second subscription")
        writer.write(data[middle:])
    assert publisher.wait() == 0, publisher.report()
    recording = nginx.recording("x")
    # For players, a stream never ends; only the connection does.
    nginx.process.interrupt_and_wait()
    assert [process.wait() for process in (subscriber, late)] == [0, 0]
    return Published(
        sent=resized_flv,
        recording=Recording(recording),
        subscribed=module_children.directory / "subscribed.flv",
        joined=module_children.directory / "joined.flv",
        pushed=Recording(receiver.recording()),
        playlist=nginx.playlist("x"),
    )


def offset(path: Path, seconds: float) -> int:
    """Byte offset of the first tag at or after this time."""
    return 13 + sum(15 + len(tag.body) for tag in flv.read_tags(path) if tag.timestamp < 1000 * seconds)


def subscribe(children: Children, nginx: NginxRTMP, name: str) -> Process:
    """ffmpeg as a subscriber until nginx ends; NAME.flv has what it received."""
    return children.start(name, ["ffmpeg", "-v", "error", "-i", nginx.url("x"), "-c", "copy", "-copyts", f"{name}.flv"])


def frames_of(tags: list[flv.Tag]) -> list[flv.Tag]:
    return [tag for tag in tags if tag.is_frame or tag.is_audio]


def assert_decodes(path: Path) -> None:
    """Every frame, in its size, without decoder errors."""
    assert media.frame_sizes(path) == PARTS
    decoded = media.decode(path)
    assert (decoded.complaints, decoded.frames) == ("", FRAMES)


def test_the_file_itself_decodes(resized_flv):
    assert_decodes(resized_flv)
    assert len([tag for tag in flv.read_tags(resized_flv) if tag.is_video_header]) == len(SIZES)


def test_nginx_records_it_completely(published):
    assert_decodes(published.recording.path)
    assert frames_of(published.recording.tags) == frames_of(flv.read_tags(published.sent))


def test_a_subscriber_receives_every_frame(published):
    assert_decodes(published.subscribed)


def test_a_late_joiner_sees_the_present_size(published):
    headers = [flv.sps_of_header(tag) for tag in flv.read_tags(published.joined) if tag.is_video_header]
    assert [f"{header.width}x{header.height}" for header in headers] == SIZES[1:]
    assert media.frame_sizes(published.joined)[-1] == PARTS[2]


def test_nginx_pushes_it_to_the_next_server(published):
    pushed = frames_of(published.pushed.tags)
    # nginx connects to it when the stream starts, and sends everything from then on.
    assert len(pushed) > len(frames_of(flv.read_tags(published.sent))) * 0.8
    assert pushed == frames_of(flv.read_tags(published.sent))[-len(pushed) :]
    assert media.frame_sizes(published.pushed.path)[-2:] == PARTS[1:]


def test_every_hls_segment_has_one_size(published):
    sizes = [media.frame_sizes(segment) for segment in hls.segments(published.playlist)]
    assert sizes == [[(size, 30)] for size in SIZES for _ in range(SECONDS)]


def test_ffmpeg_reads_the_hls_playlist_completely(published):
    assert_decodes(hls.whole(published.playlist))


def test_gstreamer_follows_the_size(children, resized_flv):
    """flvdemux and h264parse announce the new size, and the decoder delivers such frames."""
    player = children.run("gst-launch", [
        "gst-launch-1.0", "--verbose", "filesrc", f"location={resized_flv}", "!", "flvdemux", "!", "h264parse", "!",
        "openh264dec", "!", "video/x-raw,format=I420", "!", "fakesink", "name=sink", "silent=false",
    ])  # fmt: skip
    assert player.child.returncode == 0, player.report()
    caps = re.findall(r"sink\.GstPad:sink: caps = video/x-raw.*?width=\(int\)(\d+), height=\(int\)(\d+)", player.stdout)
    assert [f"{width}x{height}" for width, height in caps] == SIZES
    # Three bytes for every two pixels.
    expected = [int(width) * int(height) * 3 // 2 for width, height in caps for _ in range(SECONDS * 30)]
    assert [int(size) for size in re.findall(r"chain +\*+ \(sink:sink\) \((\d+) bytes", player.stdout)] == expected
