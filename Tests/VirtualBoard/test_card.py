"""The camera from its SD card image: boot, press, live, press, power-off; what the light shows; and boots that fail."""

import signal
from dataclasses import dataclass

import pytest
from card import NAME, SMALL, CardBoard, server
from light_record import LightRecord
from lights import LOOKS, is_steady
from reported import ask
from waiting import wait_until
from ways_in import has_no_login, listeners

pytestmark = pytest.mark.takes(minutes=6.4, processors=0.25)


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


@pytest.mark.slow
def test_a_card_that_does_not_answer_is_reported_and_the_machine_restarts(slot):
    """The command line names a partition that no card has."""
    line = slot.card.read("cmdline.txt").decode()
    slot.card.write("cmdline.txt", line.replace("root=/dev/mmcblk0p2", "root=/dev/mmcblk0p9"))
    board = slot.start()
    board.machine.wait_for_console("waiting for the card: there is no /dev/mmcblk0p9 yet", 60)
    board.machine.wait_for_console("the card does not answer: there is no /dev/mmcblk0p9 after 30 seconds", 120)
    # QEMU ends instead of restarting, as the tests configure it.
    board.wait_for_end(60)


@pytest.mark.parametrize("content", [
    pytest.param(b"\xeb\x76\x90EXFAT   ", id="exfat", marks=pytest.mark.slow),
    pytest.param(b"\0" * 4096 + b"somebody's", id="unknown"),
])  # fmt: skip
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
