"""Keys, tokens and stream names never appear in any command's output."""

import base64
import fcntl
import hashlib
import hmac
import json
import re
from pathlib import Path

import pytest
from appliance import BOARD, Appliance, Terminal
from processes import Children
from rtmp_wire import Tap
from scenarios import SMALL, FaultyReceiver, end_at_once
from servers import NginxRTMP, free_port
from tallycam import TALLYCAM, Receiver, events, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.8, processors=0.05)

PUBLISH_KEY = "s3cretPublishKey4711"
STREAM_KEY = "s3cretStreamKey0815"
PASSWORD = "s3cretPassword99"
# Looks like the name of a key.
WORD = "sEcretWordOfLetters"
SECRETS = [PUBLISH_KEY, STREAM_KEY, PASSWORD, WORD, "token=", "nonce="]


def pili(host: str, security: str) -> dict:
    return {
        "id": "z1.live.cam01", "title": "cam01", "hub": "live", "publishKey": PUBLISH_KEY,
        "publishSecurity": security, "hosts": {"publish": {"rtmp": host}},
    }  # fmt: skip


def outputs(children: Children) -> str:
    """All output of the product's processes."""
    said = [p for p in children.all if p.argv[0] == str(TALLYCAM)]
    assert said
    return "".join(process.stdout + process.stderr for process in said)


def assert_no_secret(children: Children, *more: str) -> None:
    text = outputs(children)
    for secret in [*SECRETS, *more]:
        assert secret not in text, [line for line in text.splitlines() if secret in line]


def publish_file(children: Children, path, *options):
    return children.run(
        "publish", [TALLYCAM, "publish", "--stream", path, "--quality", "Low1", "--duration", "1", *options]
    )


@pytest.mark.parametrize("events", ["json", "text"])
@pytest.mark.parametrize("security", ["dynamic", "static"])
def test_a_stream_file_is_published_and_kept_secret(nginx, children, tmp_path, security, events):
    tap = Tap(nginx.port)
    path = tmp_path / "stream.json"
    path.write_text(json.dumps(pili(f"127.0.0.1:{tap.port}", security)))
    assert children.run("check", [TALLYCAM, "check", path]).child.returncode == 0
    publisher = publish_file(children, path, "--events", events)
    assert publisher.child.returncode == 0, publisher.report()

    [name] = [command[3] for command in tap.commands() if command[0] == "publish"]
    if security == "static":
        assert name == f"cam01?key={PUBLISH_KEY}"
    else:
        nonce, token = re.fullmatch(r"cam01\?nonce=(\d+)&token=([\w-]+=*)", name).groups()
        message = f"/live/cam01?nonce={nonce}".encode()
        signature = hmac.new(PUBLISH_KEY.encode(), message, hashlib.sha1).digest()
        assert token == base64.urlsafe_b64encode(signature).decode()
        assert_no_secret(children, token)
    assert_no_secret(children)


def test_a_plain_stream_file_is_kept_secret(nginx, children, tmp_path):
    path = tmp_path / "stream.json"
    path.write_text(json.dumps({"url": f"rtmp://127.0.0.1:{nginx.port}/live", "key": STREAM_KEY}))
    assert children.run("check", [TALLYCAM, "check", path]).child.returncode == 0
    publisher = publish_file(children, path, "--events", "json")
    assert publisher.child.returncode == 0, publisher.report()
    assert f"name='{STREAM_KEY}'" in nginx.log
    assert_no_secret(children)


def failing_urls(nginx: NginxRTMP, tmp_path) -> list[str]:
    return [
        f"rtmp://127.0.0.1:{free_port()}/live/{STREAM_KEY}?token=x",
        f"rtmp://127.0.0.1:{nginx.port}/unknown/{STREAM_KEY}?key={PASSWORD}",
        f"rtmp://user:{PASSWORD}@127.0.0.1:{free_port()}/live/{STREAM_KEY}",
        f"http://user:{PASSWORD}@127.0.0.1/live/{STREAM_KEY}?token=x",
        f"rtmp://127.0.0.1:port/live/{STREAM_KEY}",
        f"rtmp://127.0.0.1:1/live/{STREAM_KEY}\t",
        f"rtmp://user:{PASSWORD}@/live/{STREAM_KEY}",
        f"rtmp://user:{PASSWORD}@[::1/live/{STREAM_KEY}",
        f"rtmp://{PASSWORD}",
    ]


