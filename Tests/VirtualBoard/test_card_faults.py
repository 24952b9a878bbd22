"""The camera from its SD card image, with something wrong: a file on the card, the camera, the GPIO lines, or the card itself."""

import contextlib

import pytest
from card import NAME, SMALL, CardBoard, server
from lights import blinks, is_steady

pytestmark = pytest.mark.takes(minutes=5.6, processors=0.2)


WIRING = (
    b'{"name": "x", "statusLED": {"line": "GPIO27"}, "flashLED": {"line": "GPIO22"}, "console": "/dev/ttyAMA0",'
    b' "button": {"line": "%s"}}'
)
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
        (WIRING % b"NOWHERE", 9, '"NOWHERE"; check board.json; there is "GPIO2", '),
        (WIRING % b'GPIO17", "chip": "nothing', 9, 'there is no GPIO chip "nothing"; there is "9030000.pl061", "pinctrl-bcm2835"'),
        (WIRING % b"STATUS_LED_N", 9, "in use"),
    ],
}  # fmt: skip


def assert_reported(board: CardBoard, problem: str, count: int) -> None:
    """Checks that faults.txt, which is written after the report on the console, has the problem with the number of blinks."""
    board.wait_until(f"grep -qF '{problem}' /boot/faults.txt", 10)
    reported = board.run("cat /boot/faults.txt").text
    assert any(problem in part and f"({count} blinks)" in part for part in reported.split("\r\n\r\n")), reported


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_broken_configurations(card_boards, ready_card, step):
    """Breaks one file after the other in several ways, all of them or every third, and repairs it before the next file's
    turn."""
    # The camera writes to the card up to sixty times in a row, and then once a minute.
    card_boards.close()
    board = ready_card(SMALL, server(1))
    good = {name: board.get(f"/boot/{name}") for name in BROKEN}
    for file, cases in BROKEN.items():
        for content, count, problem in cases[::step]:
            before = len(board.console)
            board.edit(file, content)
            board.machine.wait_for_console(problem, 40, before)
            assert_reported(board, problem, count)
            assert board.status()["faults"][0]["blinks"] == count
            assert "short12" not in board.console
            assert blinks(board, count), (file, content)
        board.edit(file, good[file])
        board.wait_for_state("ready", 40)
        board.wait_until("! test -e /boot/faults.txt", 10)
    # The camera's own files are on the card, and the card is mounted read-only again.
    board.wait_until("grep -q ' /boot vfat ro,' /proc/mounts", 10)


VIVID = "modprobe vivid n_devs=1 node_types=0x1 num_inputs=1 input_types=0x0 vid_cap_nr=0"
WITH_SILENCE = {**SMALL, "audio": {"source": "silence"}}


