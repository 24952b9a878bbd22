"""The page in Chromium, against a running camera: what a person does with it."""

import json

import pytest
from appliance import DEVICE, plain
from browser import Chromium
from created_files import Creations
from page import PagedAppliance
from tallycam import Receiver

pytestmark = pytest.mark.takes(minutes=2, processors=0.8)

PLAYED = """
const video = document.querySelector("video");
return video ? { seconds: video.currentTime, width: video.videoWidth, frames: video.getVideoPlaybackQuality().totalVideoFrames } : null;
"""


@pytest.fixture(scope="module")
def receiver(module_children):
    return Receiver(module_children)


@pytest.fixture(scope="module")
def browser(module_children):
    browser = Chromium(module_children)
    browser.resize(390, 844)
    return browser


@pytest.fixture
def camera(children, receiver, browser):
    """Ready to go live, with the browser paired."""
    camera = PagedAppliance(children, stream=plain(receiver.url()), device=DEVICE)
    camera.admit(browser)
    camera.wait_for("ready")
    yield camera
    complaints = [text for text in browser.complaints() if "Content Security Policy" in text or "Uncaught" in text]
    assert not complaints


def fields(browser) -> dict[str, str]:
    """What the page says is sent."""
    return browser.script(
        "return Object.fromEntries([...document.querySelectorAll('.facts > div')].map((row) => [...row.children].map((part) => part.innerText)))"
    )


def read(camera, name: str) -> dict:
    return json.loads((camera.boot / f"{name}.json").read_text())


# Pairing


def test_a_press_lets_a_browser_in(children, browser):
    camera = PagedAppliance(children, network={"hostName": "balcony"})
    browser.open(f"{camera.page}/")
    browser.wait_for_text("Pair this browser")
    assert "balcony" in browser.text and "Start" not in browser.text
    browser.click("Pair")
    browser.wait_for_text("Press the button on the camera")
    camera.wait_for("pairing")
    camera.press()
    browser.control("Start")
    camera.show(browser, "setup/browsers")
    browser.wait_for_text("Chrome on Linux")
    assert "this browser" in browser.text


def test_over_https_a_browser_is_let_in_and_shows_the_picture(children, receiver, browser):
    camera = PagedAppliance(children, stream=plain(receiver.url()), device={**DEVICE, "page": "https"})
    browser.open(f"{camera.page}/")
    assert camera.page.startswith("https://")
    browser.click("Pair")
    camera.wait_for("pairing")
    camera.press()
    browser.click("Start")
    camera.wait_for("live")
    camera.show(browser, "picture")
    browser.wait_for(lambda: (browser.script(PLAYED) or {}).get("frames", 0) > 5, "frames of the preview")
    complaints = [text for text in browser.complaints() if "Content Security Policy" in text or "Uncaught" in text]
    assert not complaints


def test_while_live_two_presses_are_asked_for(children, receiver, browser):
    """The press itself: test_card_page.py on the board."""
    camera = PagedAppliance(children, stream=plain(receiver.url()), device=DEVICE)
    camera.ask("start")
    camera.wait_for("live")
    browser.open(f"{camera.page}/")
    browser.click("Pair")
    browser.wait_for_text("Press the button twice")
    assert "a single press would stop it" in browser.text
    seconds = camera.status()["liveSeconds"]
    camera.press()
    browser.control("Stop")
    # The stream went on.
    status = camera.wait_for("live")
    assert status["liveSeconds"] >= seconds and status["isStreamWanted"]


def test_a_browser_that_is_removed_has_to_pair_again(camera, browser):
    camera.show(browser, "setup/browsers")
    browser.click("Unpair: A browser of the tests")
    browser.click("Unpair", within="dialog")
    browser.wait_for_text("Pair this browser")
    assert camera.ask_as_browser("GET", "/api/v1/status")[0] == 401


# Live


def test_it_goes_live_and_asks_before_the_end(camera, browser):
    camera.show(browser)
    browser.click("Start")
    camera.wait_for("live")
    browser.wait_for(lambda: fields(browser)["Frame size"] == "320×240", "size of the frames")
    assert fields(browser)["Encoder"] == "Software"
    # Where the server gets too little processor time, the quality is lower for a while, and the lamp blinks.
    light = "return document.querySelector('.lamp').dataset.light"
    browser.wait_for(lambda: fields(browser)["Quality"] == "Low3" and browser.script(light) == "lit", "full quality, lit lamp")
    browser.click("Stop")
    browser.click("Keep streaming")
    assert camera.status()["isStreamWanted"]
    browser.click("Stop")
    browser.click("End the stream")
    camera.wait_for("ready")
    browser.control("Start")


