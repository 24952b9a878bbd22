"""Floods, slow clients, endless uploads and invalid UTF-8, sent to the page while a stream is live: the stream loses nothing,
memory stays bounded, and a paired browser gets in. The twenty attacks on who may do what are in test_page.py."""

import contextlib
import json
import os
import resource
import socket
import struct
import threading
import time

import pytest
from appliance import DEVICE, own_kilobytes, plain
from created_files import Creations
from held_file import held
from page import PagedAppliance
from page_client import Page, WebSocket, browser
from processes import HUNG
from tallycam import Receiver

pytestmark = pytest.mark.takes(minutes=0.8, processors=0.5)

STATUS = "/api/v1/status"
NETWORK_FILE = "/api/v1/files/network.json"
# In kB: what two viewers may cost, and no attack costs more. Sixteen connections, each with a request of 72 kB and as much of
# an answer, fit into it.
MOST_GROWTH = 4096
RESET = struct.pack("ii", 1, 0)


@pytest.fixture(scope="module")
def camera(module_children):
    """Live. Memory that every stream needs is in use."""
    url = Receiver(module_children).url()
    camera = PagedAppliance(module_children, stream=plain(url), device=DEVICE, network={"timeZone": "UTC"})
    camera.ask("start")
    camera.wait_for("live")
    camera.wait_until(lambda status: status["videoFrames"] > 30)
    return camera


@pytest.fixture(autouse=True)
def unharmed(camera):
    """After each attack: nothing dropped, little memory taken, and a paired browser gets in."""
    before = own_kilobytes(camera)
    with camera.lossless():
        yield
        assert browser(camera).get(STATUS).status == 200
        assert camera.status()["isStreamWanted"]
    assert own_kilobytes(camera) - before < MOST_GROWTH
    assert "restart" not in camera.console("events 200")


def head(page: Page, method: str, path: str, *lines: str) -> bytes:
    first = [f"{method} {path} HTTP/1.1", f"Host: {page.place}", f"Origin: {page.origin}", f"Cookie: {page.cookie}"]
    return ("\r\n".join([*first, *lines]) + "\r\n\r\n").encode()


def answer_to(page: Page, request: bytes) -> bytes:
    """All that is answered until the end of the connection; nothing if it was reset."""
    with socket.create_connection(("127.0.0.1", page.port), timeout=HUNG) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(request)
        return rest_of(connection)


def rest_of(connection: socket.socket) -> bytes:
    answer = b""
    with contextlib.suppress(ConnectionError):
        while block := connection.recv(65536):
            answer += block
    return answer


# Floods


@pytest.fixture
def flood(camera):
    """Opens connections that stay open. The kernel answers as many as its queue holds; the others keep asking."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with contextlib.ExitStack() as stack:

        def more(count: int, first: bytes) -> list[socket.socket]:
            opened = []
            for _ in range(count):
                connection = stack.enter_context(socket.socket())
                connection.setblocking(False)
                # Nothing of them remains in the kernel afterwards.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                connection.connect_ex(("127.0.0.1", browser(camera).port))
                with contextlib.suppress(OSError):
                    connection.send(first)
                opened.append(connection)
            return opened

        yield more


def status_for(page: Page) -> int:
    """What a browser gets. It tries again if its connection was closed to make room before its request had come."""
    deadline = time.monotonic() + HUNG
    while True:
        try:
            return page.get(STATUS).status
        except ConnectionError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.mark.parametrize("first", [b"", b"GET / HT"], ids=["silent", "half a request"])
def test_ten_thousand_half_open_connections(camera, flood, first):
    page = browser(camera)
    with contextlib.closing(preview(page)) as viewer:
        flood(5_000, first)
        assert status_for(page) == 200
        flood(5_000, first)
        assert status_for(page) == 200
        # A socket that was open before stays open: strangers make room for each other.
        for _ in range(30):
            viewer.read()
    # Few of them are inside, whatever they do.
    assert len(os.listdir(f"/proc/{camera.process.child.pid}/fd")) < 80


# Slow clients


def preview(page: Page) -> WebSocket:
    viewer = page.socket("/api/v1/preview")
    assert viewer.status == 101
    return viewer


def test_two_viewers_and_one_of_them_reads(camera):
    page = browser(camera)
    stuck, good = preview(page), preview(page)
    # The kernel's buffers hold less than three seconds of this.
    for _ in range(400):
        good.read()
    good.close()
    stuck.close()


def test_a_socket_that_never_reads_its_pongs_is_closed(camera):
    """If the answers to its pings wait, a client is not read any more. TCP's user timeout (5 s) ends the connection."""
    page = browser(camera)
    follower = page.socket("/api/v1/events/live")
    follower.connection.settimeout(1)
    start = time.monotonic()
    with pytest.raises(ConnectionError):
        while time.monotonic() < start + HUNG:
            with contextlib.suppress(TimeoutError):
                follower.send(9, b"x" * 125)
    follower.close()


