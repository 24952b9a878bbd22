"""The Raspberry Pi's camera on the virtual board: its module's parameters, libcamera's reports about frames, and the frames'
content.

The scene is `FIELDS` of board/virtual/pi-camera/scene.c: 16 by 12, mostly gray, with a color near each corner.
"""

import io
import json
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from board import CHECKOUT, Board

MODULE = "virtual_pi_camera"
PARAMETERS = f"/sys/module/{MODULE}/parameters"
# Depths of the scene's planes, in 1/100 dioptre.
MIDDLE, NEAR = 400, 800
IMX708 = "/base/soc/i2c0mux/i2c@1/imx708@1a"
IMX219 = "/base/soc/i2c0mux/i2c@0/imx219@10"
# The sensor's mode that covers the whole scene.
WHOLE = "sensor=2304x1296"
COLUMNS, ROWS = 16, 12
# With `color_bars` the sensor delivers these instead: white, yellow, cyan, green, magenta, red, blue, black.
BARS = [tuple(0 if bar & bit else 255 for bit in (2, 4, 1)) for bar in range(8)]


def compile_probe(folder: Path) -> Path:
    path = folder / "camera_probe"
    words = [
        "clang++", "--target=aarch64-linux-gnu", "-static", "-std=c++17", "-O1", "-fuse-ld=lld", "-Wall", "-Wextra", "-Werror",
        "-isystem", "/usr/include/libcamera", str(Path(__file__).with_name("camera_probe.cpp")), "-o", str(path),
        "-Wl,--gc-sections,-s", "-lcamera", "-lyaml", "-lyuv", "-ljpeg", "-lstdc++", "-pthread",
    ]  # fmt: skip
    subprocess.run(words, check=True, timeout=300)
    return path


def install_probe(board: Board, probe: Path) -> None:
    board.put("/tmp/camera_probe", probe, "755")


def install_tuning_files(board: Board) -> None:
    """Those of libcamera, which reads them when it opens a camera."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(CHECKOUT / "out/aarch64/share/libcamera/ipa/rpi", "rpi")
    board.run("mkdir -p /usr/share/libcamera/ipa && tar -x -C /usr/share/libcamera/ipa", stdin=packed.getvalue())


def is_loaded(board: Board) -> bool:
    return board.run(f"[ -e {PARAMETERS} ]", check=False).status == 0


def unload(board: Board) -> None:
    if is_loaded(board):
        board.run(f"rmmod {MODULE}")


def load(board: Board, words: str = "") -> None:
    unload(board)
    board.run(f"insmod /board/pi-camera.ko {words}")


def set_parameters(board: Board, **values: int | str) -> None:
    board.run("; ".join(f"echo {value} > {PARAMETERS}/{name}" for name, value in values.items()))


def nodes(board: Board) -> dict[str, str]:
    """The module's nodes by their names; the first of two with the same name."""
    lines = board.run('for node in /sys/class/video4linux/*; do echo "${node##*/} $(cat $node/name)"; done').text.splitlines()
    found: dict[str, str] = {}
    for line in lines:
        node, _, name = line.partition(" ")
        if name.startswith(("bcm2835-isp", "unicam", "imx", "dw9807")):
            found.setdefault(name, f"/dev/{node}")
    return found


@dataclass
class Field:
    """The mean of a sixteenth of a frame's width and a twelfth of its height."""

    y: float
    cb: float
    cr: float
    # The standard deviation of Y, a measure of how sharp its stripes are.
    spread: float

    @property
    def color(self) -> str:
        if abs(self.cb - 128) < 12 and abs(self.cr - 128) < 12:
            return "gray"
        if self.cb > 140:
            return "blue"
        if self.cb < 80 and self.cr > 118:
            return "yellow"
        return "red" if self.cr > 145 else "green"


class Frame(dict):
    """What libcamera reports about a frame."""

    def field(self, column: int, row: int) -> Field:
        return Field(*self["fields"][row * COLUMNS + column])

    def numbers(self, name: str) -> list[float]:
        """The values of a list as libcamera prints it."""
        return [float(part) for part in self[name].strip("[] ").split(",")]


@dataclass
class Shots:
    description: dict
    frames: list[Frame]

    @property
    def last(self) -> Frame:
        return self.frames[-1]

    def settled(self, name: str, within: float) -> int:
        """The number of the first frame from which this value stays close to its last value: within `within`, a share of it."""
        last = self.last[name]
        away = [index for index, frame in enumerate(self.frames) if abs(frame[name] - last) > within * abs(last)]
        return away[-1] + 1 if away else 0


def shoot(board: Board, count: int, *words: str, camera: str = "imx708", size: str = "640x360", timeout: float = 90) -> Shots:
    """Takes frames through libcamera alone, in a file that uses the fixture `camera_probe`; `words` are the probe's arguments."""
    output = board.run(f"/tmp/camera_probe {camera} {size} {count} {' '.join(words)} 2>/tmp/probe.log", timeout=timeout)
    lines = [json.loads(line) for line in output.text.splitlines()]
    assert len(lines) == count + 1, output.text[-2000:]
    return Shots(lines[0], [Frame(line) for line in lines[1:]])


def fields_of(data: bytes, width: int, height: int) -> Frame:
    """The fields of an NV12 frame without padding, as the program saves it."""
    fields = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            left, top = (2 * column + 1) * width // (2 * COLUMNS), (2 * row + 1) * height // (2 * ROWS)
            luma = [data[top * width + x] for x in range(left - 8, left + 8)]
            at = width * height + top // 2 * width + left // 2 * 2
            fields.append([sum(luma) / len(luma), data[at], data[at + 1], max(luma) - min(luma)])
    return Frame(fields=fields)
