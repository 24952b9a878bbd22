"""The hardware encoder without faults: the module by itself, and the shipped binary with it, streaming to nginx on the host."""

import random
import re

import pytest

from encoder import PARAMETERS, SMALL, Publisher, Stream, assert_decodes, set_faults

pytestmark = pytest.mark.takes(minutes=3.4, processors=0.1)

# Tests that the Pi's own driver fails, too: it names formats of two codecs, lacks a control, rejects an interval of zero,
# reports no size for outputs without a size, uses the line's length for the crop's bounds, and accepts flags and sizes
# unchecked.
PI_FAILS = [
    "VIDIOC_QUERYCAP", "VIDIOC_QUERYCAP", "VIDIOC_(UN)SUBSCRIBE_EVENT/DQEVENT", "VIDIOC_G/S_PARM", "VIDIOC_TRY_FMT",
    "VIDIOC_S_FMT", "Cropping", "VIDIOC_(TRY_)ENCODER_CMD", "VIDIOC_REQBUFS/CREATE_BUFS/QUERYBUF",
]  # fmt: skip


def assert_compliant(board, node: str, tests: int, but_for: list[str]) -> None:
    text = board.run(f"v4l2-compliance -d {node}", timeout=120, check=False).text
    total = re.search(r"Total for .*: (\d+), Succeeded: (\d+), Failed: (\d+), Warnings: (\d+)", text)
    assert total and int(total[1]) == tests and total[4] == "0", text[-6000:]
    assert re.findall(r"test (.*): FAIL", text) == but_for, text[-6000:]


@pytest.mark.slow
def test_module_is_as_compliant_as_the_pis_driver(encoder):
    assert_compliant(encoder, "/dev/video11", 49, PI_FAILS)


