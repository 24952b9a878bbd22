"""Runs that take seconds of waiting and little work, side by side."""

import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from processes import Children, Process
from recording import Recording
from tallycam import TALLYCAM, events, start_publisher, wait_for_event

# As little work as a stream with video and audio can be.
SMALL = {"quality": "Low1", "dimension": "416x234"}


class FaultyReceiver:
    """`tallycam receive --fault ...`, recording each stream into a file of its own."""

    def __init__(self, children: Children, faults: list[str], name: str = "receive"):
        self.first_path = children.directory / f"{name}.flv"
        words = [word for fault in faults for word in ("--fault", fault)]
        self.process = children.start(name, [
            TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", self.first_path, "--events", "json", *words,
        ])  # fmt: skip
        self.address = wait_for_event(self.process, "listening")["address"]
        self.url = f"rtmp://{self.address}/live/x"

    def recordings(self) -> list[Recording]:
        """What came, stream by stream; the receiver is ended."""
        assert self.process.interrupt_and_wait() == 0, self.process.report()
        paths = [self.first_path]
        while (path := self.first_path.with_stem(f"{self.first_path.stem}-{len(paths) + 1}")).exists():
            paths.append(path)
        return [Recording(path) for path in paths]


def count_events(process: Process, name: str) -> int:
    return sum(event["name"] == name for event in events(process))


def wait_for_count(process: Process, name: str, count: int, timeout: float) -> None:
    process.wait_until(lambda: count_events(process, name) >= count, timeout, f"event '{name}' number {count}")


def seconds_to_end(process: Process, signal_number: int = signal.SIGTERM) -> float:
    """Asks the process to end; says how long that took."""
    assert process.running, process.report()
    start = time.monotonic()
    process.send(signal_number)
    process.wait(10)
    return time.monotonic() - start


class SideBySide:
    """Runs named functions in threads, each with processes and a directory of its own."""

    def __init__(self, directory: Path, workers: int):
        self.directory = directory
        self.pool = ThreadPoolExecutor(workers)
        self.runs: dict[str, tuple[Future, Children]] = {}

    def start(self, name: str, function, *arguments) -> None:
        directory = self.directory / name.replace(" ", "-")
        directory.mkdir()
        children = Children(directory)
        self.runs[name] = (self.pool.submit(self._run, function, children, *arguments), children)

    @staticmethod
    def _run(function, children: Children, *arguments):
        try:
            return function(children, *arguments)
        finally:
            children.end_all()

    def result(self, name: str):
        """What the run returned; what it raised is raised here, with what its processes said."""
        future, children = self.runs[name]
        try:
            return future.result(120)
        except BaseException as error:
            error.add_note(children.report())
            raise

    def end(self) -> None:
        self.pool.shutdown(cancel_futures=True)


def publish_small(children: Children, url: str, **options) -> Process:
    return start_publisher(children, url, **{**SMALL, **options})
