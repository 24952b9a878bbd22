"""A paused live stream sends a still frame and silence over the same connection, and everything returns afterwards."""

import json
import subprocess
from pathlib import Path

import media
import pytest
from appliance import Appliance, plain
from paused_media import colors, decoded, is_black, is_red, loudness, still_frames
from processes import Children, Process
from recording import Recording, wait_for_media
from tallycam import TALLYCAM, events, last_event, start_publisher, wait_for_event, wait_for_statuses

pytestmark = pytest.mark.takes(minutes=1.2, processors=0.2)

WIDTH, HEIGHT = 320, 240


def start(children: Children, url: str | None, **options) -> Process:
    publisher = start_publisher(
        children, url, stdin=subprocess.PIPE, commands=True, dimension=f"{WIDTH}x{HEIGHT}", status_interval=1, **options)
    wait_for_event(publisher, "publishing")
    wait_for_statuses(publisher, 2)
    return publisher


def send(publisher: Process, line: str) -> None:
    publisher.child.stdin.write(f"{line}\n".encode())
    publisher.child.stdin.flush()


def named(publisher: Process, name: str) -> list[dict]:
    return [event for event in events(publisher) if event["name"] == name]


def wait_for(publisher: Process, name: str, count: int) -> dict:
    publisher.wait_until(lambda: len(named(publisher, name)) >= count, f"{count} of event '{name}'")
    return named(publisher, name)[count - 1]


