"""Whatever a server does, publishing continues or ends with the right code in limited time, and it stops at once.

Unit tests check the exact times in virtual time: StreamSessionTests, PublishConnectionTests, ConnectionThreadTests.
"""

import itertools
import re
import time
from dataclasses import dataclass

import pytest
from recording import wait_for_media
from scenarios import (
    USUAL_LIMITS, FaultyReceiver, SideBySide, count_events, end_at_once, publish_small, wait_for_count,
)  # fmt: skip
from servers import free_port
from tallycam import PATIENT, TALLYCAM, events, last_event, wait_for_event

pytestmark = pytest.mark.takes(minutes=1.6, processors=0.1)

HANDSHAKE_FAILED, CLOSED = 3003, 3004
# Seconds that a busy machine may add to a limit.
SLACK = 30


@dataclass(frozen=True)
class Fault:
    words: tuple[str, ...]
    # The failure caused by the fault; none if the stream survives.
    code: int | None = None
    retry: int = HANDSHAKE_FAILED
    # Seconds from the connection, or from the start of publishing, until it is noticed.
    noticed: float = 0
    # When SIGTERM is sent, in seconds from the connection, or from the start of publishing.
    term: float = 1.5

    @property
    def is_mid_stream(self) -> bool:
        return self.retry == CLOSED


FAULTS = {
    # Every wait for an answer has a limit of 5 s.
    # Counted from the receiver's start, which may be long before the publisher's.
    "no accept": Fault(("no-accept=12",), -1015, noticed=5),
    "no handshake": Fault(("no-handshake",), -1015, noticed=5),
    "garbage handshake": Fault(("garbage-handshake",), -1004),
    "dribbled handshake": Fault(("dribbled-handshake",), term=0.5),
    "connect rejected": Fault(("connect-rejected",), -1005),
    "connect unanswered": Fault(("connect-unanswered",), -1015, noticed=5),
    "bad name": Fault(("bad-name",), -1008),
    "publish unanswered": Fault(("publish-unanswered",), -1015, noticed=5),
    "chunk size 1": Fault(("chunk-size=1",)),
    "chunk size 65536": Fault(("chunk-size=65536",)),
    "tiny window": Fault(("tiny-window",)),
    "no acknowledgements": Fault(("no-acknowledgements",)),
    "short zero window": Fault(("zero-window=1.5",), term=2),
    "long zero window": Fault(("zero-window=30",), -1015, CLOSED, noticed=1 + 5, term=4),
    "close": Fault(("close-after=1",), -1013, CLOSED, noticed=1),
    "reset": Fault(("reset-after=1",), -1013, CLOSED, noticed=1),
    "garbage": Fault(("garbage-after=1",), -1012, CLOSED, noticed=1),
    "stream error": Fault(("error-after=1",), -1014, CLOSED, noticed=1),
    "ping flood": Fault(("ping-flood",), term=2.5),
    "everything tiny and dribbled": Fault(("dribbled-handshake", "chunk-size=1", "tiny-window", "ping-flood"), term=3),
}
FATAL = {name: fault for name, fault in FAULTS.items() if fault.code is not None}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """All runs of this module, which mostly wait."""
    runs = SideBySide(tmp_path_factory.mktemp("faults"), workers=8)
    for name, fault in FAULTS.items():
        runs.start(f"heal {name}", heal, fault)
    for name, fault in FATAL.items():
        runs.start(f"give up {name}", give_up, fault)
    for name, fault in FAULTS.items():
        runs.start(f"stop {name}", stop, fault)
    yield runs
    runs.end()


def heal(children, fault):
    """The first connection misbehaves; the publisher tries to recover."""
    receiver = FaultyReceiver(children, list(fault.words))
    # A fault that the stream survives must not be joined by a server that is late on a busy machine.
    publisher = publish_small(children, receiver.url, **(PATIENT if fault.code is None else USUAL_LIMITS))
    if fault.code is not None:
        wait_for_count(publisher, "reconnecting", 1)
    wait_for_count(publisher, "publishing", 2 if fault.is_mid_stream else 1)
    publisher.wait_until(lambda: len(receiver.paths()) > fault.is_mid_stream, "recording after the fault")
    # Long enough for the faults in the middle of the stream, so that nothing is lost otherwise.
    wait_for_media(publisher, lambda: receiver.paths()[-1], 4 if fault.code is None else 0, frames=13, audio_packets=41)
    end_at_once(publisher)
    return publisher, receiver.recordings()


