"""A live stream whose frame size decreases with a poor uplink and returns with it: within the stream, and by restarting."""

import itertools
import subprocess
import sys
import time
from dataclasses import dataclass

import flv
import media
import pytest
from processes import HUNG, Children, Process
from recording import Recording
from rtmp_wire import decode_amf
from scenarios import SideBySide
from servers import NginxRTMP
from tallycam import CHECKOUT, TALLYCAM, events, start_publisher, wait_for_event, was_busy

sys.path.append(str(CHECKOUT / "Benchmarks/adapt"))

from network import SERVER, Uplink  # noqa: E402

pytestmark = [pytest.mark.takes(minutes=0.6, processors=0.7), pytest.mark.paced]

FULL = (1280, 720)
# In kbit/s: more than the stream needs, and less than its frames need.
GOOD, POOR = 5000, 400
POLICIES = ["seamless", "restart"]


@dataclass
class Stream:
    publisher: Process
    recordings: list[Recording]

    def of(self, name: str) -> list[dict]:
        return [event for event in events(self.publisher) if event["name"] == name]


def wait_for_size(publisher: Process, is_full: bool) -> None:
    def size() -> tuple[int, int] | None:
        found = [event for event in events(publisher) if event["name"] == "status"]
        return (found[-1]["width"], found[-1]["height"]) if found else None

    publisher.wait_until(lambda: size() is not None and (size() == FULL) == is_full, f"full size: {is_full}")


def play(children: Children, policy: str) -> Stream:
    """Publishes to this receiver, which records metadata too; for the policy that restarts the stream, to nginx."""
    children.priority = -10
    with Uplink(queue_bytes=64_000, congestion_control="reno") as uplink:
        uplink.set_rate(GOOD)
        prefix, path = uplink.prefix("server"), children.directory / "stream.flv"
        nginx = NginxRTMP(children, host=SERVER, prefix=tuple(prefix), unique=True) if policy == "restart" else None
        if nginx is None:
            words = ["receive", "--listen", f"{SERVER}:1935", "--record", path, "--events", "json"]
            receiver = children.start("receive", [*prefix, TALLYCAM, *words])
            wait_for_event(receiver, "listening")
        publisher = start_publisher(
            children, nginx.url("x") if nginx else f"rtmp://{SERVER}:1935/live/x", prefix=uplink.prefix("client"),
            quality="Medium3", dimension="1280x720", encoder="openh264", resize=policy, status_interval=1,
        )  # fmt: skip
        wait_for_size(publisher, True)
        uplink.set_rate(POOR)
        wait_for_size(publisher, False)
        time.sleep(3)
        uplink.set_rate(GOOD)
        wait_for_size(publisher, True)
        time.sleep(2)
        assert publisher.interrupt_and_wait() == 0, publisher.report()
        if nginx:
            nginx.recording(nginx.all_recordings()[-1].stem)
            return Stream(publisher, [Recording(path) for path in nginx.all_recordings()])
        wait_for_event(receiver, "publisherEnded")
        assert receiver.interrupt_and_wait() == 0, receiver.report()
        return Stream(publisher, [Recording(path)])


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    runs = SideBySide(tmp_path_factory.mktemp("resizing"), workers=len(POLICIES))
    for policy in POLICIES:
        runs.start(policy, play, policy)
    yield runs
    runs.end()


def sizes(tags: list[flv.Tag]) -> list[tuple[int, int]]:
    headers = [flv.sps_of_header(tag) for tag in tags if tag.is_video_header]
    return [(header.width, header.height) for header in headers]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_frame_decodes(streams, policy):
    for recording in streams.result(policy).recordings:
        assert (recording.decoded.complaints, recording.disorder()) == ("", [])
        assert recording.decoded.frames == len(recording.frames) > 0