def test_lossless_is_byte_exact(encoder, tmp_path):
    import subprocess

    raw = random.Random(4).randbytes(320 * 240 * 3 // 2) * 4
    encoder.put("/tmp/in.yuv", raw)
    set_faults(encoder, lossless=1)
    encoder.run(
        "v4l2-ctl -d /dev/video11 --set-fmt-video-out width=320,height=240,pixelformat=YU12 "
        "--stream-mmap --stream-out-mmap --stream-from /tmp/in.yuv --stream-to /tmp/out.h264 --stream-count 4"
    )
    coded = tmp_path / "out.h264"
    coded.write_bytes(encoder.get("/tmp/out.h264"))
    decoded = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(coded), "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
        capture_output=True, check=True,
    )  # fmt: skip
    assert decoded.stderr == b""
    assert decoded.stdout[: 320 * 240 * 3 // 2] == raw[: 320 * 240 * 3 // 2]
    assert raw.startswith(decoded.stdout) and len(decoded.stdout) >= len(raw) * 3 // 4


def test_the_encoder_is_found_among_decoys(encoder, nginx):
    nodes = encoder.run("for node in /sys/class/video4linux/video*; do cat $node/name; done").text
    assert "stateful-encoder" in nodes and "vivid" in nodes
    publisher = Publisher(encoder, nginx, "found", SMALL, "--encoder auto", "--duration 6")
    stream = publisher.finish()
    assert {event["encoder"] for event in stream.of("status")} == {"v4l2:/dev/video11"}
    assert not {1103, 1104} & set(stream.codes)
    assert_decodes(stream)


def test_requested_decoys_are_refused(encoder):
    names = encoder.run("grep . /sys/class/video4linux/video*/name").text
    for decoy in ("vivid", "stateful-encoder", "stateful-decoder"):
        node = re.search(rf"/(video\d+)/name:.*{decoy}", names)
        assert node, names
        refused = encoder.run(
            f"tallycam publish --encoder v4l2:/dev/{node[1]} --url rtmp://10.0.2.2:9/live/x --audio none", check=False)
        assert refused.status == 4 and f"/dev/{node[1]} cannot encode H.264: " in refused.text, refused.text
        assert "is not a memory-to-memory device" in refused.text or "does not produce H.264" in refused.text, refused.text
        assert "camera" not in refused.text, refused.text


def test_a_machine_without_one_uses_software_without_a_warning(encoder, nginx):
    encoder.run("rmmod virtual_h264")
    try:
        stream = Publisher(encoder, nginx, "soft", "--dimension 160x120", "--encoder auto", "--quality Low1",
                           "--duration 6").finish(90)  # fmt: skip
        assert {event["encoder"] for event in stream.of("status")} == {"openh264"}
        assert 1103 not in stream.codes and "warning" not in stream.text
        # With no size given, the size is what this processor can encode.
        plain = encoder.run(
            "tallycam publish --url rtmp://10.0.2.2:9/live/x --audio none --reconnect 0 --events json", check=False)
        assert "the software encoder is limited to what this processor manages: 640x480 at 15 fps" in plain.text, plain.text
        refused = encoder.run(
            "tallycam publish --encoder v4l2 --url rtmp://10.0.2.2:9/live/x --audio none", check=False)
        assert refused.status == 4 and "no H.264 encoder" in refused.text
    finally:
        encoder.run("insmod /board/encoder.ko")


@pytest.fixture
def other_maker(encoder):
    """Another maker's encoder in the Pi's place: single-planar, whole macroblocks, headers in separate buffers."""
    encoder.run("rmmod virtual_h264 && insmod /board/encoder.ko other_maker=1")
    (node,) = encoder.run("grep -l '^other-h264' /sys/class/video4linux/video*/name").text.split()
    yield f"/dev/{node.split('/')[4]}"
    encoder.end_all()
    encoder.run("rmmod virtual_h264 && insmod /board/encoder.ko")


def test_another_makers_encoder_works_as_well(encoder, nginx, other_maker):
    """360 lines are not a whole number of macroblocks; 480 are, so that a camera's memory is read directly. Keyframes and bit
    rates are requested while live. For 234 lines a driver that rounds down makes 224 until it is asked for more."""
    assert_compliant(encoder, other_maker, 48, [])
    publisher = Publisher(encoder, nginx, "other", "--dimension 640x360", "--encoder auto", "--quality Medium1",
                          "--adapt nothing", "--commands")  # fmt: skip
    publisher.wait_frames(20)
    for quality in ("Low2", "Medium3"):
        publisher.command(f"set quality {quality}")
        publisher.wait_frames(publisher.frames + 20)
    stream = publisher.stop()
    sps = stream.recording.sps
    assert (sps.width, sps.height) == (640, 360)
    assert len(stream.recording.key_times) >= 3
    leased = Publisher(
        encoder, nginx, "leased", "--dimension 640x480", "--quality Low3", "--duration 6",
        source="v4l2:/dev/video0,size=640x480,format=NV12",
    ).finish()  # fmt: skip
    status = leased.of("status")[-1]
    assert status["sourceConverted"] == status["sourceMapped"] == 0, status
    set_faults(encoder, rounds_down=1)
    whole = Publisher(encoder, nginx, "whole", "--dimension 416x234", "--quality Low1", "--duration 4").finish()
    assert (whole.recording.sps.width, whole.recording.sps.height) == (416, 234)
    for one in (stream, leased, whole):
        assert {event["encoder"] for event in one.of("status")} == {f"v4l2:{other_maker}"}
        # A processor that runs its own thread late loses a frame now and then; an emulated one does more often.
        assert one.ended["videoSkipped"] <= one.ended["videoFrames"] / 10 + one.most_replaced, one.ended
        assert not {1103, 1104} & set(one.codes)
        assert_decodes(one)


def publish_slowly(encoder, nginx, name: str, count: int, **faults: int) -> tuple[Stream, int, int]:
    """`count` frames with these faults, at five frames per second: only a stall that is long enough to be reported makes two of
    them due at once. Returns how many were sent and how many skipped, too."""
    publisher = Publisher(
        encoder, nginx, name, SMALL, "--quality Low3", "--adapt nothing", "--encoder v4l2:/dev/video11", "--commands")
    publisher.wait_frames(1)
    publisher.command("set fps 5")
    publisher.wait_status(lambda status: status["targetFramesPerSecond"] == 5, 30)
    set_faults(encoder, **faults)
    # The next report may be from before the faults, the one after it is not.
    last = publisher.last_status["t"]
    before = publisher.wait_status(lambda status: status["t"] > last + 1.5, 30)
    publisher.wait_frames(before["videoFrames"] + count)
    stream = publisher.stop()
    sent, skipped = (stream.ended[key] - before[key] for key in ("videoFrames", "videoSkipped"))
    return stream, sent, skipped


def test_every_frame_comes_out(encoder, nginx):
    stream, _, skipped = publish_slowly(encoder, nginx, "all", 40)
    assert skipped <= stream.most_replaced, (skipped, stream.stalled)
    sps = stream.recording.sps
    assert (sps.width, sps.height) == (320, 240)
    assert_decodes(stream)


def test_the_encoder_reads_vivids_memory(encoder, nginx):
    """vivid -> DMABUF -> encoder -> RTMP: nothing is copied by the processor."""
    stream = Publisher(
        encoder, nginx, "camera", "--dimension 640x480", "--quality Low3", "--duration 8",
        source="v4l2:/dev/video0,size=640x480,format=NV12",
    ).finish()  # fmt: skip
    status = stream.of("status")[-1]
    assert status["encoder"] == "v4l2:/dev/video11"
    assert status["sourceConverted"] == status["sourceMapped"] == 0, status
    assert stream.ended["videoFrames"] > 20
    assert_decodes(stream)


def test_silent_skips_are_counted_and_cause_no_recovery(encoder, nginx):
    stream, sent, skipped = publish_slowly(encoder, nginx, "skips", 30, skip_every=3)
    assert -3 <= skipped - sent / 2 <= 3 + stream.most_replaced, (sent, skipped, stream.stalled)
    assert not {1103, 1104} & set(stream.codes)
    # A skipped frame is not part of the bitstream, so nothing is damaged.
    assert_decodes(stream)


def patterns(length: int) -> list[int]:
    """All repeating patterns of skipped frames, except those that skip none or all. Rotated patterns are the same."""

    def turned(pattern: int, by: int) -> int:
        return (pattern >> by | pattern << length - by) & (1 << length) - 1

    return sorted({min(turned(pattern, by) for by in range(length)) for pattern in range(1, (1 << length) - 1)})


@pytest.mark.slow
def test_every_skip_pattern_at_low1(encoder, nginx):
    """Low1, 150 kbit/s: all 34 patterns over eight frames with up to seven skips in a row, two rounds of each."""
    publisher = Publisher(encoder, nginx, "low1", SMALL, "--quality Low1")
    publisher.wait_frames(12)
    every = patterns(8)
    assert len(every) == 34
    words = " ".join(map(str, every))
    encoder.run(
        f"cd {PARAMETERS}; echo 8 > skip_period; for pattern in {words}; do echo $pattern > skip_pattern; sleep 1.4; done",
        timeout=120,
    )
    set_faults(encoder, skip_period=0)
    publisher.wait_frames(publisher.frames + 12)
    stream = publisher.stop()
    # Half of all bits of all patterns are skips.
    assert stream.ended["videoSkipped"] > 150 and stream.ended["videoFrames"] > 150
    assert not {1102, 1103, 1104} & set(stream.codes)
    assert_decodes(stream)
