"""Camera, microphone and hardware encoder together, while the stream's quality changes."""

from dataclasses import dataclass

import flv
import media
import pytest

from encoder import PARAMETERS, Publisher, Stream, assert_decodes, unaccounted
from paused_media import colors, decoded, is_black, is_red, loudness, still_frames

pytestmark = pytest.mark.takes(minutes=3.8, processors=0.5)

CAMERA = "v4l2:/dev/video0,size=640x360,format=NV12,fps=30"


@dataclass
class Step:
    """An interval with a constant operating point, as a range of the sent frames."""

    quality: str
    frames_per_second: int
    bits_per_second: int
    first: int
    last: int


@pytest.fixture
def voice(encoder):
    """Noise at a rate that differs from the stream's."""
    encoder.start("exec aplay -q -D hw:Loopback,0 -f S16_LE -c 2 -r 48000 /dev/urandom")


# For each opening of the encoder: two queues for its trial with black frames, two for the stream.
OPENING = 4


def uses(board) -> int:
    """How often buffers were allocated for the encoder."""
    return int(board.run(f"cat {PARAMETERS}/opened").text)


def steps_of(stream: Stream) -> list[Step]:
    """From the status reports, one per second: consecutive ones with the same operating point."""
    steps: list[Step] = []
    for status in stream.of("status"):
        point = (status["quality"], status["targetFramesPerSecond"], status["videoBitsPerSecond"])
        if steps and (steps[-1].quality, steps[-1].frames_per_second, steps[-1].bits_per_second) == point:
            steps[-1].last = status["videoFrames"]
        else:
            # A frame that no count includes is waiting to be sent, and was encoded earlier.
            first = status["videoFrames"] + max(0, unaccounted(status)) + 1
            steps.append(Step(*point, first, first))
    return steps


def measured_kbps(stream: Stream, step: Step) -> float:
    """The bit rate of the step's frames at its nominal frame rate: an emulated camera gives fewer frames."""
    sizes = [len(tag.body) - 5 for tag in stream.recording.frames[step.first : step.last]]
    return sum(sizes) / len(sizes) * 8 * step.frames_per_second / 1000


def assert_bitrate_follows(stream: Stream, least_frames: int = 25) -> list[str]:
    """Checks the bit rate in every step that was long enough to average over two keyframe intervals."""
    lines = []
    for step in steps_of(stream):
        if step.last - step.first < least_frames:
            continue
        kbps = measured_kbps(stream, step)
        lines.append(f"{step.quality}: {step.bits_per_second / 1000:.0f} asked, {kbps:.0f} measured")
        assert abs(kbps - step.bits_per_second / 1000) < 0.15 * step.bits_per_second / 1000, lines
    return lines


def assert_whole(stream: Stream) -> None:
    """Checks for no decoder error, nothing missing, one connection and one encoder."""
    assert unaccounted(stream.ended) == 0, stream.ended
    decoded = stream.recording.decoded
    assert decoded.complaints == ""
    assert decoded.frames == stream.ended["videoFrames"] == len(stream.recording.frames)
    assert not stream.recording.disorder()
    assert not {1102, 1103, 1104} & set(stream.codes)
    # The headers state the frame rate, which may change; the frame size may not.
    headers = [flv.sps_of_header(tag) for tag in stream.recording.tags if tag.is_video_header]
    assert len({(sps.width, sps.height, sps.profile, sps.level) for sps in headers}) == 1, headers


# Quality, frames per second, kbit/s: the way up the table and down again.
TABLE = [
    ("Low1", 12, 150), ("Low2", 15, 264), ("Low3", 15, 350), ("Medium1", 30, 512), ("Medium2", 30, 800),
    ("Medium3", 30, 1000),
]  # fmt: skip
WALK = TABLE + TABLE[-2::-1]


