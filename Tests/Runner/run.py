"""Runs the test stages and sums them up. Called by scripts/test, inside the build root."""

import argparse
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from side_by_side import Run, run_files

CHECKOUT = Path(__file__).resolve().parents[1]
REPORTS = CHECKOUT / "out/test"
STAGES = ["unit", "checks", "integration", "board", "fuzz"]
# The long ones first, so that none of them is left over at the end.
BOARD_ORDER = [
    "test_card", "test_mixed_faults", "test_dead_encoder", "test_encoder_pace", "test_card_network", "test_encoder_faults",
    "test_microphone", "test_capture", "test_encoder", "test_synchrony", "test_encoder_module", "test_live",
    "test_libcamera", "test_machine_restart", "test_rig", "test_raspi3b", "test_memory",
]  # fmt: skip
# Guests at a time. Each computes for about a third of the time that two cores have, and waits for the rest; beside the
# other stages, which compute, there is less room.
BOARD_GUESTS, BOARD_GUESTS_BESIDE = 3, 2
# Their sound has gaps when the guest waits for a processor: they come first there, and never beside each other.
LISTENING = {"test_microphone", "test_synchrony"}
# Before the others: what takes minutes is not to be repeated.
LONG = {"test_mixed_faults", "test_dead_encoder"}
FUZZ_TARGETS = ["rtmp", "amf0", "json", "h264", "flv"]
FUZZ_SECONDS = 10
TERMINAL = sys.stdout.isatty()
# Whether the slow tests are run, too.
ALL_WANTED = False


@dataclass
class Count:
    passed: int = 0
    failed: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed)


def count_report(path: Path) -> Count:
    """A JUnit report; what was skipped has not passed."""
    count = Count()
    for case in ET.parse(path).iter("testcase"):
        if any(case.find(kind) is not None for kind in ("failure", "error", "skipped")):
            count.failed += 1
        else:
            count.passed += 1
    return count


def judged(count: Count, status: int) -> Count:
    """A stage that failed without a failed test, or had no tests, is a failure itself."""
    if count.failed == 0 and (status != 0 or count.passed == 0):
        return Count(count.passed, 1)
    return count


def run_unit(selection: str | None) -> Count:
    """`swift test`. Its output goes to a log; what fails is shown, and where it is meanwhile."""
    log, report = REPORTS / "unit.log", REPORTS / "unit.xml"
    words = ["swift", "test", "--scratch-path", ".build-test", "--xunit-output", str(report)]
    words += ["--filter", selection] if selection else []
    with open(log, "w") as file:
        child = subprocess.Popen(
            words, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        )  # fmt: skip
        progress = Progress()
        for line in child.stdout:
            file.write(line)
            progress.show(line.rstrip("\n"))
        progress.end()
    status = child.wait()
    # Swift Testing puts its report beside XCTest's.
    reports = [path for path in (report, report.with_name("unit-swift-testing.xml")) if path.exists()]
    if reports:
        return judged(sum((count_report(path) for path in reports), Count()), status)
    return judged(count_log(log.read_text()), status)


def count_log(text: str) -> Count:
    """A run that crashed leaves no report: counts what its log tells, and the crash."""
    passed = len(re.findall(r"^✔ Test (?!run )", text, re.MULTILINE))
    failed = len(re.findall(r"^✘ Test (?!run )(?:\S.* failed after|.* skipped)", text, re.MULTILINE))
    print(f"unit: no report was written; the end of {REPORTS / 'unit.log'}:")
    print("\n".join(text.splitlines()[-25:]))
    return Count(passed, failed + 1)


