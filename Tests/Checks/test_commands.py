"""docs/reference/commands.md has each command's help as the program prints it. Help is worded alike, and names have one spelling."""

import re
import subprocess
from collections import defaultdict

import pytest
from swift_source import CHECKOUT

PAPER = CHECKOUT / "docs/reference/commands.md"

# An option, a fault of `receive` or a command, with the first word of its description: behind the name, or in the next line.
ENTRY = re.compile(
    r"^ {2,6}(?:-\w, )?(--[a-z][a-z-]*(?:[ =\[]\S+)*|[a-z][a-z-]*(?:=\S+)?)(?: {2,}|\n {12,})(\S+)", re.MULTILINE)
# Neither a verb nor a noun nor what belongs to a noun.
WEAK = set("also and as at be by for from how if in is it its never of on or that to what when where whether who with".split())
BRITISH = (("colour", "color"), ("centre", "center"), ("grey", "gray"), ("behaviour", "behavior"), ("neighbour", "neighbor"),
           ("isation", "ization"), ("ise-", "ize-"))  # fmt: skip


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


def weak_entries(help_text: str) -> list[str]:
    """Options and commands whose description starts with neither a verb nor a noun."""
    return [name for name, word in ENTRY.findall(help_text) if word.lower().strip(",:;") in WEAK]


def plain_name(name: str) -> str:
    """American and without hyphens, as two spellings of one name have it in common."""
    for british, american in BRITISH:
        name = name.replace(british, american)
    return name.strip("-").replace("-", "")


def spellings(names) -> list[set[str]]:
    """Names that are the same but for their spelling, and British ones."""
    groups = defaultdict(set)
    for name in names:
        groups[plain_name(name)].add(name.lstrip("-"))
    return [group for group in groups.values() if len(group) > 1 or any(british in name for name in group for british, _ in BRITISH)]


def documented_names() -> set[str]:
    """Options, commands, controls, filters and their settings."""
    text = "\n".join(path.read_text() for path in sorted((CHECKOUT / "docs/reference").glob("*.md")))
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) | set(re.findall(r"`([a-z][a-z-]+)`", text))


def test_help_starts_with_a_verb_or_a_noun():
    blocks = help_in(PAPER.read_text())
    assert sum(len(ENTRY.findall(block)) for block in blocks.values()) > 100
    assert {name: weak for name, block in blocks.items() if (weak := weak_entries(block))} == {}


def test_weak_help_is_seen():
    options = "  -h, --help                show this help\n      --adapt POLICY        what may adapt\n"
    assert weak_entries(options + "      --orientation DEGREES\n                            of the frame\n") == [
        "--adapt POLICY", "--orientation DEGREES"]  # fmt: skip
    assert weak_entries("  status       be told the state\n  start        start the stream\n") == ["status"]


def test_each_name_has_one_spelling():
    assert len(documented_names()) > 100
    assert spellings(documented_names()) == []


def test_second_spelling_is_seen():
    assert spellings(["--time-out", "timeout", "zoom"]) == [{"time-out", "timeout"}]
    assert spellings(["zoom-centre", "focus-point"]) == [{"zoom-centre"}]
    assert spellings(["color", "colour", "--color"]) == [{"color", "colour"}]
