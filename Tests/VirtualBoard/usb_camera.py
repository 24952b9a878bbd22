"""A USB camera for QEMU's machines: a UVC device outside the machine, which QEMU plugs in (`usb-redir`). It speaks usbredir's
protocol (usbredirproto.h, version 0.7 without its options) and delivers JPEG frames over a bulk endpoint.

    with UsbCamera(folder / "camera") as camera:
        RaspberryPi(..., devices=camera.words)
"""

import contextlib
import itertools
import select
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

WIDTH, HEIGHT, RATE = 320, 240, 5
# Packets of usbredir.
HELLO, CONNECT, INTERFACES, ENDPOINTS = 0, 1, 4, 5
SET_CONFIGURATION, GET_CONFIGURATION, CONFIGURATION = 6, 7, 8
SET_ALTERNATIVE, GET_ALTERNATIVE, ALTERNATIVE = 9, 10, 11
CANCEL, CONTROL, BULK = 21, 100, 101
EP_INFO_MAX_PACKET_SIZE = 1 << 4
SUCCESS, CANCELLED, STALL = 0, 1, 4
FULL_SPEED = 1
# The camera's only endpoint besides 0: bulk, to the computer.
VIDEO, PACKET = 0x81, 64
# Class-specific requests.
SET_CUR, GET_CUR, GET_MIN, GET_MAX, GET_LEN, GET_INFO, GET_DEF = 0x01, 0x81, 0x82, 0x83, 0x85, 0x86, 0x87
INTERVAL = 10_000_000 // RATE
LARGEST_FRAME = 1 << 16
PRODUCT = "Test camera"
# In seconds, how long a read waits for a frame before it is answered with a header alone, as cameras do between two frames. When
# the computer stops the stream, QEMU's controller does not cancel a waiting read, and QEMU fails if the channel is used again
# before the answer.
PATIENCE = 0.004


def described(kind: int, *fields: bytes) -> bytes:
    """A descriptor with its length and type in front."""
    body = b"".join(fields)
    return bytes([len(body) + 2, kind]) + body


DEVICE = described(1, struct.pack("<HBBBBHHHBBBB", 0x0200, 0xEF, 2, 1, 64, 0x1D6B, 0x0102, 0x0100, 0, 1, 0, 1))
FRAME = described(
    0x24, struct.pack("<BBBHHIIIIBI", 7, 1, 0, WIDTH, HEIGHT, 1_000_000, 8_000_000, LARGEST_FRAME, INTERVAL, 1, INTERVAL)
)
FORMAT = described(0x24, bytes([6, 1, 1, 1, 1, 0, 0, 0, 0]))
TERMINALS = described(0x24, struct.pack("<BBHBBHHHB3s", 2, 1, 0x0201, 0, 0, 0, 0, 0, 3, b"")) + described(
    0x24, struct.pack("<BBHBBB", 3, 2, 0x0101, 0, 1, 0)
)
INTERFACES_TEXT = b"".join([
    described(11, bytes([0, 2, 0x0E, 3, 0, 0])),
    described(4, bytes([0, 0, 0, 0x0E, 1, 0, 0])),
    described(0x24, struct.pack("<BHHIBB", 1, 0x0100, 13 + len(TERMINALS), 6_000_000, 1, 1)),
    TERMINALS,
    described(4, bytes([1, 0, 1, 0x0E, 2, 0, 0])),
    described(0x24, struct.pack("<BBHBBBBBBBB", 1, 1, 14 + len(FORMAT + FRAME), VIDEO, 0, 2, 0, 0, 0, 1, 0)),
    FORMAT,
    FRAME,
    described(5, struct.pack("<BBHB", VIDEO, 2, PACKET, 0)),
])
CONFIGURATION_TEXT = described(2, struct.pack("<HBBBBB", 9 + len(INTERFACES_TEXT), 2, 1, 0, 0x80, 50)) + INTERFACES_TEXT
STRINGS = {0: described(3, b"\x09\x04"), 1: described(3, PRODUCT.encode("utf-16-le"))}
# The negotiation's result: format, frame, interval, the largest frame and the largest payload. A frame is one payload.
PROBE = struct.pack("<HBBIHHHHHII", 1, 1, 1, INTERVAL, 0, 0, 0, 0, 0, LARGEST_FRAME, LARGEST_FRAME)


def jpegs(count: int) -> list[bytes]:
    """Frames of a moving test picture."""
    words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=size={WIDTH}x{HEIGHT}:rate={RATE}", "-frames:v", str(count),
             "-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-q:v", "20", "-f", "image2pipe", "-"]  # fmt: skip
    data = subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout
    return [b"\xff\xd8" + frame for frame in data.split(b"\xff\xd8\xff\xe0")[1:] for frame in [b"\xff\xe0" + frame]]


