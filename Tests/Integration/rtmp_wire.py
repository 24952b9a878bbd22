"""RTMP on the wire: a tap between a publisher and its server, and a publisher that sends the same as OBS in the same order
(Adobe RTMP 1.0; AMF0 specification)."""

import os
import socket
import struct
import threading
from dataclasses import dataclass
from urllib.parse import urlsplit

from flv import Tag
from processes import HUNG

SET_CHUNK_SIZE, ACKNOWLEDGEMENT, USER_CONTROL, WINDOW, BANDWIDTH = 1, 3, 4, 5, 6
AUDIO, VIDEO, DATA, COMMAND = 8, 9, 18, 20
HANDSHAKE_SIZE = 1536
EXTENDED = 0xFFFFFF


@dataclass(frozen=True)
class Message:
    chunk_stream: int
    kind: int
    stream: int
    timestamp: int
    payload: bytes

    def values(self) -> list:
        return decode_amf(self.payload)


# AMF0 ----------------------------------------------------------------------------------------


def encode_amf(*values) -> bytes:
    return b"".join(_encode_value(value) for value in values)


def _encode_value(value) -> bytes:
    if value is None:
        return b"\x05"
    if isinstance(value, bool):
        return b"\x01" + bytes([value])
    if isinstance(value, (int, float)):
        return b"\x00" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"\x02" + _encode_name(value)
    if isinstance(value, list):  # an ECMA array, as metadata is sent
        items = b"".join(_encode_name(name) + _encode_value(item) for name, item in value)
        return b"\x08" + struct.pack(">I", len(value)) + items + b"\x00\x00\x09"
    items = b"".join(_encode_name(name) + _encode_value(item) for name, item in value.items())
    return b"\x03" + items + b"\x00\x00\x09"


def _encode_name(name: str) -> bytes:
    return struct.pack(">H", len(name.encode())) + name.encode()


def decode_amf(data: bytes) -> list:
    values, at = [], 0
    while at < len(data):
        value, at = _decode_value(data, at)
        values.append(value)
    return values


def _decode_value(data: bytes, at: int):
    marker, at = data[at], at + 1
    if marker == 0:
        return struct.unpack_from(">d", data, at)[0], at + 8
    if marker == 1:
        return bool(data[at]), at + 1
    if marker == 2:
        return _decode_name(data, at)
    if marker in (3, 8):
        return _decode_properties(data, at + (4 if marker == 8 else 0))
    if marker in (5, 6):
        return None, at
    if marker == 10:
        count, at, items = struct.unpack_from(">I", data, at)[0], at + 4, []
        for _ in range(count):
            item, at = _decode_value(data, at)
            items.append(item)
        return items, at
    raise ValueError(f"AMF0 marker {marker} at byte {at - 1} of {data.hex()}")


def _decode_name(data: bytes, at: int):
    size = struct.unpack_from(">H", data, at)[0]
    return data[at + 2 : at + 2 + size].decode(), at + 2 + size


def _decode_properties(data: bytes, at: int):
    items = {}
    while data[at : at + 3] != b"\x00\x00\x09":
        name, at = _decode_name(data, at)
        items[name], at = _decode_value(data, at)
    return items, at + 3


# Chunks --------------------------------------------------------------------------------------


class ChunkReader:
    """Assembles messages from chunks (section 5.3.1), after the handshake."""

    def __init__(self):
        self.chunk_size = 128
        self.buffer = b""
        self.streams: dict[int, dict] = {}

    def feed(self, data: bytes) -> list[Message]:
        self.buffer += data
        messages = []
        while (taken := self._take_chunk(messages)) > 0:
            self.buffer = self.buffer[taken:]
        return messages

    def _take_chunk(self, messages: list[Message]) -> int:
        """Bytes used; 0 if the chunk is incomplete."""
        try:
            return self._parse_chunk(messages)
        except (IndexError, struct.error):
            return 0

    def _parse_chunk(self, messages: list[Message]) -> int:
        data = self.buffer
        form, number, at = data[0] >> 6, data[0] & 63, 1
        if number == 0:
            number, at = 64 + data[1], 2
        elif number == 1:
            number, at = 64 + data[1] + 256 * data[2], 3
        old = self.streams.get(number, {"timestamp": 0, "delta": 0, "body": b"", "stream": 0, "field": 0})
        new = dict(old)
        if form < 3:
            new["field"] = int.from_bytes(_exactly(data, at, 3), "big")
        if form < 2:
            new["size"], new["kind"] = int.from_bytes(_exactly(data, at + 3, 3), "big"), data[at + 6]
        if form < 1:
            new["stream"] = struct.unpack("<I", _exactly(data, at + 7, 4))[0]
        at += (11, 7, 3, 0)[form]
        if new["field"] == EXTENDED:
            time, at = struct.unpack(">I", _exactly(data, at, 4))[0], at + 4
        else:
            time = new["field"]
        if not old["body"]:
            if form == 0:
                new["timestamp"], new["delta"] = time, 0
            else:
                new["delta"] = time if form < 3 else old["delta"]
                new["timestamp"] = (old["timestamp"] + new["delta"]) & 0xFFFFFFFF
        elif form != 3:
            raise ValueError(f"a message on chunk stream {number} was broken off")
        part = _exactly(data, at, min(self.chunk_size, new["size"] - len(old["body"])))
        new["body"] = old["body"] + part
        if len(new["body"]) == new["size"]:
            message = Message(number, new["kind"], new["stream"], new["timestamp"], new["body"])
            new["body"] = b""
            if message.kind == SET_CHUNK_SIZE:
                self.chunk_size = struct.unpack(">I", message.payload)[0] & 0x7FFFFFFF
            messages.append(message)
        self.streams[number] = new
        return at + len(part)


