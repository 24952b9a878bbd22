"""The card's board in its networks: cable, Wi-Fi, name, time of day, and a server that is lost and returns."""

import datetime
import re
import subprocess
import time

import pytest
from air import AccessPoint
from board import HOST
from card import NAME, SMALL, CardBoard, server
from lights import RECONNECTING, blinks, is_steady, rhythm
from servers import free_port, wait_for_listener
from time_server import TimeServer
from reported import ask, last_event, seconds, steps

pytestmark = pytest.mark.takes(minutes=9.4, processors=0.2)


def test_cable_and_server_are_lost_and_return(ready_card, nginx):
    board = ready_card(SMALL, server(nginx.port))
    before = len(board.console)
    board.cut()
    board.wait_for_state("no network", 30)
    assert blinks(board, 6)
    # The start is accepted, and waits for the network.
    board.click()
    board.restore()
    board.wait_for_state("live", 60)
    board.cut()
    board.wait_for_state("reconnecting", 60)
    assert rhythm(board, RECONNECTING)
    board.restore()
    board.wait_for_state("live", 60)
    assert is_steady(board)
    nginx.process.interrupt_and_wait()
    board.wait_for_state("reconnecting", 60)
    nginx.start()
    board.wait_for_state("live", 60)
    board.click()
    board.wait_for_state("ready", 20)
    events, console = board.run("cat /state/events").text, board.console[before:]
    order = ["no network", "button pressed", "live", "reconnecting", "ready"]
    for reported in [*order, "network: linkDown"]:
        assert reported in events and reported in console, f"{reported!r} is not among\n{events}"
    places = [console.index(reported) for reported in order]
    assert places == sorted(places), console


@pytest.mark.slow
def test_presses_in_a_row_are_handled_in_order(ready_card, nginx, capsys):
    """Presses while connecting and while stopping. Wrong servers are reported with their class."""
    board = ready_card(SMALL, server(nginx.port))
    line = board._line("GPIO17")
    press = f"echo pull-down >$(echo {line}/pull); sleep 0.12; echo pull-up >$(echo {line}/pull); sleep 0.12; "
    # Each press starts or stops, and no state is shown before the press that causes it. How far the camera gets between two
    # presses (connecting or already live) depends on the emulated machine's speed.
    for presses, state, order in (
        (3, "live", "press, connecting, .*press, .*press, .*connecting, live"),
        (2, "live", "press, stopping, .*press, .*connecting, live"),
        (3, "ready", "press, stopping, .*press, .*connecting, .*press, .*ready"),
    ):
        start = last_event(board)
        board.run(press * presses)
        board.sleep(1)
        board.wait_for_state(state, 30)
        # A busy machine may lower the quality at any time, and raise it again.
        reported = re.sub("(^|, )degraded(, live)?", "", steps(board, start)).removeprefix(", ")
        assert reported.count("press") == presses and re.fullmatch(order, reported), reported
        with capsys.disabled():
            print(f"\n  {reported}")
    # A server without TLS: it is reported with its blinks while the attempts continue, until the file is right.
    board.run("rm -f /run/network/clock-awaited")
    board.edit("stream.json", {"url": f"rtmps://{HOST}:{nginx.port}/live/{NAME}"})
    board.sleep(3)
    board.click()
    board.wait_for_state("fault", 40)
    assert blinks(board, 7)
    board.wait_until("grep -q TLS /boot/faults.txt && grep -q '7 blinks' /boot/faults.txt", 5)
    board.edit("stream.json", server(nginx.port))
    board.wait_for_state("live", 30)
    board.wait_until("! test -e /boot/faults.txt", 10)
    # With that limit in the file the camera gives up; the next press connects.
    board.edit("device.json", {**SMALL, "reconnectAttempts": 1})
    board.edit("stream.json", server(1))
    board.wait_for_state("fault", 30)
    assert not board.status()["isStreamWanted"]
    board.edit("stream.json", server(nginx.port))
    board.wait_for_state("ready", 20)
    board.click()
    board.wait_for_state("live", 30)
    board.click()
    board.wait_for_state("ready", 20)


