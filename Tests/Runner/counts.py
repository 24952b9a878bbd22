"""How many tests have passed and failed, according to the reports of a run."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Count:
    passed: int = 0
    failed: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed)


def count_report(path: Path) -> Count:
    """The counts of a JUnit report; skipped tests have not passed. A missing report has no tests, and one that ends early, as on a
    full disk, is a failure."""
    count = Count()
    if not path.exists():
        return count
    try:
        cases = ET.parse(path).iter("testcase")
    except ET.ParseError as error:
        print(f"{path}: {error}", flush=True)
        return Count(0, 1)
    for case in cases:
        if any(case.find(kind) is not None for kind in ("failure", "error", "skipped")):
            count.failed += 1
        else:
            count.passed += 1
    return count


def judged(count: Count, status: int) -> Count:
    """A stage that failed without a failed test, or had no tests, counts as a failure itself."""
    if count.failed == 0 and (status != 0 or count.passed == 0):
        return Count(count.passed, 1)
    return count