def test_each_server_is_switched_by_itself(children, receiver, browser):
    other = Receiver(children)
    targets = [{"name": "main", **plain(receiver.url())}, {"name": "studio", **plain(other.url())}]
    camera = PagedAppliance(children, stream={"targets": targets}, device=DEVICE)
    camera.admit(browser)
    camera.ask("start")
    camera.wait_until(lambda status: [target["state"] for target in status.get("targets", [])] == ["live", "live"])
    camera.show(browser)
    browser.wait_for_text(" arrived")
    browser.click("Send to studio")
    camera.wait_until(lambda status: status["targets"][1]["state"] == "off")
    browser.wait_for(lambda: not browser.script("return arguments[0].checked", browser.control("Send to studio")), "switch that is off")


def test_a_camera_that_does_not_answer_is_found_again(camera, browser):
    camera.show(browser)
    browser.control("Start")
    camera.process.kill()
    browser.wait_for_text("Trying again in")
    camera.process = camera.start()
    browser.wait_until_gone("Trying again in")
    camera.wait_for("ready")
    browser.click("Start")
    camera.wait_for("live")


def test_a_refused_start_is_told_in_the_cameras_words(camera, browser):
    camera.show(browser)
    browser.control("Start")
    camera.write("stream", {"url": "rtmp://127.0.0.1/x", "key": "x", "disabled": True})
    camera.wait_for("fault")
    browser.click("Start")
    browser.wait_for_text("stream.json is missing or wrong")


# Picture


def test_the_preview_plays_with_and_without_a_stream(camera, browser):
    camera.show(browser, "picture")
    browser.wait_for(lambda: (browser.script(PLAYED) or {}).get("frames", 0) > 5, "frames without a stream")
    camera.ask("start")
    camera.wait_for("live")
    browser.wait_for(lambda: (browser.script(PLAYED) or {}).get("width") == 320, "frames of the stream")
    before = browser.script(PLAYED)["seconds"]
    browser.wait_for(lambda: browser.script(PLAYED)["seconds"] > before + 2, "two more seconds")


def test_controls_are_set(camera, browser):
    camera.ask("start")
    camera.wait_for("live")
    camera.show(browser, "picture")
    browser.click("Mirror", within=".controls")
    assert_control(camera, browser, "mirror", "on")
    browser.click("Mute all sound")
    camera.wait_until(lambda status: status["muted"])
    browser.click("Change text")
    browser.type("Text", 'He said "hi", a=b', within=".overlays details")
    browser.click("Apply: Text")
    browser.wait_for(lambda: r'text="He said \"hi\", a=b"' in camera.console("settings"), "filter")


def assert_control(camera, browser, name: str, value: str) -> None:
    def holds() -> bool:
        controls = json.loads(camera.console("controls json").removeprefix("ok\n"))
        return next(control for control in controls if control["name"] == name).get("value") == value

    browser.wait_for(holds, f"control {name} with {value}")


def test_a_tap_asks_for_focus_there(camera, browser):
    """The test pattern has no lens: the page is told that there is one, and the camera refuses it."""
    script = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source="""
        const fetched = window.fetch.bind(window);
        window.sent = [];
        window.fetch = async (address, options) => {
            if (options?.body) window.sent.push(options.body);
            const answer = await fetched(address, options);
            if (!String(address).endsWith("/controls") || !answer.ok) return answer;
            const controls = await answer.json();
            controls.forEach((control) => { if (control.name === "focus-point") delete control.missing; });
            return new Response(JSON.stringify(controls), answer);
        };""")  # fmt: skip
    camera.ask("start")
    camera.wait_for("live")
    camera.show(browser, "picture")
    browser.wait_for_text("Tap the picture to focus there.")
    browser.wait_for(lambda: (browser.script(PLAYED) or {}).get("width") == 320, "frames of the stream")
    browser.touch(".stage", 0.25, 0.75)
    commands = browser.wait_for(lambda: [text for text in browser.script("return sent") if "focus-point" in text], "command")
    x, y = json.loads(commands[0])["command"].removeprefix("set focus-point ").split(",")
    # The frame of 4:3 has black beside it in the stage of 16:9.
    assert abs(float(x) - 1 / 6) < 0.02 and abs(float(y) - 0.75) < 0.02
    browser.wait_for_text("the test pattern is not a camera")
    browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


# Recordings


def test_a_recording_is_made_marked_and_downloaded(camera, browser):
    camera.show(browser, "recordings")
    browser.wait_for_text("No recordings yet.")
    browser.click("Start recording")
    camera.wait_until(lambda status: status["recording"]["state"] == "recording")
    browser.wait_for_text("being written")
    browser.type("Note for this moment", "first words")
    browser.click("Mark")
    browser.wait_for_text("Close")
    browser.click("Stop recording")
    camera.wait_until(lambda status: status["recording"]["state"] == "off")
    browser.wait_for_text("first words")
    # The address and not the element, which the page may replace at any time.
    link = browser.wait_for(lambda: browser.script("return document.querySelector('.recordings a')?.href"), "link to the file")
    head = browser.script_later(
        "const [link, done] = arguments; fetch(link).then((answer) => answer.arrayBuffer())"
        ".then((bytes) => done(new TextDecoder().decode(bytes.slice(4, 8))), (error) => done(String(error)))", link,
    )  # fmt: skip
    assert head == "ftyp"


