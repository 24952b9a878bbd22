"""The requirements of live services are met, and streams that they would refuse end with a clear message."""

import itertools
import json

import media
import pytest
from recording import frames_due
from scenarios import SMALL, FaultyReceiver
from tallycam import TALLYCAM, events, last_event, publish_arguments

# The services' host names point to this machine.
AT_HOME = """
set -eu
printf '127.0.0.1 localhost %s\\n' "$1" > "$2"
mount --bind "$2" /etc/hosts
shift 2
exec "$@"
"""
YOUTUBE, TWITCH, FACEBOOK = "a.rtmp.youtube.com", "live.twitch.tv", "live-api-s.facebook.com"


def publish_to(children, host: str, receiver: FaultyReceiver, **options):
    """`publish` to a local server under the name of a service's host."""
    port = receiver.address.rpartition(":")[2]
    words = publish_arguments(f"rtmp://{host}:{port}/live/x", **options)
    prefix = ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", AT_HOME, "sh", host, children.directory / "hosts"]
    return children.run("publish", [*prefix, TALLYCAM, *words])


def keyframe_seconds(recording) -> float:
    """The longest interval between keyframes."""
    return max(later - earlier for earlier, later in itertools.pairwise(recording.key_times)) / 1000


@pytest.mark.parametrize("host", [YOUTUBE, "localhost"])
def test_silence_is_sent_if_a_stream_needs_audio(children, host):
    receiver = FaultyReceiver(children, [])
    publisher = publish_to(children, host, receiver, **{**SMALL, "audio": "none"}, duration=2)
    assert publisher.child.returncode == 0, publisher.report()
    [recording], sent = receiver.recordings(), last_event(publisher, "ended")
    assert len(recording.frames) == sent["videoFrames"] and frames_due(sent) >= 20
    if host == YOUTUBE:
        assert recording.audio_seconds > 1 and abs(recording.audio_seconds - sent["audioSeconds"]) < 0.1
        assert recording.decoded.complaints == ""
        assert "YouTube does not show streams without audio; sending silence" in publisher.stderr
    else:
        assert recording.audio_packets == []


@pytest.mark.parametrize("quality", ["Low1", "Medium1"])
def test_keyframes_follow_the_services_rules(children, quality):
    receiver = FaultyReceiver(children, [])
    options = {"quality": quality, "dimension": "416x234", "duration": 5}
    publisher = publish_to(children, TWITCH, receiver, **options)
    assert publisher.child.returncode == 0, publisher.report()
    [recording] = receiver.recordings()
    if not last_event(publisher, "ended")["sourceDropped"]:  # on a busy machine, a keyframe waits for the next frame
        assert len(recording.key_times) >= 3 and keyframe_seconds(recording) <= 2.05


@pytest.mark.parametrize("options", [{}, {"from_flv": None}], ids=["live", "file"])
def test_an_rtmps_only_service_is_not_tried_without_tls(children, options, encoded_flv):
    receiver = FaultyReceiver(children, [])
    if options:
        options = {"from_flv": encoded_flv, "video": None, "audio": None}
    publisher = publish_to(children, FACEBOOK, receiver, **options)
    assert publisher.child.returncode == 2, publisher.report()
    assert "Facebook accepts only RTMPS; start the URL with rtmps://" in publisher.stderr
    assert "accepted" not in receiver.process.stdout


def test_an_rtmps_only_stream_file_is_refused(children, tmp_path):
    path = tmp_path / "stream.json"
    path.write_text(json.dumps({"url": f"rtmp://{FACEBOOK}/rtmp", "key": "x"}))
    for words in (["check", path], ["publish", "--stream", path]):
        run = children.run("refused", [TALLYCAM, *words])
        assert run.child.returncode == 2
        assert "Facebook accepts only RTMPS" in run.stderr


def test_a_disabled_stream_is_not_published(children, tmp_path):
    receiver = FaultyReceiver(children, [])
    path = tmp_path / "stream.json"
    path.write_text(json.dumps({"url": f"rtmp://{receiver.address}/live", "key": "x", "disabled": True}))
    run = children.run("publish", [TALLYCAM, "publish", "--stream", path])
    assert run.child.returncode == 2
    assert "disabled" in run.stderr and "enable it" in run.stderr
    assert "accepted" not in receiver.process.stdout


@pytest.fixture(scope="module")
def resized_flv(tmp_path_factory):
    """Two seconds of one size, then two of another, without audio."""
    path = tmp_path_factory.mktemp("resized") / "resized.flv"
    return media.make_resized_flv(path, ["416x234", "640x360"], has_audio=False)


@pytest.mark.parametrize("host", [TWITCH, "localhost"])
def test_the_size_does_not_change_if_the_service_refuses_that(children, host, resized_flv):
    receiver = FaultyReceiver(children, [])
    options = {"from_flv": resized_flv, "video": None, "audio": None, "pace": "fast"}
    publisher = publish_to(children, host, receiver, **options)
    [recording] = receiver.recordings()
    if host == TWITCH:
        assert publisher.child.returncode == 4, publisher.report()
        assert "changes from 416x234 to 640x360 after 2.0 s, which Twitch does not accept" in publisher.stderr
        assert last_event(publisher, "failed")["code"] == -1305
        # Everything before is complete and ended according to RTMP.
        assert len(recording.frames) == 60
        assert recording.decoded.complaints == ""
    else:
        assert publisher.child.returncode == 0, publisher.report()
        assert len(recording.frames) == 120


def test_a_file_without_audio_causes_a_warning_if_audio_is_needed(children, tmp_path):
    path = tmp_path / "silent.flv"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=s=416x234:r=10:d=8", "-c:v", "libx264", "-preset", "ultrafast",
        "-bf", 0, "-g", 60, "-pix_fmt", "yuv420p", path,
    )  # fmt: skip
    receiver = FaultyReceiver(children, [])
    options = {"from_flv": path, "video": None, "audio": None, "pace": "fast"}
    publisher = publish_to(children, YOUTUBE, receiver, **options)
    assert publisher.child.returncode == 0, publisher.report()
    assert publisher.stderr.count("YouTube does not show a stream without audio, and the file has none") == 1
    assert publisher.stderr.count("YouTube needs a keyframe every 2 s; the file's are 6.0 s apart") == 1
    assert [event for event in events(publisher) if event["code"] < 0] == []
