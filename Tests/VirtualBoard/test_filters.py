"""Filters on the board: they write into the camera's own memory before the hardware encoder reads it."""

import subprocess
from itertools import groupby

import flv
import numpy
import pytest
from encoder import Publisher, Stream, assert_decodes, set_faults
from pi_camera import IMX708, set_parameters
from size_changes import sizes_of, wait_for_change

pytestmark = [pytest.mark.takes(minutes=1.9, processors=0.35)]

WIDTH, HEIGHT = 640, 480
LOGO, TEXT = "/tmp/logo.png", "text,text=Studio {time},position=bottom-left,size=0.1,background=black"


@pytest.fixture
def logo(board, tmp_path):
    """Red throughout, and half transparent."""
    path = tmp_path / "logo.png"
    words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=red@0.5:s=64x48,format=rgba", "-frames:v", "1", str(path)]
    subprocess.run(words, check=True, timeout=30)
    board.put(LOGO, path)
    return f"image,file={LOGO},position=top-right,margin=0,width=0.2"


def frames_of(nginx, name: str, size: tuple[int, int] = (WIDTH, HEIGHT)) -> numpy.ndarray:
    """All frames in the size of the first one."""
    words = ["ffmpeg", "-v", "error", "-i", str(nginx.recording(name)), "-fps_mode", "passthrough", "-f", "rawvideo",
             "-pix_fmt", "rgb24", "-"]  # fmt: skip
    data = subprocess.run(words, check=True, stdout=subprocess.PIPE, timeout=120).stdout
    return numpy.frombuffer(data, numpy.uint8).reshape(-1, size[1], size[0], 3)


def redness(frame) -> float:
    """How red the corner is that the watermark covers."""
    corner = frame[4:90, WIDTH - 120 : WIDTH - 4].astype(int)
    return float((corner[:, :, 0] - corner[:, :, 1:].max(axis=2)).mean())


def box(frame):
    """The lower left corner, where text is."""
    return frame[HEIGHT - 62 : HEIGHT - 14, 14:340]


@pytest.mark.parametrize("source", [
    f"libcamera:{IMX708}", pytest.param("v4l2:/dev/video0,size=640x480,format=NV12,fps=15", marks=pytest.mark.slow),
])
def test_watermark_clock_and_smoothing_at_once(pi_camera, logo, nginx, source, capsys):
    """Filters write into the memory that the encoder reads: nothing is copied or converted. The virtual board's encoder
    distinguishes macroblocks, not letters."""
    name = source.split(":")[0]
    publisher = Publisher(
        pi_camera, nginx, name, f"--dimension {WIDTH}x{HEIGHT} --quality Low3 --adapt nothing", "--commands",
        f"--filter '{TEXT}' --filter '{logo}' --filter smooth,strength=1", source=source,
    )  # fmt: skip
    publisher.wait_frames(45)
    publisher.command("filter image off")
    publisher.process.wait_for("filtered", 20)
    publisher.wait_frames(publisher.frames + 30)
    publisher.command("filter text text=Off")
    publisher.wait_frames(publisher.frames + 30)
    stream = publisher.stop()
    status = stream.of("status")[-1]
    with capsys.disabled():
        each = dict(zip(status["filters"], zip(status["filterFrames"], status["filterNanoseconds"])))
        print("\n  " + ", ".join(f"{name} {time / count / 1e6:.2f} ms" for name, (count, time) in each.items() if count))
    assert status["sourceConverted"] == status["sourcePasses"] == 0, status
    assert status["sourceMapped"] > 60 and status["filters"] == ["text", "smooth"], status
    assert not {1103, 1104} & set(stream.codes)
    frames = frames_of(nginx, name)
    assert redness(frames[30]) > 30 and redness(frames[30]) > redness(frames[-1]) + 25
    # White on black, as long as the text.
    first, last = (box(frame).max(axis=2) for frame in (frames[30], frames[-1]))
    assert first.mean() < 60 and last[:, 150:].mean() > first[:, 150:].mean() + 25, (first.mean(), last[:, 150:].mean())
    assert_decodes(stream)


def test_a_clock_can_be_read(pi_camera, nginx):
    publisher = Publisher(
        pi_camera, nginx, "clock", f"--dimension {WIDTH}x{HEIGHT} --quality Medium2 --adapt nothing --encoder openh264",
        f"--filter '{TEXT}' --duration 6", source=f"libcamera:{IMX708}",
    )  # fmt: skip
    publisher.finish()
    frames = frames_of(nginx, "clock")
    letters = box(frames[20]).min(axis=2) > 180
    assert 0.04 < letters.mean() < 0.4, letters.mean()
    # Its seconds advance: a second later a part of the text is different.
    later = box(frames[-1]).min(axis=2) > 180
    assert 0.001 < (letters != later).mean() < 0.1, (letters != later).mean()


