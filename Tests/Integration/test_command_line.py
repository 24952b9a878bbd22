"""The command line contract: help, version, events."""

import json
import re

import pytest
from servers import free_port
from tallycam import CHECKOUT, TALLYCAM, Receiver, events, last_event, on_terminal, start_publisher

pytestmark = pytest.mark.takes(minutes=0.3, processors=0.15)

OPTIONS = {
    "publish": [
        "--url", "--stream", "--video", "--audio", "--quality", "--audio-quality", "--dimension", "--encoder",
        "--duration", "--events", "--from-flv", "--pace", "--adapt", "--resize", "--smallest-size", "--bitrate",
        "--keep-audio-quality", "--buffer", "--buffer-thresholds", "--trace", "--connect-timeout", "--handshake-timeout", "--tuning", "--commands", "--time-zone",
    ],
    "receive": ["--listen", "--record", "--events"],
    "check": ["stream.json"],
    "doctor": ["--json", "--boot", "--state", "--network", "--socket"],
    "cameras": ["--json", "--dimension", "--socket"],
    "microphones": ["--json", "--socket"],
    "run": ["--boot", "--state", "--network", "--supplicant", "--socket", "--simulate-power", "--unattended", "--log", "--events"],
    "events": ["--follow", "--json", "--socket"],
    "status": ["--json", "--socket"],
    "start": ["--socket"],
    "stop": ["--socket"],
    "network": ["--file", "--output"],
}  # fmt: skip
# The contract's codes, none, and the product's own from 2001 on.
CODES = {0, 1001, 1002, 1101, 1102, 1103, 1104, 2001, 2002, 2003, 2004, 2005, 3001, 3002, 3003, 3004}


