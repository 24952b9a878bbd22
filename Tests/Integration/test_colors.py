"""A player shows the color that a program has sent. The header names the matrix of luma and chroma, and while the size is the
source's, players' assumptions for that size agree with it. test_resizing covers changing sizes."""

import json
import subprocess

import media
import pytest
from processes import HUNG, Children
from recording import Recording, assert_whole
from tallycam import Receiver, last_event, start_publisher

pytestmark = pytest.mark.takes(minutes=0.7, processors=0.5)

NAMES = ["color_range", "color_space", "color_transfer", "color_primaries"]
SD = dict(zip(NAMES, ["tv", "smpte170m", "smpte170m", "smpte170m"]))
HD = dict(zip(NAMES, ["tv", "bt709", "bt709", "bt709"]))
# The weights of red and blue in luma (ITU-T H.273).
SHARES = {"smpte170m": (0.299, 0.114), "bt709": (0.2126, 0.0722)}
COLOR = (200, 64, 32)
FPS = 10


def announced(path) -> dict:
    """The colors that the header announces to players."""
    found = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", f"stream={','.join(NAMES)}", "-of", "json", path],
        capture_output=True, text=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    stream = json.loads(found.stdout)["streams"][0]
    return {name: stream[name] for name in NAMES if stream.get(name, "unknown") != "unknown"}


def decoded(path, filters: str, pixels: str, frame_bytes: int) -> list[bytes]:
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-vf", filters, "-f", "rawvideo", "-pix_fmt", pixels, "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert run.stdout and len(run.stdout) % frame_bytes == 0
    return [run.stdout[start : start + frame_bytes] for start in range(0, len(run.stdout), frame_bytes)]


def mean(samples: bytes) -> float:
    return sum(samples) / len(samples)


def shown(path, matrix: str, place: str = "crop=32:32") -> list[list[float]]:
    """Red, green and blue of a part of each frame, for a player that assumes this matrix."""
    red, blue = SHARES[matrix]
    colors = []
    for frame in decoded(path, place, "yuv420p", 32 * 32 * 3 // 2):
        luma = (mean(frame[:1024]) - 16) / 219
        cb, cr = ((mean(frame[start : start + 256]) - 128) / 224 for start in (1024, 1280))
        r, b = luma + 2 * (1 - red) * cr, luma + 2 * (1 - blue) * cb
        colors.append([255 * part for part in (r, (luma - red * r - blue * b) / (1 - red - blue), b)])
    return colors


def assert_color(colors: list, expected=COLOR, within: float = 3) -> None:
    for color in (colors[0], colors[-1]):
        assert all(abs(is_ - wanted) <= within for is_, wanted in zip(color, expected)), (color, expected)


def make_plain(path, size: str, pixels: str, color=COLOR):
    """A second of one color, in RGB."""
    red, green, blue = color
    media.run_ffmpeg(
        "-f", "lavfi", "-i", f"color=c=0x{red:02X}{green:02X}{blue:02X}:s={size}:r={FPS},format=rgb24", "-t", 1,
        "-pix_fmt", pixels, "-f", "rawvideo", path,
    )  # fmt: skip
    return path


def publish(children: Children, video: str, **options) -> Recording:
    receiver = Receiver(children)
    publisher = start_publisher(
        children, receiver.url(), video=video, audio="none", quality="High3", adapt="nothing", **options)
    assert publisher.wait() == 0, publisher.report()
    recording = Recording(receiver.recording())
    assert_whole(recording, last_event(publisher, "ended"))
    return recording


@pytest.mark.parametrize("size, dimension, expected", [
    ("640x360", "640x360", SD), ("1280x720", "1280x720", HD), ("1280x720", "640x360", HD), ("640x360", "1280x720", SD),
])  # fmt: skip
def test_rgb_keeps_the_matrix_of_its_size(children, tmp_path, size, dimension, expected):
    raw = make_plain(tmp_path / "plain.raw", size, "bgr24")
    recording = publish(children, f"raw:{raw},format=rgb888,size={size},fps={FPS}", dimension=dimension)
    assert announced(recording.path) == expected
    matrix = expected["color_space"]
    assert_color(shown(recording.path, matrix))
    # ffmpeg reads the header.
    shown_by_ffmpeg = decoded(
        recording.path, "crop=32:32,scale=flags=accurate_rnd+full_chroma_int", "rgb24", 32 * 32 * 3)
    assert_color([list(frame[len(frame) // 2 // 3 * 3 :][:3]) for frame in shown_by_ffmpeg])
    if size == dimension:
        assumed = "bt709" if int(dimension.split("x")[1]) >= 720 else "smpte170m"
        assert assumed == matrix


@pytest.mark.parametrize("size, expected", [("640x360", SD), ("1280x720", HD)])
@pytest.mark.parametrize("format, pixels", [("i420", "yuv420p"), ("nv12", "nv12"), ("yuyv", "yuyv422"), ("bgra", "bgra")])
def test_the_header_of_every_raw_format_names_the_colors(children, tmp_path, format, pixels, size, expected):
    """YUV in a file carries no color information, so players' assumption applies."""
    raw = make_plain(tmp_path / "plain.raw", size, pixels)
    recording = publish(children, f"raw:{raw},format={format},size={size},fps={FPS}", dimension=size)
    assert announced(recording.path) == expected


@pytest.mark.parametrize("size, expected", [("640x360", SD), ("1280x720", HD)])
def test_the_test_patterns_red_is_red(children, size, expected):
    recording = publish(children, "synthetic", dimension=size, duration=1)
    assert announced(recording.path) == expected
    width, height = map(int, size.split("x"))
    # The sixth of eight bars; in the first frame, the ball is elsewhere.
    place = f"crop=32:32:{width * 11 // 16 - 16}:{height // 2 - 16}"
    assert_color(shown(recording.path, expected["color_space"], place)[:1], (191, 0, 0), within=6)


@pytest.mark.parametrize("size, expected", [("640x360", SD), ("1280x720", HD)])
@pytest.mark.parametrize("has_planes", [False, True])
def test_filters_draw_in_the_right_color(children, tmp_path, size, expected, has_planes):
    """On RGB, which is first converted for them, and on planes."""
    mark = tmp_path / "mark.png"
    media.run_ffmpeg("-f", "lavfi", "-i", "color=c=0xC84020:s=64x64,format=rgb24", "-frames:v", 1, mark)
    raw = make_plain(tmp_path / "gray.raw", size, "nv12" if has_planes else "bgra", (90, 90, 90))
    recording = publish(
        children, f"raw:{raw},format={'nv12' if has_planes else 'bgra'},size={size},fps={FPS}", dimension=size,
        filter=f"image,file={mark},position=center")  # fmt: skip
    assert announced(recording.path) == expected
    assert_color(shown(recording.path, expected["color_space"]))