def test_name_address_and_start_at_boot(slot, nginx):
    """Reads them from the files on the card, also when the files change in the first seconds of a boot. No time server answers:
    a signed stream starts after a while all the same, with a nonce no older than the image."""
    signed = {
        "hub": "live", "title": NAME, "publishKey": "key", "hosts": {"publish": {"rtmp": f"{HOST}:{nginx.port}"}},
    }  # fmt: skip
    slot.card.write("device.json", {**SMALL, "startAtBoot": True})
    slot.card.write("stream.json", signed)
    slot.card.write("network.json", {"hostName": "studio-2", "timeServers": [HOST]})
    board = slot.start(clock="2001-02-03")
    board.wait_for_agent()
    # Before the program runs, or just as it starts.
    board.edit("network.json", {"hostName": "studio-3", "timeServers": [HOST]})
    board.wait_until("hostname | grep -q studio-3", 60)
    board.wait_for_state("connecting", 60)
    assert "waiting for the time of day" in board.console
    date = int(board.run("cat /etc/build-date").text)
    assert date <= int(board.run("date +%s").text) < date + 600
    board.wait_for_state("live", 60)
    assert "the clock is set" not in board.console
    saved = board.run("cat /state/nonce-*").text.split()
    assert saved[0] == "nonce" and int(saved[1]) >= date
    assert board.run("ip -4 -o addr show dev eth1").text.split()[3].startswith("10.0.2.")
    assert "default via 10.0.2.2 dev eth1 metric 10" in " ".join(board.run("ip route").text.split())
    assert board.run("cat /etc/resolv.conf").text == "nameserver 10.0.2.3\n"
    # Other time servers and another name are applied while live, and the stream continues.
    reconnected = board.console.count("reconnecting")
    board.edit("network.json", {"hostName": "studio-4", "timeServers": ["10.0.2.98", "10.0.2.99"]})
    board.wait_until("hostname | grep -q studio-4", 20)
    board.wait_until("tr '\\0' ' ' </proc/$(pidof ntpd)/cmdline | grep -q -- '-p 10.0.2.98 -p 10.0.2.99'", 10)
    assert board.console.count("reconnecting") == reconnected
    # Renewing the same address changes nothing.
    before = board.run("cat /run/ntpd.pid; ip -4 -o addr show dev eth1").text
    board.run(
        "ip -4 monitor address >/tmp/seen & sleep 0.5;"
        " interface=eth1 ip=10.0.2.15 mask=24 router=10.0.2.2 dns=10.0.2.3 /usr/share/udhcpc/default.script renew;"
        " sleep 0.5; kill $!; ! test -s /tmp/seen"
    )  # fmt: skip
    assert board.run("cat /run/ntpd.pid; ip -4 -o addr show dev eth1").text == before
    board.click()
    board.wait_for_state("ready", 20)


# Seconds that a busy machine may need for a time server's answer, and those that a camera waits for it.
LONGEST_ANSWER, LONGEST_WAIT = 30, 20


def make_certificate(folder, start: datetime.datetime, end: datetime.datetime) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj", "/CN=time",
         "-addext", f"subjectAltName=IP:{HOST}", "-not_before", start.strftime("%Y%m%d%H%M%SZ"), "-not_after",
         end.strftime("%Y%m%d%H%M%SZ"), "-keyout", "time.key", "-out", "time.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def secured(children, nginx):
    """A TLS listener of nginx in front of nginx-rtmp; returns the port. Its certificate becomes valid in a year, for a day."""
    start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=365)
    make_certificate(children.directory, start, start + datetime.timedelta(days=1))
    port = free_port()
    (children.directory / "tls.conf").write_text(
        "load_module /usr/lib/nginx/modules/ngx_stream_module.so; daemon off; master_process off; user root;\n"
        f"pid {children.directory}/tls.pid; error_log {children.directory}/tls.log info; events {{}}\n"
        f"stream {{ server {{ listen 127.0.0.1:{port} ssl; ssl_certificate time.pem; ssl_certificate_key time.key;"
        f" proxy_pass 127.0.0.1:{nginx.port}; }} }}\n"
    )
    process = children.start("tls", ["nginx", "-p", children.directory, "-c", children.directory / "tls.conf"])
    wait_for_listener(process, port)
    return port


