"""Changes of a live stream: several settings at one keyframe, or with one clean restart where players could not follow."""

import subprocess
import time

import pytest
from live_publisher import send, start, wait_for
from processes import HUNG, Children, Process
from recording import Recording, frames_due, wait_for_media
from tallycam import TALLYCAM, Receiver, events, last_event, publish_arguments, start_publisher, wait_for_statuses

pytestmark = pytest.mark.takes(minutes=0.6, processors=0.1)

# Accuracy of locating an audio change, in seconds: an AAC packet and the overlap with its neighbors.
AUDIO_BLUR = 0.1


def silence_starts(path) -> float:
    """Seconds from the start of the audio until it becomes silent for good."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-ac", "1", "-ar", "8000", "-f", "s16le", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    samples = memoryview(run.stdout).cast("h")
    return max(at for at in range(0, len(samples), 8) if abs(samples[at]) > 500) / 8000


@pytest.mark.parametrize("form", ["transaction", "one line"])
def test_all_changes_take_effect_at_one_keyframe(children, nginx, form):
    publisher = start(children, nginx.url("live"), status_interval=1)
    time.sleep(2.7)  # between two keyframes, unless the machine is busy
    changes = ["quality Low1", "audio-quality Low1", "mute on"]
    if form == "transaction":
        send(publisher, "begin", *(f"set {change}" for change in changes))
        time.sleep(0.3)
        assert not [event for event in events(publisher) if event["name"] == "configured"], "nothing changes yet"
        send(publisher, "commit")
    else:
        send(publisher, f"set {' '.join(changes)}")
    wait_for(publisher, "configured", 1)
    [changed] = wait_for_change(publisher)
    assert (changed["quality"], changed["targetFramesPerSecond"], changed["audioBitsPerSecond"]) == ("Low1", 12, 64_000)
    wait_for_statuses(publisher, 2)
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()

    recording = Recording(nginx.recording("live"))
    missed = last_event(publisher, "ended")["sourceDropped"]
    assert recording.decoded.complaints == ""
    assert recording.disorder() == []
    assert len([tag for tag in recording.tags if tag.is_video_header]) == 1, "it is one stream"
    times = [tag.timestamp for tag in recording.frames]
    gaps = [after - before for before, after in zip(times, times[1:])]
    # 30 frames per second before, 12 from the keyframe on.
    border = max(at for at, gap in enumerate(gaps) if gap < 50) + 1
    assert len(gaps) > border and (missed or all(gap < 50 for gap in gaps[:border])), gaps
    while missed and not recording.frames[border].is_keyframe:
        border += 1
    assert recording.frames[border].is_keyframe
    change_time = times[border]
    # From there on, audio is silent and has half the bit rate.
    heard = recording.audio_packets[0].timestamp / 1000 + silence_starts(recording.path)
    assert abs(heard - change_time / 1000) < (1 if missed else AUDIO_BLUR), (heard, change_time)
    before = [len(tag.body) for tag in recording.audio_packets if tag.timestamp < change_time - 200]
    after = [len(tag.body) for tag in recording.audio_packets if tag.timestamp > change_time + 500]
    assert sum(after) / len(after) < 0.6 * sum(before) / len(before)


@pytest.mark.parametrize(
    ("change", "expected", "fps"), [("quality Medium1", [30], 30), ("bitrate 150,500,12000", [30, 31], 12)])
def test_exceeding_the_announced_level_sends_a_new_header(children, change, expected, fps):
    """Level 3.0 allows 10 Mbit/s, and Medium1 at this size."""
    receiver = Receiver(children)
    publisher = start(children, receiver.url(), quality="Low1", status_interval=1)
    wait_for_statuses(publisher, 2)
    send(publisher, f"set {change}")
    wait_for(publisher, "configured", 1)
    wait_for_statuses(publisher, 2)
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()
    recording = Recording(receiver.recording())
    assert recording.decoded.complaints == ""
    headers = [tag.body for tag in recording.tags if tag.is_video_header]
    assert [header[5 + 3] for header in headers] == expected
    assert len({header[5 + 1] for header in headers}) == 1, "the profile stays"
    # The source was not opened only for Low1.
    changed = wait_for_change(publisher)[-1]
    assert changed["targetFramesPerSecond"] == fps
    times = [tag.timestamp for tag in recording.frames]
    gaps = [after - before for before, after in zip(times, times[1:])]
    # Within one frame of 30 per second; the encoder may skip some.
    for part, rate in ((gaps[:12], 12), (gaps[-20:], fps)):
        usual = sorted(part)[len(part) // 2]
        assert abs(usual - 1000 / rate) < (3 if rate == 30 else 20) or last_event(publisher, "ended")["sourceDropped"], gaps


def test_an_unchangeable_quality_opens_the_source_at_its_own_rate(children):
    """Frames that will never be needed are not produced."""
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), quality="Low1", dimension="320x240", duration=3)
    assert publisher.wait() == 0, publisher.report()
    [ended] = [event for event in events(publisher) if event["name"] == "ended"]
    assert ended["videoDecimated"] <= 1 and frames_due(ended) > 30


def wait_for_change(publisher: Process) -> list[dict]:
    """The quality according to commands; it may also adapt."""

    def found() -> list[dict]:
        return [event for event in events(publisher) if event["name"] == "qualityChanged" and event["reason"] == "settingsChanged"]

    publisher.wait_until(found, "another quality")
    return found()


def test_incompatible_changes_cause_one_clean_restart(children):
    receiver = Receiver(children)
    publisher = start(children, receiver.url(), quality="High1", adapt="restart")
    wait_for_media(publisher, receiver.path, frames=40, audio_packets=40)
    send(publisher, "set quality Medium2 dimension 416x234 audio-quality High1@48000")
    wait_for(publisher, "configured", 1)
    wait_for(publisher, "publishing", 2)
    second_path = receiver.path.with_stem(f"{receiver.path.stem}-2")
    wait_for_media(publisher, second_path, frames=40, audio_packets=40)
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()
    first, second = Recording(receiver.recording()), Recording(second_path)
    for recording, profile, size, rate in (
        (first, "Main", (320, 240), 44_100), (second, "Baseline", (416, 234), 48_000),
    ):  # fmt: skip
        assert recording.decoded.complaints == ""
        assert recording.sps.profile_name == profile
        assert (recording.sps.width, recording.sps.height) == size
        assert recording.sample_rate == rate
        assert len([tag for tag in recording.tags if tag.is_video_header]) == 1
        assert len([tag for tag in recording.tags if tag.is_audio_header]) == 1
        assert recording.frames[0].is_keyframe and len(recording.frames) > 30
        assert len(recording.audio_packets) > 30
    assert second.metadata["width"] == 416 and second.metadata["audiosamplerate"] == 48_000


def test_impossible_changes_are_refused_and_the_stream_continues(children):
    receiver = Receiver(children)
    publisher = start(children, receiver.url())
    bad = ["set quality Best", "set dimension 360p", "set volume 11", "commit", "hello", "set bitrate 1,2,3"]
    # A URL in the wrong place contains a key.
    bad += ["set quality rtmp://127.0.0.1/live/hush-hush", "rtmp://127.0.0.1/live/hush-hush"]
    send(publisher, *bad)
    refused = wait_for(publisher, "refused", len(bad))
    assert all(event["reason"] for event in refused)
    assert "hush" not in publisher.stdout + publisher.stderr
    changed = [event for event in events(publisher) if event["name"] in ("configured", "qualityChanged")]
    assert not [event for event in changed if event.get("reason") in (None, "settingsChanged")], changed
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()
    assert Recording(receiver.recording()).decoded.complaints == ""


def on_terminal(children: Children, url: str, terminal: str = "xterm") -> Process:
    """A publisher on its own terminal, where its standard input is typed."""
    words = [TALLYCAM, *publish_arguments(url, events="text", quality="Low1", dimension="320x240", reconnect="endless")]
    process = children.start(
        "terminal", ["env", f"TERM={terminal}", "script", "-qefc", " ".join(map(str, words)), "/dev/null"],
        stdin=subprocess.PIPE,
    )  # fmt: skip
    process.wait_until(lambda: "state: live" in process.stdout, "the stream")
    return process


@pytest.mark.parametrize("kind", ["xterm", "dumb"])
def test_commands_and_their_help_on_a_terminal(children, kind):
    """With a live view, the typed line is edited inside it; otherwise, the terminal does that."""
    receiver = Receiver(children)
    terminal = on_terminal(children, receiver.url(), kind)
    send(terminal, "help", "set mute of\x7fn" if kind == "xterm" else "set mute on")
    terminal.wait_until(lambda: "muted: sending silence" in terminal.stdout, "the change")
    assert "discard the collected changes" in terminal.stdout
    send(terminal, "stop")
    assert terminal.wait() == 0, terminal.report()


def test_the_live_view_says_live_only_while_that_is_true(children):
    receiver = Receiver(children)
    terminal = on_terminal(children, receiver.url())
    terminal.wait_until(lambda: " LIVE " in terminal.stdout, "the badge")
    receiver.process.interrupt_and_wait()
    terminal.wait_until(lambda: "RECONNECTING" in terminal.stdout, "the loss")
    time.sleep(0.5)
    send(terminal, "stop")
    assert terminal.wait() == 0, terminal.report()
    after = terminal.stdout.partition("state: reconnecting")[2]
    assert " LIVE " not in after and "RECONNECTING" in after


def test_a_bit_rate_above_the_tables_level_is_supported(children):
    """High3 has level 3.0, which ends at 10 Mbit/s; the correction of an encoder that produces too little asks for more."""
    receiver = Receiver(children)
    publisher = start_publisher(
        children, receiver.url(), quality="High3", dimension="320x240", bitrate="150,9500,9500", duration=6
    )
    assert publisher.wait() == 0, publisher.report()
    assert not [event for event in events(publisher) if event["name"] == "refused"]
    assert Recording(receiver.recording()).decoded.complaints == ""


def test_audio_alone_is_a_stream(children, nginx):
    publisher = start_publisher(children, nginx.url("audio"), video="none", duration=2)
    assert publisher.wait() == 0, publisher.report()
    recording = Recording(nginx.recording("audio"))
    assert recording.decoded.complaints == ""
    assert recording.frames == [] and not any(tag.is_video_header for tag in recording.tags)
    assert recording.audio_seconds > 1 and abs(recording.audio_seconds - last_event(publisher, "ended")["audioSeconds"]) < 0.05
    assert recording.decoded.audio_packets == len(recording.audio_packets)
    assert "width" not in recording.metadata
