"""The hardware encoder's faults, each alone: damaged frames, stalls, refusals, too little memory."""

import errno

import pytest
from board import HOST

from encoder import (
    SMALL, Appliance, Publisher, ResourceUse, assert_decodes, assert_goes_on_with_a_keyframe, set_faults,
    unaccounted,
)  # fmt: skip

pytestmark = pytest.mark.takes(minutes=8.4, processors=0.2)


@pytest.mark.parametrize("fault", ["error_every", "headers_every"])
def test_damaged_outputs_are_dropped_and_followed_by_a_keyframe(encoder, nginx, fault):
    set_faults(encoder, **{fault: 20})
    stream = Publisher(encoder, nginx, fault, SMALL, "--quality Low3", "--duration 12").finish()
    sent, skipped = stream.ended["videoFrames"], stream.ended["videoSkipped"]
    # One of twenty frames is damaged, and the frames being encoded are lost with it. The next regular keyframe would come 30
    # frames after the last one, so half of the frames would be lost.
    assert 3 <= skipped < (sent + skipped) / 4, stream.ended
    assert not {1103, 1104} & set(stream.codes)
    assert_decodes(stream)


def test_frames_larger_than_a_buffer_are_joined(encoder, nginx):
    set_faults(encoder, buffer_bytes=600)
    stream = Publisher(encoder, nginx, "split", SMALL, "--quality Low3", "--duration 8").finish()
    assert stream.ended["videoFrames"] > 20
    assert max(len(tag.body) for tag in stream.recording.frames) > 600
    assert_decodes(stream)


def test_a_keyframe_ends_a_stall(encoder, nginx):
    set_faults(encoder, swallow_after=30, stall_until_key=1)
    publisher = Publisher(encoder, nginx, "key", SMALL, "--quality Low3", "--duration 14")
    stream = publisher.finish()
    assert not {1103, 1104} & set(stream.codes)
    assert stream.ended["videoFrames"] > 50
    assert_decodes(stream)
    assert_goes_on_with_a_keyframe(stream)


@pytest.mark.parametrize("fault", ["stall_after", pytest.param("swallow_after", marks=pytest.mark.slow)])
def test_reopening_ends_a_stall(encoder, nginx, fault):
    set_faults(encoder, **{fault: 30}, stall_opens=1)
    stream = Publisher(encoder, nginx, fault, SMALL, "--quality Low3", "--duration 16").finish()
    assert stream.codes.count(1104) == 1 and 1103 not in stream.codes
    assert {event["encoder"] for event in stream.of("status")} == {"v4l2:/dev/video11"}
    assert stream.ended["videoFrames"] > 50
    assert_decodes(stream)
    assert_goes_on_with_a_keyframe(stream)


def test_an_encoder_slightly_slow_to_stop_is_opened_again(encoder, nginx):
    """The camera gets its buffers back before that, and is not considered silent. A slower stop is bridged by software
    encoding: test_encoder_pace."""
    set_faults(encoder, stall_after=30, stall_opens=1, stop_ms=200)
    stream = Publisher(
        encoder, nginx, "slowstop", "--dimension 640x360", "--quality Low3", "--adapt nothing", "--duration 16",
        source="v4l2:/dev/video0,size=640x360,format=NV12",
    ).finish(60)  # fmt: skip
    assert stream.codes.count(1104) == 1 and 1103 not in stream.codes
    reports = stream.of("status")
    assert {report["encoder"] for report in reports} == {"v4l2:/dev/video11"}
    assert reports[-1]["sourceInterruptions"] == 0 and reports[-1]["videoFrames"] > 60
    assert_decodes(stream)
    assert_goes_on_with_a_keyframe(stream)


