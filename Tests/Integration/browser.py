"""Headless Chromium and Firefox, driven as a person drives them: by the names that a page gives its controls.

Chromium is driven through chromedriver, Firefox by Marionette, its own port. Both take the commands of WebDriver
(https://www.w3.org/TR/webdriver2/)."""

import base64
import functools
import json
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from processes import HUNG, Children, Process
from tallycam import CHECKOUT

# In namespaces of their own, so that all of a browser's processes end with the first. Its sandbox needs more than a chroot
# offers. The folder of the test is its /tmp.
ENTER = """
set -eu
root=$1; shift
for directory in sys dev; do mount --rbind "/$directory" "$root/$directory"; done
mount -t proc proc "$root/proc"
mount --bind "$PWD" "$root/tmp"
exec env -i PATH=/usr/sbin:/usr/bin HOME=/tmp LC_ALL=C.UTF-8 MOZ_DISABLE_CONTENT_SANDBOX=1 MOZ_DISABLE_SOCKET_PROCESS_SANDBOX=1 \\
    MOZ_DISABLE_RDD_SANDBOX=1 MOZ_DISABLE_UTILITY_SANDBOX=1 MOZ_DISABLE_GPU_SANDBOX=1 chroot "$root" "$@"
"""
UNSHARE = ["unshare", "--mount", "--propagation", "unchanged", "--pid", "--fork", "--kill-child"]
CHROMIUM = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--autoplay-policy=no-user-gesture-required", "--lang=en-US",
    # A test looks at a page that no person sees.
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
]  # fmt: skip
FIREFOX = {
    "marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False, "toolkit.telemetry.reportingpolicy.firstRun": False, "media.autoplay.default": 0,
    "browser.startup.homepage_override.mstone": "ignore", "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "intl.accept_languages": "en-US", "security.sandbox.content.level": 0,
}  # fmt: skip
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " ", "Left": "\ue012", "Right": "\ue014"}

# All visible controls with this name: the text of a button or link, the label of an input, or the aria-label.
NAMED = """
const [wanted, within] = arguments;
const words = (element) => (element?.textContent ?? "").replace(/\\s+/g, " ").trim();
const name = (element) => element.getAttribute("aria-label") ?? (words(element.labels?.[0]) || words(element));
const place = within ? document.querySelector(within) : document;
return [...place?.querySelectorAll("button, a, input, select, textarea, summary") ?? []]
  .filter((element) => element.checkVisibility() && name(element) === wanted);
"""


class BrowserError(Exception):
    """A command that the browser refused. The first word is WebDriver's code."""


