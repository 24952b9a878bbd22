"""Signals that are played into the virtual board's sound cards, streams of it, and measurements of a recording."""

import array
import json
import math
import subprocess

from recording import Recording

# Names of the sound cards, which are loops: what is played into device 0 is recorded from device 1.
DRIVER = "/sys/bus/platform/drivers/snd_aloop"


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def last_status(text: str) -> dict:
    return [event for event in events(text) if event["name"] == "status"][-1]


def publish(url: str, seconds: int, camera: str) -> str:
    return (
        f"exec tallycam publish --video v4l2:{camera} --audio alsa:hw:Loopback,1 --quality Low3 --dimension 320x240 "
        f"--adapt nothing --duration {seconds} --status-interval 1 --events json --url {url}"
    )


def noise(device: str = "hw", channels: int = 2, rate: int = 48_000) -> str:
    """The command that plays noise into the loop. The first program that opens the loop sets its rate; with the device "plughw",
    the player follows another one's."""
    return f"aplay -q -D {device}:Loopback,0 -f S16_LE -c {channels} -r {rate} /dev/urandom"


def speak(board, channels: int = 2, rate: int = 48_000) -> None:
    """Noise in the loop, at a rate that differs from the stream's."""
    board.start(f"exec {noise(channels=channels, rate=rate)}")
    board.run("sleep 2")


def loudness(recording: Recording) -> list[float]:
    """The mean of every tenth of a second."""
    words = ["ffmpeg", "-v", "error", "-i", recording.path, "-map", "0:a", "-ac", "1", "-ar", "8000", "-f", "s16le", "-"]
    data = subprocess.run(words, capture_output=True, check=True, timeout=60).stdout
    samples = array.array("h", data[: len(data) // 2 * 2])
    return [sum(map(abs, samples[place : place + 800])) / 800 for place in range(0, len(samples) - 800, 800)]


def amplitudes(recording: Recording, frequency: int) -> list[float]:
    """The level of one frequency on the left side in every tenth of a second, as a part of full scale."""
    side = ["-map", "0:a", "-af", "pan=mono|c0=c0", "-ar", "8000", "-f", "f32le", "-"]
    words = ["ffmpeg", "-v", "error", "-i", recording.path, *side]
    samples = array.array("f", subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)
    waves = [[wave(2 * math.pi * frequency * index / 8000) for index in range(800)] for wave in (math.cos, math.sin)]
    return [
        math.hypot(*(sum(map(float.__mul__, samples[place : place + 800], wave)) for wave in waves)) / 400
        for place in range(0, len(samples) - 800, 800)
    ]


def assert_audio_keeps_time(recording: Recording) -> None:
    """Checks that by the clock no packet is missing, added or out of order."""
    assert not recording.disorder() and not recording.decoded.complaints
    audio_packets = recording.audio_packets
    length = 1024 / recording.sample_rate
    for index, audio in enumerate(audio_packets):
        assert abs((audio.timestamp - audio_packets[0].timestamp) / 1000 - index * length) < 0.04, index


def tone(frequency: int, rate: int, channels: int, width: int, seconds: int, level: float = 0.5) -> bytes:
    """A sine; `width` is a sample's size in bytes, `level` its part of full scale."""
    full = level * (1 << 8 * width - 1)
    frames = (round(full * math.sin(2 * math.pi * frequency * index / rate)) for index in range(rate))
    return b"".join(value.to_bytes(width, "little", signed=True) * channels for value in frames) * seconds
