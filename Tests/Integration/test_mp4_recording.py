"""`tallycam receive --record FILE.mp4` writes with the code of the device's own recordings. ffmpeg and GStreamer, two foreign
parsers, play every file to the frame."""

import json
import subprocess

import flv
import media
import pytest
from mp4_boxes import boxes, fragments
from processes import HUNG
from tallycam import TALLYCAM, last_event, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.5, processors=0.5)

FRAMES = 120


class MP4Receiver:
    def __init__(self, children):
        self.path = children.directory / "received.mp4"
        self.process = children.start("receive", [
            TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", self.path, "--events", "json",
        ])  # fmt: skip
        self.url = f"rtmp://{wait_for_event(self.process, 'listening')['address']}/live/x"

    def end(self):
        wait_for_event(self.process, "publisherEnded")
        assert self.process.interrupt_and_wait() == 0, self.process.report()
        return self.path


@pytest.fixture
def receiver(children):
    return MP4Receiver(children)


def publish(children, receiver, clip, name="ffmpeg", paced=False):
    """Paced: like a live stream, which does not end."""
    pace = ["-re", "-stream_loop", "-1"] if paced else []
    words = ["ffmpeg", "-v", "error", *pace, "-i", clip, "-c", "copy", "-f", "flv", receiver.url]
    return children.start(name, words) if paced else children.run(name, words)


def packet_times(path, stream: str) -> list[float]:
    run = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time", "-of", "json", str(path)],
        capture_output=True, text=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert run.stderr == ""
    return [float(packet["pts_time"]) for packet in json.loads(run.stdout)["packets"]]


def recorded_audio(clip) -> list[flv.Tag]:
    """A file starts at its first keyframe, and leaves out audio from before."""
    tags = flv.read_tags(clip)
    start = next(tag.timestamp for tag in tags if tag.is_frame)
    return [tag for tag in tags if tag.is_audio and tag.timestamp >= start]


def gstreamer_buffers(children, path, pad: str, decoder: list[str]) -> int:
    """Counts the buffers that GStreamer decodes."""
    player = children.run(f"gst-{pad}", [
        "gst-launch-1.0", "--verbose", "filesrc", f"location={path}", "!", "qtdemux", "name=d", f"d.{pad}", "!", *decoder, "!",
        "fakesink", "name=sink", "silent=false",
    ])  # fmt: skip
    assert player.child.returncode == 0, player.report()
    return player.stdout.count("chain   *****")


def test_finished_file_has_every_frame_at_its_time(children, receiver, encoded_flv):
    assert publish(children, receiver, encoded_flv).child.returncode == 0
    path = receiver.end()
    assert boxes(path) == ["ftyp", "mdat", "moov"]
    decoded = media.decode(path)
    audio = recorded_audio(encoded_flv)
    assert decoded == media.Decoded(FRAMES, len(audio), "")
    for stream, count in (("v", FRAMES), ("a", len(audio))):
        sent, received = packet_times(encoded_flv, stream)[-count:], packet_times(path, stream)
        assert len(sent) == len(received) == count
        # FLV rounds to milliseconds, and the file starts at the first keyframe.
        shift = packet_times(encoded_flv, "v")[0] - packet_times(path, "v")[0]
        assert max(abs(a - b - shift) for a, b in zip(sent, received)) < 1 / 60, f"{stream} is out of sync"


def test_gstreamer_plays_the_file(children, receiver, encoded_flv):
    assert publish(children, receiver, encoded_flv).child.returncode == 0
    path = receiver.end()
    assert gstreamer_buffers(children, path, "video_0", ["h264parse", "!", "openh264dec"]) == FRAMES
    assert gstreamer_buffers(children, path, "audio_0", ["aacparse"]) == len(recorded_audio(encoded_flv))


def test_killed_receiver_leaves_a_file_that_plays(children, receiver, tmp_path):
    clip = media.make_encoded_flv(tmp_path / "clip.flv", seconds=8)
    publisher = publish(children, receiver, clip, paced=True)
    receiver.process.wait_until(lambda: fragments(receiver.path) >= 2, "two fragments")
    receiver.process.kill()
    publisher.kill()
    assert boxes(receiver.path)[:3] == ["ftyp", "free", "moov"]
    decoded = media.decode(receiver.path)
    # A keyframe every 60 frames. A busy machine may record more before the receiver is killed.
    assert decoded.frames >= 120 and decoded.frames % 60 == 0 and decoded.complaints == ""
    assert gstreamer_buffers(children, receiver.path, "video_0", ["h264parse", "!", "openh264dec"]) == decoded.frames


def test_another_size_starts_another_file(children, receiver, tmp_path):
    clip = media.make_resized_flv(tmp_path / "resized.flv", ["320x240", "160x120"])
    sender = children.run("publish", [
        TALLYCAM, "publish", "--from-flv", clip, "--pace", "fast", "--url", receiver.url,
    ])  # fmt: skip
    assert sender.child.returncode == 0, sender.report()
    paths = [receiver.end(), receiver.path.with_name("received-2.mp4")]
    assert [media.frame_sizes(path) for path in paths] == [[("320x240", 60)], [("160x120", 60)]]
    assert [media.decode(path).complaints for path in paths] == ["", ""]


def test_existing_file_is_refused(children, tmp_path):
    path = tmp_path / "old.mp4"
    path.write_bytes(b"precious")
    process = children.start("receive", [TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", path, "--events", "json"])
    process.wait_until(lambda: last_event(process, "failed") is not None or not process.running, "refusal")
    assert path.read_bytes() == b"precious" and "--overwrite" in process.stderr + process.stdout
