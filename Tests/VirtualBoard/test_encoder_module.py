"""The encoder module by itself, compared with what is known of the Pi's driver. A small program in the guest makes the
calls."""

import errno
import random
import re
import statistics
import subprocess
from pathlib import Path

import pytest

from encoder_client import Answers, Client
from encoder import PARAMETERS, kernel_is_content, set_faults
from leases import DEBUG, ENCODER_HOLDS, HOLDERS, mount_debug
from stalls import Stalls

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=3.3, processors=0.2)]

NODE = "/dev/video11"
I_PERIOD, GOP_SIZE, BITRATE, FORCE_KEY = 0x00990A66, 0x009909CB, 0x009909CF, 0x009909E5
LEVEL, MIN_BUFFERS = 0x00990A67, 0x00980928
FRAME_TIMES = [0, 20, 36, 45, 60]


@pytest.fixture
def client(encoder, client_program) -> Client:
    yield Client(encoder, client_program)
    set_faults(encoder, stop_ms=0)


def opened(size: str = "320 240", frames: int = 6, coded: int = 3, memory: str = "own", fourcc: str = "NV12") -> str:
    """Calls up to the buffers, with lines of the length that the Pi requires."""
    return (
        f"open {NODE} format frames {fourcc} {size} format coded H264 {size} buffers frames {frames} {memory} "
        f"buffers coded {coded} own"
    )


START = "on frames on coded"


def took(milliseconds: int, seconds: float, stalls: Stalls) -> bool:
    return seconds * 1000 - 50 <= milliseconds < (seconds + 0.9 + stalls.longest) * 1000


def is_soon(milliseconds: int, stalls: Stalls) -> bool:
    return milliseconds < (0.5 + stalls.longest) * 1000


# Memory.


IMPORTED = f"borrow /dev/video0 4 {opened('640 360', 4, memory='imported')} {START} feed 8 5 quiet 600"


def prepare_camera(board) -> None:
    board.run("v4l2-ctl -d /dev/video0 --set-fmt-video width=640,height=360,pixelformat=NV12")


def test_contiguous_memory_is_read_directly(client, encoder):
    prepare_camera(encoder)
    answers = client.run(IMPORTED).assert_fine()
    assert len(answers.coded) == len(answers.back("frame")) == 8


def test_leased_memory_has_the_expected_holders(client, encoder):
    """The descriptor, and the holders that its encoder adds; the processor has no mapping here."""
    prepare_camera(encoder)
    mount_debug(encoder)
    set_faults(encoder, frame_ms=20)
    borrower = encoder.start(f"/tmp/client {IMPORTED} run 8000")
    borrower.wait_for('"frame":8', 20)
    text = encoder.run(f"cat {DEBUG}/dma_buf/bufinfo").text
    holders = [int(count) for count in re.findall(r"^\d+\s+\S+\s+\S+\s+(\d+)\s+videobuf2", text, re.MULTILINE)]
    assert holders == [1 + ENCODER_HOLDS] * 4 == [HOLDERS - 1] * 4, text
    borrower.end()
    assert "videobuf2" not in encoder.run(f"cat {DEBUG}/dma_buf/bufinfo").text


def test_scattered_memory_is_refused_when_queued(scattered_camera, client, encoder):
    prepare_camera(encoder)
    answers = client.run(IMPORTED)
    assert answers.errors("QBUF") == [errno.EFAULT] and not answers.back("frame")
    assert answers.errors("STREAMON") == [0, 0]


def test_a_more_tolerant_encoder_reads_any_memory(scattered_camera, any_memory, client, encoder):
    prepare_camera(encoder)
    assert len(client.run(IMPORTED).assert_fine().coded) == 8


# Time.