class Progress:
    """The line of a build or test that is under way: in place on a terminal, else one now and then."""

    def __init__(self):
        self.begin = self.last = time.monotonic()
        self.width = shutil.get_terminal_size().columns - 1

    def show(self, line: str) -> None:
        if re.search(r"^✘ |: error: |^error: |^↳ (?!Testing)|^Fatal error", line):
            self._clear()
            print(line, flush=True)
        elif re.match(r"(✘|✔) Test run with", line) or line.startswith("Build complete"):
            self._clear()
            print(f"  {line}", flush=True)
        elif TERMINAL:
            print(f"\r\x1b[K  {line}"[: self.width], end="", flush=True)
        elif time.monotonic() - self.last > 20:
            self.last = time.monotonic()
            print(f"  {self.last - self.begin:4.0f} s  {line[:100]}", flush=True)

    def _clear(self) -> None:
        if TERMINAL:
            print("\r\x1b[K", end="")

    def end(self) -> None:
        self._clear()


def choice(selection: str | None) -> list[str]:
    """pytest's words for the tests that are wanted."""
    return ([] if ALL_WANTED else ["-m", "not slow"]) + (["-k", selection] if selection else [])


def run_pytest(folder: str, selection: str | None, *options: str) -> Count:
    report = REPORTS / f"{folder.lower()}{''.join(options)}.xml"
    # pytest makes the last folder of its base only.
    (REPORTS / "files").mkdir(exist_ok=True)
    words = [
        "pytest-3", "-c", "Tests/pytest.ini", f"Tests/{folder}", f"--junitxml={report}", "--durations=8",
        "--durations-min=3", f"--basetemp={REPORTS / 'files' / folder}", *options,
    ]  # fmt: skip
    status = subprocess.run(
        words + choice(selection), cwd=CHECKOUT, stdin=subprocess.DEVNULL
    ).returncode
    if status == 0:
        shutil.rmtree(REPORTS / "files", ignore_errors=True)
    return judged(count_report(report) if report.exists() else Count(), status)


def board_files() -> list[Path]:
    files = sorted((CHECKOUT / "Tests/VirtualBoard").glob("test_*.py"))
    return sorted(files, key=lambda file: BOARD_ORDER.index(file.stem) if file.stem in BOARD_ORDER else len(files))