def test_an_answer_that_nobody_takes_is_given_up(camera):
    """The largest answers there are: the page's own files, asked for a thousand times in a row."""
    page = browser(camera)
    with socket.create_connection(("127.0.0.1", page.port), timeout=1) as connection, pytest.raises(ConnectionError):
        start = time.monotonic()
        request = head(page, "GET", "/app.js")
        while time.monotonic() < start + HUNG:
            with contextlib.suppress(TimeoutError):
                connection.sendall(request)


def test_a_request_that_trickles_in_is_given_up(camera):
    page = browser(camera)
    with socket.create_connection(("127.0.0.1", page.port), timeout=HUNG) as connection:
        connection.sendall(head(page, "PUT", NETWORK_FILE, "If-Match: *", "Content-Length: 60000"))
        start = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() < start + HUNG:
                connection.sendall(b" ")
                time.sleep(0.1)
        assert time.monotonic() - start > 5


# Too much


@pytest.mark.parametrize("expects", [(), ("Expect: 100-continue",)], ids=["at once", "after asking"])
def test_an_upload_of_ten_megabytes(camera, expects):
    page = browser(camera)
    before = (camera.boot / "network.json").read_bytes()
    request = head(page, "PUT", NETWORK_FILE, "If-Match: *", "Content-Length: 10485760", *expects)
    answer = answer_to(page, request + (b"" if expects else b" " * 10_485_760))
    # A client that goes on sending may lose the answer with the connection.
    assert answer.startswith(b"HTTP/1.1 413 ") or answer == b"" and not expects, answer[:200]
    assert (camera.boot / "network.json").read_bytes() == before


def test_a_message_of_ten_megabytes(camera):
    """Its length alone is enough to refuse it."""
    follower = browser(camera).socket("/api/v1/events/live")
    follower.connection.sendall(bytes([0x81, 0xFF]) + struct.pack(">Q", 10_485_760) + os.urandom(4))
    assert closing_code(follower) == 1009
    follower.close()


def closing_code(follower: WebSocket) -> int:
    while (frame := follower.read())[0] != 8:
        pass
    return struct.unpack(">H", frame[1][:2])[0]


# Invalid UTF-8

NOT_UTF8 = b"\xff\xfe\xc3("


def test_invalid_text_is_refused_wherever_it_comes(camera):
    page = browser(camera)
    refused = {
        "path": b"GET /" + NOT_UTF8 + head(page, "GET", "/").removeprefix(b"GET /"),
        "encoded path": head(page, "GET", "/api/v1/files/%ff%fe", "Connection: close"),
        "host": b"GET / HTTP/1.1\r\nHost: " + NOT_UTF8 + b"\r\n\r\n",
        "command": head(page, "POST", "/api/v1/commands", "Content-Length: 18", "Connection: close") + b'{"command": "' + NOT_UTF8[:3] + b'"}',
        "file": head(page, "PUT", NETWORK_FILE, "If-Match: *", "Content-Length: 4", "Connection: close") + NOT_UTF8,
    }
    for name, request in refused.items():
        answer = answer_to(page, request)
        assert answer.startswith(b"HTTP/1.1 4"), (name, answer[:200])
        # Whatever it says, it says in UTF-8.
        answer.decode()


