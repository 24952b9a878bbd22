"""The counting behind the closing line of scripts/test."""

import importlib.util
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from swift_source import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "Tests"))

from side_by_side import ResultLines, Turns, run_files  # noqa: E402

spec = importlib.util.spec_from_file_location("run", CHECKOUT / "Tests/run.py")
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="TestResults" errors="0" tests="3" failures="1" skipped="1" time="0.1">
<testcase classname="A" name="one()" time="0.1" />
<testcase classname="A" name="off()" time="0.1"><skipped>why</skipped></testcase>
<testcase classname="A" name="bad()" time="0.1"><failure message="no" /></testcase>
<testcase classname="A" name="broken()" time="0.1"><error message="no" /></testcase>
</testsuite></testsuites>
"""

CRASHED = """Test Suite 'All tests' passed at 2026-01-01 00:00:00.000
\t Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds
◇ Test run started.
✔ Test one() passed after 0.001 seconds.
✔ Test "two words" passed after 0.001 seconds.
✘ Test three() recorded an issue at t.swift:5:51: Expectation failed
✘ Test three() failed after 0.001 seconds with 1 issue.
✘ Test off() skipped: "why"
error: Exited with unexpected signal code 4
"""


def test_skipped_failed_and_broken_tests_have_not_passed(tmp_path):
    (tmp_path / "x.xml").write_text(REPORT)
    assert run.count_report(tmp_path / "x.xml") == run.Count(1, 3)


def test_a_crash_is_a_failure_of_its_own():
    assert run.count_log(CRASHED) == run.Count(2, 3)


def test_a_failed_build_is_a_failure():
    assert run.judged(run.count_log("x.swift:1:1: error: no\nerror: fatalError\n"), 1) == run.Count(0, 1)


@pytest.mark.parametrize(
    "count, status, judged",
    [((5, 0), 0, (5, 0)), ((5, 1), 1, (5, 1)), ((5, 0), 1, (5, 1)), ((0, 0), 0, (0, 1)), ((0, 0), 1, (0, 1))],
)
def test_a_stage_that_fails_without_a_failed_test_counts(count, status, judged):
    assert run.judged(run.Count(*count), status) == run.Count(*judged)


def test_of_tests_beside_each_other_every_end_is_told_and_what_they_print():
    lines = ResultLines()
    output = [
        "============================= test session starts ==============================",
        "Tests/VirtualBoard/test_a.py::test_x[a b] PASSED                   [ 25%]",
        "Tests/VirtualBoard/test_a.py::test_y ",
        "  12 faults",
        "FAILED [ 50%]",
        "=================================== FAILURES ===================================",
        "Tests/VirtualBoard/test_a.py::test_x PASSED",
    ]
    told = [text for text in map(lines.told, output) if text]
    assert told == ["PASSED  test_a.py::test_x[a b]", "  12 faults", "FAILED  test_a.py::test_y"]


def test_files_without_chosen_tests_do_not_count_and_those_that_cannot_begin_do(tmp_path):
    (tmp_path / "test_none.py").write_text("")
    (tmp_path / "test_good.py").write_text("def test_good(): pass\n")
    (tmp_path / "test_broken.py").write_text("import nothing_of_this_name\n")
    files = sorted(tmp_path.glob("test_*.py"))
    results = run_files(
        files, tmp_path / "reports", lambda file: ["pytest-3", "-p", "no:cacheprovider"], at_once=2, apart=set()
    )
    outcomes = {result.file.name: (result.status, run.count_report(result.report)) for result in results}
    assert set(outcomes) == {"test_good.py", "test_broken.py"}
    assert outcomes["test_good.py"] == (0, run.Count(1, 0))
    assert outcomes["test_broken.py"][0] != 0 and outcomes["test_broken.py"][1].failed == 1


@dataclass
class Turn:
    """In the place of a file's tests: notes when it runs, and goes on until another one has begun."""

    file: Path
    log: list[str]
    begun: threading.Event
    awaited: threading.Event | None = None

    def run(self) -> None:
        self.log.append(f"{self.file.stem} begins")
        self.begun.set()
        if self.awaited:
            self.awaited.wait(10)
        self.log.append(f"{self.file.stem} ends")


def test_files_that_are_kept_apart_never_run_beside_each_other():
    """And hold up no others: those go first in their place."""
    log: list[str] = []
    one, quiet, silent, two = (Turn(Path(f"{name}.py"), log, threading.Event()) for name in ("one", "quiet", "silent", "two"))
    quiet.awaited = two.begun
    turns = Turns([one, quiet, silent, two], {"quiet", "silent"})
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: turns.work(), range(2)))
    assert len(log) == 8 and log.index("quiet ends") < log.index("silent begins")
    assert log.index("two begins") < log.index("silent begins")
