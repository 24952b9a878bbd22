"""Commands, their answers, and the quoting of filters are the same wherever they are typed."""

import json
import re
import subprocess

import pytest
from appliance import BOARD, DEVICE, LIVE, Appliance, Terminal, plain
from tallycam import Receiver, events, start_publisher, wait_for_event

# Everything that acts as a separator elsewhere, within one value.
FILTER = r"""text,text="Studio: {time}, \"live\", it's a=b",position=top-left"""
TEXT = """Studio: {time}, "live", it's a=b"""


def publisher_of(children, **options):
    receiver = Receiver(children)
    publisher = start_publisher(
        children, receiver.url(), stdin=subprocess.PIPE, commands=True, dimension="320x240", quality="Low1", **options
    )
    wait_for_event(publisher, "publishing")
    return publisher


def send(publisher, *lines: str) -> None:
    publisher.child.stdin.write("".join(f"{line}\n" for line in lines).encode())
    publisher.child.stdin.flush()


def filtered(publisher) -> list[list[str]]:
    """The filter chain after each change."""
    return [event["filters"] for event in events(publisher) if event["name"] == "filtered"]


def live_camera(children, **files) -> Appliance:
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), **files)
    camera.ask("start")
    camera.wait_for("live")
    return camera


def test_a_filter_is_written_the_same_as_an_option_and_as_a_command(children):
    by_option = publisher_of(children, filter=FILTER)
    send(by_option, "settings")
    by_option.wait_until(lambda: f" filter {FILTER}\n" in by_option.stderr, "the filter of the command line")
    # Filter syntax with a space instead of a comma, and as one completely quoted word.
    whole = r"""text position=top-left "text=Studio: {time}, \"live\", it's a=b" """
    for number, line in enumerate((FILTER, FILTER.replace(",", " ", 1), whole)):
        send(by_option, "filter text off")
        changes = [[], [FILTER]]
        for count, command in ((1, None), (2, f"filter {line}")):
            if command:
                send(by_option, command)
            by_option.wait_until(lambda: len(filtered(by_option)) == 2 * number + count, command or "no filter")
            assert filtered(by_option)[-1] == changes[count - 1], line
    send(by_option, "stop")
    assert by_option.wait() == 0, by_option.report()


def test_a_filter_is_written_the_same_on_socket_console_and_in_a_file(children):
    terminal = Terminal()
    filters = [{"filter": "text", "text": TEXT, "position": "top-left"}]
    camera = live_camera(children, board={**BOARD, "console": terminal.name}, device={**DEVICE, "filters": filters})
    assert f"filter {FILTER}\n" in camera.ask("settings").stdout
    assert "no filters" in camera.ask("filter", "text", "off").stdout
    assert camera.ask("filter", FILTER).stdout == f"filter {FILTER}\n"
    camera.ask("filter", "text", "off")
    name, *words = FILTER.split(",", 1)
    assert camera.ask("filter", name, *words).stdout == f"filter {FILTER}\n"
    camera.ask("filter", "text", "off")
    assert f"filter {FILTER}\n" not in camera.ask("settings").stdout
    terminal.type(f"filter {FILTER}\r".encode())
    camera.process.wait_until(lambda: f"filter {FILTER}\n" in camera.ask("settings").stdout, "the filter of the console")


def test_publish_gives_the_same_answers_as_the_camera(children):
    publisher = publisher_of(children)
    send(publisher, "status", "quality", "settings", "controls", "status json", "controls json")
    publisher.wait_until(lambda: '[{"name":' in publisher.stderr, "the last answer")
    for words in (r"state:    (live|degraded)\n", r"quality:  Low1, 320x240, [\d.]+ fps, \d+ of \d+ kbit/s, [\d.]+ s buffered, encoder \w+\n", r" quality Low1\n"):
        assert re.search(words, publisher.stderr), (words, publisher.stderr)
    camera = live_camera(children)
    # JSON lines have no time prefix.
    [status] = [json.loads(line) for line in publisher.stderr.splitlines() if line.startswith("{")]
    [controls] = [json.loads(line) for line in publisher.stderr.splitlines() if line.startswith("[")]
    camera.process.wait_until(lambda: "encoder" in camera.status(), "the first report of the stream")
    theirs = camera.status()
    assert {status["state"], theirs["state"]} <= set(LIVE) and status["quality"] == "Low1"
    assert set(status) <= set(theirs)
    listed = json.loads(camera.ask("controls", "json").stdout)
    assert [control["name"] for control in controls] == [control["name"] for control in listed]
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()


def test_a_command_that_is_unavailable_here_is_refused(children):
    publisher = publisher_of(children)
    send(publisher, "reboot", "torch on", "mute", "statsu")
    publisher.wait_until(lambda: "statsu" in publisher.stdout, "the last refusal")
    reasons = [json.loads(line)["reason"] for line in publisher.stdout.splitlines() if '"refused"' in line]
    assert reasons == [
        "publish does not control the machine: only the camera appliance (tallycam run) does",
        "publish cannot control the torch: only the camera appliance (tallycam run) can",
        "usage: mute on|off",
        'unknown command "statsu"; did you mean status? see help',
    ]


@pytest.mark.parametrize(
    "words, status, answer",
    [
        (["events", "5"], 0, "Tallycam"), (["faults"], 0, ""), (["torch"], 7, "flash LED"), (["quality"], 0, "not live"),
        (["mute", "on"], 7, "not live"), (["mute"], 2, "usage: mute on|off"), (["torch", "lve"], 2, "did you mean live?"),
        (["events", "0"], 2, "N must be 1 to 1000"), (["status", "json"], 0, '"state"'),
    ],
)  # fmt: skip
def test_console_and_program_share_their_commands(children, words, status, answer):
    camera = Appliance(children, stream={"url": "rtmp://127.0.0.1:1/live", "key": "x"})
    run = camera.ask(*words)
    assert run.child.returncode == status and answer in run.stdout + run.stderr, run.report()
