"""A camera that serves its page, and browsers that look at it."""

import contextlib
import hashlib
import http.client
import re
import secrets
import time

from appliance import Appliance
from browser import Browser
from processes import HUNG, Children

VIEWS = ["live", "picture", "recordings", "setup/stream", "setup/device", "setup/network", "setup/board", "setup/browsers", "setup/checkup"]


POOR_UPLINK = ("the link carries less than is sent", "nothing gets through")


class PagedAppliance(Appliance):
    """A camera with a page on a free port of the loopback. One browser's key is on its state partition from the start."""

    options = ("--page", "127.0.0.1:0")

    def __init__(self, children: Children, **files):
        self.key = secrets.token_bytes(32)
        state = children.directory / "state"
        state.mkdir(exist_ok=True)
        (state / "browsers").write_text(f"{hashlib.sha256(self.key).hexdigest()} 1795728000 A browser of the tests\n")
        super().__init__(children, **files)

    def start(self):
        """On its former port, if it had one: a page that is open finds the camera again."""
        process = super().start()
        self.options = ("--page", self.page.partition("://")[2])
        return process

    @property
    def page(self) -> str:
        """The page's address."""
        deadline = time.monotonic() + HUNG
        while not (found := re.search(r"the page is at (https?://\S+)", self.console("events 200"))):
            assert time.monotonic() < deadline, self.events()
            time.sleep(0.05)
        return found[1]

    def admit(self, browser: Browser) -> None:
        """Gives it the key that the camera already knows."""
        browser.open(f"{self.page}/icon.svg")
        browser.add_cookie("tallycam-key", self.key.hex())

    def press(self) -> None:
        """Admits the browser that waits, as a press of the button does."""
        answer = self.console("page allow")
        assert answer.startswith("ok\n"), answer

    def ask_as_browser(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """A request with the key: status, headers, and the text of the answer."""
        host = self.page.removeprefix("http://")
        sent = {"Cookie": f"tallycam-key={self.key.hex()}", "Origin": f"http://{host}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        with contextlib.closing(http.client.HTTPConnection(host, timeout=HUNG)) as connection:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()

    @contextlib.contextmanager
    def lossless(self):
        """No frame of the stream is dropped meanwhile. If the machine is too slow for the server, then the uplink looks poor: the
        events say so, and frames may be dropped."""
        before = self.wait_until(lambda status: "videoDropped" in status)["videoDropped"]
        yield
        status = self.wait_until(lambda status: "videoDropped" in status)
        events = self.console("events 200")
        assert status["videoDropped"] == before or any(reason in events for reason in POOR_UPLINK), f"{status}\n{events}"

    def show(self, browser: Browser, view: str = "live") -> None:
        """Opens a view of the page from the start."""
        browser.open("about:blank")
        browser.open(f"{self.page}/#{view}")
