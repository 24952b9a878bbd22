"""The table of time zones is what scripts/time-zones.py makes of the tz database."""

import shutil
import subprocess

import pytest
from swift_source import CHECKOUT

SCRIPT = "scripts/time-zones.py"
WRITTEN = ["Sources/TimeZones/TimeZoneTable.swift", "Tests/TimeZonesTests/ExpectedChanges.swift"]


def check(folder, *arguments) -> subprocess.CompletedProcess:
    return subprocess.run([folder / SCRIPT, *arguments], capture_output=True, text=True, timeout=60)


@pytest.fixture
def copy(tmp_path):
    for name in [SCRIPT, *WRITTEN]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    return tmp_path


def test_the_table_is_that_of_the_tz_database():
    result = check(CHECKOUT, "--check")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("file", WRITTEN)
def test_a_changed_table_is_seen(copy, file):
    # A table of the release that this machine has, whichever that is.
    assert check(copy).returncode == 0 and check(copy, "--check").returncode == 0
    path = copy / file
    path.write_text(path.read_text().replace("CET-1CEST", "CET-2CEST"))
    result = check(copy, "--check")
    assert result.returncode == 1 and file in result.stderr


def test_another_release_is_not_compared(copy):
    path = copy / WRITTEN[0]
    path.write_text(path.read_text().replace(" from release 20", " from release 19", 1))
    result = check(copy, "--check")
    assert result.returncode == 0 and "another release" in result.stdout


def test_a_folder_without_the_database_is_refused(copy):
    result = check(copy, copy)
    assert result.returncode == 1 and "not a zoneinfo folder" in result.stderr