@pytest.mark.parametrize("number", range(9))
def test_a_failing_publisher_keeps_its_url_secret(nginx, children, tmp_path, number):
    url = failing_urls(nginx, tmp_path)[number]
    publisher = children.run("publish", [TALLYCAM, "publish", "--url", url, "--events", "json"])
    assert publisher.child.returncode in (2, 3), publisher.report()
    assert_no_secret(children)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"publishKey": "{PUBLISH_KEY}", "hub": "h", "title": "t"}}',
        f'{{"publishKey": "{PUBLISH_KEY}" "hub": 1}}',
        f'{{"publishKey": ["{PUBLISH_KEY}"], "hub": "live"}}',
        f'{{"url": "rtmp://u:{PASSWORD}@h/a", "key": "{STREAM_KEY}", "more": 1}}',
        f'{{"url": "http://u:{PASSWORD}@h/a?token=1", "key": "{STREAM_KEY}"}}',
        f'{{"url": "rtmp://h/a", "key": "{STREAM_KEY} with blanks\\n"}}',
        f'{{"url": "rtmp://h/a", "key": "{STREAM_KEY}", "key": "{PASSWORD}"}}',
        f'{{"key": "{STREAM_KEY}"}}',
        f'{{"url": "rtmp://h/a", "key": "x", "{STREAM_KEY}": 1}}',
        f'{{"url": "rtmp://h/a", "key": "x", "{STREAM_KEY}": 1, "{STREAM_KEY}": 2}}',
        f'{{"hub": "live", "hosts": {{"{PUBLISH_KEY}": {{}}, "publish": {{"{STREAM_KEY}": "h"}}}}}}',
        f'"{PUBLISH_KEY}"',
        f'{{"{WORD}": "rtmp://h/a/b"}}',
        f'{{"url": "{WORD}"}}',
        f'{{"url": "{WORD}://h/a/b"}}',
        f'{{"url": "rtmp://h/a/b", "{WORD}": 1, "{WORD}": 2}}',
        f'{{"hub": "{WORD} {WORD}", "{WORD}": {{}}, "hosts": {{"publish": {{"{WORD}": 1}}}}}}',
    ],
)
def test_a_faulty_stream_file_is_kept_secret(children, tmp_path, text):
    path = tmp_path / "stream.json"
    path.write_text(text)
    children.run("check", [TALLYCAM, "check", path])
    publish_file(children, path)
    assert_no_secret(children)


def test_a_secret_in_place_of_a_name_is_reported_nowhere(children):
    """Concerns the files on the card: faults.txt, events, status and console."""
    terminal = Terminal()
    camera = Appliance(
        children, board={**BOARD, "console": terminal.name}, stream=f'{{"{WORD}": {{}},\n"{WORD}": {{}}, "url": "{WORD}"}}',
        network=f'{{"wifi": [{{"ssid": "Studio",\n"{WORD}": 1}}], "{WORD}": {{"{WORD}": 1, "{WORD}": 2}}}}',
    )  # fmt: skip
    terminal.wait_for(b"unknown key, ignored")
    status = camera.ask("status").stdout + camera.ask("status", "--json").stdout
    assert "unknown key, ignored" in status
    assert camera.process.interrupt_and_wait() == 0
    reported = camera.faults() + camera.events() + status + terminal.seen.decode() + (camera.boot / "events.txt").read_text()
    assert "network.json, line 2, column 1 " in reported and "stream.json, line 2, column 1 " in reported
    assert WORD not in reported
    assert_no_secret(children)


URL = f"rtmp://u:{PASSWORD}@h.example/live/{STREAM_KEY}?token=x"


@pytest.mark.parametrize(
    "words",
    [
        ["publish", URL], ["publish", "--stream", URL], ["publish", "--from-flv", URL, "--url", "rtmp://h/a/b"],
        ["publish", "--url", "rtmp://h/a/b", "--quality", URL], ["publish", "--url", "rtmp://h/a/b", "--events", URL],
        ["publish", "--url", "rtmp://h/a/b", "--video", f"raw:{URL},format=i420,size=16x16,fps=1"],
        ["publish", "--url", "rtmp://h/a/b", "--video", URL], ["publish", "--url", "rtmp://h/a/b", "--bitrate", URL],
        ["publish", "--url", "rtmp://h/a/b", "--duration", URL], ["publish", "--url", "rtmp://h/a/b", "--encoder", URL],
        ["publish", f"--url{URL}"], ["publish", f"--no-such={URL}"], ["check", URL], ["receive", "--listen", URL],
        ["receive", "--listen", "127.0.0.1:0", "--fault", URL], [URL], ["cameras", URL],
        ["capture", "--video", URL], ["network", "--file", URL], ["status", "--socket", URL],
    ],
    ids=lambda words: words[0].replace(URL, "URL") + str(len(words)),
)  # fmt: skip
def test_a_url_in_the_wrong_place_is_kept_secret(children, words):
    run = children.run("wrong", [TALLYCAM, *words])
    assert run.child.returncode > 0, run.report()
    assert run.stderr.splitlines()[-1].startswith("tallycam: ")
    assert_no_secret(children)


