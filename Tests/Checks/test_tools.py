"""Formatters and linters, and that the commands in the documents exist."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from documents import code_spans, documents
from swift_source import CHECKOUT

# Fuzz also contains a link to Sources.
FORMATTED = ["Package.swift", "Sources", "Tests", "Fuzz/Package.swift", "Fuzz/Sources"]
BUILT = {"out", "__pycache__"}


def project_files(*roots: str) -> list[str]:
    """Files of the project below the given folders; built and cached files are left out."""
    found = []
    for root in roots:
        for folder, folders, files in os.walk(CHECKOUT / root):
            folders[:] = [name for name in folders if not name.startswith(".") and name not in BUILT]
            found += [str((Path(folder) / name).relative_to(CHECKOUT)) for name in files]
    return sorted(found)


def shell_scripts() -> list[str]:
    found = []
    for name in project_files("scripts", ".ci", "Tests", "board", "Benchmarks", "rootfs-overlay"):
        with open(CHECKOUT / name, "rb") as file:
            if re.match(rb"#!.*\b(ba|da)?sh\b", file.readline()):
                found.append(name)
    return found


def run(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, timeout=300, **options)


def test_swift_format_has_no_objections():
    result = run("swift", "format", "lint", "--strict", "--recursive", *FORMATTED)
    assert result.returncode == 0 and not result.stderr, result.stdout + result.stderr


def test_swift_format_detects_a_fault(tmp_path):
    (tmp_path / "x.swift").write_text("let a = b!;\n")
    result = run("swift", "format", "lint", "--strict", "--configuration", ".swift-format", str(tmp_path / "x.swift"))
    assert result.returncode != 0 and "NeverForceUnwrap" in result.stderr


def test_shellcheck_has_no_objections():
    scripts = shell_scripts()
    assert "scripts/build-root" in scripts and ".ci/run" in scripts
    result = run("shellcheck", "--external-sources", *scripts)
    assert result.returncode == 0, result.stdout


def test_shellcheck_detects_a_fault():
    result = run("shellcheck", "-", input="#!/bin/bash\nrm -rf $1/*\n")
    assert result.returncode != 0


@pytest.mark.parametrize("script", [name for name in project_files("scripts") if name.count("/") == 1])
def test_every_script_has_a_description(script):
    result = run(f"./{script}", "--help")
    assert result.returncode == 0, result.stderr
    assert "sage:" in result.stdout


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][\w-]*):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))


def unknown_commands(text: str) -> list[str]:
    """`make` targets, scripts and tallycam subcommands in the text that do not exist."""
    faults = [f"make {name}" for name in re.findall(r"\bmake ([a-z][\w-]*)", code_spans(text)) if name not in make_targets()]
    faults += [name for name in re.findall(r"\bscripts/[\w-]+(?:\.py)?", text) if not (CHECKOUT / name).exists()]
    faults += [
        f"tallycam {name}"
        for name in re.findall(r"(?:^|[`/ ])tallycam ([a-z][\w-]*)", code_spans(text), re.MULTILINE)
        if run("out/x86_64/tallycam", name, "--help").returncode != 0
    ]
    return faults


@pytest.mark.parametrize("paper", documents())
def test_commands_in_the_documents_exist(paper):
    assert unknown_commands((CHECKOUT / paper).read_text()) == []


def test_a_readme_exists():
    assert (CHECKOUT / "README.md").is_file()


def test_a_wrong_command_in_a_document_is_seen():
    text = "Run `make nothing`, or `scripts/nothing`, then\n```sh\nout/x86_64/tallycam nothing --fast\n```\n"
    assert len(unknown_commands(text)) == 3
