"""RTMPS against a real TLS server: nginx's stream module in front of nginx-rtmp."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from appliance import LIVE, Appliance, has_route
from recording import Recording, assert_whole
from scenarios import SMALL
from servers import NginxRTMP, free_port, wait_for_listener
from tallycam import TALLYCAM, events, last_event

pytestmark = pytest.mark.takes(minutes=0.5, processors=0.1)

SERVER = """
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {name}.pem; ssl_certificate_key {name}.key; ssl_protocols {protocols};
    proxy_pass 127.0.0.1:{target};
  }}"""

# Certificate, host names and expiry; all but one are signed by the test's own authority.
CERTIFICATES = {
    "good": ("DNS:localhost,IP:127.0.0.1", "20990101000000Z"),
    "expired": ("DNS:localhost,IP:127.0.0.1", "20200102000000Z"),
    "other": ("DNS:live.example", "20990101000000Z"),
    "selfsigned": ("DNS:localhost,IP:127.0.0.1", "20990101000000Z"),
}


def openssl(directory: Path, *words) -> None:
    subprocess.run(["openssl", *map(str, words)], cwd=directory, check=True, capture_output=True)


def make_certificates(directory: Path) -> None:
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-not_before", "20200101000000Z"]
    openssl(
        directory, "req", "-x509", *key, "-subj", "/CN=Test authority", "-not_after", "20990101000000Z",
        "-keyout", "ca.key", "-out", "ca.pem",
    )  # fmt: skip
    for name, (hosts, end) in CERTIFICATES.items():
        signer = [] if name == "selfsigned" else ["-CA", "ca.pem", "-CAkey", "ca.key"]
        openssl(
            directory, "req", "-x509", *key, *signer, "-subj", f"/CN={name}", "-addext", f"subjectAltName={hosts}",
            "-addext", "basicConstraints=critical,CA:FALSE", "-not_after", end,
            "-keyout", f"{name}.key", "-out", f"{name}.pem",
        )  # fmt: skip


class TLSFront:
    """nginx with one port per certificate, and two for a single TLS version each."""

    def __init__(self, children):
        self.rtmp = NginxRTMP(children, unique=True)
        self.children = children
        self.directory = children.directory
        make_certificates(self.directory)
        self.ports = {name: free_port() for name in [*CERTIFICATES, "TLSv1.2", "TLSv1.3"]}
        servers = "".join(
            SERVER.format(
                port=port, target=self.rtmp.port, name=name if name in CERTIFICATES else "good",
                protocols="TLSv1.2 TLSv1.3" if name in CERTIFICATES else name,
            )
            for name, port in self.ports.items()
        )  # fmt: skip
        configuration = self.directory / "tls.conf"
        configuration.write_text(
            "load_module /usr/lib/nginx/modules/ngx_stream_module.so; daemon off; master_process off; user root;\n"
            f"pid {self.directory}/tls.pid; error_log {self.directory}/tls.log info;\n"
            f"events {{ worker_connections 256; }}\nstream {{{servers}\n}}\n"
        )
        self.process = children.start("tls-nginx", ["nginx", "-p", self.directory, "-c", configuration])
        for port in self.ports.values():
            wait_for_listener(self.process, port)

    def publish(self, server: str, host: str = "localhost", authority: str | None = "ca.pem", env=None):
        stream = {"url": f"rtmps://{host}:{self.ports[server]}/live", "key": "x"}
        if authority:
            stream["caFile"] = str(self.directory / authority)
        path = self.directory / "stream.json"
        path.write_text(json.dumps(stream))
        options = [word for name, value in SMALL.items() for word in (f"--{name}", value)]
        return self.children.run("publish", [
            TALLYCAM, "publish", "--stream", path, "--events", "json", "--duration", "1.5", "--reconnect", "0", *options,
        ], env=env)  # fmt: skip


@pytest.fixture(scope="module")
def front(module_children):
    return TLSFront(module_children)


@pytest.mark.parametrize("server", ["good", "TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_good_certificate_is_accepted(front, server, host):
    before = len(front.rtmp.all_recordings())
    publisher = front.publish(server, host)
    assert publisher.child.returncode == 0, publisher.report()
    # Recordings are named by the second, and streams last longer.
    assert len(front.rtmp.all_recordings()) == before + 1
    name = front.rtmp.all_recordings()[-1].stem
    assert_whole(Recording(front.rtmp.recording(name)), last_event(publisher, "ended"))


REFUSALS = {
    "expired": ("expired", "localhost", "ca.pem", ["expired at 2020-01-02 00:00:00 UTC", "clock"]),
    "wrong host": ("other", "localhost", "ca.pem", ["not for localhost", "live.example"]),
    "wrong address": ("other", "127.0.0.1", "ca.pem", ["not for 127.0.0.1", "live.example"]),
    "self-signed": ("selfsigned", "localhost", "ca.pem", ["self-signed", "CN=selfsigned"]),
    "unknown authority": ("good", "localhost", "other.pem", ["not trusted", "CN=Test authority"]),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_bad_certificate_is_refused_with_its_own_message(front, name):
    server, host, authority, words = REFUSALS[name]
    publisher = front.publish(server, host, authority)
    assert publisher.child.returncode == 3, publisher.report()
    [failed] = [event for event in events(publisher) if event["name"] == "failed" or event["code"] == -1200][:1]
    assert failed["code"] == -1200
    for word in words:
        assert word in failed["message"]
    others = [word for other, (*_, more) in REFUSALS.items() for word in more[:1] if other != name]
    assert not [word for word in others if word in failed["message"] and word != words[0]]


def test_a_self_signed_certificate_can_be_trusted(front):
    publisher = front.publish("selfsigned", authority="selfsigned.pem")
    assert publisher.child.returncode == 0, publisher.report()


def test_a_plain_server_is_recognized(front):
    """rtmps:// to a port that speaks plain RTMP is distinguished from a bad certificate."""
    front.ports["plain"] = front.rtmp.port
    publisher = front.publish("plain")
    assert publisher.child.returncode == 3, publisher.report()
    assert [event["code"] for event in events(publisher) if event["code"] < 0][-1] in (-1200, -1015)


