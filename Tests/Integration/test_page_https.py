"""The page over HTTPS, with the certificate that the camera has made, asked by OpenSSL."""

import contextlib
import hashlib
import re
import socket
import ssl
import time
from pathlib import Path

import pytest
from appliance import DEVICE, plain
from page import PagedAppliance
from page_client import Page
from processes import HUNG
from tallycam import Receiver

pytestmark = pytest.mark.takes(minutes=0.3, processors=0.3)

SECURE = {**DEVICE, "page": "https"}


class SecureAppliance(PagedAppliance):
    @property
    def address(self) -> tuple[str, int]:
        return ("127.0.0.1", int(self.page.rpartition(":")[2]))

    @property
    def told_fingerprint(self) -> str:
        """What the last line about it says."""
        return re.findall(r"SHA-256 fingerprint ([0-9A-F:]+)", self.console("events 200"))[-1]

    def restart(self, meanwhile=lambda: None) -> None:
        assert self.process.interrupt_and_wait() == 0
        # What is told counts from now on.
        (self.state / "events").unlink()
        meanwhile()
        self.process = self.start()

    def browser(self, tls: ssl.SSLContext | None = None) -> Page:
        return Page(self.address[1], {"tallycam-key": self.key.hex()}, tls=tls or trusting_anybody())


def trusting_anybody() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def certificate(camera: SecureAppliance) -> bytes:
    with socket.create_connection(camera.address, timeout=HUNG) as tcp, trusting_anybody().wrap_socket(tcp) as tls:
        return tls.getpeercert(binary_form=True)


def fingerprint(certificate: bytes) -> str:
    return ":".join(f"{byte:02X}" for byte in hashlib.sha256(certificate).digest())


@pytest.fixture
def camera(children):
    return SecureAppliance(children, stream=plain(Receiver(children).url()), device=SECURE)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_browser_that_trusts_the_certificate_is_served(camera, version):
    assert camera.page.startswith("https://")
    own = certificate(camera)
    assert fingerprint(own) == camera.told_fingerprint
    trusting = ssl.create_default_context(cadata=own)
    # It is for the camera's names, and this is one of its addresses.
    trusting.check_hostname = False
    trusting.minimum_version = trusting.maximum_version = version
    page = camera.browser(trusting)
    assert page.get("/api/v1/status").json["state"] == "ready"
    # Larger than a record of TLS, and than what a socket takes at once.
    files = re.findall(r'(?:src|href)="(/?[\w.]+\.(?:js|css|svg))"', page.get("/").body.decode())
    assert files and all(page.get(f"/{name.lstrip('/')}").status == 200 for name in files)
    for name in socket.gethostname().lower(), f"{socket.gethostname().lower()}.local":
        by_name = ssl.create_default_context(cadata=own)
        with socket.create_connection(camera.address, timeout=HUNG) as tcp, by_name.wrap_socket(tcp, server_hostname=name):
            pass


def test_pairing_commands_and_websockets_work_and_cookies_stay_on_https(camera):
    page = Page(camera.address[1], tls=trusting_anybody())
    asked = page.ask("POST", "/api/v1/pairing")
    assert "; Secure" in asked.headers["set-cookie"]
    camera.press()
    assert "; Secure" in page.get("/api/v1/pairing").headers["set-cookie"]
    events = page.socket("/api/v1/events/live")
    assert events.status == 101
    assert page.ask("POST", "/api/v1/start").status == 200
    camera.wait_for("live")
    preview = page.socket("/api/v1/preview")
    assert preview.status == 101
    while sum(opcode == 2 for opcode, _ in (preview.read() for _ in range(30))) < 10:
        pass
    # Another site's page, or this one's without TLS, may change nothing.
    refused = page.ask("POST", "/api/v1/stop", headers={"Origin": f"http://{page.place}"})
    assert (refused.status, refused.error) == (403, "wrongOrigin")


def test_who_does_not_speak_tls_is_not_served_and_disturbs_nobody(camera):
    for words in b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"x" * 300, b"\x00" * 64:
        with socket.create_connection(camera.address, timeout=HUNG) as stranger:
            stranger.sendall(words)
            heard = b""
            try:
                while block := stranger.recv(4096):
                    heard += block
            except ConnectionResetError:
                pass
        assert b"HTTP" not in heard
    assert camera.browser().get("/api/v1/status").status == 200


def test_a_flood_ends_nobody_elses_handshake(camera):
    port = camera.address[1]
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting_anybody().wrap_bio(incoming, outgoing)
    with contextlib.ExitStack() as opened, socket.create_connection(camera.address, timeout=HUNG) as browser:

        def exchange() -> None:
            browser.sendall(outgoing.read())
            # More than the server takes, from another address, while this browser's next message is on its way.
            for _ in range(100):
                opened.enter_context(socket.create_connection(("127.0.0.1", port), HUNG, ("127.0.0.2", 0)))
            block = browser.recv(65536)
            assert block, "the server has ended the connection"
            incoming.write(block)

        while True:
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.do_handshake()
                break
            exchange()
        page = camera.browser()
        tls.write(f"GET /api/v1/status HTTP/1.1\r\nHost: {page.place}\r\nCookie: {page.cookie}\r\n\r\n".encode())
        answer = b""
        while not answer:
            # Session tickets may come before it.
            exchange()
            with contextlib.suppress(ssl.SSLWantReadError):
                answer = tls.read(100)
    assert answer.startswith(b"HTTP/1.1 200 ")


def wait_until_there_is(file: Path) -> None:
    deadline = time.monotonic() + HUNG
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_certificate_stays_and_a_damaged_one_is_replaced(camera):
    kept = camera.state / "page-identity"
    wait_until_there_is(kept)
    first = certificate(camera)
    camera.restart()
    assert certificate(camera) == first
    former = kept.read_text()
    camera.restart(kept.unlink)
    wait_until_there_is(kept)
    # The one file's key with the other's certificate: each is correct, and no handshake would be.
    mixed = former[: former.index("-----BEGIN CERT")] + kept.read_text()[kept.read_text().index("-----BEGIN CERT") :]
    for fault in ("", "-----BEGIN EC PRIVATE KEY-----\nMHcC\n", former[:-100], mixed):
        camera.restart(lambda: kept.write_text(fault))
        assert fingerprint(certificate(camera)) == camera.told_fingerprint
        assert certificate(camera) != first
    # It is nobody's business but the camera's.
    assert b"PRIVATE KEY" not in camera.browser().get("/api/v1/status").body


def test_it_is_switched_while_the_camera_runs(camera):
    secure = camera.browser()
    assert secure.get("/api/v1/status").status == 200
    camera.write("device", {**DEVICE, "page": True})
    deadline = time.monotonic() + HUNG
    while not (found := re.search(r"the page is at http://127.0.0.1:(\d+)", camera.console("events 200"))):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert Page(int(found[1]), secure.cookies).get("/api/v1/status").status == 200
    with socket.socket() as former:
        assert former.connect_ex(camera.address) != 0