@pytest.mark.parametrize("command", OPTIONS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_every_option(children, command, flag):
    run = children.run("help", [TALLYCAM, command, flag])
    assert run.child.returncode == 0 and run.stderr == ""
    assert run.stdout.startswith(f"Usage: tallycam {command}")
    for option in OPTIONS[command]:
        assert option in run.stdout


def test_help_lists_every_command_and_exit_status(children):
    run = children.run("help", [TALLYCAM, "--help"])
    assert run.child.returncode == 0 and run.stderr == ""
    for word in [*OPTIONS, "--version", "Exit status"]:
        assert word in run.stdout


def test_help_names_all_qualities(children):
    text = children.run("help", [TALLYCAM, "publish", "--help"]).stdout
    for name in ("Low1", "Low2", "Low3", "Medium1", "Medium2", "Medium3", "High1", "High2", "High3"):
        assert name in text
    for word in ("synthetic", "raw:", "i420", "nv12", "tone", "silence", "none", "openh264", "realtime", "fast"):
        assert word in text


def test_an_unknown_time_zone_is_refused_with_the_nearest(children):
    run = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/a/b", "--time-zone", "Europe/Berln"])
    assert run.child.returncode == 2
    assert '--time-zone: "Europe/Berln" is not a name of the tz database; did you mean "Europe/Berlin"?' in run.stderr


def test_words_must_be_utf8(children):
    # Python's representation of the byte E9, which is "é" in Latin-1.
    run = children.run("filter", [TALLYCAM, "filter", "text", "text=Caf\udce9"])
    assert run.child.returncode == 2 and run.stdout == ""
    assert run.stderr == "tallycam: word 3 of the command line is not UTF-8\n"


@pytest.mark.parametrize("words, complaint", [
    (["--resize", "always"], '--resize must be never, restart or seamless, not "always"'),
    (["--smallest-size", "small"], '--smallest-size: dimension "small" is neither WIDTHxHEIGHT nor a name'),
    (["--smallest-size", "7x5"], "--smallest-size: dimension 7x5 is impossible"),
])  # fmt: skip
def test_size_options_are_checked(children, words, complaint):
    run = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/live/x", *words])
    assert run.child.returncode == 2 and complaint in run.stderr, run.report()


@pytest.mark.parametrize("options, code, complaint", [
    (["--dimension", "7x5"], -1305, "dimension 7x5 is impossible"),
    (["--audio-quality", "High2@8000"], -1306, 'audio sample rate "8000" is not supported'),
])  # fmt: skip
def test_unsupported_sizes_and_rates_are_events_too(children, options, code, complaint):
    words = ["--url", "rtmp://127.0.0.1:1/live/x", "--events", "json", *options]
    run = children.run("publish", [TALLYCAM, "publish", *words])
    assert run.child.returncode == 2 and complaint in run.stderr, run.report()
    (event,) = events(run)
    assert (event["name"], event["code"]) == ("failed", code) and complaint in event["message"], event


def test_the_start_of_camera_and_microphone_is_an_event(children):
    receiver = Receiver(children)
    # A source with a gain is treated like a microphone.
    words = {"audio": "tone,gain=-3", "dimension": "320x240", "quality": "Low2", "duration": 1}
    publisher = start_publisher(children, receiver.url(), **words)
    assert publisher.wait() == 0, publisher.report()
    started = {event["name"]: event for event in events(publisher) if event["name"].endswith("Started")}
    camera, microphone = started["cameraStarted"], started["microphoneStarted"]
    assert (camera["camera"], camera["width"], camera["height"]) == ("the test pattern", 320, 240), camera
    assert (microphone["sampleRate"], microphone["channels"]) == (44100, 2), microphone
    assert len([event for event in events(publisher) if event["name"].endswith("Started")]) == 2


def test_the_start_event_names_the_file_with_the_frames(children):
    receiver, path = Receiver(children), CHECKOUT / "docs/demo.png"
    words = {"video": f"image:{path}", "audio": "none", "dimension": "320x240", "quality": "Low2", "duration": 1}
    publisher = start_publisher(children, receiver.url(), **words)
    assert publisher.wait() == 0, publisher.report()
    [camera] = [event["camera"] for event in events(publisher) if event["name"] == "cameraStarted"]
    assert camera == f"the image {path}" and f"frames arrive from {camera}: 320x240" in publisher.stderr


def test_two_filters_of_one_name_are_refused(children):
    run = children.run("publish", [
        TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/live/x", "--filter", "text,text=AAA", "--filter", "text,text=BBB",
    ])  # fmt: skip
    assert run.child.returncode == 2
    assert "--filter: filter text is given more than once; name several text, text2 and so on, up to text9" in run.stderr


def test_a_broken_look_is_refused_with_its_line(children, tmp_path):
    path = tmp_path / "look.cube"
    path.write_text("LUT_3D_SIZE 2\r\n0 0 0\r\n1 0\r\n")
    run = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/live/x", "--filter", f"lut,file={path}"])
    assert run.child.returncode == 2
    assert f"--filter: filter lut: {path}, line 3: three numbers are expected" in run.stderr, run.report()


@pytest.mark.parametrize("words, complaint", [
    ("mute 1:on", "use gain= and mute= in --audio"), ("microphone-gain 2:-6", "use gain= and mute= in --audio"),
    ("torch on", "torch belongs to the camera appliance"), ("webcam on", "webcam belongs to the camera appliance"),
    ("quality Low1", "quality is not a control; use its own option"), ("zom 2", "did you mean"),
])  # fmt: skip
def test_an_invalid_camera_control_is_refused_at_the_start(children, words, complaint):
    run = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/live/x", "--set", words])
    assert run.child.returncode == 2 and complaint in run.stderr, run.report()


def test_a_misspelled_command_gets_a_suggestion(children):
    run = children.run("publsh", [TALLYCAM, "publsh"])
    assert run.child.returncode == 2
    assert 'unknown command "publsh"; did you mean publish? try tallycam --help' in run.stderr


def test_help_names_a_command(children):
    run = children.run("help", [TALLYCAM, "help", "publish"])
    assert run.child.returncode == 0 and run.stdout == children.run("help", [TALLYCAM, "publish", "--help"]).stdout
    run = children.run("help", [TALLYCAM, "help", "publsh"])
    assert run.child.returncode == 2 and 'unknown command "publsh"; did you mean publish?' in run.stderr


@pytest.mark.parametrize("typed, meant", [
    ("--quailty", "--quality"), ("--dimensions=720p", "--dimension"), ("--b", "--bitrate or --buffer or --buffer-thresholds"), ("--xyzzy", None),
])  # fmt: skip
def test_a_misspelled_option_gets_a_suggestion(children, typed, meant):
    run = children.run("publish", [TALLYCAM, "publish", typed, "Low1"])
    assert run.child.returncode == 2 and f"unknown option {typed}" in run.stderr, run.report()
    assert (f"; did you mean {meant}?" in run.stderr) if meant else "did you mean" not in run.stderr


def test_a_second_url_is_refused(children):
    url = "rtmp://127.0.0.1:1/live/x"
    run = children.run("publish", [TALLYCAM, "publish", "--url", url, "--url", url])
    assert run.child.returncode == 2 and "--url is given more than once" in run.stderr, run.report()


@pytest.mark.parametrize("words, complaint", [
    ("zoom", "--set: zoom needs a value: a number"), ("zoom 2 focus", "--set: focus needs a value: "), ("zom", "did you mean zoom?"),
])  # fmt: skip
def test_a_control_without_a_value_is_refused(children, words, complaint):
    run = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/live/x", "--set", words])
    assert run.child.returncode == 2 and complaint in run.stderr, run.report()


@pytest.mark.parametrize("words, complaint", [
    (["--buffer", "9"], "--buffer must be a number of seconds, 1 to 5, not 9.0"),
    (["--buffer-thresholds", "0.5,0.55"], "--buffer-thresholds: HIGH must be at least 0.1 above LOW"),
    (["--buffer-thresholds", "0.5,1.5"], "--buffer-thresholds: HIGH must be from 0 to 1, not 1.5"),
])  # fmt: skip
def test_a_limit_is_named_as_it_was_typed(children, words, complaint):
    run = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/live/x", *words])
    assert run.child.returncode == 2 and complaint in run.stderr and "maxDuration" not in run.stderr, run.report()


@pytest.mark.parametrize("words", [["--help"], *([command, "--help"] for command in OPTIONS), ["publish", "--url", "x" * 30 + " y" * 40]])
def test_lines_fit_an_80_column_terminal_and_break_at_words(children, words):
    shown = on_terminal([TALLYCAM, *words], 80)
    assert max(map(len, shown.splitlines())) <= 80, shown
    plain = children.run("plain", [TALLYCAM, *words])
    assert shown.split() == (plain.stdout + plain.stderr).split()


def test_an_absent_server_is_counted_instead_of_repeated(children):
    publisher = start_publisher(
        children, f"rtmp://127.0.0.1:{free_port()}/live/x", quality="Low1", dimension="416x234", events=None, reconnect="endless"
    )
    publisher.wait_until(lambda: "still reconnecting: attempt" in publisher.stdout, "counter")
    lines = publisher.stdout.splitlines()
    assert sum("reconnecting in" in line for line in lines) == 1, publisher.stdout
    assert sum("could be connected to" in line or "refused" in line for line in lines) == 1, publisher.stdout
    publisher.interrupt_and_wait()


def test_a_fifth_microphone_is_refused(children):
    run = children.run("publish", [TALLYCAM, "publish", "--url", "rtmp://127.0.0.1:1/live/x", *["--audio", "tone"] * 5])
    assert run.child.returncode == 2 and "--audio may be given 4 times at most, not 5" in run.stderr, run.report()


def test_version(children):
    run = children.run("version", [TALLYCAM, "--version"])
    assert run.child.returncode == 0 and run.stderr == ""
    assert re.fullmatch(r"tallycam \d+\.\d+\.\d+\S*\n", run.stdout)


@pytest.fixture(scope="module")
def stream(module_children):
    """A seven-second stream with two status events."""
    receiver = Receiver(module_children)
    publisher = start_publisher(module_children, receiver.url(), quality="Low2", duration=7)
    assert publisher.wait() == 0, publisher.report()
    receiver.recording()
    return publisher, receiver.process


@pytest.mark.parametrize("who", [0, 1], ids=["publish", "receive"])
def test_every_event_is_an_object_with_time_code_and_name(stream, who):
    process = stream[who]
    lines = process.stdout.splitlines()
    assert process.stdout.endswith("\n") and len(lines) >= 3
    for line in lines:
        event = json.loads(line)
        assert isinstance(event, dict)
        assert isinstance(event["t"], (int, float)) and event["t"] >= 0
        assert event["code"] in CODES
        assert re.fullmatch(r"[a-z][A-Za-z]*", event["name"])
    times = [event["t"] for event in events(process)]
    assert times == sorted(times)


def documented_events(command: str) -> dict[str, tuple[str, set[str], set[str]]]:
    """Code, fields and optional fields of every event in docs/reference/events.md."""
    text = (CHECKOUT / "docs/reference/events.md").read_text()
    section = text.partition(f"## tallycam {command}\n")[2].partition("\n## ")[0]
    found = {}
    for code, names, fields in re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|", section, re.MULTILINE):
        for name in re.findall(r"`(\w+)`", names):
            found[name] = (code, set(re.findall(r"`(\w+)`(?!\?)", fields)), set(re.findall(r"`(\w+)`\?", fields)))
    return found


@pytest.mark.parametrize("who, command", enumerate(["publish", "receive"]))
def test_events_match_the_documentation(stream, who, command):
    documented = documented_events(command)
    seen = {event["name"] for event in events(stream[who])}
    assert seen and seen <= set(documented)
    for event in events(stream[who]):
        code, fields, optional = documented[event["name"]]
        assert str(event["code"]) == code
        assert set(event) - {"t", "code", "name"} - optional == fields, event["name"]


def test_a_stream_reports_its_states(stream):
    publisher, _ = stream
    found = [(event["name"], event["code"]) for event in events(publisher)]
    live = [("connected", 1001), ("publishing", 1002)]
    assert [event for event in found if event in live] == live
    states = [event["state"] for event in events(publisher) if event["name"] == "stateChanged"]
    assert states == ["connecting", "live", "disconnecting", "disconnected"]
    assert found[-1] == ("ended", 0)


def test_a_status_comes_every_three_seconds(stream):
    publisher, _ = stream
    status = [event for event in events(publisher) if event["name"] == "status"]
    # A busy machine may miss one, or end the stream late; none comes early.
    assert status and all(event["t"] >= 3 * number for number, event in enumerate(status, start=1)), status
    # Rates are counted between two of them, however late they are on a busy machine. The first one counts from just before the
    # stream is live. The interval itself is tested in virtual time (StreamSessionTests).
    for before, event in zip([{"t": 0, "liveSeconds": 0, "videoFrames": 0}, *status], status):
        counted = (event["videoFrames"] - before["videoFrames"]) / event["videoFramesPerSecond"]
        between = [event[clock] - before[clock] for clock in ("liveSeconds", "t")]
        assert min(between) - 0.05 <= counted <= max(between) + 0.05, (counted, between)
        assert event["audioPacketsPerSecond"] > 0
        assert event["bitsPerSecond"] > 0


def test_publisher_and_receiver_agree(stream):
    publisher, receiver = stream
    sent = events(publisher)[-1]
    received = [event for event in events(receiver) if event["name"] == "publisherEnded"][-1]
    assert sent["videoFrames"] == received["videoFrames"]
    assert sent["audioPackets"] == received["audioPackets"]
    assert abs(sent["audioSeconds"] - received["audioSeconds"]) < 0.001
    assert received["disordered"] == 0
    assert received["largestVideoGap"] <= 0.5 or sent["sourceDropped"]


def test_standard_error_has_the_same_for_people(stream):
    publisher, _ = stream
    assert "live at" in publisher.stderr and "ended:" in publisher.stderr


def test_events_as_text_are_lines_for_people(children):
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), quality="Low2", duration=0.5, events=None)
    assert publisher.wait() == 0, publisher.report()
    assert "live at" in publisher.stdout and "ended:" in publisher.stdout
    assert "{" not in publisher.stdout
    assert "\x1b" not in publisher.stdout + publisher.stderr, "a terminal's codes belong on a terminal"


def test_unread_output_does_no_harm(children):
    """Standard output is closed at once, as with `| head -1`."""
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), quality="Low2", duration=1)
    words = " ".join(map(str, publisher.argv))
    assert publisher.wait() == 0
    shell = children.run("shell", ["bash", "-c", f"set -o pipefail; {words} | true"])
    assert shell.child.returncode == 0, shell.report()
