"""Images and movies as sources: the recording shows the file's contents, with audio and video in sync."""

import array
import struct
import subprocess

import media
import pytest
from appliance import DEVICE, Appliance, plain
from processes import HUNG
from recording import Recording, assert_whole, frames_due
from tallycam import Receiver, last_event, late_end, start_publisher, wait_for_event

pytestmark = pytest.mark.takes(minutes=0.6, processors=0.4)


@pytest.fixture(scope="module")
def flashes(tmp_path_factory):
    """2 s at 30 fps with B frames: white with a beep for the first 0.2 s of each second, otherwise black and silent."""
    path = tmp_path_factory.mktemp("movies") / "flashes.mp4"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "color=black:s=320x240:r=30:d=2,geq=lum='if(lt(mod(T,1),0.195),235,16)':cb=128:cr=128",
        "-f", "lavfi", "-i", "aevalsrc='if(lt(mod(t,1),0.2),0.5*sin(2*PI*1000*t),0)':s=48000:d=2",
        "-c:v", "libx264", "-bf", 2, "-g", 20, "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "128k", path,
    )  # fmt: skip
    return path


def published(children, **options) -> tuple[Recording, dict, str]:
    receiver = Receiver(children)
    options = {"audio": None, "quality": "High1", "adapt": "nothing", **options}
    publisher = start_publisher(children, receiver.url(), **options)
    assert publisher.wait() == 0, publisher.report()
    recording = Recording(receiver.recording())
    sent = last_event(publisher, "ended")
    assert_whole(recording, sent)
    return recording, sent, publisher.stderr


def rises(values, times, threshold) -> list[float]:
    """When values rise above the threshold."""
    return [after for low, high, after in zip(values, values[1:], times[1:]) if low < threshold <= high]


def flash_times(recording: Recording) -> list[float]:
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", recording.path, "-vf", "scale=2:2", "-fps_mode", "passthrough", "-f", "rawvideo",
         "-pix_fmt", "gray", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return rises([0, *run.stdout[::4]], [0, *[tag.timestamp / 1000 for tag in recording.frames]], 128)


def beep_times(recording: Recording) -> list[float]:
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", recording.path, "-map", "0:a", "-ac", "1", "-f", "s16le", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples, rate = array.array("h", run.stdout), recording.sample_rate
    step = rate // 1000
    levels = [max(map(abs, samples[at : at + step])) for at in range(0, len(samples) - step, step)]
    # The level of the last 50 ms, because a tone crosses zero.
    levels = [max(levels[max(0, at - 50) : at + 1]) for at in range(len(levels))]
    start = recording.audio_packets[0].timestamp / 1000
    return rises([0, *levels], [start, *[start + at / 1000 for at in range(len(levels))]], 3000)


def assert_in_step(recording: Recording, sent: dict, longest: float = 0.06) -> list[float]:
    """Each flash has its beep. On a busy machine, late frames are dropped, possibly including a flash."""
    flashes, beeps = flash_times(recording), beep_times(recording)
    if sent["sourceDropped"]:
        assert beeps
        return []
    assert len(flashes) == len(beeps) and all(abs(flash - beep) < longest for flash, beep in zip(flashes, beeps)), (flashes, beeps)
    return flashes


def test_a_movie_is_played_once_with_its_audio(children, flashes):
    recording, sent, log = published(children, video=f"movie:{flashes}", dimension="source")
    assert (recording.sps.width, recording.sps.height) == (320, 240)
    assert 55 <= frames_due(sent) <= 61, sent
    [publisher] = [process for process in children.all if process.name == "publish"]
    assert -0.15 < recording.audio_seconds - 2 < 0.15 + late_end(publisher, 2)
    assert recording.sample_rate == 48_000 and "flashes.mp4 ended after" in log
    assert_in_step(recording, sent)


def test_a_loop_keeps_audio_and_video_in_step(children, flashes):
    recording, sent, _ = published(children, video=f"movie:{flashes},loop=on", dimension="320x240", duration=6.5)
    if flashes_seen := assert_in_step(recording, sent):
        assert len(flashes_seen) == 7, flashes_seen
        assert all(abs(after - before - 1) < 0.06 for before, after in zip(flashes_seen, flashes_seen[1:]))


def test_a_movies_audio_is_resampled_to_the_streams_rate(children, tmp_path):
    movie = tmp_path / "low.m4a"
    media.run_ffmpeg("-f", "lavfi", "-i", "sine=1000:r=22050:d=2", "-c:a", "aac", movie)
    recording, _, _ = published(children, video="none", audio=f"movie:{movie}")
    assert recording.sample_rate == 44_100 and abs(recording.audio_seconds - 2) < 0.15


