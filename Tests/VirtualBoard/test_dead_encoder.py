"""The hardware encoder's firmware is dead until the machine restarts: streams continue without it, it is reported and shown,
and the machine restarts when nothing is live.

The tests share one board, which takes minutes (five to ten here) until it gives up the encoder: it tries three times, at
intervals of a minute and more. A fixture brings the board from each state to the next, in the order of the tests.
"""

import json

import pytest
from board import CHECKOUT
from card import NAME, VIVID_DEVICE, CardBoard, Slot, server
from lights import blinks, rhythm

from encoder import PARAMETERS

pytestmark = [pytest.mark.takes(minutes=10, processors=0.4), pytest.mark.slow]

LIVE_IN_SOFTWARE = [700, 100, 100, 100]
DESCRIPTION = json.loads((CHECKOUT / "board/virtual-card/board.json").read_text()) | {"encoder": "auto"}
# The open encoder stalls, and every request to the firmware fails after seconds.
DIE = f"echo 1 > {PARAMETERS}/silent; echo 1 > {PARAMETERS}/swallow_after"


def start_with_encoder(slot: Slot) -> CardBoard:
    board = slot.start()
    board.wait_for_agent()
    board.load_camera()
    board.load_encoder()
    return board


def go_live(board: CardBoard) -> None:
    board.click()
    board.wait_for_state("live", 60)
    board.wait_until("tallycam status --json | grep -q v4l2:/dev/video", 20)


@pytest.fixture(scope="module")
def live_in_software(kept_slot, kept_nginx) -> CardBoard:
    """The encoder has died under a stream, and was given up."""
    kept_slot.card.write("board.json", DESCRIPTION)
    kept_slot.card.write("device.json", VIVID_DEVICE)
    kept_slot.card.write("stream.json", server(kept_nginx.port))
    board = start_with_encoder(kept_slot)
    board.wait_for_state("ready", 120)
    go_live(board)
    board.run(DIE)
    board.wait_for_state("live in software", 600)
    return board


@pytest.fixture(scope="module")
def stopped(live_in_software) -> CardBoard:
    """A press stopped the stream. The board is not permitted to restart."""
    live_in_software.click()
    live_in_software.wait_for_state("fault", 20)
    return live_in_software


@pytest.fixture(scope="module")
def restarted(stopped) -> CardBoard:
    """The board was permitted to restart, and did. QEMU ends instead of restarting, as the tests configure it."""
    stopped.edit("board.json", DESCRIPTION | {"restartForEncoder": True})
    stopped.wait_for_end(90)
    return stopped


@pytest.fixture(scope="module")
def started_again(restarted, kept_slot) -> CardBoard:
    """The machine after its restart, with a card that starts a stream at each boot."""
    kept_slot.card.write("device.json", VIVID_DEVICE | {"startAtBoot": True})
    return start_with_encoder(kept_slot)


def test_a_stream_continues_in_software_and_the_light_shows_it(live_in_software):
    status = live_in_software.wait_for_state("live in software")
    assert status["encoder"] == "openh264" and [fault["blinks"] for fault in status["faults"]] == [10], status
    assert rhythm(live_in_software, LIVE_IN_SOFTWARE)
    assert live_in_software.status()["framesPerSecond"] > 0


def test_a_dead_encoder_is_reported_with_its_remedy(live_in_software):
    live_in_software.wait_until(
        "grep -q '(10 blinks)' /boot/faults.txt && grep -q '\"restartForEncoder\": true' /boot/faults.txt", 10)
    assert "the hardware encoder is dead until the machine restarts" in live_in_software.console


def test_the_machine_keeps_running_without_permission_to_restart(stopped, kept_nginx):
    assert kept_nginx.recording(NAME).stat().st_size > 5000
    assert blinks(stopped, 10)
    stopped.sleep(45)
    assert stopped.is_running and "machineRestarting" not in stopped.console


def test_the_machine_restarts_with_permission_when_nothing_is_live(restarted):
    for reported in ("machineRestarting (2007): the hardware encoder is dead", "restart 1 of at most 1 within an hour"):
        assert reported in restarted.console, f"{reported!r} is not among\n{restarted.console[-3000:]}"


def test_a_stopped_stream_stays_stopped_after_the_restart(started_again):
    """A person stopped it: the machine does not start it, even if the card starts a stream at each boot."""
    status = started_again.wait_for_state("ready", 120)
    assert not status["isStreamWanted"] and not status["faults"], status
    assert started_again.run("cat /state/restarts").text.split()[0] == "none"
    assert "machineRestarting (2007)" in started_again.run("cat /state/events").text


def test_a_press_uses_the_hardware_after_the_restart(started_again, kept_slot):
    started_again.wait_for_state("ready", 120)
    go_live(started_again)
    started_again.click()
    started_again.wait_for_state("ready", 20)
    assert "faults.txt" not in kept_slot.card.names()
