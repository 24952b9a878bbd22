"""Raw frames and audio from files, pipes and FIFOs arrive unchanged."""

import array
import itertools
import math
import os
import re
import struct
import subprocess

import media
import pytest
from processes import HUNG, Children
from recording import Recording, assert_whole
from tallycam import Receiver, decoded_at_pace, events, last_event, not_judged, start_publisher, wait_for_statuses

pytestmark = pytest.mark.takes(minutes=1.9, processors=0.15)

SECONDS = 2


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """2 s of 320x240 at 30 fps, small enough that no encoder has to skip frames."""
    path = tmp_path_factory.mktemp("clips") / "plain.mkv"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", f"testsrc2=s=320x240:r=30:d={SECONDS}",
        "-c:v", "libx264", "-qp", 10, "-pix_fmt", "yuv420p", path,
    )  # fmt: skip
    return path


def psnr(received, original, filters: str = "null") -> tuple[float, float, float]:
    """Peak signal-to-noise ratio in dB for Y, U and V, frame by frame, over the whole stream."""
    graph = f"[1:v]{filters}[b];[0:v]setpts=N[a];[b]setpts=N[c];[a][c]psnr"
    run = subprocess.run(
        ["ffmpeg", "-v", "info", "-i", received, "-i", original, "-lavfi", graph, "-f", "null", "-"],
        capture_output=True, text=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    found = re.search(r"PSNR y:([\d.]+|inf) u:([\d.]+|inf) v:([\d.]+|inf)", run.stderr)
    return tuple(float(value) for value in found.groups())


def publish_and_record(children: Children, stdin=None, **options) -> tuple[Recording, dict, str]:
    """Without adaptation: these tests are not about reductions on a busy machine."""
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), stdin=stdin, adapt="nothing", **options)
    assert publisher.wait() == 0, publisher.report()
    recording = Recording(receiver.recording())
    sent = last_event(publisher, "ended")
    assert_whole(recording, sent)
    return recording, sent, publisher.stderr


@pytest.mark.parametrize("format, pixels", [("i420", "yuv420p"), ("nv12", "nv12")])
def test_the_video_matches_the_file(children, clip, tmp_path, format, pixels):
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


def test_another_shape_keeps_its_aspect_ratio_with_a_warning(children, clip, tmp_path):
    raw = media.make_raw(clip, tmp_path / "x.raw", 320, 240, 30, SECONDS)
    source = f"raw:{raw},format=i420,size=320x240,fps=30"
    recording, _, log = publish_and_record(children, video=source, quality="High3", dimension="416x234")
    assert (recording.sps.width, recording.sps.height) == (416, 234)
    assert "warning" in log and "aspect" in log and "320x240" in log and "416x234" in log
    # Bars at the sides, never stretched.
    assert psnr(recording.path, clip, "scale=312:234:flags=bilinear,pad=416:234:52:0:black")[0] > 25
    assert psnr(recording.path, clip, "scale=416:234:flags=bilinear")[0] < 20


def test_standard_input_accepts_ffmpegs_output(children, clip):
    """The example in docs/reference/commands.md, shortened. ffmpeg catches up at its start, so times are not checked."""
    decoder = children.start("decoder", [
        "ffmpeg", "-v", "error", "-re", "-i", clip, "-vf", "scale=1280:720",
        "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
    ], piped=True)  # fmt: skip
    recording, sent, _ = publish_and_record(
        children, stdin=decoder.pipe, video="raw:-,format=i420,size=1280x720,fps=30",
        quality="High3", dimension="1280x720",
    )  # fmt: skip
    assert_every_frame(sent, SECONDS * 30)


def silence(recording: Recording) -> float:
    """Seconds of digital silence: a file that is read late on a busy machine continues from there, and silence fills the gap.

    AAC blurs both ends of a silence, so 0.05 s are added to each.
    """
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", recording.path, "-map", "0:a", "-ac", "1", "-ar", "8000", "-f", "s16le", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples = memoryview(run.stdout).cast("h")
    silent = [max(map(abs, samples[at : at + 80])) < 8 for at in range(0, len(samples) - 79, 80)]
    lengths = [len(list(run)) / 100 for is_silent, run in itertools.groupby(silent) if is_silent]
    return sum(length + 0.05 for length in lengths if length >= 0.02)


