"""The cards of real boards, with Debian's kernel, in QEMU's machines of those boards: exactly the files of the image boot, become
ready, and stream. raspi.py states what QEMU has of a board, and pi_firmware.py what stands in for the firmware."""

import json

import pytest
from board import CHECKOUT, HOST
from card import Card, make_board_image
from raspi import RASPI3B, RASPI4B, Machine, RaspberryPi
from usb_camera import PRODUCT, UsbCamera
from waiting import wait_until

pytestmark = pytest.mark.takes(minutes=1.8, processors=0.9)

DEVICE = {"camera": "synthetic", "dimension": "320x240", "quality": {"start": "Low1", "highest": "Low1"}}


BOARDS = pytest.mark.parametrize(
    ("model", "machine"), [("rpi3", RASPI3B), pytest.param("rpi4", RASPI4B, marks=pytest.mark.slow)]
)  # fmt: skip


def prepare(card: Card, model: str, port: int) -> None:
    """A person's settings, and those that QEMU needs."""
    description = json.loads((CHECKOUT / "board" / model / "board.json").read_text())
    # QEMU restarts the machine as soon as a watchdog is started, not when the watchdog times out.
    del description["watchdog"]
    card.write("board.json", description)
    card.write("device.json", DEVICE)
    card.write("stream.json", {"url": f"rtmp://{HOST}:{port}/live", "key": model})
    # Of a Raspberry Pi 4's USB, QEMU has only the controller that is a device port by default.
    settings = card.read("config.txt").decode()
    card.write("config.txt", settings.replace("dr_mode=peripheral", "dr_mode=host"))


@BOARDS
def test_the_card_boots_on_its_board_and_goes_live(tmp_path, nginx, capsys, model: str, machine: Machine):
    card = Card(tmp_path, make_board_image(model))
    prepare(card, model, nginx.port)
    name = json.loads((CHECKOUT / "board" / model / "board.json").read_text())["name"]
    with RaspberryPi(machine, tmp_path, card) as pi:
        prompt = pi.wait_for("tallycam> ", 240)
        pi.type("status\r")
        pi.wait_for(f"board:    {name}", 20)
        ready = pi.wait_until("status\r", "(usb0)", 60)
        with capsys.disabled():
            print(f"\n  {machine.name}, from power-on: prompt after {prompt:.1f} s, network after {ready:.1f} s")
        # Button and lights are lines of the emulated chip, with the names from the board's own device tree.
        pi.type("faults\r")
        pi.wait_for("none\r\n", 20)
        pi.type("start\r")
        pi.wait_for("live\r\n", 60)
        pi.wait_until("quality\r", "kbit/s", 60)
        recording = nginx.recordings / f"{model}.flv"
        wait_until(lambda: recording.exists() and recording.stat().st_size > 5000, 60, "no video arrives", interval=0.5)
        pi.type("stop\r")
        pi.wait_for("ready\r\n", 30)


@BOARDS
def test_a_usb_camera_is_found_and_streams(tmp_path, nginx, capsys, model: str, machine: Machine):
    """Its driver is loaded when it is found, by the card's own files. The test ends while it streams: QEMU's controller does not
    survive each end of a camera's stream (usb_camera.py)."""
    card = Card(tmp_path, make_board_image(model))
    prepare(card, model, nginx.port)
    card.write("device.json", {**DEVICE, "camera": "auto", "audio": {"source": "silence"}})
    with UsbCamera(tmp_path / "camera") as camera, RaspberryPi(machine, tmp_path, card, devices=camera.words) as pi:
        pi.wait_for("tallycam> ", 240)
        pi.wait_until("status\r", "(usb0)", 60)
        pi.type("start\r")
        pi.wait_for("live\r\n", 90)
        pi.wait_until("status\r", PRODUCT, 60)
        recording = nginx.recordings / f"{model}.flv"
        wait_until(lambda: recording.exists() and recording.stat().st_size > 60000, 120, "no video arrives", interval=0.5)
        with capsys.disabled():
            print(f"\n  {camera.frames_sent} frames of the camera, {recording.stat().st_size} bytes at the server")
