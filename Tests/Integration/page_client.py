"""A program that talks to the page: HTTP and WebSocket, byte by byte where a test needs it."""

import base64
import hashlib
import json
import os
import socket
import ssl
import struct
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection

from appliance import Appliance
from processes import HUNG

WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return self.json["error"]


@dataclass
class Page:
    """A browser's view of the camera: it keeps cookies and sends its page's origin."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)
    # How the camera is called, where that is not the address that is connected to.
    host: str = ""
    # For a page that is served over HTTPS.
    tls: ssl.SSLContext | None = None

    @property
    def place(self) -> str:
        return self.host or f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.place}"

    def _connection(self) -> HTTPConnection:
        if self.tls:
            return HTTPSConnection("127.0.0.1", self.port, timeout=HUNG, context=self.tls)
        return HTTPConnection("127.0.0.1", self.port, timeout=HUNG)

    def ask(self, method: str, path: str, body: bytes | dict | None = None, headers: dict | None = None) -> Answer:
        """One request on a connection of its own. A header of None is left out."""
        sent = {"Host": self.place, "Origin": self.origin, "Cookie": self.cookie, **(headers or {})}
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        connection = self._connection()
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value:
                connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        response = connection.getresponse()
        answer = Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        for name, value in response.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        connection.close()
        return answer

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def get(self, path: str, **headers) -> Answer:
        return self.ask("GET", path, headers=headers)

    def command(self, line: str) -> Answer:
        return self.ask("POST", "/api/v1/commands", {"command": line})

    def pair(self, camera: Appliance) -> "Page":
        """By the console's command, which stands for the button."""
        assert self.ask("POST", "/api/v1/pairing").json["state"] == "waiting"
        assert camera.console("page allow") == "ok\nadmitted\n"
        assert self.get("/api/v1/pairing").json["state"] == "granted"
        return self

    def socket(self, path: str, **headers) -> "WebSocket":
        return WebSocket(self, path, headers)


def browser(camera: Appliance, is_paired: bool = True) -> Page:
    """Of a camera of page.py, whose key it has if it is paired."""
    return Page(int(camera.page.rpartition(":")[2]), {"tallycam-key": camera.key.hex()} if is_paired else {})


class WebSocket:
    def __init__(self, page: Page, path: str, headers: dict):
        self.connection = socket.create_connection(("127.0.0.1", page.port), timeout=HUNG)
        if page.tls:
            self.connection = page.tls.wrap_socket(self.connection)
        key = base64.b64encode(os.urandom(16)).decode()
        sent = {
            "Host": page.place, "Origin": page.origin, "Cookie": page.cookie, "Upgrade": "websocket",
            "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key, **headers,
        }  # fmt: skip
        lines = [f"GET {path} HTTP/1.1"] + [f"{name}: {value}" for name, value in sent.items() if value]
        self.connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.buffer = b""
        head = self._until(b"\r\n\r\n").decode()
        self.status = int(head.split()[1])
        if self.status == 101:
            accept = base64.b64encode(hashlib.sha1((key + WEBSOCKET).encode()).digest()).decode()
            assert f"Sec-WebSocket-Accept: {accept}" in head, head

    def _until(self, end: bytes) -> bytes:
        while end not in self.buffer:
            block = self.connection.recv(65536)
            assert block, f"closed after {self.buffer!r}"
            self.buffer += block
        head, _, self.buffer = self.buffer.partition(end)
        return head

    def _take(self, count: int) -> bytes:
        while len(self.buffer) < count:
            block = self.connection.recv(65536)
            if not block:
                raise EOFError
            self.buffer += block
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def read(self) -> tuple[int, bytes]:
        """The next frame: its opcode and payload."""
        first, length = self._take(2)
        assert first & 0x80 and not first & 0x70, "a whole frame without extensions"
        if length == 126:
            (length,) = struct.unpack(">H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._take(8))
        return first & 0x0F, self._take(length)

    def read_json(self) -> dict:
        while (frame := self.read())[0] != 1:
            pass
        return json.loads(frame[1])

    def send(self, opcode: int, payload: bytes, masked: bool = True) -> None:
        mask = os.urandom(4) if masked else b""
        data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload)) if masked else payload
        length = len(payload)
        size = bytes([length | masked << 7]) if length < 126 else bytes([126 | masked << 7]) + struct.pack(">H", length)
        self.connection.sendall(bytes([0x80 | opcode]) + size + mask + data)

    def end(self) -> None:
        """Ends the connection, also for a thread that reads."""
        self.connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.connection.close()