@pytest.mark.parametrize("milliseconds", FRAME_TIMES[1:])
def test_a_frame_takes_its_time_and_several_are_encoded_at_once(client, encoder, milliseconds):
    set_faults(encoder, frame_ms=milliseconds)
    answers = client.run(opened(), START, "feed 24 1 quiet 600").assert_fine()
    coded, back = answers.coded, answers.back("frame")
    assert [line["frame"] for line in coded] == [line["frame"] for line in back] == list(range(1, 25))
    # No more frames than that; the guest's processor may be late with a due frame.
    times = [line["at"] for line in coded]
    assert milliseconds - 1 <= times[0] and 24 * milliseconds - 2 <= times[-1], times
    assert statistics.median(after - before for before, after in zip(times, times[1:])) < 3 * milliseconds, times
    # An input is returned before its output, and meanwhile all the others are being encoded. A late processor sees both at once.
    early = [after["at"] - before["at"] for before, after in zip(back, coded)]
    assert min(early) >= 0 and max(early) > milliseconds * 0.15, early
    assert any(line["inside"] >= 5 for line in answers if "inside" in line), answers


def test_an_encoder_without_a_frame_time_waits_for_nothing(client):
    answers = client.run(opened(), START, "feed 24 1 quiet 600").assert_fine()
    assert len(answers.coded) == len(answers.back("frame")) == 24


@pytest.mark.parametrize("milliseconds", FRAME_TIMES)
def test_every_fault_occurs_at_any_frame_time(client, encoder, milliseconds):
    def run(*words: str, **faults: int) -> Answers:
        set_faults(encoder, frame_ms=milliseconds, **faults)
        answers = client.run(opened(), START, *words)
        set_faults(encoder, **dict.fromkeys(faults, 0))
        return answers

    rest = f"quiet {500 + 2 * milliseconds}"
    skipped = run(f"feed 12 1 {rest}", skip_every=3)
    assert [line["frame"] for line in skipped.coded] == [1, 2, 4, 5, 7, 8, 10, 11] and len(skipped.back("frame")) == 12
    broken = run(f"feed 12 1 {rest}", error_every=4)
    assert [line["frame"] for line in broken.coded if line["error"]] == [4, 8, 12] and len(broken.coded) == 12
    assert all(line["bytes"] for line in broken.coded)
    headers = run(f"feed 12 1 {rest}", headers_every=4)
    assert all(line["bytes"] < 60 for line in headers.coded if line["frame"] % 4 == 0) and len(headers.coded) == 12
    stalled = run(f"feed 9 1 {rest} off frames off coded", stall_after=4)
    assert len(stalled.coded) == len(stalled.back("frame")) == 3 and stalled.errors("STREAMOFF") == [0, 0]
    swallowed = run(f"feed 9 1 {rest}", swallow_after=4)
    assert len(swallowed.coded) == 3 and len(swallowed.back("frame")) == 9
    healed = run(f"feed 6 1 {rest} set {FORCE_KEY} 1 feed 6 1 {rest}", swallow_after=4, stall_until_key=1)
    assert [line["frame"] for line in healed.coded] == [1, 2, 3, *range(7, 13)]
    assert [line["frame"] for line in healed.coded if line["key"]] == [1, 7]
    split = run(f"set {BITRATE} 300000 feed 6 1 {rest}", buffer_bytes=600)
    assert {line["frame"] for line in split.coded} == set(range(1, 7)) and len(split.coded) > 8
    assert max(line["bytes"] for line in split.coded) == 600
    endless = run(f"feed 6 1 stop {rest}", endless_drain=1)
    assert len(endless.coded) == 6 == len(endless.back("coded"))
    drained = run(f"feed 6 1 stop {rest}")
    assert len(drained.coded) == 6 and drained.back("coded")[-1]["last"] == 1


# Errors.


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOENT, errno.ESRCH])
def test_the_firmwares_status_is_the_error_on_start(client, encoder, number):
    set_faults(encoder, stream_errno=number)
    answers = client.run(opened(), START)
    assert answers.errors("REQBUFS") == [0, 0] and answers.errors("STREAMON") == [number, number]
    set_faults(encoder, stream_errno=0)
    assert len(client.run(opened(), START, "feed 4 1 quiet 600").assert_fine().coded) == 4


