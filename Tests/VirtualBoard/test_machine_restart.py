"""No encoder works any more, not even software: the machine restarts itself, and the stream goes on after it."""

import contextlib
import json

import pytest
from board import CHECKOUT, built_modules
from card import Card, CardBoard, make_image
from test_card import NAME, SMALL, server

from encoder import PARAMETERS

pytestmark = pytest.mark.takes(minutes=1.5, processors=0.5)

# A camera's frames lie in the driver's memory: it is the encoder that asks for more.
DEVICE = {
    **SMALL, "camera": "/dev/video0", "audio": {"source": "silence"}, "dimension": "640x480", "statusInterval": 1,
}  # fmt: skip
CAMERA = "modprobe vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0x0 vid_cap_nr=0 allocators=1"
ENCODER = "modprobe v4l2-mem2mem && modprobe videobuf2-vmalloc && insmod /tmp/encoder.ko"
# The kernel promises hardly any more memory from now on: small allocations go on, those of a software encoder fail. And
# the hardware gives nothing any more, however often it is opened.
EXHAUST = (
    "set -- $(grep Committed_AS /proc/meminfo); echo $(($2 + 2000)) > /proc/sys/vm/overcommit_kbytes;"
    f" echo 2 > /proc/sys/vm/overcommit_memory; echo 1 > {PARAMETERS}/stall_after"
)


@pytest.fixture
def card(tmp_path, nginx) -> Card:
    """A camera's card, for a board with whatever encoder there is."""
    card = Card(tmp_path, make_image())
    description = json.loads((CHECKOUT / "board/virtual-card/board.json").read_text())
    card.write("board.json", description | {"encoder": "auto"})
    card.write("device.json", DEVICE)
    card.write("stream.json", server(nginx.port))
    return card


@pytest.fixture
def power_on(tmp_path, card):
    """A call that starts a board from the card."""
    with contextlib.ExitStack() as boards:

        def start() -> CardBoard:
            board = boards.enter_context(CardBoard(tmp_path, card))
            board.wait_for_agent()
            board.run(CAMERA)
            return board

        yield start


def test_when_software_fails_too_the_machine_restarts_and_the_stream_goes_on(power_on, nginx):
    board = power_on()
    board.put("/tmp/encoder.ko", built_modules()["encoder.ko"])
    board.run(ENCODER)
    board.wait_for_state("ready", 120)
    board.click()
    board.wait_for_state("live", 60)
    board.wait_until("tallycam status --json | grep -q v4l2:/dev/video", 20)
    board.run(EXHAUST)
    # QEMU ends instead of restarting, as the tests ask it to.
    board.wait_for_end(90)
    for reported in ("failed (-1303)", "machineRestarting (2007)", "restart 1 of at most 3 within an hour"):
        assert reported in board.console, f"{reported!r} is not among\n{board.console[-3000:]}"

    # With memory again, and without that encoder.
    board = power_on()
    board.wait_for_state("live", 120)
    assert board.run("cat /state/restarts").text.split()[0] == "none", "it starts by itself once only"
    events = board.run("cat /state/events").text
    assert "machineRestarting (2007)" in events and "failed (-1303)" in events
    board.click()
    board.wait_for_state("ready", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
