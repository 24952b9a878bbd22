"""The virtual board itself: checks that it has what the other tests rely on."""

import re
import socket
import struct
import threading

from board import HOST
from stalls import Stalls
from waiting import wait_until


def test_the_board_boots_within_a_minute(booted):
    assert booted.boot_seconds < 60


def test_the_guest_has_the_devices_of_a_board(board):
    nodes = board.run("for node in /sys/class/video4linux/*; do cat $node/name; done").text
    assert "vivid" in nodes and "stateful-encoder" in nodes and "Lens A" in nodes
    assert "Loopback" in board.run("cat /proc/asound/cards").text
    assert board.run("test -c /dev/watchdog0 && cat /sys/class/watchdog/watchdog0/identity").text.strip() == "i6300ESB timer"
    assert board.run("test -c /dev/udmabuf").status == 0


def test_button_and_leds_are_lines_by_name(board):
    lines = board.run("cat /proc/device-tree/gpio-sim/bank0/gpio-line-names").text.split("\0")
    assert lines[17] == "GPIO17" and lines[29] == "STATUS_LED_N"
    board.release("GPIO17")
    assert board.is_high("GPIO17")
    board.press("GPIO17")
    assert not board.is_high("GPIO17")
    board.run("echo 1 > /sys/class/leds/ACT/brightness")
    assert not board.is_high("STATUS_LED_N")  # lit at low level
    board.run("echo 0 > /sys/class/leds/ACT/brightness")
    assert board.is_high("STATUS_LED_N")


def test_the_shipped_binary_runs(board):
    assert board.run("tallycam --version").text.startswith("tallycam ")


def test_the_network_can_be_cut_and_restored(board, nginx):
    ask = f"echo | nc -w 3 {HOST} {nginx.port} > /dev/null"
    assert board.run(ask, check=False).status == 0
    board.cut()
    assert board.run("cat /sys/class/net/uplink/carrier", check=False).text.strip() != "1"
    assert board.run(ask, check=False).status != 0
    board.restore()
    assert board.run(f"sleep 1; {ask}", check=False).status == 0
    board.swallow()
    assert board.run(ask, check=False).status != 0


class Transfers:
    """A server on the host that receives data, or sends on request."""

    def __init__(self, payload: bytes = b""):
        self.payload = payload
        self.received = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self.socket.accept()
            # A stuck connection delays no other.
            threading.Thread(target=self._transfer, args=(connection,), daemon=True).start()

    def _transfer(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.sendall(self.payload)
                connection.shutdown(socket.SHUT_WR)
                while data := connection.recv(65536):
                    self.received += len(data)
        except OSError:
            pass


def seconds(board, words: str) -> float:
    """How long the command takes, by the guest's clock."""
    now = "read up idle </proc/uptime; echo $up"
    start, end = board.run(f"{now}; {words} >/dev/null; {now}").text.split()
    return float(end) - float(start)


def test_outgoing_traffic_can_be_shaped(board):
    server, stalls = Transfers(), Stalls(board)

    def seconds_to_arrive() -> float:
        start, wanted = board.seconds, server.received + 300_000
        # The command's end is not a measure: the kernel continues sending.
        board.run(f"head -c 300000 /dev/zero | socat -u - TCP:{HOST}:{server.port}")
        wait_until(lambda: server.received >= wanted, 60, lambda: server.received, interval=0.02)
        return board.seconds - start

    def is_free() -> bool:
        """A busy host's own programs may be late, too, so one of several transfers is enough."""
        return any(seconds_to_arrive() < 2 for _ in range(5))

    assert is_free()
    board.shape(rate="800kbit", delay="20ms")
    assert "netem" in board.run("tc qdisc show dev uplink").text
    # 300 kB at 100 kB/s; the first 16 kB are sent at once.
    slow = seconds_to_arrive()
    assert 2.4 < slow < 6 + stalls.longest, (slow, stalls.longest)
    board.unshape()
    assert is_free()


def test_incoming_traffic_can_be_shaped(board):
    server, stalls = Transfers(bytes(300_000)), Stalls(board)
    receive = f"nc -w 30 {HOST} {server.port} < /dev/null | wc -c"
    assert board.run(receive).text.strip() == "300000"
    board.shape_ingress(rate="800kbit")
    slow = seconds(board, receive)
    assert 2.2 < slow < 6 + stalls.longest, (slow, stalls.longest)
    board.shape_ingress(loss="100%")
    assert board.run(f"nc -w 3 {HOST} {server.port} < /dev/null 2> /dev/null | wc -c").text.strip() == "0"
    board.unshape_ingress()
    assert seconds(board, receive) < 2 + stalls.longest


def test_power_key_of_the_device_tree(board):
    """As the gpio-shutdown overlay of a Pi provides it: an input device, on GPIO3."""
    names = board.run("cat /sys/class/input/input*/name").text.splitlines()
    assert "power-key" in names
    board.release("GPIO3")
    # The driver debounces for a tenth of a second.
    board.sleep(0.5)
    watcher = board.start("exec timeout 20 head -c 24 $(for f in /sys/class/input/event*; do "
                          "[ $(cat $f/device/name) = power-key ] && echo /dev/input/${f##*/}; done)")
    board.run("sleep 1")
    board.press("GPIO3")
    data = watcher.wait(20).data
    board.release("GPIO3")
    # struct input_event: two longs of time, type EV_KEY, code KEY_POWER, value pressed.
    assert struct.unpack("<HHi", data[16:24]) == (1, 116, 1)


def test_guest_process_is_followed_and_ended(board):
    process = board.start("while true; do echo tick; sleep 0.2; done")
    process.wait_for("tick\ntick", 10)
    pid = process.pid
    process.end()
    assert board.run(f"test -e /proc/{pid}", check=False).status == 1
    assert re.match(r"(tick\n)+", process.text)
