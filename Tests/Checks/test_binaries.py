"""The shipped programs: static, stripped, small, and without Foundation."""

import re
import subprocess
from pathlib import Path

import pytest
from swift_source import CHECKOUT

pytestmark = pytest.mark.board_program

# The board's program, and that of a computer with the same code.
BUDGETS = {"aarch64": 20_000_000, "x86_64": 23_000_000}
MACHINES = {"x86_64": "x86-64", "aarch64": "ARM aarch64"}
# A module with linked types leaves its name between zero bytes, even in a stripped binary. Swift's own library contains
# "Foundation.__SwiftValue", so the word alone proves nothing.
FOUNDATION = re.compile(rb"(?<=\0)_?Foundation(?:Essentials|Internationalization|Networking|ICU|XML)?(?=\0)")


def binary(machine: str) -> Path:
    path = CHECKOUT / "out" / machine / "tallycam"
    assert path.exists(), f"{path} is missing; run 'make build'"
    return path


def kind_of(path: Path) -> str:
    return subprocess.run(["file", "-b", path], capture_output=True, text=True, check=True).stdout


def foundation_in(path: Path) -> list[bytes]:
    return sorted(set(FOUNDATION.findall(path.read_bytes())))


@pytest.mark.parametrize("machine", MACHINES)
def test_the_program_is_for_its_machine_static_and_stripped(machine):
    kind = kind_of(binary(machine))
    assert MACHINES[machine] in kind
    assert "statically linked" in kind
    assert ", stripped" in kind and "with debug_info" not in kind


@pytest.mark.parametrize("machine", MACHINES)
def test_the_program_is_within_the_size_budget(machine):
    assert binary(machine).stat().st_size <= BUDGETS[machine]


@pytest.mark.parametrize("machine", MACHINES)
def test_no_foundation_is_linked(machine):
    assert foundation_in(binary(machine)) == []


@pytest.mark.parametrize("machine", MACHINES)
def test_the_program_contains_no_path_of_the_build_machine(machine):
    assert str(CHECKOUT).encode() not in binary(machine).read_bytes()


@pytest.mark.parametrize(
    "module, code",
    [
        ("Foundation", "print(FileManager.default.currentDirectoryPath)"),
        ("FoundationEssentials", "print(String(decoding: try JSONEncoder().encode([1]), as: UTF8.self))"),
        ("FoundationEssentials", "print(Date().description)"),  # a single type, 12 kB of it
    ],
)
def test_linked_foundation_is_detected(module, code, tmp_path):
    (tmp_path / "x.swift").write_text(f"import {module}\n{code}\n")
    subprocess.run(
        ["swiftc", "-O", "-use-ld=lld", "-static-executable", "x.swift", "-o", "x"],
        cwd=tmp_path, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    subprocess.run(["strip", "x"], cwd=tmp_path, check=True)
    assert foundation_in(tmp_path / "x")
    assert "statically linked" in kind_of(tmp_path / "x")


def test_a_dynamic_program_is_detected(tmp_path):
    assert "statically linked" not in kind_of(Path("/usr/bin/env").resolve())
