"""RTMPS with common TLS servers: each kind of key, TLS version and certificate chain."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import media
import pytest
from certificates import AUTHORITY, KEYS, Certificates
from servers import NginxRTMP, free_port, wait_for_listener
from tallycam import TALLYCAM, events, last_event
from tls_servers import KINDS, VERSIONS, PreferringNginx

pytestmark = pytest.mark.takes(minutes=0.5, processors=1)

LEAF = ("basicConstraints=critical,CA:FALSE", "subjectAltName=DNS:localhost")
RSA = [key for key in KEYS if key.startswith("rsa")]


class Rig:
    """The keys, an RTMP server, a short file to publish, and the TLS servers that tests have requested."""

    def __init__(self, children):
        self.children = children
        self.certificates = Certificates(children.directory / "certificates")
        self.rtmp = NginxRTMP(children)
        self.file = media.make_encoded_flv(children.directory / "short.flv", seconds=0.1)
        self.servers = {}

    def server(self, kind):
        if kind not in self.servers:
            self.servers[kind] = kind(self.children, self.certificates, KEYS, self.rtmp.port)
        return self.servers[kind]

    def publish(self, port: int, until: str | None = None, authority: str | Path = "ca.pem", name: str = "x"):
        """To the end, or until this event."""
        stream = self.children.directory / f"stream-{port}-{name}.json"
        stream.write_text(
            json.dumps({
                "url": f"rtmps://localhost:{port}/live", "key": name, "caFile": str(self.certificates.path(authority)),
            })
        )  # fmt: skip
        publisher = self.children.start("publish", [
            TALLYCAM, "publish", "--stream", stream, "--from-flv", self.file, "--events", "json", "--pace", "fast",
            "--connect-timeout", "60", "--handshake-timeout", "60",
        ])  # fmt: skip
        publisher.wait_until(
            lambda: not publisher.running or (until and last_event(publisher, until)), f"its end or {until}"
        )
        publisher.kill()
        return publisher


@pytest.fixture(scope="module")
def rig(module_children):
    return Rig(module_children)


def expectation(kind, key: str, version: str) -> tuple[bool, bool]:
    """Whether a connection is made, and whether it needs a second attempt."""
    insists = kind.__name__.startswith("Preferring")
    return key != "ed25519", insists and key in RSA and version == "1.2"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_key_and_version(rig, kind, version):
    """Connects with TLS where the library can, and with RTMP if there is a server behind it."""
    server = rig.server(kind)
    until = None if kind.speaks_rtmp else "connected"

    def reached(key: str):
        publisher = rig.publish(server.ports[key, version], until, name=f"{kind.__name__}-{key}-{version}")
        wanted = "publishing" if kind.speaks_rtmp else "connected"
        return key, last_event(publisher, wanted) is not None, publisher

    with ThreadPoolExecutor(3) as pool:
        cells = list(pool.map(reached, KEYS))
    found = {key: (works, last_event(publisher, "tlsFallback") is not None) for key, works, publisher in cells}
    assert found == {key: expectation(kind, key, version) for key in KEYS}, "\n".join(
        publisher.report() for key, _, publisher in cells if found[key] != expectation(kind, key, version)
    )
    [refusal] = [publisher for key, _, publisher in cells if key == "ed25519"]
    assert "Ed25519" in refusal.stderr


def test_the_second_attempt_is_reported(rig):
    server = rig.server(PreferringNginx)
    port = server.ports["rsa2048", "1.2"]
    publisher = rig.publish(port)
    [reported] = [event for event in events(publisher) if event["name"] == "tlsFallback"]
    assert reported["code"] == 0
    assert reported["reason"].startswith(f"localhost:{port} speaks TLS 1.2 and signs with RSA-PSS, which Mbed TLS ")
    text = rig.children.run("publish", [
        TALLYCAM, "publish", "--stream", rig.children.directory / f"stream-{port}-x.json", "--from-flv", rig.file,
    ])  # fmt: skip
    assert text.child.returncode == 0 and text.report().count(reported["reason"]) == 1, text.report()


class Chains:
    """Authorities that cross-sign each other, and s_server with the chain it should send."""

    def __init__(self, rig: Rig):
        self.rig, self.made = rig, rig.certificates
        made = self.made
        made.make_authority("intermediate", "ca")
        made.certify("leaf", "intermediate", key="p256")
        # An old root that signs a new one, once valid and once expired.
        made.make_authority("old", None)
        made.certify("ended", None, key="old", subject="old", end="20210101000000Z", extensions=AUTHORITY)
        made.make_authority("new", None)
        made.certify("cross", "old", key="new", subject="new", extensions=AUTHORITY)
        made.make_authority("below", "new")
        made.certify("crossed", "below", key="p256")
        for number in range(1, 16):
            made.make_authority(f"depth{number}", f"depth{number - 1}" if number > 1 else "ca")
        made.certify("stapled", "ca", key="p256", extensions=(*LEAF, "tlsfeature=status_request"))
        made.certify("deep", "depth15", key="p256")
        made.certify("deepest", "depth8", key="p256")

    def staple(self) -> Path:
        """An OCSP response of the authority: the certificate is good."""
        self.made.openssl(
            "ocsp", "-index", self.index(), "-rsigner", "ca.pem", "-rkey", "ca.key", "-CA", "ca.pem",
            "-issuer", "ca.pem", "-cert", "stapled.pem", "-respout", "staple.der", "-ndays", 3650,
        )  # fmt: skip
        return self.made.path("staple.der")

    def index(self) -> Path:
        """The authority's record of its certificate, in the format of `openssl ca`."""
        words = ["openssl", "x509", "-in", "stapled.pem", "-noout", "-serial"]
        serial = subprocess.run(words, cwd=self.made.directory, capture_output=True, text=True, check=True).stdout
        path = self.made.path("index.txt")
        path.write_text(f"V\t20990101000000Z\t\t{serial.strip().partition('=')[2]}\tunknown\t/CN=stapled\n")
        return path

    def connects(self, leaf: str, sent: list[str], authority: str | Path, options=()):
        port = free_port()
        chain = self.made.bundle(f"{leaf}-chain", sent) if sent else None
        server = self.rig.children.start("chain", [
            "openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", self.made.path(f"{leaf}.pem"),
            "-key", self.made.path("p256.key"), *(["-cert_chain", chain] if chain else []), *options,
        ], stdin=subprocess.PIPE)  # fmt: skip
        wait_for_listener(server, port)
        publisher = self.rig.publish(port, "connected", authority, leaf)
        server.kill()
        return last_event(publisher, "connected") is not None, publisher


