"""The server for every sender, nginx with its RTMP module, and the detection of the first media message that goes there."""

import socket
import struct
import subprocess
import time
from pathlib import Path

NGINX_CONFIGURATION = """
load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
daemon off; master_process off; user root;
pid {directory}/nginx.pid;
error_log {directory}/nginx.log error;
events {{ worker_connections 256; }}
rtmp {{
  server {{
    listen 127.0.0.1:{port};
    chunk_size 4096;
    max_message 16M;
    application live {{ live on; sync 0; wait_key off; wait_video off; idle_streams on; }}
  }}
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """nginx-rtmp on a port of loopback, for the duration of the `with`."""

    def __init__(self, directory: Path):
        self.port = free_port()
        configuration = directory / "nginx.conf"
        configuration.write_text(NGINX_CONFIGURATION.format(directory=directory, port=self.port))
        self.process = subprocess.Popen(["nginx", "-p", directory, "-c", configuration], stderr=subprocess.DEVNULL)

    def __enter__(self) -> "Nginx":
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise SystemExit("bench-publish: nginx does not start") from None
                time.sleep(0.02)

    def __exit__(self, *_) -> None:
        self.process.terminate()
        self.process.wait()


class FirstMediaWatch:
    """Watches loopback for the first audio or video message on its way to the server. It only listens: a relay would change the
    time of the server's answers."""

    SO_TIMESTAMPNS = 35
    OUTGOING = 4  # PACKET_OUTGOING; on loopback each packet is seen twice

    def __init__(self, server_port: int):
        self.server_port = server_port
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        self.socket.bind(("lo", 0x0800))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.setsockopt(socket.SOL_SOCKET, self.SO_TIMESTAMPNS, 1)

    def __enter__(self) -> "FirstMediaWatch":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def wait(self, limit: float) -> float | None:
        """When the message was sent, on CLOCK_MONOTONIC in seconds; `None` after `limit` seconds without one."""
        deadline = time.monotonic() + limit
        chunks = MediaFinder()
        next_sequence = None
        while (rest := deadline - time.monotonic()) > 0:
            self.socket.settimeout(rest)
            try:
                packet, ancillary, _, address = self.socket.recvmsg(1 << 17, 64)
            except TimeoutError:
                return None
            segment = tcp_payload(packet, self.server_port)
            if address[2] == self.OUTGOING or segment is None:
                continue
            sequence, payload = segment
            next_sequence = sequence if next_sequence is None else next_sequence
            payload = payload[(next_sequence - sequence) % (1 << 32) :]  # retransmitted data
            next_sequence = (next_sequence + len(payload)) % (1 << 32)
            if chunks.has_media(payload):
                seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
                return seconds + nanoseconds / 1e9 - (time.time() - time.monotonic())
        return None


def tcp_payload(packet: bytes, port: int) -> tuple[int, bytes] | None:
    """Sequence number and payload of an IPv4 packet to the port; `None` for others and for empty ones."""
    header = (packet[0] & 15) * 4
    if packet[9] != socket.IPPROTO_TCP or int.from_bytes(packet[header + 2 : header + 4], "big") != port:
        return None
    end = int.from_bytes(packet[2:4], "big") or len(packet)
    payload = packet[header + (packet[header + 12] >> 4) * 4 : end]
    return (int.from_bytes(packet[header + 4 : header + 8], "big"), payload) if payload else None


class MediaFinder:
    """Follows the client's chunk stream up to the first audio or video message."""

    HANDSHAKE = 1 + 2 * 1536
    HEADER_SIZES = (11, 7, 3, 0)

    def __init__(self):
        self.bytes = bytearray()
        self.position = self.HANDSHAKE
        self.chunk_size = 128
        self.messages: dict[int, dict] = {}

    def has_media(self, data: bytes) -> bool:
        self.bytes += data
        while (end := self._chunk()) is not None:
            if end < 0:
                return True
            self.position = end
        return False

    def _chunk(self) -> int | None:
        """The end of the chunk at `position`, -1 if it belongs to media, `None` if it is incomplete."""
        data, at = self.bytes, self.position
        if at + 12 > len(data):
            return None
        form, stream = data[at] >> 6, data[at] & 63
        header = at + 1
        message = self.messages.setdefault(stream, {"length": 0, "type": 0, "left": 0, "extended": False})
        if form < 3:
            message["extended"] = data[header : header + 3] == b"\xff\xff\xff"
        if form < 2:
            message["length"] = int.from_bytes(data[header + 3 : header + 6], "big")
            message["type"] = data[header + 6]
            if message["type"] in (8, 9):
                return -1
        body = header + self.HEADER_SIZES[form] + (4 if message["extended"] else 0)
        left = message["left"] or message["length"]
        size = min(left, self.chunk_size)
        if body + size > len(data):
            return None
        message["left"] = left - size
        if message["type"] == 1:
            self.chunk_size = int.from_bytes(data[body : body + 4], "big")
        return body + size