def test_without_a_component_buffers_are_invalid(client, encoder):
    set_faults(encoder, no_component=1)
    assert client.run(f"open {NODE} buffers frames 4 own buffers coded 3 own").errors("REQBUFS") == [errno.EINVAL] * 2


def test_missing_memory_is_reported_in_three_ways(client, encoder):
    """The VideoCore's memory on start or for its component, or the kernel's memory for buffers; a smaller frame fits."""
    for number, reqbufs, streamon in [
        (errno.EPERM, [0, 0], [errno.EPERM] * 2), (errno.EINVAL, [errno.EINVAL] * 2, None),
        (errno.ENOMEM, [errno.ENOMEM, 0], None),
    ]:  # fmt: skip
        set_faults(encoder, memory_kb=2000, memory_errno=number)
        large = client.run(opened("960 540", 4), START)
        assert large.errors("REQBUFS") == reqbufs, (number, large)
        assert streamon is None or large.errors("STREAMON") == streamon, (number, large)
        set_faults(encoder, memory_kb=3000)
        client.run(opened("640 360", 4), START).assert_fine()


def test_a_slow_bit_rate_change_ends_with_an_error(client, encoder):
    stalls = Stalls(encoder)
    set_faults(encoder, slow_bitrate=1)
    answers = client.run(opened(), START, f"feed 2 1 set {BITRATE} 500000")
    assert answers.errors("S_EXT_CTRLS") == [errno.EINVAL] and took(answers.milliseconds("S_EXT_CTRLS")[0], 3, stalls)


def test_unsupported_formats_are_refused_and_never_coded(client):
    """RGB, MJPEG, and too low a level."""
    for words in [
        opened(fourcc="RGB3"), opened().replace("coded H264", "coded MJPG"),
        opened("1280 720").replace("buffers", f"set {LEVEL} 0 buffers", 1),
    ]:  # fmt: skip
        answers = client.run(words, "on frames on coded feed 2 1 run 100")
        assert answers.errors("REQBUFS") == [0, 0], answers
        assert errno.ESRCH in answers.errors("STREAMON") and not answers.coded, answers


# Silence.


def test_a_stalled_encoder_stops_after_two_seconds_per_queue(client, encoder):
    stalls = Stalls(encoder)
    encoder.run("rmmod virtual_h264 && insmod /board/encoder.ko")
    set_faults(encoder, stall_after=2)
    answers = client.run(opened(), START, "feed 4 1 run 100 off frames off coded close").assert_fine()
    assert all(took(milliseconds, 2, stalls) for milliseconds in answers.milliseconds("STREAMOFF")), answers
    assert is_soon(answers.milliseconds("close")[0], stalls)
    kernel_is_content(encoder)


def test_silent_firmware_costs_three_seconds_per_message_and_every_call_returns(client, encoder):
    stalls = Stalls(encoder)
    dead = f"parameter silent 1 open {NODE} format frames NV12 320 240 buffers frames 4 own close"
    refused = client.run(dead)
    assert refused.errors("REQBUFS") == [errno.EINVAL] and took(refused.milliseconds("REQBUFS")[0], 3, stalls)
    assert is_soon(refused.milliseconds("open")[0], stalls) and is_soon(refused.milliseconds("close")[0], stalls)
    unstarted = client.run("parameter silent 0", opened(), "parameter silent 1 on frames close parameter silent 0")
    # The component and the port; closing releases the component.
    assert unstarted.errors("STREAMON") == [errno.ETIME] and took(unstarted.milliseconds("STREAMON")[0], 6, stalls)
    control = client.run(
        opened(), START, f"feed 2 1 parameter silent 1 set {BITRATE} 500000 set {FORCE_KEY} 1 stop parameter silent 0")
    assert control.errors("S_EXT_CTRLS") == [errno.EINVAL] * 2
    assert all(took(milliseconds, 3, stalls) for milliseconds in control.milliseconds("S_EXT_CTRLS")), control
    assert control.errors("STOP") == [0] and is_soon(control.milliseconds("STOP")[0], stalls)


