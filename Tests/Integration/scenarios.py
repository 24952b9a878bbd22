"""Runs that mostly wait and need little work, in parallel."""

import signal
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from processes import HUNG, Children, Process
from recording import Recording
from tallycam import TALLYCAM, events, start_publisher, wait_for_event

# The least work for a stream with video and audio.
SMALL = {"quality": "Low1", "dimension": "416x234"}
# A stop must not wait for anything: half of the time that `PATIENT` allows each connection step.
STOP_SECONDS = 30
# The program's own limit, 5 s.
USUAL_LIMITS = {"connect_timeout": None, "handshake_timeout": None}


class FaultyReceiver:
    """`tallycam receive --fault ...`, recording each stream into a separate file."""

    def __init__(self, children: Children, faults: list[str], name: str = "receive"):
        self.first_path = children.directory / f"{name}.flv"
        words = [word for fault in faults for word in ("--fault", fault)]
        self.process = children.start(name, [
            TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", self.first_path, "--events", "json", *words,
        ])  # fmt: skip
        self.address = wait_for_event(self.process, "listening")["address"]
        self.url = f"rtmp://{self.address}/live/x"

    def recordings(self) -> list[Recording]:
        """The received streams; ends the receiver."""
        assert self.process.interrupt_and_wait() == 0, self.process.report()
        return [Recording(path) for path in self.paths()]

    def paths(self) -> list[Path]:
        """The files of the streams so far; the first one may not exist yet."""
        paths = [self.first_path]
        while (path := self.first_path.with_stem(f"{self.first_path.stem}-{len(paths) + 1}")).exists():
            paths.append(path)
        return paths


def count_events(process: Process, name: str) -> int:
    return sum(event["name"] == name for event in events(process))


def wait_for_count(process: Process, name: str, count: int) -> None:
    process.wait_until(lambda: count_events(process, name) >= count, f"event '{name}' number {count}")


def end_at_once(process: Process, signal_number: int = signal.SIGTERM) -> None:
    """Asks the process to end, which must not wait for a server, network or file. LiveStreamTests and ConnectionThreadTests
    show in virtual time that it takes less than a second."""
    assert process.running, process.report()
    process.send(signal_number)
    assert process.wait(STOP_SECONDS) == 0, process.report()


class SideBySide:
    """Runs named functions in threads, each with its own processes and directory."""

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
        """The result of the run. Its exception is raised here, together with the output of its processes."""
        future, children = self.runs[name]
        try:
            # Other runs may have to finish first.
            return future.result(5 * HUNG)
        except BaseException as error:
            error.add_note(children.report())
            raise

    def end(self) -> None:
        self.pool.shutdown(cancel_futures=True)


def run_selected(request, directory: Path, function) -> SideBySide:
    """For a fixture of module scope: runs `function(children, case)` for each case of the selected tests that use the fixture.
    They mostly wait."""
    runs = SideBySide(directory, workers=8)
    for item in request.session.items:
        if item.path == request.path and request.fixturename in item.fixturenames:
            runs.start(item.callspec.params["case"], function, item.callspec.params["case"])
    return runs


def publish_small(children: Children, url: str, **options) -> Process:
    return start_publisher(children, url, **{**SMALL, **options})
