"""The unit tests: `swift test`, its output in a log, and the part of it that is shown meanwhile."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from children import processor_seconds
from counts import Count, count_report, judged

TERMINAL = sys.stdout.isatty()
SCRATCH = ".build-test"


def run_unit(checkout: Path, reports: Path, selection: str | None, prefix: list[str]) -> Count:
    """`prefix` is a command that runs them with the priority of the other tests. Failures and the current
    progress are shown."""
    log, report = reports / "unit.log", reports / "unit.xml"
    test = ["swift", "test", "--scratch-path", SCRATCH, "--skip-build", "--xunit-output", str(report)]
    test += ["--filter", selection] if selection else []
    status = 0
    with open(log, "w") as file:
        build = ["swift", "build", "--build-tests", "--scratch-path", SCRATCH]
        for words, done in ((build, "compiled"), (test, "ran")):
            if status == 0:
                status, computed = follow([*prefix, *words], checkout, file, Progress(in_place=TERMINAL and not prefix))
                print(f"  {done} for {computed:.0f} s of a processor", flush=True)
    # Swift Testing puts its report next to XCTest's.
    written = [path for path in (report, report.with_name("unit-swift-testing.xml")) if path.exists()]
    if written:
        return judged(sum(map(count_report, written), Count()), status)
    print(f"unit: no report was written; the end of {log}:")
    print("\n".join(log.read_text().splitlines()[-25:]))
    return judged(count_log(log.read_text()), status)


def follow(words: list[str], checkout: Path, log, progress: "Progress") -> tuple[int, float]:
    """Runs a command with all of its output in the log; returns its exit status and the seconds of a processor that it took."""
    child = subprocess.Popen(
        words, cwd=checkout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )  # fmt: skip
    for line in child.stdout:
        log.write(line)
        progress.show(line.rstrip("\n"))
    progress.end()
    computed = processor_seconds(child)
    return child.returncode, computed


def count_log(text: str) -> Count:
    """A run that crashed leaves no report: counts the results in its log, and the crash."""
    passed = len(re.findall(r"^✔ Test (?!run )", text, re.MULTILINE))
    failed = len(re.findall(r"^✘ Test (?!run )(?:\S.* failed after|.* skipped)", text, re.MULTILINE))
    return Count(passed, failed + 1)


class Progress:
    """The progress line of a build or test: in place on a terminal, otherwise a new line now and then."""

    def __init__(self, in_place: bool):
        self.in_place = in_place
        self.start = self.last = time.monotonic()
        self.width = shutil.get_terminal_size().columns - 1

    def show(self, line: str) -> None:
        if re.search(r"^✘ |: error: |^error: |^↳ (?!Testing)|^Fatal error", line):
            self._clear()
            print(line, flush=True)
        elif re.match(r"(✘|✔) Test run with", line) or line.startswith("Build complete"):
            self._clear()
            print(f"  {line}", flush=True)
        elif self.in_place:
            print(f"\r\x1b[K  {line}"[: self.width], end="", flush=True)
        elif time.monotonic() - self.last > 20:
            self.last = time.monotonic()
            print(f"  {self.last - self.start:4.0f} s  {line[:100]}", flush=True)

    def _clear(self) -> None:
        if self.in_place:
            print("\r\x1b[K", end="")

    def end(self) -> None:
        self._clear()
