"""A memory-to-memory scaler: the module's scaler by itself, and streams of the shipped binary that use it to make frames
smaller."""

import errno
import random
import statistics
import subprocess

import pytest

from encoder_client import Client
from encoder import PARAMETERS, Publisher, Stream, assert_decodes, set_faults
from leases import Leases

pytestmark = pytest.mark.takes(minutes=2.5, processors=0.25)

NODE = "/dev/video12"
HARDWARE = "v4l2:/dev/video11"
CAMERA = "v4l2:/dev/video0,size=1280x720,format=NV12"
LEASE = ("--dimension 640x360", "--quality Low3", "--adapt nothing")
SAID = "the processor scales the frames from here on"


@pytest.fixture
def fading_scaler(encoder):
    """A scaler that can be removed; it returns after the test."""
    yield encoder
    encoder.end_all()
    encoder.run("rmmod virtual_h264 && insmod /board/encoder.ko")


def vanish(board) -> None:
    board.run(f"echo 1 > {PARAMETERS}/remove_scaler && [ ! -e {NODE} ]")


# The module by itself.


def planes(data: bytes, fourcc: str, width: int, height: int) -> list[list[bytes]]:
    """Y, U and V, each as its rows."""
    luma = [data[row * width : (row + 1) * width] for row in range(height)]
    rest, half = data[width * height :], width // 2
    if fourcc == "NV12":
        pairs = [rest[row * width : (row + 1) * width] for row in range(height // 2)]
        return [luma, [row[0::2] for row in pairs], [row[1::2] for row in pairs]]
    rows = [rest[row * half : (row + 1) * half] for row in range(height)]
    return [luma, rows[: height // 2], rows[height // 2 :]]


def mean_of_covered(rows: list[bytes], width: int, height: int) -> list[bytes]:
    """Each sample is the mean of the samples that it covers, rounded down."""

    def span(index: int, count: int, covered: int) -> range:
        first = index * covered // count
        return range(first, max(first + 1, (index + 1) * covered // count))

    columns = [span(x, width, len(rows[0])) for x in range(width)]
    return [
        bytes(
            sum(sum(rows[line][column.start : column.stop]) for line in lines) // (len(column) * len(lines))
            for column in columns
        )
        for lines in (span(y, height, len(rows)) for y in range(height))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("taken, given", [("NV12", "NV12"), ("YU12", "YU12"), ("NV12", "YU12")])
@pytest.mark.parametrize("size", [(128, 96), (192, 108), (384, 288)])
def test_the_module_scales(encoder, taken, given, size):
    """Halves, odd ratios, and larger sizes: every sample is correct."""
    width, height = 256, 192
    raw = random.Random(6).randbytes(width * height * 3 // 2)
    encoder.put("/tmp/in.raw", raw)
    encoder.run(
        f"v4l2-ctl -d {NODE} --set-fmt-video-out width={width},height={height},pixelformat={taken} "
        f"--set-fmt-video width={size[0]},height={size[1]},pixelformat={given} "
        "--stream-mmap --stream-out-mmap --stream-from /tmp/in.raw --stream-to /tmp/out.raw --stream-count 1"
    )
    scaled = encoder.get("/tmp/out.raw")
    assert len(scaled) == size[0] * size[1] * 3 // 2
    got = planes(scaled, given, *size)
    for plane, source in enumerate(planes(raw, taken, width, height)):
        divisor = 2 if plane else 1
        assert got[plane] == mean_of_covered(source, size[0] // divisor, size[1] // divisor), f"plane {plane}"


def test_the_module_refuses_unsupported_formats_and_sizes(encoder, client_program):
    """RGB and Bayer, which the VideoCore supports, on start; too large sides when the format is set."""
    client = Client(encoder, client_program)
    words = "buffers frames 2 own buffers coded 2 own on frames on coded"
    for frames, coded in [("RGB3", "YU12"), ("YU12", "YUYV"), ("RGGB", "NV12")]:
        answers = client.run(f"open {NODE} format frames {frames} 320 240 format coded {coded} 160 120 {words}")
        assert answers.errors("REQBUFS") == [0, 0] and errno.ESRCH in answers.errors("STREAMON"), answers
    set_faults(encoder, scaler_limit=128)
    answers = client.run(f"open {NODE} format frames NV12 320 240 format coded NV12 160 120")
    assert [(line["width"], line["height"]) for line in answers if "format" in line] == [(320, 240), (128, 120)]


def test_a_vanished_node_returns_errors_to_open_programs(fading_scaler, client_program):
    client = Client(fading_scaler, client_program)
    answers = client.run(
        f"open {NODE} format frames NV12 320 240 format coded NV12 160 120 buffers frames 4 own buffers coded 3 own "
        "on frames on coded feed 3 1 quiet 300 parameter remove_scaler 1 feed 1 1 off frames"
    )
    assert len(answers.coded) == 3 and answers.errors("QBUF") == [errno.ENODEV]
    assert answers.errors("STREAMOFF") == [errno.ENODEV]
    assert fading_scaler.run(f"ls {NODE}", check=False).status != 0
    assert "encode" in fading_scaler.run("cat /sys/class/video4linux/video11/name").text


# Streams.


def assert_right(stream: Stream, size: tuple[int, int] = (640, 360)) -> None:
    sps = stream.recording.sps
    assert (sps.width, sps.height) == size
    assert {report["encoder"] for report in stream.of("status")} == {HARDWARE}
    assert not {1103, 1104} & set(stream.codes)
    assert_decodes(stream)


def assert_the_processor_scaled(stream: Stream) -> None:
    """Checks that the change is reported once, and that the status shows the work per frame: one pass to scale it, one to copy
    it into the encoder."""
    assert_right(stream)
    assert stream.text.count(SAID) == 1, stream.text
    status = stream.of("status")[-1]
    assert 0 < status["sourceConverted"] == status["sourcePasses"] <= 2 * status["sourceFrames"], status
    assert status["sourceMapped"] > 0


def shown(recording) -> list[bytes]:
    """Each frame as 16 by 9 gray fields."""
    words = ["ffmpeg", "-v", "error", "-i", str(recording.path), "-vf", "scale=16:9:flags=area,format=gray"]
    raw = subprocess.run([*words, "-f", "rawvideo", "-"], capture_output=True, check=True).stdout
    return [raw[start : start + 144] for start in range(0, len(raw), 144)]


def test_frames_are_scaled_down_without_the_processor(encoder, nginx):
    """vivid -> DMABUF -> scaler -> DMABUF -> encoder: nobody reads or copies a frame, and each buffer is returned."""
    publisher = Publisher(encoder, nginx, "smaller", *LEASE, source=CAMERA)
    publisher.wait_frames(20)
    leases = Leases(encoder)
    leases.assert_return()
    publisher.wait_frames(publisher.frames + 20)
    stream = publisher.stop()
    assert_right(stream)
    status = stream.of("status")[-1]
    assert status["sourceConverted"] == status["sourcePasses"] == status["sourceMapped"] == 0, status
    assert SAID not in stream.text and "warning" not in stream.text, stream.text
    # The whole frame is shown, not a part: the same as in a stream in the camera's own size.
    whole = Publisher(
        encoder, nginx, "whole", "--dimension 1280x720", "--quality Low3", "--adapt nothing", "--duration 4", source=CAMERA
    ).finish()
    small, large = shown(stream.recording)[5], shown(whole.recording)[5]
    assert statistics.mean(abs(a - b) for a, b in zip(small, large)) < 6, (list(small), list(large))
    assert max(large) - min(large) > 80


def test_the_processor_replaces_a_vanished_scaler(fading_scaler, nginx):
    publisher = Publisher(fading_scaler, nginx, "vanishes", *LEASE, source=CAMERA)
    publisher.wait_frames(20)
    before = publisher.wait_status(lambda status: status["videoFrames"] >= 20, 30)
    assert before["sourcePasses"] == before["sourceMapped"] == 0, before
    vanish(fading_scaler)
    publisher.wait_frames(publisher.frames + 40, 90)
    stream = publisher.stop()
    assert_the_processor_scaled(stream)
    assert f"the scaler at {NODE} is gone" in stream.text
    # The video continues unchanged, and soon.
    times = [frame.timestamp for frame in stream.recording.frames]
    assert max(after - before for before, after in zip(times, times[1:])) < 2000 + stream.stalled * 1000, times
    frames = shown(stream.recording)
    assert statistics.mean(abs(a - b) for a, b in zip(frames[5], frames[-5])) < 6


@pytest.mark.parametrize("fault, words", [
    ({"scaler_limit": 480}, "/dev/video12 has no 640x360 NV12; it has 480x360 NV12"),
    ({"scaler_stall_after": 25}, "/dev/video12 accepted frames but returned none within 0.7 s"),
])  # fmt: skip
def test_the_processor_replaces_a_scaler_that_misbehaves(encoder, nginx, fault, words):
    """One that gives smaller frames than it claims, and one that accepts frames and gives none."""
    set_faults(encoder, **fault)
    publisher = Publisher(encoder, nginx, next(iter(fault)).replace("_", ""), *LEASE, source=CAMERA)
    publisher.wait_frames(45, 90)
    Leases(encoder).assert_return()
    stream = publisher.stop()
    assert_the_processor_scaled(stream)
    assert words in stream.text, stream.text


@pytest.mark.slow
def test_another_encoder_still_gets_scaled_frames(encoder, nginx):
    """A stalled encoder that is reopened keeps the scaler; one that replaces it (another profile) reopens the scaler."""
    set_faults(encoder, stall_after=20, stall_opens=1)
    publisher = Publisher(encoder, nginx, "another", "--dimension 640x360", "--quality Medium3", "--adapt restart",
                          "--commands", source=CAMERA)  # fmt: skip
    publisher.wait_event(1104, 1, 60)
    publisher.wait_frames(publisher.frames + 20)
    for quality in ("High1", "Medium3"):
        publisher.command(f"set quality {quality}")
        publisher.process.wait_for(f'"quality":"{quality}"', 30)
        publisher.wait_frames(publisher.frames + 20)
    Leases(encoder).assert_return()
    stream = publisher.stop()
    status = stream.of("status")[-1]
    assert {report["encoder"] for report in stream.of("status")} == {HARDWARE}
    assert status["sourceConverted"] == status["sourcePasses"] == status["sourceMapped"] == 0, status
    assert stream.codes.count(1104) == 1 and 1103 not in stream.codes and SAID not in stream.text


@pytest.mark.slow
def test_the_processor_scales_memory_that_a_scaler_cannot_read(encoder, scattered_camera, nginx):
    stream = Publisher(encoder, nginx, "scatteredsmall", *LEASE, "--duration 10", source=CAMERA).finish(90)
    assert_the_processor_scaled(stream)
    assert f"{NODE} cannot read the camera's memory" in stream.text


def test_the_processor_draws_bars(encoder, nginx):
    stream = Publisher(
        encoder, nginx, "bars", "--dimension 640x480", "--quality Low3", "--adapt nothing", "--duration 8", source=CAMERA
    ).finish(90)
    assert_right(stream, (640, 480))
    assert stream.of("status")[-1]["sourcePasses"] > 0 and SAID not in stream.text


@pytest.mark.slow
def test_a_missing_scaler_is_not_reported(fading_scaler, nginx):
    vanish(fading_scaler)
    stream = Publisher(fading_scaler, nginx, "none", *LEASE, "--duration 8", source=CAMERA).finish(90)
    assert_right(stream)
    assert stream.of("status")[-1]["sourcePasses"] > 0 and SAID not in stream.text
