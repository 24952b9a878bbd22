"""The frames to filter, and the commands that filter them."""

import struct
import subprocess
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
OUT = CHECKOUT / "out/bench-filters"
FONT = Path("/usr/share/tallycam/font.ttf")
WORDS = "Studio 12 Kirche 10.05"
# The files for filters, and enough frames that the difference is measurable.
LOGO = (192, 96)


def write_png(path: Path, width: int, height: int, pixels: bytes) -> None:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + pixels[4 * width * y : 4 * width * (y + 1)] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_logo(path: Path) -> None:
    """Each pixel has alpha, so that each must be blended."""
    width, height = LOGO
    write_png(path, width, height, bytes(
        value for y in range(height) for x in range(width) for value in (255, x, 2 * y, 64 + (x + y) % 160)))


def write_look(path: Path, points: int = 33) -> None:
    """Warm, with contrast."""

    def contrast(value: float) -> float:
        return value + 0.6 * value * (1 - value) * (2 * value - 1)

    steps = [place / (points - 1) for place in range(points)]
    lines = [f"LUT_3D_SIZE {points}"]
    lines += [
        f"{min(1, contrast(red) * 1.04 + 0.02):.6f} {contrast(green):.6f} {0.05 + 0.85 * contrast(0.8 * blue + 0.2 * green):.6f}"
        for blue in steps for green in steps for red in steps
    ]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")


class Material:
    """Frames of one size: half of each has the colors of skin, with noise."""

    def __init__(self, width: int, height: int):
        self.width, self.height = width, height
        self.logo = OUT / "logo.png"
        write_logo(self.logo)
        self.look = OUT / "look.cube"
        write_look(self.look)
        self.bases: dict[str, float] = {}
        frame = OUT / f"frame-{width}x{height}"
        source = (
            f"color=0xc89678:size={width}x{height},drawbox=x=iw/2:w=iw/2:h=ih:color=0x3050a0:t=fill,noise=alls=20"
        )  # fmt: skip
        for name, pixel_format in (("nv12", "nv12"), ("i420", "yuv420p")):
            subprocess.run(
                ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", source, "-frames:v", "1", "-pix_fmt",
                 pixel_format, "-f", "rawvideo", f"{frame}.{name}"], check=True)  # fmt: skip
        # ffmpeg takes its frames from a file, which has more of them than any run needs.
        self.frames = frame.with_suffix(".frames")
        self.frame = frame.with_suffix(".i420")
        self.frames.write_bytes(self.frame.read_bytes() * 8)

    def filled(self, text: str) -> str:
        for name, value in (
            ("{logo}", self.logo), ("{look}", self.look), ("{font}", FONT), ("{words}", WORDS), ("{column}", self.width // 4),
            ("{row}", self.height // 4),
        ):  # fmt: skip
            text = text.replace(name, str(value))
        return text

    def our_words(self, filters: Iterable[str]) -> list[str]:
        """Each text is a filter, or options to pass on."""
        words = ["--size", f"{self.width}x{self.height}"]
        for text in filters:
            words += text.split() if text.startswith("--") else ["--filter", text]
        return words if "--format" in words else [*words, "--format", "i420"]

    def our_command(self, filters: list[str], frames: int) -> tuple[list[str], Path]:
        program = str(CHECKOUT / "out/x86_64/filter-frames")
        return [program, *self.our_words(filters), "--repeat", str(frames)], self.frame

    def guest_command(self, filters: tuple[str, ...]) -> tuple[list[str], str]:
        """The command's arguments and the name of its frame, with the guest's file names."""
        names = {"{logo}": "/board/logo.png", "{look}": "/board/look.cube", "{words}": WORDS}

        def named(text: str) -> str:
            for name, value in names.items():
                text = text.replace(name, value)
            return text

        return self.our_words(named(text) for text in filters), self.frame.name

    def ffmpeg_command(self, graph: str, frames: int) -> tuple[list[str], Path]:
        """One thread; the file is repeated."""
        return [
            "ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-filter_threads", "1", "-filter_complex_threads", "1",
            "-stream_loop", "-1", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", f"{self.width}x{self.height}",
            "-i", str(self.frames), "-filter_complex", graph, "-frames:v", str(frames), "-f", "null", "-",
        ], self.frame  # fmt: skip

    def ffmpeg_base(self, measure: Callable[..., float], *options: object) -> float:
        """The cost of a run without a filter."""
        if measure.__name__ not in self.bases:
            self.bases[measure.__name__] = measure(lambda frames: self.ffmpeg_command("null", frames), *options)
        return self.bases[measure.__name__]

    def covered_pixels(self, what: str) -> int:
        """Pixels of the drawn rectangle; for text, that of its line."""
        if what == "logo":
            return LOGO[0] * LOGO[1]
        if what == "text":
            return self.text_pixels()
        return 0

    def text_pixels(self) -> int:
        """The size of the rectangle around all differences from a frame without text."""
        words, frame = self.our_command([self.filled("text,text={words},size=0.06,position=0,0,outline=0.05")], 1)
        given = frame.read_bytes()
        shown = subprocess.run(words, input=given, capture_output=True, check=True).stdout
        luma = self.width * self.height
        changed = [place for place in range(luma) if given[place] != shown[place]]
        columns, rows = [place % self.width for place in changed], [place // self.width for place in changed]
        return (max(columns) - min(columns) + 1) * (max(rows) - min(rows) + 1)
