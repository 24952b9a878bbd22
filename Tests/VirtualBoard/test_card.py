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
    good = {name: slot.card.read(name) for name in BROKEN}
    for file, cases in BROKEN.items():
        for content, count, problem in cases:
            board.edit(file, content)
            deadline = time.monotonic() + 40
            while problem not in (told := board.run("cat /boot/faults.txt 2>/dev/null", check=False).text):
                assert time.monotonic() < deadline, f"{file} {content}: {told}\n{board.status()}"
                time.sleep(0.3)
            assert f"({count} blinks)" in told
            assert problem in board.console and "short12" not in board.console
            assert blinks(board, count), (file, content)
            board.edit(file, good[file])
            board.wait_for_state("ready", 40)
            board.wait_until("! test -e /boot/faults.txt", 10)
    # What the camera has written is on the card, and the card is left alone again.
    board.wait_until("grep -q ' /boot vfat ro,' /proc/mounts", 10)


def ready_board(slot, device: dict, stream: dict, **files) -> CardBoard:
    for name, content in {"device": device, "stream": stream, **files}.items():
        slot.card.write(f"{name}.json", content)
    board = slot.start()
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    return board


def rhythm(board: CardBoard, pattern: list[int], tolerance: float = 0.12) -> bool:
    """Whether the light turns in this rhythm: milliseconds of light and dark, as docs/appliance.md has them."""
    runs = board.lamp("GPIO27", 2 * sum(pattern) / 1000 + 1)[1:-1]
    for start in range(2):
        seen = [(lit, seconds) for lit, seconds in runs[start:]]
        for shift in range(len(pattern)):
            wanted = [pattern[(at + shift) % len(pattern)] / 1000 for at in range(len(seen))]
            lights = [(at + shift) % 2 == 0 for at in range(len(seen))]
            if len(seen) >= len(pattern) and all(
                lit == light and abs(seconds - time) < tolerance for (lit, seconds), time, light in zip(seen, wanted, lights)
            ):
                return True
    print(f"not the rhythm {pattern}: {runs}")
    return False


CONNECTING = [125, 125]
RECONNECTING = [100, 100, 100, 100, 100, 100, 700, 300]


def test_cable_and_server_gone_and_back(slot, nginx):
    board = ready_board(slot, SMALL, server(nginx.port))
    board.cut()
    board.wait_for_state("no network", 30)
    assert blinks(board, 6)
    # A start is taken, and waits for the network.
    board.click()
    board.restore()
    board.wait_for_state("live", 60)
    board.cut()
    board.wait_for_state("reconnecting", 60)
    assert rhythm(board, RECONNECTING)
    board.restore()
    board.wait_for_state("live", 60)
    # Live; with short gaps if the quality is still lower than where it began.
    assert all(lit or seconds < 0.3 for lit, seconds in board.lamp("GPIO27", 3))
    nginx.process.interrupt_and_wait()
    board.wait_for_state("reconnecting", 60)
    nginx.start()
    board.wait_for_state("live", 60)
    board.click()
    board.wait_for_state("ready", 20)
    events = board.run("cat /state/events").text
    for told in ("no network", "button pressed", "network: linkDown", "reconnecting", "live"):
        assert told in events and told in board.console, f"{told!r} is not among\n{events}"
    assert events.index("no network") < events.index("button pressed") < events.index("live") < events.index("reconnecting")


VIVID = "modprobe vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0x0 vid_cap_nr=0"


def test_camera_gone_and_back(slot, nginx):
    """At a start, and while live."""
    board = ready_board(slot, {**SMALL, "camera": "auto", "audio": {"source": "silence"}}, server(nginx.port))
    board.click()
    board.wait_for_state("fault", 30)
    assert blinks(board, 4)
    assert "no camera" in board.run("cat /boot/faults.txt").text and "no camera" in board.console
    board.run(VIVID)
    board.wait_for_state("live", 60)
    board.wait_until("! test -e /boot/faults.txt", 10)
    board.run("echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind")
    board.wait_until("grep -q 'until vivid' /boot/faults.txt", 20)
    status = board.status()
    assert status["state"] == "live" and [fault["blinks"] for fault in status["faults"]] == [4]
    assert all(lit for lit, _ in board.lamp("GPIO27", 3))
    board.run("echo vivid.0 >/sys/bus/platform/drivers/vivid/bind")
    board.wait_until("! test -e /boot/faults.txt", 20)
    assert board.status()["state"] == "live" and not board.status()["faults"]
    assert "is back after" in board.console and "reconnecting" not in board.console
    board.click()
    board.wait_for_state("ready", 20)
    assert nginx.recording(NAME).stat().st_size > 5000


def test_a_camera_that_is_not_there_is_told_and_heals(slot, nginx):
    board = ready_board(slot, {**SMALL, "camera": "nowhere"}, server(nginx.port))
    board.click()
    board.wait_for_state("fault", 30)
    assert blinks(board, 4)
    board.edit("device.json", SMALL)
    board.wait_for_state("live", 60)
    assert all(lit for lit, _ in board.lamp("GPIO27", 3))


# Debian's busybox has no ntpd, and mdnsd is not among the parts: these say how they were called, and stay.
STANDS_IN = "#!/bin/sh\necho \"${0##*/} $*\" >>/tmp/called\nexec sleep 1000\n"


def test_name_address_and_time_servers_come_with_the_network(slot):
    board = ready_board(slot, SMALL, server(1), network={"hostName": "studio-2", "timeServers": [HOST]})
    assert board.run("hostname").text == "studio-2\n"
    assert board.run("ip -4 -o addr show dev eth1").text.split()[3].startswith("10.0.2.")
    assert "default via 10.0.2.2 dev eth1 metric 10" in " ".join(board.run("ip route").text.split())
    assert board.run("cat /etc/resolv.conf").text == "nameserver 10.0.2.3\n"
    # Other servers and another name are taken up while it runs.
    board.edit("network.json", {"hostName": "studio-3", "timeServers": ["10.0.2.98", "10.0.2.99"]})
    board.wait_until("hostname | grep -q studio-3 && grep -q 10.0.2.99 /run/network/timeservers", 20)
    board.wait_for_state("ready", 40)
    board.run("mkdir /tmp/bin; cd /tmp/bin; cat >ntpd; cp ntpd mdnsd; chmod +x ntpd mdnsd", stdin=STANDS_IN.encode())
    address = "interface=eth1 ip=10.0.2.15 mask=24 router=10.0.2.2 dns=10.0.2.3"
    board.run(f"PATH=/tmp/bin:$PATH {address} /usr/share/udhcpc/default.script bound")
    board.wait_until("grep -q mdnsd /tmp/called", 10)
    assert board.run("sort /tmp/called").text == "mdnsd -n /run/mdns.d\nntpd -n -p 10.0.2.98 -p 10.0.2.99\n"
    assert board.run("cat /run/mdns.d/device.service").text == "type _device-info._tcp\nname studio-3\nport 9\n"
    # An address that is only kept changes nothing.
    board.run(f"PATH=/tmp/bin:$PATH {address} /usr/share/udhcpc/default.script renew")
    assert board.run("wc -l </tmp/called").text.strip() == "2"


def test_a_program_that_hangs_restarts_the_machine(slot):
    slot.card.write("stream.json", server(1))
    board = slot.start()
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    time.sleep(3)
    board.run("kill -STOP $(pidof tallycam)")
    # QEMU ends instead of restarting, as the tests ask it to.
    board.wait_for_end(60)
