"""20 s of rich content in four qualities, sent to three kinds of server and measured at the receiver.

The four streams run at the same time, because they are paced by the clock and not by the processor. They end with their files:
a busy machine may stretch them but skips no frame.
"""

from dataclasses import dataclass

import media
import pytest
from expected import KEY_INTERVAL, QUALITIES
from processes import Children, Process
from recording import Recording, assert_whole
from servers import FFmpegListener, NginxRTMP
from tallycam import Receiver, decoded_at_pace, last_event, late_end, start_publisher

pytestmark = pytest.mark.takes(minutes=0.8, processors=0.5)

SECONDS = 20
MEASURED = ["Low1", "Medium1", "High1", "High3"]


@dataclass
class Stream:
    publisher: Process
    server: object
    children: Children
    recording: Recording | None = None
    sent: dict | None = None


@pytest.fixture(scope="module")
def streams(module_children, rich_clip):
    children = module_children
    children.priority = -10
    files = children.directory
    soft = media.make_raw(rich_clip, files / "400x300.i420", 400, 300, 12, SECONDS)
    vga = media.make_raw(rich_clip, files / "640x480.i420", 640, 480, 30, SECONDS)
    nv12 = media.make_raw(rich_clip, files / "960x540.nv12", 960, 540, 30, SECONDS, "nv12")
    nginx = NginxRTMP(children)
    camera = decoded_at_pace(children, rich_clip, 1280, 720, 30, SECONDS)

    def publish(server, quality: str, stdin=None, **options) -> Stream:
        publisher = start_publisher(
            children, server.url(quality), f"publish-{quality}", stdin, quality=quality, adapt="nothing", buffer=5, **options
        )
        return Stream(publisher, server, children)

    running = {
        "Low1": publish(nginx, "Low1", video=f"raw:{soft},format=i420,size=400x300,fps=12", dimension="400x300"),
        "Medium1": publish(FFmpegListener(children), "Medium1", video=f"raw:{vga},format=i420,size=640x480,fps=30"),
        "High1": publish(
            Receiver(children), "High1", video=f"raw:{nv12},format=nv12,size=960x540,fps=30", dimension="960x540"
        ),
        # Realistic input: a clip that is decoded at the same time.
        "High3": publish(
            nginx, "High3", camera.pipe,
            video="raw:-,format=i420,size=1280x720,fps=30", dimension="1280x720",
        ),
    }  # fmt: skip
    for name, stream in running.items():
        assert stream.publisher.wait() == 0, stream.publisher.report()
        stream.sent = last_event(stream.publisher, "ended")
        stream.recording = Recording(stream.server.recording(name))
    for raw in (soft, vga, nv12):
        raw.unlink()
    return running


@pytest.fixture(params=MEASURED)
def stream(request, streams):
    return streams[request.param]


@pytest.fixture
def quality(request):
    return QUALITIES[request.node.callspec.params["stream"]]


def test_it_decodes_and_nothing_is_missing(stream):
    assert_whole(stream.recording, stream.sent)


def test_every_captured_frame_was_sent_or_skipped(stream, quality):
    captured = stream.sent["videoFrames"] + stream.sent["videoSkipped"]
    assert abs(captured - SECONDS * quality.fps - stream.sent["sourceRepeated"]) <= 1, stream.sent


def stretched(stream: Stream, quality) -> float:
    """Seconds by which a busy machine has lengthened the stream: a file that is read late continues from there."""
    times = [tag.timestamp for tag in stream.recording.frames]
    captured = stream.sent["videoFrames"] + stream.sent["videoSkipped"]
    return max(0.0, (times[-1] - times[0]) / 1000 - (captured - 1) / quality.fps - 0.05)


def test_the_frame_rate_is_exact(stream, quality):
    """Frames lie on a grid of the quality's rate; a frame that the encoder skipped leaves its slot empty."""
    times = [tag.timestamp for tag in stream.recording.frames]
    longer = stretched(stream, quality)
    if quality.name != "High3" and longer == 0:  # a pipe's frames arrive when their writer writes them
        places = [(time - times[0]) * quality.fps / 1000 for time in times]
        # FLV rounds to milliseconds, half of one at each end.
        assert max(abs(place - round(place)) for place in places) <= quality.fps * 1.01 / 1000
    captured = stream.sent["videoFrames"] + stream.sent["videoSkipped"]
    span = (times[-1] - times[0]) / 1000 - longer
    assert abs((captured - 1) / span - quality.fps) <= 0.1


def test_audio_and_video_start_together(stream, quality):
    first = stream.recording.frames[0].timestamp, stream.recording.audio_packets[0].timestamp
    assert abs(first[0] - first[1]) < 100 + 1000 * stretched(stream, quality), first


def test_audio_lasts_as_long_as_the_video(stream, quality):
    frames, audio_packets = stream.recording.frames, stream.recording.audio_packets
    allowed = 200 + 1000 * stretched(stream, quality)
    longer = audio_packets[-1].timestamp - frames[-1].timestamp
    assert -allowed < longer < allowed + 1000 * late_end(stream.publisher, SECONDS)
    gaps = [after.timestamp - before.timestamp for before, after in zip(audio_packets, audio_packets[1:])]
    assert max(gaps) <= 24, "AAC at 44.1 kHz has a unit every 23.2 ms"


def test_the_bitrate_matches_the_preset(stream, quality):
    longer = stretched(stream, quality)
    kbps = stream.recording.video_kbps(SECONDS + longer)
    # Rate control takes one of several courses, depending on frame arrival times in milliseconds: 35 of 38 runs of Medium1 were
    # within 2.9 %, the others 5.0 to 5.2 % above.
    assert abs(kbps / quality.kbps - 1) <= 0.06 + longer / SECONDS, f"{kbps:.0f} kbit/s for {quality.kbps}"


def test_a_keyframe_comes_every_two_seconds(stream, quality):
    keys = stream.recording.key_times
    gaps = [after - before for before, after in zip(keys, keys[1:])]
    longer = stretched(stream, quality)
    # The next one may just be the stream's last frame.
    assert len([key for key in keys if key < 1000 * (SECONDS - 0.1)]) == SECONDS / KEY_INTERVAL or longer
    # A skipped frame may postpone a keyframe to the next frame.
    assert all(-200 <= gap - 1000 * KEY_INTERVAL <= 200 + 1000 * longer for gap in gaps), gaps


def test_skipped_frames_are_rare(stream):
    captured = stream.sent["videoFrames"] + stream.sent["videoSkipped"]
    assert stream.sent["videoSkipped"] <= captured / 3, stream.sent