def test_a_stream_after_an_encoder_that_was_slow_to_stop_or_hangs(encoder, nginx):
    """A person who sees frozen video stops the stream and starts it again."""
    appliance = Appliance(encoder, nginx, "again")
    assert appliance.live_with() == "v4l2:/dev/video11"
    # The encoder to be stopped is stalled, and must not be opened again before.
    set_faults(encoder, swallow_after=1, stop_ms=2000)
    appliance.stop()
    set_faults(encoder, swallow_after=0)
    assert appliance.live_with() == "v4l2:/dev/video11"
    assert "the software encoder is in use" not in appliance.events
    # A hanging device is known to be an encoder: software was not a free choice, so it is reported and not permanent.
    set_faults(encoder, hang_release=1)
    try:
        appliance.stop()
        assert appliance.live_with() == "openh264"
        assert "the software encoder is in use: a call of /dev/video11 has not returned" in appliance.events
        appliance.stop()
    finally:
        set_faults(encoder, hang_release=0)
    appliance.wait_until_encoders_are_closed()
    assert appliance.live_with() == "v4l2:/dev/video11"
    appliance.stop()


def test_a_permanent_stall_ends_in_software(encoder, nginx):
    set_faults(encoder, stall_after=20)
    stream = Publisher(encoder, nginx, "software", SMALL, "--quality Low1", "--duration 25").finish(90)
    assert stream.codes.count(1104) == 2 and stream.codes.count(1103) == 1
    assert stream.of("status")[-1]["encoder"] == "openh264"
    assert_decodes(stream)
    assert_goes_on_with_a_keyframe(stream)


def test_a_stalled_encoder_returns_the_cameras_memory(encoder, nginx):
    """The inputs that it keeps are the camera's own: each step of the recovery takes them back, and the camera continues."""
    set_faults(encoder, stall_after=20)
    stream = Publisher(
        encoder, nginx, "kept", "--dimension 640x360", "--quality Low1", "--adapt nothing", "--duration 25",
        source="v4l2:/dev/video0,size=640x360,format=NV12",
    ).finish(90)  # fmt: skip
    assert stream.codes.count(1104) == 2 and stream.codes.count(1103) == 1
    reports = stream.of("status")
    leased = [report for report in reports if report["encoder"] != "openh264"]
    assert leased[-1]["sourceMapped"] == leased[-1]["sourceConverted"] == 0, leased[-1]
    assert reports[-1]["encoder"] == "openh264"
    assert reports[-1]["sourceFrames"] > leased[-1]["sourceFrames"] + 15
    assert_decodes(stream)
    assert_goes_on_with_a_keyframe(stream)


def test_a_drain_that_never_ends_is_cut_off(encoder, nginx):
    set_faults(encoder, endless_drain=1)
    publisher = Publisher(encoder, nginx, "drain", SMALL, "--quality Low3")
    publisher.wait_frames(10)
    # From now on frames stay inside, so that the drain waits for something.
    set_faults(encoder, swallow_after=1)
    encoder.sleep(0.5)
    start = encoder.seconds
    stream = publisher.stop()
    assert encoder.seconds - start < 8 + stream.stalled
    assert stream.ended["videoSkipped"] > 0
    assert_decodes(stream)


@pytest.mark.parametrize("fault", ["busy_format", "fail_buffers"])
def test_a_refusing_encoder_is_replaced_by_software(encoder, nginx, fault):
    set_faults(encoder, **{fault: 1})
    stream = Publisher(encoder, nginx, fault, "--dimension 160x120", "--encoder auto", "--quality Low1",
                       "--duration 8").finish(90)  # fmt: skip
    assert stream.codes.count(1103) == 1
    assert stream.of("status")[-1]["encoder"] == "openh264"
    assert_decodes(stream)


