"""The hardware encoder's firmware is dead until the machine starts again: streams go on without it, it is reported and shown,
and the machine restarts for it when nothing is live."""

import json
import time

import pytest
from board import CHECKOUT, built_modules
from lights import blinks, rhythm
from test_card import NAME, server
from test_machine_restart import CAMERA, DEVICE, ENCODER

from encoder import PARAMETERS

pytestmark = pytest.mark.takes(minutes=10, processors=0.4)

LIVE_IN_SOFTWARE = [700, 100, 100, 100]
# What is open stalls, and whatever asks the firmware for something fails after seconds.
DIE = f"echo 1 > {PARAMETERS}/silent; echo 1 > {PARAMETERS}/swallow_after"


def start_with_encoder(slot):
    board = slot.start()
    board.wait_for_agent()
    board.run(CAMERA)
    board.put("/tmp/encoder.ko", built_modules()["encoder.ko"])
    board.run(ENCODER)
    return board


def go_live(board) -> None:
    board.click()
    board.wait_for_state("live", 60)
    board.wait_until("tallycam status --json | grep -q v4l2:/dev/video", 20)


@pytest.mark.slow
def test_a_dead_encoder_is_reported_and_restarts_the_machine_when_nothing_is_live(slot, nginx):
    """Minutes (five to ten here): the encoder is tried three times with a minute and more between them before it is given up."""
    description = json.loads((CHECKOUT / "board/virtual-card/board.json").read_text()) | {"encoder": "auto"}
    slot.card.write("board.json", description)
    slot.card.write("device.json", DEVICE)
    slot.card.write("stream.json", server(nginx.port))
    board = start_with_encoder(slot)
    board.wait_for_state("ready", 120)
    go_live(board)
    board.run(DIE)
    status = board.wait_for_state("live in software", 600)
    assert status["encoder"] == "openh264" and [fault["blinks"] for fault in status["faults"]] == [10], status
    assert rhythm(board, LIVE_IN_SOFTWARE)
    board.wait_until("grep -q '(10 blinks)' /boot/faults.txt && grep -q '\"restartForEncoder\": true' /boot/faults.txt", 10)
    assert "the hardware encoder does not open until the machine is restarted" in board.console
    assert board.status()["framesPerSecond"] > 0

    # Nobody has allowed the machine anything.
    board.click()
    board.wait_for_state("fault", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
    assert blinks(board, 10)
    time.sleep(45)
    assert board.is_running and "machineRestarting" not in board.console
    board.edit("board.json", description | {"restartForEncoder": True})
    # QEMU ends instead of restarting, as the tests ask it to.
    board.wait_for_end(90)
    for reported in ("machineRestarting (2007): the hardware encoder is dead", "restart 1 of at most 1 within an hour"):
        assert reported in board.console, f"{reported!r} is not among\n{board.console[-3000:]}"

    # The stream was stopped, and whatever starts at boot is not what anybody waits for. A press takes the hardware.
    slot.card.write("device.json", DEVICE | {"startAtBoot": True})
    board = start_with_encoder(slot)
    status = board.wait_for_state("ready", 120)
    assert not status["isStreamWanted"] and not status["faults"], status
    assert board.run("cat /state/restarts").text.split()[0] == "none"
    assert "machineRestarting (2007)" in board.run("cat /state/events").text
    go_live(board)
    board.click()
    board.wait_for_state("ready", 20)
    assert "faults.txt" not in slot.card.names()
