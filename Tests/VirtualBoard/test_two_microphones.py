"""Two sound cards of the virtual board at once, each a loop with a tone of its own."""

import math

import pytest
from board import HOST
from recording import Recording
from loopback import DRIVER, amplitudes, assert_audio_keeps_time, events, last_status, tone

pytestmark = [pytest.mark.takes(minutes=2.4, processors=0.3)]

SECOND = "snd_aloop.1"
TONES = {"hw:Loopback": 500, "hw:Second": 1000}
# The stream's rate: AAC is work enough for an emulated processor.
RATE = 22_050


@pytest.fixture
def two_cards(board, request):
    """The loop twice. `play` plays a tone at half of full scale into each, at the same rate."""
    board.run("rmmod snd-aloop && modprobe snd-aloop enable=1,1 id=Loopback,Second")
    for frequency in TONES.values():
        board.put("/tmp/second", tone(frequency, getattr(request, "param", 48_000), 2, 2, 1))
        board.run(f"for _ in $(seq 90); do cat /tmp/second; done > /tmp/{frequency}")
    yield board
    board.end_all()
    board.run("rm -f /tmp/second /tmp/500 /tmp/1000; rmmod snd-aloop && modprobe snd-aloop")


def play(board, card: str, rate: int = 48_000) -> None:
    board.start(f"exec aplay -q -D {card},0 -t raw -f S16_LE -c 2 -r {rate} /tmp/{TONES[card]}")


def of_both(url: str, seconds: int, *settings: str) -> str:
    sources = " ".join(f"--audio alsa:{card},1{more}" for card, more in zip(TONES, settings))
    return (
        f"exec tallycam publish --video none {sources} --audio-quality Low1@{RATE} --duration {seconds} --status-interval 1 "
        f"--events json --url {url}"
    )


@pytest.mark.parametrize(
    "settings, expected",
    [
        ((",gain=-12,mute=off", ",mute=on"), (0.125, 0)),
        pytest.param((",gain=-6", ",gain=-12"), (0.25, 0.125), marks=pytest.mark.slow),
        pytest.param((",mute=on", ""), (0, 0.5), marks=pytest.mark.slow),
    ],
)
def test_two_microphones_are_mixed_with_their_own_gain_and_mute(two_cards, nginx, settings, expected):
    for card in TONES:
        play(two_cards, card)
    two_cards.run("sleep 2")
    url = nginx.url("mixed").replace("127.0.0.1", HOST)
    text = two_cards.run(of_both(url, 8, *settings), timeout=60).text
    reports = [event for event in events(text) if event["name"] == "status"]
    recording = Recording(nginx.recording("mixed"))
    assert_audio_keeps_time(recording)
    for frequency, peaks, level in zip(TONES.values(), zip(*(each["eachAudioPeakDecibels"] for each in reports[1:])), expected):
        # An emulated machine that stalls leaves gaps, and half a tenth of a second at their edges.
        loudest = sorted(amplitudes(recording, frequency)[10:-5])[-3:]
        assert all(abs(heard - level) < 0.02 for heard in loudest), (frequency, level, loudest)
        # A report has the level of one moment, which may be in such a gap.
        audible = [peak for peak in peaks if peak is not None]
        assert abs(max(audible) - 20 * math.log10(level)) < 1 if level else not audible, peaks
    assert min(reports[-1]["eachAudioSamples"]) > 2 * 48_000


# The first program to open a loop sets its rate, and a returning card may be opened by the microphone or by the player.
@pytest.mark.slow
@pytest.mark.parametrize("two_cards", [RATE], indirect=True, ids=["one rate"])
def test_one_of_two_microphones_is_lost_and_returns(two_cards, nginx):
    for card in TONES:
        play(two_cards, card, RATE)
    two_cards.run("sleep 2")
    sender = two_cards.start(of_both(nginx.url("half").replace("127.0.0.1", HOST), 30, ",gain=-6", ",gain=-6"))
    sender.wait_for('"name":"status".*"audioSamples":[1-9]', 40)
    two_cards.run("sleep 4")
    unplugged = two_cards.start(f"echo {SECOND} > {DRIVER}/unbind")
    sender.wait_for('"name":"sourceInterrupted","track":"audio","source":"the microphone hw:Second,1"', 20)
    unplugged.wait(20)
    two_cards.run(f"sleep 3; echo {SECOND} > {DRIVER}/bind")
    play(two_cards, "hw:Second", RATE)
    sender.wait_for('"name":"sourceReturned","track":"audio"', 20)
    output = sender.wait(90)
    assert output.status == 0
    names = [event["name"] for event in events(output.text)]
    assert "reconnecting" not in names and names.count("connected") == names.count("sourceInterrupted") == 1
    status = last_status(output.text)
    away = [event["seconds"] for event in events(output.text) if event["name"] == "sourceReturned"][0]
    assert status["audioInterruptions"] == 1 and 3 < away < 12
    assert away - 1 < status["eachAudioSilent"][1] / RATE < away + 3 + 0.7 * status["audioOverruns"]
    recording = Recording(nginx.recording("half"))
    assert_audio_keeps_time(recording)
    steady, returned = amplitudes(recording, 500)[10:-5], amplitudes(recording, 1000)[10:-5]
    assert away - 1 < sum(level < 0.02 for level in returned) / 10 < away + 6 + 0.7 * status["audioOverruns"]
    for part in (returned[:20], returned[-20:]):
        assert 0.22 < sorted(part)[-3] < 0.28, "the level is wrong before or after the loss"
    gaps = sum(level < 0.2 for level in steady) / 10
    assert gaps < 0.5 + status["audioOverruns"], "the other microphone has gaps that the machine's stalls do not explain"
