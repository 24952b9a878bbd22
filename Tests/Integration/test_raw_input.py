"""Raw frames and audio from files, pipes and FIFOs arrive as what they were."""

import json
import math
import os
import re
import subprocess

import media
import pytest
from processes import Children
from recording import Recording, assert_whole
from tallycam import Receiver, decoded_at_pace, last_event, start_publisher

pytestmark = [pytest.mark.takes(minutes=0.9, processors=0.2), pytest.mark.paced]

SECONDS = 2


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """2 s of 320x240 at 30 fps, small enough that no encoder has to skip."""
    path = tmp_path_factory.mktemp("clips") / "plain.mkv"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", f"testsrc2=s=320x240:r=30:d={SECONDS}",
        "-c:v", "libx264", "-qp", 10, "-pix_fmt", "yuv420p", path,
    )  # fmt: skip
    return path


def psnr(received, original, filters: str = "null") -> tuple[float, float, float]:
    """Peak signal to noise in dB for Y, U and V, frame by frame, over the whole stream."""
    graph = f"[1:v]{filters}[b];[0:v]setpts=N[a];[b]setpts=N[c];[a][c]psnr"
    run = subprocess.run(
        ["ffmpeg", "-v", "info", "-i", received, "-i", original, "-lavfi", graph, "-f", "null", "-"],
        capture_output=True, text=True, check=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    found = re.search(r"PSNR y:([\d.]+|inf) u:([\d.]+|inf) v:([\d.]+|inf)", run.stderr)
    return tuple(float(value) for value in found.groups())


def publish_and_record(children: Children, stdin=None, **options) -> tuple[Recording, dict, str]:
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), stdin=stdin, **options)
    assert publisher.wait(20) == 0, publisher.report()
    recording = Recording(receiver.recording())
    sent = last_event(publisher, "ended")
    assert_whole(recording, sent)
    return recording, sent, publisher.stderr


def announced_colours(path) -> dict:
    """What players read of the colours in the stream's header."""
    names = ["color_range", "color_space", "color_transfer", "color_primaries"]
    found = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", f"stream={','.join(names)}", "-of", "json", path],
        capture_output=True, text=True, check=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    stream = json.loads(found.stdout)["streams"][0]
    return {name: stream[name] for name in names if stream.get(name, "unknown") != "unknown"}


def test_the_header_says_what_is_known_of_the_colours(children, clip, tmp_path):
    """RGB is converted here, and so known; YUV of a file may be anything."""
    bt601 = {"color_range": "tv", "color_space": "smpte170m", "color_transfer": "smpte170m", "color_primaries": "smpte170m"}
    for format, pixels, expected in [("bgr888", "rgb24", bt601), ("i420", "yuv420p", {})]:
        raw = media.make_raw(clip, tmp_path / f"{format}.raw", 320, 240, 30, SECONDS, pixels)
        source = f"raw:{raw},format={format},size=320x240,fps=30"
        recording, _, _ = publish_and_record(children, video=source, quality="High3", dimension="320x240")
        assert announced_colours(recording.path) == expected, format


@pytest.mark.parametrize("format, pixels", [("i420", "yuv420p"), ("nv12", "nv12")])
def test_the_video_is_the_files(children, clip, tmp_path, format, pixels):
    raw = media.make_raw(clip, tmp_path / "x.raw", 320, 240, 30, SECONDS, pixels)
    source = f"raw:{raw},format={format},size=320x240,fps=30"
    recording, sent, _ = publish_and_record(children, video=source, quality="High3", dimension="320x240")
    assert (sent["videoFrames"], sent["videoSkipped"]) == (60, 0)
    y, u, v = psnr(recording.path, clip)
    assert y > 30 and u > 32 and v > 32, (y, u, v)


def test_another_size_is_scaled(children, clip, tmp_path):
    raw = media.make_raw(clip, tmp_path / "x.raw", 320, 240, 30, SECONDS)
    source = f"raw:{raw},format=i420,size=320x240,fps=30"
    recording, _, log = publish_and_record(children, video=source, quality="High3", dimension="400x300")
    assert (recording.sps.width, recording.sps.height) == (400, 300)
    assert min(psnr(recording.path, clip, "scale=400:300:flags=bilinear")) > 25
    assert "aspect" not in log


def test_another_shape_keeps_its_aspect_with_a_warning(children, clip, tmp_path):
    raw = media.make_raw(clip, tmp_path / "x.raw", 320, 240, 30, SECONDS)
    source = f"raw:{raw},format=i420,size=320x240,fps=30"
    recording, _, log = publish_and_record(children, video=source, quality="High3", dimension="416x234")
    assert (recording.sps.width, recording.sps.height) == (416, 234)
    assert "warning" in log and "aspect" in log and "320x240" in log and "416x234" in log
    # Bars at the sides, never stretched.
    assert psnr(recording.path, clip, "scale=312:234:flags=bilinear,pad=416:234:52:0:black")[0] > 25
    assert psnr(recording.path, clip, "scale=416:234:flags=bilinear")[0] < 20


