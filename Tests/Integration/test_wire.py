"""The order of messages on the wire, seen between the publisher and nginx."""

import flv
import pytest
from rtmp_wire import COMMAND, DATA, SET_CHUNK_SIZE, Tap
from servers import NginxRTMP
from processes import HUNG
from tallycam import last_event, start_publisher

pytestmark = pytest.mark.takes(minutes=0.1, processors=0.2)


@pytest.fixture(scope="module")
def said(module_children):
    """The messages of a two-second stream, in order, and the publisher's final report."""
    tap = Tap(NginxRTMP(module_children).port)
    publisher = start_publisher(module_children, tap.url("x"), quality="High1", dimension="640x360", duration=2)
    assert publisher.wait() == 0, publisher.report()
    assert tap.ended["client"].wait(HUNG)
    return tap.messages(), last_event(publisher, "ended")


def test_the_stream_starts_as_servers_expect(said):
    messages, _ = said
    commands = [message.values() for message in messages if message.kind == COMMAND]
    assert [command[0] for command in commands] == [
        "connect", "releaseStream", "FCPublish", "createStream", "publish", "FCUnpublish", "deleteStream",
    ]  # fmt: skip
    connect = commands[0][2]
    assert connect["app"] == "live"
    assert connect["tcUrl"].startswith("rtmp://127.0.0.1:") and connect["tcUrl"].endswith("/live")
    assert connect["type"] == "nonprivate"
    publish = commands[4]
    assert publish[3:] == ["x", "live"]

    sizes = [int.from_bytes(message.payload, "big") for message in messages if message.kind == SET_CHUNK_SIZE]
    assert sizes and sizes[0] >= 4096

    media = [message for message in messages if message.kind in (flv.AUDIO, flv.VIDEO, DATA)]
    assert media[0].kind == DATA and media[0].values()[:2] == ["@setDataFrame", "onMetaData"]
    tags = [flv.Tag(message.kind, message.timestamp, message.payload) for message in media[1:]]
    assert any(tag.is_audio_header for tag in tags[:2]) and any(tag.is_video_header for tag in tags[:2])
    assert next(tag for tag in tags if tag.kind == flv.VIDEO and not tag.is_video_header).is_keyframe


def test_the_metadata_describes_the_media(said):
    messages, _ = said
    metadata = next(message for message in messages if message.kind == DATA).values()[2]
    wanted = {
        "width": 640, "height": 360, "framerate": 30, "videocodecid": 7, "videodatarate": 1200,
        "audiocodecid": 10, "audiodatarate": 128, "audiosamplerate": 44100,
    }  # fmt: skip
    assert {name: metadata.get(name) for name in wanted} == wanted
    assert "tallycam" in str(metadata.get("encoder", "")).lower()


def test_audio_and_video_are_interleaved_by_time(said):
    messages, ended = said
    media = [message for message in messages if message.kind in (flv.AUDIO, flv.VIDEO)]
    pairs = list(zip(media, media[1:]))
    # When a busy machine stalls one of the threads, one message may be much older than the one before. Tracks that are sent in
    # large pieces have more of these, or few turns.
    late = sorted(earlier.timestamp - later.timestamp for earlier, later in pairs)[-3]
    assert late <= 250 or ended["sourceDropped"], "three messages are that many milliseconds older than the one before"
    turns = sum(earlier.kind != later.kind for earlier, later in pairs)
    assert turns >= 10 or ended["sourceDropped"], "changes between audio and video"
