"""The camera from its SD card image: boot, press, live, press, power-off, and faults in between."""

import contextlib
import signal
from dataclasses import dataclass

import pytest
from card import NAME, SMALL, CardBoard, server
from light_record import LightRecord
from lights import LOOKS, blinks, is_steady
from reported import ask
from waiting import wait_until
from ways_in import has_no_login, listeners

pytestmark = pytest.mark.takes(minutes=12, processors=0.25)


@dataclass
class FirstBoot:
    board: CardBoard
    # From power-on until ready, by its own clock.
    seconds: float


@pytest.fixture(scope="module")
def first_boot(kept_slot, kept_nginx) -> FirstBoot:
    """A separate board for the tests of the state after the boot, up to the power-off."""
    board = kept_slot.start_ready({"device.json": SMALL, "stream.json": server(kept_nginx.port)})
    return FirstBoot(board, board.seconds)


def test_only_the_state_is_mounted_writable(first_boot):
    board = first_boot.board
    assert board.run("grep ' / ' /proc/mounts | tail -n 1").text.split()[2:4] == ["squashfs", "ro,relatime,errors=continue"]
    assert "ro," in board.run("grep ' /boot ' /proc/mounts").text
    assert board.run("grep ' /state ' /proc/mounts").text.split()[2] == "ext4"


def test_the_camera_offers_no_way_in_but_the_page(first_boot):
    """Besides it, the only allowed socket is a temporary port for the time server's answers, which may be closed before its owner
    is looked up."""
    found = listeners(first_boot.board)
    page = ("tcp", 80, "tallycam")
    assert page in found
    assert all(
        protocol == "udp" and (port == 5353 and program == "mdnsd" or port > 1024 and program in ("ntpd", "nobody"))
        for protocol, port, program in found
        if (protocol, port, program) != page
    ), found  # fmt: skip
    assert has_no_login(first_boot.board)


def test_libcamera_has_tuning_files_for_the_kernels_sensors(first_boot):
    for sensor in ("imx219", "imx477", "imx708", "ov5647", "uncalibrated"):
        first_boot.board.run(f"test -s /usr/share/libcamera/ipa/rpi/vc4/{sensor}.json")


def test_drivers_look_for_their_firmware_on_the_card_first(first_boot):
    assert first_boot.board.run("cat /sys/module/firmware_class/parameters/path").text == "/boot/firmware\n"


def test_the_light_beats_while_the_camera_is_ready(first_boot):
    heartbeat = first_boot.board.lamp("GPIO27", 7)
    assert any(lit and seconds < 0.4 for lit, seconds in heartbeat) and max(s for lit, s in heartbeat if not lit) > 2


def test_a_press_starts_the_stream_and_the_next_one_stops_it(first_boot, kept_nginx, capsys):
    board = first_boot.board
    pressed = board.seconds
    board.click()
    recording = kept_nginx.recordings / f"{NAME}.flv"
    wait_until(
        lambda: recording.exists() and recording.stat().st_size > 5000, 60, lambda: board.console[-2000:], interval=0.05)
    first = board.seconds - pressed
    board.wait_for_state("live")
    assert is_steady(board)
    assert board.is_high("GPIO22")
    board.click()
    board.wait_for_state("ready")
    assert not board.is_high("GPIO22")
    assert kept_nginx.recording(NAME).stat().st_size > 5000
    with capsys.disabled():
        print(f"\n  power-on to ready: {first_boot.seconds:.1f} s; press to first frame at the server: {first:.1f} s")


def test_a_long_press_powers_off_on_release(first_boot):
    """The last test of this board."""
    board = first_boot.board
    board.press("GPIO17")
    board.sleep(4)
    assert board.status()["state"] == "ready" and "power-off" not in board.console
    board.release("GPIO17")
    board.wait_for_end()
    assert "powering off" in board.console


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


def test_snapshots_are_saved_to_the_card_in_the_given_folder(ready_card):
    """The boot partition is writable only while each is saved."""
    board = ready_card({**SMALL, "snapshots": {"folder": "/boot/snapshots", "count": 2}}, server(1))
    for number in (1, 2, 3):
        path = f"/boot/snapshots/snapshot-00000{number}.jpg"
        assert board.run("tallycam snapshot", timeout=60).text.strip() == path
        assert board.get(path).startswith(b"\xff\xd8\xff")
    assert board.run("ls -A /boot/snapshots").text.split() == ["snapshot-000002.jpg", "snapshot-000003.jpg"]
    board.wait_until("grep -q ' /boot vfat ro,' /proc/mounts", 5)
    board.run("mount -o remount,rw /boot; rm -r /boot/snapshots; sync; mount -o remount,ro /boot")


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


def test_the_light_reacts_at_once_and_follows_its_rhythms(ready_card, nginx, capsys):
    """Compares the guest's own record of the line with the table in the documentation."""
    board = ready_card(SMALL, server(nginx.port))
    light = LightRecord(board)
    assert light.keeps("ready")
    answers = []

    def press(state: str, meanwhile=lambda: None) -> list[tuple[float, bool]]:
        answers.append(light.answer_to_press())
        meanwhile()
        board.wait_for_state(state, 40)
        return light.light()

    # The reaction to the press, then connecting, then on.
    assert_connecting_is_seen(press, light, nginx)
    assert_nothing_is_written_while_live(board, light, 30)
    ask(board, "quality Low1")
    board.wait_for_state("degraded", 10)
    assert light.keeps("live, the uplink is poor")
    nginx.process.interrupt_and_wait()
    board.wait_for_state("reconnecting", 30)
    assert light.keeps("connection lost; reconnecting")
    press("ready")
    assert max(answers) < 100, answers
    show(light, capsys)


