"""The virtual board's sound card, which is a loop: what is played into one end is recorded at the other."""

import array
import json
import statistics
import subprocess

import pytest
from board import HOST
from recording import Recording
from loopback import DRIVER, amplitudes, assert_audio_keeps_time, events, last_status, loudness, noise, publish, speak, tone
from stalls import Stalls

pytestmark = [pytest.mark.takes(minutes=6.7, processors=0.3)]

CARD = "snd_aloop.0"


@pytest.fixture
def card(board):
    """The card is present, also at the end of the test."""
    yield board
    board.end_all()
    board.run(f"[ -e {DRIVER}/{CARD} ] || echo {CARD} > {DRIVER}/bind")


def test_microphones_are_listed(board):
    assert "alsa:hw:Loopback,1" in board.run("tallycam microphones").text
    lines = [json.loads(line) for line in board.run("tallycam microphones --json").text.splitlines()]
    assert {"source": "alsa:hw:Loopback,1", "name": "Loopback PCM"} in lines


def test_usr_share_is_not_needed(card):
    """The static alsa-lib contains its configuration."""
    speak(card)
    receiver = card.start("exec tallycam receive --listen 127.0.0.1:1941")
    text = card.run(
        "unshare -m sh -c 'mount -t tmpfs none /usr/share && ls -A /usr/share && tallycam microphones && exec tallycam "
        "publish --video none --audio alsa:hw:Loopback,1 --duration 3 --status-interval 1 --events json --url "
        "rtmp://127.0.0.1:1941/live/bare'", timeout=60,
    ).text  # fmt: skip
    receiver.end()
    assert text.startswith("alsa:hw:Loopback,0") and last_status(text)["audioSamples"] > 40_000


def loudest(text: str) -> dict:
    """A status has the level of one moment, which may be in a gap that an emulated machine leaves when it stalls."""
    reports = [event for event in events(text) if event["name"] == "status" and "audioPeakDecibels" in event]
    return max(reports, key=lambda report: report["audioPeakDecibels"])


