"""A camera's lens: where it focuses while a stream is live, at a point of the frame or by hand. The scene's lowest fields are near,
the others farther away."""

import json
import re

import pytest
from encoder import Appliance
from live_controls import HEIGHT, WIDTH, Live, said
from pi_camera import nodes
from waiting import wait_until

pytestmark = [pytest.mark.takes(minutes=0.9, processors=0.45), pytest.mark.paced]


def test_the_lens_is_moved(pi_camera, nginx):
    live = Live(pi_camera, nginx, "lens")
    assert said(live.set("lens", "4"), r"\(([\d.]+) dioptres\)") == pytest.approx(4, abs=0.1)
    middle = live.look()
    assert said(live.set("lens", "8"), r"\(([\d.]+) dioptres\)") == pytest.approx(8, abs=0.1)
    near = live.look()
    shown = live.shown()
    for moment, sharp, soft in ((near, 11, 0), (middle, 0, 11)):
        assert shown[moment].field(0, sharp).spread > shown[moment].field(0, soft).spread + 3, moment


@pytest.mark.slow
def test_focus_follows_the_focus_point(pi_camera, nginx):
    live = Live(pi_camera, nginx, "focus")
    live.set("lens", "8")
    answer = live.set("focus", "auto")
    assert "focused" in answer and said(answer, r"([\d.]+) dioptres") == pytest.approx(4, abs=1)
    # A lens that stands still focuses there once.
    answer = live.set("focus-point", "0.5,0.9")
    assert "focused" in answer and said(answer, r"([\d.]+) dioptres") == pytest.approx(8, abs=1)
    live.shown()


@pytest.mark.slow
def test_a_focus_point_refers_to_the_flipped_frame(pi_camera, nginx):
    """Once the frame is upside down, its top shows the scene's lowest part."""
    live = Live(pi_camera, nginx, "flipped")
    live.set("flip", "on", "focus-point", "0.5,0.5")
    answer = live.set("focus-point", "0.5,0.1")
    assert said(answer, r"([\d.]+) dioptres") == pytest.approx(8, abs=1)
    live.shown()


class Browser:
    """A program in the guest that talks to the page of the camera, as a browser does."""

    host = "127.0.0.1:8080"

    def __init__(self, board):
        self.board = board
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, body: dict | None = None):
        """The answer's JSON, if it is not a refusal."""
        text = json.dumps(body or {})
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        lines = [f"{method} /api/v1/{path} HTTP/1.1", f"Host: {self.host}", f"Origin: http://{self.host}", f"Cookie: {cookies}",
                 f"Content-Length: {len(text)}", "Connection: close", "", text]  # fmt: skip
        answer = self.board.run(f"socat -t 20 - TCP:{self.host}", stdin="\r\n".join(lines).encode()).text
        head, _, content = answer.replace("\r", "").partition("\n\n")
        assert head.startswith("HTTP/1.1 2"), answer
        self.cookies |= dict(re.findall(r"(?im)^set-cookie: ([\w-]+)=(\w+)", head))
        return json.loads(content)


def test_a_tap_on_the_page_moves_the_lens(pi_camera, nginx):
    """With the request that the page sends for a tap, which a test in Chromium looks at (test_page_in_browser.py)."""
    appliance = Appliance(
        pi_camera, nginx, "tap", options=f"--page {Browser.host}", camera="back", dimension=f"{WIDTH}x{HEIGHT}",
        audio={"source": "none"})  # fmt: skip
    browser = Browser(pi_camera)
    assert browser.ask("POST", "pairing")["state"] == "waiting"
    assert "admitted" in appliance.ask("page allow")
    assert browser.ask("GET", "pairing")["state"] == "granted"
    appliance.live_with()
    # The lens has finished its initial search.
    appliance.wait(lambda status: status.get("sources", {}).get("sourceFrames", 0) > 60)
    node = next(path for name, path in nodes(pi_camera).items() if name.startswith("dw9807"))

    def position() -> int:
        """Where the driver's lens is, higher for what is nearer."""
        return int(pi_camera.run(f"v4l2-ctl -d {node} -C focus_absolute").text.split(":")[1])

    def control(name: str) -> dict:
        return next(control for control in browser.ask("GET", "controls") if control["name"] == name)

    def tap(point: str, dioptres: float) -> int:
        """Where the lens is when the search has found what is there. The answer may come before its last steps."""
        (line,) = browser.ask("POST", "commands", {"command": f"set focus-point {point}"})["lines"]
        assert line.startswith("focus-point ") and "focused" in line, line
        wait_until(
            lambda: said(control("lens")["reported"], r"([\d.]+) dioptres") == pytest.approx(dioptres, abs=1), 20,
            lambda: f"{line}; lens {control('lens')}")  # fmt: skip
        return position()

    near, middle = tap("0.5,0.9", 8), tap("0.5,0.5", 4)
    # At least two dioptres apart, each of which is 32 of the lens's steps.
    assert near > middle + 60
    offered = control("focus-point")
    # Around that point: left, top, width and height.
    assert offered["value"] == "0.4,0.4,0.2,0.2" and "missing" not in offered, offered
    appliance.stop()


def test_manual_focus_keeps_the_found_position(pi_camera, nginx):
    live = Live(pi_camera, nginx, "kept")
    live.set("flip", "on", "focus-point", "0.5,0.1")
    answer = live.set("flip", "off", "focus-point", "0.4,0.3,0.2,0.2")
    assert said(answer, r"([\d.]+) dioptres") == pytest.approx(4, abs=1)
    held = live.set("focus", "manual")
    assert said(held, r"([\d.]+) dioptres") == pytest.approx(said(answer, r"([\d.]+) dioptres"), abs=0.1)
    live.shown()


def test_a_focus_point_refers_to_the_visible_frame(pi_camera, nginx):
    """Zoomed in, the lowest part of the scene's upper half is far away, and that of the lower half is near."""
    live = Live(pi_camera, nginx, "point")
    live.set("lens", "6")
    live.set("zoom", "2", "zoom-center", "0.5,0.25")
    assert said(live.set("focus-point", "0.5,0.9"), r"([\d.]+) dioptres") == pytest.approx(4, abs=1)
    live.set("zoom-center", "0.5,0.75")
    assert said(live.set("focus-point", "0.5,0.9"), r"([\d.]+) dioptres") == pytest.approx(8, abs=1)
    live.stop()