@pytest.mark.slow
def test_a_hanging_setting_leads_to_software_until_the_hardware_returns(encoder, nginx):
    """The driver takes 3 s for a bit rate and holds its lock meanwhile, as the Pi's does. Then the fault is cleared."""
    set_faults(encoder, slow_bitrate=1)
    publisher = Publisher(encoder, nginx, "slow", SMALL, "--quality Medium1", "--bitrate 150,512,512")
    publisher.wait_frames(40)
    encoder.shape(rate="256kbit")
    publisher.process.wait_for('"code":1103', 40)
    encoder.unshape()
    set_faults(encoder, slow_bitrate=0)
    before = publisher.frames
    publisher.wait_frames(before + 20)
    assert publisher.last_status["encoder"] == "openh264"
    # A minute later the hardware is tried again, and stays in use.
    publisher.wait_status(lambda status: status["encoder"] != "openh264", 90)
    before = publisher.frames
    publisher.wait_frames(before + 100)
    stream = publisher.stop()
    assert stream.codes.count(1103) == 1 and stream.codes.count(1104) == 1
    (again,) = [event for event in stream.events if event.get("code") == 1104]
    assert "works again" in again["reason"]
    (fall,) = [event for event in stream.events if event.get("code") == 1103]
    assert "has not returned" in fall["reason"]
    assert stream.of("status")[-1]["encoder"] == "v4l2:/dev/video11"
    times = [tag.timestamp for tag in stream.recording.frames]
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert max(gaps) < 3500 + stream.stalled * 1000, "the video stood still for the two seconds that a call may take, and no longer"
    assert_decodes(stream)


def test_too_little_memory_makes_a_smaller_frame(encoder, nginx):
    set_faults(encoder, memory_kb=2500, memory_errno=errno.ENOMEM)
    stream = Publisher(
        encoder, nginx, "small", "--dimension 960x540", "--encoder auto", "--quality Low3", "--duration 6").finish()
    assert (stream.recording.sps.width, stream.recording.sps.height) == (640, 360)
    assert "got no memory for its buffers" in stream.text and "the frame size is 640x360 now" in stream.text
    assert not {1103, 1104} & set(stream.codes)
    assert {event["encoder"] for event in stream.of("status")} == {"v4l2:/dev/video11"}
    assert_decodes(stream)


def test_having_no_memory_at_all_leads_to_software(encoder, nginx):
    set_faults(encoder, memory_kb=1000, memory_errno=errno.ENOMEM)
    stream = Publisher(
        encoder, nginx, "none", "--dimension 960x540", "--encoder auto", "--quality Low1", "--duration 6").finish(90)
    assert stream.codes.count(1103) == 1
    assert {event["encoder"] for event in stream.of("status")} == {"openh264"}
    # As much of the requested size as the processor can encode.
    assert (stream.recording.sps.width, stream.recording.sps.height) == (480, 256)
    assert_decodes(stream)
    refused = encoder.run(
        f"tallycam publish --encoder v4l2 --dimension 960x540 --audio none --url rtmp://{HOST}:9/live/x", check=False)
    assert refused.status == 4 and "got no memory for its buffers" in refused.text


def test_a_chosen_encoder_is_waited_for_and_then_missed(encoder, nginx):
    """With --encoder v4l2 no stream starts without it: passing faults get three attempts, and then the report names a
    remedy."""
    set_faults(encoder, busy_format=1)
    publisher = Publisher(encoder, nginx, "moment", SMALL, "--quality Low3", "--duration 4")
    publisher.process.wait_for("opening it again", 30)
    set_faults(encoder, busy_format=0)
    stream = publisher.finish()
    assert {event["encoder"] for event in stream.of("status")} == {"v4l2:/dev/video11"}
    assert not {1103, 1104} & set(stream.codes)
    assert_decodes(stream)
    set_faults(encoder, busy_format=1)
    refused = encoder.run(
        f"tallycam publish --encoder v4l2 --audio none --events json --url rtmp://{HOST}:9/live/x", check=False)
    assert refused.status == 4 and '"code":-1303' in refused.text
    assert refused.text.count("opening it again") == 2 and "with --encoder auto" in refused.text