class Browser:
    """A page that is driven and looked at."""

    def __init__(self, process: Process):
        self.process = process

    def call(self, method: str, path: str, **parameters):
        """A command of WebDriver, in its form over HTTP."""
        raise NotImplementedError

    def resize(self, width: int, height: int) -> None:
        raise NotImplementedError

    def prefer(self, *, dark: bool = False, still: bool = False) -> None:
        """What the reader has chosen in the system: dark colors, no motion."""
        raise NotImplementedError

    # Looking.

    def open(self, address: str) -> None:
        self.call("POST", "url", url=address)

    def add_cookie(self, name: str, value: str) -> None:
        """For the site that is open."""
        cookie = {"name": name, "value": value, "path": "/", "httpOnly": True, "sameSite": "Strict"}
        self.call("POST", "cookie", cookie=cookie)

    def script(self, text: str, *arguments):
        """The value that a function body returns."""
        return self.call("POST", "execute/sync", script=text, args=list(arguments))

    def script_later(self, text: str, *arguments):
        """The same for a body that calls its last argument with the value."""
        return self.call("POST", "execute/async", script=text, args=list(arguments))

    def screenshot(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.call("GET", "screenshot")))
        return path

    @property
    def text(self) -> str:
        """All that can be read on the page now."""
        return self.script("return document.body.innerText")

    def wait_for(self, condition, what: str):
        """Waits until it gives something true, and returns that."""
        found = []

        def holds() -> bool:
            found[:] = [condition()]
            return bool(found[0])

        try:
            self.process.wait_until(holds, what, interval=0.1)
        except Exception as unfinished:
            raise AssertionError(f"{unfinished}\nthe page:\n{self.text}") from None
        return found[0]

    def wait_for_text(self, text: str) -> None:
        self.wait_for(lambda: text in self.text, f"text '{text}' on the page")

    def wait_until_gone(self, text: str) -> None:
        self.wait_for(lambda: text not in self.text, f"end of text '{text}' on the page")

    # Steering.

    def control(self, name: str, within: str | None = None):
        """The visible control with this name, waited for. `within` is a selector, where several have it."""
        return self.wait_for(lambda: self.script(NAMED, name, within), f"control '{name}'")[0]

    def click(self, name: str, within: str | None = None) -> None:
        element = self.control(name, within)
        # WebDriver scrolls just so far that a sticky bar can cover the control.
        self.script("arguments[0].scrollIntoView({ block: 'center' })", element)
        self.call("POST", f"element/{element[ELEMENT]}/click")

    def type(self, name: str, text: str, within: str | None = None) -> None:
        """Replaces what an input holds, and leaves it."""
        element = self.control(name, within)
        self.script("arguments[0].scrollIntoView({ block: 'center' }); arguments[0].focus(); arguments[0].select()", element)
        self.call("POST", f"element/{element[ELEMENT]}/value", text=text)
        self.script("document.activeElement.blur()")

    def choose(self, name: str, words: str, within: str | None = None) -> None:
        """An option of a select."""
        chosen = self.script(
            "const option = [...arguments[0].options].find((option) => option.textContent === arguments[1]);"
            "if (!option) return false; arguments[0].value = option.value;"
            "arguments[0].dispatchEvent(new Event('change', { bubbles: true })); return true;",
            self.control(name, within), words,
        )  # fmt: skip
        assert chosen, f"'{name}' has no option '{words}'"

    def press(self, *keys: str) -> None:
        """Keys of the keyboard, one after the other: a name of `KEYS` or a character."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("POST", "actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def double_click(self, name: str) -> None:
        """Two clicks of the mouse, quicker than anything that the first one starts."""
        point = self.script(
            "const element = arguments[0]; element.scrollIntoView({ block: 'center' }); const box = element.getBoundingClientRect();"
            "return { x: Math.round(box.left + box.width / 2), y: Math.round(box.top + box.height / 2) };", self.control(name),
        )  # fmt: skip
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        actions = [{"type": "pointerMove", "duration": 0, "origin": "viewport", **point}, *press, *press]
        self.call("POST", "actions", actions=[{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}])

    def touch(self, selector: str, x: float, y: float) -> None:
        """Touches an element at a part of its width and height."""
        box = self.script(
            "const element = document.querySelector(arguments[0]); element.scrollIntoView({ block: 'center' });"
            "const box = element.getBoundingClientRect(); return [box.left, box.top, box.width, box.height];", selector,
        )  # fmt: skip
        point = {"x": round(box[0] + x * box[2]), "y": round(box[1] + y * box[3])}
        actions = [{"type": "pointerMove", "duration": 0, "origin": "viewport", **point}, {"type": "pointerDown", "button": 0}]
        actions.append({"type": "pointerUp", "button": 0})
        pointer = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": actions}
        self.call("POST", "actions", actions=[pointer])


def started_chromedriver(children: Children) -> tuple[Process, str]:
    """The process and its port. It takes a port that is free with IPv6, and ends if the same one is in use with IPv4."""
    started, refused = "started successfully on port ", "port not available"
    command = [*UNSHARE, "sh", "-c", ENTER, "sh", browser_root("chromium"), "/usr/bin/chromedriver", "--port=0", "--log-level=SEVERE"]
    for _ in range(20):
        process = children.start("chromedriver", command)
        process.wait_until(lambda: started in process.stdout or refused in process.stdout, "port of chromedriver")
        if started in process.stdout:
            return process, process.stdout.partition(started)[2].split(".")[0]
    raise BrowserError(f"chromedriver found no port that is free with IPv4, too\n{process.report()}")


class Chromium(Browser):
    def __init__(self, children: Children):
        process, port = started_chromedriver(children)
        super().__init__(process)
        self.address = f"http://127.0.0.1:{port}/session"
        options = {"binary": "/usr/lib/chromium/chromium", "args": CHROMIUM}
        # As a person who has seen the warning and goes on.
        capabilities = {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}, "acceptInsecureCerts": True,
        }}  # fmt: skip
        session = self._ask("POST", self.address, {"capabilities": capabilities})
        self.address += f"/{session['sessionId']}"

    def call(self, method, path, **parameters):
        return self._ask(method, f"{self.address}/{path}", parameters if method == "POST" else None)

    def _ask(self, method: str, address: str, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=HUNG) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise BrowserError(f"{value['error']}: {value['message']}") from None

    def devtools(self, command: str, **parameters):
        return self.call("POST", "goog/cdp/execute", cmd=command, params=parameters)

    def resize(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def prefer(self, *, dark=False, still=False):
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
        ])  # fmt: skip

    def complaints(self) -> list[str]:
        """What the browser's console has since the last call: errors of scripts and of the content security policy."""
        entries = self.call("POST", "se/log", type="browser")
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]


