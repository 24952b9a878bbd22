"""Servers that require a password, over sockets: Adobe's scheme and Limelight's, with answers computed independently."""

import base64
import hashlib
import os
import socket
import struct
import threading

import pytest
from recording import Recording, assert_whole
from rtmp_wire import COMMAND, HANDSHAKE_SIZE, ChunkReader, encode_amf
from scenarios import publish_small
from tallycam import events, last_event

USER, PASSWORD = "bob", "hush:1@home"


def md5(text: str) -> bytes:
    return hashlib.md5(text.encode()).digest()


class Gatekeeper:
    """Accepts connections on loopback, requires a password according to the scheme, and relays authenticated clients to a
    server."""

    def __init__(self, scheme: str, server_port: int, asks_forever: bool = False):
        self.scheme = scheme
        self.server_port = server_port
        self.asks_forever = asks_forever
        self.answers: list[str] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            said = self._handshake(client)
            application, more = self._await_connect(client)
            refusal = self._judge(application)
            if refusal is None:
                self._let_through(client, said + more)
            else:
                self._refuse(client, refusal)
        except OSError:
            pass
        finally:
            client.close()

    @staticmethod
    def _receive(client: socket.socket, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = client.recv(count - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data

    def _handshake(self, client: socket.socket) -> bytes:
        hello = self._receive(client, 1 + HANDSHAKE_SIZE)
        client.sendall(b"\x03" + struct.pack(">II", 1, 0) + os.urandom(HANDSHAKE_SIZE - 8) + hello[1:])
        return hello + self._receive(client, HANDSHAKE_SIZE)

    def _await_connect(self, client: socket.socket) -> tuple[str, bytes]:
        reader, data = ChunkReader(), b""
        while True:
            part = client.recv(65536)
            if not part:
                raise ConnectionError("closed")
            data += part
            for message in reader.feed(part):
                if message.kind == COMMAND and (values := message.values())[0] == "connect":
                    return values[2]["app"], data

    def _judge(self, application: str) -> str | None:
        """The refusal's text; nothing if the answer is right."""
        _, _, query = application.partition("?")
        self.answers.append(query)
        fields = dict(pair.split("=", 1) for pair in query.split("&") if "=" in pair)
        head = f"[ AccessManager.Reject ] : [ authmod={self.scheme} ] : "
        if fields.get("authmod") != self.scheme:
            return f"[ AccessManager.Reject ] : [ code=403 need auth; authmod={self.scheme} ] : "
        if fields["user"] != USER:
            return head + "?reason=nosuchuser&opaque=x"
        if "response" not in fields or self.asks_forever:
            return head + f"?reason=needauth&user={USER}&salt=Sa1t&challenge=ChAl&opaque=oPaQ&nonce=NoNcE"
        return None if fields["response"] == self._response(fields) else head + "?reason=authfailed&opaque=oPaQ"

    def _response(self, fields: dict) -> str:
        if self.scheme == "adobe":
            secret = base64.b64encode(md5(f"{USER}Sa1t{PASSWORD}")).decode()
            return base64.b64encode(md5(f"{secret}oPaQ{fields['challenge']}")).decode()
        secret, call = md5(f"{USER}:live:{PASSWORD}").hex(), md5("publish:/live/_definst_").hex()
        return md5(f"{secret}:NoNcE:{fields['nc']}:{fields['cnonce']}:auth:{call}").hex()

    @staticmethod
    def _refuse(client: socket.socket, description: str) -> None:
        information = {"level": "error", "code": "NetConnection.Connect.Rejected", "description": description}
        body = encode_amf("_error", 1, None, information)
        header = bytes([3, 0, 0, 0]) + len(body).to_bytes(3, "big") + bytes([COMMAND, 0, 0, 0, 0])
        parts = [body[at : at + 128] for at in range(0, len(body), 128)]
        client.sendall(header + b"\xc3".join(parts))
        client.shutdown(socket.SHUT_WR)
        while client.recv(65536):
            pass

    def _let_through(self, client: socket.socket, said: bytes) -> None:
        server = socket.create_connection(("127.0.0.1", self.server_port))
        server.sendall(said)
        # The publisher has already had its handshake.
        self._receive(server, 1 + 2 * HANDSHAKE_SIZE)
        back = threading.Thread(target=self._copy, args=(server, client), daemon=True)
        back.start()
        self._copy(client, server)
        back.join(5)
        server.close()

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def url(self, login: str = f"{USER}:hush%3A1%40home@") -> str:
        return f"rtmp://{login}127.0.0.1:{self.port}/live/x"


@pytest.fixture(params=["adobe", "llnw"])
def scheme(request):
    return request.param


@pytest.mark.parametrize("mode", ["live", "file"])
def test_the_right_password_is_accepted(nginx, children, encoded_flv, scheme, mode):
    gate = Gatekeeper(scheme, nginx.port)
    options = {"duration": 1.5}
    if mode == "file":
        options = {"from_flv": encoded_flv, "pace": "fast", "video": None, "audio": None, "quality": None, "dimension": None}
    publisher = publish_small(children, gate.url(), **options)
    assert publisher.wait() == 0, publisher.report()
    first, named, answered = gate.answers
    assert first == "" and named == f"authmod={scheme}&user={USER}"
    assert answered.startswith(named) and "response=" in answered
    assert_whole(Recording(nginx.recording("x")), last_event(publisher, "ended"))
    assert_nothing_reported(publisher, gate)


def assert_nothing_reported(publisher, gate) -> None:
    said = publisher.stdout + publisher.stderr
    for secret in [PASSWORD, "hush", "response=", "authmod=", *(gate.answers[2:3] or ["response="])]:
        assert secret not in said


LOGINS = {
    "wrong password": ("bob:nothing@", "authfailed"),
    "wrong user": ("eve:hush%3A1%40home@", "nosuchuser"),
    "no user": ("", "user and password"),
}


@pytest.mark.parametrize("name", LOGINS)
def test_a_wrong_login_ends_the_stream_at_once(nginx, children, scheme, name):
    login, words = LOGINS[name]
    gate = Gatekeeper(scheme, nginx.port)
    publisher = publish_small(children, gate.url(login), reconnect="endless")
    assert publisher.wait() == 3, publisher.report()
    [failed] = [event for event in events(publisher) if event["code"] < 0]
    assert failed["code"] == -1005
    assert words in failed["message"]
    assert nginx.all_recordings() == []
    assert_nothing_reported(publisher, gate)


def test_a_server_that_keeps_asking_is_given_up(nginx, children, scheme):
    gate = Gatekeeper(scheme, nginx.port, asks_forever=True)
    publisher = publish_small(children, gate.url())
    assert publisher.wait() == 3, publisher.report()
    assert len(gate.answers) == 3
    [failed] = [event for event in events(publisher) if event["code"] < 0]
    assert failed["code"] == -1005 and "asked again" in failed["message"]
