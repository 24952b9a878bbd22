"""The hardware encoder: the module by itself, and the shipped binary through it to nginx on the host."""

import random
import re
import time

import pytest
from board import HOST

from encoder import PARAMETERS, Publisher, assert_decodes, assert_goes_on_with_a_key_frame, set_faults

SMALL = "--dimension 320x240"

def assert_compliant(board, node: str) -> None:
    text = board.run(f"v4l2-compliance -d {node}", timeout=120, check=False).text
    total = re.search(r"Total for .*: (\d+), Succeeded: (\d+), Failed: (\d+), Warnings: (\d+)", text)
    assert total, text[-3000:]
    assert total[1] == total[2] and int(total[1]) >= 48 and total[3] == total[4] == "0", text[-6000:]


def test_module_is_compliant(encoder):
    assert_compliant(encoder, "/dev/video11")


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


def test_is_found_among_decoys(encoder, nginx):
    nodes = encoder.run("for node in /sys/class/video4linux/video*; do cat $node/name; done").text
    assert "stateful-encoder" in nodes and "vivid" in nodes
    publisher = Publisher(encoder, nginx, "found", SMALL, "--encoder auto", "--duration 6")
    stream = publisher.finish()
    assert {event["encoder"] for event in stream.of("status")} == {"v4l2:/dev/video11"}
    assert not {1103, 1104} & set(stream.codes)
    assert_decodes(stream)


def test_a_machine_without_one_takes_software_without_a_warning(encoder, nginx):
    encoder.run("rmmod virtual_h264")
    try:
        stream = Publisher(encoder, nginx, "soft", "--dimension 160x120", "--encoder auto", "--quality Low1",
                           "--duration 6").finish(90)  # fmt: skip
        assert {event["encoder"] for event in stream.of("status")} == {"openh264"}
        assert 1103 not in stream.codes
        refused = encoder.run(
            "tallycam publish --encoder v4l2 --url rtmp://10.0.2.2:9/live/x --audio none", check=False)
        assert refused.status == 4 and "no H.264 encoder" in refused.text
    finally:
        encoder.run("insmod /board/encoder.ko")


@pytest.fixture
def other_maker(encoder):
    """Another maker's encoder in the Pi's place: single-planar, whole macroblocks, headers in buffers of their own."""
    encoder.run("rmmod virtual_h264 && insmod /board/encoder.ko other_maker=1")
    (node,) = encoder.run("grep -l '^other-h264' /sys/class/video4linux/video*/name").text.split()
    yield f"/dev/{node.split('/')[4]}"
    encoder.end_all()
    encoder.run("rmmod virtual_h264 && insmod /board/encoder.ko")


def test_another_makers_encoder_does_as_well(encoder, nginx, other_maker):
    """360 lines are no whole macroblocks; 480 are, and a camera's memory goes in as it is. Key frames and bit rates
    are asked for under way."""
    assert_compliant(encoder, other_maker)
    publisher = Publisher(encoder, nginx, "other", "--dimension 640x360", "--encoder auto", "--quality Medium1",
                          "--adapt nothing", "--commands")  # fmt: skip
    publisher.wait_pictures(20)
    for quality in ("Low2", "Medium3"):
        publisher.command(f"set quality {quality}")
        publisher.wait_pictures(publisher.pictures + 20)
    stream = publisher.stop()
    sps = stream.recording.sps
    assert (sps.width, sps.height) == (640, 360)
    assert len(stream.recording.key_times) >= 3
    lent = Publisher(
        encoder, nginx, "lent", "--dimension 640x480", "--quality Low3", "--duration 6",
        source="v4l2:/dev/video0,size=640x480,format=NV12",
    ).finish()  # fmt: skip
    status = lent.of("status")[-1]
    assert status["sourceConverted"] == status["sourceMapped"] == 0, status
    for one in (stream, lent):
        assert {event["encoder"] for event in one.of("status")} == {f"v4l2:{other_maker}"}
        assert one.ended["videoSkipped"] == 0 and not {1103, 1104} & set(one.codes)
        assert_decodes(one)


def test_every_picture_comes_out(encoder, nginx):
    stream = Publisher(encoder, nginx, "all", SMALL, "--quality Low3", "--duration 10").finish()
    assert stream.ended["videoFrames"] > 30
    assert stream.ended["videoSkipped"] == 0
    sps = stream.recording.sps
    assert (sps.width, sps.height) == (320, 240)
    assert_decodes(stream)