def test_frames_in_other_formats_are_converted_to_planes_for_filters(encoder, logo, nginx):
    """Packed frames, which the hardware encoder's path converts anyway; filters are added and removed while live."""
    publisher = Publisher(
        encoder, nginx, "packed", f"--dimension {WIDTH}x{HEIGHT} --quality Low3 --adapt nothing", "--commands",
        source="v4l2:/dev/video0,size=640x480,format=YUYV,fps=15")  # fmt: skip
    publisher.wait_frames(20)
    publisher.command(f"filter {logo}")
    publisher.wait_frames(publisher.frames + 40)
    publisher.command("filter image off")
    publisher.wait_frames(publisher.frames + 40)
    for line, words in (
        ("filter smoth strength=1", "did you mean smooth"), ("filter image file=/tmp/none.png", "No such file"),
        ("filter text text=x size=9", "size must be a number from 0.01 to 0.5"), ("filter gray off", "filter gray is not active"),
    ):  # fmt: skip
        publisher.command(line)
        publisher.process.wait_for(words, 20)
    stream = publisher.stop()
    reds = [redness(frame) for frame in frames_of(nginx, "packed")]
    assert max(reds) > min(reds[0], reds[-1]) + 25 and abs(reds[0] - reds[-1]) < 15, (reds[0], max(reds), reds[-1])
    assert not {1103, 1104} & set(stream.codes) and stream.of("status")[-1]["sourceInterruptions"] == 0
    assert_decodes(stream)