def test_a_rejected_stream_name_is_kept_secret(nginx, children):
    words = [TALLYCAM, "publish", "--url", nginx.url(STREAM_KEY), "--events", "json", "--quality", "Low1"]
    first = children.start("first", words)
    first.wait_until(lambda: "publishing" in first.stdout, "first stream")
    second = children.run("second", words)
    assert second.child.returncode == 3, second.report()
    first.interrupt_and_wait()
    assert_no_secret(children)


def test_the_receiver_keeps_its_publishers_secrets_hidden(children):
    receiver = Receiver(children)
    url = receiver.url(f"{STREAM_KEY}?token=abc&nonce=1")
    publisher = children.run("publish", [TALLYCAM, "publish", "--url", url, "--quality", "Low1", "--duration", "0.5"])
    assert publisher.child.returncode == 0, publisher.report()
    receiver.recording()
    assert_no_secret(children)


# Every way to name a target without putting it on the command line.


def source(kind: str, address: str, directory: Path) -> tuple[list, dict]:
    """Options and environment."""
    query = f"{STREAM_KEY}?key={PASSWORD}&token=abcdef"
    if kind == "environment":
        return [], {"TALLYCAM_URL": f"rtmp://user:{PASSWORD}@{address}/live/{query}"}
    text = pili(address, "dynamic") if kind == "pili" else {
        "url": f"rtmp://user:{PASSWORD}@{address}/live", "key": STREAM_KEY,
    }  # fmt: skip
    path = directory / "stream.json"
    path.write_text(json.dumps(text))
    return ["--stream", path], {"TALLYCAM_STATE_DIR": str(directory / "state")}


def start_secret(children: Children, kind: str, style: str, receiver: FaultyReceiver, *options):
    words, environment = source(kind, receiver.address, children.directory)
    small = [word for name, value in SMALL.items() for word in (f"--{name}", value)]
    return children.start(
        "publish", [TALLYCAM, "publish", *words, "--events", style, *small, *options], env=environment
    )


def tokens(directory: Path) -> list[str]:
    """Every token that the saved nonce permits."""
    found = []
    for path in (directory / "state").glob("nonce-*"):
        last = int(re.search(r"\d+", path.read_text()).group())
        for nonce in range(last - 5, last + 1):
            message = f"/live/cam01?nonce={nonce}".encode()
            digest = hmac.new(PUBLISH_KEY.encode(), message, hashlib.sha1).digest()
            found += [base64.urlsafe_b64encode(digest).decode().rstrip("="), digest.hex()]
    return found


def saved_nonce(directory: Path) -> tuple[int, int]:
    """The number after which the next start continues, and the file that holds it."""
    [path] = (directory / "state").glob("nonce-*")
    return int(re.search(r"\d+", path.read_text()).group()), path.stat().st_ino


def test_attempts_of_one_run_share_a_write_of_the_nonce(children):
    receiver = FaultyReceiver(children, ["bad-name", "every-connection"])
    publisher = start_secret(children, "pili", "json", receiver, "--reconnect", "2")
    publisher.wait_until(lambda: "reconnecting" in publisher.stdout, "second attempt")
    first = saved_nonce(children.directory)
    assert publisher.wait() == 3, publisher.report()
    assert receiver.process.stdout.count("accepted") == 3
    assert saved_nonce(children.directory) == first
    # The next start cannot know which numbers were used, so it continues above them.
    publisher = start_secret(children, "pili", "json", receiver, "--reconnect", "0")
    assert publisher.wait() == 3, publisher.report()
    number, file = saved_nonce(children.directory)
    assert number > first[0] and file != first[1]


def test_every_connection_is_signed_afresh(children):
    receiver = FaultyReceiver(children, ["close-after=0.5"])
    tap = Tap(int(receiver.address.rpartition(":")[2]))
    words, environment = source("pili", f"127.0.0.1:{tap.port}", children.directory)
    publisher = children.start("publish", [TALLYCAM, "publish", *words, "--quality", "Low1"], env=environment)
    receiver.process.wait_until(lambda: receiver.process.stdout.count("publisherStarted") == 2, "second stream")
    end_at_once(publisher)
    names = [command[3] for which in (0, 1) for command in tap.commands(connection=which) if command[0] == "publish"]
    nonces = [int(re.search(r"nonce=(\d+)", name).group(1)) for name in names]
    assert len(nonces) == 2 and nonces[0] < nonces[1]
    for name, nonce in zip(names, nonces):
        digest = hmac.new(PUBLISH_KEY.encode(), f"/live/cam01?nonce={nonce}".encode(), hashlib.sha1).digest()
        assert name == f"cam01?nonce={nonce}&token={base64.urlsafe_b64encode(digest).decode()}"