def test_a_missing_authority_file_is_named(front):
    """At once, even though a lost connection would be retried many times."""
    publisher = front.publish("good", authority="missing.pem")
    assert publisher.child.returncode == 2, publisher.report()
    assert "missing.pem" in publisher.stderr


def test_a_pipe_in_place_of_the_authority_is_refused_at_once(children):
    os.mkfifo(children.directory / "ca.pem")
    stream = children.directory / "stream.json"
    stream.write_text('{"url": "rtmps://localhost/live", "key": "x", "caFile": "ca.pem"}')
    check = children.run("check", [TALLYCAM, "check", stream])
    assert check.child.returncode == 2
    assert "ca.pem is not a regular file" in check.report()


@pytest.mark.parametrize("name", ["ca.pem", "../ca.pem", "./ca.pem"])
def test_an_authority_file_is_looked_up_next_to_the_stream_file(front, name):
    card = front.directory / "card" / "inner"
    card.mkdir(parents=True, exist_ok=True)
    (card / name).write_bytes((front.directory / "ca.pem").read_bytes())
    (card / "stream.json").write_text(
        json.dumps({"url": f"rtmps://localhost:{front.ports['good']}/live", "key": "x", "caFile": name})
    )
    small = [word for option, value in SMALL.items() for word in (f"--{option}", value)]
    # From another directory, which does not have the file; and from its own.
    for words in (["--stream", card / "stream.json"], ["--stream", "card/inner/stream.json"]):
        check = front.children.run("check", [TALLYCAM, "check", words[1]])
        assert check.child.returncode == 0, check.report()
        publisher = front.children.run("publish", [
            TALLYCAM, "publish", *words, "--duration", "0.5", "--reconnect", "0", *small,
        ])  # fmt: skip
        assert publisher.child.returncode == 0, publisher.report()


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_check_reads_the_authority_file(front, text):
    card = front.directory / f"bad-{text is None}"
    card.mkdir()
    if text is not None:
        (card / "ca.pem").write_text(text)
    (card / "stream.json").write_text('{"url": "rtmps://localhost/live", "key": "x", "caFile": "ca.pem"}')
    check = front.children.run("check", [TALLYCAM, "check", card / "stream.json"])
    assert check.child.returncode == 2
    assert "caFile" in check.stderr and "ca.pem" in check.stderr


