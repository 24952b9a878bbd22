"""How far the preview is behind the camera: by the clock that the test pattern draws into each frame. The camera, the browser
and the tests have the same clock, CLOCK_MONOTONIC."""

import struct
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from browser import Browser
from burnt_in_clock import COLUMNS, ROWS, Reading, read_bits, read_strip
from page_client import Page
from processes import HUNG, Unfinished

# The video is drawn when the browser says that a frame is shown, or else at each of its refreshes. The strip's bits go
# back with the time at which the frame is on the screen: that of the drawing, or the one that the browser expects, if later.
WATCH = """
const [columns, rows] = arguments;
const canvas = document.createElement("canvas");
const context = canvas.getContext("2d", { willReadFrequently: true });
window.shown = [];
function read(video) {
  const [width, height] = [video.videoWidth, video.videoHeight];
  if (width === 0) return null;
  const block = Math.max(2, Math.min(Math.floor(width / columns), Math.floor(height / 12)));
  if (canvas.width !== width) [canvas.width, canvas.height] = [width, rows * block];
  context.drawImage(video, 0, height - rows * block, width, rows * block, 0, 0, width, rows * block);
  const { data } = context.getImageData(0, 0, width, rows * block);
  let bits = "";
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const y = row * block + Math.floor(block / 2);
      const x = Math.floor((2 * column + 1) * width / (2 * columns));
      bits += data[4 * (y * width + x)] >= 128 ? "1" : "0";
    }
  }
  return bits;
}
function show(video, metadata) {
  const now = performance.now();
  const bits = read(video);
  if (bits) window.shown.push([bits, Math.max(now, metadata?.expectedDisplayTime ?? 0)]);
  if (window.shown.length > 3000) window.shown.shift();
  next(video);
}
function next(video) {
  if (video.requestVideoFrameCallback) video.requestVideoFrameCallback((_, metadata) => show(video, metadata));
  else requestAnimationFrame(() => show(video));
}
let watched = null;
setInterval(() => {
  const video = document.querySelector("video");
  if (!video || video === watched) return;
  watched = video;
  next(video);
}, 50);
"""


# A third of a second of a preview at 15 frames a second. A busy machine may never be fast enough for longer: a Chromium that has
# shown all that has arrived lets up to 1.6 s gather (measured), and the page makes up for it only until that happens again.
IN_A_ROW = 5


@dataclass(frozen=True)
class Shown:
    """A frame that someone got to see, times in seconds of CLOCK_MONOTONIC."""

    number: int
    captured: float
    time: float

    @property
    def delay(self) -> float:
        return self.time - self.captured


class WatchedPreview:
    """The page's preview in a browser. `page.show(browser, "picture")` comes first."""

    def __init__(self, browser: Browser):
        self.browser = browser
        # All frames up to the last call of `take`.
        self.former: list[Shown] = []
        browser.script(WATCH, COLUMNS, ROWS)
        # The browser's clock has another origin. Of several looks at it, the shortest is the most exact. Its end counts: no
        # delay is measured shorter than it is.
        self.origin = min(self._look() for _ in range(20))

    def _look(self) -> float:
        milliseconds = self.browser.script("return performance.now()")
        return time.monotonic() - milliseconds / 1000

    def take(self) -> list[Shown]:
        """The frames since the last call, each when it was first seen."""
        found = []
        for bits, milliseconds in self.browser.script("return window.shown.splice(0)"):
            reading = read_bits(bits)
            frame = Shown(reading.number, reading.milliseconds / 1000, self.origin + milliseconds / 1000)
            latest = (found or self.former)[-1:]
            if not latest or latest[0].number != frame.number:
                found.append(frame)
        self.former += found
        return found

    def wait_until_within(self, seconds: float) -> list[Shown]:
        """Waits for frames in a row that were all shown so soon after their capture."""
        frames: list[Shown] = []

        def holds() -> bool:
            for frame in self.take():
                frames[:] = [*frames, frame] if frame.delay < seconds else []
                if len(frames) == IN_A_ROW:
                    return True
            return False

        try:
            self.browser.process.wait_until(holds, f"preview that is {seconds} s behind", interval=0.1)
        except Unfinished as unfinished:
            delays = [round(frame.delay, 3) for frame in self.former]
            raise AssertionError(f"{unfinished}\ndelays: {delays}") from None
        return frames


