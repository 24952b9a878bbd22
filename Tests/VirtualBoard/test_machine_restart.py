"""No encoder works any more, not even software: the machine restarts by itself, and the stream continues afterwards."""

import contextlib
import json

import pytest
from board import CHECKOUT
from card import NAME, VIVID_DEVICE, Card, CardBoard, make_image, server

from encoder import PARAMETERS

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=1.2, processors=0.55)]

# OpenH264's first picture of this size takes 3.4 MB in one piece, which nothing else in the guest asks for.
LARGE = VIVID_DEVICE | {"dimension": "1920x1080"}
# From now on the kernel grants 2 MB more, and keeps none of it in reserve. Only in this mode does it count exactly what it has
# granted. And the hardware gives nothing, however often it is opened.
EXHAUST = (
    "cd /proc/sys/vm; echo 0 > user_reserve_kbytes; echo 2 > overcommit_memory;"
    " set -- $(grep Committed_AS /proc/meminfo); echo $(($2 + 2000)) > overcommit_kbytes;"
    f" echo 1 > {PARAMETERS}/stall_after"
)


@pytest.fixture
def card(tmp_path, nginx) -> Card:
    """A camera's card, for a board with any encoder."""
    card = Card(tmp_path, make_image())
    description = json.loads((CHECKOUT / "board/virtual-card/board.json").read_text())
    card.write("board.json", description | {"encoder": "auto"})
    card.write("device.json", LARGE)
    card.write("stream.json", server(nginx.port))
    return card


@pytest.fixture
def power_on(tmp_path, card):
    """A function that starts a board from the card."""
    with contextlib.ExitStack() as boards:

        def start() -> CardBoard:
            board = boards.enter_context(CardBoard(tmp_path, card))
            board.wait_for_agent()
            board.load_camera()
            return board

        yield start


def test_the_machine_restarts_when_software_fails_too_and_the_stream_continues(power_on, nginx):
    board = power_on()
    board.load_encoder()
    board.wait_for_state("ready", 120)
    board.click()
    board.wait_for_state("live", 60)
    board.wait_until("tallycam status --json | grep -q v4l2:/dev/video", 20)
    # The software encoder manages so few frames in their full size. With more, it would open for a smaller size.
    board.run("tallycam set fps 2")
    board.run(EXHAUST)
    # QEMU ends instead of restarting, as the tests configure it.
    board.wait_for_end(90)
    for reported in ("failed (-1303)", "machineRestarting (2007)", "restart 1 of at most 3 within an hour"):
        assert reported in board.console, f"{reported!r} is not among\n{board.console[-3000:]}"

    # With memory again, and without that encoder.
    board = power_on()
    board.wait_for_state("live", 120)
    assert board.run("cat /state/restarts").text.split()[0] == "none", "the stream would start by itself more than once"
    events = board.run("cat /state/events").text
    assert "machineRestarting (2007)" in events and "failed (-1303)" in events
    board.click()
    board.wait_for_state("ready", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