def test_a_live_stream_continues_when_the_chosen_encoder_fails(encoder, nginx):
    """With --encoder v4l2, a switch to another profile needs a new encoder just when it refuses: software takes over."""
    publisher = Publisher(
        encoder, nginx, "outlives", "--dimension 640x360", "--quality Medium3", "--adapt restart", "--commands",
        source="v4l2:/dev/video0,size=640x360,format=NV12",
    )  # fmt: skip
    publisher.wait_frames(20)
    assert publisher.wait_status(lambda status: True, 10)["encoder"] == "v4l2:/dev/video11"
    set_faults(encoder, busy_format=1)
    publisher.command("set quality High1")
    publisher.process.wait_for('"code":1103', 30)
    publisher.wait_frames(publisher.frames + 20)
    stream = publisher.stop()
    (fall,) = [event for event in stream.events if event["code"] == 1103]
    assert "refuses the format" in fall["reason"] and not {1102, 1104} & set(stream.codes)
    assert all(event["code"] >= 0 for event in stream.events)
    assert stream.of("status")[-1]["encoder"] == "openh264"
    assert stream.recording.frames[0].is_keyframe and stream.recording.decoded.complaints == ""
    assert unaccounted(stream.ended) == 0, stream.ended


@pytest.mark.parametrize(
    "fault", ["hang_open", *(pytest.param(name, marks=pytest.mark.slow) for name in ("hang_buffers", "hang_release"))]
)
def test_a_hanging_driver_costs_one_thread_however_often_it_is_tried(encoder, nginx, fault):
    """Each switch to another profile closes the encoder and opens one. Then the fault is cleared, and the driver serves
    again."""
    publisher = Publisher(
        encoder, nginx, fault, "--dimension 640x360", "--quality Medium3", "--adapt restart", "--commands",
        source="v4l2:/dev/video0,size=640x360,format=NV12",
    )  # fmt: skip
    publisher.wait_frames(20)
    publisher.wait_status(lambda status: status["encoder"] == "v4l2:/dev/video11", 10)
    use = ResourceUse(encoder, publisher.process.pid)
    use.measure()
    set_faults(encoder, **{fault: 1})
    try:
        for count, quality in enumerate(["High1", "Medium3", "High1", "Medium3", "High1"], start=1):
            publisher.command(f"set quality {quality}")
            publisher.wait_event(1103, count, 30)
            publisher.wait_frames(publisher.frames + 10)
            use.measure()
    finally:
        set_faults(encoder, **{fault: 0})
    # The hung call continues from there to its end.
    encoder.sleep(3)
    # Only the first hanging call has a thread. A connection may be ending or starting.
    assert max(use.threads[2:]) <= use.threads[1] + 1, use.threads
    assert max(use.descriptors[2:]) <= use.descriptors[1] + 2, use.descriptors
    publisher.command("set quality Medium3")
    publisher.wait_status(lambda status: status["encoder"] == "v4l2:/dev/video11", 30)
    publisher.wait_frames(publisher.frames + 20)
    stream = publisher.stop()
    falls = [event for event in stream.events if event.get("code") == 1103]
    assert len(falls) == 5 and all("has not returned" in event["reason"] for event in falls), falls
    assert 1102 not in stream.codes and all(event.get("code", 0) >= 0 for event in stream.events)
    assert stream.recording.decoded.complaints == "" and unaccounted(stream.ended) == 0


def test_a_driver_that_hangs_when_queried_delays_no_stream(encoder, nginx):
    set_faults(encoder, hang_open=1)
    try:
        start = encoder.seconds
        publisher = Publisher(
            encoder, nginx, "silent", "--dimension 160x120", "--encoder auto", "--quality Low1", "--duration 5")
        publisher.wait_live(30)
        assert encoder.seconds - start < 20
        stream = publisher.finish(60)
        refused = encoder.run(
            f"tallycam publish --encoder v4l2:/dev/video11 --audio none --events json --url rtmp://{HOST}:9/live/x",
            check=False)
    finally:
        set_faults(encoder, hang_open=0)
    assert "a call of /dev/video11 has not returned" in stream.text
    assert {event["encoder"] for event in stream.of("status")} == {"openh264"}
    assert_decodes(stream)
    assert refused.status == 4 and "has not returned" in refused.text and "with --encoder auto" in refused.text
