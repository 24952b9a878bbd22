"""Runs the test stages and sums them up. Called by scripts/test, inside the build root."""

import argparse
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field

from children import with_priority
from counts import Count, judged
from jobs import CHECKOUT, FOLDERS, OTHERS, CollectionFailed, find_jobs, pytest_words
from side_by_side import Run, Turns
from unit import run_unit

REPORTS = CHECKOUT / "out/test"
STAGES = ["unit", "checks", "integration", "board", "fuzz"]
# Rarely finds anything, and compiles the parsers once more: only with the slow tests, or by its name.
SLOW_STAGE = "fuzz"
# These compute all the time, one after the other; the others mostly wait, and run at the same time. Fuzzing uses one processor,
# so it would leave the other one idle at the end.
ONE_BY_ONE = ["fuzz", "unit"]
# The tests that mostly wait run next to each other until they use all processors on average, but never more files than this.
FILES_AT_ONCE = 12
FUZZ_TARGETS = re.search(r"^readonly all=\((.*)\)$", (CHECKOUT / "scripts/fuzz").read_text(), re.MULTILINE)[1].split()
# For each target on one processor: by the stage's name, and with the slow tests.
FUZZ_SECONDS, LONG_FUZZ_SECONDS = 10, 60
# The program for the board is compiled beside the first tests: its modules are a chain that leaves a processor idle for much
# of the time. Then the tests that need only the program can start, and last the board's own.
BOARD_PROGRAM = (["scripts/build", "aarch64"],)
BOARD_PARTS = (
    ["scripts/board-parts"], ["scripts/board-parts", "--modules"], ["scripts/card-parts"], ["scripts/userland"],
    ["scripts/image-virtual"],
)  # fmt: skip


def run_fuzz(selection: str | None, prefix: list[str], seconds: int) -> Count:
    """A short run of each fuzz target from the committed inputs; a target that stops at an input has failed."""
    count = Count()
    for target in [name for name in FUZZ_TARGETS if selection is None or selection in name]:
        words = [*prefix, "scripts/fuzz", "--workers", "1", "--seconds", str(seconds), target]
        if subprocess.run(words, cwd=CHECKOUT, stdin=subprocess.DEVNULL).returncode == 0:
            count.passed += 1
        else:
            count.failed += 1
    return judged(count, 0)


