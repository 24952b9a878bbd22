#!/usr/bin/env python3
"""Runs the demo in a terminal and draws docs/demo.png: a still frame of the stream beside the terminal's content.

Usage: scripts/in-build-root python3 scripts/demo-image.py   (or make demo-image)

Text and numbers come from this run: at the upper right the terminal at the moment of the still frame, below it the final
report. ffmpeg draws everything; neither a display nor an image library is needed.
"""

import copy
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
TARGET = CHECKOUT / "docs/demo.png"
COLUMNS, ROWS = 80, 60
# The live view's first line at the moment of the still frame that scripts/demo takes.
MOMENT = re.compile(r"^ LIVE .* 0:07$")
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
# At this size a character is 9 pixels wide, without a fraction.
FONT_SIZE, CELL, LINE = 15, 9, 19
STILL_WIDTH, STILL_HEIGHT, MARGIN = 512, 384, 20
BACKGROUND, PLAIN = "0x16181d", "0xd5d8de"
# The foreground and background colors of the live view, by their SGR numbers (ECMA-48).
FOREGROUNDS = {30: "0x16181d", 31: "0xe05561", 32: "0x8cc265", 33: "0xd18f52", 97: "0xffffff"}
BACKGROUNDS = {41: "0xc4232f", 43: "0xd18f52", 100: "0x5c6370"}


@dataclass(frozen=True)
class Style:
    foreground: str = PLAIN
    background: str | None = None

    def changed(self, number: int) -> "Style":
        if number == 0:
            return Style()
        return Style(FOREGROUNDS.get(number, self.foreground), BACKGROUNDS.get(number, self.background))


class Terminal:
    """The features of a terminal that the live view needs: colors, moving up, clearing, wrapping."""

    SEQUENCE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|(.)", re.DOTALL)

    def __init__(self):
        self.lines: list[list[tuple[str, Style]]] = [[]]
        self.row = self.column = 0
        self.style = Style()

    def feed(self, text: str) -> None:
        for numbers, command, character in self.SEQUENCE.findall(text):
            if character:
                self._put(character)
            else:
                self._perform(command, [int(number or 0) for number in numbers.split(";")])

    def text(self) -> list[str]:
        return ["".join(character for character, _ in line).rstrip() for line in self.lines]

    def _put(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self._go_down()
        else:
            if self.column == COLUMNS:
                self._go_down()
                self.column = 0
            line = self.lines[self.row]
            line += [(" ", Style())] * (self.column - len(line))
            line[self.column : self.column + 1] = [(character, self.style)]
            self.column += 1

    def _go_down(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])

    def _perform(self, command: str, numbers: list[int]) -> None:
        if command == "m":
            for number in numbers:
                self.style = self.style.changed(number)
        elif command == "A":
            self.row = max(0, self.row - max(1, numbers[0]))
        elif command in "JK":
            del self.lines[self.row][self.column :]
            if command == "J":
                del self.lines[self.row + 1 :]
        else:
            sys.exit(f"demo-image: the terminal does not know the sequence CSI {command}")


def run_demo() -> tuple[Terminal, Terminal]:
    """The terminal at the moment of the still frame, and at the end."""
    child, descriptor = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.chdir(CHECKOUT)
        os.execvpe("scripts/demo", ["scripts/demo"], {**os.environ, "TERM": "xterm"})
    terminal, moment, rest = Terminal(), None, b""
    terminal.feed("$ make demo\r\n")
    while True:
        try:
            rest += os.read(descriptor, 65536)
        except OSError:
            break  # EIO: the last process on the terminal has ended.
        # Complete lines only; the view's last line is complete, too.
        whole, _, rest = rest.rpartition(b"\n")
        terminal.feed(whole.decode() + ("\n" if whole else ""))
        if moment is None and any(map(MOMENT.match, terminal.text())) and terminal.text()[-2] == ">":
            moment = copy.deepcopy(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0 or moment is None:
        sys.exit(f"demo-image: the demo ended with status {status}:\n" + "\n".join(terminal.text()))
    return moment, terminal


def runs(line: list[tuple[str, Style]]) -> list[tuple[int, str, Style]]:
    """The parts of a line that share a style, with their columns."""
    found: list[tuple[int, str, Style]] = []
    for column, (character, style) in enumerate(line):
        if found and found[-1][2] == style:
            found[-1] = (found[-1][0], found[-1][1] + character, style)
        else:
            found.append((column, character, style))
    return found


def drawn(lines: list[list[tuple[str, Style]]], left: int, top: int, folder: Path) -> list[str]:
    """ffmpeg's filters that draw these lines; the texts are passed unchanged in files."""
    filters = []
    for row, line in enumerate(lines):
        for column, text, style in runs(line):
            x, y = left + column * CELL, top + row * LINE
            if style.background:
                filters.append(f"drawbox=x={x}:y={y - 2}:w={len(text) * CELL}:h={LINE}:color={style.background}:t=fill")
            if text.strip():
                file = folder / f"text-{left}-{top}-{row}-{column}"
                file.write_text(text)
                filters.append(
                    f"drawtext=fontfile={FONT}:fontsize={FONT_SIZE}:fontcolor={style.foreground}:x={x}:y={y}"
                    f":y_align=font:expansion=none:textfile={file}"
                )
    return filters


def draw(moment: Terminal, end: Terminal) -> None:
    live = moment.lines[: len(moment.text()) - 2]
    report = end.lines[end.text().index("What arrived") :]
    below = MARGIN + max(STILL_HEIGHT, len(live) * LINE) + MARGIN
    width = 3 * MARGIN + STILL_WIDTH + COLUMNS * CELL
    height = below + len(report) * LINE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = drawn(live, 2 * MARGIN + STILL_WIDTH, MARGIN, folder)
        texts += drawn(report, MARGIN, below, folder)
        graph = (
            f"[0:v]scale={STILL_WIDTH}:{STILL_HEIGHT}[still];[1:v][still]overlay=x={MARGIN}:y={MARGIN},"
            + ",".join(texts)
            + ",split[one][other];[one]palettegen[palette];[other][palette]paletteuse=dither=none"
        )
        (folder / "graph").write_text(graph)
        words = ["ffmpeg", "-v", "error", "-y", "-i", CHECKOUT / "out/demo.png", "-f", "lavfi"]
        # One second: the palette is chosen at the end.
        words += ["-i", f"color={BACKGROUND}:size={width}x{height}:rate=1:duration=1"]
        words += ["-/filter_complex", folder / "graph", "-frames:v", "1", TARGET]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL, timeout=60)


def main() -> None:
    if sys.argv[1:] in (["--help"], ["-h"]):
        return print(__doc__.strip())
    if len(sys.argv) > 1:
        sys.exit(f"demo-image: unknown argument {sys.argv[1]}; see scripts/demo-image.py --help")
    draw(*run_demo())
    print(f"{TARGET.relative_to(CHECKOUT)}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
