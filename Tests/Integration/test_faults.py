"""Whatever a server does, publishing goes on or ends with the right code, in bounded time, and stops at once."""

import itertools
import re
import socket
import time
from dataclasses import dataclass

import pytest
from scenarios import (
    FaultyReceiver, SideBySide, count_events, publish_small, seconds_to_end, wait_for_count,
)  # fmt: skip
from servers import free_port
from tallycam import TALLYCAM, events, last_event, wait_for_event

pytestmark = pytest.mark.takes(minutes=1.6, processors=0.1)

HANDSHAKE_FAILED, CLOSED = 3003, 3004
# What a busy machine may add to a limit.
SLACK = 1.5


@dataclass(frozen=True)
class Fault:
    words: tuple[str, ...]
    # The failure that the fault leads to; none when the stream lives on.
    code: int | None = None
    retry: int = HANDSHAKE_FAILED
    # Seconds after the connection, or after the start of publishing, until it is noticed.
    noticed: float = 0
    # When SIGTERM comes, in seconds after the start.
    term: float = 1.5

    @property
    def is_mid_stream(self) -> bool:
        return self.retry == CLOSED


FAULTS = {
    # Every wait for an answer has a limit of 5 s.
    "no accept": Fault(("no-accept=6.5",), -1015, noticed=5),
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
    "short zero window": Fault(("zero-window=3",), term=3),
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
    """All runs of this module; most of their time is waiting."""
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
    """The first connection misbehaves; the publisher does what it can."""
    receiver = FaultyReceiver(children, list(fault.words))
    publisher = publish_small(children, receiver.url)
    if fault.code is not None:
        wait_for_count(publisher, "reconnecting", 1, fault.noticed + 10)
        published = count_events(publisher, "publishing")
        wait_for_count(publisher, "publishing", published + 1, 10)
    else:
        wait_for_event(publisher, "publishing", 10)
        # Long enough for the faults in the middle of the stream.
        time.sleep(5 if "zero" in fault.words[0] else 3)
    time.sleep(2)
    seconds = seconds_to_end(publisher)
    return publisher, receiver.recordings(), seconds


@pytest.mark.parametrize("name", FAULTS)
def test_publishing_goes_on_after_the_fault(runs, name):
    fault = FAULTS[name]
    publisher, recordings, seconds = runs.result(f"heal {name}")
    assert publisher.child.returncode == 0, publisher.report()
    assert seconds < 1

    happened = events(publisher)
    codes = [event["code"] for event in happened]
    if fault.code is None:
        assert not [event for event in happened if event["code"] < 0 or event["code"] // 1000 == 3]
        assert codes.count(1002) == 1
    else:
        assert [event["cause"] for event in happened if event["code"] == fault.retry] == [fault.code]
        assert codes.count(1102) == 1
        assert codes.count(1002) == (2 if fault.is_mid_stream else 1)
        assert_noticed_in_time(happened, fault)

    # The stream that lives at the end starts with headers and a keyframe, and is whole.
    last = recordings[-1]
    assert last.decoded.complaints == ""
    assert last.frames[0].is_keyframe
    assert last.tags[0].kind == 18, "metadata comes first"
    assert len(last.frames) > 12 and len(last.audio_packets) > 40
    for recording in recordings:
        assert recording.disorder() == []
    # It goes on at its own time: a player that watched before sees a gap and no step back.
    for before, after in itertools.pairwise(recording for recording in recordings if recording.frames):
        assert after.frames[0].timestamp > before.frames[-1].timestamp
        assert after.audio_packets[0].timestamp > before.audio_packets[-1].timestamp
        assert_headers_come_at_the_streams_time(after)


def assert_headers_come_at_the_streams_time(recording):
    """What a connection starts with is not dated back to the start of the stream: a server that records would take the
    stream to be as long as it has been live, and players would wait."""
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
    started = next(event for event in happened if event["code"] == (1002 if fault.is_mid_stream else 1001))
    took = retry["t"] - started["t"]
    assert fault.noticed - 0.6 <= took <= fault.noticed + SLACK


def give_up(children, fault):
    """Every connection misbehaves, and one attempt is all there is."""
    receiver = FaultyReceiver(children, [*fault.words, "every-connection"])
    publisher = publish_small(children, receiver.url, reconnect=0)
    publisher.wait(fault.noticed + 10)
    return publisher


@pytest.mark.parametrize("name", FATAL)
def test_without_reconnecting_the_fault_ends_the_stream_with_its_code(runs, name):
    publisher = runs.result(f"give up {name}")
    assert publisher.child.returncode == 3, publisher.report()
    failed = last_event(publisher, "failed") or events(publisher)[-1]
    assert failed["code"] == FATAL[name].code
    assert failed["message"]
    assert count_events(publisher, "reconnecting") == 0
    assert failed["t"] <= FATAL[name].noticed + (1 if FATAL[name].is_mid_stream else 0) + SLACK


def stop(children, fault):
    """SIGTERM in the middle of it."""
    receiver = FaultyReceiver(children, [*fault.words, "every-connection"])
    publisher = publish_small(children, receiver.url, reconnect="endless")
    time.sleep(fault.term)
    return publisher, seconds_to_end(publisher)


@pytest.mark.parametrize("name", FAULTS)
def test_a_stop_ends_it_within_a_second(runs, name):
    publisher, seconds = runs.result(f"stop {name}")
    assert seconds < 1, publisher.report()
    assert publisher.child.returncode == 0, publisher.report()
    assert events(publisher)[-1]["name"] == "ended" or last_event(publisher, "ended")


def test_attempts_are_counted_and_the_end_has_its_own_code(children):
    """A stream that ran, and a server that never comes back."""
    receiver = FaultyReceiver(children, [])
    publisher = publish_small(children, receiver.url, reconnect=2)
    wait_for_event(publisher, "publishing")
    receiver.process.kill()
    assert publisher.wait(10) == 3, publisher.report()
    happened = [(event["code"], event.get("attempt")) for event in events(publisher)]
    assert [attempt for code, attempt in happened if code == 1102] == [1, 2]
    assert [code for code, _ in happened if code < 0][-1] == -1307
    assert [code for code, _ in happened if 3000 < code < 4000] == [3004, 3002]


def test_an_unknown_application_ends_a_stream_that_never_ran(children):
    """Trying again would change nothing."""
    receiver = FaultyReceiver(children, ["unknown-application", "every-connection"])
    publisher = publish_small(children, receiver.url, reconnect="endless")
    assert publisher.wait(5) == 3, publisher.report()
    assert [event["code"] for event in events(publisher) if event["code"] < 0][-1] == -1011
    assert count_events(publisher, "reconnecting") == 0


def test_the_server_may_ask_to_move(children):
    """Make before break: nothing is lost, nothing comes twice, and the second server starts with a keyframe."""
    second = FaultyReceiver(children, [], name="second")
    first = FaultyReceiver(children, [f"reconnect-to={second.address}"], name="first")
    publisher = publish_small(children, first.url)
    wait_for_event(publisher, "serverChanged", 10)
    time.sleep(2)
    assert seconds_to_end(publisher) < 1
    assert publisher.child.returncode == 0, publisher.report()
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
    assert max(steps) < 300


def test_audio_alone_may_move_at_any_time(children):
    second = FaultyReceiver(children, [], name="second")
    first = FaultyReceiver(children, [f"reconnect-to={second.address}"], name="first")
    publisher = children.start(
        "publish",
        [TALLYCAM, "publish", "--url", first.url, "--video", "none", "--audio", "tone", "--events", "json"])
    wait_for_event(publisher, "serverChanged", 10)
    time.sleep(1)
    assert seconds_to_end(publisher) < 1
    assert publisher.child.returncode == 0, publisher.report()
    [before], [after] = first.recordings(), second.recordings()
    times = [tag.timestamp for tag in [*before.audio_packets, *after.audio_packets]]
    assert all(earlier < later for earlier, later in itertools.pairwise(times))
    assert len(before.audio_packets) > 0 and len(after.audio_packets) > 20


def test_a_server_that_asks_to_move_nowhere_is_stayed_with(children):
    receiver = FaultyReceiver(children, [f"reconnect-to=127.0.0.1:{free_port()}"])
    publisher = publish_small(children, receiver.url)
    wait_for_event(publisher, "serverChangeFailed", 10)
    assert last_event(publisher, "serverChangeFailed")["code"] == 2004
    time.sleep(1)
    assert seconds_to_end(publisher) < 1
    assert publisher.child.returncode == 0, publisher.report()
    assert count_events(publisher, "reconnecting") == 0
    [recording] = receiver.recordings()
    assert recording.decoded.complaints == ""
    assert abs(len(recording.frames) - last_event(publisher, "ended")["videoFrames"]) <= 1


@pytest.mark.parametrize("tc_url", ["http://127.0.0.1/live?token=hush-hush", "rtmp:///live", "//"])
def test_a_server_that_asks_to_move_to_no_address_is_reported(children, tc_url):
    receiver = FaultyReceiver(children, [f"reconnect-to={tc_url}"])
    publisher = publish_small(children, receiver.url)
    wait_for_event(publisher, "serverChangeFailed", 10)
    reported = last_event(publisher, "serverChangeFailed")
    assert (reported["code"], reported["cause"]) == (2004, -1012)
    assert "RTMP URL" in reported["reason"] and "hush" not in reported["reason"]
    time.sleep(1)
    assert seconds_to_end(publisher) < 1
    assert publisher.child.returncode == 0, publisher.report()
    assert count_events(publisher, "serverChangeFailed") == 1
    assert count_events(publisher, "reconnecting") == 0
    [recording] = receiver.recordings()
    assert abs(len(recording.frames) - last_event(publisher, "ended")["videoFrames"]) <= 1


# Stopping before there is a connection ---------------------------------------------------------


@pytest.fixture
def full_listener():
    """A port that takes no connection at all: its queue in the kernel is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        waiting = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(address)
            waiting.append(client)
        yield address[1]
        for client in waiting:
            client.close()


@pytest.fixture
def silent_listener():
    """A port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


MODES = {"live": {}, "file": {"video": None, "audio": None, "quality": None, "dimension": None}}


@pytest.fixture(params=MODES)
def mode(request, encoded_flv):
    """Options of a live stream, and of a file's."""
    return MODES[request.param] | ({"from_flv": encoded_flv} if request.param == "file" else {})


def test_a_stop_while_connecting(children, full_listener, mode):
    publisher = publish_small(children, f"rtmp://127.0.0.1:{full_listener}/live/x", **mode)
    time.sleep(1)
    assert count_events(publisher, "connected") == 0
    assert seconds_to_end(publisher) < 1
    assert publisher.child.returncode == 0, publisher.report()


def test_a_connection_that_is_never_made_is_given_up(children, full_listener):
    publisher = publish_small(children, f"rtmp://127.0.0.1:{full_listener}/live/x", reconnect=0)
    assert publisher.wait(10) == 3
    failed = [event for event in events(publisher) if event["code"] < 0][-1]
    assert failed["code"] == -1015
    assert 4.5 < failed["t"] < 5 + SLACK


@pytest.mark.parametrize("scheme", ["rtmp", "rtmps"])
def test_a_stop_during_a_handshake(children, silent_listener, scheme, mode):
    publisher = publish_small(children, f"{scheme}://127.0.0.1:{silent_listener}/live/x", **mode)
    time.sleep(1)
    assert seconds_to_end(publisher) < 1
    assert publisher.child.returncode == 0, publisher.report()


def test_a_silent_tls_server_is_given_up(children, silent_listener):
    publisher = publish_small(children, f"rtmps://127.0.0.1:{silent_listener}/live/x", reconnect=0)
    assert publisher.wait(10) == 3
    failed = [event for event in events(publisher) if event["code"] < 0][-1]
    assert failed["code"] == -1015
    assert 4.5 < failed["t"] < 5 + SLACK


@pytest.mark.parametrize("options", [[], ["--from-flv"]], ids=["live", "file"])
@pytest.mark.parametrize("scheme", ["rtmp", "rtmps"])
def test_the_limit_of_handshakes_can_be_set(children, silent_listener, encoded_flv, scheme, options):
    file = [*options, encoded_flv] if options else ["--reconnect", "0", "--quality", "Low1"]
    words = [TALLYCAM, "publish", "--url", f"{scheme}://127.0.0.1:{silent_listener}/live/x", "--events", "json", *file]
    publisher = children.run("publish", [*words, "--handshake-timeout", "1.5"], timeout=10)
    assert publisher.child.returncode == 3, publisher.report()
    failed = [event for event in events(publisher) if event["code"] < 0][-1]
    assert failed["code"] == -1015
    assert 1.4 < failed["t"] < 1.5 + SLACK


@pytest.mark.parametrize("text", ["0", "61", "-1", "nan", "x", ""])
@pytest.mark.parametrize("option", ["--connect-timeout", "--handshake-timeout"])
def test_a_limit_out_of_range_is_refused(children, option, text):
    publisher = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/a/b", option, text])
    assert publisher.child.returncode == 2
    assert f"{option} is a number of seconds, 1 to 60" in publisher.stderr


# A network of its own in which the only name server takes questions and never answers.
SILENT_NAME_SERVER = """
set -eu
ip link set lo up
printf 'nameserver 127.0.0.1\\noptions timeout:30 attempts:3\\n' > "$1"
mount --bind "$1" /etc/resolv.conf
shift
exec python3 -c '
import os, socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
server.set_inheritable(True)
os.execv(sys.argv[1], sys.argv[1:])
' "$@"
"""


def start_without_names(children, *options):
    return children.start("publish", [
        "unshare", "--net", "--mount", "--propagation", "unchanged", "sh", "-c", SILENT_NAME_SERVER, "sh", children.directory / "resolv.conf",
        TALLYCAM, "publish", "--url", "rtmp://nowhere.example/live/x", "--events", "json", *options,
    ])  # fmt: skip


@pytest.mark.parametrize("options", [[], ["--from-flv"]], ids=["live", "file"])
def test_the_limit_of_lookups_can_be_set(children, options, encoded_flv):
    file = [*options, encoded_flv] if options else ["--reconnect", "0"]
    publisher = start_without_names(children, "--connect-timeout", "2", *file)
    assert publisher.wait(10) == 3
    failed = [event for event in events(publisher) if event["code"] < 0][-1]
    assert failed["code"] == -1000
    assert 1.9 < failed["t"] < 2 + SLACK


@pytest.mark.parametrize("options", [[], ["--from-flv"]], ids=["live", "file"])
def test_a_stop_during_the_lookup(children, options, encoded_flv):
    publisher = start_without_names(children, *options, *([encoded_flv] if options else []))
    time.sleep(1.5)
    assert seconds_to_end(publisher) < 1
    assert publisher.child.returncode == 0, publisher.report()


def test_a_lookup_that_gets_no_answer_is_given_up(children):
    publisher = start_without_names(children, "--reconnect", "0")
    assert publisher.wait(10) == 3
    failed = [event for event in events(publisher) if event["code"] < 0][-1]
    assert failed["code"] in (-1000, -1015)
    assert 4.5 < failed["t"] < 5 + SLACK


def test_people_read_a_summary_of_what_was_dropped(children):
    """Dozens of packets are dropped in a second: scripts get each of them, people a line a second at most."""
    for style in ("text", "json"):
        receiver = FaultyReceiver(children, ["zero-window=4.6"], name=f"receive-{style}")
        publisher = publish_small(children, receiver.url, events=style, duration=8, quality="Low3")
        assert publisher.wait(20) == 0, publisher.report()
        people = publisher.stdout if style == "text" else publisher.stderr
        lines = re.findall(r"dropped (\d+) frames and (\d+) audio packets of [\d.]+ to [\d.]+ s, \d+ kB: \w+", people)
        assert 1 <= len(lines) <= 10, people
        [total] = re.findall(r"ended: .* (\d+) dropped", people)
        frames, audio_packets = (sum(int(line[column]) for line in lines) for column in (0, 1))
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