def _exactly(data: bytes, at: int, count: int) -> bytes:
    if at + count > len(data):
        raise IndexError
    return data[at : at + count]


# The tap -------------------------------------------------------------------------------------


class Tap:
    """Sits between a publisher and a server on loopback and records both directions."""

    def __init__(self, server_port: int):
        self.server_port = server_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.said = {"client": bytearray(), "server": bytearray()}
        # Of every connection, including the first.
        self.connections = [self.said]
        self.ended = {"client": threading.Event(), "server": threading.Event()}
        threading.Thread(target=self._run, daemon=True).start()

    def url(self, name: str, application: str = "live") -> str:
        return f"rtmp://127.0.0.1:{self.port}/{application}/{name}"

    def _run(self) -> None:
        said = self.said
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server_port))
            threading.Thread(target=self._copy, args=(server, client, "server", said), daemon=True).start()
            threading.Thread(target=self._copy, args=(client, server, "client", said), daemon=True).start()
            said = {"client": bytearray(), "server": bytearray()}
            self.connections.append(said)

    def _copy(self, source: socket.socket, sink: socket.socket, who: str, said: dict) -> None:
        try:
            while data := source.recv(65536):
                said[who] += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self.ended[who].set()

    def messages(self, who: str = "client", connection: int = 0) -> list[Message]:
        data = bytes(self.connections[connection][who])
        return ChunkReader().feed(data[1 + 2 * HANDSHAKE_SIZE :])

    def commands(self, who: str = "client", connection: int = 0) -> list[list]:
        return [message.values() for message in self.messages(who, connection) if message.kind == COMMAND]

    def close(self) -> None:
        self.listener.close()


# A publisher like OBS ------------------------------------------------------------------------


