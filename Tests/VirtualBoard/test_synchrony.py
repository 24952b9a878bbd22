"""Audio and video in sync: clicks into the loop and flashes in the camera's frames, at known times of the same clock."""

import array
import math
import random
import re
import subprocess
import wave
from pathlib import Path

import media
import pytest
from board import HOST
from guest_programs import HERE, compile_for_guest
from pi_camera import IMX708, PARAMETERS
from recording import Recording

pytestmark = [pytest.mark.takes(minutes=6.5, processors=0.2)]

# The loop's rate; the stream's differs.
RATE = 48_000
# The stream's duration; clicks and flashes are already in progress when it starts.
SECONDS = 24
# A click about every second, in no regular rhythm: this identifies the first recorded click.
CLICKS = [number + random.Random(number).uniform(0.1, 0.5) for number in range(38)]
LIMIT = 0.040
# Flashes come slightly more often than every half second.
FLASHES, FLASH_MILLISECONDS = 76, 450


@pytest.fixture(scope="module")
def flasher(tmp_path_factory) -> Path:
    return compile_for_guest(HERE / "flash.c", tmp_path_factory.mktemp("flash"))


def clicks(path: Path) -> Path:
    """Writes the clicks, which are short tones."""
    samples = array.array("h", bytes(4 * RATE * (int(CLICKS[-1]) + 2)))
    for click in CLICKS:
        for index in range(RATE // 100):
            value = 24_000 if index // 24 % 2 == 0 else -24_000
            frame = round(click * RATE) + index
            samples[2 * frame] = samples[2 * frame + 1] = value
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    return path


def changes(recording: Recording) -> list[tuple[float, float]]:
    """Between which two frames, in seconds of the stream, the brightness has changed."""
    means = media.mean_brightness(recording.path)
    assert len(means) == len(recording.frames)
    middle = (min(means) + max(means)) / 2
    assert max(means) - min(means) > 40, "the frames show no flashes"
    bright = [mean > middle for mean in means]
    times = [frame.timestamp / 1000 for frame in recording.frames]
    return [
        (times[index - 1], times[index]) for index in range(1, len(bright)) if bright[index] != bright[index - 1]
    ]


def click_times(recording: Recording) -> list[float]:
    words = ["ffmpeg", "-v", "error", "-i", recording.path, "-map", "0:a", "-ac", "1", "-f", "s16le", "-"]
    data = subprocess.run(words, capture_output=True, check=True, timeout=120).stdout
    samples = array.array("h", data[: len(data) // 2 * 2])
    times, quiet_until = [], 0
    threshold = max(map(abs, samples)) / 2
    assert threshold > 3000, "no click was recorded"
    for index, sample in enumerate(samples):
        if abs(sample) < threshold or index < quiet_until:
            continue
        packet = recording.audio_packets[index // 1024]
        times.append(packet.timestamp / 1000 + index % 1024 / recording.sample_rate)
        quiet_until = index + recording.sample_rate // 2
    return times


def longest_gap(recording: Recording) -> tuple[float, float]:
    """The longest time without a frame, as its start and end in seconds of the stream."""
    times = [frame.timestamp / 1000 for frame in recording.frames]
    return max(zip(times, times[1:]), key=lambda gap: gap[1] - gap[0])


def origin_of(played: list[float], clicks: list[float]) -> float:
    """The stream's start by the guest's clock: there the first recorded clicks match the played ones."""
    fits = [sorted(time - click for time, click in zip(played[first:], clicks[:8])) for first in range(len(played) - 8)]
    best = min(fits, key=lambda origins: origins[-1] - origins[0])
    assert best[-1] - best[0] < 2 * LIMIT, f"the clicks do not fit: {best}"
    return best[4]


def heard(played: list[float], clicks: list[float], origin: float) -> list[tuple[float, float]]:
    """(when it was played, how much later it is in the stream). `origin` is the stream's start by the guest's clock."""
    pairs = [(time, min((click + origin - time for click in clicks), key=abs)) for time in played]
    return [pair for pair in pairs if abs(pair[1]) < 0.4]


def seen(switched: list[float], found: list[tuple[float, float]], origin: float) -> list[tuple[float, float, float]]:
    """(when the flash was, and between which delays the stream shows it)."""
    result = []
    for time in switched:
        before, after = min(found, key=lambda pair: abs((pair[0] + pair[1]) / 2 + origin - time))
        if abs((before + after) / 2 + origin - time) < 0.2:
            result.append((time, before + origin - time, after + origin - time))
    return result


def video_delay(flashes: list[tuple[float, float, float]]) -> float:
    """For every flash, the delay lies between the last frame without and the first one with it.

    A frame shows nothing of a flash that came after it, and shows the one before it: all flashes together leave a narrow range.
    The outermost flash on either side is left out, as the emulated camera is sometimes late.
    """
    largest_before = sorted(before for _, before, _ in flashes)[-2]
    smallest_after = sorted(after for _, _, after in flashes)[1]
    return (largest_before + smallest_after) / 2


class Beat:
    """Clicks into the loop and flashes in front of the camera, from before the stream's start until after its end."""

    def __init__(self, board, flasher: Path, folder: Path, flashed: str):
        board.put("/tmp/flash", flasher, "755")
        board.put("/tmp/clicks.wav", clicks(folder / "clicks.wav"))
        # The player starts first, as the loop then runs at its rate. A recorder that starts, or starts again, gets everything
        # that was played in the player's current period.
        times = "--buffer-time=2000000 --period-time=20000"
        self._player = board.start(f"exec aplay -q -D hw:Loopback,0 {times} /tmp/clicks.wav")
        self._started = board.run("sleep 1; cat /proc/asound/Loopback/pcm0p/sub0/status").text
        self._flash = board.start(f"exec /tmp/flash {flashed} {FLASHES} {FLASH_MILLISECONDS}")

    def finish(self) -> None:
        """Waits for the end. After that, `played` has the time of each click, and `switched` the time of each flash."""
        flashes = self._flash.wait(90)
        self._player.wait(60)
        trigger = float(re.search(r"trigger_time: ([0-9.]+)", self._started)[1])
        self.switched = [(int(line.split()[0]) + int(line.split()[1])) / 2e9 for line in flashes.text.splitlines()]
        assert len(self.switched) == FLASHES, flashes.text[-1000:]
        assert abs(trigger - self.switched[0]) < 30, "the audio's start and the flashes have different clocks"
        self.played = [trigger + click for click in CLICKS]


def publish(board, nginx, video: str, dimension: str, encoder: str):
    sender = board.start(
        f"exec tallycam publish --video {video} --audio alsa:hw:Loopback,1 --quality Low3 --dimension {dimension} "
        f"--encoder {encoder} --adapt nothing --status-interval 1 --events json --duration {SECONDS} "
        f"--url {nginx.url('synchrony').replace('127.0.0.1', HOST)}"
    )
    sender.wait_for('"name":"status".*"sourceFrames":[1-9].*"audioSamples":[1-9]', 60)
    return sender


def assert_in_sync(recording: Recording, beat: Beat, name_of_run: str, missed: int, capsys) -> None:
    """Up to `missed` clicks may be lost."""
    assert not recording.disorder() and not recording.decoded.complaints
    frames, audio_packets = changes(recording), click_times(recording)
    origin = origin_of(beat.played, audio_packets)
    within = [time for time in beat.played if 0.1 < time - origin < SECONDS - 0.5]
    assert len(within) >= SECONDS - 6, "the audio ended before the stream"
    audio_delays, video_delays = heard(beat.played, audio_packets, origin), seen(beat.switched, frames, origin)
    standstill = longest_gap(recording)
    # The program was not stopped: the longest gap is a frame or two.
    if standstill[1] - standstill[0] < 1:
        standstill = (math.inf, -math.inf)
    lost = [f"{time - origin:.1f} s" for time in within if time not in dict(audio_delays)]
    assert len(lost) <= missed and len(audio_packets) <= len(within) + 2, f"the player or the stream has lost its beat: {lost}"
    for name, start, end in (("first five seconds", 0, 5), ("five to ten", 5, 10), ("after 14 s", 14, SECONDS)):
        # The loop may replay audio that the program has not taken while it was stopped.
        audio = [
            delay for time, delay in audio_delays
            if start <= time - origin < end and not standstill[0] - 0.5 < time - origin < standstill[1] + 0.5
        ]  # fmt: skip
        video = [pair for pair in video_delays if start <= pair[0] - origin < end]
        assert len(audio) >= 4 and len(video) >= 8, name
        difference = sum(audio) / len(audio) - video_delay(video)
        with capsys.disabled():
            print(
                f"\n  {name_of_run}, {name}: audio is {1000 * difference:+.1f} ms later than the video ({len(audio)} clicks from "
                f"{1000 * min(audio):+.1f} to {1000 * max(audio):+.1f} ms, {len(video)} flashes)"
            )
        assert max(audio) - min(audio) < LIMIT, name
        assert abs(difference) < LIMIT, name
    shown = [time for time in beat.switched if 0.5 < time - origin < SECONDS - 0.5]
    assert len(video_delays) >= len(shown) - 3 - (6 if "stopped" in name_of_run else 0)


@pytest.mark.slow
@pytest.mark.parametrize("stamp", ["start of exposure", "end of frame", "start of exposure, stopped"])
def test_audio_and_video_stay_within_forty_milliseconds(board, nginx, flasher, tmp_path, stamp, capsys):
    """By the clocks of the camera and the sound card, with either meaning of the camera's timestamps. In one run the whole
    program is stopped for a second and a half, which overruns the card and loses frames: nothing may shift."""
    source = 0 if stamp == "end of frame" else 1
    board.run(f"v4l2-ctl -d /dev/video0 -c timestamp_source={source}")
    beat = Beat(board, flasher, tmp_path, "/dev/video0")
    sender = publish(board, nginx, "v4l2:/dev/video0,size=320x180,fps=30", "320x180", "openh264")
    # The player on an emulated machine that stalls for a moment loses a click.
    missed = 3 if "stopped" in stamp else 1
    if "stopped" in stamp:
        board.run(f"sleep 16; kill -STOP {sender.pid}; sleep 1.5; kill -CONT {sender.pid}")
    output = sender.wait(90)
    beat.finish()
    board.run("v4l2-ctl -d /dev/video0 -c brightness=128 -c timestamp_source=0")
    assert output.status == 0
    assert_in_sync(Recording(nginx.recording("synchrony")), beat, stamp, missed, capsys)


def test_a_raspberry_pis_camera_stays_within_forty_milliseconds_of_the_audio(pi_camera, nginx, flasher, tmp_path, capsys):
    """By the sensor's frame start as libcamera reports it, with the hardware encoder; the flash is the scene's light."""
    fixed = "AwbEnable=off,ColourGains=2.35/1.6,ExposureTimeMode=1,AnalogueGainMode=1,ExposureTime=8000,AnalogueGain=2"
    beat = Beat(pi_camera, flasher, tmp_path, f"{PARAMETERS}/light")
    sender = publish(pi_camera, nginx, f"libcamera:{IMX708},fps=15,AfMode=Manual,{fixed}", "320x180", "v4l2")
    output = sender.wait(90)
    beat.finish()
    assert output.status == 0, output.text[-3000:]
    assert_in_sync(Recording(nginx.recording("synchrony")), beat, "a Raspberry Pi's camera", 1, capsys)
