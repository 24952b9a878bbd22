"""An encoder at its limits: slightly slower than the camera, unable to read the camera's memory, or with firmware that stops
responding for a time, as on a Raspberry Pi."""

import errno

import pytest
from board import HOST

from encoder import SMALL, Appliance, Publisher, Stream, assert_decodes, set_faults

pytestmark = [pytest.mark.takes(minutes=7.1, processors=0.15), pytest.mark.paced]

CAMERA = "v4l2:/dev/video0,size=640x360,format=NV12"
# Twelve frames per second, for what takes minutes.
SLOW_CAMERA = "v4l2:/dev/video0,size=320x180,format=NV12"
SLOW = ("--dimension 320x180", "--quality Low1", "--adapt nothing")
AS_CAPTURED = ("--dimension 640x360", "--quality Medium1", "--adapt nothing")
HARDWARE, SOFTWARE = "v4l2:/dev/video11", "openh264"


# Milliseconds from one frame to the next, if the camera skips one or two.
LONGEST_USUAL = 120


def gaps(stream: Stream, start: float = 1.0) -> list[int]:
    """Milliseconds from one frame to the next, without the first seconds."""
    times = [tag.timestamp for tag in stream.recording.frames if tag.timestamp >= start * 1000]
    return [after - before for before, after in zip(times, times[1:])]