class OBSLikePublisher:
    """Connects, sends everything in the order of OBS 30 with its header compression, and sends tags."""

    CONTROL, SOURCE = 3, 4

    def __init__(self, url: str, chunk_size: int = 4096):
        parts = urlsplit(url)
        self.application, _, self.name = parts.path.lstrip("/").partition("/")
        self.chunk_size = 128
        self.reader = ChunkReader()
        self.last: dict[int, Message] = {}
        self.invokes = 0
        self.inbox: list[Message] = []
        self.socket = socket.create_connection((parts.hostname, parts.port or 1935), timeout=HUNG)
        self._handshake()
        self._send(Message(2, SET_CHUNK_SIZE, 0, 0, struct.pack(">I", chunk_size)))
        self.chunk_size = chunk_size
        self._connect(f"rtmp://{parts.netloc}/{self.application}")

    def _handshake(self) -> None:
        # A plain handshake: time, four zero bytes, and random bytes; C2 repeats S1.
        self.socket.sendall(b"\x03" + struct.pack(">II", 12345, 0) + os.urandom(HANDSHAKE_SIZE - 8))
        answer = self._receive_exactly(1 + HANDSHAKE_SIZE)
        self.socket.sendall(answer[1:])
        self._receive_exactly(HANDSHAKE_SIZE)

    def _connect(self, tc_url: str) -> None:
        self._invoke(3, "connect", {
            "app": self.application, "type": "nonprivate",
            "flashVer": "FMLE/3.0 (compatible; FMSc/1.0)", "swfUrl": tc_url, "tcUrl": tc_url,
        }, form=0)  # fmt: skip
        self._await_result()
        self._invoke(3, "releaseStream", None, self.name)
        self._invoke(3, "FCPublish", None, self.name)
        create = self._invoke(3, "createStream", None)
        self.stream = int(self._await_result(create)[3])
        self._invoke(4, "publish", None, self.name, "live", form=0)
        self._await_status("NetStream.Publish.Start")

    def send_metadata(self, width: int, height: int, fps: int) -> None:
        metadata = [
            ("duration", 0), ("fileSize", 0), ("width", width), ("height", height), ("videocodecid", 7),
            ("videodatarate", 1500), ("framerate", fps), ("audiocodecid", 10), ("audiodatarate", 128),
            ("audiosamplerate", 44100), ("audiosamplesize", 16), ("audiochannels", 2), ("stereo", True),
            ("2.1", False), ("3.1", False), ("encoder", "obs-output module (libobs version 30.2.3)"),
        ]  # fmt: skip
        body = encode_amf("@setDataFrame", "onMetaData", metadata)
        self._send(Message(self.SOURCE, DATA, self.stream, 0, body))

    def send_tag(self, tag: Tag) -> None:
        form = 0 if tag.timestamp == 0 else 1
        self._send(Message(self.SOURCE, tag.kind, self.stream, tag.timestamp, tag.body), form)
        self._drain()

    def repeat_last(self, count: int) -> None:
        """Sends the last media message, which fits into one chunk, this many more times, with a one-byte header each."""
        again = bytes([3 << 6 | self.SOURCE]) + self.last[self.SOURCE].payload
        block = again * 100_000
        for at in range(0, count, 100_000):
            self.socket.sendall(block[: min(100_000, count - at) * len(again)])
            self._drain()

    def close(self) -> None:
        self._invoke(3, "FCUnpublish", None, self.name)
        self._invoke(3, "deleteStream", None, self.stream)
        self.socket.shutdown(socket.SHUT_WR)
        try:
            while self.socket.recv(65536):
                pass
        except OSError:
            pass
        self.socket.close()

    def _invoke(self, chunk_stream: int, name: str, *values, form: int = 1) -> int:
        self.invokes += 1
        stream = self.stream if chunk_stream == self.SOURCE else 0
        self._send(Message(chunk_stream, COMMAND, stream, 0, encode_amf(name, self.invokes, *values)), form)
        return self.invokes

    def _send(self, message: Message, form: int = 0) -> None:
        last = self.last.get(message.chunk_stream)
        time = message.timestamp
        if last and form > 0:
            time = (message.timestamp - last.timestamp) & 0xFFFFFFFF
            if (last.kind, len(last.payload)) == (message.kind, len(message.payload)):
                form = 2
        elif not last:
            form = 0
        self.last[message.chunk_stream] = message
        header = bytes([form << 6 | message.chunk_stream]) + min(time, EXTENDED).to_bytes(3, "big")
        if form < 2:
            header += len(message.payload).to_bytes(3, "big") + bytes([message.kind])
        if form < 1:
            header += struct.pack("<I", message.stream)
        extended = struct.pack(">I", time) if time >= EXTENDED else b""
        out, again = header + extended, bytes([3 << 6 | message.chunk_stream]) + extended
        for at in range(0, len(message.payload), self.chunk_size):
            out += (again if at else b"") + message.payload[at : at + self.chunk_size]
        self.socket.sendall(out)

    def _receive_exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError(f"the server closed after {len(data)} of {count} bytes")
            data += part
        return data

    def _drain(self) -> None:
        """Reads the server's messages, as OBS does before each send."""
        self.socket.setblocking(False)
        try:
            while data := self.socket.recv(65536):
                self.inbox += self.reader.feed(data)
        except BlockingIOError:
            pass
        self.socket.settimeout(HUNG)

    def _next_command(self) -> list:
        while True:
            while self.inbox:
                message = self.inbox.pop(0)
                if message.kind == COMMAND:
                    return message.values()
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("the server closed before it answered")
            self.inbox += self.reader.feed(data)

    def _await_result(self, transaction: int = 1) -> list:
        while True:
            values = self._next_command()
            if values[0] in ("_result", "_error") and values[1] == transaction:
                if values[0] == "_error":
                    raise ConnectionError(f"the server refused: {values}")
                return values

    def _await_status(self, code: str) -> None:
        while True:
            values = self._next_command()
            if values[0] == "onStatus":
                if values[3]["code"] != code:
                    raise ConnectionError(f"the server said {values[3]}")
                return
