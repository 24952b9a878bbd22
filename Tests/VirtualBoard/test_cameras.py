"""Several cameras in one stream: from the Raspberry Pi's, through libcamera, to a webcam and back, while live."""

import re
import subprocess

import pytest
from encoder import Appliance, Publisher, ResourceUse, assert_decodes
from leases import Leases
from pi_camera import IMX219, IMX708, load, set_parameters

pytestmark = [pytest.mark.takes(minutes=2.7, processors=0.3)]

SIZE = ("--dimension 640x360", "--quality Low3", "--adapt nothing", "--commands")
WIDTH, HEIGHT = 640, 360
# A webcam delivers packed frames of another shape.
WEBCAM = "v4l2:/dev/video0,size=640x480,fps=15,format=YUYV"
# A format that must be decoded first, like MJPEG; vivid has no compressed one.
DECODED = "v4l2:/dev/video0,size=640x480,fps=15,format=YVYU"
# Moves vivid's bars, so that each frame differs from the one before.
MOVING = ",horizontal_movement=6"
# Seconds between two frames that differ.
LONGEST_GAP, LONGEST_GAP_ALONE = 0.3, 1.2
# Width and height of a macroblock, the smallest area that the encoder distinguishes.
COLUMNS, ROWS = WIDTH // 16, HEIGHT // 16


def switch(publisher: Publisher, word: str, to: str, timeout: float = 60) -> float:
    """The duration in seconds that the publisher reports."""
    before = len(switches(publisher.events))
    publisher.command(f"camera {word}")
    publisher.process.wait_until(lambda _: len(switches(publisher.events)) > before or publisher.process.has_ended, timeout)
    last = switches(publisher.events)[-1]
    assert last["to"] == to, last
    publisher.wait_frames(publisher.frames + 30)
    return last["seconds"]


def switches(events: list[dict]) -> list[dict]:
    return [event for event in events if event["name"] == "cameraSwitched"]


def thumbnails(path) -> list[bytes]:
    """The macroblocks of each frame by their means: Y, then Cb, then Cr."""
    words = ["ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-fps_mode", "passthrough",
             "-vf", f"scale={COLUMNS}:{ROWS}:flags=area,format=yuv444p", "-f", "rawvideo", "-"]  # fmt: skip
    data = subprocess.run(words, capture_output=True, check=True, timeout=120).stdout
    size = 3 * COLUMNS * ROWS
    return [data[at : at + size] for at in range(0, len(data), size)]


def luma(frame: bytes, column: int, row: int) -> int:
    return frame[row * COLUMNS + column]


def colorfulness(frame: bytes) -> float:
    chroma = frame[COLUMNS * ROWS :]
    return sum(abs(value - 128) for value in chroma) / len(chroma)


def kind(frame: bytes) -> str:
    """The test pattern of a webcam is colored everywhere, and has bars at its sides here. The scene of the Raspberry Pi's
    cameras is mostly gray, and fills the frame."""
    sides = [luma(frame, column, row) for column in (0, 3, COLUMNS - 4, COLUMNS - 1) for row in range(2, ROWS - 2, 4)]
    has_bars = all(value <= 24 for value in sides)
    assert has_bars == (colorfulness(frame) > 20), (sides, colorfulness(frame))
    return "webcam" if has_bars else "scene"


def runs(kinds: list[str]) -> list[str]:
    return [name for index, name in enumerate(kinds) if index == 0 or name != kinds[index - 1]]


def gaps(stream, differs=None) -> list[float]:
    """Seconds from each frame to the next one that shows something else; without `differs`, simply to the next one."""
    times = [frame.timestamp / 1000 for frame in stream.recording.frames]
    found, last = [], 0
    for index in range(1, len(times)):
        if differs is None or differs(last, index):
            found.append(times[index] - times[last])
            last = index
    return found


def assert_audio_is_whole(stream) -> None:
    """Checks that no sample is lost or invented: packets follow each other by their own length, and no silence was inserted."""
    status = stream.of("status")[-1]
    assert status["audioSilent"] == status["audioOverruns"] == status["audioInterruptions"] == 0, status
    packets = stream.recording.audio_packets
    steps = [after.timestamp - before.timestamp for before, after in zip(packets, packets[1:])]
    # 23.2 ms, rounded to whole milliseconds.
    assert set(steps) <= {22, 23, 24}, sorted(set(steps))


def assert_starts_with_keyframes(stream, kinds: list[str]) -> None:
    frames = stream.recording.frames
    firsts = [index for index in range(1, len(kinds)) if kinds[index] != kinds[index - 1]]
    assert firsts and all(frames[index].is_keyframe for index in firsts), firsts