def assert_lasts(recording: Recording, seconds: float) -> None:
    surplus = recording.audio_seconds - seconds
    assert surplus > -0.1 and (surplus < 0.1 or surplus < 0.2 + silence(recording)), surplus


def assert_every_frame(sent: dict, count: int) -> None:
    """For a pipe. While its writer is late on a busy machine, its last frame repeats, and older frames may follow."""
    assert sent["videoFrames"] + sent["videoSkipped"] == sent["sourceFrames"] + sent["sourceRepeated"], sent
    assert 0 <= count - sent["sourceFrames"] <= sent["sourceRepeated"], sent


def made_at_once(children: Children, path, seconds: int) -> None:
    """A FIFO that receives this many seconds of stereo at 44.1 kHz as fast as it is read."""
    os.mkfifo(path)
    children.start("tone", [
        "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"sine=1000:r=44100:d={seconds}", "-ac", "2", "-f", "s16le", path,
    ])  # fmt: skip


def test_an_audio_pipe_faster_than_real_time_arrives_completely(children, tmp_path):
    made_at_once(children, tmp_path / "samples", 4)
    recording, _, _ = publish_and_record(
        children, video="none", audio=f"raw:{tmp_path / 'samples'},rate=44100,channels=2"
    )
    assert_lasts(recording, 4)
    times = [tag.timestamp for tag in recording.audio_packets]
    assert times[-1] - times[0] > 3850


def test_audio_and_video_pipes_faster_than_real_time_end_together(children, clip, tmp_path):
    made_at_once(children, tmp_path / "samples", SECONDS)
    decoder = children.start("decoder", [
        "ffmpeg", "-v", "error", "-i", clip, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
    ], piped=True)  # fmt: skip
    recording, sent, _ = publish_and_record(
        children, stdin=decoder.pipe, video="raw:-,format=i420,size=320x240,fps=30", quality="High1", dimension="source",
        audio=f"raw:{tmp_path / 'samples'},rate=44100,channels=2",
    )  # fmt: skip
    assert (recording.sps.width, recording.sps.height) == (320, 240)
    assert_every_frame(sent, SECONDS * 30)
    video, audio = ([tag.timestamp for tag in tags] for tags in (recording.frames, recording.audio_packets))
    # A busy machine may lengthen it. If the audio's writer is late, the audio starts late; it always ends with the video.
    longer = [track[-1] - track[0] - (SECONDS - 1 / 30) * 1000 for track in (video, audio)]
    late = max(0, audio[0] - video[0])
    assert longer[0] > -150 and longer[1] > -150 - late, (longer, late)
    assert abs(audio[-1] - video[-1]) < 200 + max(0, *longer), (longer, late)


def test_an_unpaced_pipe_is_read_as_fast_as_possible(children, clip):
    decoder = children.start("decoder", [
        "ffmpeg", "-v", "error", "-i", clip, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
    ], piped=True)  # fmt: skip
    recording, _, _ = publish_and_record(
        children, stdin=decoder.pipe, video="raw:-,format=i420,size=320x240,fps=1", quality="High1", dimension="320x240",
        pace="fast", audio="none",
    )  # fmt: skip
    assert len(recording.frames) > 30 and recording.frames[-1].timestamp < 20_000, "at its rate it would be a minute"


@pytest.mark.parametrize("degrees, transpose, size", [
    (90, "transpose=clock", (240, 320)), (180, "hflip,vflip", (320, 240)), (270, "transpose=cclock", (240, 320)),
])  # fmt: skip
def test_frames_are_turned_clockwise(children, clip, tmp_path, degrees, transpose, size):
    raw = media.make_raw(clip, tmp_path / "x.raw", 320, 240, 30, SECONDS)
    recording, _, log = publish_and_record(
        children, video=f"raw:{raw},format=i420,size=320x240,fps=30", quality="High3", dimension="source",
        orientation=degrees,
    )  # fmt: skip
    assert (recording.sps.width, recording.sps.height) == size
    assert "aspect" not in log
    assert psnr(recording.path, clip, transpose)[0] > 30