def run_board(selection: str | None, guests: int = BOARD_GUESTS) -> Count:
    """Its parts first, where what is under way can be seen: minutes on a fresh machine. Then the files of tests, several
    at a time: each has a guest of its own, and waits more than it computes. What fails beside others gets a second
    attempt alone, and is named then: a fault of the product fails twice."""
    begin = time.monotonic()
    for words in (["scripts/board-parts"], ["scripts/board-parts", "--encoder"], ["scripts/card-parts"]):
        if subprocess.run(words, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode != 0:
            return Count(0, 1)
    print(f"== board: prepared in {time.monotonic() - begin:.0f} s", flush=True)
    folder = REPORTS / "board"
    selecting = choice(selection)

    def command(file: Path) -> list[str]:
        """Emulation is slow enough without others in its way; where it may not go first, it goes on all the same."""
        nice = -15 if file.stem in LISTENING else -10 if file.stem in LONG else -5
        return ["nice", "-n", str(nice), "pytest-3", "-c", "Tests/pytest.ini", *selecting]

    results = run_files(board_files(), folder, command, guests, LISTENING)
    count = Count()
    for result in results:
        one = judged(count_report(result.report) if result.report.exists() else Count(), result.status)
        if one.failed == 0:
            count += one
            continue
        print(f"== board: a second attempt at the {one.failed} of {result.file.name} that failed", flush=True)
        second = Run(result.file, folder, command(result.file)).run("--last-failed")
        last = judged(count_report(second.report) if second.report.exists() else Count(), second.status)
        print(f"== board: {last.passed} passed at the second attempt only", flush=True)
        count += Count(one.passed + last.passed, last.failed)
    if count.failed == 0:
        for name in ("files", "cache"):
            shutil.rmtree(folder / name, ignore_errors=True)
    return judged(count, 0)


def run_integration(selection: str | None) -> Count:
    """Tests against the clock fail on a machine that is busy with something else: what failed gets a second
    attempt, and is named then. A fault of the product fails twice."""
    first = run_pytest("Integration", selection)
    if first.failed == 0 or first.passed == 0:
        return first
    print(f"== integration: a second attempt at the {first.failed} that failed", flush=True)
    second = run_pytest("Integration", selection, "--last-failed")
    print(f"== integration: {second.passed} passed at the second attempt only", flush=True)
    return Count(first.passed + second.passed, second.failed)


def run_fuzz(selection: str | None) -> Count:
    """A short run of each fuzz target from the committed inputs; one that stops at an input has failed."""
    count = Count()
    for target in [name for name in FUZZ_TARGETS if selection is None or selection in name]:
        words = ["scripts/fuzz", "--seconds", str(FUZZ_SECONDS), target]
        if subprocess.run(words, cwd=CHECKOUT, stdin=subprocess.DEVNULL).returncode == 0:
            count.passed += 1
        else:
            count.failed += 1
    return judged(count, 0)


STAGE_RUNS = {"unit": run_unit, "integration": run_integration, "fuzz": run_fuzz}


def run_stage(stage: str, selection: str | None, guests: int) -> Count:
    begin = time.monotonic()
    print(f"== {stage}", flush=True)
    run = partial(run_board, guests=guests) if stage == "board" else STAGE_RUNS.get(stage)
    count = run(selection) if run else run_pytest(stage.capitalize(), selection)
    print(f"== {stage}: {count.passed} passed, {count.failed} failed, {time.monotonic() - begin:.0f} s", flush=True)
    return count


class BoardBeside:
    """The board's stage in a process of its own, beside the others: it waits more than it computes, and takes as long as
    they do. Its output is kept apart, and shown when the others have ended."""

    def __init__(self, selection: str | None):
        self._log = REPORTS / "board.log"
        words = [sys.executable, __file__, "board", "--beside", *(["-k", selection] if selection else [])]
        words += ["--all"] if ALL_WANTED else []
        with open(self._log, "w") as log:
            self._child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        print(f"== board: begun beside the other stages, see {self._log}", flush=True)

    def ended(self) -> Count:
        if self._child.poll() is None:
            print("== board: the other stages have ended, this one goes on", flush=True)
        self._child.wait()
        text = self._log.read_text(errors="replace")
        print(text, end="", flush=True)
        totals = re.findall(r"^(\d+) passed, (\d+) failed$", text, re.MULTILINE)
        return judged(Count(*map(int, totals[-1])) if totals else Count(), self._child.returncode)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test")
    parser.add_argument("stages", nargs="*", metavar="|".join(STAGES))
    parser.add_argument("-k", dest="selection", metavar="EXPRESSION")
    parser.add_argument("--all", action="store_true", help="also what takes long and rarely finds anything")
    parser.add_argument("--beside", action="store_true", help=argparse.SUPPRESS)
    global ALL_WANTED
    arguments = parser.parse_args()
    # Who names a test wants it, however long it takes.
    ALL_WANTED = arguments.all or arguments.selection is not None
    if unknown := set(arguments.stages) - set(STAGES):
        parser.error(f"there is no stage {', '.join(sorted(unknown))}")
    if not arguments.beside:
        shutil.rmtree(REPORTS, ignore_errors=True)
        REPORTS.mkdir(parents=True)
    chosen = [name for name in STAGES if name in (arguments.stages or STAGES)]
    beside = None
    if "board" in chosen and len(chosen) > 1:
        chosen.remove("board")
        beside = BoardBeside(arguments.selection)
    total = Count()
    for stage in chosen:
        guests = BOARD_GUESTS_BESIDE if arguments.beside else BOARD_GUESTS
        total += run_stage(stage, arguments.selection, guests)
    if beside:
        total += beside.ended()
    print(f"{total.passed} passed, {total.failed} failed")
    return 0 if total.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
