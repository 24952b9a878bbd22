"""One stream to several servers: each gets all of it, and none of them disturbs another."""

import json
import signal

import pytest
from appliance import Appliance, plain
from recording import Recording, assert_whole, wait_for_media
from servers import free_port
from tallycam import TALLYCAM, Receiver, events, publish_arguments, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.6, processors=0.4)


def target(name: str, url: str, **keys) -> dict:
    return {"name": name, **plain(url), **keys}


def stream_file(children, *targets: dict):
    path = children.directory / "stream.json"
    path.write_text(json.dumps({"targets": targets}))
    return path


def publish(children, *targets: dict, **options):
    path = stream_file(children, *targets)
    return children.start(
        "publish", [TALLYCAM, *publish_arguments(None, stream=path, quality="Low3", dimension="320x240", **options)]
    )


def ended(publisher, name: str) -> dict:
    return next(event for event in events(publisher) if event["name"] == "ended" and event["target"] == name)


def test_every_server_gets_the_same_frames(nginx, children):
    receiver = Receiver(children)
    publisher = publish(
        children, target("one", nginx.url("a")), target("two", nginx.url("b")), target("own", receiver.url()), duration=5
    )
    assert publisher.wait() == 0, publisher.report()
    recordings = [Recording(path) for path in (nginx.recording("a"), nginx.recording("b"), receiver.recording())]
    for name, recording in zip(("one", "two", "own"), recordings, strict=True):
        assert_whole(recording, ended(publisher, name))
    bodies = [[tag.body for tag in recording.frames] for recording in recordings]
    shortest = min(map(len, bodies))
    # A server that accepted the stream later than another starts at a later keyframe.
    assert shortest > 30 and bodies[0][-shortest:] == bodies[1][-shortest:] == bodies[2][-shortest:]


def test_dead_and_stopped_servers_cost_the_leading_one_nothing(nginx, children):
    slow = Receiver(children, "slow")
    publisher = publish(
        children, target("main", nginx.url("a")), target("slow", slow.url()),
        target("dead", f"rtmp://127.0.0.1:{free_port()}/live/x"), reconnect=0, bitrate="150,350,350", commands=True,
    )  # fmt: skip
    wait_for_media(publisher, lambda: nginx.recordings / "a.flv", seconds=2)
    slow.process.child.send_signal(signal.SIGSTOP)
    wait_for_media(publisher, lambda: nginx.recordings / "a.flv", seconds=12)
    publisher.child.send_signal(signal.SIGTERM)
    slow.process.child.send_signal(signal.SIGCONT)
    publisher.wait()
    failed = [event for event in events(publisher) if event["name"] == "failed"]
    assert {event["target"] for event in failed} <= {"dead", "slow"} and failed[0]["target"] == "dead", publisher.report()
    sent = ended(publisher, "main")
    assert sent["videoDropped"] <= 1, sent
    assert_whole(Recording(nginx.recording("a")), sent)


def test_targets_are_switched_while_live(nginx, children):
    receiver = Receiver(children)
    camera = Appliance(
        children, stream={"targets": [target("main", nginx.url("a")), target("own", receiver.url(), disabled=True)]}
    )
    assert "not live" in camera.ask("target", "own", "on").stderr
    camera.ask("start")
    camera.wait_until(lambda status: states(camera) == {"main": "live", "own": "off"})
    assert camera.ask("target", "own", "on").stdout == "own on\n"
    camera.wait_until(lambda status: states(camera)["own"] == "live")
    assert camera.ask("target", "own", "off").child.returncode == 0
    receiver.process.wait_until(lambda: any(e["name"] == "publisherEnded" for e in events(receiver.process)), "end of the stream")
    camera.wait_until(lambda status: states(camera) == {"main": "live", "own": "off"})
    assert "the only target" in camera.ask("target", "main", "off").stderr
    assert "unknown target \"other\"; available: main, own" in camera.ask("target", "other", "on").stderr
    assert "target:   main (leading) live, " in camera.ask("status").stdout


def states(camera) -> dict:
    return {entry["name"]: entry["state"] for entry in camera.status().get("targets", [])}


def test_a_failed_target_is_named_and_the_others_stay_live(nginx, children):
    dead = target("studio", f"rtmp://127.0.0.1:{free_port()}/live/x")
    camera = Appliance(
        children, stream={"targets": [target("main", nginx.url("a")), dead]},
        device={"camera": "synthetic", "dimension": "320x240", "reconnectAttempts": 0},
    )  # fmt: skip
    camera.ask("start")
    camera.wait_for("live")
    text = camera.wait_for_faults("studio: ", "targets[1].url")
    assert "(7 blinks)" in text
    assert camera.wait_for("live")["targets"][1]["state"] == "failed"


def test_check_names_the_target_of_each_limit(children):
    path = stream_file(
        children, target("youtube", "rtmps://a.rtmps.youtube.com/live2/k"), target("own", "rtmp://127.0.0.1/live/x", maxKbit=800)
    )
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == 0 and "at most 800 kbit/s, for own" in check.stdout, check.report()


def test_several_targets_take_no_flv_file(children, encoded_flv):
    path = stream_file(children, target("one", "rtmp://127.0.0.1/live/x"), target("two", "rtmp://127.0.0.1/live/y"))
    publisher = children.run("publish", [TALLYCAM, "publish", "--stream", path, "--from-flv", encoded_flv])
    assert publisher.child.returncode == 2 and "publishes to one server" in publisher.stderr


def test_a_limit_lowers_the_bit_rate_and_is_said(nginx, children):
    publisher = publish(children, target("main", nginx.url("a")), target("own", nginx.url("b"), maxKbit=200), duration=3)
    status = wait_for_event(publisher, "publishing")
    assert status["target"] in ("main", "own")
    assert publisher.wait() == 0, publisher.report()
    assert "own accepts at most 200 kbit/s of video" in publisher.stderr
    assert all(event["videoBitsPerSecond"] <= 200_000 for event in events(publisher) if event["name"] == "status")