# The server's certificate, what else it sends, the trusted authority, and why it is refused; browsers behave the same.
CHAINS = {
    "an intermediate": ("leaf", ["intermediate"], "ca.pem", None),
    "an intermediate and the root": ("leaf", ["intermediate", "ca"], "ca.pem", None),
    "an intermediate that is missing": ("leaf", [], "ca.pem", "an authority that is not trusted (CN=intermediate)"),
    "a cross-signed root, the new one trusted": ("crossed", ["below", "cross"], "new.pem", None),
    "a cross-signed root, the old one trusted": ("crossed", ["below", "cross"], "old.pem", None),
    "a cross-signed root, the old one ended": ("crossed", ["below", "cross"], "ended.pem", "expired at 2021-01-01"),
    "a cross-signed root, both trusted, the old one ended": ("crossed", ["below", "cross"], "both.pem", None),
    "15 certificates more than needed": ("leaf", ["intermediate", *(f"depth{n}" for n in range(1, 15))], "ca.pem", None),
    "8 intermediates": ("deepest", [f"depth{n}" for n in range(8, 0, -1)], "ca.pem", None),
    # Firefox accepts 6 intermediates, Chromium more.
    "15 intermediates": ("deep", [f"depth{n}" for n in range(15, 0, -1)], "ca.pem", "more than 8 intermediate certificates"),
}


@pytest.fixture(scope="module")
def chains(rig):
    made = Chains(rig)
    made.made.bundle("both", ["ended", "new"])
    return made


@pytest.mark.parametrize("name", CHAINS)
def test_chains_are_accepted_as_in_browsers(chains, name):
    leaf, sent, authority, refusal = CHAINS[name]
    connects, publisher = chains.connects(leaf, sent, authority)
    assert connects == (refusal is None), publisher.report()
    assert (refusal or "") in publisher.stderr


def test_a_stapled_response_is_accepted(chains):
    """So is a missing one for a certificate that requires it: Chromium accepts that too."""
    for options in (["-status_file", chains.staple()], []):
        connects, publisher = chains.connects("stapled", [], "ca.pem", options)
        assert connects, publisher.report()