@pytest.mark.parametrize("code, rate, channels, width", [
    ("S16_LE", 16_000, 1, 2), pytest.param("S32_LE", 96_000, 2, 4, marks=pytest.mark.slow),
])
def test_the_hardwares_format_is_converted_to_the_streams(card, nginx, code, rate, channels, width):
    """A mono microphone is heard on both sides, and a tone keeps its pitch."""
    frequency = 1000
    card.put("/tmp/tone", tone(frequency, rate, channels, width, 1))
    card.run("for _ in $(seq 20); do cat /tmp/tone; done > /tmp/tones")
    card.start(f"exec aplay -q -D hw:Loopback,0 -t raw -f {code} -c {channels} -r {rate} /tmp/tones")
    card.run("sleep 2")
    url = nginx.url("tone").replace("127.0.0.1", HOST)
    text = card.run(
        f"tallycam publish --video none --audio alsa:hw:Loopback,1 --duration 6 --status-interval 1 --events json "
        f"--url {url}", timeout=60,
    ).text  # fmt: skip
    status = last_status(text)
    assert status["audioSamples"] > 3.5 * rate and -7 < loudest(text)["audioPeakDecibels"] < -5
    recording = Recording(nginx.recording("tone"))
    assert recording.sample_rate == 44_100
    command = ["ffmpeg", "-v", "error", "-i", recording.path, "-map", "0:a", "-f", "s16le", "-"]
    samples = array.array("h", subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    for side in (samples[0::2], samples[1::2]):
        middle = side[44_100 : 3 * 44_100]
        zero_crossings = [index for index, (a, b) in enumerate(zip(middle, middle[1:])) if a < 0 <= b]
        # An emulated machine that stalls leaves gaps with an encoder's faint noise.
        periods = [b - a for a, b in zip(zero_crossings, zero_crossings[1:]) if abs(b - a - 44_100 / frequency) < 5]
        assert len(periods) > frequency and abs(44_100 * len(periods) / sum(periods) - frequency) < 2
        # Such a gap may end with a louder sample.
        assert 14_000 < sorted(middle)[-len(middle) // 100] < 18_500


@pytest.mark.slow
def test_the_cards_clock_drift_is_measured(card):
    """The loop runs 500 ppm slower than its nominal rate: its shift divides.

    On a slow machine the value was still 130 ppm off after 80 s. So the stream runs until the value stays near the drift for
    fifteen seconds. On its way to its limit of 1000 ppm the controller moves by 200 in them: it cannot just be passing by.
    """
    shift = "amixer -q -c Loopback cset iface=PCM,name='PCM Rate Shift 100000',device=1"
    card.run(f"{shift} 100050")
    # Converting the rate is most of what an emulated processor does here, and takes longest from 48 kHz.
    speak(card, channels=1, rate=16_000)
    receiver, stalls = card.start("exec tallycam receive --listen 127.0.0.1:1942"), Stalls(card)
    stream = card.start(
        "exec tallycam publish --video none --audio alsa:hw:Loopback,1 --audio-quality Low1@22050 --duration 500 "
        "--status-interval 5 --events json --url rtmp://127.0.0.1:1942/live/drift"
    )

    def reports() -> list[dict]:
        lines = stream.text.rpartition("\n")[0]
        return [event for event in events(lines) if event["name"] == "status"]

    def has_settled(_) -> bool:
        drifts = [report.get("audioDriftPPM", 0) for report in reports()[-4:]]
        return len(drifts) == 4 and all(-580 < drift < -420 for drift in drifts)

    try:
        stream.wait_until(has_settled, 150)
    finally:
        card.run(f"{shift} 100000")
        stream.end()
        receiver.end()
    assert "audioDriftPPM" not in reports()[0], "the drift cannot be known at once"
    # A player that a stall keeps from its work leaves a gap.
    longest, last = stalls.end(), reports()[-1]
    assert last["audioOverruns"] == last["audioSilent"] == 0 or longest > 0.2, (last, longest)


@pytest.mark.parametrize("setting, least, most", [
    ("gain=-20", -21, -19), pytest.param("gain=-40", -41, -39, marks=pytest.mark.slow),
])
def test_gain_changes_the_level(card, setting, least, most):
    """Noise at full scale is played."""
    speak(card)
    receiver = card.start("exec tallycam receive --listen 127.0.0.1:1940")
    text = card.run(
        f"tallycam publish --video none --audio alsa:hw:Loopback,1,{setting} --duration 4 --status-interval 1 "
        "--events json --url rtmp://127.0.0.1:1940/live/gain", timeout=60,
    ).text  # fmt: skip
    receiver.end()
    status = loudest(text)
    assert least < status["audioPeakDecibels"] < most and status["audioMeanDecibels"] < status["audioPeakDecibels"]


def test_a_muted_microphone_continues_with_silence(card, nginx):
    speak(card)
    url = nginx.url("muted").replace("127.0.0.1", HOST)
    text = card.run(
        f"tallycam publish --video none --audio alsa:hw:Loopback,1,mute=on --duration 4 --status-interval 1 "
        f"--events json --url {url}", timeout=60,
    ).text  # fmt: skip
    status = last_status(text)
    assert status["audioSamples"] > 44_100 and "audioPeakDecibels" not in status
    recording = Recording(nginx.recording("muted"))
    assert_audio_keeps_time(recording)
    assert len(recording.audio_packets) > 100 and max(loudness(recording)) < 2


def test_an_overrun_is_counted_and_replaced_by_silence(card, nginx):
    speak(card)
    url = nginx.url("overrun").replace("127.0.0.1", HOST)
    sender = card.start(
        "exec tallycam publish --video none --audio alsa:hw:Loopback,1 --duration 12 --status-interval 1 "
        f"--events json --url {url}"
    )
    sender.wait_for('"name":"status".*"audioSamples":[1-9]', 40)
    # Longer than the card's buffer.
    card.run(f"sleep 2; kill -STOP {sender.pid}; sleep 1.5; kill -CONT {sender.pid}")
    output = sender.wait(60)
    assert output.status == 0
    names = [event["name"] for event in events(output.text)]
    assert names.count("connected") == 1 and "sourceInterrupted" not in names
    status = last_status(output.text)
    assert status["audioOverruns"] >= 1 and status["audioInterruptions"] == 0
    # The buffer's content is lost, too, and the emulated machine as a whole stalls at times.
    overruns = status["audioOverruns"]
    assert 1.2 < status["audioSilent"] / 44_100 < 2.5 + 0.7 * overruns
    recording = Recording(nginx.recording("overrun"))
    assert_audio_keeps_time(recording)
    levels = loudness(recording)
    silent = sum(level < 100 for level in levels) / 10
    # A tenth that is partly silent counts as loud.
    assert abs(silent - status["audioSilent"] / 44_100) < 0.1 + 0.2 * overruns
    assert statistics.median(levels[-20:-2]) > 1000, "the audio is not back"


def test_camera_and_microphone_are_published_together(card, nginx):
    speak(card)
    sender = card.run(publish(nginx.url("capture").replace("127.0.0.1", HOST), 20, "/dev/video0"), timeout=120)
    status = [event for event in events(sender.text) if event["name"] == "status"][-1]
    assert status["sourceInterruptions"] == status["audioInterruptions"] == 0
    assert status["audioSamples"] > 15 * 44_100 and status["audioPeakDecibels"] > -20
    assert status["sourceDecoded"] == 0
    recording = Recording(nginx.recording("capture"))
    assert not recording.disorder() and not recording.decoded.complaints
    first = abs(recording.frames[0].timestamp - recording.audio_packets[0].timestamp)
    assert first < 200, "the tracks do not start together"
    audio_time = (recording.audio_packets[-1].timestamp - recording.audio_packets[0].timestamp) / 1000
    assert abs(audio_time - (len(recording.audio_packets) - 1) * 1024 / recording.sample_rate) < 0.04


def test_an_unplugged_microphone_returns_and_the_connection_stays(card, nginx):
    speak(card)
    sender = card.start(publish(nginx.url("unplugged").replace("127.0.0.1", HOST), 30, "/dev/video0"))
    sender.wait_for('"name":"status".*"audioSamples":[1-9]', 40)
    # The kernel's call returns when no program has the card open any more.
    unplugged = card.start(f"echo {CARD} > {DRIVER}/unbind")
    sender.wait_for('"name":"sourceInterrupted","track":"audio"', 20)
    unplugged.wait(20)
    # The guest itself starts the player once the program has the card again: a busy host would be late.
    opened = "grep -qs RUNNING /proc/asound/Loopback/pcm1c/sub*/status"
    card.start(f"sleep 3; echo {CARD} > {DRIVER}/bind; until {opened}; do sleep 0.1; done; exec {noise('plughw')}")
    sender.wait_for('"name":"sourceReturned","track":"audio"', 20)
    output = sender.wait(90)
    assert output.status == 0
    names = [event["name"] for event in events(output.text)]
    assert "reconnecting" not in names and names.count("connected") == 1
    status = last_status(output.text)
    assert status["audioInterruptions"] == 1 and status["sourceInterruptions"] == 0
    away = [event["seconds"] for event in events(output.text) if event["name"] == "sourceReturned"][0]
    overruns = status["audioOverruns"]
    assert 3 < away < 12 and away - 1 < status["audioSilent"] / 44_100 < away + 1 + 0.7 * overruns
    recording = Recording(nginx.recording("unplugged"))
    assert_audio_keeps_time(recording)
    levels = loudness(recording)
    # The player returns slightly later than the card.
    assert away - 1 < sum(level < 100 for level in levels) / 10 < away + 4 + 0.7 * overruns
    assert statistics.median(levels[-20:-2]) > 1000, "the audio is not back"


def test_busy_and_forbidden_microphones_are_distinguished(card):
    words = "tallycam publish --video none --audio alsa:hw:Loopback,1 --duration 2 --url rtmp://127.0.0.1:9/live/x"
    # The loop has eight subdevices; recording uses one.
    hold = "exec arecord -q -D hw:Loopback,1 -f S16_LE -c 2 -r 48000 /dev/null"
    holders = [card.start(hold) for _ in range(8)]
    card.run(
        "for _ in $(seq 100); do [ $(grep -L closed /proc/asound/Loopback/pcm1c/sub*/status | wc -l) = 8 ] && exit; "
        "sleep 0.2; done; exit 1"
    )
    busy = card.run(words, check=False)
    for holder in holders:
        holder.end()
    assert busy.status == 4 and "in use by another program" in busy.text
    card.run("grep -q nobody /etc/passwd || echo nobody:x:65534:65534::/:/bin/sh >> /etc/passwd")
    card.run(f"chmod 600 /dev/snd/*; printf '#!/bin/sh\\nexec {words}\\n' > /tmp/hear && chmod 755 /tmp/hear")
    forbidden = card.run("socat -u EXEC:/tmp/hear,su=nobody,stderr STDOUT", check=False)
    assert "cannot be opened: permission denied" in forbidden.text and "group audio" in forbidden.text
    card.run("chmod 660 /dev/snd/*")


# Makes the player's volume a capture volume of the card, from -20 to 20 dB in steps of 0.2, with the number of the recorded
# end: it represents a card whose hardware amplifies.
VOLUME = "Mic Capture Volume"
AMPLIFIER = f"""</usr/share/alsa/alsa.conf>
pcm.amplifier {{
    type softvol
    slave.pcm "hw:Loopback,0"
    control {{ name "{VOLUME}" index 1 card Loopback }}
    min_dB -20.0
    max_dB 20.0
    resolution 201
}}
"""


@pytest.fixture
def amplifying_card(card):
    yield card
    card.end_all()
    card.run("rmmod snd-aloop && modprobe snd-aloop")


@pytest.mark.parametrize(
    "setting, hardware, digital",
    [
        ("", 6, 0), (",gain=26", 20, 6),
        pytest.param(",gain=-10", -10, 0, marks=pytest.mark.slow), pytest.param(",gain=3.5", 3.6, -0.1, marks=pytest.mark.slow),
    ],
)
def test_the_cards_own_volume_is_used_first(amplifying_card, nginx, setting, hardware, digital):
    board = amplifying_card
    level = 0.02
    board.put("/tmp/amplifier.conf", AMPLIFIER.encode())
    board.put("/tmp/tone", tone(500, 48_000, 2, 2, 1, level))
    board.run("for _ in $(seq 40); do cat /tmp/tone; done > /tmp/tones")
    play = "env ALSA_CONFIG_PATH=/tmp/amplifier.conf aplay -q -D amplifier -t raw -f S16_LE -c 2 -r 48000"
    # The creator of a volume is its only user until the end.
    board.run(f"{play} /tmp/tone")
    volume = f"amixer -c Loopback cset name='{VOLUME}',index=1"
    # 130 steps above -20 dB.
    board.run(f"{volume} 130")
    board.start(f"exec {play} /tmp/tones")
    board.run("sleep 2")
    url = nginx.url("amplified").replace("127.0.0.1", HOST)
    text = board.run(
        f"tallycam publish --video none --audio alsa:hw:Loopback,1{setting} --duration 8 --status-interval 1 "
        f"--events json --url {url}", timeout=60,
    ).text  # fmt: skip
    status = last_status(text)
    assert abs(status["audioHardwareGainDecibels"] - hardware) < 0.001
    assert abs(status["audioDigitalGainDecibels"] - digital) < 0.001
    steps = round((hardware + 20) / 0.2)
    assert f": values={steps},{steps}" in board.run(volume.replace("cset", "cget")).text
    heard = sorted(amplitudes(Recording(nginx.recording("amplified")), 500)[30:-5])[-3:]
    expected = level * 10 ** ((hardware + digital) / 20)
    assert all(abs(part / expected - 1) < 0.08 for part in heard), (expected, heard)
