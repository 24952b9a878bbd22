"""Runs files of tests beside each other, each in a process of its own, and tells every test's end in a line."""

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
        status = child.wait()
        if status != NO_TESTS:
            self._say(f"{'ended' if status == 0 else 'FAILED'}  {self.file.name}, {time.monotonic() - begin:.0f} s")
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


def run_files(
    files: list[Path], folder: Path, command: Callable[[Path], list[str]], at_once: int
) -> list[FileResult]:
    """Runs them in their order, `at_once` at a time. `command` gives the words that begin a file's command."""
    for name in ("files", "cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    runs = [Run(file, folder, command(file)) for file in files]
    with ThreadPoolExecutor(at_once) as pool:
        results = list(pool.map(Run.run, runs))
    return [result for result in results if result.status != NO_TESTS]