def show(light: LightRecord, capsys) -> None:
    with capsys.disabled():
        print("\n  " + "\n  ".join(light.measured))


def is_answered_and_dropped(light: LightRecord) -> bool:
    """Whether holding the button gives three blinks after three seconds, and afterwards the light is as before."""
    light.start()
    light.press(10.8)
    changes = light.changes()
    pressed = min(when for when, what in changes if what == "pressed")
    blinks = [when - pressed for when, what in changes if what == "lit" and 3.02 < when - pressed < 3.59]
    is_answered = len(blinks) == 3 and all(abs(a - b) < 0.09 for a, b in zip(blinks, [3.1, 3.3, 3.5]))
    print(f"blinks {blinks} after the press, of {changes}")
    return is_answered and light.kept([change for change in light.light() if change[0] > pressed + 3.7], "ready")


def test_holding_the_button_for_ten_seconds_does_nothing(ready_card, capsys):
    """The light reacts after three seconds; after ten seconds the press no longer counts."""
    board = ready_card(SMALL, server(1))
    light = LightRecord(board)
    before = len(board.console)
    assert any(is_answered_and_dropped(light) for _ in range(LOOKS))
    assert board.status()["state"] == "ready" and "button" not in board.console[before:]
    show(light, capsys)


def test_the_light_counts_a_fault_in_the_documented_rhythm(ready_card, capsys):
    board = ready_card(SMALL, server(1))
    light = LightRecord(board)
    board.edit("stream.json", "[]")
    board.wait_for_state("fault", 20)
    assert light.keeps("2")
    show(light, capsys)


def assert_connecting_is_seen(press, light: LightRecord, nginx) -> None:
    """Starts the stream. A quick server would leave less than one round of the light, so this one answers late."""

    def answer_after_a_while() -> None:
        light.board.sleep(1.5)
        nginx.process.send(signal.SIGCONT)

    for _ in range(LOOKS):
        nginx.process.send(signal.SIGSTOP)
        started = press("live", answer_after_a_while)
        if started[-1][1] and light.kept(started[2:-1], "connecting"):
            return
        press("ready")
    raise AssertionError(started)


def assert_nothing_is_written_while_live(board: CardBoard, light: LightRecord, seconds: float) -> None:
    """Checks for writes to the card and for changes of the light, which is on."""
    counters = "awk '{print $5, $7}' /sys/block/mmcblk0/stat"
    for _ in range(LOOKS):
        board.run("sync; sleep 6")
        light.start()
        before = board.run(counters).text
        board.sleep(seconds)
        after, changes = board.run(counters).text, light.changes()
        # A stream that a busy machine made poor meanwhile shows that, and its events are written.
        if not changes:
            break
    light.measured.append(f"writes and sectors written to the card, before and after {seconds:.0f} s live: {before.strip()}, {after.strip()}")
    assert before == after and not changes, (before, after, changes, board.run("tallycam status").text)


def test_a_hanging_program_restarts_the_machine(ready_card):
    board = ready_card(SMALL, server(1))
    board.run("kill -STOP $(pidof tallycam)")
    # QEMU ends instead of restarting, as the tests configure it.
    board.wait_for_end(60)


def test_a_card_that_does_not_answer_is_reported_and_the_machine_restarts(slot):
    """The command line names a partition that no card has."""
    line = slot.card.read("cmdline.txt").decode()
    slot.card.write("cmdline.txt", line.replace("root=/dev/mmcblk0p2", "root=/dev/mmcblk0p9"))
    board = slot.start()
    board.machine.wait_for_console("waiting for the card: there is no /dev/mmcblk0p9 yet", 60)
    board.machine.wait_for_console("the card does not answer: there is no /dev/mmcblk0p9 after 30 seconds", 120)
    # QEMU ends instead of restarting, as the tests configure it.
    board.wait_for_end(60)


@pytest.mark.parametrize("content", [b"\xeb\x76\x90EXFAT   ", b"\0" * 4096 + b"somebody's"], ids=["exfat", "unknown"])
def test_a_state_partition_with_something_else_is_left_alone(slot, content):
    start = fill_state(slot.card, content)
    board = slot.start()
    board.machine.wait_for_console("the state partition cannot be mounted; its files are left alone", 120)
    with open(slot.card.path, "rb") as file:
        file.seek(start)
        assert file.read(1 << 20) == content.ljust(1 << 20, b"\0")


def test_an_empty_state_partition_is_formatted(slot):
    fill_state(slot.card, b"")
    board = slot.start_ready({"device.json": SMALL, "stream.json": server(1)})
    assert board.run("grep ' /state ' /proc/mounts").text.split()[2] == "ext4"


def fill_state(card, content: bytes) -> int:
    """Puts these bytes, then zeros, at the state partition's start. Returns its place."""
    start = card.entry(3)[0] * 512
    with open(card.path, "r+b") as file:
        file.seek(start)
        file.write(content.ljust(1 << 20, b"\0"))
    return start


def test_a_root_partition_without_a_file_system_is_reported(slot):
    line = slot.card.read("cmdline.txt").decode()
    slot.card.write("cmdline.txt", line.replace("root=/dev/mmcblk0p2", "root=/dev/mmcblk0p3"))
    board = slot.start()
    board.machine.wait_for_console("there is no root file system on /dev/mmcblk0p3; this board restarts", 60)
    board.wait_for_end(60)
