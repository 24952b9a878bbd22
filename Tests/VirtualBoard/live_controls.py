"""A stream whose camera's controls are changed, and what the frames at the server show of it."""

import re
import subprocess

from encoder import Publisher, assert_decodes
from pi_camera import IMX708, Frame, fields_of

WIDTH, HEIGHT = 640, 360
# The scene has a color near each corner; these are the colors of a frame that is neither mirrored nor flipped.
CORNERS = ((2, 2), (13, 2), (2, 9), (13, 9))
UPRIGHT = ["red", "green", "blue", "yellow"]


class Live(Publisher):
    """A stream whose controls are changed, and what it showed after each change."""

    def __init__(self, board, nginx, name: str, *options: str, source: str = f"libcamera:{IMX708}"):
        super().__init__(
            board, nginx, name, "--commands", "--quality Medium3 --adapt nothing",
            f"--dimension {WIDTH}x{HEIGHT}", *options, source=source)  # fmt: skip
        self.moments: list[int] = []
        self.wait_live()
        self.wait_frames(20)

    def _answers(self) -> list[dict]:
        return [event for event in self.events if event["name"] in ("controlled", "refused")]

    def set(self, *changes: str) -> str:
        """Sends all changes in one line, and returns the camera's report."""
        before = len(self._answers())
        self.command(f"set {' '.join(changes)}")
        self.wait(lambda: len(self._answers()) > before, 20, "no answer")
        answer = self._answers()[before]
        return answer.get("controls") or f"refused: {answer['reason']}"

    def _statuses(self) -> list[dict]:
        return [event for event in self.events if event["name"] == "status"]

    def look(self, seconds: int = 2) -> int:
        """The number of a frame that is shown the given number of statuses (one per second) after a change."""
        count = len(self._statuses()) + seconds
        self.wait(lambda: len(self._statuses()) >= count, 30, "too few statuses")
        self.moments.append(self._statuses()[count - 1]["videoFrames"] - 1)
        return len(self.moments) - 1

    def shown(self) -> list[Frame]:
        """Ends the stream, and returns the frames of the recorded moments."""
        stream = self.stop()
        assert_decodes(stream)
        assert self.last_status["sourceInterruptions"] == 0, self.last_status
        self.all = frames_of(self.nginx, self.name)
        return [self.all[min(moment, len(self.all) - 1)] for moment in self.moments]

    def shown_between(self, earlier: int, later: int) -> list[Frame]:
        """After `shown`: the frames from one recorded moment until another."""
        return self.all[self.moments[earlier] : self.moments[later]]


def frames_of(nginx, name: str) -> list[Frame]:
    """Each sent frame once. By default ffmpeg would repeat frames where a slow guest has left gaps."""
    words = ["ffmpeg", "-v", "error", "-i", str(nginx.recording(name)), "-fps_mode", "passthrough", "-f", "rawvideo",
             "-pix_fmt", "nv12", "-"]  # fmt: skip
    data = subprocess.run(words, check=True, stdout=subprocess.PIPE, timeout=120).stdout
    size = WIDTH * HEIGHT * 3 // 2
    return [fields_of(data[at : at + size], WIDTH, HEIGHT) for at in range(0, len(data), size)]


def brightness(frame: Frame) -> float:
    return sum(field[0] for field in frame["fields"]) / len(frame["fields"])


def color(frame: Frame) -> float:
    """The distance of the most colorful field from gray."""
    return max(abs(field[1] - 128) + abs(field[2] - 128) for field in frame["fields"])


def spread(frame: Frame) -> float:
    levels = [field[0] for field in frame["fields"]]
    return max(levels) - min(levels)


def corners(frame: Frame) -> list[str]:
    return [frame.field(*place).color for place in CORNERS]


def bars(frame: Frame) -> int:
    """The number of different colors in a row."""
    row = [(field[1] // 24, field[2] // 24) for field in frame["fields"][5 * 16 : 6 * 16]]
    return 1 + sum(left != right for left, right in zip(row, row[1:]))


def said(answer: str, words: str) -> float:
    found = re.search(words, answer)
    assert found, answer
    return float(found[1])


def first(frames: list[Frame], has_changed) -> int:
    changed = [index for index, frame in enumerate(frames) if has_changed(frame)]
    assert changed, "no frame has changed"
    return changed[0]