def test_a_short_silence_loses_nothing(client, encoder):
    answers = client.run(
        opened(), START, "feed 6 1 quiet 600 parameter silent 1 feed 3 30 run 800 parameter silent 0 feed 3 30 quiet 600")
    assert len(answers.assert_fine().coded) == len(answers.back("frame")) == 12


def test_ports_that_silent_firmware_did_not_disable_give_nothing_in_the_next_use(client, encoder):
    stalls = Stalls(encoder)
    closed = client.run(
        opened(), START, "feed 4 1 parameter silent 1 feed 4 1 run 100 off frames off coded close parameter silent 0",
        timeout=90,
    )  # fmt: skip
    # 3 s plus 2 s per queue, and 3 s for the component after the second; again for the component on closing, and for its end.
    frames, coded = closed.milliseconds("STREAMOFF")
    assert took(frames, 5, stalls) and took(coded, 8, stalls) and took(closed.milliseconds("close")[0], 6, stalls), closed
    assert closed.errors("STREAMOFF") == [0, 0]
    after = client.run(opened(), START, "feed 6 1 run 600 off frames off coded close").assert_fine()
    assert not after.coded and not after.back("frame") and is_soon(max(after.milliseconds("STREAMOFF")), stalls)
    healed = client.run(opened(), START, "feed 6 1 quiet 600").assert_fine()
    assert len(healed.coded) == 6
    kernel_is_content(encoder)


def test_another_opening_waits_for_a_slow_closing(client, encoder):
    """The driver has one lock; several simultaneous openings are not an error."""
    both = client.run(opened(), START, "feed 4 1", opened(), START, "feed 4 1 quiet 600 use 0 feed 4 1 quiet 600").assert_fine()
    assert len(both.coded) == 12
    set_faults(encoder, stall_after=1, stop_ms=5000)
    slow = encoder.start(f"/tmp/client {opened()} {START} feed 2 1 off frames")
    slow.wait_for('"fed":2', 10)
    assert client.run(f"sleep 300 open {NODE} get frames").milliseconds("open")[0] > 1000
    slow.wait(20)


# The stream.


def test_the_end_is_a_separate_empty_buffer(client, encoder):
    answers = client.run(opened(), START, f"set {FORCE_KEY} 1 feed 5 1 stop quiet 600").assert_fine()
    *frames, last = answers.back("coded")
    assert len(frames) == 5 and not any(line["last"] for line in frames)
    assert (last["last"], last["bytes"], last["key"]) == (1, 0, 0)
    # Buffers have no sequence numbers, and only keyframes are flagged.
    assert not any(line["sequence"] or line["p"] for line in answers.back("coded") + answers.back("frame"))
    assert [line["key"] for line in frames] == [1, 0, 0, 0, 0]
    empty = client.run(opened(), START, "stop quiet 600").assert_fine()
    assert [line["last"] for line in empty.back("coded")] == [1]


def test_the_keyframe_period_has_two_names(client):
    answers = client.run(f"open {NODE} set {I_PERIOD} 7 value {GOP_SIZE} value {MIN_BUFFERS}")
    values = [(line["control"], line["errno"]) for line in answers if "control" in line]
    assert values == [(7, 0), (0, errno.EINVAL)]
    answers = client.run(f"{opened()} set {I_PERIOD} 3 {START} feed 8 1 quiet 600").assert_fine()
    assert [line["frame"] for line in answers.coded if line["key"]] == [1, 4, 7]


# Formats.