def test_standard_input_is_paced_by_its_writer(children, clip):
    camera = decoded_at_pace(children, clip, 320, 240, 30)
    recording, sent, _ = publish_and_record(
        children, stdin=camera.pipe, video="raw:-,format=i420,size=320x240,fps=30", quality="High1", dimension="320x240"
    )
    assert_every_frame(sent, SECONDS * 30)
    span = recording.frames[-1].timestamp - recording.frames[0].timestamp
    assert span > (SECONDS - 1 / 30) * 1000 - 200


def test_a_fifo_is_read_like_a_pipe(children, clip, tmp_path):
    fifo = tmp_path / "frames"
    os.mkfifo(fifo)
    children.start("decoder", [
        "ffmpeg", "-v", "error", "-y", "-re", "-i", clip, "-f", "rawvideo", "-pix_fmt", "nv12", fifo,
    ])  # fmt: skip
    recording, sent, _ = publish_and_record(
        children, video=f"raw:{fifo},format=nv12,size=320x240,fps=30", quality="High1", dimension="320x240"
    )
    assert_every_frame(sent, SECONDS * 30)


def test_an_unpaced_pipe_keeps_every_frame_in_order(children, clip):
    """All frames arrive at once, and each is sent at its time."""
    decoder = children.start("decoder", [
        "ffmpeg", "-v", "error", "-i", clip, "-vf", "scale=320:240", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
    ], piped=True)  # fmt: skip
    publish_and_record(
        children, stdin=decoder.pipe, video="raw:-,format=i420,size=320x240,fps=30", quality="Low3", dimension="320x240"
    )


@pytest.mark.parametrize("quality, fps", [("Low1", 12), ("Low3", 15)])
def test_a_faster_sources_frames_are_dropped_evenly(children, clip, tmp_path, quality, fps):
    raw = media.make_raw(clip, tmp_path / "x.raw", 320, 240, 30, SECONDS)
    source = f"raw:{raw},format=i420,size=320x240,fps=30"
    recording, sent, _ = publish_and_record(children, video=source, quality=quality, dimension="320x240")
    # Each frame keeps its capture time, at most half a source frame off the even grid.
    times = [tag.timestamp for tag in recording.frames]
    longer = max(0.0, (times[-1] - times[0]) / 1000 - SECONDS)
    assert abs(sent["videoFrames"] + sent["videoSkipped"] - SECONDS * fps) <= 1 + longer * fps
    places = [(time - times[0]) * fps / 1000 for time in times]
    assert longer or max(abs(place - round(place)) for place in places) <= fps / 30 / 2 + 0.02


# Red, green, blue, a skin color, gray, and white, each 64 pixels wide.
PATCHES = ["E01830", "20C040", "3048D0", "C89070", "606060", "FFFFFF"]
PATCH_SOURCE = (
    ";".join(f"color=0x{color}:s=64x240:r=30,format=rgb24[{index}]" for index, color in enumerate(PATCHES))
    + ";" + "".join(f"[{index}]" for index in range(len(PATCHES))) + f"hstack={len(PATCHES)}"
)  # fmt: skip


