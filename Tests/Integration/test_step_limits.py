"""Each connection step has a configurable time limit, and a stop does not wait for any of them."""

import socket
from pathlib import Path

import pytest
from processes import HUNG, Process
from scenarios import SideBySide, count_events, end_at_once, publish_small
from tallycam import TALLYCAM, events, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.6, processors=0.05)

# Seconds that a busy machine may add to a limit.
SLACK = 30


@pytest.fixture
def full_listener():
    """A port that accepts no connections: its queue in the kernel is full."""
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
    """A port that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(HUNG)
        yield listener


def assert_given_up(publisher: Process, limit: float = 5) -> None:
    """Fails without an answer, after this many seconds."""
    assert publisher.wait() == 3, publisher.report()
    failed = [event for event in events(publisher) if event["code"] < 0][-1]
    assert failed["code"] == -1015
    assert limit <= failed["t"] < limit + SLACK


MODES = {"live": {}, "file": {"video": None, "audio": None, "quality": None, "dimension": None}}


@pytest.fixture(params=MODES)
def mode(request, encoded_flv):
    """Options for a live stream, and for a file."""
    return MODES[request.param] | ({"from_flv": encoded_flv} if request.param == "file" else {})


def test_a_stop_while_connecting(children, full_listener, mode):
    publisher = publish_small(children, f"rtmp://127.0.0.1:{full_listener}/live/x", **mode)
    wait_for_event(publisher, "stateChanged")
    assert count_events(publisher, "connected") == 0
    end_at_once(publisher)


def test_a_connection_that_is_never_made_is_given_up(children, full_listener):
    publisher = publish_small(children, f"rtmp://127.0.0.1:{full_listener}/live/x", reconnect=0)
    assert_given_up(publisher)


@pytest.mark.parametrize("scheme", ["rtmp", "rtmps"])
def test_a_stop_during_a_handshake(children, silent_listener, scheme, mode):
    publisher = publish_small(children, f"{scheme}://127.0.0.1:{silent_listener.getsockname()[1]}/live/x", **mode)
    client, _ = silent_listener.accept()
    assert client.recv(1), "the start of a handshake"
    end_at_once(publisher)


def test_a_silent_tls_server_is_given_up(children, silent_listener):
    publisher = publish_small(children, f"rtmps://127.0.0.1:{silent_listener.getsockname()[1]}/live/x", reconnect=0)
    assert_given_up(publisher)


@pytest.mark.parametrize("text", ["0", "61", "-1", "nan", "x", ""])
@pytest.mark.parametrize("option", ["--connect-timeout", "--handshake-timeout"])
def test_a_limit_out_of_range_is_refused(children, option, text):
    publisher = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/a/b", option, text])
    assert publisher.child.returncode == 2
    assert f"{option} must be a number of seconds, 1 to 60" in publisher.stderr


# A network whose only name server accepts queries but never answers.
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
        "unshare", "--net", "--mount", "--propagation", "unchanged",
        "sh", "-c", SILENT_NAME_SERVER, "sh", children.directory / "resolv.conf",
        TALLYCAM, "publish", "--url", "rtmp://nowhere.example/live/x", "--events", "json", *options,
    ])  # fmt: skip


def has_asked(publisher) -> bool:
    """Whether a query is waiting in the name server's socket (port 53), which is not read."""
    try:
        sockets = [line.split() for line in Path(f"/proc/{publisher.child.pid}/net/udp").read_text().splitlines()[1:]]
    except OSError:
        return False
    return any(words[1].endswith(":0035") and not words[4].endswith(":00000000") for words in sockets)


@pytest.mark.parametrize("options", [[], ["--from-flv"]], ids=["live", "file"])
def test_a_stop_during_the_lookup(children, options, encoded_flv):
    publisher = start_without_names(children, "--connect-timeout", 60, *options, *([encoded_flv] if options else []))
    publisher.wait_until(lambda: has_asked(publisher), "question for the name server")
    end_at_once(publisher)


# In seconds. The resolver itself gives up after the default's time, so its limit can only be lowered.
DEFAULT = 5
LONGER, SHORTER = 7, 1


def give_up_later(children, url: str, file: Path | None):
    options = {"from_flv": file, "video": None, "audio": None, "quality": None, "dimension": None} if file else {"reconnect": 0}
    publisher = publish_small(children, url, handshake_timeout=LONGER, **options)
    publisher.wait()
    return publisher


LIMITS = [f"{scheme} {kind}" for scheme in ("rtmp", "rtmps") for kind in ("live", "file")]


@pytest.fixture(scope="module")
def limited(tmp_path_factory, encoded_flv):
    limits = SideBySide(tmp_path_factory.mktemp("limits"), workers=len(LIMITS))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}/live/x"
        for name in LIMITS:
            scheme, kind = name.split()
            limits.start(name, give_up_later, f"{scheme}://{address}", encoded_flv if kind == "file" else None)
        yield limits
        limits.end()


@pytest.mark.parametrize("name", LIMITS)
def test_the_limit_of_handshakes_can_be_set(limited, name):
    publisher = limited.result(name)
    assert_given_up(publisher, LONGER)


@pytest.mark.parametrize("options", [[], ["--from-flv"]], ids=["live", "file"])
def test_the_limit_of_lookups_can_be_set(children, options, encoded_flv):
    """One of ten attempts, one after the other, ends before the default's limit. A busy machine does not delay them all."""
    file = [*options, encoded_flv] if options else ["--reconnect", "0"]
    taken = []
    while len(taken) < 10 and min(taken, default=DEFAULT) >= DEFAULT:
        publisher = start_without_names(children, "--connect-timeout", SHORTER, *file)
        assert publisher.wait() == 3
        failed = [event for event in events(publisher) if event["code"] < 0][-1]
        assert failed["code"] == -1000
        taken.append(failed["t"])
    assert SHORTER <= min(taken) < DEFAULT, taken


def test_a_lookup_that_gets_no_answer_is_given_up(children):
    publisher = start_without_names(children, "--reconnect", "0")
    assert publisher.wait() == 3
    failed = [event for event in events(publisher) if event["code"] < 0][-1]
    assert failed["code"] in (-1000, -1015)
    assert 5 <= failed["t"] < 5 + SLACK
