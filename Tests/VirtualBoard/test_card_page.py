"""The page of the shipped card: the one open port, and a browser that the board's button admits."""

import json

import pytest
from card import NAME, SMALL, server
from page_client import Page
from stalls import computing

pytestmark = pytest.mark.takes(minutes=0.5, processors=0.6)


def ports(board) -> set[int]:
    """The TCP ports that listen for others."""
    lines = board.run("cat /proc/net/tcp /proc/net/tcp6").text.splitlines()
    rows = [line.split() for line in lines if " 0A " in line]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if not row[1].startswith("0100007F:")}


def test_a_browser_is_admitted_by_the_button_and_steers_the_camera(ready_card, nginx):
    board = ready_card(SMALL, server(nginx.port))
    agent = 7001
    assert ports(board) - {agent} == {80}
    page = Page(board.page_port, host=board.run("hostname").text.strip() + ".local")
    assert page.get("/").status == 200
    assert page.get("/api/v1/status").status == 401
    asked = page.ask("POST", "/api/v1/pairing").json
    assert asked == {
        "state": "waiting", "seconds": 120, "code": asked["code"], "others": 0, "press": "press",
        "name": board.run("hostname").text.strip(),
    }  # fmt: skip
    # The address that people can open, not the one that stands for all.
    assert json.loads(board.run("tallycam status json").text)["page"][0] == f"http://{page.host}"
    board.wait_for_state("pairing", 20)
    board.click()
    board.wait_until("tallycam events 50 | grep -q 'is paired'", 20)
    assert page.get("/api/v1/pairing").json["state"] == "granted"
    assert page.get("/api/v1/status").json["state"] == "ready"
    assert page.ask("POST", "/api/v1/start").status == 200
    board.wait_for_state("live", 60)
    viewer = page.socket("/api/v1/preview")
    while "init" not in (start := viewer.read_json()):
        pass
    assert start["init"]["codecs"].startswith("avc1.")
    assert (viewer.read()[1][4:8], viewer.read()[1][4:8]) == (b"ftyp", b"moof")
    viewer.close()
    # While live one press would stop the stream, so two admit another browser.
    other = Page(board.page_port, host=page.host)
    assert other.ask("POST", "/api/v1/pairing").json["press"] == "doublePress"
    line = board._line("GPIO17")
    presses = f"echo pull-down >$(echo {line}/pull); sleep 0.12; echo pull-up >$(echo {line}/pull); sleep 0.12; " * 2
    board.run(f"({computing(0.6)}) & {presses} wait")
    board.wait_until("test $(tallycam events 50 | grep -c 'is paired') = 2", 20)
    assert other.get("/api/v1/pairing").json["state"] == "granted"
    assert other.get("/api/v1/status").json["state"] in ("live", "degraded")
    edited = page.get("/api/v1/files/stream.json")
    assert NAME not in edited.body.decode() and "(kept" in edited.body.decode()
    assert page.ask("POST", "/api/v1/stop").status == 200
    board.wait_for_state("ready", 30)
    board.edit("device.json", {**SMALL, "page": False})
    board.wait_until("! grep -q ':0050 .* 0A ' /proc/net/tcp", 20)
    assert ports(board) <= {agent}
