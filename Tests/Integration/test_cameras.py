"""Several cameras in one stream, as test patterns. The clock and counter drawn into each frame identify the opening that it
comes from."""

import subprocess

import pytest
from burnt_in_clock import Reading, read_all
from live_publisher import send
from processes import HUNG, Children, Process
from recording import Recording, assert_whole, media_so_far, wait_for_media
from tallycam import TALLYCAM, Receiver, events, last_event, start_publisher, wait_for_event, wait_for_statuses

pytestmark = pytest.mark.takes(minutes=0.3, processors=0.3)


def start(children: Children, url: str, *cameras: str, **options) -> Process:
    options = {"quality": "Medium1", "dimension": "320x240", "commands": True, "status_interval": 1, **options}
    publisher = start_publisher(
        children, url, stdin=subprocess.PIPE, video=None, camera=[f"{name}=synthetic" for name in cameras], **options)
    wait_for_event(publisher, "publishing")
    return publisher


def named(publisher: Process, name: str) -> list[dict]:
    return [event for event in events(publisher) if event["name"] == name]


def wait_for(publisher: Process, name: str, count: int = 1) -> dict:
    publisher.wait_until(lambda: len(named(publisher, name)) >= count, f"{count} of event '{name}'")
    return named(publisher, name)[count - 1]


def end(publisher: Process) -> dict:
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()
    return last_event(publisher, "ended")


def starts(readings: list[Reading]) -> list[int]:
    """Where another opening starts: its counter began at another time. The counter alone may go on, if the first frames of the
    opening are missing."""
    origins = [reading.milliseconds - 1000 * reading.number / 30 for reading in readings]
    return [index for index in range(1, len(origins)) if abs(origins[index] - origins[index - 1]) > 100]


def test_the_stream_continues_with_another_camera(children):
    """CameraSwitcherTests checks the longest gap between two frames, in virtual time."""
    receiver = Receiver(children)
    publisher = start(children, receiver.url(), "front", "back")
    for count in range(1, 6):
        # Each camera's counter must get further than the next one's start.
        so_far = sum(tag.is_frame for tag in media_so_far(receiver.path))
        wait_for_media(publisher, receiver.path, frames=so_far + 15)
        send(publisher, "camera next")
        event = wait_for(publisher, "cameraSwitched", count)
        assert (event["from"], event["to"]) == (("front", "back") if count % 2 else ("back", "front"))
    assert wait_for_statuses(publisher, 2)[-1]["camera"] == "back"
    sent = end(publisher)
    recording = Recording(receiver.recording())
    assert_whole(recording, sent)
    readings = read_all(recording)
    assert len(starts(readings)) == 5
    assert all(recording.frames[index].is_keyframe for index in starts(readings))
    # Later capture, later transmission: one timeline. The last frame of one camera and the first of another may share a
    # millisecond.
    assert all(before.milliseconds <= after.milliseconds for before, after in zip(readings, readings[1:]))
    assert not recording.disorder()
    # Whole packets of 23.2 ms: no sample is lost.
    audio = [packet.timestamp for packet in recording.audio_packets]
    assert {after - before for before, after in zip(audio, audio[1:])} <= {22, 23, 24}
    # Media did not restart.
    assert len(named(publisher, "connected")) == 1 and len([tag for tag in recording.tags if tag.is_audio_header]) == 1


def test_pressing_next_twice_skips_a_camera(children, nginx):
    publisher = start(children, nginx.url("quick"), "front", "back", "side")
    send(publisher, "camera next", "camera next")
    publisher.wait_until(
        lambda: any(event["to"] == "side" for event in named(publisher, "cameraSwitched")), "a switch to side")
    wait_for_statuses(publisher, 1)
    assert named(publisher, "cameraSwitched")[-1]["to"] == "side"
    end(publisher)


def test_an_unknown_camera_is_refused_with_a_suggestion_and_the_list(children, nginx):
    publisher = start(children, nginx.url("unknown"), "front", "back")
    send(publisher, "camera bakc")
    reason = wait_for(publisher, "refused")["reason"]
    assert "did you mean back" in reason and "front, back" in reason
    send(publisher, "camera")
    assert wait_for(publisher, "refused", 2)["kind"] == "wrongUsage"
    send(publisher, "settings")
    publisher.wait_until(lambda: "camera front (of front, back)" in publisher.stderr, "the camera's name")
    end(publisher)


def test_a_stream_without_camera_names_cannot_switch(children, nginx):
    publisher = start_publisher(children, nginx.url("single"), stdin=subprocess.PIPE, commands=True)
    wait_for_event(publisher, "publishing")
    send(publisher, "camera next")
    assert wait_for(publisher, "refused")["kind"] == "singleCamera"
    assert "camera" not in wait_for(publisher, "status")
    end(publisher)


def test_switching_while_the_server_is_away(children):
    """The connection comes back with the other camera."""
    receiver = Receiver(children)
    publisher = start(children, receiver.url(), "front", "back", reconnect="endless")
    port = receiver.port
    receiver.process.interrupt_and_wait()
    wait_for(publisher, "reconnecting")
    send(publisher, "camera back")
    wait_for(publisher, "cameraSwitched")
    again = children.start("again", [TALLYCAM, "receive", "--listen", f"127.0.0.1:{port}", "--events", "json"])
    wait_for(publisher, "publishing", 2)
    assert wait_for_statuses(publisher, 2)[-1]["camera"] == "back"
    end(publisher)
    assert again.interrupt_and_wait() == 0


def test_switching_together_with_a_restart_of_the_stream(children, nginx):
    """Changes to the other tier, which has another header, and to the other camera, at once."""
    publisher = start(children, nginx.url("tier"), "front", "back")
    send(publisher, "camera back", "set quality High1", "camera front", "camera back")
    wait_for(publisher, "publishing", 2)
    publisher.wait_until(
        lambda: any(event["to"] == "back" for event in named(publisher, "cameraSwitched")), "a switch to back")
    status = wait_for_statuses(publisher, 2)[-1]
    assert (status["camera"], status["quality"]) == ("back", "High1")
    end(publisher)


@pytest.mark.parametrize("words, problem", [
    (["--camera", "front"], "--camera must be NAME=SOURCE"),
    (["--camera", "Front=synthetic"], "lower-case"),
    (["--camera", "next=synthetic"], "is the command"),
    (["--camera", "a=synthetic", "--camera", "a=synthetic"], "more than once"),
    (["--camera", "a=synthetic", "--video", "synthetic"], "cannot be combined"),
    (["--camera", "a=raw:-,format=i420,size=64x48,fps=5"], "only cameras, test patterns, images and movies"),
    (["--camera", "a=none"], "only cameras, test patterns, images and movies"),
    ([word for number in range(9) for word in ("--camera", f"c{number}=synthetic")], "at most 8"),
])  # fmt: skip
def test_invalid_cameras_are_named(words, problem):
    run = subprocess.run(
        [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1/live/x", *words], capture_output=True, text=True, timeout=HUNG)
    assert run.returncode == 2 and problem in run.stderr, run.stderr