# Set-up


def test_a_broken_stream_file_is_repaired_in_the_form(children, receiver, browser):
    camera = PagedAppliance(children, stream='{"url": "htp://nowhere/live", "key": "old"}', device=DEVICE)
    camera.admit(browser)
    camera.show(browser)
    browser.wait_for_text("stream.json is missing or wrong")
    browser.click("stream settings")
    stream = plain(receiver.url())
    browser.type("Server address", stream["url"])
    browser.type("Stream key", stream["key"])
    browser.click("Save")
    browser.wait_for_text("Saved")
    assert read(camera, "stream") == stream
    camera.wait_for("ready")
    # What is stored is never shown.
    camera.show(browser, "setup/stream")
    browser.click("Text")
    text = browser.script("return arguments[0].value", browser.control("Text of stream.json"))
    assert "(kept" in text and stream["key"] not in text
    browser.click("Start")
    camera.wait_for("live")


def test_a_double_click_saves_once(camera, browser):
    """The second request would be refused, since the file has changed by then."""
    camera.show(browser, "setup/device")
    browser.choose("Two short presses", "Mute")
    creations = Creations(camera.boot)
    browser.double_click("Save")
    browser.wait_for_text("Saved")
    assert read(camera, "device") == {**DEVICE, "doublePress": "mute"}
    assert creations.count(".device.json") == 1, creations.names
    assert "changed this file" not in browser.text


def test_a_stored_key_is_kept_when_another_value_changes(camera, browser):
    key = read(camera, "stream")["key"]
    camera.show(browser, "setup/stream")
    browser.type("Server address", "rtmp://127.0.0.1:9/other")
    browser.click("Save")
    browser.wait_for_text("Saved")
    assert read(camera, "stream") == {"url": "rtmp://127.0.0.1:9/other", "key": key}


def test_a_fault_is_shown_at_its_line(camera, browser):
    camera.show(browser, "setup/device")
    browser.click("Text")
    browser.type("Text of device.json", '{\n  "camera": "synthetic",\n  "dimension": "wide"\n}')
    browser.click("Save")
    browser.wait_for_text("Line 3, dimension")
    assert read(camera, "device") == DEVICE
    fault = browser.script("return document.querySelector('.fault-link')")
    browser.script("arguments[0].click()", fault)
    area = browser.control("Text of device.json")
    selected = browser.script("return arguments[0].value.slice(arguments[0].selectionStart, arguments[0].selectionEnd)", area)
    assert selected.strip().startswith('"wide"')


def test_two_pages_that_edit_one_file_are_told(camera, browser):
    camera.show(browser, "setup/device")
    browser.choose("Two short presses", "Mute")
    _, headers, text = camera.ask_as_browser("GET", "/api/v1/files/device.json")
    theirs = json.dumps({**json.loads(text), "torch": "off"})
    status, _, answer = camera.ask_as_browser("PUT", "/api/v1/files/device.json", theirs, If_Match=headers["ETag"])
    assert status == 200, answer
    browser.click("Save")
    browser.wait_for_text("Somebody else has changed this file")
    assert read(camera, "device") == json.loads(theirs)
    browser.click("Keep mine")
    browser.click("Save")
    browser.wait_for_text("Saved")
    assert read(camera, "device") == {**DEVICE, "doublePress": "mute"}


def test_the_check_up_names_what_to_do(camera, browser):
    camera.write("stream", None)
    camera.wait_for("fault")
    camera.show(browser, "setup/checkup")
    browser.click("Check now")
    browser.wait_for_text("1 problem (card)")
    assert "Next: repair or replace the file" in browser.text


# Without a mouse


def test_the_keyboard_reaches_the_main_action_first(camera, browser):
    camera.show(browser)
    browser.control("Start")
    browser.press("Tab")
    assert browser.script("return document.activeElement.textContent") == "Skip to content"
    browser.press("Tab")
    assert browser.script("return document.activeElement.textContent") == "Start"
    browser.press("Enter")
    camera.wait_for("live")
    # The question has the focus until it is answered, and gives it back.
    browser.wait_for(lambda: fields(browser)["Frame size"] == "320×240", "size of the frames")
    assert browser.script("return document.activeElement.textContent") == "Stop"
    browser.press("Enter")
    browser.control("Keep streaming")
    browser.press("Escape")
    assert browser.script("return document.activeElement.textContent") == "Stop"
    assert camera.status()["isStreamWanted"]