class PlainViewer:
    """A WebSocket that gets the same fragments and shows nothing: what camera, encoder and server take."""

    def __init__(self, page: Page):
        self.socket = page.socket("/api/v1/preview")
        self.size = (0, 0)
        self.segments: list[tuple[float, bytes]] = []
        # Whether the camera has ended the connection.
        self.is_closed = False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        start = {}
        while "init" not in start:
            start = self.socket.read_json()
        self.size = (start["init"]["width"], start["init"]["height"])
        try:
            while (frame := self.socket.read())[0] != 8:
                if frame[0] == 2:
                    self.segments.append((time.monotonic(), frame[1]))
                elif frame[0] == 9:
                    self.socket.send(10, frame[1])
        except (EOFError, OSError):
            pass
        self.is_closed = True

    def end(self) -> None:
        self.socket.end()
        self.thread.join()

    def frames(self) -> list[Shown]:
        """After the end, of a video in one size: all frames, each at the moment at which its fragment was there."""
        segments = list(self.segments)
        times = [at for at, data in segments for _ in range(video_samples(data))]
        width, height = self.size
        frames, size = memoryview(_decoded(b"".join(data for _, data in segments))), width * height
        readings = [read_strip(frames[at : at + size], width, height) for at in range(0, len(frames), size)]
        return [Shown(reading.number, reading.milliseconds / 1000, at) for reading, at in zip(readings, times, strict=True)]


def share(frames: list[Shown], part: float) -> float:
    """The delay that this part of the frames stays below, in seconds."""
    delays = sorted(frame.delay for frame in frames)
    return delays[min(len(delays) - 1, int(part * len(delays)))]


def frame_on_screen(browser: Browser, path: Path) -> Reading:
    """Reads the frame from a screenshot, at a device pixel ratio of 1."""
    box = browser.script("""
        const video = document.querySelector("video");
        const box = video.getBoundingClientRect();
        const scale = Math.min(box.width / video.videoWidth, box.height / video.videoHeight);
        const [width, height] = [video.videoWidth * scale, video.videoHeight * scale];
        return [width, height, box.left + (box.width - width) / 2, box.top + (box.height - height) / 2];""")
    width, height, left, top = map(round, box)
    words = ["ffmpeg", "-v", "error", "-i", browser.screenshot(path), "-vf", f"crop={width}:{height}:{left}:{top},scale=320:240:flags=area",
             "-f", "rawvideo", "-pix_fmt", "gray", "-"]  # fmt: skip
    run = subprocess.run(words, capture_output=True, check=True, timeout=HUNG)
    return read_strip(memoryview(run.stdout), 320, 240)


def _decoded(movie: bytes) -> bytes:
    """The luma of all frames."""
    words = ["ffmpeg", "-v", "error", "-i", "-", "-map", "0:v", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    return subprocess.run(words, input=movie, capture_output=True, check=True, timeout=HUNG).stdout


def video_samples(segment: bytes, video: int = 1) -> int:
    """Samples of the video track in a fragment; none in an initialization segment."""
    count = 0
    for kind, content in _boxes(segment):
        if kind == b"moof":
            for inner, traf in _boxes(content):
                parts = dict(_boxes(traf)) if inner == b"traf" else {}
                if parts and struct.unpack_from(">I", parts[b"tfhd"], 4)[0] == video:
                    count += struct.unpack_from(">I", parts[b"trun"], 4)[0]
    return count


def _boxes(data: bytes):
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + length]
        at += length