def test_a_movie_with_audio_other_than_aac_is_silent_and_reported(children, tmp_path):
    movie = tmp_path / "other.mp4"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "color=red:s=320x240:r=30:d=2", "-f", "lavfi", "-i", "sine=d=2",
        "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "ac3", movie,
    )  # fmt: skip
    recording, _, log = published(children, video=f"movie:{movie}", dimension="source")
    assert "has no AAC audio: its audio is ac-3; sending silence" in log
    assert beep_times(recording) == []


@pytest.mark.parametrize("name", ["title.png", "title.jpg"])
def test_an_image_is_shown_between_black_bars(children, tmp_path, name):
    image = tmp_path / name
    media.run_ffmpeg("-f", "lavfi", "-i", "color=0xC84020:s=400x100:d=1", "-frames:v", 1, image)
    recording, sent, _ = published(children, video=f"image:{image}", audio="silence", dimension="320x240", duration=1.5)
    assert len(recording.frames) == sent["videoFrames"] and 40 <= frames_due(sent) <= 46, sent
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", recording.path, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip

    def pixel(x: int, y: int) -> tuple:
        return tuple(run.stdout[3 * (320 * y + x) :][:3])

    assert max(pixel(160, 20)) < 12, "a bar"
    assert all(abs(is_ - was) <= 8 for is_, was in zip(pixel(160, 120), (200, 64, 32))), pixel(160, 120)
    assert all(abs(is_ - was) <= 8 for is_, was in zip(pixel(4, 120), (200, 64, 32))), "no bar at the side"


def test_an_image_has_its_own_size(children, tmp_path):
    image = tmp_path / "title.png"
    media.run_ffmpeg("-f", "lavfi", "-i", "color=white:s=480x320:d=1", "-frames:v", 1, image)
    recording, _, _ = published(
        children, video=f"image:{image}", audio="none", dimension="source", orientation=90, duration=0.5
    )
    assert (recording.sps.width, recording.sps.height) == (320, 480)


def test_a_live_stream_switches_between_an_image_and_a_movie(children, flashes, tmp_path):
    image = tmp_path / "title.png"
    media.run_ffmpeg("-f", "lavfi", "-i", "color=white:s=320x240:d=1", "-frames:v", 1, image)
    receiver = Receiver(children)
    publisher = start_publisher(
        children, receiver.url(), video=None, camera=[f"title=image:{image}", f"clip=movie:{flashes}"], audio="silence",
        quality="High1", dimension="320x240", commands=True, stdin=subprocess.PIPE,
    )  # fmt: skip

    def command(line: str) -> None:
        publisher.child.stdin.write(f"{line}\n".encode())
        publisher.child.stdin.flush()

    wait_for_event(publisher, "publishing")
    command("camera clip")
    assert wait_for_event(publisher, "cameraSwitched")["to"] == "clip"
    command("camera title")
    publisher.wait_until(lambda: last_event(publisher, "cameraSwitched")["to"] == "title", "title again")
    command("stop")
    assert publisher.wait() == 0, publisher.report()
    assert not Recording(receiver.recording()).disorder()


@pytest.fixture(scope="module")
def corners(tmp_path_factory):
    """320x240, red and green above blue and white, as a movie of 1 s and as a JPEG."""
    folder = tmp_path_factory.mktemp("corners")
    colors = ["red", "lime", "blue", "white"]
    graph = "".join(f"color={color}:s=160x120:r=30:d=1[c{at}];" for at, color in enumerate(colors))
    graph += "[c0][c1]hstack[top];[c2][c3]hstack[bottom];[top][bottom]vstack"
    movie, image = folder / "corners.mp4", folder / "corners.jpg"
    media.run_ffmpeg("-f", "lavfi", "-i", graph, "-c:v", "libx264", "-pix_fmt", "yuv420p", movie)
    media.run_ffmpeg("-f", "lavfi", "-i", graph, "-frames:v", 1, image)
    return movie, image


