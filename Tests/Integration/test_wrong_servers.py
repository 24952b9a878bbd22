"""A server that was named incorrectly, refuses the stream key, or is away: the message says so."""

import http.server
import json
import threading

import pytest
from appliance import Appliance, has_route
from certificates import KEYS, Certificates
from processes import Children
from scenarios import FaultyReceiver, publish_small
from servers import NginxRTMP
from tallycam import TALLYCAM, Receiver, events, last_event, wait_for_event
from tls_servers import GnuTLS, Nginx, OpenSSL, Stunnel

pytestmark = pytest.mark.takes(minutes=0.5, processors=0.1)

KEY = "s3cretStreamKey0815"


def publish(children: Children, url: str, *words):
    return children.run("publish", [
        TALLYCAM, "publish", "--url", url, "--events", "json", "--reconnect", "0", "--duration", "1", *words,
    ])  # fmt: skip


# The wrong scheme -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Nginx, Stunnel, OpenSSL, GnuTLS])
def test_a_tls_server_is_recognized_with_rtmp(children, kind):
    certificates = Certificates(children.directory / "certificates", {"p256": KEYS["p256"]})
    server = kind(children, certificates, ["p256"], NginxRTMP(children).port)
    publisher = publish(children, f"rtmp://localhost:{server.ports['p256', 'both']}/live/x")
    assert publisher.child.returncode == 3, publisher.report()
    assert "TLS on this port" in publisher.stderr and "start the URL with rtmps://" in publisher.stderr


def test_a_server_without_tls_is_recognized_with_rtmps(children):
    publisher = publish(children, f"rtmps://localhost:{Receiver(children).port}/live/x")
    assert publisher.child.returncode == 3, publisher.report()
    assert "RTMP without TLS on this port" in publisher.stderr and "start the URL with rtmp://" in publisher.stderr


def test_a_server_that_waits_for_more_is_suspected_with_rtmps(children):
    """nginx-rtmp sends nothing before it has a complete RTMP handshake, which a TLS handshake never is."""
    publisher = publish(children, f"rtmps://localhost:{NginxRTMP(children).port}/live/x", "--handshake-timeout", "1")
    assert publisher.child.returncode == 3, publisher.report()
    assert "if the server expects RTMP without TLS on this port, start the URL with rtmp://" in publisher.stderr


# The wrong key ---------------------------------------------------------------------------------


class Refusal(http.server.BaseHTTPRequestHandler):
    """nginx's authorization backend, which rejects every key."""

    def do_POST(self):
        self.send_response(403)
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def guarded(children):
    with http.server.HTTPServer(("127.0.0.1", 0), Refusal) as guard:
        threading.Thread(target=guard.serve_forever, daemon=True).start()
        yield NginxRTMP(children, directives=f"on_publish http://127.0.0.1:{guard.server_port}/;")
        guard.shutdown()


def test_a_wrong_stream_key_is_named(guarded, children):
    publisher = publish(children, guarded.url("wrong"))
    assert publisher.child.returncode == 3, publisher.report()
    assert "the server ended the connection when the stream key was sent" in publisher.stderr
    assert "docs/services" in publisher.stderr
    assert last_event(publisher, "failed")["code"] == -1008


def test_the_appliance_names_the_key(guarded, children):
    camera = Appliance(children, stream={"url": f"rtmp://127.0.0.1:{guarded.port}/live", "key": KEY})
    camera.ask("start")
    camera.wait_for("fault" if has_route() else "no network")
    if has_route():
        text = camera.wait_for_faults("(7 blinks)", "key:     key")
        assert "when the stream key was sent" in text and 'example: "key":' in text
    assert KEY not in camera.faults() + camera.events()


# A key in the wrong place ----------------------------------------------------------------------


def test_a_key_in_the_path_next_to_the_key_is_masked(nginx, children):
    path = children.directory / "stream.json"
    path.write_text(json.dumps({"url": f"rtmp://127.0.0.1:{nginx.port}/live/{KEY}", "key": KEY}))
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == 0, check.report()
    publisher = children.run("publish", [
        TALLYCAM, "publish", "--stream", path, "--events", "json", "--reconnect", "0", "--duration", "1",
    ])  # fmt: skip
    for process in (check, publisher):
        assert KEY not in process.stdout + process.stderr, process.report()
        assert 'warning: its path continues after the application' in process.report()
    assert f"rtmp://127.0.0.1:{nginx.port}/live/***/***" in publisher.stderr


# A server that is away --------------------------------------------------------------------------


def slow_uplinks(publisher) -> list[dict]:
    return [event for event in events(publisher) if event["code"] == 1101]


def test_a_server_that_is_gone_does_not_count_as_a_slow_uplink(nginx, children):
    publisher = publish_small(children, nginx.url("x"), reconnect="endless", buffer="1")
    wait_for_event(publisher, "publishing")
    before = len(slow_uplinks(publisher))
    nginx.process.kill()
    wait_for_event(publisher, "serverAway")
    assert len(slow_uplinks(publisher)) == before


def test_a_server_that_reads_nothing_does_not_count_as_a_slow_uplink(children):
    receiver = FaultyReceiver(children, ["zero-window=30"])
    publisher = publish_small(children, receiver.url, reconnect="endless", buffer="1")
    wait_for_event(publisher, "serverAway")
    assert slow_uplinks(publisher) == []