def test_two_processes_never_sign_with_the_same_nonce(children):
    """Both reconnect all the time: after one has reserved numbers on the disk, the other continues above them."""
    receiver = FaultyReceiver(children, ["bad-name", "every-connection"])
    tap = Tap(int(receiver.address.rpartition(":")[2]))
    words, environment = source("pili", f"127.0.0.1:{tap.port}", children.directory)
    publishers = [
        children.start(
            f"publish-{number}", [TALLYCAM, "publish", *words, "--quality", "Low1", "--reconnect", "2"], env=environment)
        for number in range(4)
    ]
    for publisher in publishers:
        assert publisher.wait() == 3, publisher.report()
    # A process that has waited too long for the disk makes no connection at that attempt.
    connections = range(len(tap.connections))
    names = [command[3] for which in connections for command in tap.commands(connection=which) if command[0] == "publish"]
    nonces = [int(re.search(r"nonce=(\d+)", name).group(1)) for name in names]
    assert 4 < len(nonces) <= 12 and len(set(nonces)) == len(nonces), sorted(nonces)


def test_two_streams_share_a_state_directory(children):
    """Neither waits for the other. A lock that is held elsewhere does not hang a stream either: it is reported, and retried."""
    receiver = FaultyReceiver(children, [])
    words, environment = source("pili", receiver.address, children.directory)
    other = children.directory / "other.json"
    other.write_text(json.dumps({**pili(receiver.address, "dynamic"), "id": "z1.live.cam02", "title": "cam02"}))
    state = children.directory / "state"
    state.mkdir()
    lock = open(state / ".nonce-live.cam01.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    start = [TALLYCAM, "publish", "--quality", "Low1", "--events", "json"]
    held = children.start("held", [*start, *words], env=environment)
    free = children.start("free", [*start, "--stream", other], env=environment)
    wait_for_event(free, "publishing")
    wait_for_event(held, "reconnecting")
    reasons = [event["reason"] for event in events(held) if event["code"] // 1000 == 3]
    assert reasons and "another tallycam publishes this stream" in reasons[0], held.report()
    lock.close()
    wait_for_event(held, "publishing")
    end_at_once(held)
    end_at_once(free)


def assert_process_hides_its_secrets(process) -> None:
    """What `ps` shows, and what would remain after a crash."""
    directory = Path(f"/proc/{process.child.pid}")
    command_line = (directory / "cmdline").read_text()
    assert "tallycam" in command_line
    assert not [secret for secret in SECRETS if secret in command_line]
    [limit] = [line for line in (directory / "limits").read_text().splitlines() if "core file" in line]
    assert limit.split()[4:6] == ["0", "0"]
    for thread in (directory / "task").iterdir():
        assert not [secret for secret in SECRETS if secret in (thread / "comm").read_text()]


KINDS = ["environment", "pili", "plain"]


@pytest.mark.parametrize("style", ["json", "text"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_session_that_reconnects_shows_no_secret(children, kind, style):
    receiver = FaultyReceiver(children, ["close-after=0.5"])
    publisher = start_secret(children, kind, style, receiver)
    receiver.process.wait_until(lambda: receiver.process.stdout.count("publisherStarted") == 2, "second stream")
    assert_process_hides_its_secrets(publisher)
    assert_process_hides_its_secrets(receiver.process)
    end_at_once(publisher)
    receiver.process.interrupt_and_wait()
    made = tokens(children.directory)
    assert bool(made) == (kind == "pili")
    assert_no_secret(children, *made)


@pytest.mark.parametrize("style", ["json", "text"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["bad-name", "connect-rejected", "unknown-application", "garbage-handshake"])
def test_a_session_that_fails_shows_no_secret(children, fault, kind, style):
    receiver = FaultyReceiver(children, [fault, "every-connection"])
    publisher = start_secret(children, kind, style, receiver, "--reconnect", "1")
    assert publisher.wait() == 3, publisher.report()
    assert f"tallycam: {receiver.address}" in publisher.stderr, publisher.report()
    receiver.process.interrupt_and_wait()
    assert_no_secret(children, *tokens(children.directory))