def test_formats_match_the_pis_driver(client):
    answers = client.run(
        f"open {NODE} get frames get coded bounds format frames NV12 417 239 bounds format coded H264 0 0 "
        "format frames YU12 10 5000 list frames list coded"
    )
    fresh, coded, odd, none, limits = [line for line in answers if "format" in line]
    rec709 = 3
    assert fresh | {"fourcc": "YU12", "width": 32, "height": 32, "stride": 64, "colorspace": rec709} == fresh
    assert coded | {"fourcc": "H264", "width": 32, "height": 32, "size": 512 << 10} == coded
    assert odd | {"width": 417, "height": 239, "stride": 448, "size": 448 * 239 * 3 // 2} == odd
    assert (none["width"], none["height"], none["errno"]) == (0, 0, 0)
    assert (limits["width"], limits["height"]) == (32, 1920)
    assert [line["bounds"] for line in answers if "bounds" in line] == [[64, 32], [448, 239]]
    frames, coded = [line["formats"] for line in answers if "formats" in line]
    assert frames[:4] == ["YU12", "YV12", "NV12", "NV21"] and {"YUYV", "UYVY", "RGB3", "BGR4"} <= set(frames)
    assert coded == ["H264", "MJPG"]


def test_related_nodes_have_other_roles(client, encoder):
    for number, role, frames, coded, starts in [
        (10, "decode", "H264", "YU12", False), (12, "isp", "YU12", "YU12", True),
        (18, "image_fx", "YU12", "YU12", False), (31, "encode_image", "YU12", "JPEG", False),
    ]:  # fmt: skip
        assert encoder.run(f"cat /sys/class/video4linux/video{number}/name").text.strip() == f"bcm2835-codec-{role}"
        assert "Memory-to-Memory Multiplanar" in encoder.run(f"v4l2-ctl -d /dev/video{number} --info").text
        answers = client.run(f"open /dev/video{number} list frames list coded buffers frames 2 own buffers coded 2 own {START}")
        lists = [line["formats"] for line in answers if "formats" in line]
        assert (lists[0][0], lists[1][0]) == (frames, coded)
        assert answers.errors("STREAMON") == [0 if starts else errno.ESRCH] * 2


@pytest.mark.parametrize("fourcc, luma, chroma", [("YUYV", 0, (1, 3)), ("YVYU", 0, (3, 1)), ("UYVY", 1, (0, 2)), ("VYUY", 1, (2, 0))])
def test_packed_formats_are_encoded_directly(encoder, tmp_path, fourcc, luma, chroma):
    width, height = 320, 240
    raw = random.Random(5).randbytes(width * height * 2)
    encoder.put("/tmp/in.raw", raw)
    set_faults(encoder, lossless=1)
    encoder.run(
        f"v4l2-ctl -d {NODE} --set-fmt-video-out width={width},height={height},pixelformat={fourcc} "
        "--stream-mmap --stream-out-mmap --stream-from /tmp/in.raw --stream-to /tmp/out.h264 --stream-count 1"
    )
    (tmp_path / "out.h264").write_bytes(encoder.get("/tmp/out.h264"))
    decoded = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(tmp_path / "out.h264"), "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
        capture_output=True, check=True,
    )  # fmt: skip
    lines = [raw[2 * width * line : 2 * width * (line + 1)] for line in range(height)]
    planes = [b"".join(line[luma::2] for line in lines)]
    planes += [b"".join(line[start::4] for line in lines[::2]) for start in chroma]
    assert decoded.stderr == b"" and decoded.stdout[: width * height * 3 // 2] == b"".join(planes)


def test_parameters_are_documented(encoder):
    """Every parameter of the module is in the table, and the table has no others."""
    names = set(encoder.run(f"ls {PARAMETERS}").text.split())
    text = Path(__file__).parents[2].joinpath("docs/develop/virtual-board.md").read_text()
    named = set(re.findall(r"`(\w+)(?:=\w+)?`", text[text.index("## The encoder module") :]))
    assert names <= named, names - named
