"""The whole device for an hour: `tallycam run` records all the time and publishes to two servers. Its memory and its descriptors
must not grow.

Started by `make soak-device`. It runs at real time, so a busy machine changes nothing. Ends with status 1 if something has grown.
"""

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
sys.path.insert(0, str(CHECKOUT / "Tests/Integration"))

from appliance import Appliance, plain  # noqa: E402
from processes import Children  # noqa: E402
from servers import NginxRTMP  # noqa: E402

# In the second half. The list of events fills in the first one, and arenas of the allocator are touched for the first time.
MOST_GROWTH_KB = 256
QUALITY = {"lowest": "Low3", "start": "Low3", "highest": "Low3"}
# Reports, as shares of the time.
TIMES = (1 / 12, 1 / 2, 1)
# Recordings are removed from an early time on, so that also this is repeated.
FILE_SECONDS, KEPT_MINUTES = 20, 2


@dataclass
class Sample:
    minutes: float
    resident: int
    # The program's own memory, in kB: heap, stacks and changed data.
    own: int
    descriptors: int
    threads: int
    recordings: int
    frames: tuple[int, ...]


def sample(camera: Appliance, folder: Path, minutes: float) -> Sample:
    place = Path(f"/proc/{camera.process.child.pid}")
    rollup = dict(line.split(":", 1) for line in (place / "smaps_rollup").read_text().splitlines()[1:])
    kilobytes = {name: int(rollup[name].split()[0]) for name in ("Rss", "Anonymous")}
    return Sample(
        minutes, kilobytes["Rss"], kilobytes["Anonymous"], len(os.listdir(place / "fd")), len(os.listdir(place / "task")),
        len(list(folder.glob("*.mp4"))), tuple(target["videoFrames"] for target in camera.status()["targets"]),
    )  # fmt: skip


def is_busy(status: dict) -> bool:
    """Both targets are live, and a file is being recorded."""
    return [target["state"] for target in status.get("targets", [])] == ["live", "live"] and "file" in status["recording"]


def run(directory: Path, minutes: float) -> list[Sample]:
    children, folder = Children(directory), directory / "kept"
    try:
        # Their recordings of an hour would fill a disk.
        nginx = NginxRTMP(children, directives="record off;")
        record = {"when": "always", "folder": str(folder), "fileSeconds": FILE_SECONDS, "minutes": KEPT_MINUTES}
        camera = Appliance(
            children, device={"camera": "synthetic", "dimension": "640x360", "quality": QUALITY, "record": record},
            stream={"targets": [{"name": name, **plain(nginx.url(name))} for name in ("main", "other")]},
        )  # fmt: skip
        camera.ask("start")
        camera.wait_until(is_busy)
        start, samples = time.monotonic(), []
        for share in TIMES:
            time.sleep(max(0, start + share * 60 * minutes - time.monotonic()))
            assert is_busy(camera.wait_until(is_busy))
            samples.append(sample(camera, folder, share * minutes))
            print(f"soak-device: {samples[-1]}", flush=True)
        events = camera.events()
        camera.process.interrupt_and_wait()
    finally:
        children.end_all()
    for word in ("failed", "reconnecting"):
        assert word not in events, events
    return samples


def table(samples: list[Sample]) -> str:
    lines = ["| after, minutes | resident, kB | its own, kB | descriptors | threads | recordings | frames sent |"]
    lines.append("|" + "---|" * 7)
    for one in samples:
        lines.append(
            f"| {one.minutes:g} | {one.resident} | {one.own} | {one.descriptors} | {one.threads} | {one.recordings} | "
            f"{', '.join(map(str, one.frames))} |"
        )
    return "\n".join(lines)


def judge(samples: list[Sample]) -> list[tuple[bool, str]]:
    first, middle, last = samples
    grown = last.own - middle.own
    return [
        (grown <= MOST_GROWTH_KB, f"its own memory has grown by {grown} kB in the second half; the goal is {MOST_GROWTH_KB} at most"),
        (last.descriptors <= first.descriptors, f"descriptors: {first.descriptors} at first, {last.descriptors} at the end; no more are allowed"),
        (last.threads <= first.threads, f"threads: {first.threads} at first, {last.threads} at the end; no more are allowed"),
        (all(b > a for a, b in zip(first.frames, last.frames)), "both servers got frames until the end"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak-device", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tallycam-soak-device-") as directory:
        samples = run(Path(directory), arguments.minutes)
    print(table(samples))
    verdicts = judge(samples)
    for is_met, text in verdicts:
        print(f"soak-device: {'met' if is_met else 'MISSED'}: {text}")
    return 0 if all(is_met for is_met, _ in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