def test_the_size_changes_within_the_stream(streams):
    stream = streams.result("seamless")
    [recording] = stream.recordings
    found = sizes(recording.tags)
    assert found[0] == found[-1] == FULL and len(found) >= 3
    assert all(width % 16 == 0 and width * FULL[1] == height * FULL[0] for width, height in found)
    # As announced by the events.
    said = [(event["width"], event["height"]) for event in stream.of("qualityChanged")]
    assert set(found) <= {FULL, *said}
    # Where no frame comes between two decisions, the first one's size is never used.
    assert set(found) == {FULL, *said} or was_busy(stream.publisher, 0)


def test_each_size_is_announced_before_its_header(streams):
    [recording] = streams.result("seamless").recordings
    announced, headers = [], []
    for tag in recording.tags:
        if tag.kind == flv.SCRIPT:
            [properties] = [value for value in decode_amf(tag.body) if isinstance(value, dict)]
            announced.append((int(properties["width"]), int(properties["height"])))
        elif tag.is_video_header:
            header = flv.sps_of_header(tag)
            headers.append((tag.timestamp, header.width, header.height))
            assert announced[-1] == (header.width, header.height), (announced, headers)
    # A header that is new for another reason, such as a reopened encoder, announces nothing.
    assert announced == [size for size, _ in itertools.groupby(found[1:] for found in headers)], (announced, headers)


def test_each_change_starts_at_a_keyframe(streams):
    [recording] = streams.result("seamless").recordings
    video = [tag for tag in recording.tags if tag.is_video_header or tag.is_frame]
    for header, frame in zip(video, video[1:]):
        assert not header.is_video_header or (frame.is_keyframe and frame.timestamp == header.timestamp)


def test_keyframes_are_rare_while_the_link_is_poor(streams):
    """As far apart as services allow, and normal before and after."""
    stream = streams.result("seamless")
    [recording] = stream.recordings
    gaps = [after - before for before, after in zip(recording.key_times, recording.key_times[1:])]
    assert 2100 < max(gaps)
    # On a busy machine, a keyframe waits for the next frame: 34 ms for each one that is missing.
    slack = 34 * stream.of("ended")[-1]["sourceDropped"]
    usual = 2100 + slack
    assert was_busy(stream.publisher) or max(gaps) <= 4100 + slack and gaps[0] <= usual and gaps[-1] <= usual, gaps


@pytest.mark.parametrize("policy", POLICIES)
def test_smaller_frames_keep_the_colors_of_the_source(streams, policy):
    """The test pattern with 720 rows has BT.709 colors, and so does each frame derived from it."""
    found = set()
    for recording in streams.result(policy).recordings:
        run = subprocess.run(
            ["ffprobe", "-v", "quiet", "-select_streams", "v", "-show_entries", "frame=height,color_space", "-of", "csv=p=0",
             recording.path],
            capture_output=True, text=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        found |= {tuple(line.split(",")[:2]) for line in run.stdout.split()}
    assert len(found) >= 2 and {matrix for _, matrix in found} == {"bt709"}, found


def test_a_decoder_that_keeps_the_first_header_decodes_everything(streams):
    """As ffmpeg does when it copies the stream into another container."""
    [recording] = streams.result("seamless").recordings
    copy = recording.path.with_suffix(".mp4")
    media.run_ffmpeg("-i", recording.path, "-c", "copy", copy)
    decoded = media.decode(copy)
    assert (decoded.complaints, decoded.frames) == ("", len(recording.frames))


def test_each_size_is_a_separate_stream(streams):
    stream = streams.result("restart")
    found = [sizes(recording.tags) for recording in stream.recordings]
    assert all(len(own) == 1 for own in found) and len(found) >= 3, found
    assert found[0] == found[-1] == [FULL]
    # On the way up, no restart is spent on a size that the rate is about to leave.
    assert len([event for event in stream.of("qualityChanged") if event["reason"] == "sizeFits"]) == 1 or was_busy(stream.publisher)
    assert stream.of("reconnecting") == []
