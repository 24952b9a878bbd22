"""No encoder works any more, not even software: the machine restarts itself, and the stream goes on after it."""

import json

import pytest
from board import CHECKOUT, built_modules
from test_card import NAME, SMALL, VIVID, image, ready_board, server, slot

from encoder import PARAMETERS

__all__ = ["image", "slot"]


@pytest.fixture
def description() -> dict:
    """The card's board, with whatever encoder there is."""
    return json.loads((CHECKOUT / "board/virtual-card/board.json").read_text()) | {"encoder": "auto"}


# The kernel promises hardly any more memory from now on: small allocations go on, those of a software encoder fail.
EXHAUST_MEMORY = (
    "set -- $(grep Committed_AS /proc/meminfo); echo $(($2 + 2000)) > /proc/sys/vm/overcommit_kbytes;"
    f" echo 2 > /proc/sys/vm/overcommit_memory; echo 1 > {PARAMETERS}/stall_after"
)


def test_when_software_fails_too_the_machine_restarts_and_the_stream_goes_on(slot, nginx, description):
    # A camera's pictures lie in the driver's memory: it is the encoder that asks for more.
    device = {
        **SMALL, "camera": "/dev/video0", "audio": {"source": "silence"},
        "dimension": "640x480", "statusInterval": 1,
    }  # fmt: skip
    board = ready_board(slot, device, server(nginx.port), board=description)
    board.put("/tmp/encoder.ko", built_modules()["encoder.ko"])
    board.run(VIVID)
    board.run("modprobe v4l2-mem2mem && modprobe videobuf2-vmalloc && insmod /tmp/encoder.ko")
    board.click()
    board.wait_for_state("live", 60)
    board.wait_until("tallycam status --json | grep -q v4l2:/dev/video", 20)
    board.run(EXHAUST_MEMORY)
    # QEMU ends instead of restarting, as the tests ask it to.
    board.wait_for_end(90)
    for told in ("the encoder failed and was restarted", "failed (-1303)", "machineRestarting (2007)", "restart 1 of at most 3 an hour", "restarting\n"):
        assert told in board.console, f"{told!r} is not among\n{board.console[-3000:]}"

    # With memory again, and without that encoder.
    board = slot.start()
    board.wait_for_agent()
    board.run(VIVID)
    board.wait_for_state("live", 120)
    assert board.run("cat /state/restarts").text.split()[0] == "none", "it begins again once only"
    events = board.run("cat /state/events").text
    assert "machineRestarting (2007)" in events and "failed (-1303)" in events
    board.click()
    board.wait_for_state("ready", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
