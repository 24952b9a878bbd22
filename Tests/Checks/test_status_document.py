"""docs/reference/status.md has the states and the fields that the program writes."""

import re

import pytest
from swift_source import CHECKOUT

PAGE = CHECKOUT / "docs/reference/status.md"
WRITTEN = re.compile(r"\.write(?:Null|Array|Object)?\(\"(\w+)\"")


def source(name: str) -> str:
    (path,) = (CHECKOUT / "Sources").rglob(f"{name}.swift")
    return path.read_text()


def body(text: str, start: str) -> str:
    """The declaration with this text, up to the brace that ends it."""
    indent = re.search(rf"^( *).*{re.escape(start)}", text, re.MULTILINE)[1]
    return text[text.index(start) :].split(f"\n{indent}}}\n", 1)[0]


def section(text: str, heading: str) -> str:
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def documented(text: str, heading: str) -> set[str]:
    """The names that the first column of the section's table sets as code; of `eachAudio…` fields one is enough."""
    rows = re.findall(r"^\| (`.+?) \| ", section(text, heading), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row) if "…" not in name}


def states() -> set[str]:
    return set(re.findall(r": \"([a-z ]+)\"$", body(source("ApplianceState"), "public var name: String"), re.MULTILINE))


def device_fields() -> set[str]:
    """Those of each entry of `faults` are said beside it."""
    stream = body(source("CommandAnswers"), "public func write(to object: borrowing JSONObjectWriter, camera: String?)")
    return set(WRITTEN.findall(body(source("ApplianceStatus"), "var jsonLine: [UInt8]") + stream)) - {"blinks", "meaning"}


def source_fields() -> set[str]:
    names = set(re.findall(r"\(\"(\w+)\",", source("EventRenderingSources")))
    return {name for name in names if re.match(r"source[A-Z]|audio[A-Z]|preview[A-Z]|filter", name)}


def webcam_fields() -> set[str]:
    return set(WRITTEN.findall(body(source("WebcamStatus"), "package func write(")))


SECTIONS = {
    "States": states, "status json": device_fields, "Counts of sources": source_fields, "The webcam's fields": webcam_fields,
}  # fmt: skip


@pytest.mark.parametrize("heading", SECTIONS)
def test_the_document_has_what_the_program_writes(heading):
    found = documented(PAGE.read_text(), heading)
    # One of the fields of several sources stands for all.
    assert {name for name in found if not name.startswith("each")} == SECTIONS[heading]()


@pytest.mark.parametrize(
    "heading, name", [("States", "degraded"), ("status json", "linksUp"), ("The webcam's fields", "isStalled")]
)
def test_a_difference_is_seen(heading, name):
    text = PAGE.read_text()
    assert documented(text.replace(f"| `{name}`", f"| `{name}2`"), heading) - SECTIONS[heading]() == {f"{name}2"}