def test_standard_input_takes_what_ffmpeg_decodes(children, clip):
    """The example of docs/commands.md, shortened. ffmpeg catches up at its start, so times are not looked at."""
    decoder = children.start("decoder", [
        "ffmpeg", "-v", "error", "-re", "-i", clip, "-vf", "scale=1280:720",
        "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
    ], piped=True)  # fmt: skip
    recording, sent, _ = publish_and_record(
        children, stdin=decoder.pipe, video="raw:-,format=i420,size=1280x720,fps=30",
        quality="High3", dimension="1280x720",
    )  # fmt: skip
    assert sent["videoFrames"] + sent["videoSkipped"] == SECONDS * 30


def test_standard_input_is_paced_by_its_writer(children, clip):
    camera = decoded_at_pace(children, clip, 320, 240, 30)
    recording, sent, _ = publish_and_record(
        children, stdin=camera.pipe, video="raw:-,format=i420,size=320x240,fps=30", quality="High1", dimension="320x240"
    )
    assert sent["videoFrames"] + sent["videoSkipped"] == SECONDS * 30
    span = recording.frames[-1].timestamp - recording.frames[0].timestamp
    assert abs(span - (SECONDS - 1 / 30) * 1000) < 200


def test_a_fifo_is_read_like_a_pipe(children, clip, tmp_path):
    fifo = tmp_path / "frames"
    os.mkfifo(fifo)
    children.start("decoder", [
        "ffmpeg", "-v", "error", "-y", "-re", "-i", clip, "-f", "rawvideo", "-pix_fmt", "nv12", fifo,
    ])  # fmt: skip
    recording, sent, _ = publish_and_record(
        children, video=f"raw:{fifo},format=nv12,size=320x240,fps=30", quality="High1", dimension="320x240"
    )
    assert sent["videoFrames"] + sent["videoSkipped"] == SECONDS * 30


def test_a_pipe_that_is_not_paced_keeps_every_frame_in_order(children, clip):
    """All frames come at once: each has a timestamp of its own all the same."""
    decoder = children.start("decoder", [
        "ffmpeg", "-v", "error", "-i", clip, "-vf", "scale=320:240", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
    ], piped=True)  # fmt: skip
    publish_and_record(
        children, stdin=decoder.pipe, video="raw:-,format=i420,size=320x240,fps=30", quality="Low3", dimension="320x240"
    )


@pytest.mark.parametrize("quality, fps", [("Low1", 12), ("Low3", 15)])
def test_a_faster_source_is_thinned_out_evenly(children, clip, tmp_path, quality, fps):
    raw = media.make_raw(clip, tmp_path / "x.raw", 320, 240, 30, SECONDS)
    source = f"raw:{raw},format=i420,size=320x240,fps=30"
    recording, sent, _ = publish_and_record(children, video=source, quality=quality, dimension="320x240")
    assert abs(sent["videoFrames"] + sent["videoSkipped"] - SECONDS * fps) <= 1
    # Each keeps the time at which it was taken: at most half a frame of the source off the even grid.
    times = [tag.timestamp for tag in recording.frames]
    places = [(time - times[0]) * fps / 1000 for time in times]
    assert max(abs(place - round(place)) for place in places) <= fps / 30 / 2 + 0.02


def frequency(path, rate: int = 44100) -> float:
    """The pitch of a pure tone in Hz, by its zero crossings, without the first and last part."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-ac", "1", "-ar", str(rate), "-f", "s16le", "-"],
        capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples = memoryview(run.stdout).cast("h")[rate // 4 : -rate // 4]
    level = math.sqrt(sum(sample * sample for sample in samples) / len(samples))
    assert level > 1000, "the tone is there"
    zero_crossings = [at for at in range(1, len(samples)) if samples[at - 1] < 0 <= samples[at]]
    return (len(zero_crossings) - 1) * rate / (zero_crossings[-1] - zero_crossings[0])


@pytest.mark.parametrize("rate, channels", [(44100, 2), (48000, 2), (48000, 1), (22050, 1)])
def test_raw_audio_keeps_its_pitch(children, tmp_path, rate, channels):
    pcm = tmp_path / "tone.pcm"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", f"sine=1000:r={rate}:d={SECONDS}", "-af", "volume=8", "-ac", channels, "-f", "s16le", pcm
    )
    recording, _, _ = publish_and_record(
        children, audio=f"raw:{pcm},rate={rate},channels={channels}", quality="Low1", dimension="320x240",
        duration=SECONDS,
    )  # fmt: skip
    assert abs(frequency(recording.path) - 1000) < 1
    assert abs(recording.audio_seconds - SECONDS) < 0.1


def test_the_tone_is_a_tone_and_silence_is_silent(children):
    tone, _, _ = publish_and_record(children, audio="tone", quality="Low1", dimension="320x240", duration=SECONDS)
    assert 200 < frequency(tone.path) < 2000
    silence, _, _ = publish_and_record(children, audio="silence", quality="Low1", dimension="320x240", duration=1)
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", silence.path, "-map", "0:a", "-f", "s16le", "-"],
        capture_output=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert len(run.stdout) > 44100 and max(map(abs, memoryview(run.stdout).cast("h"))) <= 1


@pytest.mark.parametrize("missing", ["video", "audio"])
def test_one_track_alone_is_a_stream_too(children, missing):
    recording, _, _ = publish_and_record(children, **{missing: "none"}, quality="Low1", dimension="320x240", duration=1)
    assert bool(recording.frames) == (missing == "audio")
    assert bool(recording.audio_packets) == (missing == "video")
