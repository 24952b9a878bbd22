"""The page's server, asked by a program: who may do what, files, events, preview, and bad input."""

import contextlib
import json
import socket
import struct
import subprocess
import time

import pytest
from appliance import DEVICE, LIVE, plain
from page import PagedAppliance
from page_client import Page, WebSocket, browser
from processes import HUNG
from tallycam import CHECKOUT, Receiver

pytestmark = pytest.mark.takes(minutes=0.7, processors=0.4)

KEY = "not-for-anybodys-eyes"
STREAM = {"url": "rtmp://127.0.0.1:1/live", "key": KEY}
STATUS = "/api/v1/status"


@pytest.fixture
def camera(children):
    return PagedAppliance(children, stream=STREAM)


def wait_for_browsers(camera: PagedAppliance, count: int) -> str:
    """Until the card's thread has written the keys of so many browsers."""
    deadline = time.monotonic() + HUNG
    while len((text := (camera.state / "browsers").read_text()).splitlines()) != count:
        assert time.monotonic() < deadline, text
        time.sleep(0.05)
    return text


def test_only_the_page_itself_and_pairing_are_open(camera):
    """Every other path answers the same to whoever has no key, whether it exists or not."""
    stranger = browser(camera, is_paired=False)
    assert stranger.get("/").status == 200
    assert stranger.get("/api/v1/pairing").status == 200
    for method, path in [
        ("GET", STATUS), ("POST", "/api/v1/start"), ("POST", "/api/v1/commands"), ("GET", "/metrics"), ("GET", "/status"),
        ("PUT", "/api/v1/files/stream.json"), ("GET", "/api/v1/files/stream.json"), ("DELETE", "/api/v1/keys/1"),
        ("GET", "/api/v1/events/live"), ("GET", "/api/v1/preview"), ("GET", "/api/v1/nothing"), ("POST", "/nothing/here"),
        ("DELETE", STATUS),
    ]:  # fmt: skip
        answer = stranger.ask(method, path)
        assert (answer.status, answer.error) == (401, "notPaired"), path
    assert KEY.encode() not in stranger.get("/").body


def test_a_press_pairs_a_browser_which_can_be_revoked(camera):
    first, second = browser(camera, is_paired=False), browser(camera, is_paired=False)
    asked = first.ask("POST", "/api/v1/pairing")
    assert (asked.status, asked.json["press"]) == (202, "press")
    assert camera.status()["state"] == "pairing"
    camera.press()
    assert second.get("/api/v1/pairing").json["state"] == "none"
    granted = first.get("/api/v1/pairing")
    assert granted.json["state"] == "granted"
    cookie = granted.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert first.get(STATUS).status == 200
    stored = wait_for_browsers(camera, 2)
    assert first.cookies["tallycam-key"] not in stored
    keys = first.get("/api/v1/keys").json
    own = next(key for key in keys if key["current"])
    assert first.ask("DELETE", f"/api/v1/keys/{own['id']}").status == 204
    assert first.get(STATUS).status == 401


def test_pairings_last_over_a_restart(camera):
    page = browser(camera, is_paired=False).pair(camera)
    camera.process.interrupt_and_wait()
    camera.process = camera.start()
    assert page.get(STATUS).status == 200


def test_nobody_admits_himself(camera):
    """A press that nobody waits for is no pairing, and a paired browser cannot admit another."""
    assert camera.console("page allow") == "error\nno browser waits to be paired\n"
    refused = browser(camera).command("page allow")
    assert (refused.status, refused.error) == (409, "unavailableCommand"), refused.body


ATTACKS = {
    "rebinding": ("GET", STATUS, {"Host": "evil.example"}, 421, "wrongHost"),
    "another port": ("GET", STATUS, {"Host": "127.0.0.1:1"}, 421, "wrongHost"),
    "no origin": ("POST", "/api/v1/start", {"Origin": None}, 403, "wrongOrigin"),
    "another site": ("POST", "/api/v1/start", {"Origin": "http://evil.example"}, 403, "wrongOrigin"),
    "a sandboxed page": ("POST", "/api/v1/start", {"Origin": "null"}, 403, "wrongOrigin"),
    "https of the same name": ("POST", "/api/v1/start", {"Origin": "https://127.0.0.1"}, 403, "wrongOrigin"),
    "a wrong key": ("GET", STATUS, {"Cookie": "tallycam-key=" + "0" * 64}, 401, "notPaired"),
    "half a key": ("GET", STATUS, {"Cookie": "tallycam-key=00"}, 401, "notPaired"),
    "the stored hash": ("GET", STATUS, {"Cookie": None, "Authorization": "Bearer HASH"}, 401, "notPaired"),
    "a key in the address": ("GET", STATUS + "?key=KEY", {"Cookie": None}, 401, "notPaired"),
    "a path out of the page": ("GET", "/../etc/passwd", {}, 400, "badRequest"),
    "an encoded path": ("GET", "/%2e%2e/%2e%2e/etc/passwd", {}, 400, "badRequest"),
    "another file of the card": ("GET", "/api/v1/files/events.txt", {}, 404, "unknownFile"),
    "a file by a path": ("GET", "/api/v1/files/..%2fstate%2fbrowsers", {}, 400, "badRequest"),
    "a method of no use": ("PUT", STATUS, {}, 405, "wrongMethod"),
    "a chunked body": ("POST", "/api/v1/commands", {"Transfer-Encoding": "chunked"}, 411, "badRequest"),
    "a socket of another site": ("GET", "/api/v1/preview", {"Upgrade": "websocket", "Connection": "Upgrade", "Origin": "http://evil.example"}, 403, "wrongOrigin"),
    "a long head": ("GET", STATUS, {"X-Long": "x" * 9000}, 431, "badRequest"),
    "two lengths": ("POST", "/api/v1/commands", {"Content-Length": "1, 2"}, 400, "badRequest"),
    "a split header": ("GET", "/api/v1/nothing%0d%0aSet-Cookie:x", {}, 400, "badRequest"),
}  # fmt: skip