def seen_corners(path, width: int, height: int) -> str:
    """The corners of the first frame as a player shows them: top left, top right, bottom left and bottom right."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert len(run.stdout) == 3 * width * height
    names = {(1, 0, 0): "R", (0, 1, 0): "G", (0, 0, 1): "B", (1, 1, 1): "W"}

    def color(x: int, y: int) -> str:
        pixel = run.stdout[3 * (width * y + x) :][:3]
        return names.get(tuple(sample // 128 for sample in pixel), "?")

    return "".join(color(x, y) for y in (8, height - 9) for x in (8, width - 9))


# ffmpeg counts counterclockwise, and mirrors after rotating.
@pytest.mark.parametrize("held, orientation, expected", [
    (["-display_rotation", 90], 0, "GWRB"), (["-display_rotation", 180], 0, "WBGR"),
    (["-display_rotation", 270], 0, "BRWG"), (["-display_hflip"], 0, "GRWB"),
    (["-display_rotation", 90, "-display_hflip"], 0, "WGBR"),
    (["-display_rotation", 90], 90, "RGBW"), (["-display_hflip"], 90, "WGBR"),
])  # fmt: skip
def test_a_movie_is_shown_upright(children, corners, tmp_path, held, orientation, expected):
    movie = tmp_path / "held.mp4"
    media.run_ffmpeg(*held, "-i", corners[0], "-c", "copy", movie)
    is_upright = (90 in held or 270 in held) != (orientation == 90)
    width, height = (240, 320) if is_upright else (320, 240)
    if orientation == 0:
        assert seen_corners(movie, width, height) == expected, "a player shows it so"
    recording, _, _ = published(
        children, video=f"movie:{movie}", audio="none", dimension="source", orientation=orientation
    )
    assert (recording.sps.width, recording.sps.height) == (width, height)
    assert seen_corners(recording.path, width, height) == expected


def test_a_movie_among_several_cameras_is_shown_upright(children, corners, tmp_path):
    movie = tmp_path / "held.mp4"
    media.run_ffmpeg("-display_rotation", 90, "-i", corners[0], "-c", "copy", movie)
    recording, _, _ = published(
        children, video=None, camera=[f"clip=movie:{movie}", f"title=image:{corners[1]}"], audio="none",
        dimension="source", duration=0.5,
    )  # fmt: skip
    assert seen_corners(recording.path, 240, 320) == "GWRB"


# The EXIF orientation, without and with --orientation 90.
@pytest.mark.parametrize("exif, orientation, expected", [
    (3, 0, "WBGR"), (5, 0, "RBGW"), (6, 0, "BRWG"), (8, 0, "GWRB"), (6, 90, "WBGR"),
])  # fmt: skip
def test_an_image_is_shown_according_to_its_exif_orientation(children, corners, tmp_path, exif, orientation, expected):
    image = tmp_path / "held.jpg"
    plain = corners[1].read_bytes()
    directory = struct.pack(">HHHIHHI", 1, 0x0112, 3, 1, exif, 0, 0)
    content = b"Exif\0\0" + b"MM\0\x2a\0\0\0\x08" + directory
    image.write_bytes(plain[:2] + struct.pack(">HH", 0xFFE1, len(content) + 2) + content + plain[2:])
    width, height = (240, 320) if (exif > 4) != (orientation == 90) else (320, 240)
    recording, _, _ = published(
        children, video=f"image:{image}", audio="none", dimension="source", orientation=orientation, duration=0.5
    )
    assert (recording.sps.width, recording.sps.height) == (width, height)
    assert seen_corners(recording.path, width, height) == expected


def test_oversized_frames_are_refused(children, tmp_path):
    movie = tmp_path / "large.mp4"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "color=red:s=16x8704:r=30:d=0.1", "-c:v", "libx264", "-pix_fmt", "yuv420p", movie
    )
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), video=f"movie:{movie}", audio=None)
    assert publisher.wait() == 4, publisher.report()
    assert "its frames have 16x8704 pixels; OpenH264 decodes at most 4096x2304" in publisher.stderr


@pytest.mark.parametrize("source, phrases", [
    ("movie:{png}", ["this is a PNG file", "image:"]), ("image:{mp4}", ["this is an MP4 file", "movie:"]),
    ("movie:{text}", ["not an MP4 movie"]), ("movie:{missing}", ["missing"]), ("image:{missing}", ["missing"]),
    ("movie:{cut}", ["cut off"]),
])  # fmt: skip
def test_invalid_sources_are_named(children, flashes, tmp_path, source, phrases):
    files = {name: tmp_path / f"{name}.x" for name in ("png", "text", "missing", "cut")}
    media.run_ffmpeg("-f", "lavfi", "-i", "color=white:s=32x32:d=1", "-frames:v", 1, "-f", "image2", "-c:v", "png", files["png"])
    files["text"].write_text("nothing that moves")
    files["cut"].write_bytes(flashes.read_bytes()[:-400])
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), video=source.format(mp4=flashes, **files), audio=None)
    assert publisher.wait() == 4, publisher.report()
    assert all(phrase in publisher.stderr for phrase in phrases), publisher.stderr


def test_the_appliance_plays_a_movie_as_its_camera(children, flashes):
    receiver = Receiver(children)
    camera = Appliance(
        children, stream=plain(receiver.url()), device={**DEVICE, "camera": f"movie:{flashes}", "startAtBoot": True}
    )
    camera.wait_for("live")
    arrived = receiver.process
    arrived.wait_until(lambda: receiver.path.exists() and receiver.path.stat().st_size > 40_000, "more than one round")
    assert camera.ask("stop").child.returncode == 0
    recording = Recording(receiver.recording())
    assert not recording.disorder()
    assert recording.sample_rate == 48_000, "its own audio"
    assert len(flash_times(recording)) >= 1