def test_vivid_camera_lends_its_memory(encoder, nginx):
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


def test_silent_skips_are_counted_and_stop_nothing(encoder, nginx):
    set_faults(encoder, skip_every=3)
    stream = Publisher(encoder, nginx, "skips", SMALL, "--quality Low3", "--duration 10").finish()
    sent, skipped = stream.ended["videoFrames"], stream.ended["videoSkipped"]
    assert sent > 20 and abs(skipped - sent / 2) <= 3
    assert not {1103, 1104} & set(stream.codes)
    # A skipped picture is no part of the bitstream: nothing is damaged.
    assert_decodes(stream)


def patterns(length: int) -> list[int]:
    """Every pattern of skips in a row that is repeated, none or all left out; those that begin elsewhere are one."""

    def turned(pattern: int, by: int) -> int:
        return (pattern >> by | pattern << length - by) & (1 << length) - 1

    return sorted({min(turned(pattern, by) for by in range(length)) for pattern in range(1, (1 << length) - 1)})


def test_every_skip_pattern_at_low1(encoder, nginx):
    """Low1, 150 kbit/s: all 34 patterns over eight pictures, up to seven of them in a row, two rounds of each."""
    publisher = Publisher(encoder, nginx, "low1", SMALL, "--quality Low1")
    publisher.wait_pictures(12)
    every = patterns(8)
    assert len(every) == 34
    words = " ".join(map(str, every))
    encoder.run(
        f"cd {PARAMETERS}; echo 8 > skip_period; for pattern in {words}; do echo $pattern > skip_pattern; sleep 1.4; done",
        timeout=120,
    )
    set_faults(encoder, skip_period=0)
    publisher.wait_pictures(publisher.pictures + 12)
    stream = publisher.stop()
    # Half of all bits of all patterns are skips.
    assert stream.ended["videoSkipped"] > 150 and stream.ended["videoFrames"] > 150
    assert not {1102, 1103, 1104} & set(stream.codes)
    assert_decodes(stream)


@pytest.mark.parametrize("fault", ["error_every", "headers_every"])
def test_damaged_outputs_are_dropped_and_followed_by_a_key_frame(encoder, nginx, fault):
    set_faults(encoder, **{fault: 20})
    stream = Publisher(encoder, nginx, fault, SMALL, "--quality Low3", "--duration 12").finish()
    assert stream.ended["videoSkipped"] >= 3
    assert len(stream.recording.key_times) >= 4
    assert 1103 not in stream.codes
    assert_decodes(stream)


def test_pictures_larger_than_a_buffer_are_put_together(encoder, nginx):
    set_faults(encoder, buffer_bytes=600)
    stream = Publisher(encoder, nginx, "split", SMALL, "--quality Low3", "--duration 8").finish()
    assert stream.ended["videoFrames"] > 20
    assert max(len(tag.body) for tag in stream.recording.pictures) > 600
    assert_decodes(stream)


def test_a_stall_that_a_key_frame_ends(encoder, nginx):
    set_faults(encoder, swallow_after=30, stall_until_key=1)
    publisher = Publisher(encoder, nginx, "key", SMALL, "--quality Low3", "--duration 14")
    stream = publisher.finish()
    assert not {1103, 1104} & set(stream.codes)
    assert stream.ended["videoFrames"] > 50
    assert_decodes(stream)
    assert_goes_on_with_a_key_frame(stream)


@pytest.mark.parametrize("fault", ["stall_after", "swallow_after"])
def test_a_stall_that_reopening_ends(encoder, nginx, fault):
    set_faults(encoder, **{fault: 30}, stall_opens=1)
    stream = Publisher(encoder, nginx, fault, SMALL, "--quality Low3", "--duration 16").finish()
    assert stream.codes.count(1104) == 1 and 1103 not in stream.codes
    assert {event["encoder"] for event in stream.of("status")} == {"v4l2:/dev/video11"}
    assert stream.ended["videoFrames"] > 50
    assert_decodes(stream)
    assert_goes_on_with_a_key_frame(stream)


