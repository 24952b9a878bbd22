"""Each view of the page on a phone and on a desk, in light and dark: accessible, and nothing too wide or too small."""

import functools
import subprocess
from pathlib import Path

import pytest
from appliance import DEVICE, plain
from browser import Chromium
from page import VIEWS, PagedAppliance
from tallycam import CHECKOUT, Receiver

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=3, processors=0.9)]

SIZES = {"phone": (390, 844), "desk": (1280, 800)}
AXE_RUN = """
const done = arguments[arguments.length - 1];
axe.run(document).then(({ violations }) => done(violations.map(({ id, help, nodes }) =>
  `${id}: ${help}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`)), (error) => done([String(error)]));
"""
# Links within sentences may be as small as their words.
SMALL = """
return [...document.querySelectorAll("button, a, input, select, summary")]
  .filter((element) => element.checkVisibility() && !element.closest("p, ol, .skip") && element.type !== "checkbox")
  .filter((element) => element.getBoundingClientRect().height < 43.5)
  .map((element) => element.outerHTML.slice(0, 100));
"""


@functools.cache
def axe() -> str:
    """axe-core, which finds what assistive technology stumbles over."""
    run = subprocess.run([CHECKOUT / "scripts/browser-root", "axe"], stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return Path(run.stdout.strip()).read_text()


@pytest.fixture(scope="module")
def browser(module_children):
    return Chromium(module_children)


@pytest.fixture(scope="module")
def camera(module_children):
    """Live to two servers, one of which cannot be reached, and recording."""
    receiver = Receiver(module_children)
    targets = [{"name": "main", **plain(receiver.url())}, {"name": "away", "url": "rtmp://127.0.0.1:9/x", "key": "x"}]
    network = {"hostName": "balcony", "wifi": [{"ssid": "Studio", "password": "a password"}]}
    camera = PagedAppliance(module_children, stream={"targets": targets}, device={**DEVICE, "record": "live"}, network=network)
    camera.ask("start")
    camera.wait_for("live")
    return camera


@pytest.fixture
def shown(camera, browser, request):
    """The browser with one view, as one kind of reader has it."""
    size, is_dark, view = request.param
    camera.admit(browser)
    browser.resize(*SIZES[size])
    browser.prefer(dark=is_dark, still=True)
    camera.show(browser, view)
    browser.control("Stop")
    settled = {"picture": "Mirror", "recordings": "recording", "setup/browsers": "A browser of the tests"}
    browser.wait_for_text(settled.get(view, "Live"))
    if view == "picture":
        browser.wait_for(lambda: browser.script("return document.querySelector('video')?.currentTime > 0"), "video")
        browser.wait_until_gone("Waiting for the picture")
    if view == "setup/checkup":
        browser.click("Check now")
        browser.wait_for_text("not checked")
    yield browser
    browser.screenshot(CHECKOUT / f"out/test/page/{size}-{'dark' if is_dark else 'light'}-{view.replace('/', '-')}.png")


EVERY_VIEW = pytest.mark.parametrize(
    "shown",
    [(size, is_dark, view) for size in SIZES for is_dark in (False, True) for view in VIEWS],
    indirect=True, ids=lambda parts: f"{parts[0]}-{'dark' if parts[1] else 'light'}-{parts[2]}",
)  # fmt: skip


@EVERY_VIEW
def test_a_view_is_accessible_and_fits(shown):
    shown.script(f"{axe()}\nwindow.axe = axe;")
    assert shown.script_later(AXE_RUN) == []
    assert shown.script(SMALL) == []
    assert shown.script("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("size", SIZES)
def test_pairing_is_accessible(children, browser, size):
    browser.resize(*SIZES[size])
    camera = PagedAppliance(children)
    browser.open(f"{camera.page}/")
    browser.click("Pair")
    browser.wait_for_text("Press the button on the camera")
    browser.script(f"{axe()}\nwindow.axe = axe;")
    assert browser.script_later(AXE_RUN) == []


def test_without_motion_the_lamp_does_not_blink(children, browser):
    camera = PagedAppliance(children, stream=plain("rtmp://127.0.0.1:9/live/x"))
    browser.prefer(still=True)
    camera.admit(browser)
    camera.wait_for("ready")
    camera.show(browser)
    browser.control("Start")
    lights = {browser.script("return document.querySelector('.lamp').dataset.light") for _ in range(30)}
    assert lights == {"half"}


def test_nothing_moves_while_the_page_loads(children, browser):
    """Layout shifts, as browsers count them, from the first byte to some seconds of numbers that change. Without faults: a
    new one may come first."""
    camera = PagedAppliance(children, stream=plain(Receiver(children).url()), device=DEVICE)
    browser.prefer()
    browser.resize(*SIZES["phone"])
    camera.admit(browser)
    camera.ask("start")
    camera.wait_for("live")
    camera.show(browser)
    browser.control("Stop")
    shift = browser.script_later("""
        const done = arguments[arguments.length - 1];
        let shift = 0;
        new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.hadRecentInput ? 0 : entry.value; })
          .observe({ type: "layout-shift", buffered: true });
        setTimeout(() => done(shift), 3000);""")
    assert shift < 0.1
