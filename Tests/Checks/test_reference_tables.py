"""Tables of names and numbers in the documents are those of the code. Commands, controls, filters, events, JSON keys and status
have tests of their own."""

import re
import subprocess

import pytest
from swift_source import CHECKOUT

REFERENCE, HOWTO = CHECKOUT / "docs/reference", CHECKOUT / "docs/howto"


def section(text: str, heading: str) -> str:
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def code(path: str) -> str:
    return (CHECKOUT / "Sources" / path).read_text()


def named(text: str) -> set[str]:
    """The code in the first column of a table."""
    return {name for row in re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)}


def documented_settings(console: str) -> set[str]:
    return named(section(console, "Settings for set")) | named(section((REFERENCE / "controls.md").read_text(), "The table"))


def settings() -> set[str]:
    words = [CHECKOUT / "out/x86_64/tallycam", "set", "--help"]
    text = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout
    return set(re.findall(r"[a-z][a-z-]+", text.partition("\nNames: ")[2]))


def documented_codes(events: str) -> set[int]:
    text = section(events, "Failure codes")
    cells = re.findall(r"^\| (-[-\d, ]+) \|", text, re.MULTILINE) + re.findall(r"^(-\d+.*) are reserved", text, re.MULTILINE)
    return {int(number) for cell in cells for number in re.findall(r"-\d+", cell)}


def failure_codes() -> set[int]:
    text = code("StreamLogic/Events/EventCode.swift")
    return {int(number) for number in re.findall(r"^    case \w+ = (-\d+)$", text, re.MULTILINE)}


def documented_statuses(commands: str) -> set[int]:
    return {int(number) for number in re.findall(r"^\| (\d) \|", section(commands, "Exit status"), re.MULTILINE)}


def statuses() -> set[int]:
    text = code("Terminal/ExitStatus.swift")
    return {int(number) for number in re.findall(r"^    case \w+ = (\d+)$", text, re.MULTILINE)}


def documented_qualities(quality: str) -> set[tuple[str, str, str, str]]:
    rows = re.findall(r"^\| `(\w+)`[^|]* \| (\d+) \| (\d+) \| (\w+) \|$", section(quality, "The nine qualities"), re.MULTILINE)
    return set(rows)


def qualities() -> set[tuple[str, str, str, str]]:
    text = code("StreamQuality/VideoPreset.swift")
    names = re.findall(r"^    case (\w+)$", text, re.MULTILINE)
    rates = dict(re.findall(r"case \.(\w+): (\d+)$", text, re.MULTILINE))
    slow = {
        name: rate
        for cases, rate in re.findall(r"case (\.[\w, .]+): FrameRate\(framesPerSecond: (\d+)\)", text)
        for name in re.findall(r"\w+", cases)
    }
    usual = re.search(r"default: FrameRate\(framesPerSecond: (\d+)\)", text)[1]
    first_of_main = names.index(re.search(r"bitrate >= Self\.(\w+)\.bitrate \? \.high", text)[1])
    return {
        (name.capitalize(), rates[name], slow.get(name, usual), "Main" if index >= first_of_main else "Baseline")
        for index, name in enumerate(names)
    }


def documented_sizes(quality: str) -> set[str]:
    return set(re.findall(r"\b\d+x\d+\b", "".join(re.findall(r"^\| \| .+\|$", section(quality, "Frame size"), re.MULTILINE))))


def sizes() -> set[str]:
    presets = code("StreamQuality/VideoDimension.swift").split("public static let presets")[0]
    found = {f"{width}x{height}" for width, height in re.findall(r"preset: ([\d_]+), ([\d_]+)\)", presets)}
    return found | {"640x480"}


def documented_refusals(console: str) -> set[str]:
    return named(section(console, "Refusals"))


def refusals() -> set[str]:
    texts = ["StreamLogic/Commands/CommandRefusal", "StreamLogic/Capture/SnapshotFailure", "ApplianceLogic/Appliance/ApplianceRefusal"]
    names = [code(f"{text}.swift").split("public var name: String {")[1].split("\n    }\n")[0] for text in texts]
    return set(re.findall(r'"(\w+)"', "".join(names)))


TABLES = {
    "settings": (REFERENCE / "console.md", documented_settings, settings, "`bitrate`", "`bit-rate`"),
    "failure codes": (REFERENCE / "events.md", documented_codes, failure_codes, "| -1011 |", "| -1016 |"),
    "exit statuses": (REFERENCE / "commands.md", documented_statuses, statuses, "| 5 | the", "| 7 | the"),
    "refusals": (REFERENCE / "console.md", documented_refusals, refusals, "`notLive`", "`notAlive`"),
    "qualities": (HOWTO / "quality.md", documented_qualities, qualities, "| 264 |", "| 265 |"),
    "frame sizes": (HOWTO / "quality.md", documented_sizes, sizes, "| 416x234 |", "| 416x240 |"),
}


@pytest.mark.parametrize("table", TABLES)
def test_the_table_is_the_code_s(table):
    page, documented, there, _, _ = TABLES[table]
    found = documented(page.read_text())
    assert len(found) > 3 and found == there()


@pytest.mark.parametrize("table", TABLES)
def test_a_difference_is_seen(table):
    page, documented, there, old, new = TABLES[table]
    assert documented(page.read_text().replace(old, new)) != there()


def test_doctor_knows_the_keys_of_the_documents():
    """Keys that stand for a service's own have a sign or more in them; "stage" is a name that a person chooses."""
    pages = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
    keys = {key for page in pages for key in re.findall(r'"key": "([^"?]*[-_][^"?]*)', page.read_text())}
    known = re.search(r"exampleKeys: Set = \[(.*?)\]", code("ApplianceLogic/Checkup/CheckupFinding.swift"), re.DOTALL)[1]
    assert keys and keys <= set(re.findall(r'"([^"]+)"', known))
