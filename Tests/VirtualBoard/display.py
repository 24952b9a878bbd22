"""The preview's displays in the guest, what is on them, and what a stream with a preview must keep to. vkms has planes like a
board's display hardware, and is read back through its writeback connector. virtio-gpu accepts no YUV, and is read back by QEMU."""

import re
import subprocess

import numpy
from encoder import Appliance, Publisher, Stream, assert_decodes, set_faults
from leases import ENCODER_HOLDS, Leases, mount_debug

WIDTH, HEIGHT = 640, 360
CAMERA = f"v4l2:/dev/video0,size={WIDTH}x{HEIGHT},format=NV12"
# A frame that the encoder copies has 345 kB: at a higher rate the guest on a slow machine would lose some.
SLOW_CAMERA = f"{CAMERA},fps=5"
LEASE = (f"--dimension {WIDTH}x{HEIGHT}", "--quality Low3", "--adapt nothing")
# Who may hold a buffer's memory while no program reads it: the leased descriptor and the encoder; and the display with the
# kernel's import for it, the card's list of the program's imports, and a descriptor while it takes a frame.
UNSEEN = 1 + ENCODER_HOLDS
DISPLAY_HOLDS = 3
# vkms' own mode.
SCREEN = 1024, 768


class Display:
    """A graphics card of the guest, by its driver's module."""

    def __init__(self, board, module: str, words: str = ""):
        self.board = board
        self.module = module
        before = set(self._connectors())
        board.run(f"modprobe {module} {words}")
        (self.path,) = [path for path in self._connectors() if path not in before]
        self.connector = re.search(r"card\d+-(.*)", self.path)[1]

    def _connectors(self) -> list[str]:
        return self.board.run("ls -d /sys/class/drm/card*-Virtual-* 2>/dev/null", check=False).text.split()

    def plug(self, state: str) -> None:
        """`on`, `off`, or `detect` (its real state)."""
        self.board.run(f"echo {state} > {self.path}/status")

    def state(self) -> str:
        """The kernel's report about its planes."""
        mount_debug(self.board)
        number = re.search(r"card(\d+)-", self.path)[1]
        return self.board.run(f"cat /sys/kernel/debug/dri/{number}/state").text

    def planes(self) -> list[str]:
        """The planes that show something, from back to front."""
        parts = re.split(r"^plane\[", self.state().split("\ncrtc[")[0], flags=re.MULTILINE)[1:]
        return [part for part in parts if "\tfb=0" not in part]

    def end(self) -> None:
        self.board.end_all()
        for path in self.board.run("ls -d /sys/class/vtconsole/vtcon*").text.split():
            self.board.run(f"grep -q 'frame buffer' {path}/name && echo 0 > {path}/bind", check=False)
        self.board.run(f"rmmod {self.module}")


def read_back(program: Publisher | Appliance) -> numpy.ndarray:
    """The content of vkms' screen; the program is stopped for a moment."""
    pid = program.process.pid
    program.board.run(f"/tmp/screen {pid} > /tmp/screen.ppm; status=$?; kill -CONT {pid}; exit $status")
    return pixels(program.board.get("/tmp/screen.ppm"))


def pixels(ppm: bytes) -> numpy.ndarray:
    magic, size, depth, data = ppm.split(b"\n", 3)
    assert (magic, depth) == (b"P6", b"255")
    width, height = map(int, size.split())
    return numpy.frombuffer(data, numpy.uint8).reshape(height, width, 3)


def received(stream: Stream, matrix: str = "bt601") -> numpy.ndarray:
    """The last copied frame as the server received it, as RGB, in the range that the stream declares."""
    copied = [index for index, frame in enumerate(stream.recording.frames) if len(frame.body) > WIDTH * HEIGHT]
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(stream.recording.path), "-vf",
         f"select=eq(n\\,{copied[-1]}),scale={WIDTH}:{HEIGHT}:in_color_matrix={matrix}:flags=accurate_rnd+full_chroma_int,"
         "format=rgb24",
         "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
        capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    return numpy.frombuffer(run.stdout, numpy.uint8).reshape(HEIGHT, WIDTH, 3)


def in_size_of_stream(image: numpy.ndarray) -> numpy.ndarray:
    """For each of the stream's pixels, the pixel of the screen that shows it."""
    rows = (2 * numpy.arange(HEIGHT) + 1) * image.shape[0] // (2 * HEIGHT)
    columns = (2 * numpy.arange(WIDTH) + 1) * image.shape[1] // (2 * WIDTH)
    return image[rows][:, columns]


def difference(shown: numpy.ndarray, sent: numpy.ndarray) -> float:
    """Compares the area above the words, which cover the lower edge."""
    part = numpy.s_[: HEIGHT * 5 // 6]
    return numpy.abs(shown[part].astype(int) - sent[part].astype(int)).mean()


def still_camera(board) -> None:
    """Uses the camera's test pattern without its clock, so that all frames are the same."""
    board.run("v4l2-ctl -d /dev/video0 -c osd_text_mode=2")


def wait_shown(publisher: Publisher) -> None:
    """Waits until frames are on the screen. By then the preview has settled how it shows them."""
    publisher.wait_status(lambda status: status.get("previewFrames", 0) > 5, 60)


def let_frames_be_copied(publisher: Publisher) -> None:
    """Makes the encoder copy some frames unchanged, so that the server gets them sample by sample. Only some, as they are too
    large for a slow machine's network, and with other frames after them, so that they have arrived when the stream ends.
    The number of frames is up to a second old, five or six frames."""
    for lossless in (1, 0):
        set_faults(publisher.board, lossless=lossless)
        publisher.wait_frames(publisher.frames + 10)


def assert_each_is_shown_or_lost(stream) -> None:
    """Checks that while a display is lit, each frame for the encoder is offered to it, and counted when the next one
    follows."""
    lit = [status for status in stream.of("status") if status.get("previewFrames", 0) > 0]
    first, last = lit[0], lit[-1]
    assert last["sourceFrames"] > first["sourceFrames"] + 20
    grown = {name: last[name] - first[name] for name in last if name.startswith(("preview", "source", "videoDecimated"))}
    offered = grown["sourceFrames"] + grown["sourceRepeated"] - grown["videoDecimated"]
    # One waiting, one being shown, and one between the camera and the display.
    assert abs(offered - grown["previewFrames"] - grown["previewLost"]) <= 3, (first, last)


def assert_whole(stream, is_converted: bool = False) -> None:
    """Checks that the preview cost the published stream nothing."""
    assert_decodes(stream)
    assert 1104 not in stream.codes and 1103 not in stream.codes, stream.codes
    last = stream.of("status")[-1]
    assert last["sourcePasses"] == 0, last
    # Filters read each frame.
    assert is_converted or "filters" in last or last["sourceMapped"] == 0, last
    assert last["previewFrames"] > 0, last
    assert last["previewConverted"] == (last["previewFrames"] if is_converted else 0), last


def assert_held_soon(leases: Leases, at_most: int) -> None:
    """Waits until few enough hold the buffers. A program that queries the kernel about a buffer holds it during the call, and a
    card that was just closed releases its imports a moment after the next one has made its own. Whatever is kept for good is
    still held later."""
    end = leases.board.seconds + 5
    while True:
        try:
            return leases.assert_held(at_most)
        except AssertionError:
            if leases.board.seconds > end:
                raise
