"""The runner behind scripts/test: how it counts, how it reads the tests' markers, and which files it runs at the same time."""

import fcntl
import re
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from swift_source import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "Tests/Runner"))

from counts import Count, count_report, judged  # noqa: E402
from jobs import CollectionFailed, Job, find_jobs  # noqa: E402
import run  # noqa: E402
from side_by_side import JobResult, ResultLines, Run, Turns  # noqa: E402
from unit import count_log  # noqa: E402

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
    assert count_report(tmp_path / "x.xml") == Count(1, 3)


def test_a_report_that_ends_early_is_a_failure(tmp_path):
    (tmp_path / "x.xml").write_text(REPORT[:300])
    assert count_report(tmp_path / "x.xml") == Count(0, 1)


def test_a_crash_is_a_failure_of_its_own():
    assert count_log(CRASHED) == Count(2, 3)


def test_a_failed_build_is_a_failure():
    assert judged(count_log("x.swift:1:1: error: no\nerror: fatalError\n"), 1) == Count(0, 1)


@pytest.mark.parametrize(
    "count, status, expected",
    [((5, 0), 0, (5, 0)), ((5, 1), 1, (5, 1)), ((5, 0), 1, (5, 1)), ((0, 0), 0, (0, 1)), ((0, 0), 1, (0, 1))],
)
def test_a_failing_stage_without_a_failed_test_counts(count, status, expected):
    assert judged(Count(*count), status) == Count(*expected)


def test_parallel_tests_show_every_result_and_their_output():
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
    shown = [text for text in map(lines.shown, output) if text]
    assert shown == ["PASSED  test_a.py::test_x[a b]", "  12 faults", "FAILED  test_a.py::test_y"]