@pytest.mark.parametrize("milliseconds, rates", [
    (36, (24, 28.5)), pytest.param(45, (19.5, 22.7), marks=pytest.mark.slow),
])
def test_an_encoder_slower_than_the_camera_gives_even_frames(encoder, nginx, capsys, milliseconds, rates):
    """The encoder holds all of the camera's buffers, and the camera cannot capture without a free buffer."""
    set_faults(encoder, frame_ms=milliseconds)
    stream = Publisher(encoder, nginx, f"pace{milliseconds}", *AS_CAPTURED, "--duration 14", source=CAMERA).finish(90)
    found = sorted(gaps(stream))
    # A host that does not run the guest for a moment makes a longer gap, which says nothing about the encoder's rate.
    usual = [gap for gap in found if gap <= LONGEST_USUAL]
    rate = 1000 * len(usual) / sum(usual)
    report = stream.of("status")[-1]
    with capsys.disabled():
        print(f"\n  {milliseconds} ms a frame: {rate:.1f} fps, gaps {found[0]} to {found[-1]} ms, "
              f"{stream.ended['videoSkipped']} skipped, {report['sourceDropped']} dropped by the camera")  # fmt: skip
    assert rates[0] <= rate <= rates[1], (rate, found[-20:])
    # The emulated processor is late now and then. Repeating a frame used to take half a second.
    assert found[len(found) * 95 // 100] <= LONGEST_USUAL and found[-1] < 400 + stream.stalled * 1000, found[-20:]
    assert stream.ended["videoSkipped"] + report["sourceDropped"] > 20, "skipped frames are not counted"
    assert report["sourceConverted"] == report["sourceMapped"] == 0, report
    assert not {1103, 1104} & set(stream.codes)
    assert_decodes(stream)


def test_frames_unreadable_for_the_driver_are_copied_once(encoder, scattered_camera, nginx):
    """The import is refused with the first frame, which is encoded all the same."""
    stream = Publisher(encoder, nginx, "scattered", *AS_CAPTURED, "--duration 10", source=CAMERA).finish(90)
    assert not {1103, 1104} & set(stream.codes)
    reports = stream.of("status")
    assert {report["encoder"] for report in reports} == {HARDWARE}
    assert stream.text.count("each frame is copied into the encoder's own") == 1
    # Allocating the encoder's own inputs takes a moment, half a second in a busy guest, in which the newest frame waits. The
    # first frame is already encoded.
    assert stream.ended["videoSkipped"] <= 15 + stream.stalled * 30, (stream.ended, stream.stalled)
    assert stream.recording.frames[0].timestamp < 250 + stream.stalled * 1000, stream.stalled
    # One copy for each frame that was not skipped; a few may be in progress.
    taken = reports[-1]["sourceFrames"] - reports[-1]["videoSkipped"]
    assert abs(reports[-1]["sourceConverted"] - taken) <= 5, reports[-1]
    assert reports[-1]["sourcePasses"] == reports[-1]["sourceConverted"] > 60
    assert_decodes(stream)


@pytest.mark.parametrize("fault", [{"stream_errno": 1}, {"stream_errno": 2}, {"stream_errno": 3}, {"no_component": 1}])
def test_an_encoder_without_its_own_memory_is_reported(encoder, nginx, fault):
    """The firmware's status comes as an error number: EPERM does not mean missing permission here."""
    set_faults(encoder, **fault)
    refused = encoder.run(
        f"tallycam publish --encoder v4l2 --audio none --events json --url rtmp://{HOST}:{nginx.port}/live/never",
        check=False, timeout=60)
    assert refused.status == 4 and '"code":-1303' in refused.text
    assert "got no memory for its buffers" in refused.text and "gpu_mem= in config.txt" in refused.text
    assert "may not open it" not in refused.text and '"code":1001' not in refused.text


@pytest.mark.parametrize("number", [errno.EPERM, pytest.param(errno.EINVAL, marks=pytest.mark.slow)])
def test_too_little_memory_for_the_firmware_makes_a_smaller_frame(encoder, nginx, number):
    set_faults(encoder, memory_kb=2000, memory_errno=number)
    stream = Publisher(
        encoder, nginx, f"lean{number}", "--dimension 960x540", "--encoder auto", "--quality Low3", "--duration 6").finish(90)
    assert (stream.recording.sps.width, stream.recording.sps.height) == (640, 360)
    assert not {1103, 1104} & set(stream.codes)
    assert {event["encoder"] for event in stream.of("status")} == {HARDWARE}
    assert_decodes(stream)


def test_no_stream_starts_with_a_chosen_encoder_that_gives_nothing(encoder, nginx):
    """It opens, accepts frames and stays silent, which is known before anything is published."""
    set_faults(encoder, swallow_after=1)
    refused = encoder.run(
        f"tallycam publish --encoder v4l2 --audio none --events json --url rtmp://{HOST}:{nginx.port}/live/mute",
        check=False, timeout=60)
    assert refused.status == 4 and '"code":-1303' in refused.text
    assert "accepted frames but returned none" in refused.text and "with --encoder auto" in refused.text
    assert '"code":1001' not in refused.text
    set_faults(encoder, swallow_after=0)
    stream = Publisher(encoder, nginx, "speaks", SMALL, "--quality Low3", "--duration 4").finish()
    assert {event["encoder"] for event in stream.of("status")} == {HARDWARE}
    assert_decodes(stream)


def test_software_bridges_a_slowly_stopping_encoder(encoder, nginx, capsys):
    """The Pi's driver waits two seconds for the buffers of each queue that stalled firmware holds. Nothing else waits for that,
    and the hardware comes back afterwards."""
    set_faults(encoder, stall_after=60, stall_opens=1, stop_ms=2000)
    publisher = Publisher(encoder, nginx, "bridged", *AS_CAPTURED, source=CAMERA)
    publisher.wait_event(1104, 1, 60)
    publisher.wait_frames(publisher.frames + 60)
    stream = publisher.stop()
    codes = [code for code in stream.codes if code in (1103, 1104)]
    assert codes == [1103, 1104], codes
    assert stream.of("status")[-1]["encoder"] == HARDWARE
    with capsys.disabled():
        print(f"\n  the video stood still for {max(gaps(stream))} ms")
    # A second of silence, another one after a keyframe was requested, and one for closing.
    assert max(gaps(stream)) < 4300 + stream.stalled * 1000, "software takes over after the first slow close"
    assert stream.of("status")[-1]["sourceInterruptions"] == 0
    assert_decodes(stream)


def test_silent_firmware_returns_with_the_first_retry_and_retries_do_not_stop_the_video(encoder, nginx, capsys):
    """The driver keeps a flag of a component whose disabling got no answer: the next component gives nothing, and only closing
    that one clears the flag. Software encoding continues through all of it."""
    publisher = Publisher(encoder, nginx, "healed", *SLOW, source=SLOW_CAMERA)
    publisher.wait_frames(60)
    set_faults(encoder, silent=1)
    publisher.wait_event(1103, 1, 40)
    publisher.wait_frames(publisher.frames + 10)
    # The driver's waits have all timed out.
    encoder.sleep(30)
    set_faults(encoder, silent=0)
    publisher.wait_event(1104, 1, 60)
    publisher.wait_frames(publisher.frames + 60)
    stream = publisher.stop()
    assert [code for code in stream.codes if code in (1103, 1104)] == [1103, 1104]
    assert stream.of("status")[-1]["encoder"] == HARDWARE
    (zero,) = [event["t"] for event in stream.events if event["code"] == 1002]
    (fall,) = [event["t"] - zero for event in stream.events if event["code"] == 1103]
    later = gaps(stream, fall + 1)
    with capsys.disabled():
        print(f"\n  after the fall the video never stood still longer than {max(later)} ms")
    # A guest that is busy with an opening is late.
    assert max(later) < 1500 + stream.stalled * 1000, f"{sorted(later)[-10:]} after {fall}, among {gaps(stream)}"
    assert_decodes(stream)


@pytest.mark.slow
def test_a_stream_starting_after_firmware_was_silent_uses_hardware(encoder, nginx):
    """A person who sees frozen video stops the stream and starts it again. The first opening meets the flag that the driver has
    kept, and gives nothing. The next one follows at once, not after a minute in software."""
    appliance = Appliance(encoder, nginx, "awake")
    assert appliance.live_with() == HARDWARE
    set_faults(encoder, silent=1)
    appliance.wait_for_event("the software encoder is in use", 40)
    # The driver's waits have all timed out.
    encoder.sleep(30)
    set_faults(encoder, silent=0)
    appliance.stop()
    assert appliance.live_with() == HARDWARE
    assert appliance.events.count("the software encoder is in use") == 1, appliance.events
    appliance.stop()


@pytest.mark.slow
def test_a_retry_with_dead_firmware_does_not_stop_the_video(encoder, nginx):
    """Every opening fails after seconds, two at each retry, while software encoding continues."""
    publisher = Publisher(encoder, nginx, "dead", *SLOW, source=SLOW_CAMERA)
    publisher.wait_frames(60)
    set_faults(encoder, silent=1)
    publisher.wait_event(1103, 2, 140)
    publisher.wait_frames(publisher.frames + 20)
    stream = publisher.stop(60)
    first, second = [event for event in stream.events if event.get("code") == 1103]
    assert "tried again" in second["reason"] and second["t"] - first["t"] > 55
    (zero,) = [event["t"] for event in stream.events if event["code"] == 1002]
    # The video stopped for three seconds at each retry when the hardware was opened in place of software.
    assert max(gaps(stream, first["t"] - zero + 1)) < 1500 + stream.stalled * 1000
    assert 1104 not in stream.codes and stream.of("status")[-1]["encoder"] == SOFTWARE
    assert_decodes(stream)


@pytest.mark.parametrize("fault", ["silent", pytest.param("hang_buffers", marks=pytest.mark.slow)])
def test_a_stream_starts_in_software_when_the_firmware_is_dead(encoder, nginx, fault):
    """The node is present and states its role; every request to the firmware takes seconds, or does not return."""
    set_faults(encoder, **{fault: 1})
    try:
        stream = Publisher(
            encoder, nginx, f"start{fault}", "--dimension 160x120", "--encoder auto", "--quality Low1", "--duration 6",
        ).finish(90)  # fmt: skip
        refused = encoder.run(
            f"tallycam publish --encoder v4l2 --audio none --events json --url rtmp://{HOST}:9/live/x", check=False,
            timeout=90)
    finally:
        set_faults(encoder, **{fault: 0})
    assert stream.codes.count(1103) == 1 and {event["encoder"] for event in stream.of("status")} == {SOFTWARE}
    assert_decodes(stream)
    assert refused.status == 4 and "with --encoder auto" in refused.text and refused.text.count("opening it again") == 2
