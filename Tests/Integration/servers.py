"""RTMP servers for one test: nginx with its RTMP module, ffmpeg, and the product itself."""

import contextlib
import random
import socket
import time
from pathlib import Path

from processes import HUNG, Children, Process, Unfinished

NGINX_CONFIGURATION = """
load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
daemon off; master_process off; user root;
pid "{directory}/nginx.pid";
error_log "{directory}/nginx.log" info;
events {{ worker_connections 256; }}
rtmp {{
  server {{
    listen {host}:{port};
    chunk_size 4096;
    application live {{
      live on; sync 0; wait_key off; wait_video off;
      record all; record_path "{directory}/recordings"; record_unique {unique}; record_suffix .flv;
      hls {hls}; hls_path "{directory}/hls"; hls_fragment 1s; hls_playlist_length 10m; hls_cleanup off;
      {directives}
    }}
  }}
}}
"""


_given_ports: set[int] = set()


def free_port() -> int:
    """A TCP port on loopback that is not in use now, and that was not given before. It is below the range from which the kernel
    gives ports to connections, one of which could take it before the server does."""
    while True:
        port = random.SystemRandom().randrange(10000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            if port not in _given_ports:
                probe.bind(("127.0.0.1", port))
                _given_ports.add(port)
                return port


def wait_for_listener(process: Process, port: int) -> None:
    """Waits until the port is listened on, without connecting, because some servers accept only one client."""
    process.wait_until(lambda: is_listening(port, process), f"listener on port {port}")


def is_listening(port: int, process: Process) -> bool:
    """In the process's own network namespace."""
    entry = f":{port:04X} "
    try:
        lines = Path(f"/proc/{process.child.pid}/net/tcp").read_text().splitlines()
    except OSError:
        return False
    return any(entry in line and line.split()[3] == "0A" for line in lines)


class NginxRTMP:
    """nginx, recording each stream of the application `live` into a separate FLV file."""

    def __init__(
        self, children: Children, host: str = "127.0.0.1", prefix: tuple = (), unique: bool = False,
        hls: bool = False, directives: str = "",
    ):  # fmt: skip
        """`prefix` is a command that runs nginx; with `unique`, every connection gets its own recording; `directives` are
        further nginx directives for the application."""
        self.host = host
        self.prefix = prefix
        self.children = children
        self.port = free_port()
        self.directory = children.directory
        self.recordings = children.directory / "recordings"
        self.recordings.mkdir(exist_ok=True)
        self.configuration = children.directory / "nginx.conf"
        self.configuration.write_text(
            NGINX_CONFIGURATION.format(
                directory=self.directory, host=host, port=self.port, unique="on" if unique else "off",
                hls="on" if hls else "off", directives=directives,
            )  # fmt: skip
        )
        self.start()

    def start(self) -> None:
        self.process = self.children.start(
            "nginx", [*self.prefix, "nginx", "-p", self.directory, "-c", self.configuration]
        )
        wait_for_listener(self.process, self.port)

    def url(self, name: str) -> str:
        return f"rtmp://{self.host}:{self.port}/live/{name}"

    def playlist(self, name: str) -> Path:
        """The HLS playlist of a stream. It is complete once `recording` has returned, because nginx finishes HLS first."""
        return self.directory / "hls" / f"{name}.m3u8"

    def all_recordings(self) -> list[Path]:
        """In the order they were started."""
        return sorted(self.recordings.glob("*.flv"), key=lambda path: path.name)

    def recording(self, name: str) -> Path:
        """The recording of a finished stream, which nginx closes a moment later."""
        path = self.recordings / f"{name}.flv"
        deadline = time.monotonic() + HUNG
        while not (path.exists() and not self._holds_open(path)):
            if time.monotonic() > deadline:
                raise Unfinished(f"nginx did not finish {path}\n{self.log[-2000:]}")
            time.sleep(0.05)
        return path

    def _holds_open(self, path: Path) -> bool:
        descriptors = Path(f"/proc/{self.process.child.pid}/fd")
        for descriptor in descriptors.iterdir():
            try:
                if descriptor.readlink() == path:
                    return True
            except FileNotFoundError:
                continue
        return False

    @property
    def log(self) -> str:
        path = self.directory / "nginx.log"
        return path.read_text(errors="replace") if path.exists() else ""


class FFmpegListener:
    """`ffmpeg -listen 1`, recording its one client by copy."""

    def __init__(self, children: Children):
        self.port = free_port()
        self.path = children.directory / f"ffmpeg-listen-{self.port}.flv"
        self.process = children.start("ffmpeg-listen", [
            "ffmpeg", "-v", "error", "-listen", "1", "-i", self.url("x"),
            "-c", "copy", "-copyts", self.path,
        ])  # fmt: skip
        wait_for_listener(self.process, self.port)

    def url(self, name: str) -> str:
        return f"rtmp://127.0.0.1:{self.port}/live/{name}"

    def recording(self, name: str = "x") -> Path:
        status = self.process.wait()
        if status != 0:
            raise Unfinished(f"ffmpeg did not take the stream\n{self.process.report()}")
        return self.path
