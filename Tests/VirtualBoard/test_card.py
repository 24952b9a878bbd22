"""The camera from its SD card image: boot, press, live, press, power-off, and what goes wrong on the way."""

import time

import pytest
from board import HOST
from card import Card, CardBoard, make_image

SMALL = {
    "camera": "synthetic", "dimension": "320x240",
    "quality": {"lowest": "Low1", "start": "Low3", "highest": "Low3"}, "flashLED": "live",
}  # fmt: skip
NAME = "card"


@pytest.fixture(scope="session")
def image():
    return make_image()


@pytest.fixture
def slot(tmp_path, image):
    """A card to be prepared, and a way to start a board from it."""
    boards = []

    class Slot:
        card = Card(tmp_path, image)

        def start(self) -> CardBoard:
            boards.append(CardBoard(tmp_path, self.card))
            return boards[-1]

    yield Slot()
    for board in boards:
        board.close()


def server(port: int) -> dict:
    return {"url": f"rtmp://{HOST}:{port}/live", "key": NAME}


def blinks(board: CardBoard, count: int) -> bool:
    """Whether the light counts so far: so many short ones, then a long dark."""
    runs = board.lamp("GPIO27", 0.5 * count * 2 + 5)
    groups, current = [], 0
    for lit, seconds in runs:
        if lit:
            current += 1
        elif seconds > 1:
            groups.append(current)
            current = 0
    # The first group may have begun before anybody looked.
    return count in groups


def test_boot_press_live_press_and_power_off(slot, nginx, record_property):
    slot.card.write("device.json", SMALL)
    slot.card.write("stream.json", server(nginx.port))
    board = slot.start()
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    ready = time.monotonic() - board.power_on
    assert board.run("grep ' / ' /proc/mounts | tail -n 1").text.split()[2:4] == ["squashfs", "ro,relatime,errors=continue"]
    assert "ro," in board.run("grep ' /boot ' /proc/mounts").text
    assert board.run("grep ' /state ' /proc/mounts").text.split()[2] == "ext4"
    # Nothing listens but the tests' own shell.
    listeners = board.run("cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '$4 == \"0A\" {print $2}'").text.split()
    assert all(entry.endswith(":1B59") for entry in listeners), listeners
    heartbeat = board.lamp("GPIO27", 7)
    assert any(lit and seconds < 0.4 for lit, seconds in heartbeat) and max(s for lit, s in heartbeat if not lit) > 2

    pressed = time.monotonic()
    board.click()
    recording = nginx.recordings / f"{NAME}.flv"
    while not (recording.exists() and recording.stat().st_size > 5000):
        assert time.monotonic() - pressed < 60, board.console[-2000:]
        time.sleep(0.05)
    first = time.monotonic() - pressed
    board.wait_for_state("live")
    assert all(lit for lit, _ in board.lamp("GPIO27", 3))
    assert board.is_high("GPIO22")
    board.click()
    board.wait_for_state("ready")
    assert not board.is_high("GPIO22")
    assert nginx.recording(NAME).stat().st_size > 5000
    board.click(3.6)
    board.wait_for_end()
    assert "powering off" in board.console
    print(f"power-on to ready: {ready:.1f} s; press to first picture at the server: {first:.1f} s")
    record_property("ready_seconds", ready)
    record_property("first_picture_seconds", first)