def test_twenty_attacks_are_refused(camera):
    page = browser(camera)
    stored = (camera.state / "browsers").read_text().split()[0]
    for name, (method, path, headers, status, error) in ATTACKS.items():
        sent = {key: value and value.replace("HASH", stored) for key, value in headers.items()}
        answer = page.ask(method, path.replace("KEY", camera.key.hex()), headers=sent)
        assert (answer.status, answer.error) == (status, error), name
        assert "set-cookie" not in answer.headers
    assert camera.status()["isStreamWanted"] is False
    assert page.get(STATUS).status == 200


def allowed(ask) -> int:
    """The answers before the first refusal. Each further minute allows one more."""
    start, count = time.monotonic(), 0
    while (answer := ask()).status != 429:
        count += 1
        assert count <= 5 + (time.monotonic() - start) // 60
    assert int(answer.headers["retry-after"]) > 0
    return count


def test_attempts_are_limited(camera):
    stranger = browser(camera, is_paired=False)
    assert allowed(lambda: stranger.ask("POST", "/api/v1/pairing")) >= 5
    wrong = browser(camera, is_paired=False)
    wrong.cookies["tallycam-key"] = "1" * 64
    assert allowed(lambda: wrong.get(STATUS)) >= 5
    assert wrong.get("/").status == 200


def test_every_answer_protects_the_page(camera):
    page = browser(camera)
    for path in ("/", "/app.js", STATUS, "/api/v1/nothing", "/status", "/metrics"):
        headers = page.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'"), path
        assert "unsafe" not in headers["content-security-policy"] and "access-control-allow-origin" not in headers
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


