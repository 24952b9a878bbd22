#!/usr/bin/env python3
"""Draws docs/images/light.svg: what the tally light shows in each state, from the tables in Sources/ApplianceLogic.

Usage: scripts/light-strip.py [--check]

Rhythms come from LEDPattern.swift, the states that show them from ApplianceState.swift, the blink counts from
ApplianceFault.swift. A rhythm, state or fault without a label here is an error. --check compares and writes nothing.
"""

import re
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
LOGIC = CHECKOUT / "Sources/ApplianceLogic"
TARGET = CHECKOUT / "docs/images/light.svg"

# What each state means to a person, in the order of the drawing.
STATES = {
    "ready": "ready: press the button",
    "connecting": "connecting",
    "live": "LIVE",
    "degraded": "live, poor network: quality lowered",
    "liveInSoftware": "live, hardware encoder dead",
    "reconnecting": "connection lost; reconnecting",
    "paused": "paused: a still frame goes out",
    "boot": "starting",
    "updating": "reading changed files",
    "recording": "recording, not live",
    "asked": "a computer or browser asks: press to allow it",
    "stopping": "ending, powering off",
}
# States that look like another one, which stands for both.
SAME = {"webcam": "live", "shutdown": "stopping", "pairing": "asked"}
FAULTS = {
    "streamFile": "stream.json",
    "settings": "device.json, network.json",
    "camera": "no camera",
    "microphone": "no microphone",
    "network": "no network",
    "server": "server or stream key",
    "encoder": "no video encoder",
    "board": "board, card or wiring",
    "hardwareEncoder": "hardware encoder dead",
    "recording": "nothing can be recorded",
}

SHOWN = 7000  # milliseconds: one round of eleven blinks fits
STRIP, ROW = 224, 28
LABEL = 272
COLUMN = LABEL + STRIP
MARGIN, GAP, HEAD = 20, 36, 58


def read(name: str) -> str:
    return (LOGIC / f"{name}.swift").read_text()


def rhythms(text: str) -> dict[str, tuple[list[int], bool]]:
    """Of each named pattern its steps in milliseconds, and whether it starts lit."""
    found = {}
    for name, steps, rest in re.findall(r"static let (\w+) = LEDPattern\(\[([\d, ]*)\](.*)\)", text):
        found[name] = ([int(step) for step in re.findall(r"\d+", steps)], "startsLit: false" not in rest)
    return found


def counted(text: str, number: int) -> list[int]:
    """LEDPattern.count: blinks of equal light and dark, then a longer pause."""
    light, dark, pause = map(int, re.search(r"\[(\d+), (\d+)\], count: max\(number.*?\[(\d+)\]", text, re.DOTALL).groups())
    return [light, dark] * (number - 1) + [light, pause]


def patterns_of_states(text: str) -> dict[str, str]:
    body = re.search(r"var pattern: LEDPattern \{.*?\n    \}", text, re.DOTALL)[0]
    found = {}
    for states, pattern in re.findall(r"case (\.[^:\n]+): \.(\w+)$", body, re.MULTILINE):
        found |= {state: pattern for state in re.findall(r"\.(\w+)", states)}
    return found


def blink_counts(text: str) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r"^    case (\w+) = (\d+)$", text, re.MULTILINE)}


def spans(steps: list[int], starts_lit: bool) -> list[tuple[int, int]]:
    """From when to when it is lit within what is shown."""
    if not steps:
        return [(0, SHOWN)] if starts_lit else []
    found, now, lit, index = [], 0, starts_lit, 0
    while now < SHOWN:
        end = min(now + steps[index % len(steps)], SHOWN)
        if lit:
            found.append((now, end))
        now, lit, index = end, not lit, index + 1
    return found


