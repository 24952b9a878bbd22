"""The shipped program as the webcam of a computer, which is `usb_host`."""

import subprocess

import numpy
from burnt_in_clock import Reading, read_strip
from encoder import Appliance
from guest_process import GuestProcess

CONFIGFS = "/sys/kernel/config/usb_gadget"
# The formats as a computer reads them: uvcvideo's names with ffmpeg's.
FORMATS = {"MJPG": "mjpeg", "NV12": "nv12", "YUYV": "yuyv422"}
SMALL = {"dimension": "640x480", "webcam": True}


class Webcam:
    """`tallycam run` in the guest, plugged into the guest's computer."""

    def __init__(self, board, nginx, host, wiring: dict | None = None, **device):
        self.board = board
        self.host = host
        self.camera = Appliance(board, nginx, "webcam", wiring, **(SMALL | device))
        self.plug()

    def plug(self) -> None:
        self.host.plug()
        self.node = self.host.video_node()
        self.wait_for_state("attached")

    @property
    def state(self) -> dict:
        return self.camera.wait(lambda status: "webcam" in status)["webcam"]

    def wait_for_state(self, state: str) -> dict:
        return self.camera.wait(lambda status: status.get("webcam", {}).get("state") == state)["webcam"]

    def record(self, coding: str, size: str, count: int, rate: int = 30) -> numpy.ndarray:
        """The luma of frames as a program on the computer receives them, decoded by ffmpeg there."""
        width, height = map(int, size.split("x"))
        data = self.read(coding, size, count, rate)
        return numpy.frombuffer(decoded(data, "gray", *source_words(coding, size)), numpy.uint8).reshape(-1, height, width)

    def read(self, coding: str, size: str, count: int, rate: int = 30) -> bytes:
        width, height = size.split("x")
        self.board.run(
            f"v4l2-ctl -d {self.node} --set-fmt-video=width={width},height={height},pixelformat={coding} --set-parm={rate} "
            f"--stream-mmap --stream-count={count} --stream-to=/tmp/frames",
            timeout=200,
        )
        return self.board.get("/tmp/frames")

    def end(self) -> None:
        """Checks that the program ends and leaves nothing behind."""
        self.host.unplug()
        if not self.camera.process.has_ended:
            self.camera.process.signal("TERM")
            self.camera.process.wait(30)
        assert self.board.run(f"ls -A {CONFIGFS}").text == ""


def source_words(coding: str, size: str) -> list[str]:
    return ["-f", "mjpeg"] if coding == "MJPG" else ["-f", "rawvideo", "-pix_fmt", FORMATS[coding], "-s", size]


def decoded(data: bytes, pixels: str, *source: str, filters: str = "null") -> bytes:
    out = ["-vf", filters, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixels, "-"]
    run = subprocess.run(["ffmpeg", "-v", "error", *source, "-i", "-", *out], input=data, capture_output=True, check=True, timeout=100)
    assert run.stderr == b"", run.stderr.decode()
    return run.stdout


def readings_of(frames: numpy.ndarray) -> list[Reading]:
    """The readings that are burnt into the test source's frames; each is intact."""
    height, width = frames.shape[1:]
    return [read_strip(memoryview(frame.tobytes()), width, height) for frame in frames]


def without_cards(frames: numpy.ndarray) -> numpy.ndarray:
    """The frames without the leading title cards (words on black), which appear where the camera takes longer than a second to
    open."""
    is_card = (frames < 20).reshape(len(frames), -1).mean(axis=1) > 0.9
    first = len(frames) if is_card.all() else int(numpy.argmin(is_card))
    return frames[first:]


def numbers_of(frames: numpy.ndarray) -> list[int]:
    return [reading.number for reading in readings_of(frames)]


def look(camera: Webcam, options: str = "") -> GuestProcess:
    """A program on the computer that keeps receiving frames."""
    program = camera.board.start(f"exec v4l2-ctl -d {camera.node} {options} --stream-mmap --stream-to=/dev/null")
    program.wait_for("<", 30)
    camera.wait_for_state("active")
    return program
