"""Runs several test files at the same time, each in its own process, and reports their results."""

import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from children import processor_seconds, with_priority
from counts import Count, count_report, judged
from jobs import CHECKOUT, NO_TESTS, Job

RESULT = re.compile(r"(?:\S*/(test_\w+\.py::.+?) )?(PASSED|FAILED|ERROR|SKIPPED)\b")
NAME = re.compile(r"\S*/(test_\w+\.py::.+?) +$")
# Tests that pass faster than this are not shown.
SHOWN_SECONDS = 3


@dataclass
class JobResult:
    job: Job
    count: Count


class ResultLines:
    """Finds in pytest's verbose output which test has ended, and what tests have printed."""

    def __init__(self):
        self._name = ""
        self._is_over = False

    def shown(self, line: str) -> str | None:
        """The part of the line to show; `None` for nothing."""
        self._is_over = self._is_over or line.startswith("====") and "session starts" not in line
        if self._is_over:
            return None
        if result := RESULT.match(line):
            return f"{result[2]}  {result[1] or self._name}"
        if name := NAME.match(line):
            self._name = name[1]
        elif line.startswith("  ") and line.strip():
            return line.rstrip()
        return None


class Run:
    """The tests of one job. The whole output is in a log, which is shown from the first failure's report on."""

    printing = threading.Lock()

    def __init__(self, job: Job, number: int, reports: Path, words: list[str]):
        """`words` are pytest's command. `number` names the folder of the tests' own files, as paths of sockets must be
        short."""
        self.job = job
        self.words = words
        self.folder = reports / job.stage
        self._child: subprocess.Popen | None = None
        self._own_files = reports / f"files/{number}"

    def run(self) -> JobResult:
        report, log = self.folder / f"{self.job.name}.xml", self.folder / f"{self.job.name}.log"
        for folder in (self.folder, self._own_files.parent):
            folder.mkdir(parents=True, exist_ok=True)
        own = ["--verbose", f"--junitxml={report}", f"--basetemp={self._own_files}"]
        start = time.monotonic()
        with open(log, "w") as file:
            child = self._child = subprocess.Popen(
                with_priority(self.job.niceness, [*self.words, *own]), cwd=CHECKOUT, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            )  # fmt: skip
            self._follow(child, file)
        computed, seconds = processor_seconds(child), time.monotonic() - start
        status = child.returncode
        word = "ended" if status in (0, NO_TESTS) else "FAILED"
        self._say(f"{word}  {self.job.file.name}, {seconds:.0f} s, {computed:.0f} s of a processor ({computed / seconds:.2f})")
        if status not in (0, NO_TESTS):
            self._show_failures(log)
        return JobResult(self.job, judged(count_report(report), status))

    def interrupt(self) -> None:
        """Ends its tests as with Ctrl-C, together with what they have started."""
        if self._child and self._child.returncode is None:
            self._child.send_signal(signal.SIGINT)

    def _follow(self, child: subprocess.Popen, log) -> None:
        lines, last, printed = ResultLines(), time.monotonic(), []
        for line in child.stdout:
            log.write(line)
            log.flush()
            if not (shown := lines.shown(line.rstrip("\n"))):
                continue
            if "::" not in shown:
                printed.append(f"        {shown}")
                continue
            seconds, last = time.monotonic() - last, time.monotonic()
            if printed or seconds >= SHOWN_SECONDS or not shown.startswith("PASSED"):
                self._say("\n  ".join([f"{seconds:4.0f} s  {shown}", *printed]))
            printed = []

    def _say(self, text: str) -> None:
        with self.printing:
            print(f"  {text}", flush=True)

    def _show_failures(self, log: Path) -> None:
        text = log.read_text(errors="replace")
        place = re.search(r"^=+ (FAILURES|ERRORS) =+$", text, re.MULTILINE)
        with self.printing:
            print(f"== from {log}:\n{text[place.start() if place else -4000 :]}", flush=True)


class Turns:
    """Hands out runs, the longest first, as long as the processors have capacity for them. A run that does not fit lets others
    go first."""

    def __init__(self, processors: float, at_once: int):
        """`processors` is how much of the processors the runs may use together."""
        self._processors = processors
        self._at_once = at_once
        self._waiting: list[Run] = []
        self._running: list[Run] = []
        self._is_complete = False
        self._changed = threading.Condition()

    def add(self, runs: list[Run]) -> None:
        with self._changed:
            self._waiting = sorted([*self._waiting, *runs], key=lambda run: -run.job.minutes)
            self._changed.notify_all()

    def complete(self) -> None:
        """No more runs are added."""
        with self._changed:
            self._is_complete = True
            self._changed.notify_all()

    def abandon(self) -> None:
        """Starts no more runs, and interrupts the running ones."""
        with self._changed:
            self._waiting.clear()
            for run in self._running:
                run.interrupt()
        self.complete()

    def _next(self) -> Run | None:
        return next((run for run in self._waiting if self._fits(run.job)), None)

    def _fits(self, job: Job) -> bool:
        if not self._running:
            return True
        return sum(run.job.processors for run in self._running) + job.processors <= self._processors

    def work(self) -> list[JobResult]:
        """One worker: takes one run after the other as long as there are any."""
        results = []
        while True:
            with self._changed:
                while (run := self._next()) is None and (self._waiting or not self._is_complete):
                    self._changed.wait()
                if run is None:
                    return results
                self._waiting.remove(run)
                self._running.append(run)
            try:
                results.append(run.run())
            except OSError as error:
                # Such as a full disk. The other files go on.
                run.interrupt()
                print(f"== {run.job.file.name}: {error}", flush=True)
                results.append(JobResult(run.job, Count(0, 1)))
            finally:
                with self._changed:
                    self._running.remove(run)
                    self._changed.notify_all()

    def run_all(self, prepare: Callable[[], None]) -> list[JobResult]:
        """Runs everything that was added; `prepare` may add more meanwhile, but nothing is added after it."""
        with ThreadPoolExecutor(self._at_once) as pool:
            workers = [pool.submit(self.work) for _ in range(self._at_once)]
            try:
                prepare()
                self.complete()
                return [result for worker in workers for result in worker.result()]
            except BaseException:
                self.abandon()
                raise
