"""The page's preview: how far Chromium and Firefox are behind the camera, and what viewers cost `tallycam run`.

Started by `make bench-page`. Delays are measured by the clock that the test pattern draws into its frames, beside a plain
WebSocket that shows nothing. Costs are processor time per frame sent and the program's own memory, with no viewer, one and two,
in turns within one run: a busy machine changes all of them alike. Ends with status 1 if a goal is missed.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
sys.path.insert(0, str(CHECKOUT / "Tests/Integration"))

from appliance import cpu_seconds, own_kilobytes, plain  # noqa: E402
from browser import Browser, Chromium, Firefox  # noqa: E402
from page import PagedAppliance  # noqa: E402
from page_client import Page  # noqa: E402
from preview_delay import PlainViewer, Shown, WatchedPreview, share  # noqa: E402
from processes import Children  # noqa: E402
from tallycam import Receiver  # noqa: E402

QUALITY = {"lowest": "Medium3", "start": "Medium3", "highest": "Medium3"}
DEVICE = {"camera": "synthetic", "dimension": "640x360", "quality": QUALITY}
PARTS = (0, 0.1, 0.5, 0.9, 0.99)
# For the median, in seconds.
DELAY_GOALS = {"Chromium": 0.3, "Firefox": 1}
MOST_GROWTH_KB = 4096
# Until a page has found the live edge and the stream its rates.
SETTLING = 10


@dataclass
class Cost:
    viewers: str
    seconds: float
    cpu: float
    page_cpu: float
    frames: int
    own: int

    @property
    def per_frame(self) -> float:
        return self.cpu / self.frames


def make_camera(directory: Path) -> tuple[Children, PagedAppliance]:
    children = Children(directory)
    camera = PagedAppliance(children, stream=plain(Receiver(children).url()), device=DEVICE)
    camera.ask("start")
    camera.wait_for("live")
    return children, camera


def client(camera: PagedAppliance) -> Page:
    return Page(int(camera.page.rpartition(":")[2]), {"tallycam-key": camera.key.hex()})


# Delays


def delays(kind: type[Browser], seconds: float) -> tuple[list[Shown], list[Shown]]:
    """The frames of the browser, and those of the plain viewer beside it."""
    with tempfile.TemporaryDirectory(prefix="tallycam-bench-page-") as directory:
        children, camera = make_camera(Path(directory))
        try:
            browser = kind(children)
            browser.resize(1280, 800)
            camera.admit(browser)
            camera.show(browser, "picture")
            watched = WatchedPreview(browser)
            beside = PlainViewer(client(camera))
            time.sleep(SETTLING)
            watched.take()
            start, frames = time.monotonic(), []
            while time.monotonic() < start + seconds:
                time.sleep(1)
                frames += watched.take()
            beside.end()
            return frames, [frame for frame in beside.frames() if frame.time >= start]
        finally:
            children.end_all()


def delay_row(name: str, frames: list[Shown]) -> str:
    values = " | ".join(f"{1000 * share(frames, part):.0f}" for part in PARTS)
    return f"| {name} | {values} | {len(frames)} |"


# Costs


def thread_seconds(camera: PagedAppliance, name: str) -> float:
    """Processor time of the thread with this name."""
    for thread in Path(f"/proc/{camera.process.child.pid}/task").iterdir():
        if (thread / "comm").read_text().strip() == name:
            return int((thread / "schedstat").read_text().split()[0]) / 1e9
    raise AssertionError(f"no thread {name}")


def measure(camera: PagedAppliance, viewers: str, seconds: float, present: list[PlainViewer]) -> Cost:
    time.sleep(3)
    before = (time.monotonic(), cpu_seconds(camera), thread_seconds(camera, "page"), camera.status()["videoFrames"])
    time.sleep(seconds)
    after = (time.monotonic(), cpu_seconds(camera), thread_seconds(camera, "page"), camera.status()["videoFrames"])
    status = camera.status()
    assert all(not viewer.is_closed for viewer in present)
    assert status["state"] in ("live", "degraded"), status
    differences = [b - a for a, b in zip(before, after)]
    return Cost(viewers, *differences, own=own_kilobytes(camera))


def costs(rounds: int, seconds: float) -> list[Cost]:
    with tempfile.TemporaryDirectory(prefix="tallycam-bench-page-") as directory:
        children, camera = make_camera(Path(directory))
        found = []
        try:
            time.sleep(SETTLING)
            for _ in range(rounds):
                for count in range(3):
                    viewers = [PlainViewer(client(camera)) for _ in range(count)]
                    found.append(measure(camera, str(count), seconds, viewers))
                    for viewer in viewers:
                        viewer.end()
            browser = Chromium(children)
            camera.admit(browser)
            camera.show(browser, "picture")
            browser.wait_for(lambda: browser.script("return document.querySelector('video')?.currentTime > 0"), "video")
            found.append(measure(camera, "Chromium", seconds, []))
            return found
        finally:
            children.end_all()


def summed(found: list[Cost], viewers: str) -> Cost:
    parts = [cost for cost in found if cost.viewers == viewers]
    sums = [sum(getattr(cost, name) for cost in parts) for name in ("seconds", "cpu", "page_cpu", "frames")]
    # Before the first viewer, or at most: what they took is not given back.
    own = [cost.own for cost in parts]
    return Cost(viewers, *sums, own=own[0] if viewers == "0" else max(own))


def cost_row(cost: Cost, without: Cost) -> str:
    return (
        f"| {cost.viewers} | {1000 * cost.per_frame:.2f} | {cost.per_frame / without.per_frame:.3f} | "
        f"{60 * cost.page_cpu / cost.seconds:.2f} | {cost.own} | {cost.own - without.own} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-page", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of the costs")
    arguments = parser.parse_args()
    verdicts = []
    print("| behind the camera, ms | least | 10 % | 50 % | 90 % | 99 % | frames |\n|" + "---|" * 7)
    for kind in (Chromium, Firefox):
        frames, beside = delays(kind, arguments.seconds)
        print(delay_row(kind.__name__, frames) + "\n" + delay_row("a WebSocket beside it", beside), flush=True)
        median, goal = share(frames, 0.5), DELAY_GOALS[kind.__name__]
        verdicts.append((median < goal, f"{kind.__name__} is {1000 * median:.0f} ms behind in the median; the goal is {1000 * goal:.0f}"))
    found = costs(arguments.rounds, arguments.seconds)
    rows = [summed(found, viewers) for viewers in ("0", "1", "2", "Chromium")]
    print("\n| viewers | CPU ms a frame | ratio | CPU s a minute of the thread `page` | own memory, kB | more than without |\n|" + "---|" * 6)
    for row in rows:
        print(cost_row(row, rows[0]))
    grown = rows[2].own - rows[0].own
    verdicts.append((grown <= MOST_GROWTH_KB, f"two viewers take {grown} kB; the goal is {MOST_GROWTH_KB} at most"))
    for is_met, text in verdicts:
        print(f"bench-page: {'met' if is_met else 'MISSED'}: {text}")
    return 0 if all(is_met for is_met, _ in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
