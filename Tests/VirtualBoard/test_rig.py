"""The virtual board itself: what the other tests lean on is there."""

import re

from board import HOST


def test_boots_within_a_minute(booted):
    assert booted.boot_seconds < 60


def test_has_the_devices_of_a_board(board):
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


def test_runs_the_shipped_binary(board):
    assert board.run("tallycam --version").text.startswith("tallycam ")


def test_network_can_be_cut_and_restored(board, nginx):
    ask = f"echo | nc -w 3 {HOST} {nginx.port} > /dev/null"
    assert board.run(ask, check=False).status == 0
    board.cut()
    assert board.run("cat /sys/class/net/uplink/carrier", check=False).text.strip() != "1"
    assert board.run(ask, check=False).status != 0
    board.restore()
    assert board.run(f"sleep 1; {ask}", check=False).status == 0
    board.swallow()
    assert board.run(ask, check=False).status != 0


def test_network_can_be_shaped(board):
    board.shape(rate="1mbit", delay="20ms")
    text = board.run("tc qdisc show dev uplink").text
    assert "netem" in text and "tbf" in text


def test_guest_process_is_followed_and_ended(board):
    process = board.start("while true; do echo tick; sleep 0.2; done")
    process.wait_for("tick\ntick", 10)
    pid = process.pid
    process.end()
    assert board.run(f"test -e /proc/{pid}", check=False).status == 1
    assert re.match(r"(tick\n)+", process.text)
