"""Sound and picture together: clicks into the loop and flashes in the camera's picture, at known times of one clock."""

import array
import re
import subprocess
import wave
from pathlib import Path

import pytest
from board import HOST
from recording import Recording

RATE = 48_000
SECONDS = 26
LIMIT = 0.040
# Flashes come a little more often than every half second.
FLASHES, FLASH_MILLISECONDS = 50, 450


@pytest.fixture(scope="module")
def flash(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("flash") / "flash"
    source = Path(__file__).with_name("flash.c")
    subprocess.run(["aarch64-linux-gnu-gcc-14", "-O1", "-Wall", "-Werror", "-static", source, "-o", path], check=True)
    return path


def clicks(path: Path) -> Path:
    """A short tone at every full second."""
    samples = array.array("h", bytes(4 * RATE * SECONDS))
    for second in range(1, SECONDS):
        for index in range(RATE // 100):
            value = 24_000 if index // 24 % 2 == 0 else -24_000
            frame = second * RATE + index
            samples[2 * frame] = samples[2 * frame + 1] = value
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    return path


def brightness(recording: Recording) -> list[float]:
    """Of every picture, its mean."""
    words = ["ffmpeg", "-v", "error", "-i", recording.path, "-map", "0:v", "-fps_mode", "passthrough",
             "-vf", "scale=8:8:flags=area,format=gray", "-f", "rawvideo", "-"]  # fmt: skip
    data = subprocess.run(words, capture_output=True, check=True, timeout=120).stdout
    return [sum(data[place : place + 64]) / 64 for place in range(0, len(data), 64)]


def flash_times(recording: Recording) -> list[float]:
    """When the picture first shows a change, in seconds of the stream."""
    means = brightness(recording)
    assert len(means) == len(recording.pictures)
    middle = (min(means) + max(means)) / 2
    assert max(means) - min(means) > 40, "the pictures show no flashes"
    bright = [mean > middle for mean in means]
    times = [picture.timestamp / 1000 for picture in recording.pictures]
    return [times[index] for index in range(1, len(bright)) if bright[index] != bright[index - 1]]


def click_times(recording: Recording) -> list[float]:
    words = ["ffmpeg", "-v", "error", "-i", recording.path, "-map", "0:a", "-ac", "1", "-f", "s16le", "-"]
    data = subprocess.run(words, capture_output=True, check=True, timeout=120).stdout
    samples = array.array("h", data[: len(data) // 2 * 2])
    times, quiet_until = [], 0
    threshold = max(map(abs, samples)) / 2
    assert threshold > 3000, "no click is heard"
    for index, sample in enumerate(samples):
        if abs(sample) < threshold or index < quiet_until:
            continue
        packet = recording.sounds[index // 1024]
        times.append(packet.timestamp / 1000 + index % 1024 / recording.sample_rate)
        quiet_until = index + recording.sample_rate // 2
    return times


def matched(happened: list[float], seen: list[float], origin: float, latest: float) -> list[tuple[float, float]]:
    """(when it happened, by how much later the stream shows it): `origin` is the stream's begin by the guest's clock."""
    pairs = []
    for time in happened:
        delays = [other + origin - time for other in seen if -0.1 < other + origin - time < latest]
        if delays:
            pairs.append((time, min(delays, key=abs)))
    return pairs


def test_sound_and_picture_stay_within_forty_milliseconds(board, nginx, flash, tmp_path):
    board.put("/tmp/flash", flash, "755")
    board.put("/tmp/clicks.wav", clicks(tmp_path / "clicks.wav"))
    url = nginx.url("synchrony").replace("127.0.0.1", HOST)
    sender = board.start(
        "exec tallycam publish --video v4l2:/dev/video0,size=320x180,fps=30 --audio alsa:hw:Loopback,1 --quality Low3 "
        f"--dimension 320x180 --adapt nothing --duration {SECONDS + 8} --status-interval 1 --events json --url {url}"
    )
    sender.wait_for('"name":"status".*"sourceFrames":[1-9]', 60)
    player = board.start("exec aplay -q -D hw:Loopback,0 --buffer-time=2000000 /tmp/clicks.wav")
    flashes = board.start(f"sleep 1; exec /tmp/flash /dev/video0 {FLASHES} {FLASH_MILLISECONDS}")
    board.run("sleep 4")
    state = "cat /proc/asound/Loopback/pcm0p/sub0/status"
    begun = board.run(state).text
    lines = flashes.wait(90).text.splitlines()
    ended = board.run(state, check=False).text
    player.wait(60)
    sender.wait(90)
    board.run("v4l2-ctl -d /dev/video0 -c brightness=128")
    trigger = re.search(r"trigger_time: ([0-9.]+)", begun)[1]
    assert "trigger_time" not in ended or trigger in ended, "the player lost its beat"
    switched = [(int(line.split()[0]) + int(line.split()[1])) / 2e9 for line in lines]
    assert abs(float(trigger) - switched[0]) < 30, "the sound's start is not by the clock of the flashes"
    sounded = [float(trigger) + second for second in range(1, SECONDS)]

    recording = Recording(nginx.recording("synchrony"))
    pictures, sounds = flash_times(recording), click_times(recording)
    assert len(sounds) >= SECONDS - 3 and len(pictures) >= FLASHES - 5
    # The first click heard is the first one that was played.
    origin = sounded[0] - sounds[0]
    heard = matched(sounded, sounds, origin, 0.3)
    seen = matched(switched, pictures, origin, 0.4)
    for name, begin, end in (("start", 0, 8), ("after 20 s", 18, 40)):
        audio = [delay for time, delay in heard if begin <= time - sounded[0] < end]
        # A picture shows a flash when it is taken next: the quickest one is the truth.
        video = [delay for time, delay in seen if begin - 2 <= time - sounded[0] < end]
        assert len(audio) >= 4 and len(video) >= 8
        difference = sum(audio) / len(audio) - min(video)
        print(f"{name}: sound is {1000 * difference:.1f} ms later than the picture ({len(audio)} clicks, {len(video)} flashes)")
        assert abs(difference) < LIMIT, name