@pytest.mark.slow
def test_a_script_steps_through_all_qualities_and_back(encoder, voice, nginx, capsys):
    """From Low1 to Medium3 and back while live, by commands: one encoder, one connection, and each step has its bit rate."""
    before = uses(encoder)
    publisher = Publisher(
        encoder, nginx, "script", "--dimension 640x360", "--quality Low1", "--adapt nothing", "--commands",
        source=CAMERA, audio="alsa:hw:Loopback,1",
    )  # fmt: skip
    publisher.wait_status(lambda status: status["videoFrames"] > 36, 60)
    for quality, fps, kbps in WALK[1:]:
        publisher.command("begin", f"set quality {quality}", "commit")
        reached = publisher.wait_status(lambda status: status["quality"] == quality, 20)
        assert (reached["targetFramesPerSecond"], reached["videoBitsPerSecond"]) == (fps, kbps * 1000)
        first = reached["videoFrames"]
        publisher.wait_status(lambda status: status["videoFrames"] >= first + 36, 30)
    stream = publisher.stop()
    # The encoder was opened once.
    assert uses(encoder) - before == OPENING
    steps = steps_of(stream)
    assert [(step.quality, step.frames_per_second, step.bits_per_second // 1000) for step in steps] == WALK
    lines = assert_bitrate_follows(stream)
    with capsys.disabled():
        print("\n  " + "\n  ".join(lines))
    assert len(lines) == len(WALK)
    assert_whole(stream)
    # The audio continued to the end.
    audio_packets = stream.recording.audio_packets
    assert len(audio_packets) > 100 and abs(audio_packets[-1].timestamp - stream.recording.frames[-1].timestamp) < 1000


def test_a_size_with_a_higher_level_at_medium_keeps_its_encoder(encoder, nginx):
    """720x576 at Low's 15 frames per second fits level 3.0, at Medium's 30 it does not: the header states 3.1 from the
    start."""
    before = uses(encoder)
    publisher = Publisher(
        encoder, nginx, "level", "--dimension 720x576", "--quality Low1", "--adapt nothing", "--commands")
    publisher.wait_frames(8)
    for quality in ("Medium3", "Low2"):
        publisher.command(f"set quality {quality}")
        reached = publisher.wait_status(lambda status: status["quality"] == quality, 20)
        publisher.wait_frames(reached["videoFrames"] + 8)
    stream = publisher.stop()
    assert uses(encoder) - before == OPENING
    assert stream.recording.sps.level == 31
    assert_whole(stream)


def test_quality_follows_the_network(encoder, voice, nginx, capsys):
    """Medium3 to Low1 and back on a network that becomes slow and fast again: the encoder is never reopened."""
    before = uses(encoder)
    publisher = Publisher(
        encoder, nginx, "follows", "--dimension 640x360", "--quality Medium3", "--bitrate 150,1000,1000",
        source=CAMERA, audio="alsa:hw:Loopback,1",
    )  # fmt: skip
    publisher.wait_frames(60)
    encoder.shape(rate="320kbit")
    publisher.wait_status(lambda status: status["quality"] == "Low1", 60)
    encoder.sleep(6)
    encoder.unshape()
    publisher.wait_status(lambda status: status["videoBitsPerSecond"] > 900_000, 90)
    encoder.sleep(3)
    stream = publisher.stop()
    assert uses(encoder) - before == OPENING
    lines = assert_bitrate_follows(stream)
    with capsys.disabled():
        print("\n  " + "\n  ".join(lines))
    assert len(lines) >= 2
    assert_whole(stream)


def publish_from_libcamera(encoder, nginx, name: str) -> tuple[Stream, dict]:
    """Checks that every frame is accounted for. Returns the last status, too."""
    stream = Publisher(
        encoder, nginx, name, "--dimension 640x360", "--quality Medium1", "--adapt nothing", "--duration 12",
        source="libcamera:Virtual0,size=640x360,fps=10",
    ).finish(90)  # fmt: skip
    ended = stream.ended
    assert ended["sourceFrames"] + ended["sourceRepeated"] > 30
    # Each frame was encoded or skipped by the encoder, except one that came after the end.
    assert ended["videoDropped"] + ended["videoDecimated"] <= 2, ended
    assert_decodes(stream)
    assert not {1103, 1104} & set(stream.codes)
    status = stream.of("status")[-1]
    assert status["encoder"] == "v4l2:/dev/video11"
    return stream, status


def test_libcamera_leases_its_memory_to_the_encoder(encoder, any_memory, nginx):
    """libcamera -> DMABUF -> encoder -> RTMP: the processor copies no raw frame."""
    _, status = publish_from_libcamera(encoder, nginx, "libcamera")
    assert status["sourceConverted"] == status["sourceMapped"] == 0, status


@pytest.mark.slow
def test_libcameras_virtual_camera_is_copied_once_for_an_encoder_unable_to_read_it(encoder, nginx):
    """Its memory is ordinary pages, and only by chance contiguous as the Pi's encoder needs it; both cases are reported
    correctly."""
    stream, status = publish_from_libcamera(encoder, nginx, "copied")
    reported = stream.text.count("each frame is copied into the encoder's own")
    copied = status["sourceConverted"]
    assert (reported, copied) == (0, 0) or reported == 1 and 0 < copied <= status["sourceFrames"], (reported, status)


def test_leased_frames_show_the_cameras_scene(encoder, nginx):
    """Each frame once and in order: the camera sees dark, bright and dark again, and the stream shows no other changes. A
    buffer that the encoder read too late or twice would cause another one."""
    dark, bright, usual = (f"v4l2-ctl -d /dev/video0 -c brightness={value}" for value in (0, 255, 128))
    encoder.run(dark)
    try:
        publisher = Publisher(
            encoder, nginx, "seen", "--dimension 640x360", "--quality Low3", "--adapt nothing",
            source="v4l2:/dev/video0,size=640x360,format=NV12",
        )  # fmt: skip
        publisher.wait_frames(15)
        for change in (bright, dark):
            encoder.run(change)
            publisher.wait_frames(publisher.frames + 25)
        stream = publisher.stop()
    finally:
        encoder.run(usual)
    assert stream.of("status")[-1]["sourceMapped"] == 0
    means = media.mean_brightness(stream.recording.path)
    is_bright = [mean > (min(means) + max(means)) / 2 for mean in means]
    assert max(means) - min(means) > 40 and not is_bright[0] and not is_bright[-1], means
    assert sum(one != other for one, other in zip(is_bright, is_bright[1:])) == 2, means
    assert_decodes(stream)


@pytest.mark.parametrize(
    "has_slate", [pytest.param(False, id="last frame"), pytest.param(True, id="slate", marks=pytest.mark.slow)]
)
def test_a_pause_sends_a_still_and_silence_over_the_same_connection(encoder, voice, nginx, tmp_path, has_slate):
    """The pause is drawn into the memory that the encoder reads: nothing is copied, and no device is opened again."""
    before = uses(encoder)
    options = []
    if has_slate:
        # Wider than the stream: black above and below.
        slate = tmp_path / "slate.png"
        media.run_ffmpeg("-f", "lavfi", "-i", "color=red:s=400x100", "-frames:v", 1, slate)
        encoder.put("/tmp/slate.png", slate)
        options = ["--pause-image /tmp/slate.png"]
    publisher = Publisher(
        encoder, nginx, "paused", "--dimension 640x360", "--quality Low3", "--adapt nothing", "--commands", *options,
        source=f"{CAMERA},horizontal_movement=6", audio="alsa:hw:Loopback,1",
    )  # fmt: skip
    publisher.wait_frames(30)
    publisher.command("pause on")
    first = publisher.wait_status(lambda status: status["paused"], 30)
    publisher.wait_frames(first["videoFrames"] + 45)
    publisher.command("pause off")
    publisher.wait_status(lambda status: not status["paused"], 30)
    publisher.wait_frames(publisher.frames + 45)
    stream = publisher.stop()
    assert uses(encoder) - before == OPENING
    assert len(stream.of("connected")) == 1 and stream.of("status")[-1]["sourceConverted"] == 0
    assert_whole(stream)

    path, times = stream.recording.path, [tag.timestamp / 1000 for tag in stream.recording.frames]
    still = still_frames(path)
    assert len(still) >= 45 and still.start > 20 and len(times) - still.stop > 30, (still, len(times))
    assert any(stream.recording.frames[at].is_keyframe for at in range(still.stop - 1, still.stop + 2))
    shown = [colors(frame) for frame in decoded(path, 8, 8, "rgb24")]
    slates = [at for at, (middle, edge) in enumerate(shown) if is_red(middle) and is_black(edge)]
    assert set(slates) == (set(range(slates[0], slates[-1] + 1)) if has_slate else set())
    assert not has_slate or set(still) <= set(range(slates[0] - 1, slates[-1] + 2)), (still, slates[0], slates[-1])
    since, end = times[still.start], times[still.stop]
    assert loudness(path, since + 0.5, end - 0.5) < 50
    assert loudness(path, 0, since - 0.5) > 500 and loudness(path, end + 0.5, times[-1]) > 500
