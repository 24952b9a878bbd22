"""Constructs that no source file may contain."""

import re

import pytest
from swift_source import CHECKOUT, SOURCES, SwiftFile, swift_files

# A postfix `!`: forced unwrapping, `try!`, `as!` and implicitly unwrapped types.
FORCED = re.compile(r"[\w)\]}?>]!(?!=)")
TRAPS = re.compile(r"\b(fatalError|preconditionFailure|precondition|assertionFailure|unsafeBitCast)\b")
UNCHECKED = re.compile(r"@unchecked\s+Sendable|nonisolated\(unsafe\)")
VAGUE = re.compile(r"\b(?:class|struct|enum|protocol|actor)\s+\w*(?:Manager|Helper|Utils?|Utilities)\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
TASKS = re.compile(r"\b(async|await|actor|Task|DispatchQueue)\b")
# Language features that came after Swift 6.0, the compiler for boards.
TOO_NEW = re.compile(r"\b(Span|RawSpan|MutableSpan|InlineArray)<|@concurrent\b")


def matches(file: SwiftFile, pattern: re.Pattern) -> list[int]:
    return [at for at, line in enumerate(file.code_lines) if pattern.search(line)]


def forced(file: SwiftFile) -> list[int]:
    return [at for at in matches(file, FORCED) if not file.has_reason(at)]


def traps(file: SwiftFile) -> list[int]:
    return [at for at in matches(file, TRAPS) if not file.has_reason(at)]


def unchecked(file: SwiftFile) -> list[int]:
    """Only LinuxIO may vouch for thread safety itself, with a reason each time."""
    if file.path.is_relative_to(SOURCES / "LinuxIO"):
        return [at for at in matches(file, UNCHECKED) if not file.has_reason(at, lines_above=4)]
    return matches(file, UNCHECKED)


def vague_names(file: SwiftFile) -> list[int]:
    return matches(file, VAGUE)


def unfinished(file: SwiftFile) -> list[int]:
    return [at for at, line in enumerate(file.lines) if UNFINISHED.search(line)]


def tasks(file: SwiftFile) -> list[int]:
    return matches(file, TASKS)


def too_new(file: SwiftFile) -> list[int]:
    return matches(file, TOO_NEW)


def unsafe_c_names(file: SwiftFile) -> list[int]:
    """The core must not reach C behind the importer's back."""
    return matches(file, re.compile(r"@_silgen_name|@_extern|@_cdecl"))


RULES = {
    "nothing is forced without a reason": forced,
    "nothing traps on purpose without a reason": traps,
    "only LinuxIO vouches for Sendable, with a proof": unchecked,
    "names say what a type is": vague_names,
    "nothing is left unfinished": unfinished,
    "threads, not tasks": tasks,
    "only what Swift 6.0 has": too_new,
    "no C symbols by name": unsafe_c_names,
}


@pytest.mark.parametrize("rule", RULES)
def test_sources_keep_the_rule(rule):
    faults = [
        f"{file.name}:{at + 1}: {file.lines[at].strip()}" for file in swift_files() for at in RULES[rule](file)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "rule, text",
    [
        ("nothing is forced without a reason", "let x = y!"),
        ("nothing is forced without a reason", "let x = try! f()"),
        ("nothing is forced without a reason", "let x = y as! Z"),
        ("nothing is forced without a reason", "let x: Int! = nil"),
        ("nothing is forced without a reason", 'print("a \\(b[1]!.c)")'),
        ("nothing is forced without a reason", "f(list.first!.name, !done)"),
        ("nothing traps on purpose without a reason", 'fatalError("no")'),
        ("nothing traps on purpose without a reason", "precondition(count > 0)"),
        ("only LinuxIO vouches for Sendable, with a proof", "// safe\nfinal class A: @unchecked Sendable {}"),
        ("only LinuxIO vouches for Sendable, with a proof", "nonisolated(unsafe) var x = 1"),
        ("names say what a type is", "final class StreamManager {}"),
        ("names say what a type is", "enum ByteUtils {}"),
        ("nothing is left unfinished", "// TODO: later"),
        ("threads, not tasks", "func f() async {}"),
        ("only what Swift 6.0 has", "func f(_ bytes: Span<UInt8>) {}"),
        ("no C symbols by name", '@_silgen_name("malloc") func m()'),
    ],
)
def test_a_violation_of_the_rule_is_detected(rule, text):
    assert RULES[rule](SwiftFile(SOURCES / "RTMP/x.swift", text))


@pytest.mark.parametrize(
    "text",
    [
        "if a != b && !c { }",
        "let x = a!=b",
        'print("stop! now!")',
        "// what a pity!",
        '"""\nfirst!\n"""',
        "let x = list[0]!  // filled above",
        "// the table is never empty\nlet x = list.first!",
    ],
)
def test_unforced_and_justified_code_passes(text):
    assert not forced(SwiftFile(SOURCES / "RTMP/x.swift", text))


def test_linuxio_may_vouch_only_with_a_proof():
    name = SOURCES / "LinuxIO/x.swift"
    text = "final class A: @unchecked Sendable {}"
    assert unchecked(SwiftFile(name, text))
    assert not unchecked(SwiftFile(name, f"// One thread only ever sees it.\n{text}"))


# A refusal is compared as a value, for example refused(.notLive); RefusalRenderingTests and ApplianceTextTests have the texts.
REFUSAL_TEXT = re.compile(r'"error\\n\w')


def refusal_texts(text: str) -> list[int]:
    return [at + 1 for at, line in enumerate(text.split("\n")) if REFUSAL_TEXT.search(line)]


def test_unit_tests_compare_refusals_as_values():
    files = sorted((CHECKOUT / "Tests").glob("*Tests/*.swift"))
    assert len(files) > 200, "the unit tests were not found"
    faults = [f"{path.relative_to(CHECKOUT)}:{at}" for path in files for at in refusal_texts(path.read_text())]
    assert not faults, "\n".join(faults)


def test_the_text_of_a_refusal_is_detected():
    assert refusal_texts('#expect(answer == "error\\nnot live")') == [1]
    assert not refusal_texts('#expect(answer.hasPrefix("error\\n")) // "error\\n\\(refusal)\\n"')