class Firefox(Browser):
    def __init__(self, children: Children):
        profile = Path(tempfile.mkdtemp(prefix="firefox-", dir=children.directory))
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in FIREFOX.items()]
        (profile / "user.js").write_text("\n".join(lines))
        command = ["/usr/lib/firefox-esr/firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", f"/tmp/{profile.name}"]
        super().__init__(children.start("firefox", [*UNSHARE, "sh", "-c", ENTER, "sh", browser_root("firefox"), *command]))
        port = profile / "MarionetteActivePort"
        self.process.wait_until(lambda: port.exists() and port.read_text().strip(), "port of Firefox")
        self.connection = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=HUNG)
        self.reader = self.connection.makefile("rb")
        self._message()
        self.number = 0
        self._ask("WebDriver:NewSession", {"strictFileInteractability": True})

    # WebDriver's paths, and the names of the same commands in Marionette.
    COMMANDS = {
        "url": "Navigate", "execute/sync": "ExecuteScript", "execute/async": "ExecuteAsyncScript", "screenshot": "TakeScreenshot",
        "actions": "PerformActions", "window/rect": "SetWindowRect", "cookie": "AddCookie", "click": "ElementClick", "value": "ElementSendKeys",
    }  # fmt: skip

    def call(self, method, path, **parameters):
        if path.startswith("element/"):
            _, parameters["id"], path = path.split("/")
        if path == "screenshot":
            parameters["full"] = False
        answer = self._ask(f"WebDriver:{self.COMMANDS[path]}", parameters)
        return answer.get("value") if isinstance(answer, dict) else answer

    def _ask(self, command: str, parameters: dict):
        self.number += 1
        data = json.dumps([0, self.number, command, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(data), data))
        _, _, error, value = self._message()
        if error:
            raise BrowserError(f"{error['error']}: {error['message']}")
        return value

    def _message(self):
        length = b""
        while (byte := self.reader.read(1)) != b":":
            if not byte:
                raise BrowserError("closed: Firefox has ended the connection")
            length += byte
        return json.loads(self.reader.read(int(length)))

    def resize(self, width, height):
        # The window has no borders of its own when nobody sees it, but a bar above the page.
        inner = self.script("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self.call("POST", "window/rect", width=width + inner[0], height=height + inner[1])

    def prefer(self, *, dark=False, still=False):
        self._ask("Marionette:SetContext", {"value": "chrome"})
        self.script(
            "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0]);"
            "Services.prefs.setIntPref('ui.prefersReducedMotion', arguments[1]);", 0 if dark else 1, int(still),
        )  # fmt: skip
        self._ask("Marionette:SetContext", {"value": "content"})


@functools.cache
def browser_root(name: str) -> str:
    """Created by the first test on this machine that needs it."""
    run = subprocess.run([CHECKOUT / "scripts/browser-root", name], stdout=subprocess.PIPE, text=True, check=True, timeout=900)
    return run.stdout.strip()