@pytest.fixture
def voice(encoder):
    """Noise at a rate that differs from the stream's."""
    encoder.start("exec aplay -q -D hw:Loopback,0 -f S16_LE -c 2 -r 48000 /dev/urandom")


def test_switching_from_libcamera_to_a_webcam_and_back(pi_camera, nginx, capsys):
    """Device memory that the encoder reads, packed frames that the processor converts, and frames that it decodes first; all
    with one connection, one timeline and one size."""
    load(pi_camera, "sensors=imx708,imx219")
    publisher = Publisher(
        pi_camera, nginx, "turns", *SIZE,
        cameras={
            "back": f"libcamera:{IMX708}", "front": f"libcamera:{IMX219}", "webcam": WEBCAM + MOVING, "decoded": DECODED + MOVING,
        },
    )  # fmt: skip
    publisher.wait_frames(30)
    took = {}
    for word, name in (("next", "front"), ("webcam", "webcam"), ("back", "back"), ("decoded", "decoded"), ("next", "back")):
        took[f"{len(took)} {name}"] = switch(publisher, word, name)
    assert publisher.wait_status(lambda status: "camera" in status, 10)["camera"] == "back"
    stream = publisher.stop()
    kinds = [kind(frame) for frame in thumbnails(stream.recording.path)]
    longest = max(gaps(stream))
    with capsys.disabled():
        print(f"\n  took {took} s, longest gap {longest:.3f} s, {len(kinds)} frames; the guest stood still for {stream.stalled:.2f} s")
    assert runs(kinds) == ["scene", "webcam", "scene", "webcam", "scene"]
    assert_starts_with_keyframes(stream, kinds)
    assert longest <= LONGEST_GAP + stream.stalled
    assert not stream.recording.disorder()
    # The cameras' colors differ, and the headers state that.
    assert len({bytes(tag.body) for tag in stream.recording.tags if tag.is_video_header}) >= 2
    assert_decodes(stream)
    status = stream.of("status")[-1]
    assert status["sourceRepeated"] == status["sourceInterruptions"] == 0 and status["sourceDecoded"] > 0, status
    assert not {1102, 1103, 1104} & set(stream.codes)


def controlled(publisher: Publisher, words: str) -> str:
    before = len([event for event in publisher.events if event["name"] == "controlled"])
    publisher.command(f"set {words}")
    publisher.process.wait_until(
        lambda _: len([event for event in publisher.events if event["name"] == "controlled"]) > before, 20)
    return [event for event in publisher.events if event["name"] == "controlled"][-1]["controls"]


def exposure(answer: str) -> float:
    """Exposure time in milliseconds, multiplied by the gain."""
    milliseconds, gain = re.search(r"([\d.]+) ms, gain ([\d.]+)", answer).groups()
    return float(milliseconds) * float(gain)


def test_a_camera_returns_with_its_settings(pi_camera, nginx):
    publisher = Publisher(
        pi_camera, nginx, "kept", *SIZE, cameras={"scene": f"libcamera:{IMX708}", "webcam": WEBCAM + MOVING})
    publisher.wait_frames(60)
    locked = controlled(publisher, "zoom 2 zoom-center 0.25,0.25 mirror on exposure locked")
    publisher.wait_frames(publisher.frames + 30)
    switch(publisher, "webcam", "webcam")
    switch(publisher, "scene", "scene")
    set_parameters(pi_camera, light=600)
    pi_camera.sleep(3)
    # A sensor measures exposure in lines.
    assert exposure(controlled(publisher, "exposure-value 0")) == pytest.approx(exposure(locked), rel=0.01)
    stream = publisher.stop()
    frames = thumbnails(stream.recording.path)
    kinds = [kind(frame) if colorfulness(frame) > 20 else "scene" for frame in frames]
    start = kinds.index("webcam")
    end = start + kinds[start:].index("scene")
    before, after = frames[start - 1], frames[end]
    # No frame shows the whole view or an unmirrored one.
    away = sum(abs(a - b) for a, b in zip(before, after)) / len(before)
    whole = sum(abs(a - b) for a, b in zip(before, frames[20])) / len(before)
    assert away < 4 < whole, (away, whole)
    assert_decodes(stream)


def test_audio_continues_across_switches(encoder, voice, nginx):
    """Small frames at a low rate: this is what an emulated processor manages alongside an audio card."""
    publisher = Publisher(
        encoder, nginx, "audio", "--dimension 320x240", "--quality Low1", "--adapt nothing", "--commands",
        audio="alsa:hw:Loopback,1",
        cameras={"camera": "v4l2:/dev/video0,size=320x240,format=NV12,fps=15", "pattern": "synthetic"},
    )  # fmt: skip
    publisher.wait_frames(20)
    for name in ("pattern", "camera", "pattern", "camera"):
        switch(publisher, "next", name)
    stream = publisher.stop()
    assert_audio_is_whole(stream)
    assert_decodes(stream)