def test_invalid_text_on_a_socket_closes_it(camera):
    follower = browser(camera).socket("/api/v1/events/live")
    follower.send(1, NOT_UTF8)
    assert closing_code(follower) == 1007
    follower.close()


def test_a_browser_with_an_impossible_name_can_be_listed(camera):
    """The name is from the header that the browser chooses, and goes to the file of browsers and to the page."""
    stranger = Page(browser(camera).port)
    agent = NOT_UTF8.decode("latin-1") + "\"\\<b>" + "x" * 3000
    assert stranger.ask("POST", "/api/v1/pairing", headers={"User-Agent": agent}).status == 202
    camera.press()
    assert stranger.get("/api/v1/pairing").json["state"] == "granted"
    names = [key["name"] for key in stranger.get("/api/v1/keys").json]
    assert len(names) == 2 and all(len(name) < 100 and "<" not in name for name in names), names


# Twice, and on a card that hangs


def edited(camera: PagedAppliance, **changes) -> tuple[bytes, str]:
    """A changed network.json, and the version that it was made from. The stream does not restart for a time zone."""
    shown = browser(camera).get(NETWORK_FILE)
    return json.dumps({**shown.json, **changes}).encode(), shown.headers["etag"]


def sent_twice(page: Page, request: bytes, connections: int) -> bytes:
    """Both answers."""
    with contextlib.ExitStack() as opened:
        sockets = [socket.create_connection(("127.0.0.1", page.port), timeout=HUNG) for _ in range(connections)]
        for connection in sockets:
            opened.enter_context(connection)
            connection.sendall(request * (2 // connections))
        for connection in sockets:
            connection.shutdown(socket.SHUT_WR)
        return b"".join(rest_of(connection) for connection in sockets)


def test_a_form_that_is_sent_twice_is_saved_once(camera):
    """Both requests are on their way before the first one is answered, on two connections and on one."""
    page = browser(camera)
    for count, connections in enumerate([2, 1], 1):
        text, tag = edited(camera, timeZone=["Europe/Berlin", "Asia/Tokyo"][count - 1])
        request = head(page, "PUT", NETWORK_FILE, f"If-Match: {tag}", f"Content-Length: {len(text)}") + text
        creations = Creations(camera.boot)
        answers = sent_twice(page, request, connections)
        assert answers.count(b"HTTP/1.1 200 ") == 1 and answers.count(b"HTTP/1.1 412 ") == 1, answers
        assert b"changedMeanwhile" in answers
        assert creations.count(".network.json") == 1, creations.names
        assert (camera.boot / "network.json").read_bytes() == text


def test_a_card_that_hangs_holds_only_the_request_that_needs_it(camera):
    page = browser(camera)
    text, tag = edited(camera, timeZone="Europe/Paris")
    answers = []
    with held(camera.boot / "network.json") as file:
        saving = threading.Thread(target=lambda: answers.append(page.ask("PUT", NETWORK_FILE, text, {"If-Match": tag})))
        saving.start()
        camera.process.wait_until(lambda: file.is_waited_for, "thread that reads the file")
        frames = camera.status()["videoFrames"]
        assert page.get(STATUS).status == 200 and page.get("/api/v1/keys").status == 200
        assert page.command("set mute on").status == 200
        with contextlib.closing(preview(page)) as viewer:
            for _ in range(30):
                viewer.read()
        camera.wait_until(lambda status: status["videoFrames"] > frames + 30)
        assert not answers
    saving.join()
    assert answers[0].status == 200, answers[0].body
    assert (camera.boot / "network.json").read_bytes() == text