def stop_with_a_recording(board: CardBoard, nginx) -> None:
    """Ends the stream of vivid, and removes vivid."""
    board.click()
    board.wait_for_state("ready", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
    board.run("modprobe -r vivid")


def test_a_missing_camera_is_waited_for_at_the_start(ready_card, nginx):
    """First no camera has the given name, then there is no camera at all."""
    board = ready_card({**WITH_SILENCE, "camera": "nowhere"}, server(nginx.port))
    board.click()
    board.wait_for_state("fault", 30)
    assert blinks(board, 4)
    # The stream is still wanted, and the fault remains as long as there is no camera at all.
    board.edit("device.json", {**WITH_SILENCE, "camera": "auto"})
    board.wait_until("grep -q 'no camera' /boot/faults.txt", 30)
    board.wait_for_state("fault", 30)
    assert blinks(board, 4)
    assert "no camera" in board.console
    board.run(VIVID)
    board.wait_for_state("live", 60)
    board.wait_until("! test -e /boot/faults.txt", 10)
    stop_with_a_recording(board, nginx)


def test_a_camera_lost_while_live_returns(ready_card, nginx):
    board = ready_card({**WITH_SILENCE, "camera": "auto"}, server(nginx.port))
    board.run(VIVID)
    board.click()
    board.wait_for_state("live", 60)
    before = len(board.console)
    board.run("echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind")
    board.wait_until("grep -q 'until vivid' /boot/faults.txt", 20)
    status = board.status()
    # It is reported without blinking: a live stream is shown as live.
    # An emulated network may be considered poor meanwhile.
    assert status["state"] in ("live", "degraded") and [fault["blinks"] for fault in status["faults"]] == [4]
    assert is_steady(board)
    board.run("echo vivid.0 >/sys/bus/platform/drivers/vivid/bind")
    board.wait_until("! test -e /boot/faults.txt", 20)
    assert board.status()["state"] in ("live", "degraded") and not board.status()["faults"]
    assert "is back after" in board.console[before:] and "reconnecting" not in board.console[before:]
    stop_with_a_recording(board, nginx)


GPIO_DRIVER = "/sys/bus/platform/drivers/gpio-sim"


@contextlib.contextmanager
def lines_away(board: CardBoard):
    """Unbinds their chip's driver while the program runs, and binds it again. The camera is ready before and after."""
    device = board.run(f"cd {GPIO_DRIVER}; ls -d *gpio-sim*").text.strip()
    board.run(f"echo {device} >{GPIO_DRIVER}/unbind")
    board.wait_until("grep -q 'button.chip' /boot/faults.txt && grep -q 'GPIO27' /boot/faults.txt && grep -q 'GPIO22' /boot/faults.txt", 20)
    yield
    board.run(f"echo {device} >{GPIO_DRIVER}/bind")
    board.wait_for_state("ready", 30)
    board.wait_until("! test -e /boot/faults.txt", 20)


def test_missing_lines_are_reported_and_work_when_they_return(ready_card, nginx):
    board = ready_card(SMALL, server(nginx.port))
    before = len(board.console)
    with lines_away(board):
        status = board.status()
        assert status["state"] == "fault" and [fault["blinks"] for fault in status["faults"]] == [9]
        assert all(f"{key}: " in board.console[before:] for key in ("button.chip", "statusLED.line", "flashLED.line"))
    assert not board.status()["faults"]
    # The button works, and the lights are on.
    board.click()
    board.wait_for_state("live", 40)
    assert is_steady(board) and board.is_high("GPIO22")
    board.click()
    board.wait_for_state("ready", 20)


def test_looking_for_missing_lines_is_cheap_and_leaks_no_descriptor(ready_card, capsys):
    board = ready_card(SMALL, server(1))
    used = "cat /proc/$(pidof tallycam)/stat | awk '{print $14 + $15}'; ls /proc/$(pidof tallycam)/fd | wc -l"
    descriptors = int(board.run(used).text.split()[1])
    with lines_away(board):
        start = int(board.run(used).text.split()[0])
        board.sleep(10)
        ticks, left = (int(word) for word in board.run(used).text.split())
        assert ticks - start < 300, "of a thousand hundredths of a second"
        assert left <= descriptors
    # The card's own thread may have a file open for a moment.
    board.wait_until(f"[ $(ls /proc/$(pidof tallycam)/fd | wc -l) = {descriptors} ]", 10)
    with capsys.disabled():
        print(f"\n  ten seconds of looking for three lines took {(ticks - start) / 100:.2f} s of the emulated processor")


@pytest.mark.slow
def test_a_full_card_and_events_that_outlive_the_program(ready_card):
    board = ready_card(SMALL, server(1))
    board.run(
        "mount -o remount,rw /boot; for size in 64k 512; do dd if=/dev/zero of=/boot/full-$size bs=$size 2>/dev/null; done;"
        " sync; echo '{\"camera\": }' >/boot/device.json; sync", timeout=120,
    )  # fmt: skip
    board.wait_until("tallycam status | grep -q 'cannot be written'", 30)
    assert 9 in [fault["blinks"] for fault in board.status()["faults"]]
    assert "No space left on device" in board.console
    board.run("rm /boot/full-*; sync; mount -o remount,ro /boot")
    board.edit("device.json", SMALL)
    # It tries again at increasing intervals, and a busy machine takes long to fill the card.
    board.wait_for_state("ready", 90)
    assert not board.status()["faults"]
    # When killed, the program is restarted by init, and its earlier reports are still there.
    first = board.run("pidof tallycam").text.strip()
    board.run(f"kill -TERM {first}")
    board.wait_until(f"pidof tallycam && ! test -e /proc/{first} && tallycam status", 30)
    board.wait_for_state("ready", 30)
    events = board.run("cat /state/events").text
    assert "No space left on device" in events and "Tallycam ends" in events
    assert events.index(" starts") < events.index("No space left on device") < events.index("Tallycam ends")


def test_a_card_that_cannot_be_written_to(ready_card, nginx):
    """Its switch is at "lock", and its fault report is from yesterday: the camera reports that, and streams."""
    board = ready_card(SMALL, server(nginx.port))
    board.run(
        "mount -o remount,rw /boot; echo old >/boot/faults.txt; sync; mount -o remount,ro /boot;"
        " blockdev --setro /dev/mmcblk0p1; ! mount -o remount,rw /boot 2>/dev/null"
    )  # fmt: skip
    before = len(board.console)
    board.run("kill -TERM $(pidof tallycam)")
    board.machine.wait_for_console("cannot be written", 40, before)
    board.wait_until("tallycam status | grep -q 'cannot be written'", 10)
    assert [fault["blinks"] for fault in board.status()["faults"]] == [9]
    assert blinks(board, 9)
    board.click()
    board.wait_for_state("live", 30)
    board.click()
    board.wait_for_state("fault", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
    board.run("blockdev --setrw /dev/mmcblk0p1")
    # It tries again by itself, at increasing intervals.
    board.wait_for_state("ready", 90)
    board.wait_until("! test -e /boot/faults.txt && grep -q ' /boot vfat ro,' /proc/mounts", 5)