@dataclass
class TestRun:
    stages: list[str]
    selection: str | None
    # Includes the slow tests.
    is_whole: bool
    counts: dict[str, Count] = field(default_factory=dict)
    # What commands have printed that made something; the board's tests read it (Tests/VirtualBoard/made.py).
    made: dict[str, str] = field(default_factory=dict)
    _run_count: int = 0

    def __post_init__(self):
        # A test that is named runs however long it takes.
        self.choice = [] if self.is_whole or self.selection else ["-m", "not slow"]
        self.choice += ["-k", self.selection] if self.selection else []
        self.start = time.monotonic()

    def add(self, stage: str, count: Count) -> None:
        self.counts[stage] = self.counts.get(stage, Count()) + count

    def compute(self) -> None:
        """The stages that need a processor all the time; in a separate thread."""
        prefix = with_priority(OTHERS, []) if len(self.stages) > 1 else []
        for stage in [name for name in ONE_BY_ONE if name in self.stages]:
            print(f"== {stage}", flush=True)
            try:
                self.add(stage, self.computed(stage, prefix))
            except OSError:
                # Such as a full disk. The other stages go on.
                traceback.print_exc()
                self.add(stage, Count(0, 1))
            self.report(stage)

    def computed(self, stage: str, prefix: list[str]) -> Count:
        if stage == "unit":
            return run_unit(CHECKOUT, REPORTS, self.selection, prefix)
        return run_fuzz(self.selection, prefix, LONG_FUZZ_SECONDS if self.is_whole else FUZZ_SECONDS)

    def report(self, stage: str) -> None:
        count, seconds = self.counts[stage], time.monotonic() - self.start
        print(f"== {stage}: {count.passed} passed, {count.failed} failed; {seconds:.0f} s since the start", flush=True)

    def runs(self, stage: str) -> list[Run]:
        try:
            jobs = find_jobs(stage, self.choice, REPORTS / f"{stage}.json")
        except CollectionFailed as failure:
            print(failure, flush=True)
            self.add(stage, Count(0, 1))
            return []
        numbers = range(self._run_count, self._run_count + len(jobs))
        self._run_count += len(jobs)
        return [Run(job, number, REPORTS, pytest_words(job.file, self.choice)) for job, number in zip(jobs, numbers)]

    def wait_beside_each_other(self) -> None:
        """The stages that pytest runs. Tests of the ARM64 program join when it is built, and the board's tests when their parts
        are made, too, which takes minutes on a fresh machine."""
        stages = [stage for stage in FOLDERS if stage in self.stages]
        turns = Turns(os.cpu_count() or 1, FILES_AT_ONCE)
        runs = [run for stage in stages if stage != "board" for run in self.runs(stage)]
        later = [run for run in runs if run.job.needs_board_program]
        turns.add([run for run in runs if run not in later])

        def prepare() -> None:
            if not later and "board" not in stages:
                return
            if not self.prepare("program", BOARD_PROGRAM):
                return
            turns.add(later)
            if "board" in stages and self.prepare("parts", BOARD_PARTS):
                answers = REPORTS / "made.json"
                answers.write_text(json.dumps(self.made))
                os.environ["TALLYCAM_MADE"] = str(answers)
                turns.add(self.runs("board"))

        for result in turns.run_all(prepare):
            self.add(result.job.stage, result.count)

    def prepare(self, name: str, commands: tuple[list[str], ...]) -> bool:
        """Whether everything that these tests of the board need was made; otherwise they count as failed."""
        start, log = time.monotonic(), REPORTS / f"{name}.log"
        for words in commands:
            with open(log, "w") as output:
                status = subprocess.run(
                    with_priority(OTHERS, words), cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=output
                ).returncode
            if status != 0:
                end = "\n".join(log.read_text(errors="replace").splitlines()[-40:])
                print(f"== board: {' '.join(words)} failed:\n{end}", flush=True)
                self.add(next(stage for stage in reversed(STAGES) if stage in FOLDERS and stage in self.stages), Count(0, 1))
                return False
            self.made[" ".join(words)] = log.read_text(errors="replace")
        print(f"== board: {name} ready after {time.monotonic() - start:.0f} s", flush=True)
        return True

    def run(self) -> Count:
        computing = threading.Thread(target=self.compute, daemon=True)
        computing.start()
        self.wait_beside_each_other()
        computing.join()
        for stage in [name for name in FOLDERS if name in self.stages]:
            self.counts[stage] = judged(self.counts.get(stage, Count()), 0)
            self.report(stage)
        return sum((self.counts[stage] for stage in self.stages), Count())


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test")
    parser.add_argument("stages", nargs="*", metavar="|".join(STAGES))
    parser.add_argument("-k", dest="selection", metavar="EXPRESSION")
    parser.add_argument("--all", action="store_true", help="include the slow tests, which rarely find anything")
    parser.add_argument("--busy", action="store_true", help="stop emulated machines for moments, as a busy computer does")
    arguments = parser.parse_args()
    if unknown := set(arguments.stages) - set(STAGES):
        parser.error(f"unknown stage: {', '.join(sorted(unknown))}")
    REPORTS.parent.mkdir(exist_ok=True)
    with open(REPORTS.with_suffix(".lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            parser.error(f"another run uses {REPORTS}, and would lose its files; wait for its end, or use another clone")
        return run_stages(arguments)


def chosen_stages(named: list[str], is_whole: bool) -> list[str]:
    return [stage for stage in STAGES if stage in named or not named and (is_whole or stage != SLOW_STAGE)]


def accept_signals() -> None:
    # A shell without job control starts what follows "&" with this signal ignored, and tests would inherit that. They send it to
    # programs, and are ended by it themselves.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # As with Ctrl-C: no guests are left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def run_stages(arguments: argparse.Namespace) -> int:
    """Prints the total; returns the exit status."""
    accept_signals()
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    if arguments.busy:
        # For Tests/VirtualBoard/busy_host.py.
        os.environ["TALLYCAM_BUSY"] = "yes"
    stages = chosen_stages(arguments.stages, arguments.all)
    total = TestRun(stages, arguments.selection, arguments.all).run()
    if total.failed == 0:
        shutil.rmtree(REPORTS / "files", ignore_errors=True)
    print(f"{total.passed} passed, {total.failed} failed")
    return 0 if total.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