def test_the_clock_is_set_before_tls(slot, nginx, secured, children):
    """The board starts in 2001. The time server's clock is a year ahead, and only then is the certificate valid."""
    slot.card.write("device.json", SMALL)
    slot.card.write("stream.json", {"url": f"rtmps://{HOST}:{secured}/live/{NAME}", "caFile": "time.pem"})
    slot.card.write("network.json", {"timeServers": [HOST]})
    slot.card.write("time.pem", (children.directory / "time.pem").read_bytes())
    board = slot.start(clock="2001-02-03")
    board.cut()
    board.wait_for_agent()
    board.wait_for_state("no network", 60)
    # It waits for the network, and then for the clock.
    board.click()
    # The server's clock runs with the board's. On a busy machine an emulated board's clock falls behind the host's by seconds, as no
    # real one does, and ntpd does not trust a server from which it differs by more each time.
    start = time.time() + 366 * 86400 - 43200 - board.seconds
    with TimeServer(lambda: start + board.seconds) as clock:
        board.restore()
        # Without the time server, the clock is that of the image.
        ahead = "[ $(date +%s) -gt $(($(cat /etc/build-date) + 300 * 86400)) ]"
        board.wait_until(ahead, 60, lambda: f"the time server was asked at {clock.requests}, by its clock")
        board.wait_for_state("live", 60)
        assert_clock_comes_first(board)
        # What an answer takes makes the board's clock err by half of that.
        assert clock.first_answer - 1 <= int(board.run("date +%s").text) < clock.now() + LONGEST_ANSWER
    board.click()
    board.wait_for_state("ready", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
    # Reports from now on have the right date.
    assert 0 <= int(board.run("date +%s").text) + 1 - seconds(last_event(board).split()[0]) < 3600


def assert_clock_comes_first(board: CardBoard) -> None:
    """Checks that the camera connects when its clock is set. On a busy machine ntpd rejects answers that took long, and the
    camera then waits no longer than it should: its attempts fail until the clock is set."""
    before = ("button pressed", "waiting for the time")
    places = [board.console.index(text) for text in (*before, "live")]
    assert places == sorted(places), board.console[-3000:]
    if "certificate" not in board.console:
        assert places[1] < board.console.index("the clock is set") < places[2], board.console[-3000:]
        return
    lines = ask(board, "events 200").splitlines()
    waiting, failed = (
        seconds(next(line for line in lines if text in line).split()[0]) for text in ("waiting for the time", "certificate")
    )
    assert failed - waiting >= LONGEST_WAIT, lines


WIRELESS = {"hostName": "studio-5", "country": "DE", "wifi": [{"ssid": "Studio", "password": "correct horse"}]}


def with_wifi(**changes) -> dict:
    return {**WIRELESS, "wifi": [{**WIRELESS["wifi"][0], **changes}]}


def test_wifi(ready_card, nginx):
    """The board's second network card becomes the cable of an access point, which only radio reaches."""
    board = ready_card(SMALL, server(nginx.port))
    point = AccessPoint(board, "Studio", "correct horse")
    board.wait_for_state("no network", 30)
    before = len(board.console)
    board.edit("network.json", with_wifi(password="incorrect horse"))
    board.wait_for_state("fault", 60)
    assert blinks(board, 3)
    reported = board.run("cat /boot/faults.txt").text
    assert '"Studio" rejected the password' in reported and "(3 blinks)" in reported and "no network" not in reported
    board.edit("network.json", WIRELESS)
    board.wait_for_state("ready", 60)
    board.wait_until("! test -e /boot/faults.txt", 10)
    board.wait_until("ip -4 -o addr show dev wlan0 | grep -q ' 10.0.2.'", 30)
    assert "wlan0" in board.status()["linksUp"]
    assert bytes(map(int, address(board).split("."))) in point.asked("studio-5.local")

    board.click()
    board.wait_for_state("live", 40)
    point.stop()
    board.wait_for_state("reconnecting", 60)
    point.start()
    board.wait_for_state("live", 90)
    board.click()
    board.wait_for_state("ready", 20)
    assert nginx.recording(NAME).stat().st_size > 5000
    # A network that was there yesterday is not the user's mistake. A network that never existed may be.
    board.edit("network.json", with_wifi(ssid="Nowhere"))
    board.wait_until("grep -q 'none of its Wi-Fi networks is in range' /boot/faults.txt", 90)
    assert board.status()["state"] == "no network"
    board.edit("network.json", WIRELESS)
    board.wait_for_state("ready", 60)
    said = board.console[before:] + board.run("cat /state/events").text
    assert "rejected the password" in said and "Wi-Fi connected" in said and "correct horse" not in said
    point.close()


def address(board: CardBoard) -> str:
    return board.run("ip -4 -o addr show dev wlan0").text.split()[3].split("/")[0]


KERNEL_SAYS = (
    "brcmfmac: brcmf_fw_alloc_request: using brcm/brcmfmac43430b0-sdio for chip BCM43430/2",
    "brcmfmac mmc1:0001:1: Direct firmware load for brcm/brcmfmac43430b0-sdio.raspberrypi,model-zero-2-w.bin failed with error -2",
    "brcmfmac mmc1:0001:1: Direct firmware load for brcm/brcmfmac43430b0-sdio.bin failed with error -2",
)


def test_a_wifi_chip_without_its_firmware_is_named(ready_card):
    """QEMU has no such chip: the test writes what its driver would write into the kernel's log."""
    board = ready_card(SMALL, server(1), WIRELESS)
    for line in KERNEL_SAYS:
        board.run(f"echo '{line}' >/dev/kmsg")
    board.wait_until("grep -q 'chip BCM43430/2 lacks its firmware brcm/brcmfmac43430b0-sdio.bin' /boot/faults.txt", 30)
    # The cable is a network: this is a warning, and does not blink.
    assert board.status()["state"] == "ready"
    board.cut()
    board.wait_until("grep -A 3 'network.json.*(6 blinks)' /boot/faults.txt | grep -q 'lacks its firmware'", 30)
    assert "firmware/brcm/brcmfmac43430b0-sdio.bin" in board.run("cat /boot/faults.txt").text
    assert "raspberrypi,model-zero-2-w" not in board.run("cat /boot/faults.txt").text
    board.restore()
    board.wait_for_state("ready", 30)
    assert "lacks its firmware" in board.run("tallycam doctor 2>&1", timeout=120, check=False).text
    # Without Wi-Fi in its settings, the camera does not need the chip.
    board.edit("network.json", {})
    board.wait_until("! test -e /boot/faults.txt", 30)