def assert_patches(path) -> None:
    """The middle of each patch has its color, in the first and in the last frame."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-vf", "scale=384:240:flags=accurate_rnd+full_chroma_int+neighbor",
         "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    size = 384 * 240 * 3
    for frame in (run.stdout[:size], run.stdout[-size:]):
        for index, color in enumerate(PATCHES):
            place = (120 * 384 + 64 * index + 32) * 3
            received = frame[place : place + 3]
            assert all(abs(a - b) <= 3 for a, b in zip(received, bytes.fromhex(color))), (color, received.hex())


@pytest.mark.parametrize("format", ["bgra", "rgba", "bgrx", "rgb888", "bgr888"])
@pytest.mark.parametrize("dimension", ["384x240", "288x180"])
def test_colors_match_the_program(children, tmp_path, format, dimension):
    """ffmpeg names each of these by its bytes in memory. libdrm, and here the two formats without a fourth byte, starts with
    the last byte."""
    pixels = {"bgrx": "bgr0", "rgb888": "bgr24", "bgr888": "rgb24"}.get(format, format)
    raw = tmp_path / "patches.raw"
    media.run_ffmpeg("-filter_complex", PATCH_SOURCE, "-t", 1, "-f", "rawvideo", "-pix_fmt", pixels, raw)
    red = bytes.fromhex(PATCHES[0])
    assert raw.read_bytes()[:3] == (red if pixels.startswith("rgb") else red[::-1])
    recording, sent, _ = publish_and_record(
        children, video=f"raw:{raw},format={format},size=384x240,fps=30", quality="High3", dimension=dimension
    )
    assert (sent["videoFrames"], sent["videoSkipped"]) == (30, 0)
    assert_patches(recording.path)


def test_a_programs_memory_is_published_live(children, tmp_path):
    """32-bit BGRA at 30 fps through a pipe and 32-bit floats at 48 kHz through a FIFO, from one program at its own pace."""
    fifo = tmp_path / "samples"
    os.mkfifo(fifo)
    program = children.start("program", [
        "ffmpeg", "-v", "error", "-y", "-re", "-f", "lavfi", "-i",
        "aevalsrc=0.5*sin(2*PI*1000*t)|0.25*sin(2*PI*1000*t):s=48000", "-filter_complex",
        f"{PATCH_SOURCE},realtime", "-t", 5, "-f", "rawvideo", "-pix_fmt", "bgra", "-",
        "-map", "0:a", "-t", 5, "-f", "f32le", fifo,
    ], piped=True)  # fmt: skip
    recording, sent, _ = publish_and_record(
        children, stdin=program.pipe, video="raw:-,format=bgra,size=384x240,fps=30",
        audio=f"raw:{fifo},format=f32le,rate=48000,channels=2", quality="High1", dimension="384x240",
    )  # fmt: skip
    assert_every_frame(sent, 5 * 30)
    assert_patches(recording.path)
    assert recording.sample_rate == 48_000
    # If ffmpeg is late on a busy machine, there are gaps.
    for side, level in zip(sides(recording.path), (0.5, 0.25)):
        tenths = [amplitude(side[place : place + 4800], 48_000, 1000) for place in range(0, len(side) - 4800, 4800)]
        whole = [part for part in tenths if abs(part - level) < 0.01 * level]
        assert len(whole) >= 5 and max(tenths) < 1.05 * level, tenths


def sides(path) -> list[array.array]:
    """Left and right as heard, without the first and last half second."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-f", "f32le", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples, channels = array.array("f", run.stdout), Recording(path).channel_count
    assert len(samples) > 40_000 * channels, "more than the two half seconds"
    return [samples[side::channels][22_050:-22_050] for side in (0, channels - 1)]


def assert_levels(path, left: float, right: float) -> None:
    """A sine on each side, with this amplitude as a fraction of full scale; 0 is silence."""
    for side, expected in zip(sides(path), (left, right)):
        side = longest_audible(side, 2000) if expected else side
        amplitude = math.sqrt(2 * sum(sample * sample for sample in side) / len(side))
        assert abs(amplitude - expected) <= max(0.02 * expected, 0.001), (amplitude, expected)


def longest_audible(samples, block: int):
    """The longest part without a silent block."""
    is_silent = [max(map(abs, samples[at : at + block])) < 0.001 * (1 if isinstance(samples[0], float) else 32768)
                 for at in range(0, len(samples) - block + 1, block)]  # fmt: skip
    parts, start = [range(0)], None
    for at, silent in enumerate([*is_silent, True]):
        if silent and start is not None:
            parts.append(range(start, at))
        start = None if silent else at if start is None else start
    longest = max(parts, key=len)
    return samples[longest.start * block : longest.stop * block] if len(longest) < len(is_silent) else samples


