"""No encoder works any more, not even software: the machine restarts itself, and the stream goes on after it."""

import json

import pytest
from board import CHECKOUT, built_modules
from test_card import NAME, SMALL, image, ready_board, server, slot

from encoder import set_faults

__all__ = ["image", "slot"]


@pytest.fixture
def description() -> dict:
    """The card's board, with whatever encoder there is."""
    return json.loads((CHECKOUT / "board/virtual-card/board.json").read_text()) | {"encoder": "auto"}


def exhaust_memory(board) -> None:
    """The kernel promises hardly any more memory from now on: small allocations go on, those of an encoder fail."""
    promised = int(board.run("awk '/Committed_AS/ {print $2}' /proc/meminfo").text)
    board.run(f"echo {promised + 2500} > /proc/sys/vm/overcommit_kbytes; echo 2 > /proc/sys/vm/overcommit_memory")


def test_when_software_fails_too_the_machine_restarts_and_the_stream_goes_on(slot, nginx, description):
    device = {**SMALL, "dimension": "640x480", "statusInterval": 1}
    board = ready_board(slot, device, server(nginx.port), board=description)
    board.put("/tmp/encoder.ko", built_modules()["encoder.ko"])
    board.run("modprobe v4l2-mem2mem && modprobe videobuf2-vmalloc && insmod /tmp/encoder.ko")
    board.click()
    board.wait_for_state("live", 60)
    board.wait_until("tallycam status | grep -q v4l2:/dev/video", 20)
    exhaust_memory(board)
    set_faults(board, stall_after=1)
    # QEMU ends instead of restarting, as the tests ask it to.
    board.wait_for_end(90)
    for told in ("was opened again", "-1303", "machineRestarting (2007)", "restart 1 of at most 3 an hour", "restarting\n"):
        assert told in board.console, f"{told!r} is not among\n{board.console[-3000:]}"

    # Without that encoder, and with memory again.
    board = slot.start()
    board.wait_for_agent()
    board.wait_for_state("live", 120)
    assert board.run("cat /state/restarts").text.split()[0] == "none", "it begins again once only"
    events = board.run("cat /state/events").text
    assert "machineRestarting (2007)" in events and "-1303" in events
    board.click()
    board.wait_for_state("ready", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
