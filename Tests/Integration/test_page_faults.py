"""The page's server when something goes wrong: unusual requests, two savers, a folder that cannot be written, no port, no
descriptors, a restart while a browser waits; and what it tells of Wi-Fi and secrets."""

import json
import os
import re
import resource
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from appliance import DEVICE, Appliance
from page import PagedAppliance
from page_client import Page, browser
from processes import HUNG
from tallycam import CHECKOUT

pytestmark = pytest.mark.takes(minutes=0.7, processors=0.3)

STREAM = {"url": "rtmp://127.0.0.1:1/live", "key": "not-for-anybodys-eyes"}
NETWORK = "/api/v1/files/network.json"
ROUTE = re.compile(r'PageRoute\(\.(\w+), "(.*?)", for: \.(\w+), ')


@pytest.fixture
def camera(children):
    return PagedAppliance(children, stream=STREAM)


def until(condition):
    deadline = time.monotonic() + HUNG
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


# Unusual requests


def exchange(page: Page, method: str, path: str, *headers: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", page.port), timeout=HUNG)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {page.place}", f"Origin: {page.origin}", f"Cookie: {page.cookie}", *headers]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    return connection


def test_a_client_that_waits_for_100_continue_gets_it_before_its_body(camera):
    body = b'{"command": "status"}'
    with exchange(browser(camera), "POST", "/api/v1/commands", f"Content-Length: {len(body)}", "Expect: 100-continue") as connection:
        assert connection.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(12) == b"HTTP/1.1 200"


def test_a_stranger_is_refused_without_100_continue(camera):
    stranger = browser(camera, is_paired=False)
    with exchange(stranger, "POST", "/api/v1/commands", "Content-Length: 60000", "Expect: 100-continue") as connection:
        assert connection.recv(12) == b"HTTP/1.1 401"


def test_head_has_the_headers_of_get_and_no_body(camera):
    page = browser(camera)
    text = (CHECKOUT / "Sources/PageLogic/PageRoute.swift").read_text()
    paths = [path for method, path, _ in ROUTE.findall(text) if method == "get"]
    assert len(paths) > 15
    for path in paths:
        # One that a real browser asks for; sockets refuse what is no handshake.
        path = path.replace("files/*", "files/device.json").replace("*", "app.js" if path == "/*" else "nothing")
        with exchange(page, "HEAD", path, "Connection: close") as connection:
            answer = b""
            while block := connection.recv(65536):
                answer += block
        head, _, body = answer.partition(b"\r\n\r\n")
        status = int(head.split()[1])
        assert body == b"" and status in (200, 404, 409, 426), (path, answer)
        assert b"content-length:" in head.lower()
        if path in ("/", "/app.js", "/api/v1/files", "/api/v1/files/device.json", "/api/v1/keys"):
            length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
            assert length == len(page.get(path).body), path


# Files


