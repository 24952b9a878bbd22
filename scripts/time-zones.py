#!/usr/bin/env python3
"""Writes the time zones' rules into the program's source, from the tz database on this machine.

Usage: scripts/time-zones.py [--check] [FOLDER]

FOLDER is a zoneinfo folder with tzdata.zi (default: /usr/share/zoneinfo; Debian's package tzdata). The last line of each
zone's file is its rule from now on, in the form of POSIX's variable TZ. Two files are written: the table that the program
looks names up in, and for its test, what Python's zoneinfo says that clocks show under each rule in the next years. A zone
whose clocks do not follow its rule in these years fails here or in that test: the program would be wrong there.
--check compares and writes nothing. It only compares tables of the same release of the tz database.
"""

import re
import sys
import textwrap
import zoneinfo
from datetime import datetime, timedelta, timezone
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
TABLE = CHECKOUT / "Sources/TimeZones/TimeZoneTable.swift"
EXPECTED = CHECKOUT / "Tests/TimeZonesTests/ExpectedChanges.swift"
# No place has these: what a machine without a zone uses, and the machine's own.
LEFT_OUT = {"Factory", "localtime", "posixrules"}
# What clocks show is compared from the end of the table's year to the end of this one.
LAST_YEAR = 2030
HEAD = "// Written by scripts/time-zones.py from release {} of the tz database, which is in the public domain. Do not edit.\n"


def release(folder: Path) -> str:
    return re.match(r"# version (\S+)", (folder / "tzdata.zi").read_text())[1]


def zones(folder: Path) -> dict[str, str]:
    """Of each name the one whose file to read: Debian has the files of old names in another package."""
    found = {}
    for line in (folder / "tzdata.zi").read_text().splitlines():
        match line.split():
            case ["L", target, name]: found[name] = target
            case ["Z", name, *_]: found[name] = name
    return {name: found.get(target, target) for name, target in sorted(found.items()) if name not in LEFT_OUT}


def rule(file: Path) -> str:
    """RFC 8536 section 3.3: a newline, the rule, a newline."""
    data = file.read_bytes()
    if data[:4] != b"TZif" or data[-1:] != b"\n":
        sys.exit(f"time-zones: {file} is not a TZif file with a rule")
    return data[:-1].rsplit(b"\n", 1)[1].decode()


def clocks(zone: zoneinfo.ZoneInfo, seconds: int) -> str:
    """As in "3600/CET"."""
    time = datetime.fromtimestamp(seconds, zone)
    return f"{time.utcoffset() // timedelta(seconds=1)}/{time.tzname()}"


def changes(zone: zoneinfo.ZoneInfo, start: int, end: int) -> str:
    """What clocks show at the start, and each change until the end: "3600/CET 1806195600=7200/CEST"."""
    words = [clocks(zone, start)]
    # No zone changes twice within ten days: none has both changes in one month any more.
    step = 10 * 86400
    for low in range(start, end, step):
        high = low + step
        if clocks(zone, low) == clocks(zone, high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if clocks(zone, middle) == clocks(zone, low) else (low, middle)
        words.append(f"{high}={clocks(zone, high)}")
    return " ".join(words)


def literal(lines: list[str]) -> str:
    return '"""\n' + "".join(f"        {line}\n" for line in lines) + '        """\n'


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 110, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False)


def table(version: str, names: dict[str, list[str]]) -> str:
    lines = [line for rule in sorted(names) for line in wrapped(f"{rule} {' '.join(names[rule])}")]
    return (
        HEAD.format(version)
        + "/// Rules, each followed by the names of its zones. A line that starts with a space continues the one above.\n"
        + f'enum TimeZoneTable {{\n    static let release = "{version}"\n\n    static let text = {literal(lines)}}}\n'
    )


def expected(version: str, shown: dict[str, str]) -> str:
    lines = [line for rule in sorted(shown) for line in wrapped(f"{rule} {shown[rule]}")]
    return (
        HEAD.format(version)
        + "/// Rules, each followed by what clocks show at the start, and by its changes. A line that starts with a space\n"
        + "/// continues the one above.\n"
        + f"enum ExpectedChanges {{\n    static let start = {START:_}\n    static let end = {END:_}\n\n"
        + f"    static let text = {literal(lines)}}}\n"
    )


def files(folder: Path) -> dict[Path, str]:
    zoneinfo.reset_tzpath([folder])
    names: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    for name, target in zones(folder).items():
        text, seen = rule(folder / target), changes(zoneinfo.ZoneInfo(target), START, END)
        if shown.setdefault(text, seen) != seen:
            sys.exit(f"time-zones: {name} does not follow its rule {text} like {names[text][0]} until {LAST_YEAR}: {seen}")
        names.setdefault(text, []).append(name)
    version = release(folder)
    return {TABLE: table(version, names), EXPECTED: expected(version, shown)}


def main(arguments: list[str]) -> None:
    if {"--help", "-h"} & set(arguments):
        return print(__doc__)
    folders = [Path(word) for word in arguments if word != "--check"]
    folder = folders[0] if folders else Path("/usr/share/zoneinfo")
    if len(folders) > 1 or not (folder / "tzdata.zi").exists():
        sys.exit(f"time-zones: {' '.join(map(str, folders)) or folder}: not a zoneinfo folder with tzdata.zi; see --help")
    if "--check" not in arguments:
        for path, text in files(folder).items():
            path.write_text(text)
        return None
    if f"release {release(folder)} of" not in TABLE.read_text():
        return print(f"time-zones: not compared, because this machine has another release, {release(folder)}")
    for path, text in files(folder).items():
        if path.read_text() != text:
            sys.exit(f"time-zones: {path.relative_to(CHECKOUT)} differs from the tz database: run scripts/time-zones.py")
    return None


# Before, a zone's file may depart from its rule: in release 2026f, Cuba keeps summer time until the autumn of 2027.
START = int(datetime(2027, 4, 1, tzinfo=timezone.utc).timestamp())
END = int(datetime(LAST_YEAR + 1, 1, 1, tzinfo=timezone.utc).timestamp())

if __name__ == "__main__":
    main(sys.argv[1:])
