"""The test files to run and their markers about how to run them, as pytest reports them."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDERS = {"checks": "Tests/Checks", "integration": "Tests/Integration", "board": "Tests/VirtualBoard"}
NO_TESTS = 5
# Priorities: before the machine's other work, where that is permitted, as emulation is slow enough by itself. Tests that compare
# times come first.
PACED, OTHERS = -10, -5
# For a file without markers: minutes, and the share of a processor. A guest computes for almost half of its time.
USUAL = {"checks": (0.5, 0.9), "integration": (0.5, 0.1), "board": (1, 0.45)}


@dataclass(frozen=True)
class Job:
    """A test file, which runs in its own process."""

    stage: str
    file: Path
    # The approximate duration of its tests on an idle machine, and the share of a processor that they use meanwhile.
    minutes: float = 0.5
    processors: float = 0.1
    # Whether it compares times.
    paced: bool = False
    # Whether it runs or reads the ARM64 program.
    needs_board_program: bool = False

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def niceness(self) -> int:
        return PACED if self.paced else OTHERS


class CollectionFailed(Exception):
    """pytest could not collect a stage's tests; the text is its output."""


def pytest_words(folder_or_file: str | Path, choice: list[str]) -> list[str]:
    return ["pytest-3", "-c", "Tests/pytest.ini", str(folder_or_file), *choice]


def find_jobs(stage: str, choice: list[str], plan: Path) -> list[Job]:
    """The files that have tests of that choice (pytest's options for it), in any order.

    `plan` is a file for pytest's answer.
    """
    collected = subprocess.run(
        [*pytest_words(FOLDERS[stage], choice), "--collect-only", "-q", "-p", "collected", f"--plan={plan}"],
        cwd=CHECKOUT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
    )  # fmt: skip
    if collected.returncode not in (0, NO_TESTS):
        raise CollectionFailed(collected.stdout + collected.stderr)
    tests: dict[str, list[dict]] = {}
    for test in json.loads(plan.read_text()):
        tests.setdefault(test["file"], []).append(test)
    return [job(stage, Path(file), chosen) for file, chosen in tests.items()]


def job(stage: str, file: Path, tests: list[dict]) -> Job:
    """The tests of one file, which run one after the other."""
    minutes, processors = USUAL[stage]
    return Job(
        stage, file,
        minutes=max(test["takes"].get("minutes", minutes) for test in tests),
        processors=max(test["takes"].get("processors", processors) for test in tests),
        paced=any(test["paced"] for test in tests),
        needs_board_program=stage == "board" or any(test["needs_board_program"] for test in tests),
    )  # fmt: skip
