"""The card in QEMU's Raspberry Pi 3B, with the device tree of that board. raspi.py states what QEMU has of it."""

import json

import pytest
from board import CHECKOUT, HOST
from card import Card, make_image
from raspi import RaspberryPi3
from waiting import wait_until

pytestmark = pytest.mark.takes(minutes=1.5, processors=1)


def test_the_card_boots_on_a_raspberry_pi_3_and_goes_live(tmp_path, nginx, capsys):
    card = Card(tmp_path, make_image())
    description = json.loads((CHECKOUT / "board/rpi3/board.json").read_text())
    # QEMU restarts the machine as soon as a watchdog is started, not when the watchdog times out.
    del description["watchdog"]
    card.write("board.json", description)
    card.write("device.json", {"camera": "synthetic", "dimension": "320x240", "quality": {"start": "Low1", "highest": "Low1"}})
    card.write("stream.json", {"url": f"rtmp://{HOST}:{nginx.port}/live", "key": "raspi3b"})
    with RaspberryPi3(tmp_path, card) as board:
        prompt = board.wait_for("tallycam> ", 240)
        board.type("status\r")
        board.wait_for("board:    Raspberry Pi 3", 20)
        ready = board.wait_until("status\r", "(usb0)", 60)
        with capsys.disabled():
            print(f"\n  raspi3b, from power-on: prompt after {prompt:.1f} s, network after {ready:.1f} s")
        # Button and lights are lines of the emulated chip, with the names from the board's own device tree.
        board.type("faults\r")
        board.wait_for("none\r\n", 20)
        board.type("start\r")
        board.wait_for("live\r\n", 60)
        board.wait_until("quality\r", "kbit/s", 60)
        wait_until(lambda: (nginx.recordings / "raspi3b.flv").stat().st_size > 5000, 60, "no video arrives", interval=0.5)
        board.type("stop\r")
        board.wait_for("ready\r\n", 30)
