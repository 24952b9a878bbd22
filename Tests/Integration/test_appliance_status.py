"""`tallycam status` for a stream, from its first moment on."""

from appliance import DEVICE, LIVE, Appliance, plain
from page import POOR_UPLINK
from tallycam import Receiver

NOWHERE = {"url": "rtmp://127.0.0.1:1/live", "key": "x"}


def started(children, **device) -> Appliance:
    """A camera whose stream has been started and may already be live."""
    camera = Appliance(children, stream=plain(Receiver(children).url()), device={**DEVICE, **device})
    assert camera.ask("start").child.returncode == 0
    return camera


def test_it_is_complete_from_the_first_live_moment(children):
    camera = started(children)
    while (status := camera.status())["state"] not in LIVE:
        assert camera.process.running
    text = camera.ask("status").stdout
    # Where the server gets too little processor time, the quality may be lower already.
    events = camera.console("events 200")
    is_lowered = any(reason in events for reason in POOR_UPLINK)
    assert status["quality"] == "Low3" and (status["width"], status["height"]) == (320, 240) or is_lowered, status
    assert status["targetBitsPerSecond"] > 300_000 or is_lowered, status
    assert status["encoder"] == "openh264", status
    assert status["liveSeconds"] < 60 and status["muted"] is False, status
    for name in ("videoFrames", "videoSkipped", "videoDropped", "videoDecimated", "framesPerSecond", "bitsPerSecond"):
        assert status[name] >= 0, name
    lines = dict(line.split(":", 1) for line in text.splitlines())
    assert lines["quality"].startswith("  Low" if is_lowered else "  Low3, 320x240, ") and " kbit/s, " in lines["quality"], text
    assert lines["length"].startswith("   00:00:") and " sent, " in lines["frames"], text


def test_the_test_pattern_and_the_tone_are_counted(children):
    camera = started(children)
    camera.process.wait_until(lambda: camera.status().get("framesPerSecond", 0) > 5, "frames")
    sources = camera.status()["sources"]
    assert sources["sourceFrames"] > 5 and sources["audioSamples"] > 1000, sources
    # The tone's level in ToneSource.
    assert abs(sources["audioPeakDecibels"] + 20) < 0.5 and abs(sources["audioMeanDecibels"] + 23) < 0.5, sources
    text = camera.ask("status").stdout
    assert "audio:    peak -20.0 dBFS, 0 overruns\n" in text and "camera:   " in text, text


def test_status_shows_that_the_stream_is_muted(children):
    camera = started(children)
    camera.process.wait_until(lambda: camera.status()["state"] in LIVE, "live stream")
    camera.process.wait_until(lambda: camera.status()["sources"]["audioSamples"] > 0, "audio")
    for word in ("on", "off"):
        assert camera.ask("set", "mute", word).child.returncode == 0
        assert camera.status()["muted"] is (word == "on")
        assert ("audio:    muted, " in camera.ask("status").stdout) is (word == "on")


def test_faults_and_warnings_are_labeled(children):
    camera = Appliance(children, stream=NOWHERE, device={**DEVICE, "statusInterval": 99})
    camera.wait_for_faults("statusInterval")
    lines = camera.ask("status").stdout.splitlines()
    assert all(not line.startswith(" ") for line in lines), lines
    assert any(line.startswith("detail:   device.json:1:") and "statusInterval" in line for line in lines), lines
    assert any(line.startswith("detail:   device.json:1:1: warning: the whole file") for line in lines), lines
    status = camera.status()
    assert type(status["runningSeconds"]) is int, status