def test_of_two_savers_at_once_one_is_told(camera):
    pages = [browser(camera), browser(camera)]
    assert pages[0].ask("PUT", NETWORK, b"{}", {"If-None-Match": "*"}).status == 200
    for turn in range(5):
        tag = pages[0].get(NETWORK).headers["etag"]
        texts = [json.dumps({"hostName": f"camera-{turn}-{number}"}).encode() for number in range(2)]
        answers = [None, None]

        def save(number: int, tag: str = tag, texts: list = texts, answers: list = answers) -> None:
            answers[number] = pages[number].ask("PUT", NETWORK, texts[number], {"If-Match": tag})

        threads = [threading.Thread(target=save, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answer.status for answer in answers) == [200, 412]
        kept = next(number for number in range(2) if answers[number].status == 200)
        assert (camera.boot / "network.json").read_bytes() == texts[kept]
        loser = answers[1 - kept]
        assert loser.error == "changedMeanwhile" and loser.headers["etag"] == answers[kept].headers["etag"]


def test_a_file_that_is_too_large_is_refused_for_reading_and_for_saving(camera):
    page = browser(camera)
    limit = 64 * 1024
    fitting, tag = b"{}" + b" " * (limit - 2), page.get("/api/v1/files/device.json").headers["etag"]
    assert page.ask("PUT", "/api/v1/files/device.json", fitting + b" ", {"If-Match": tag}).status == 413
    assert page.ask("PUT", "/api/v1/files/device.json", fitting, {"If-Match": tag}).status == 200
    assert page.get("/api/v1/files/device.json").body == fitting
    (camera.boot / "network.json").write_bytes(fitting + b" ")
    answer = page.get(NETWORK)
    assert answer.status == 503 and "large" in answer.json["text"], answer.body


class Unprivileged(PagedAppliance):
    """Without permission to mount, which stands for a card that is write-protected."""

    prefix = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")


@pytest.mark.parametrize("options", ["ro", "rw"])
def test_a_folder_that_cannot_be_written_is_told_and_loses_nothing(children, options):
    """Read-only, or full."""
    boot = children.directory / "boot"
    boot.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "boot", boot], check=True)
    try:
        camera = (Unprivileged if options == "ro" else PagedAppliance)(children, stream=STREAM)
        page = browser(camera)
        until(lambda: page.get("/api/v1/files/device.json").status == 200)
        shown = page.get("/api/v1/files/device.json")
        before = (boot / "device.json").read_bytes()
        if options == "rw":
            with open(boot / "filler", "wb", buffering=0) as filler:
                try:
                    while True:
                        filler.write(bytes(4096))
                except OSError:
                    pass
            edited = json.dumps({**DEVICE, "startAtBoot": False}).encode() + b" " * 8000
        else:
            subprocess.run(["mount", "-o", "remount,ro", boot], check=True)
            edited = json.dumps({**DEVICE, "startAtBoot": False}).encode()
        saved = page.ask("PUT", "/api/v1/files/device.json", edited, {"If-Match": shown.headers["etag"]})
        assert (saved.status, saved.error) == (503, "card"), saved.body
        assert saved.json["text"]
        assert (boot / "device.json").read_bytes() == before
        if options == "rw":
            (boot / "filler").unlink()
        else:
            subprocess.run(["mount", "-o", "remount,rw", boot], check=True)
            camera.process.interrupt_and_wait()
            camera.prefix = ()
            camera.process = camera.start()
            until(lambda: camera.status()["page"])
        assert page.ask("PUT", "/api/v1/files/device.json", edited, {"If-Match": shown.headers["etag"]}).status == 200
        assert (boot / "device.json").read_bytes() == edited
        camera.process.interrupt_and_wait()
    finally:
        subprocess.run(["umount", "-l", boot], check=True)


# The port, and descriptors


def test_a_port_in_use_is_a_fault_until_it_is_free(children):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]

        class Late(PagedAppliance):
            options = ("--page", f"127.0.0.1:{port}")

            def start(self):
                return Appliance.start(self)

        camera = Late(children, stream=STREAM)
        camera.wait_for_faults("device.json", "page", "Address already in use")
        assert camera.status()["page"] == []
    until(lambda: camera.status()["page"] == [f"http://127.0.0.1:{port}"])
    camera.wait_for_faults()
    assert browser(camera).get("/api/v1/status").status == 200


def test_without_descriptors_it_rests_and_goes_on_when_there_are_some(camera):
    page = browser(camera)
    pid = camera.process.child.pid
    used_numbers = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    lowest = min(set(range(len(used_numbers) + 1)) - used_numbers)
    former = resource.prlimit(pid, resource.RLIMIT_NOFILE)

    def used() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    resource.prlimit(pid, resource.RLIMIT_NOFILE, (lowest, former[1]))
    try:
        with socket.create_connection(("127.0.0.1", page.port), timeout=HUNG):
            before, start = used(), time.monotonic()
            time.sleep(5)
            # A loop would use all of a processor. A busy machine only makes this smaller.
            assert used() - before < 0.5 * (time.monotonic() - start)
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, former)
    assert page.get("/api/v1/status").status == 200
    assert camera.console("events 200").count("takes no more connections") == 1


# Pairing


def test_a_restart_ends_an_attempt(camera):
    page = browser(camera, is_paired=False)
    assert page.ask("POST", "/api/v1/pairing").json["state"] == "waiting"
    camera.process.interrupt_and_wait()
    camera.process = camera.start()
    until(lambda: camera.status()["page"])
    assert page.get("/api/v1/pairing").json["state"] == "expired"
    assert camera.console("page allow") == "error\nno browser waits to be paired\n"
    assert page.ask("POST", "/api/v1/pairing").json["state"] == "waiting"
    camera.press()
    assert page.get("/api/v1/pairing").json["state"] == "granted"


def test_an_attempt_ends_with_the_page(camera):
    page = browser(camera, is_paired=False)
    page.ask("POST", "/api/v1/pairing")
    camera.wait_for("pairing")
    camera.write("device", {**DEVICE, "page": False})
    until(lambda: camera.status()["state"] != "pairing")
    assert camera.console("page allow") == "error\nno browser waits to be paired\n"