@pytest.mark.parametrize("name", FAULTS)
def test_publishing_continues_after_the_fault(runs, name):
    fault = FAULTS[name]
    publisher, recordings = runs.result(f"heal {name}")
    happened = events(publisher)
    codes = [event["code"] for event in happened]
    if fault.code is None:
        assert not [event for event in happened if event["code"] < 0 or event["code"] // 1000 == 3]
        assert codes.count(1002) == 1
    else:
        causes = [event["cause"] for event in happened if event["code"] == fault.retry]
        assert set(causes) == {fault.code} and codes.count(1102) == len(causes)
        assert len(causes) == 1 or name == "no accept"
        assert codes.count(1002) == (2 if fault.is_mid_stream else 1)
        assert_noticed_in_time(happened, fault)

    # The final stream starts with headers and a keyframe, and is complete.
    last = recordings[-1]
    assert last.decoded.complaints == ""
    assert last.frames[0].is_keyframe
    assert last.tags[0].kind == 18, "metadata comes first"
    assert len(last.frames) > 12 and len(last.audio_packets) > 40
    for recording in recordings:
        assert recording.disorder() == []
    # It continues at its own time: a player that was watching sees a gap, but no step back.
    for before, after in itertools.pairwise(recording for recording in recordings if recording.frames):
        assert after.frames[0].timestamp > before.frames[-1].timestamp
        assert after.audio_packets[0].timestamp > before.audio_packets[-1].timestamp
        assert_headers_come_at_the_streams_time(after)


def assert_headers_come_at_the_streams_time(recording):
    """Headers must not be dated back to the stream's start. Otherwise, a recording server would take the stream to be as long
    as it has been live, and players would wait."""
    start = min(recording.frames[0].timestamp, recording.audio_packets[0].timestamp)
    first_media = recording.tags.index(next(tag for tag in recording.tags if tag.is_frame or tag.is_audio))
    headers = recording.tags[:first_media]
    assert {tag.kind for tag in headers} == {8, 9, 18}
    for tag in headers:
        assert start - 500 <= tag.timestamp, f"a header of kind {tag.kind} at {tag.timestamp} ms, media at {start} ms"
        track = {8: recording.audio_packets, 9: recording.frames}.get(tag.kind)
        assert not track or tag.timestamp <= track[0].timestamp


def assert_noticed_in_time(happened, fault):
    retry = next(event for event in happened if event["code"] == fault.retry)
    assert fault.noticed <= retry["t"] <= fault.noticed + SLACK


def give_up(children, fault):
    """Every connection misbehaves, and only one attempt is allowed."""
    receiver = FaultyReceiver(children, [*fault.words, "every-connection"])
    publisher = publish_small(children, receiver.url, reconnect=0)
    publisher.wait()
    return publisher


@pytest.mark.parametrize("name", FATAL)
def test_without_reconnecting_the_fault_ends_the_stream_with_its_code(runs, name):
    publisher = runs.result(f"give up {name}")
    assert publisher.child.returncode == 3, publisher.report()
    failed = last_event(publisher, "failed") or events(publisher)[-1]
    assert failed["code"] == FATAL[name].code
    assert failed["message"]
    assert count_events(publisher, "reconnecting") == 0
    assert FATAL[name].noticed <= failed["t"] <= FATAL[name].noticed + SLACK


def stop(children, fault):
    """Sends SIGTERM in the middle of the fault."""
    receiver = FaultyReceiver(children, [*fault.words, "every-connection"])
    publisher = publish_small(children, receiver.url, reconnect="endless", **PATIENT)
    wait_for_event(publisher, "publishing" if fault.is_mid_stream or fault.code is None else "connected")
    time.sleep(fault.term)
    end_at_once(publisher)
    return publisher


@pytest.mark.parametrize("name", FAULTS)
def test_a_stop_ends_it(runs, name):
    publisher = runs.result(f"stop {name}")
    assert events(publisher)[-1]["name"] == "ended" or last_event(publisher, "ended")


def test_attempts_are_counted_and_the_end_has_its_own_code(children):
    """A stream that was live, and a server that never returns."""
    receiver = FaultyReceiver(children, [])
    publisher = publish_small(children, receiver.url, reconnect=2)
    wait_for_event(publisher, "publishing")
    receiver.process.kill()
    assert publisher.wait() == 3, publisher.report()
    happened = [(event["code"], event.get("attempt")) for event in events(publisher)]
    assert [attempt for code, attempt in happened if code == 1102] == [1, 2]
    assert [code for code, _ in happened if code < 0][-1] == -1307
    assert [code for code, _ in happened if 3000 < code < 4000] == [3004, 3002]


def test_an_unknown_application_ends_a_stream_that_was_never_live(children):
    """Retrying would change nothing."""
    receiver = FaultyReceiver(children, ["unknown-application", "every-connection"])
    publisher = publish_small(children, receiver.url, reconnect="endless")
    assert publisher.wait() == 3, publisher.report()
    assert [event["code"] for event in events(publisher) if event["code"] < 0][-1] == -1011
    assert count_events(publisher, "reconnecting") == 0


def test_the_server_may_redirect_the_stream(children):
    """Make before break: nothing is lost or repeated, and the second server starts with a keyframe."""
    second = FaultyReceiver(children, [], name="second")
    first = FaultyReceiver(children, [f"reconnect-to={second.address}"], name="first")
    publisher = publish_small(children, first.url)
    wait_for_event(publisher, "serverChanged")
    wait_for_media(publisher, second.first_path, 1)
    end_at_once(publisher)
    assert last_event(publisher, "serverChanged")["code"] == 2003
    assert count_events(publisher, "reconnecting") == 0

    [before], [after] = first.recordings(), second.recordings()
    for recording in (before, after):
        assert recording.decoded.complaints == ""
        assert recording.frames[0].is_keyframe
    assert_headers_come_at_the_streams_time(after)
    for kind in ("frames", "audio_packets"):
        times = [tag.timestamp for tag in [*getattr(before, kind), *getattr(after, kind)]]
        assert all(earlier < later for earlier, later in itertools.pairwise(times)), kind
    sent = last_event(publisher, "ended")
    assert abs(len(before.frames) + len(after.frames) - sent["videoFrames"]) <= 1
    steps = [b.timestamp - a.timestamp for a, b in itertools.pairwise([*before.frames, *after.frames])]
    assert max(steps) < 300 or sent["sourceDropped"], "a slow processor makes longer ones"


def test_audio_alone_may_be_redirected_at_any_time(children):
    second = FaultyReceiver(children, [], name="second")
    first = FaultyReceiver(children, [f"reconnect-to={second.address}"], name="first")
    publisher = children.start(
        "publish",
        [TALLYCAM, "publish", "--url", first.url, "--video", "none", "--audio", "tone", "--events", "json"])
    wait_for_event(publisher, "serverChanged")
    wait_for_media(publisher, second.first_path, frames=0, audio_packets=21)
    end_at_once(publisher)
    [before], [after] = first.recordings(), second.recordings()
    times = [tag.timestamp for tag in [*before.audio_packets, *after.audio_packets]]
    assert all(earlier < later for earlier, later in itertools.pairwise(times))
    assert len(before.audio_packets) > 0 and len(after.audio_packets) > 20


def test_an_unreachable_redirect_keeps_the_connection(children):
    receiver = FaultyReceiver(children, [f"reconnect-to=127.0.0.1:{free_port()}"])
    publisher = publish_small(children, receiver.url)
    wait_for_event(publisher, "serverChangeFailed")
    assert last_event(publisher, "serverChangeFailed")["code"] == 2004
    wait_for_media(publisher, receiver.first_path, 1)
    end_at_once(publisher)
    assert count_events(publisher, "reconnecting") == 0
    [recording] = receiver.recordings()
    assert recording.decoded.complaints == ""
    assert abs(len(recording.frames) - last_event(publisher, "ended")["videoFrames"]) <= 1


@pytest.mark.parametrize("tc_url", ["http://127.0.0.1/live?token=hush-hush", "rtmp:///live", "//"])
def test_an_invalid_redirect_is_reported(children, tc_url):
    receiver = FaultyReceiver(children, [f"reconnect-to={tc_url}"])
    publisher = publish_small(children, receiver.url)
    wait_for_event(publisher, "serverChangeFailed")
    reported = last_event(publisher, "serverChangeFailed")
    assert (reported["code"], reported["cause"]) == (2004, -1012)
    assert "RTMP URL" in reported["reason"] and "hush" not in reported["reason"]
    wait_for_media(publisher, receiver.first_path, 1)
    end_at_once(publisher)
    assert count_events(publisher, "serverChangeFailed") == 1
    assert count_events(publisher, "reconnecting") == 0
    [recording] = receiver.recordings()
    assert abs(len(recording.frames) - last_event(publisher, "ended")["videoFrames"]) <= 1


def test_people_read_a_summary_of_what_was_dropped(children):
    """Dozens of packets are dropped per second: scripts get each of them, people at most one line per second."""
    for style in ("text", "json"):
        receiver = FaultyReceiver(children, ["zero-window=4.6"], name=f"receive-{style}")
        publisher = publish_small(children, receiver.url, events=style, duration=8, quality="Low3")
        assert publisher.wait() == 0, publisher.report()
        people = publisher.stdout if style == "text" else publisher.stderr
        lines = re.findall(r"dropped (\d+) frames and (\d+) audio packets from [\d.]+ to [\d.]+ s, \d+ kB: \w+", people)
        [total] = re.findall(r"ended: .* (\d+) dropped", people)
        frames, audio_packets = (sum(int(line[column]) for line in lines) for column in (0, 1))
        assert 1 <= len(lines) < (frames + audio_packets) / 2, people
        assert frames == int(total)
        if style == "json":
            kinds = [event["kind"] for event in events(publisher) if event["name"] == "dropped"]
            assert (kinds.count("video"), kinds.count("audio")) == (frames, audio_packets)
            assert len(kinds) > len(lines)


@pytest.mark.parametrize("words", ["no-such", "close-after", "close-after=x", "chunk-size=0", "bad-name=1", "="])
def test_an_unknown_fault_is_named(children, words):
    run = children.run("receive", [TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--fault", words])
    assert run.child.returncode == 2
    assert "--fault" in run.stderr