def test_the_last_frame_stands_where_both_cameras_cannot_be_open(encoder, nginx, capsys):
    """Two names of one device, which gives buffers to only one file descriptor of a program."""
    publisher = Publisher(
        encoder, nginx, "alone", *SIZE,
        cameras={"packed": WEBCAM + MOVING, "decoded": DECODED + MOVING},
    )  # fmt: skip
    publisher.wait_frames(30)
    took = [switch(publisher, "next", name) for name in ("decoded", "packed", "decoded")]
    stream = publisher.stop()
    frames = thumbnails(stream.recording.path)
    longest = max(gaps(stream, lambda a, b: frames[a] != frames[b]))
    with capsys.disabled():
        print(f"\n  took {took} s, longest gap between frames that differ {longest:.3f} s")
    assert longest <= LONGEST_GAP_ALONE + stream.stalled
    assert not stream.recording.disorder()
    assert_decodes(stream)
    status = stream.of("status")[-1]
    assert status["sourceRepeated"] > 0 and status["sourceDecoded"] > 0 and status["sourceInterruptions"] == 0, status


def test_the_stream_keeps_its_camera_when_the_other_is_missing(encoder, nginx):
    publisher = Publisher(
        encoder, nginx, "missing", *SIZE, cameras={"here": WEBCAM + MOVING, "gone": "v4l2:/dev/video99"})
    publisher.wait_frames(30)
    publisher.command("camera gone")
    publisher.process.wait_for("cameraSwitchFailed", 30)
    publisher.wait_frames(publisher.frames + 30)
    publisher.command("camera gnoe")
    publisher.process.wait_for("did you mean gone", 30)
    stream = publisher.stop()
    (failure,) = stream.of("cameraSwitchFailed")
    assert (failure["camera"], failure["keeping"]) == ("gone", "here") and "no camera at /dev/video99" in failure["reason"]
    frames = thumbnails(stream.recording.path)
    assert max(gaps(stream, lambda a, b: frames[a] != frames[b])) <= LONGEST_GAP + stream.stalled
    assert_decodes(stream)


@pytest.mark.parametrize("count", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_switches_in_a_row_leave_nothing_behind(encoder, nginx, capsys, count):
    """Switches between a camera whose memory the encoder reads and a test pattern, including the encoder's driver."""
    publisher = Publisher(
        encoder, nginx, "often", "--dimension 320x240", "--quality Low1", "--adapt nothing", "--commands",
        cameras={"camera": "v4l2:/dev/video0,size=320x240,format=NV12,fps=15", "pattern": "synthetic"},
    )  # fmt: skip
    publisher.wait_frames(20)
    use, leases = ResourceUse(encoder, publisher.process.pid), Leases(encoder)
    for number in range(1, count + 1):
        publisher.command("camera next")
        publisher.process.wait_until(
            lambda _, number=number: len(switches(publisher.events)) >= number or publisher.process.has_ended, 30)
        if number % 10 == 0:
            encoder.sleep(0.5)
            use.measure()
    # The camera is on again: its buffers come back, and no earlier encoder holds one.
    leases.assert_return()
    leases.assert_held()
    stream = publisher.stop()
    seconds = sorted(event["seconds"] for event in switches(stream.events))
    longest = max(gaps(stream))
    with capsys.disabled():
        print(f"\n  {use}\n  took {seconds[count // 2]:.2f} s, {seconds[-1]:.2f} at most; longest gap {longest:.3f} s")
    assert len(seconds) == count and use.is_flat(), str(use)
    assert longest <= LONGEST_GAP + stream.stalled
    assert not stream.recording.disorder()
    assert_decodes(stream)


def test_the_appliance_switches_cameras_through_its_socket(encoder, nginx):
    appliance = Appliance(
        encoder, nginx, "appliance", camera="pattern", cameras={"webcam": "/dev/video0", "pattern": "synthetic"})
    assert "not live" in appliance.ask("camera next", check=False)
    appliance.live_with()
    assert appliance.wait(lambda status: "camera" in status)["camera"] == "pattern"
    assert "did you mean webcam" in appliance.ask("camera webcma", check=False)
    assert appliance.ask("camera next") == "the camera is webcam now\n"
    appliance.wait(lambda status: status.get("camera") == "webcam")
    assert "switched from pattern to webcam" in appliance.events
    appliance.stop()