def test_a_planted_attempt_gets_no_key(camera):
    """Someone asks, and puts the attempt's cookie into the owner's browser."""
    other, owner = browser(camera, is_paired=False), browser(camera, is_paired=False)
    other.ask("POST", "/api/v1/pairing")
    planted = other.cookies["tallycam-pairing"]
    owner.cookies["tallycam-pairing"] = planted
    owner.ask("POST", "/api/v1/pairing")
    assert owner.cookies["tallycam-pairing"] != planted
    camera.press()
    assert other.get("/api/v1/pairing").json["state"] == "expired"
    assert owner.get("/api/v1/pairing").json["state"] == "granted"


def test_of_two_browsers_the_code_admits_one(camera):
    first, second = browser(camera, is_paired=False), browser(camera, is_paired=False)
    first.ask("POST", "/api/v1/pairing")
    asked = second.ask("POST", "/api/v1/pairing").json
    assert asked["others"] == 1 and first.get("/api/v1/pairing").json["others"] == 1
    refused = camera.console("page allow")
    assert refused.startswith("error\nseveral browsers wait") and str(asked["code"]) in refused
    assert camera.console(f"page allow {asked['code']}") == "ok\nadmitted\n"
    assert first.get("/api/v1/pairing").json["state"] == "waiting"
    assert second.get("/api/v1/pairing").json["state"] == "granted"


# Wi-Fi and secrets


def test_networks_in_range_are_listed(camera):
    page = browser(camera)
    missing = page.get("/api/v1/wifi")
    assert (missing.status, missing.error) == (409, "wirelessSearch"), missing.body
    results = [
        "bssid / frequency / signal level / flags / ssid", r"02:00:00:00:01:00	2412	-70	[WPA2-PSK-CCMP][ESS]	Caf\xc3\xa9",
        r"02:00:00:00:02:00	2437	-40	[WPA2-PSK-CCMP][ESS]	Caf\xc3\xa9", r"02:00:00:00:03:00	2437	-50	[ESS]	\e[2J\xff", "",
    ]  # fmt: skip
    camera.supplicant.mkdir(exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supplicant:
        supplicant.bind(os.fspath(camera.supplicant / "wlan0"))
        supplicant.settimeout(HUNG)

        def serve() -> None:
            while True:
                request, client = supplicant.recvfrom(4096)
                if not client.endswith("wifi-search"):
                    continue
                if request == b"SCAN":
                    supplicant.sendto(b"OK\n", client)
                    supplicant.sendto(b"<3>CTRL-EVENT-SCAN-RESULTS ", client)
                elif request == b"SCAN_RESULTS":
                    return supplicant.sendto("\n".join(results).encode(), client)

        server = threading.Thread(target=serve)
        server.start()
        found = page.get("/api/v1/wifi")
        server.join()
    assert found.json == [
        {"name": "Café", "isExact": True, "signal": -40, "security": "wpa2"},
        {"name": r"\e[2J\xff", "isExact": False, "signal": -50, "security": "open"},
    ]


def test_a_support_file_has_no_secret(children):
    secrets = ["StreamKeyStreamKey", "UserOfTheURL", "PasswordOfTheURL", "TokenInTheQuery", "WirelessPassword"]
    targets = [
        {"name": "a", "url": "rtmp://127.0.0.1:1/live", "key": secrets[0]},
        {"name": "b", "url": f"rtmp://{secrets[1]}:{secrets[2]}@127.0.0.1:1/live/x"},
        {"name": "c", "url": f"rtmp://127.0.0.1:1/live/y?token={secrets[3]}"},
    ]
    network = {"country": "DE", "wifi": [{"ssid": "Studio", "password": secrets[4]}]}
    camera = PagedAppliance(children, stream={"targets": targets}, network=network)
    page = browser(camera)
    page.ask("POST", "/api/v1/start")
    # What a careless part of the program could say.
    page.command(f"filter text text={secrets[0]}")
    answer = page.get("/api/v1/support")
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/plain"), answer.body
    text = answer.body.decode()
    for part in ["== status", "== faults", "== doctor", "== events", "== stream.json", "== network.json", "(kept 1)", "Studio", "summary"]:
        assert part in text, part
    stored = (camera.state / "browsers").read_text().split()[0]
    for secret in [*secrets, camera.key.hex(), stored]:
        assert secret not in text, secret


def test_the_publish_key_of_pili_is_not_in_a_support_file(children):
    camera = PagedAppliance(children, stream={"publishKey": "PublishKeyOfPili", "hosts": {"publish": {"rtmp": "127.0.0.1"}}})
    text = browser(camera).get("/api/v1/support").body.decode()
    assert "PublishKeyOfPili" not in text and "publishKey" in text
