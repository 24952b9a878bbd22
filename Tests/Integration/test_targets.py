"""One stream to several servers: each gets all of it, and none of them disturbs another."""

import http.server
import json
import signal
import sys
import threading
import urllib.parse
from pathlib import Path

import pytest
from appliance import LIVE, Appliance, plain
from processes import Children
from recorded_frames import of_flv, of_movie
from recording import Recording, assert_whole, wait_for_media
from servers import FFmpegListener, NginxRTMP, free_port
from tallycam import TALLYCAM, Receiver, events, publish_arguments, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.6, processors=0.4)

LOW_3 = {"lowest": "Low3", "start": "Low3", "highest": "Low3"}


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


def counts(status: dict, name: str) -> dict:
    return next(entry for entry in status["targets"] if entry["name"] == name)


def states(camera) -> dict:
    return {entry["name"]: entry["state"] for entry in camera.status().get("targets", [])}


def lost(camera, name: str) -> int:
    """Frames that the server will not get. The first ones may have come before it accepted the stream."""
    return counts(camera.status(), name)["videoDropped"]


def ended(publisher, name: str) -> dict:
    return next(event for event in events(publisher) if event["name"] == "ended" and event["target"] == name)


def test_every_server_gets_the_same_frames(nginx, children):
    receiver = Receiver(children)
    publisher = publish(
        children, target("one", nginx.url("a")), target("two", nginx.url("b")), target("own", receiver.url()), duration=9
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
    camera = Appliance(
        children, stream={"targets": [
            target("main", nginx.url("a")), target("slow", slow.url()), target("dead", f"rtmp://127.0.0.1:{free_port()}/live/x"),
        ]},
        device={"camera": "synthetic", "dimension": "320x240", "quality": LOW_3, "reconnectAttempts": 0},
    )  # fmt: skip
    camera.ask("start")
    camera.wait_until(lambda status: states(camera) == {"main": "live", "slow": "live", "dead": "failed"})
    wait_for_media(camera.process, lambda: nginx.recordings / "a.flv", seconds=2)
    lost_at_first = lost(camera, "main")
    slow.process.child.send_signal(signal.SIGSTOP)
    wait_for_media(camera.process, lambda: nginx.recordings / "a.flv", seconds=14)
    # Before the stream ends: what was encoded meanwhile is not sent any more.
    before = camera.status()
    slow.process.child.send_signal(signal.SIGCONT)
    assert (states(camera)["main"], counts(before, "main")["videoDropped"]) == ("live", lost_at_first)
    assert counts(before, "slow")["videoDropped"] > 0
    camera.ask("stop")
    camera.wait_for("ready")
    recording = Recording(nginx.recording("a"))
    assert len(recording.frames) >= counts(before, "main")["videoFrames"]
    assert (recording.decoded.complaints, recording.disorder()) == ("", [])


def throttled(children, nginx, kilobits: int) -> str:
    """The server's application behind a link of this rate, which holds little beside what the publisher knows of."""
    proxy = children.start("proxy", [
        sys.executable, Path(__file__).with_name("buffering_proxy.py"), kilobits, nginx.port, 4096,
    ])  # fmt: skip
    proxy.wait_until(lambda: proxy.stdout.endswith("\n"), "port of the proxy")
    return f"rtmp://127.0.0.1:{proxy.stdout.strip()}/live"


def test_a_slow_and_a_killed_server_cost_neither_the_leading_one_nor_the_recording(nginx, children):
    """SeveralTargetsTests compares every byte with those of a stream that has no other target, in virtual time."""
    killed = FFmpegListener(children)
    folder = children.directory / "kept"
    camera = Appliance(
        children, stream={"targets": [
            target("main", nginx.url("a")), target("slow", f"{throttled(children, nginx, 120)}/b"), target("killed", killed.url("x")),
        ]},
        device={
            "camera": "synthetic", "dimension": "320x240", "quality": LOW_3, "reconnectAttempts": 2,
            "record": {"when": "live", "folder": str(folder)},
        },
    )  # fmt: skip
    camera.ask("start")
    camera.wait_until(lambda status: set(states(camera).values()) == {"live"})
    wait_for_media(camera.process, lambda: nginx.recordings / "a.flv", seconds=5)
    lost_at_first = lost(camera, "main")
    killed.process.kill()
    camera.wait_until(lambda status: counts(status, "slow")["videoDropped"] > 0 and states(camera)["killed"] == "failed")
    wait_for_media(camera.process, lambda: nginx.recordings / "a.flv", seconds=20)
    before = camera.status()
    assert before["state"] == "live" and before["quality"] == "Low3", before
    assert (states(camera)["main"], counts(before, "main")["videoDropped"]) == ("live", lost_at_first)
    camera.ask("stop")
    camera.wait_until(lambda status: status["recording"]["state"] == "off")
    at_main = [frame.digest for frame in of_flv(nginx.recording("a"))]
    recorded = [frame.digest for path in sorted(folder.glob("*.mp4")) for frame in of_movie(path)]
    # Only what was encoded before the server had answered, or while the stream ended, is not there.
    first = recorded.index(at_main[0])
    assert len(at_main) >= counts(before, "main")["videoFrames"] and at_main == recorded[first : first + len(at_main)]
    # The slow one has a part of it.
    at_slow = [frame.digest for frame in of_flv(nginx.recordings / "b.flv")]
    assert set(at_slow) < set(recorded) and len(at_slow) > 30


class KeyGuard(http.server.BaseHTTPRequestHandler):
    """nginx's authorization backend of a service that knows one key."""

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(200 if form["name"] == ["own-key"] else 403)
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def guarded(tmp_path):
    """A service that refuses all keys but `own-key`."""
    directory = tmp_path / "guarded"
    directory.mkdir()
    children = Children(directory)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), KeyGuard) as guard:
        threading.Thread(target=guard.serve_forever, daemon=True).start()
        yield NginxRTMP(children, directives=f"on_publish http://127.0.0.1:{guard.server_port}/;")
        guard.shutdown()
    children.end_all()