def frequency(path, rate: int = 44100) -> float:
    """The pitch of a pure tone in Hz, from its zero crossings, without the first and last part."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-ac", "1", "-ar", str(rate), "-f", "s16le", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples = longest_audible(memoryview(run.stdout).cast("h")[rate // 4 : -rate // 4], rate // 20)
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
        children, audio=f"raw:{pcm},rate={rate},channels={channels}", video="none",
    )  # fmt: skip
    assert abs(frequency(recording.path) - 1000) < 1
    assert_lasts(recording, SECONDS)


# How each channel is heard; docs/reference/commands.md describes the mix.
FRONT_OF_5_1 = 1 / (1 + 2 * 0.5**0.5)
CENTER_OF_7_1 = 0.5**0.5 / (1 + 3 * 0.5**0.5)


@pytest.mark.parametrize(
    "format, rate, layout, left, right, published",
    [
        ("s32le", 48000, "pan=stereo|c0=c0|c1=c0", 0.5, 0.5, 48000),
        ("f32le", 44100, "pan=stereo|c0=c0|c1=0.5*c0", 0.5, 0.25, 44100),
        ("f32le", 8000, "pan=mono|c0=c0", 0.5, 0.5, 44100),
        ("s16le", 16000, "pan=stereo|c1=c0", 0, 0.5, 44100),
        ("s32le", 192000, "pan=stereo|c0=c0", 0.5, 0, 44100),
        ("s16le", 96000, "pan=5.1|FL=c0", 0.5 * FRONT_OF_5_1, 0, 44100),
        ("f32le", 48000, "pan=7.1|FC=c0", 0.5 * CENTER_OF_7_1, 0.5 * CENTER_OF_7_1, 48000),
        ("s32le", 48000, "pan=5.1|LFE=c0|BR=c0", 0, 0.5 * FRONT_OF_5_1 * 0.5**0.5, 48000),
    ],
)
def test_raw_audio_of_every_kind_keeps_its_pitch_and_level(
    children, tmp_path, format, rate, layout, left, right, published
):
    pcm = tmp_path / "tone.pcm"
    media.run_ffmpeg("-f", "lavfi", "-i", f"sine=1000:r={rate}:d=3", "-af", f"volume=4,{layout}", "-f", format, pcm)
    width = 2 if format == "s16le" else 4
    channels = pcm.stat().st_size // (3 * rate * width)
    recording, _, _ = publish_and_record(
        children, video="none", audio=f"raw:{pcm},format={format},rate={rate},channels={channels}",
    )  # fmt: skip
    assert recording.sample_rate == published
    assert_lasts(recording, 3)
    assert abs(frequency(recording.path) - 1000) < 1
    assert_levels(recording.path, left, right)


@pytest.mark.parametrize("channels, rate", [(2, 48000), (6, 96000)])
def test_invalid_floats_are_silent_or_clipped(children, tmp_path, capsys, channels, rate):
    """NaN, infinity, and values far beyond full scale, for a second each, followed by a tone."""
    pcm = tmp_path / "wild.pcm"
    wild = [math.nan, -math.nan, math.nan], [math.inf, -math.inf, 3e38], [1e-45, -1e-45, 0.0]
    parts = [struct.pack("<3f", *values) * (rate * channels // 3) for values in wild]
    tone = (0.5 * math.sin(2 * math.pi * 1000 * index / rate) for index in range(2 * rate))
    parts.append(b"".join(struct.pack("<f", value) * channels for value in tone))
    pcm.write_bytes(b"".join(parts))
    recording, _, _ = publish_and_record(
        children, video="none", audio=f"raw:{pcm},format=f32le,rate={rate},channels={channels}"
    )
    assert_lasts(recording, 5)
    if recording.audio_seconds > 5.1:
        return not_judged(capsys, "the loudness, as the audio was stretched in an unknown place")
    side = sides(recording.path)[0]
    # Skip half a second at the start.
    second = recording.sample_rate
    assert max(map(abs, side[: second // 2 - 3000])) < 0.001, "NaN is silent"
    assert max(map(abs, side[second : second + second // 4])) > 0.3, "what is too loud is loud"
    assert max(map(abs, side[second * 7 // 4 : second * 9 // 4])) < 0.001
    # The mean of a sine: 5.1 with the same signal in all channels is as loud as one of them.
    end = side[second * 3 :]
    assert abs(math.sqrt(2 * sum(sample * sample for sample in end) / len(end)) - 0.5) < 0.01


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


def amplitude(side, rate: int, frequency: int) -> float:
    """The amplitude at one frequency, as a fraction of full scale: the Fourier sum over whole periods."""
    count = len(side) * frequency // rate * rate // frequency
    parts = (
        (sample * math.cos(angle), sample * math.sin(angle))
        for sample, angle in zip(side[:count], (2 * math.pi * frequency * index / rate for index in range(count)))
    )
    real, imaginary = map(sum, zip(*parts))
    return 2 * math.hypot(real, imaginary) / count


def test_several_sources_are_mixed_each_with_its_gain(children, tmp_path):
    """Three tones with three rates and formats from files, one of them muted, and one from a FIFO without a writer."""
    fifo = tmp_path / "unused"
    os.mkfifo(fifo)
    sources = []
    for frequency, rate, code, settings in (
        (500, 48000, "f32le", ",gain=-6"), (1000, 16000, "s16le", ""), (3000, 44100, "s32le", ",mute=on"),
    ):  # fmt: skip
        pcm = tmp_path / f"{frequency}.pcm"
        media.run_ffmpeg("-f", "lavfi", "-i", f"sine={frequency}:r={rate}:d=5", "-af", "volume=2", "-f", code, pcm)
        sources.append(f"raw:{pcm},format={code},rate={rate},channels=1{settings}")
    receiver = Receiver(children)
    publisher = start_publisher(
        children, receiver.url(), video="none", audio=sources + [f"raw:{fifo},rate=48000,channels=2"], duration=4,
        status_interval=1,
    )  # fmt: skip
    assert publisher.wait() == 0, publisher.report()
    recording = Recording(receiver.recording())
    assert not recording.disorder() and recording.sample_rate == 44_100
    assert abs(recording.audio_seconds - last_event(publisher, "ended")["audioSeconds"]) < 0.2 and recording.audio_seconds > 2
    # A quarter of full scale went in.
    for side in sides(recording.path):
        for frequency, expected in ((500, 0.25 * 10 ** (-6 / 20)), (1000, 0.25), (3000, 0)):
            assert abs(amplitude(side, 44_100, frequency) - expected) < 0.01, frequency
    status = last_event(publisher, "status")
    peaks = status["eachAudioPeakDecibels"]
    assert abs(peaks[0] + 18) < 0.5 and abs(peaks[1] + 12) < 0.5 and peaks[2:] == [None, None], peaks
    assert len(status["eachAudioSamples"]) == 4


def test_several_files_start_together(children, tmp_path):
    """A click in each, each a quarter of a second later."""
    sources = []
    for index, rate in enumerate((48000, 44100, 16000, 48000)):
        samples = array.array("h", bytes(2 * 3 * rate))
        start = (4 + index) * rate // 4
        samples[start : start + rate // 2000] = array.array("h", [26000] * (rate // 2000))
        pcm = tmp_path / f"{index}.pcm"
        pcm.write_bytes(samples.tobytes())
        sources.append(f"raw:{pcm},rate={rate},channels=1")
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), video="none", audio=sources, duration=2.5)
    assert publisher.wait() == 0, publisher.report()
    side = sides(Recording(receiver.recording()).path)[0]
    loud = [index for index, sample in enumerate(side) if abs(sample) > 0.3]
    clicks = [index for before, index in zip([-10_000, *loud], loud) if index - before > 4410]
    assert len(clicks) == 4, clicks
    spacings = [(after - before) / 44_100 for before, after in zip(clicks, clicks[1:])]
    assert all(abs(spacing - 0.25) < 0.001 for spacing in spacings), spacings


def test_each_gain_and_mute_can_be_changed_while_live(children, tmp_path):
    sources = []
    for frequency in (500, 1000):
        pcm = tmp_path / f"{frequency}.pcm"
        media.run_ffmpeg("-f", "lavfi", "-i", f"sine={frequency}:r=48000:d=60", "-af", "volume=2", "-f", "s16le", pcm)
        sources.append(f"raw:{pcm},rate=48000,channels=1")
    receiver = Receiver(children)
    publisher = start_publisher(
        children, receiver.url(), video="none", audio=sources, commands=True, status_interval=1, stdin=subprocess.PIPE)

    def answers() -> list[dict]:
        return [event for event in events(publisher) if event["name"] in ("controlled", "refused")]

    def answer(line: str) -> dict:
        known = len(answers())
        publisher.child.stdin.write(f"{line}\n".encode())
        publisher.child.stdin.flush()
        publisher.wait_until(lambda: len(answers()) > known, line)
        return answers()[known]

    wait_for_statuses(publisher, 3)
    assert answer("set microphone-gain 2:-40")["controls"] == "microphone-gain 2:-40 (2: -40.0 dB on the way)"
    wait_for_statuses(publisher, 3)
    assert answer("set mute 1:on")["controls"] == "mute 1:on (1: muted)"
    assert "microphone N of 2" in answer("set mute 3:on")["reason"]
    wait_for_statuses(publisher, 3)
    assert publisher.interrupt_and_wait() == 0, publisher.report()
    side = sides(Recording(receiver.recording()).path)[0]
    quarters = [side[at : at + 11_025] for at in range(0, len(side) - 11_024, 11_025)]
    heard = [tuple(amplitude(part, 44_100, frequency) for frequency in (500, 1000)) for part in quarters]
    # Except for those in which one of them changes.
    settled = [tuple(level > 0.2 for level in levels) for levels in heard if all(level > 0.2 or level < 0.01 for level in levels)]
    assert [kind for kind, _ in itertools.groupby(settled)] == [(True, True), (True, False), (False, False)], heard


def test_an_ended_source_is_silent_and_the_last_one_ends_the_stream(children, tmp_path):
    sources = []
    for frequency, seconds in ((500, 1), (1000, 3)):
        pcm = tmp_path / f"{frequency}.pcm"
        media.run_ffmpeg("-f", "lavfi", "-i", f"sine={frequency}:r=48000:d={seconds}", "-f", "s16le", pcm)
        sources.append(f"raw:{pcm},rate=48000,channels=1")
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), video="none", audio=sources)
    assert publisher.wait() == 0, publisher.report()
    recording = Recording(receiver.recording())
    assert recording.audio_seconds > 2.8
    ends = [event for event in events(publisher) if event["name"] == "sourceEnded"]
    assert [event["track"] for event in ends] == ["audio"] * 3
    assert "500.pcm ended after 48000 samples; sending silence from here on" in publisher.stderr
    assert "every audio source has ended" in publisher.stderr
    end = sides(recording.path)[0][44_100:66_150]
    assert amplitude(array.array("f", end[:22_050] * 2), 44_100, 500) < 0.005
    assert amplitude(array.array("f", end[:22_050] * 2), 44_100, 1000) > 0.1


def test_a_look_from_a_file_is_applied(children, clip, tmp_path):
    """Inverting a dark gray gives a light gray."""
    look = tmp_path / "inverted.cube"
    look.write_text("LUT_3D_SIZE 2\n" + "".join(
        f"{1 - (place & 1)} {1 - (place >> 1 & 1)} {1 - (place >> 2)}\n" for place in range(8)))  # fmt: skip
    raw = tmp_path / "gray.raw"
    raw.write_bytes((bytes([56]) * (320 * 240) + bytes([128]) * (320 * 120)) * 15)
    recording, _, _ = publish_and_record(
        children, video=f"raw:{raw},format=i420,size=320x240,fps=30", quality="High3", dimension="320x240",
        filter=f"lut,file={look},strength=0.75")  # fmt: skip
    decoded = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", recording.path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL).stdout  # fmt: skip
    # Inverted it is 195; a quarter of the original remains.
    assert {abs(luma - 160) <= 2 for luma in decoded[: 320 * 240]} == {True}
