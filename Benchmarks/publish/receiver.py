"""What every sender publishes to: nginx with its RTMP module; and a relay before it that
notes when the first media message came by."""

import select
import socket
import subprocess
import threading
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
    """nginx-rtmp on a port of loopback, for as long as the `with` lasts."""

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


class FirstMediaRelay:
    """Passes one connection on to the server, and notes when the first audio or video message begins."""

    def __init__(self, server_port: int):
        self.server_port = server_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        # CLOCK_MONOTONIC, in seconds.
        self.first_media: float | None = None
        self.found = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.listener.close()
        self.thread.join(5)

    def _run(self) -> None:
        client, _ = self.listener.accept()
        server = socket.create_connection(("127.0.0.1", self.server_port))
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        chunks = MediaFinder()
        with client, server:
            while True:
                for end in select.select([client, server], [], [])[0]:
                    try:
                        data = end.recv(1 << 18)
                        now = time.monotonic()
                        (server if end is client else client).sendall(data)
                    except OSError:
                        return
                    if not data:
                        return
                    if end is client and self.first_media is None and chunks.has_media(data):
                        self.first_media = now
                        self.found.set()


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
        """The end of the chunk at `position`, -1 when it belongs to media, `None` when it is not all there."""
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