def check_flow(recording: Recording, sent: dict) -> None:
    """One stream without gaps in either track. PausedVideoTests checks the exact times in virtual time."""
    assert recording.decoded.complaints == ""
    assert recording.disorder() == []
    assert len([tag for tag in recording.tags if tag.is_video_header]) == 1, "it is one stream"
    for track, usual in ((recording.frames, 34), (recording.audio_packets, 24)):
        times = [tag.timestamp for tag in track]
        gaps = sorted(after - before for before, after in zip(times, times[1:]))
        # The encoder may skip frames, and so may a busy machine.
        assert gaps[len(gaps) // 2] <= usual or sent["sourceDropped"] and track is recording.frames, gaps


def test_last_frame_and_silence_are_sent_until_the_pause_ends(children, nginx):
    publisher = start(children, nginx.url("still"))
    send(publisher, "pause on")
    assert wait_for(publisher, "paused", 1) | {"t": 0} == {"t": 0, "code": 2013, "name": "paused", "paused": True}
    statuses = wait_for_statuses(publisher, 4)
    assert all(status["paused"] for status in statuses[1:]), statuses
    # Together: a busy machine may send less in one interval, and the rest in the next.
    for rate in ("videoFramesPerSecond", "audioPacketsPerSecond"):
        assert sum(status[rate] for status in statuses[1:]) > 2 * len(statuses[1:]), statuses
    send(publisher, "set mute on")
    wait_for(publisher, "muted", 1)
    send(publisher, "set mute off")
    send(publisher, "pause off")
    assert wait_for(publisher, "paused", 2)["paused"] is False
    assert not wait_for_statuses(publisher, 3)[-1]["paused"]
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()
    assert len(named(publisher, "connected")) == 1 and not named(publisher, "reconnecting")
    # A still frame reveals nothing about the link, which is slow only if the server gets no processor time.
    is_behind = any(status["bufferedSeconds"] > 0.1 for status in named(publisher, "status"))
    assert is_behind or not named(publisher, "qualityChanged") and not named(publisher, "uplinkTooSlow")

    recording = Recording(nginx.recording("still"))
    check_flow(recording, last_event(publisher, "ended"))
    still = still_frames(recording.path)
    times = [tag.timestamp for tag in recording.frames]
    since, end = times[still.start] / 1000, times[still.stop] / 1000
    assert end - since > 2.5
    assert still.start > 5 and len(times) - still.stop > 5, "it moves before and after"
    # The last frame before the pause is repeated as a keyframe, and the first one after it is a keyframe.
    assert any(recording.frames[at].is_keyframe for at in range(still.start - 2, still.start + 1))
    assert any(recording.frames[at].is_keyframe for at in range(still.stop - 1, still.stop + 2))
    assert loudness(recording.path, since + 0.3, end - 0.3) < 50
    assert loudness(recording.path, end + 0.5, end + 1.5) > 500 and loudness(recording.path, since - 1, since - 0.3) > 500


@pytest.fixture
def slate(tmp_path) -> Path:
    """A wide image, so that the stream's frame has bars above and below."""
    path = tmp_path / "slate.png"
    media.run_ffmpeg("-f", "lavfi", "-i", "color=red:s=400x100", "-frames:v", 1, path)
    return path


def test_slate_is_shown_and_filters_are_not(children, nginx, slate, tmp_path):
    """A snapshot of a paused stream shows what is sent."""
    publisher = start(children, nginx.url("slate"), pause_image=slate, filter="gray")
    send(publisher, "pause on")
    wait_for(publisher, "paused", 1)
    wait_for_statuses(publisher, 2)
    photo = tmp_path / "paused.jpg"
    send(publisher, f"snapshot {photo}")
    wait_for(publisher, "snapshot", 1)
    # Changes to filters have no effect meanwhile.
    send(publisher, "set quality Low2")
    wait_for(publisher, "configured", 1)
    wait_for_statuses(publisher, 2)
    send(publisher, "pause off")
    wait_for(publisher, "paused", 2)
    wait_for_statuses(publisher, 2)
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()
    recording = Recording(nginx.recording("slate"))
    assert recording.decoded.complaints == "" and recording.disorder() == []
    shown = [colors(frame) for frame in decoded(recording.path, 8, 8, "rgb24")]
    red = [at for at, (middle, _) in enumerate(shown) if is_red(middle)]
    assert len(red) > 10
    # All frames between the first and the last red one are red, with black around the image.
    assert red == list(range(red[0], red[-1] + 1))
    assert all(is_black(edge) for _, edge in shown[red[0] : red[-1] + 1])
    assert red[0] > 5 and red[-1] < len(shown) - 5
    gray = [middle for middle, _ in [*shown[: red[0]], *shown[red[-1] + 1 :]]]
    assert all(max(color) - min(color) < 12 for color in gray), "the filter is back"
    [snapshot] = decoded(photo, 8, 8, "rgb24")
    assert is_red(colors(snapshot)[0]) and is_black(colors(snapshot)[1])


UNUSABLE = pytest.mark.parametrize(
    "content", [None, b"\x89PNG\r\n\x1a\n and no more", b"GIF89a"], ids=["missing", "cut off", "another kind"])


@UNUSABLE
def test_unusable_image_is_refused_on_the_command_line(children, tmp_path, content):
    """Before anything is sent."""
    image = tmp_path / "slate.png"
    if content is not None:
        image.write_bytes(content)
    run = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/live/x", "--pause-image", image])
    assert run.child.returncode == 2, run.report()
    assert run.stderr.startswith("tallycam: --pause-image: ") and str(image) in run.stderr, run.report()
    assert run.stderr.count("\n") == 1 and not run.stdout, run.report()


@UNUSABLE
def test_unusable_image_in_a_file_is_reported_and_the_stream_continues(children, nginx, tmp_path, content):
    image = tmp_path / "slate.png"
    if content is not None:
        image.write_bytes(content)
    stream = tmp_path / "stream.json"
    stream.write_text(json.dumps({**plain(nginx.url("broken")), "pauseImage": image.name}))
    publisher = start(children, None, stream=stream)
    event = wait_for(publisher, "pauseImageUnusable", 1)
    assert event["code"] == 2014 and str(image) in event["reason"], event
    send(publisher, "pause on")
    wait_for(publisher, "paused", 1)
    wait_for_statuses(publisher, 3)
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()
    assert len(still_frames(nginx.recording("broken"))) > 10


def test_appliance_is_paused_by_a_command_and_says_so(children, nginx, slate):
    stream = {**plain(nginx.url("camera")), "pauseImage": "slate.png"}
    camera = Appliance(children, stream=None)
    (camera.boot / "slate.png").write_bytes(slate.read_bytes())
    camera.write("stream", stream)
    refused = camera.ask("pause", "on")
    assert refused.child.returncode == 7 and "not live" in refused.stderr
    assert camera.ask("pause", "maybe").child.returncode == 2
    camera.wait_until(lambda status: status["state"] == "ready" and not status["faults"])
    assert camera.ask("start").child.returncode == 0
    assert camera.wait_for("live")["paused"] is False
    assert camera.ask("pause", "on").stdout == "paused: sending a still frame and silence\n"
    assert camera.wait_for("paused")["paused"] is True
    assert camera.ask("pause", "on").child.returncode == 0
    # A changed file restarts the stream, which stays paused.
    camera.write("stream", {**stream, "key": "other"})
    recording = nginx.recordings / "other.flv"
    camera.process.wait_until(recording.exists, "the next stream")
    camera.wait_for("paused")
    wait_for_media(camera.process, recording, frames=40)
    assert camera.ask("pause", "off").stdout == "no longer paused\n"
    camera.wait_for("live")
    camera.ask("stop")
    path = nginx.recording("other")
    shown = [colors(frame) for frame in decoded(path, 8, 8, "rgb24")][:40]
    # The slate may be loaded a moment after the first frames, which are black then.
    black = next((at for at, (middle, _) in enumerate(shown) if is_red(middle)), len(shown))
    assert len(shown) - black >= 20 and all(is_red(middle) for middle, _ in shown[black:])
    assert all(is_black(middle) for middle, _ in shown[:black]) and all(is_black(edge) for _, edge in shown)