MARKED = """
import pytest
pytestmark = [pytest.mark.takes(minutes=7, processors=0.6), pytest.mark.paced, pytest.mark.board_program]
def test_quick(): pass
@pytest.mark.slow
@pytest.mark.takes(minutes=20)
def test_slow(): pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Replaces a stage's folder."""
    monkeypatch.setitem(sys.modules["jobs"].FOLDERS, "checks", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("choice, minutes", [(["-m", "not slow"], 7), ([], 20)])
def test_markers_determine_how_a_file_is_run(folder, choice, minutes):
    (folder / "test_marked.py").write_text(MARKED)
    (folder / "test_plain.py").write_text("def test_plain(): pass\n")
    (folder / "test_none.py").write_text("")
    jobs = {job.name: job for job in find_jobs("checks", choice, folder / "plan.json")}
    assert set(jobs) == {"test_marked", "test_plain"}
    marked, plain = jobs["test_marked"], jobs["test_plain"]
    assert (marked.minutes, marked.processors, marked.paced) == (minutes, 0.6, True)
    assert marked.needs_board_program and not plain.needs_board_program
    assert (plain.minutes, plain.paced) == (0.5, False) and marked.niceness < plain.niceness < 0


def test_a_collection_error_is_not_an_empty_stage(folder):
    (folder / "test_broken.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(CollectionFailed, match="nothing_of_this_name"):
        find_jobs("checks", [], folder / "plan.json")


@pytest.mark.parametrize("called, said", [("run.accept_signals()", ""), ("pass", "it survives\n")])
def test_tests_can_be_interrupted_in_a_run_in_the_background(called, said):
    """Without the call, they inherit from the shell that SIGINT is ignored."""
    child = "subprocess.run(['sh', '-c', 'kill -INT $$; echo it survives'])"
    code = f"import subprocess, run; {called}; {child}"
    words = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable, "-c", code]
    done = subprocess.run(words, cwd=CHECKOUT / "Tests/Runner", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, said), done.stderr


def test_a_test_file_is_run_and_counted(tmp_path, capsys):
    (tmp_path / "test_mixed.py").write_text("def test_good(): pass\ndef test_bad(): assert False, 'so it is'\n")
    file = tmp_path / "test_mixed.py"
    one = Run(Job("checks", file), 0, tmp_path / "reports", ["pytest-3", "-p", "no:cacheprovider", str(file)])
    assert one.run().count == Count(1, 1)
    shown = capsys.readouterr().out
    assert "FAILED  test_mixed.py::test_bad" in shown and "so it is" in shown


@pytest.mark.parametrize("built", [True, False])
def test_tests_of_the_board_program_wait_for_it(folder, tmp_path, monkeypatch, capsys, built):
    """If it cannot be built, they count as failed, and the compiler's output is shown."""
    program = tmp_path / "program"
    (folder / "test_other.py").write_text("def test_other(): pass\n")
    (folder / "test_board.py").write_text(
        f"import pytest\nfrom pathlib import Path\npytestmark = pytest.mark.board_program\n"
        f"def test_program(): assert Path({str(program)!r}).exists()\n"
    )
    monkeypatch.setattr(run, "REPORTS", tmp_path)
    script = f"sleep 0.5; touch {program}" if built else "echo no such module; exit 1"
    monkeypatch.setattr(run, "BOARD_PROGRAM", (["sh", "-c", script],))
    assert run.TestRun(["checks"], None, False).run() == (Count(2, 0) if built else Count(1, 1))
    assert ("no such module" in capsys.readouterr().out) is not built


def test_what_a_script_has_made_is_not_asked_again(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "REPORTS", tmp_path)
    monkeypatch.setenv("TALLYCAM_MADE", "")
    monkeypatch.setattr(run, "BOARD_PROGRAM", ())
    monkeypatch.setattr(run, "BOARD_PARTS", (["sh", "-c", f"echo asked >>{tmp_path}/log; echo a folder"],))
    monkeypatch.setitem(run.FOLDERS, "board", str(folder))
    (folder / "test_board.py").write_text(
        f"import sys\nsys.path.insert(0, {str(CHECKOUT / 'Tests/VirtualBoard')!r})\nfrom made import made\n"
        f"def test_made(): assert made({' '.join(run.BOARD_PARTS[0])!r}) == 'a folder'\n"
        "def test_unknown(): assert made('printf other') == 'other'\n"
    )
    assert run.TestRun(["board"], None, False).run() == Count(2, 0)
    assert (tmp_path / "log").read_text() == "asked\n"


def test_a_second_run_in_the_same_folder_is_refused_and_deletes_nothing(tmp_path, monkeypatch, capsys):
    reports = tmp_path / "test"
    reports.mkdir()
    (reports / "of the first").touch()
    monkeypatch.setattr(run, "REPORTS", reports)
    monkeypatch.setattr(sys, "argv", ["scripts/test", "checks"])
    with open(reports.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="2"):
            run.main()
    assert "another run" in capsys.readouterr().err and (reports / "of the first").exists()


@pytest.mark.parametrize(
    "named, is_whole, chosen",
    [([], False, "unit checks integration board"), ([], True, "unit checks integration board fuzz"),
     (["fuzz", "unit"], False, "unit fuzz"), (["board"], True, "board")],
)  # fmt: skip
def test_fuzzing_is_for_the_long_run_or_by_name(named, is_whole, chosen):
    assert run.chosen_stages(named, is_whole) == chosen.split()


def test_every_fuzz_target_is_run():
    script = (CHECKOUT / "scripts/fuzz").read_text()
    assert set(run.FUZZ_TARGETS) == set(re.findall(r"\[(\w+)\]=\d", script))


@dataclass
class Turn:
    """Replaces a file's tests: logs when it runs, and continues until another one has started."""

    job: Job
    log: list[str]
    started: threading.Event
    awaited: threading.Event | None = None
    error: OSError | None = None

    def run(self) -> None:
        self.log.append(f"{self.job.name} starts")
        self.started.set()
        if self.error:
            raise self.error
        if self.awaited:
            self.awaited.wait(120)
        self.log.append(f"{self.job.name} ends")


    def interrupt(self) -> None:
        self.log.append(f"{self.job.name} is interrupted")
        self.awaited.set()


def run_turns(log: list[str], turns: list[Turn], processors: float, workers: int = 2) -> None:
    queue = Turns(processors, workers)
    queue.add(turns)
    queue.run_all(lambda: None)
    assert len(log) == 2 * len(turns)


def turn(log: list[str], name: str, **qualities) -> Turn:
    return Turn(Job("board", Path(f"{name}.py"), **qualities), log, threading.Event())


def test_the_longest_start_first_within_the_processors_capacity():
    log: list[str] = []
    short, long, middle = (
        turn(log, name, minutes=minutes, processors=0.6) for name, minutes in (("short", 1), ("long", 9), ("middle", 5))
    )
    light = turn(log, "light", minutes=0.1, processors=0.2)
    long.awaited = light.started
    run_turns(log, [short, long, middle, light], processors=1, workers=4)
    assert log[0] == "long starts" and log.index("light starts") < log.index("long ends") < log.index("middle starts")
    assert log.index("middle ends") < log.index("short starts")


def test_a_file_that_needs_more_than_the_capacity_runs_alone():
    log: list[str] = []
    run_turns(log, [turn(log, "huge", processors=9, minutes=2), turn(log, "small")], processors=1)
    assert log == ["huge starts", "huge ends", "small starts", "small ends"]


def test_files_added_later_are_run_too():
    log: list[str] = []
    queue = Turns(1, 2)
    queue.add([turn(log, "first")])
    queue.run_all(lambda: queue.add([turn(log, "second")]))
    assert {"first ends", "second ends"} <= set(log)


def test_a_file_that_cannot_write_has_failed_and_the_others_go_on():
    log: list[str] = []
    full, other = turn(log, "full", minutes=2), turn(log, "other")
    full.error, full.awaited = OSError(28, "No space left on device"), threading.Event()
    queue = Turns(1, 1)
    queue.add([full, other])
    results = queue.run_all(lambda: None)
    assert results == [JobResult(full.job, Count(0, 1)), None] and log[-1] == "other ends"


def test_after_an_interruption_nothing_is_started():
    log: list[str] = []
    first, second = turn(log, "first", minutes=2, processors=1), turn(log, "second", processors=1)
    first.awaited = threading.Event()
    queue = Turns(1, 2)
    queue.add([first, second])

    def interrupt() -> None:
        first.started.wait(120)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        queue.run_all(interrupt)
    assert log == ["first starts", "first is interrupted", "first ends"]