def test_certificates_that_change_during_a_stream(front, children):
    """A live stream is not disturbed, but the change is reported; the next connection uses the present file."""
    (children.directory / "boot").mkdir()
    pem = children.directory / "boot/server.pem"
    right, others = (front.directory / "ca.pem").read_bytes(), Path("/etc/ssl/certs/ca-certificates.crt").read_bytes()
    pem.write_bytes(right)
    server = f"rtmps://localhost:{front.ports['good']}/live"
    camera = Appliance(children, stream={"url": server, "key": "changed", "caFile": "server.pem"})
    usual = "ready" if has_route() else "no network"
    camera.ask("start")
    camera.wait_for("live")
    pem.write_text("no certificates")
    camera.wait_for_faults("(2 blinks)")
    assert "key:     caFile" in camera.faults() and camera.status()["state"] in LIVE
    camera.ask("stop")
    camera.wait_for("fault" if has_route() else "no network")
    assert 2 in [fault["blinks"] for fault in camera.status()["faults"]]
    assert camera.ask("start").child.returncode == 7
    pem.write_bytes(right)
    camera.wait_for(usual)
    camera.wait_for_faults()
    camera.ask("start")
    camera.wait_for("live")
    pem.write_bytes(others)
    time.sleep(3)
    assert camera.status()["state"] in LIVE and camera.faults() == ""
    camera.ask("stop")
    camera.wait_for(usual)
    camera.ask("start")
    camera.wait_for_faults("not trusted")


def test_an_authority_with_an_unsupported_key_is_recognized(front):
    """Its file is a valid certificate, but Mbed TLS does not support Ed25519."""
    openssl(front.directory, "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "ed.key", "-out", "ed.pem", "-subj", "/CN=ed")
    url = f"rtmps://localhost:{front.ports['good']}/live/x"
    run = front.children.run("publish", [TALLYCAM, "publish", "--url", url, "--ca", front.directory / "ed.pem"])
    assert run.child.returncode == 2, run.report()
    assert "ed.pem contains a certificate with an unsupported key or signature, such as Ed25519" in run.stderr


def test_an_authority_is_named_on_the_command_line(front):
    """With a URL, and instead of the one that a stream file names."""
    small = [word for option, value in SMALL.items() for word in (f"--{option}", value)]
    words = [TALLYCAM, "publish", "--duration", "0.5", "--reconnect", "0", *small]
    url = ["--url", f"rtmps://localhost:{front.ports['good']}/live/x"]
    stream = front.directory / "system.json"
    stream.write_text(json.dumps({"url": f"rtmps://localhost:{front.ports['good']}/live", "key": "x", "caFile": "other.pem"}))
    for where in (url, ["--stream", stream]):
        refused = front.children.run("publish", [*words, *where])
        assert refused.child.returncode == 3, refused.report()
        assert "--ca FILE, or caFile in stream.json" in refused.stderr
        publisher = front.children.run("publish", [*words, *where, "--ca", front.directory / "ca.pem"])
        assert publisher.child.returncode == 0, publisher.report()
    missing = front.children.run("publish", [*words, *url, "--ca", front.directory / "none.pem"])
    assert missing.child.returncode == 2 and "--ca: TLS cannot be used: the CA file cannot be read" in missing.stderr
    plain = front.children.run("publish", [*words, "--url", front.rtmp.url("plain"), "--ca", front.directory / "ca.pem"])
    assert plain.child.returncode == 0 and "warning: --ca only applies to an rtmps:// URL" in plain.stderr
