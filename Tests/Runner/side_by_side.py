"""Runs files of tests beside each other, each in a process of its own, and tells every test's end in a line."""

import os
import re
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

NO_TESTS = 5
RESULT = re.compile(r"(?:\S*/(test_\w+\.py::.+?) )?(PASSED|FAILED|ERROR|SKIPPED)\b")
NAME = re.compile(r"\S*/(test_\w+\.py::.+?) +$")


@dataclass
class FileResult:
    file: Path
    status: int
    report: Path


class ResultLines:
    """Finds in pytest's verbose output which test has ended, and what tests have printed."""

    def __init__(self):
        self._name = ""
        self._is_over = False

    def told(self, line: str) -> str | None:
        """What of the line is shown; `None` for nothing."""
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
    """One file's tests. The whole output is in a log, which is shown from the first failure's account on."""

    printing = threading.Lock()

    def __init__(self, file: Path, folder: Path, words: list[str]):
        self.file = file
        self.folder = folder
        self.words = words

    def run(self, *options: str) -> FileResult:
        """`options` are pytest's, and name the log, too."""
        name = self.file.stem + "".join(options)
        report, log = self.folder / f"{name}.xml", self.folder / f"{name}.log"
        own = [
            str(self.file), "--verbose", f"--junitxml={report}", f"--basetemp={self.folder / 'files' / name}",
            "-o", f"cache_dir={self.folder / 'cache' / self.file.stem}", *options,
        ]  # fmt: skip
        begin = time.monotonic()
        with open(log, "w") as file:
            child = subprocess.Popen(
                self.words + own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace",
            )  # fmt: skip
            self._follow(child, file)
        # With what its guests have computed, as it waits for their ends.
        _, ended, use = os.wait4(child.pid, 0)
        status = child.returncode = os.waitstatus_to_exitcode(ended)
        if status != NO_TESTS:
            seconds = f"{time.monotonic() - begin:.0f} s, a processor's {use.ru_utime + use.ru_stime:.0f} s"
            self._say(f"{'ended' if status == 0 else 'FAILED'}  {self.file.name}, {seconds}")
        if status not in (0, NO_TESTS):
            self._show_failures(log)
        return FileResult(self.file, status, report)

    def _follow(self, child: subprocess.Popen, log) -> None:
        lines, last = ResultLines(), time.monotonic()
        for line in child.stdout:
            log.write(line)
            log.flush()
            if shown := lines.told(line.rstrip("\n")):
                self._say(f"{time.monotonic() - last:4.0f} s  {shown}" if "::" in shown else f"        {shown}")
                last = time.monotonic() if "::" in shown else last

    def _say(self, text: str) -> None:
        with self.printing:
            print(f"  {text}", flush=True)

    def _show_failures(self, log: Path) -> None:
        text = log.read_text(errors="replace")
        place = re.search(r"^=+ (FAILURES|ERRORS) =+$", text, re.MULTILINE)
        with self.printing:
            print(f"== from {log}:\n{text[place.start() if place else -4000 :]}", flush=True)


class Turns:
    """Hands out runs in their order; of those that are kept apart one at a time, and others in their place meanwhile."""

    def __init__(self, runs: list[Run], apart: set[str]):
        self._waiting = list(runs)
        self._apart = apart
        self._running: list[str] = []
        self._changed = threading.Condition()

    def _next(self) -> Run | None:
        is_one_running = bool(self._apart.intersection(self._running))
        return next((run for run in self._waiting if not (is_one_running and run.file.stem in self._apart)), None)

    def work(self) -> list[FileResult]:
        """What one worker does: a run after the other while there are any."""
        results = []
        while True:
            with self._changed:
                while (run := self._next()) is None and self._waiting:
                    self._changed.wait()
                if run is None:
                    return results
                self._waiting.remove(run)
                self._running.append(run.file.stem)
            try:
                results.append(run.run())
            finally:
                with self._changed:
                    self._running.remove(run.file.stem)
                    self._changed.notify_all()


def run_files(
    files: list[Path], folder: Path, command: Callable[[Path], list[str]], at_once: int, apart: set[str]
) -> list[FileResult]:
    """Runs them in their order, `at_once` at a time; those of the stems in `apart` never beside each other. `command` gives
    the words that begin a file's command."""
    for name in ("files", "cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    turns = Turns([Run(file, folder, command(file)) for file in files], apart)
    with ThreadPoolExecutor(at_once) as pool:
        workers = [pool.submit(turns.work) for _ in range(at_once)]
    results = [result for worker in workers for result in worker.result()]
    return [result for result in results if result.status != NO_TESTS]