class UsbCamera:
    def __init__(self, path: Path):
        self.path = path
        self.frames_sent = 0
        self._frames = itertools.cycle(jpegs(RATE * 2))
        self._configuration = 0
        # What is left of the payload on its way, and when the next one may start.
        self._payload, self._toggle, self._next = b"", 0, 0.0
        # Reads of the video that are not answered yet: their numbers and lengths, and until when they may wait, in their order.
        self._reads: list[tuple[int, int, float]] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def words(self) -> tuple[str, ...]:
        """QEMU's arguments for the cable."""
        return ("-chardev", f"socket,id=camera,path={self.path}", "-device", "usb-redir,chardev=camera")

    def __enter__(self) -> "UsbCamera":
        return self

    def __exit__(self, *_) -> None:
        self._stopping.set()
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        self._listener.settimeout(0.2)
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            # QEMU ends in the middle of whatever it does.
            with connection, contextlib.suppress(ConnectionError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        self._connection = connection
        self._say(HELLO, 0, b"Tallycam's tests".ljust(64, b"\0") + struct.pack("<I", EP_INFO_MAX_PACKET_SIZE))
        data, is_known = b"", False
        while not self._stopping.is_set():
            if select.select([connection], [], [], PATIENCE / 2)[0]:
                received = connection.recv(65536)
                if not received:
                    return
                data += received
            while len(data) >= 12 and len(data) >= 12 + (length := int.from_bytes(data[4:8], "little")):
                kind, _, number = struct.unpack("<III", data[:12])
                self._take(kind, number, data[12 : 12 + length])
                data = data[12 + length :]
                if kind == HELLO and not is_known:
                    is_known = True
                    self._introduce()
            self._send_video()

    def _say(self, kind: int, number: int, body: bytes) -> None:
        self._connection.sendall(struct.pack("<III", kind, len(body), number) + body)

    def _introduce(self) -> None:
        """The device's interfaces and endpoints, each in a table of 32, and the device itself."""
        table = lambda **values: bytes(values.get(f"n{n}", 0) for n in range(32))  # noqa: E731
        self._say(INTERFACES, 0, struct.pack("<I", 2) + table(n1=1) + table(n0=0x0E, n1=0x0E) + table(n0=1, n1=2) + table())
        kinds = bytes(0 if n in (0, 16) else 2 if n == 17 else 255 for n in range(32))
        sizes = struct.pack("<32H", *(PACKET if n in (0, 16, 17) else 0 for n in range(32)))
        self._say(ENDPOINTS, 0, kinds + table() + table(n17=1) + sizes)
        self._say(CONNECT, 0, struct.pack("<BBBBHH", FULL_SPEED, 0xEF, 2, 1, 0x1D6B, 0x0102))

    def _take(self, kind: int, number: int, body: bytes) -> None:
        if kind == SET_CONFIGURATION:
            self._configuration = body[0]
        if kind in (SET_CONFIGURATION, GET_CONFIGURATION):
            self._say(CONFIGURATION, number, bytes([SUCCESS, self._configuration]))
        elif kind in (SET_ALTERNATIVE, GET_ALTERNATIVE):
            self._say(ALTERNATIVE, number, bytes([SUCCESS, body[0], 0]))
        elif kind == CONTROL:
            self._control(number, body)
        elif kind == BULK:
            self._reads.append((number, struct.unpack("<H", body[2:4])[0], time.monotonic() + PATIENCE))
        elif kind == CANCEL:
            self._cancel(number)

    def _cancel(self, number: int) -> None:
        """The stream has ended, or starts again with a new frame."""
        if any(read[0] == number for read in self._reads):
            self._reads = [read for read in self._reads if read[0] != number]
            self._payload = b""
            self._say(BULK, number, struct.pack("<BBHI", VIDEO, CANCELLED, 0, 0))

    def _control(self, number: int, body: bytes) -> None:
        endpoint, request, kind, _, value, index, length = struct.unpack("<BBBBHHH", body[:10])
        data = self._reply(request, kind, value, index)
        status = STALL if data is None else SUCCESS
        data = (data or b"")[:length] if kind & 0x80 else b""
        size = len(data) if kind & 0x80 else length
        self._say(CONTROL, number, struct.pack("<BBBBHHH", endpoint, request, kind, status, value, index, size) + data)

    def _reply(self, request: int, kind: int, value: int, index: int) -> bytes | None:
        """`None` for a request that the camera does not know."""
        if (kind, request) == (0x80, 6):
            texts = {1: DEVICE, 2: CONFIGURATION_TEXT, 3: STRINGS.get(value & 0xFF)}
            return texts.get(value >> 8)
        if (kind, request) == (0x80, 0):
            return b"\0\0"
        if kind == 0x02 and request == 1:
            return b""
        # Negotiation: whatever the computer wants, it gets the one format.
        if kind & 0x7F == 0x21 and index & 0xFF == 1 and value >> 8 in (1, 2):
            if request in (SET_CUR, GET_CUR, GET_MIN, GET_MAX, GET_DEF):
                return PROBE
            return {GET_LEN: struct.pack("<H", len(PROBE)), GET_INFO: b"\x03"}.get(request)
        return None

    def _send_video(self) -> None:
        """Answers the reads. A payload is two bytes of header and a frame, and ends with a packet that is not full."""
        while self._reads:
            number, length, end = self._reads[0]
            if not self._payload and time.monotonic() < self._next:
                if time.monotonic() < end:
                    return
                self._payload = bytes([2, 0x80 | self._toggle])
            elif not self._payload:
                self._next = max(time.monotonic(), self._next + 1 / RATE)
                self._toggle ^= 1
                frame = next(self._frames)
                self._payload = bytes([2, 0x82 | self._toggle]) + frame
                self._payload += bytes(1 if len(self._payload) % PACKET == 0 else 0)
                self.frames_sent += 1
            self._reads.pop(0)
            part, self._payload = self._payload[:length], self._payload[length:]
            self._say(BULK, number, struct.pack("<BBHI", VIDEO, SUCCESS, len(part), 0) + part)