def test_a_key_of_another_service_fails_its_target_only(nginx, guarded, children):
    camera = Appliance(children, stream={"targets": [target("main", nginx.url("a")), target("other", guarded.url("a"))]})
    camera.ask("start")
    camera.wait_for("live")
    lost_at_first = lost(camera, "main")
    # The attempts go on without end, as the default is.
    text = camera.wait_for_faults("other: ", "when the stream key was sent", "(7 blinks)", "targets[1].key")
    assert "main: " not in text and not guarded.all_recordings()
    assert camera.status()["state"] in LIVE and lost(camera, "main") == lost_at_first
    # The person corrects the key.
    camera.write("stream", {"targets": [target("main", nginx.url("a")), target("other", guarded.url("own-key"))]})
    camera.wait_until(lambda status: states(camera) == {"main": "live", "other": "live"})
    camera.wait_for_faults()


def test_two_targets_with_one_url_are_refused(children):
    path = stream_file(children, target("one", "rtmp://127.0.0.1/live/x"), target("two", "rtmp://127.0.0.1:1935/live/x"))
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == 2 and "two and one are the same stream" in check.stderr + check.stdout, check.report()


def test_one_server_under_two_names_costs_the_second_target_only(children):
    """The two URLs differ, so only the server notices."""
    # It would write the stream that it refuses into the file of the other one.
    server = NginxRTMP(children, unique=True)
    twin = target("two", f"rtmp://localhost:{server.port}/live/a", disabled=True)
    camera = Appliance(
        children, stream={"targets": [target("one", server.url("a")), twin]},
        device={"camera": "synthetic", "dimension": "320x240", "reconnectAttempts": 0},
    )  # fmt: skip
    camera.ask("start")
    camera.wait_for("live")
    # Recordings are named by the second.
    wait_for_media(camera.process, lambda: server.all_recordings()[0], seconds=2)
    lost_at_first = lost(camera, "one")
    camera.ask("target", "two", "on")
    camera.wait_for_faults("two: ", "(7 blinks)")
    wait_for_media(camera.process, lambda: server.all_recordings()[0], seconds=5)
    before = camera.status()
    assert states(camera) == {"one": "live", "two": "failed"} and counts(before, "one")["videoDropped"] == lost_at_first
    camera.ask("stop")
    camera.wait_until(lambda status: status["state"] not in LIVE)
    recording = Recording(server.recording(server.all_recordings()[0].stem))
    assert recording.decoded.complaints == "" and len(recording.frames) >= counts(before, "one")["videoFrames"]


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