WIRING = b'{"name": "x", "statusLED": {"line": "GPIO27"}, "console": "/dev/ttyAMA0", "button": {"line": "%s"}}'
BROKEN = {
    "stream.json": [
        (b"", 2, "stream.json"), (b"\x00\xff\xfe\x80", 2, "saved as"), (b"[1]", 2, "must be an object"),
        (b'{\n "url": "rtmp://a/b"\n "key": "x"}', 2, "comma"), (b'{"key": "x"}', 2, "missing"),
        (b'{"url": "https://example.com/live/x"}', 2, "scheme is https"), (b'{"url": "rtmp://example.com/live"}', 2, "stream name"),
        (b'{"url": "rtmp://example.com:99999/live/x"}', 2, "port"), (b'{"url": "rtmp://a/b/c", "url": "rtmp://a/b/d"}', 2, "twice"),
        (b'{"hub": "h", "title": "abcd", "publishKey": "k"}', 2, "hosts"), (b'{"url": "rtmp://a/b/c", "disabled": true}', 2, "disabled"),
    ],
    "device.json": [
        (b'{"camera": }', 3, "device.json"), (b'{"quality": {"start": "Medum1"}}', 3, "Medium1"), (b'{"dimension": "big"}', 3, "dimension"),
        (b'{"statusInterval": "3"}', 3, "whole number"), (b'{"buffer": {"seconds": 9}}', 3, "from 1"),
    ],
    "network.json": [
        (b'{"wifi": [{"ssid": "Studio", "password": "short12"}]}', 3, "8 to 63"), (b'{"hostName": "my camera"}', 3, "hostName"),
    ],
    "board.json": [
        (b"", 9, "board.json"),
        (WIRING % b"NOWHERE", 9, "NOWHERE"),
        (WIRING % b"STATUS_LED_N", 9, "in use"),
    ],
}  # fmt: skip


def test_twenty_broken_configurations(slot):
    slot.card.write("device.json", SMALL)
    slot.card.write("stream.json", server(1))
    board = slot.start()
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    board.run("mount -o remount,rw /boot && cp -r /boot/*.json /tmp/ && mount -o remount,ro /boot")
    for file, cases in BROKEN.items():
        for content, count, problem in cases:
            board.run(f"mount -o remount,rw /boot && cat > /boot/{file}; mount -o remount,ro /boot", stdin=content)
            deadline = time.monotonic() + 40
            while problem not in (told := board.run("cat /boot/faults.txt 2>/dev/null", check=False).text):
                assert time.monotonic() < deadline, f"{file} {content}: {told}\n{board.status()}"
                time.sleep(0.3)
            assert f"({count} blinks)" in told
            assert problem in board.console and "short12" not in board.console
            assert blinks(board, count), (file, content)
            board.run(f"mount -o remount,rw /boot && cp /tmp/{file} /boot/{file}; mount -o remount,ro /boot")
            board.wait_for_state("ready", 40)
            assert board.run("test -e /boot/faults.txt", check=False).status == 1
    assert "rw," not in board.run("grep ' /boot ' /proc/mounts").text


def test_cable_and_server_gone_and_back(slot, nginx):
    slot.card.write("device.json", SMALL)
    slot.card.write("stream.json", server(nginx.port))
    board = slot.start()
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    board.cut()
    board.wait_for_state("no network", 30)
    assert blinks(board, 6)
    # A start is taken, and waits for the network.
    board.click()
    board.restore()
    board.wait_for_state("live", 60)
    board.cut()
    board.wait_for_state("reconnecting", 60)
    board.restore()
    board.wait_for_state("live", 60)
    nginx.process.interrupt_and_wait()
    board.wait_for_state("reconnecting", 60)
    nginx.start()
    board.wait_for_state("live", 60)
    events = board.run("tail -n 40 /state/events", check=False).text + board.console
    assert "reconnecting" in events
    board.click()
    board.wait_for_state("ready", 20)


def test_a_camera_that_is_not_there_is_told_and_heals(slot, nginx):
    slot.card.write("device.json", {**SMALL, "camera": "nowhere"})
    slot.card.write("stream.json", server(nginx.port))
    board = slot.start()
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    board.click()
    board.wait_for_state("fault", 30)
    assert blinks(board, 4)
    board.run("mount -o remount,rw /boot && sed -i s/nowhere/synthetic/ /boot/device.json; mount -o remount,ro /boot")
    board.wait_for_state("live", 60)
    assert all(lit for lit, _ in board.lamp("GPIO27", 3))


def test_a_program_that_hangs_restarts_the_machine(slot):
    slot.card.write("stream.json", server(1))
    board = slot.start()
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    time.sleep(3)
    board.run("kill -STOP $(pidof tallycam)")
    # QEMU ends instead of restarting, as the tests ask it to.
    board.wait_for_end(60)
