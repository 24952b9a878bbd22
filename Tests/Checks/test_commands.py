"""docs/reference/commands.md has each command's help as the program prints it."""

import re
import subprocess

import pytest
from swift_source import CHECKOUT

PAPER = CHECKOUT / "docs/reference/commands.md"


def help_of(*command: str) -> str:
    words = [CHECKOUT / "out/x86_64/tallycam", *command, "--help"]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout


def commands() -> list[str]:
    """The commands that the program's own help lists."""
    return re.findall(r"^  ([a-z]+) {2,}\S", help_of(), re.MULTILINE)


def help_in(text: str) -> dict[str, str]:
    """The code blocks that start with "Usage: tallycam", by command; "" is the program itself."""
    blocks = re.findall(r"^```\n(Usage: tallycam .*?)^```$", text, re.MULTILINE | re.DOTALL)
    found = {}
    for block in blocks:
        word = block.split()[2]
        name = "" if word == "COMMAND" else word
        assert name not in found, f"two blocks of {name}"
        found[name] = block
    return found


def differences(text: str) -> list[str]:
    """Commands that the document omits, has in excess, or describes differently from the program."""
    there, documented = {"": help_of(), **{name: help_of(name) for name in commands()}}, help_in(text)
    return sorted(name for name in there.keys() | documented.keys() if there.get(name) != documented.get(name))


def test_the_document_has_the_help_of_every_command():
    assert len(commands()) > 5
    assert differences(PAPER.read_text()) == []


@pytest.mark.parametrize(
    "old, new, wrong",
    [
        ("--listen HOST:PORT    listen on this", "--listen HOST:PORT    listen to this", ["receive"]),
        ("Usage: tallycam stop ", "Use: tallycam stop ", ["stop"]),
        ("Usage: tallycam check ", "Usage: tallycam examine ", ["check", "examine"]),
        ("  check        report every fault", "  check        report some faults", [""]),
    ],
)
def test_a_difference_is_detected(old, new, wrong):
    text = PAPER.read_text()
    assert text.count(old) == 1
    assert differences(text.replace(old, new)) == wrong