@pytest.mark.slow
def test_a_look_changes_colors_as_its_table_says(encoder, nginx):
    """Red and blue change places in the memory that the encoder reads, and change back."""
    encoder.put("/tmp/swap.cube", "LUT_3D_SIZE 2\n" + "".join(f"{at >> 2 & 1} {at >> 1 & 1} {at & 1}\n" for at in range(8)))
    publisher = Publisher(
        encoder, nginx, "look", f"--dimension {WIDTH}x{HEIGHT} --quality Low3 --adapt nothing", "--commands",
        source="v4l2:/dev/video0,size=640x480,format=NV12,fps=15")  # fmt: skip
    publisher.wait_frames(20)
    publisher.command("filter lut,file=/tmp/swap.cube")
    publisher.wait_frames(publisher.frames + 30)
    status = publisher.wait_status(lambda status: "lut" in status["filters"], 20)
    assert status["sourceConverted"] == status["sourcePasses"] == 0, status
    publisher.command("filter lut off")
    publisher.wait_frames(publisher.frames + 30)
    stream = publisher.stop()
    # The encoder distinguishes nothing smaller than a macroblock.
    blocks = frames_of(nginx, "look").reshape(-1, HEIGHT // 16, 16, WIDTH // 16, 16, 3).mean(axis=(2, 4))
    plain, swapped = blocks[5], blocks[5][:, :, ::-1]

    def difference(one, other) -> float:
        return float(numpy.abs(one - other).mean())

    assert difference(plain, swapped) > 25
    looks = [(difference(frame, swapped), difference(frame, plain)) for frame in blocks]
    assert [key for key, _ in groupby(like_swapped < like_plain for like_swapped, like_plain in looks)] == [False, True, False]
    assert max(map(min, looks)) < 6, sorted(map(min, looks))[-5:]
    assert not {1103, 1104} & set(stream.codes)
    assert_decodes(stream)


def gaps_of(stream: Stream) -> list[int]:
    """Milliseconds between adjacent frames."""
    times = [tag.timestamp for tag in stream.recording.frames]
    return [after - before for before, after in zip(times, times[1:])]


@pytest.mark.slow
def test_a_watermark_switched_on_while_the_encoder_is_replaced(encoder, logo, nginx, capsys):
    """It is visible from the first frame of the next encoder on; only the stall causes lost frames."""
    publisher = Publisher(
        encoder, nginx, "replaced", f"--dimension {WIDTH}x{HEIGHT} --quality Low3 --adapt nothing", "--commands",
        source="v4l2:/dev/video0,size=640x480,format=NV12,fps=15")  # fmt: skip
    publisher.wait_frames(25)
    # A second until the silence is detected, and half of one until the encoder is closed.
    set_faults(encoder, stall_after=1, stall_opens=1, stop_ms=200)
    publisher.command(f"filter {logo}")
    publisher.wait_event(1104, 1, 20)
    publisher.wait_frames(publisher.frames + 40)
    stream = publisher.stop()
    gaps, marks = gaps_of(stream), [redness(frame) for frame in frames_of(nginx, "replaced")]
    first = gaps.index(max(gaps)) + 1
    with capsys.disabled():
        print(f"\n  {max(gaps)} ms without frames, then no gap over {max(gaps[first:])} ms; {stream.ended['videoSkipped']} skipped")
    assert max(gaps) > 900 and 1103 not in stream.codes and stream.codes.count(1104) == 1
    assert max(marks[:first]) + 25 < min(marks[first:]), (first, [round(mark) for mark in marks])
    # No more than are missing in the gaps, at fifteen per second, and those that were in the encoder.
    missing = sum(max(0, round(gap * 15 / 1000) - 1) for gap in gaps)
    assert stream.ended["videoSkipped"] <= missing + 5, (stream.ended, gaps)
    assert max(gaps[first:]) < 400 + stream.stalled * 1000 and stream.of("status")[-1]["sourceInterruptions"] == 0
    assert_decodes(stream)


FULL, HALF = (960, 540), (480, 270)


def part_of(frame, left: float, right: float, top: float, bottom: float) -> float:
    """How red a part of the frame is."""
    height, width = frame.shape[:2]
    return float(frame[int(top * height) : int(bottom * height), int(left * width) : int(right * width), 0].mean())


def is_marked(frame) -> bool:
    """Whether the watermark is exactly in its place: in the upper right corner, a fifth of the width wide with its own
    proportions, over the camera's blue and black bars, and nowhere beside it."""
    inside = part_of(frame, 0.82, 0.98, 0.03, 0.22)
    return inside > 90 and part_of(frame, 0.76, 0.785, 0.03, 0.22) < 45 and part_of(frame, 0.82, 0.98, 0.31, 0.5) < 45


def sizes_of_frames(stream: Stream) -> list[tuple[int, int]]:
    """The size of each frame, by the header before it."""
    sizes, present = [], (0, 0)
    for tag in stream.recording.tags:
        if tag.is_video_header:
            sps = flv.sps_of_header(tag)
            present = (sps.width, sps.height)
        elif tag.is_frame:
            sizes.append(present)
    return sizes


def test_a_watermark_keeps_its_place_when_the_frame_size_changes(pi_camera, logo, nginx, capsys):
    """Switched on as the camera's second, smaller output takes over, and still there when the first one is back."""
    set_parameters(pi_camera, color_bars=1)
    publisher = Publisher(
        pi_camera, nginx, "sizes", f"--dimension {FULL[0]}x{FULL[1]} --smallest-size {HALF[0]}x{HALF[1]}",
        "--quality Medium1 --bitrate 150,500,500 --resize seamless", "--commands",
        source=f"libcamera:{IMX708},AwbEnable=off,ColourGains=2.35/1.6",
    )  # fmt: skip
    publisher.wait_frames(30)
    pi_camera.shape(rate="260kbit")
    wait_for_change(publisher, lambda event: (event["width"], event["height"]) == HALF, 60)
    publisher.command(f"filter {logo}")
    publisher.wait_frames(publisher.frames + 30)
    pi_camera.unshape()
    wait_for_change(publisher, lambda event: event["reason"] == "sizeFits" and event["width"] == FULL[0], 90)
    publisher.wait_frames(publisher.frames + 30)
    stream = publisher.stop()
    marks = [is_marked(frame) for frame in frames_of(nginx, "sizes", FULL)]
    sizes, first = sizes_of_frames(stream), marks.index(True)
    (cost,) = stream.of("status")[-1]["filterNanoseconds"]
    with capsys.disabled():
        print(f"\n  sizes {sizes_of(stream)}, marked from {first} of {len(marks)} on, {cost / (len(marks) - first) / 1e6:.2f} ms each")
    assert all(marks[first:]) and {FULL, HALF} <= set(sizes[first:]), (first, sizes)
    status = stream.of("status")[-1]
    assert status["sourceConverted"] == status["sourcePasses"] == 0 and status["sourceInterruptions"] == 0, status
    assert not {1102, 1103, 1104} & set(stream.codes)
    # As without filters: frames dropped on a stalled network are not a gap of the encoder, but on changes upwards none are
    # dropped.
    assert max(gaps_of(stream)[-30:]) < 400 + stream.stalled * 1000, (stream.ended, stream.stalled)
    assert stream.ended["videoSkipped"] <= len(sizes) / 20 + stream.stalled * 30, (stream.ended, stream.stalled)
    assert_decodes(stream)