def test_files_of_the_page_are_small_and_cached(camera):
    page = browser(camera, is_paired=False)
    plain_answer = page.get("/app.js")
    packed = page.ask("GET", "/app.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < len(plain_answer.body)
    again = page.ask("GET", "/app.js", headers={"If-None-Match": packed.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert sum(path.stat().st_size for path in (CHECKOUT / "Sources/CPage/page").iterdir()) < 150_000


def test_a_file_is_edited_without_showing_its_secret(camera):
    page = browser(camera)
    shown = page.get("/api/v1/files/stream.json")
    assert KEY not in shown.body.decode() and "(kept 1)" in shown.body.decode()
    edited = shown.body.replace(b"127.0.0.1:1/", b"127.0.0.1:2/")
    saved = page.ask("PUT", "/api/v1/files/stream.json", edited, {"If-Match": shown.headers["etag"]})
    assert saved.status == 200, saved.body
    assert json.loads((camera.boot / "stream.json").read_text()) == {"url": "rtmp://127.0.0.1:2/live", "key": KEY}
    # The other page still has the former version.
    late = page.ask("PUT", "/api/v1/files/stream.json", edited, {"If-Match": shown.headers["etag"]})
    assert (late.status, late.error) == (412, "changedMeanwhile")
    assert page.ask("PUT", "/api/v1/files/stream.json", edited).status == 428
    assert page.ask("PUT", "/api/v1/files/network.json", b"{}", {"If-None-Match": "*"}).status == 200
    assert camera.wait_until(lambda status: status["destination"].startswith("rtmp://127.0.0.1:2/"))


def test_a_faulty_file_is_not_saved(camera):
    page = browser(camera)
    tag = page.get("/api/v1/files/device.json").headers["etag"]
    before = (camera.boot / "device.json").read_bytes()
    for text, line, key in [(b'{"camera": }', 1, ""), (b'{\n"dimension": "big"}', 2, "dimension"), (b"\xff\xfe", 1, "")]:
        answer = page.ask("PUT", "/api/v1/files/device.json", text, {"If-Match": tag})
        assert (answer.status, answer.error) == (422, "invalidFile")
        assert (answer.json["faults"][0]["line"], answer.json["faults"][0]["key"]) == (line, key)
    assert page.ask("PUT", "/api/v1/files/device.json", b"x" * 70_000, {"If-Match": tag}).status == 413
    assert (camera.boot / "device.json").read_bytes() == before


def test_commands_and_events(camera):
    page = browser(camera)
    events = page.socket("/api/v1/events/live")
    assert events.status == 101
    refused = page.command("set zoom much")
    assert refused.status == 409 and refused.json["text"]
    assert page.ask("POST", "/api/v1/commands", b"[]").error == "noCommand"
    assert page.ask("POST", "/api/v1/stop").json["lines"]
    assert page.command("help").json["lines"]
    assert page.ask("POST", "/api/v1/start").status in (200, 409)
    assert events.read_json()["name"]


def test_recordings_are_listed_and_downloaded(children):
    camera = PagedAppliance(children, stream=STREAM, device={**DEVICE, "record": "command"})
    page = browser(camera)
    assert page.get("/api/v1/recordings").json["files"] == []
    assert page.command("record start").status == 200
    camera.wait_until(lambda status: status["recording"].get("file"))
    assert page.command("record stop").status == 200
    camera.wait_until(lambda status: status["recording"]["state"] == "off")
    listed = page.get("/api/v1/recordings").json
    (file,) = listed["files"]
    assert (listed["folder"], file["state"]) == (str(camera.state / "recordings"), "finished")
    path = f"/api/v1/recordings/{file['file']}"
    content = (camera.state / "recordings" / file["file"]).read_bytes()
    whole = page.get(path)
    assert (whole.status, whole.body) == (200, content) and whole.headers["content-type"] == "video/mp4"
    part = page.ask("GET", path, headers={"Range": "bytes=1000-"})
    assert (part.status, part.body) == (206, content[1000:])
    # A download that has broken off goes on, unless it is another file by now.
    tag = whole.headers["etag"]
    for condition, status in (tag, 206), ('"another"', 200):
        assert page.ask("GET", path, headers={"Range": "bytes=1000-", "If-Range": condition}).status == status
    assert page.ask("GET", path, headers={"Range": f"bytes={len(content)}-"}).status == 416
    assert page.get("/api/v1/recordings/browsers").status == 404
    journal = file["file"].replace(".mp4", ".jsonl")
    assert page.get(f"/api/v1/recordings/{journal}").status == 404


def test_metrics_are_accepted_by_prometheus(camera):
    text = browser(camera).get("/metrics").body
    check = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=HUNG)
    assert check.returncode == 0, check.stdout + check.stderr + text


def preview(page: Page) -> WebSocket:
    viewer = page.socket("/api/v1/preview")
    assert viewer.status == 101
    return viewer


def first_picture(viewer: WebSocket) -> tuple[dict, bytes, bytes]:
    """The start, the initialization segment and the first fragment."""
    while "init" not in (start := viewer.read_json()):
        pass
    return start["init"], viewer.read()[1], viewer.read()[1]


def test_the_camera_is_shown_without_a_stream_only_while_someone_looks(camera):
    page = browser(camera)
    viewer = preview(page)
    start, segment, fragment = first_picture(viewer)
    assert start["codecs"].startswith("avc1.") and (start["width"], start["height"]) == (320, 240)
    assert segment[4:8] == b"ftyp" and fragment[4:8] == b"moof"
    assert camera.status()["isStreamWanted"] is False
    other = preview(page)
    first_picture(other)
    third = preview(page)
    while (frame := third.read())[0] != 8:
        pass
    assert struct.unpack(">H", frame[1][:2]) == (1013,)
    viewer.close()
    other.close()
    camera.wait_until(lambda status: "sources" not in status)


def test_a_viewer_that_does_not_read_costs_the_stream_nothing(children):
    receiver = Receiver(children)
    camera = PagedAppliance(children, stream=plain(receiver.url()), device=DEVICE)
    page = browser(camera)
    assert page.ask("POST", "/api/v1/start").status == 200
    before = camera.wait_for("live")
    stuck = preview(page)
    good = preview(page)
    first_picture(good)
    with camera.lossless():
        for _ in range(150):
            good.read()
        status = camera.status()
        assert status["state"] in LIVE and status["videoFrames"] > before["videoFrames"], (before, status)
    stuck.close()
    assert page.command("status").status == 200


def test_half_open_connections_lock_nobody_out(camera):
    page = browser(camera)
    idle = []
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            idle.append(stack.enter_context(socket.create_connection(("127.0.0.1", page.port))))
        assert page.get(STATUS).status == 200
        idle[-1].sendall(b"GET / HT")
        assert page.get(STATUS).status == 200
    deadline = time.monotonic() + HUNG
    while page.get(STATUS).status != 200:
        assert time.monotonic() < deadline


def test_nothing_listens_when_the_page_is_off(children):
    camera = PagedAppliance(children, stream=STREAM)
    port = int(camera.page.rpartition(":")[2])
    camera.write("device", {**DEVICE, "page": False})
    deadline = time.monotonic() + HUNG
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                break
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert camera.console("status").startswith("ok\n")