def row(x: int, y: int, label: str, lit: list[tuple[int, int]], kind: str) -> str:
    parts = [f'<text x="{x}" y="{y + 15}" class="{kind}">{label}</text>']
    parts.append(f'<rect x="{x + LABEL}" y="{y}" width="{STRIP}" height="{ROW - 8}" rx="3" fill="#2a2e37"/>')
    for start, end in lit:
        left, width = x + LABEL + start * STRIP / SHOWN, (end - start) * STRIP / SHOWN
        parts.append(f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 8}" rx="2" fill="#ff5a4f"/>')
    return "\n".join(parts)


def scale(x: int, y: int) -> str:
    marks = [
        f'<text x="{x + LABEL + second * 1000 * STRIP / SHOWN:.1f}" y="{y}" class="scale">{second}</text>'
        for second in range(SHOWN // 1000 + 1)
    ]
    return "\n".join(marks) + f'\n<text x="{x + LABEL + STRIP + 7}" y="{y}" class="unit">s</text>'


def drawing() -> str:
    patterns, states = rhythms(read("ButtonAndLights/LEDPattern")), patterns_of_states(read("Appliance/ApplianceState"))
    faults = blink_counts(read("Faults/ApplianceFault"))
    if states.keys() != STATES.keys() | SAME.keys():
        sys.exit(f"light-strip: states without a label or without a rhythm: {sorted(states.keys() ^ (STATES.keys() | SAME.keys()))}")
    if faults.keys() != FAULTS.keys():
        sys.exit(f"light-strip: faults without a label, or labels without a fault: {sorted(faults.keys() ^ FAULTS.keys())}")
    if others := [name for name, same in SAME.items() if states[name] != states[same]]:
        sys.exit(f"light-strip: these have a rhythm of their own now: {others}")
    if unused := patterns.keys() - set(states.values()) - {"off"}:
        sys.exit(f"light-strip: rhythms that no state shows: {sorted(unused)}")
    right = MARGIN + COLUMN + GAP
    width = right + COLUMN + MARGIN
    height = HEAD + max(len(STATES), len(FAULTS)) * ROW + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
        ' aria-labelledby="title">',
        "<!-- Drawn by scripts/light-strip.py from Sources/ApplianceLogic. Do not edit. -->",
        '<title id="title">What the tally light shows: red is light, gray is dark, seven seconds from left to right</title>',
        "<style>text{font-family:'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif;fill:#d5d8de;font-size:14.5px}"
        ".head{font-size:16px;font-weight:bold;fill:#fff}.live{font-weight:bold;fill:#ff5a4f}"
        ".scale{font-size:11px;fill:#8b93a1;text-anchor:middle}.unit{font-size:11px;fill:#8b93a1}</style>",
        f'<rect width="{width}" height="{height}" rx="10" fill="#16181d"/>',
        f'<text x="{MARGIN}" y="34" class="head">Rhythms: what the camera is doing</text>',
        f'<text x="{right}" y="34" class="head">Counts: what is wrong</text>',
    ]
    for index, (state, label) in enumerate(STATES.items()):
        kind = "live" if state == "live" else "plain"
        parts.append(row(MARGIN, HEAD + index * ROW, label, spans(*patterns[states[state]]), kind))
    for index, (fault, number) in enumerate(sorted(faults.items(), key=lambda item: item[1])):
        label = f"{number} blinks: {FAULTS[fault]}"
        parts.append(row(right, HEAD + index * ROW, label, spans(counted(read("ButtonAndLights/LEDPattern"), number), True), "plain"))
    parts.append(scale(MARGIN, HEAD + len(STATES) * ROW + 8))
    parts.append(scale(right, HEAD + len(FAULTS) * ROW + 8))
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    if "--help" in sys.argv[1:] or "-h" in sys.argv[1:]:
        print(__doc__.strip())
        return
    if unknown := [word for word in sys.argv[1:] if word != "--check"]:
        sys.exit(f"light-strip: unknown argument {unknown[0]}; see scripts/light-strip.py --help")
    text = drawing()
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text() != text:
            sys.exit("light-strip: docs/images/light.svg differs from the code: run scripts/light-strip.py")
        return
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(text)


main()