def test_a_stall_for_good_ends_in_software(encoder, nginx):
    set_faults(encoder, stall_after=20)
    stream = Publisher(encoder, nginx, "software", SMALL, "--quality Low1", "--duration 25").finish(90)
    assert stream.codes.count(1104) == 2 and stream.codes.count(1103) == 1
    assert stream.of("status")[-1]["encoder"] == "openh264"
    assert_decodes(stream)
    assert_goes_on_with_a_key_frame(stream)


def test_a_drain_that_never_ends_is_cut_off(encoder, nginx):
    set_faults(encoder, endless_drain=1)
    publisher = Publisher(encoder, nginx, "drain", SMALL, "--quality Low3")
    publisher.wait_pictures(10)
    begin = time.monotonic()
    assert_decodes(publisher.stop())
    assert time.monotonic() - begin < 8


@pytest.mark.parametrize("fault", ["busy_format", "fail_buffers"])
def test_an_encoder_that_refuses_gives_way_to_software(encoder, nginx, fault):
    set_faults(encoder, **{fault: 1})
    stream = Publisher(encoder, nginx, fault, "--dimension 160x120", "--encoder auto", "--quality Low1",
                       "--duration 8").finish(90)  # fmt: skip
    assert stream.codes.count(1103) == 1
    assert stream.of("status")[-1]["encoder"] == "openh264"
    assert_decodes(stream)


def test_a_setting_that_hangs_gives_way_to_software_and_the_hardware_comes_back(encoder, nginx):
    """The driver takes 3 s for a bit rate and holds its lock meanwhile, as the Pi's does. Then it is healed."""
    set_faults(encoder, slow_bitrate=1)
    publisher = Publisher(encoder, nginx, "slow", SMALL, "--quality Medium1", "--bitrate 150,512,512")
    publisher.wait_pictures(40)
    encoder.shape(rate="256kbit")
    publisher.process.wait_for('"code":1103', 40)
    encoder.unshape()
    set_faults(encoder, slow_bitrate=0)
    before = publisher.pictures
    publisher.wait_pictures(before + 20)
    assert publisher.last_status["encoder"] == "openh264"
    # A minute later the hardware is tried again, and stays.
    publisher.wait_status(lambda status: status["encoder"] != "openh264", 90)
    before = publisher.pictures
    publisher.wait_pictures(before + 100)
    stream = publisher.stop()
    assert stream.codes.count(1103) == 1 and stream.codes.count(1104) == 1
    (again,) = [event for event in stream.events if event.get("code") == 1104]
    assert "tried again" in again["reason"]
    (fall,) = [event for event in stream.events if event.get("code") == 1103]
    assert "has not returned" in fall["reason"]
    assert stream.of("status")[-1]["encoder"] == "v4l2:/dev/video11"
    times = [tag.timestamp for tag in stream.recording.pictures]
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert max(gaps) < 3500, "the picture stood for the two seconds that a call may take, and no longer"
    assert_decodes(stream)


def test_too_little_memory_makes_a_smaller_picture(encoder, nginx):
    set_faults(encoder, memory_kb=2500)
    stream = Publisher(
        encoder, nginx, "small", "--dimension 960x540", "--encoder auto", "--quality Low3", "--duration 6").finish()
    assert (stream.recording.sps.width, stream.recording.sps.height) == (640, 360)
    assert "got no memory for its buffers" in stream.text and "the picture is 640x360 now" in stream.text
    assert not {1103, 1104} & set(stream.codes)
    assert {event["encoder"] for event in stream.of("status")} == {"v4l2:/dev/video11"}
    assert_decodes(stream)


def test_no_memory_at_all_leads_to_software(encoder, nginx):
    set_faults(encoder, memory_kb=1000)
    stream = Publisher(
        encoder, nginx, "none", "--dimension 960x540", "--encoder auto", "--quality Low1", "--duration 6").finish(90)
    assert stream.codes.count(1103) == 1
    assert {event["encoder"] for event in stream.of("status")} == {"openh264"}
    # What the processor carries of the size that was asked for.
    assert (stream.recording.sps.width, stream.recording.sps.height) == (480, 256)
    assert_decodes(stream)
    refused = encoder.run(
        f"tallycam publish --encoder v4l2 --dimension 960x540 --audio none --url rtmp://{HOST}:9/live/x", check=False)
    assert refused.status == 4 and "got no memory for its buffers" in refused.text
