"""Plays files in Chromium on our own page (player.html), which reports how that went."""

import functools
import json
import threading
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from browser import Chromium
from processes import Children

@dataclass(frozen=True)
class Played:
    """The states of the video element until it ended or failed."""

    sizes: list[str]  # of the video, each as it changed to it
    frames: int  # decoded
    seconds: float
    error: str | None


@dataclass(frozen=True)
class Part:
    """A file for a SourceBuffer, and the stream time in seconds where its timestamps start."""

    path: Path
    start: float = 0


def play_address(children: Children, path: Path) -> Played:
    """A file, or a playlist next to its segments, as the video element's source."""
    return _play(children, path.parent, {"address": path.name})


def play_parts(children: Children, mime_type: str, parts: list[Part]) -> Played:
    """Files of one folder, appended in order through Media Source Extensions."""
    files = [{"name": part.path.name, "start": part.start} for part in parts]
    return _play(children, parts[0].path.parent, {"type": mime_type, "files": files})


def _play(children: Children, folder: Path, playing: dict) -> Played:
    page = _Page(folder, playing)
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, page)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = Chromium(children)
        try:
            browser.open(f"http://127.0.0.1:{server.server_port}/player.html")
            browser.process.wait_until(page.is_over.is_set, "report of the player")
        finally:
            server.shutdown()
            browser.process.kill()
    return Played(**page.report)


class _Page:
    """The player, its input, and its final report."""

    def __init__(self, folder: Path, playing: dict):
        self.folder = folder
        self.playing = playing
        self.report: dict = {}
        self.is_over = threading.Event()


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {".m3u8": "application/vnd.apple.mpegurl", ".ts": "video/mp2t", ".mp4": "video/mp4"}

    def __init__(self, page: _Page, *arguments):
        self.page = page
        super().__init__(*arguments, directory=str(page.folder))

    def do_GET(self):
        match self.path:
            case "/player.html":
                self._answer("text/html", Path(__file__).with_name("player.html").read_bytes())
            case "/playing.json":
                self._answer("application/json", json.dumps(self.page.playing).encode())
            case _:
                super().do_GET()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer("text/plain", b"")
        if not self.page.is_over.is_set():
            self.page.report = json.loads(body)
            self.page.is_over.set()

    def _answer(self, content_type: str, body: bytes):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Discards requests; the browser's own messages are kept."""
