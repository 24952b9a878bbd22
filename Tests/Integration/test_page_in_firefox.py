"""The page in Firefox: what its engine could do differently from Chromium's."""

import pytest
from appliance import DEVICE, plain
from browser import Firefox
from page import PagedAppliance
from preview_delay import WatchedPreview
from tallycam import Receiver

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=1, processors=0.9)]

PLAYED = """
const video = document.querySelector("video");
return video ? [video.videoWidth, video.currentTime, video.getVideoPlaybackQuality().totalVideoFrames] : [0, 0, 0];
"""


@pytest.fixture(scope="module")
def browser(module_children):
    browser = Firefox(module_children)
    browser.resize(1280, 800)
    return browser


@pytest.fixture
def camera(children, browser):
    camera = PagedAppliance(children, stream=plain(Receiver(children).url()), device=DEVICE)
    camera.wait_for("ready")
    return camera


def test_a_press_lets_it_in(camera, browser):
    browser.open(f"{camera.page}/")
    browser.click("Pair")
    browser.wait_for_text("Press the button on the camera")
    camera.press()
    browser.control("Start")
    camera.show(browser, "setup/browsers")
    browser.wait_for_text("Firefox on Linux")


def test_it_goes_live_and_plays(camera, browser):
    camera.admit(browser)
    camera.show(browser, "picture")
    browser.wait_for(lambda: browser.script(PLAYED)[2] > 5, "frames without a stream")
    browser.click("Start")
    camera.wait_for("live")
    # Before the page knows, it stops without a question.
    browser.wait_for_text("The server has accepted the stream.")
    browser.wait_for(lambda: browser.script(PLAYED)[0] == 320, "frames of the stream")
    before = browser.script(PLAYED)[1]
    browser.wait_for(lambda: browser.script(PLAYED)[1] > before + 2, "two more seconds")
    browser.click("Stop")
    browser.click("End the stream")
    camera.wait_for("ready")


def test_the_preview_is_less_than_a_second_behind(camera, browser):
    """test_page_preview.py says why a busy machine does not make this fail."""
    camera.admit(browser)
    camera.ask("start")
    camera.wait_for("live")
    camera.show(browser, "picture")
    WatchedPreview(browser).wait_until_within(1)


def test_a_file_is_repaired_in_the_form(camera, browser):
    camera.admit(browser)
    url = camera.status()["destination"].removesuffix("/***")
    camera.write("stream", '{"url": "htp://nowhere/live", "key": "old"}')
    camera.wait_for("fault")
    camera.show(browser, "setup/stream")
    browser.type("Server address", url)
    browser.type("Stream key", "another")
    browser.click("Save")
    browser.wait_for_text("Saved")
    camera.wait_for("ready")
