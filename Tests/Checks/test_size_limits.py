"""Limits for the size of engines, files, functions and initializers; and names are required instead of numbers and casts."""

import re

import pytest
from floors import ENGINES, EXECUTABLE
from swift_source import SOURCES, SwiftFile, code_of, swift_files, targets

ENGINE_LINES, EXECUTABLE_LINES, FILE_LINES, FUNCTION_LINES, PARAMETERS = 3000, 2300, 300, 40, 7

# Exceeding that today, each with the limit that applies until it is split. An unneeded entry fails, too.
LARGE_TARGETS: dict[str, int] = {}
LARGE_FILES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}
WIDE_INITIALIZERS: dict[str, int] = {}

FUNCTION = re.compile(r"\b(func\s+[^\s(<]+|init[?!]?|deinit|subscript)\s*(?=[(<{])")
# A computed property, or the observers of a stored one.
PROPERTY = re.compile(r"\bvar\s+(\w+|`\w+`)\s*:[^={}\n]*(?:\n[^={}\n]*)?(?=\{)")
INITIALIZER = re.compile(r"(?<![.\w])init[?!]?\s*(?:<[^>]*>)?\s*\(")
# A call of an initializer. What has more arguments than an initializer may have parameters is a struct's implicit one.
INITIALIZATION = re.compile(r"(?<![\w.])(?:[A-Z]\w*(?:\.[A-Z]\w*)*(?:<[^<>()]*>)?|(?:[A-Z]\w*|self|super)?\.init)\(")
DECLARED_TYPE = re.compile(r"\b(?:struct|class)\s+(\w+)")
# From the end of the parameters to the body; a declaration in between starts something else.
BEFORE_BODY = re.compile(r"[^{}\n]*(?:\n(?!\s*(?:@|public|private|func|var|let|init|static|case|\}))[^{}\n]*)*\{")
NESTED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>")
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
PORT_CAST = re.compile(
    r"\bas[?!] (?:any (?!\w*(?:Error|Failure)\b)|\w*(?:Camera|Connection|Encoder|Microphone|Scaler|Sink|Source|Stream)\b)"
)
# The compiler keeps poll's results within LinuxIO; elsewhere, only a PollSet gives them, by name. Other modules could still choose
# an entry by its position.
READ_BY_NUMBER = re.compile(r"\b\w*[eE]ntries(?:\[|\.(?:first|last|dropFirst|dropLast|prefix|suffix|indices|enumerated)\b)")
POLLING = SOURCES / "LinuxIO"
PUBLIC_RESULT = re.compile(r"\bpublic\b.*\b(?:ready\b(?!\()|subscript)")


def closing(code: str, at: int) -> int:
    """The position of the bracket that closes the one at `at`."""
    opening, depth = code[at], 0
    end = {"(": ")", "{": "}"}[opening]
    for place in range(at, len(code)):
        if code[place] == opening:
            depth += 1
        elif code[place] == end:
            depth -= 1
            if depth == 0:
                return place
    raise ValueError(f"nothing closes {code[at : at + 40]!r}")


def functions(text: str) -> dict[str, int]:
    """The number of lines within the braces of each function and computed property."""
    code, found = code_of(text), {}
    for match in FUNCTION.finditer(code):
        end = match.end() if match[1] == "deinit" else closing(code, code.find("(", match.end())) + 1
        # A protocol's requirement, or a call, has no body.
        if body := BEFORE_BODY.match(code, end):
            start = body.end() - 1
            lines = max(0, code.count("\n", start, closing(code, start)) - 1)
            name = re.sub(r"\s+", " ", match[1])
            found[name] = max(found.get(name, 0), lines)
    for match in PROPERTY.finditer(code):
        lines = max(0, code.count("\n", match.end(), closing(code, match.end())) - 1)
        name = f"var {match[1]}"
        found[name] = max(found.get(name, 0), lines)
    return found


def parameters(text: str) -> int:
    """The number of parameters of the initializer in the file that has the most."""
    code, most = code_of(text), 0
    for match in INITIALIZER.finditer(code):
        inner = code[match.end() : closing(code, match.end() - 1)].replace("->", "")
        while (flat := NESTED.sub("", inner)) != inner:
            inner = flat
        most = max(most, inner.count(":"))
    return most


def arguments(text: str) -> dict[str, int]:
    """The most arguments in a call of each type's initializer."""
    code, most = code_of(text), {}
    for match in INITIALIZATION.finditer(code):
        inner = code[match.end() : closing(code, match.end() - 1)].replace("->", "")
        while (flat := BRACKETS.sub("", inner)) != inner:
            inner = flat
        name, count = match[0][:-1], inner.count(",") + 1 if inner.strip() else 0
        most[name] = max(most.get(name, 0), count)
    return most


def lines_with(pattern: re.Pattern, file: SwiftFile) -> list[str]:
    return [f"{file.name}:{at + 1}" for at, line in enumerate(file.code_lines) if pattern.search(line)]


def polls(file: SwiftFile) -> bool:
    return re.search(r"\b(?:PollEntry|pollEntries)\b", file.text) is not None


def excess(found: dict[str, int], limit: int, exceptions: dict[str, int]) -> list[str]:
    """Everything over its limit, and exceptions that have become too generous."""
    limits = {name: exceptions.get(name, limit) for name in found}
    faults = [f"{name}: {size}, at most {limits[name]}" for name, size in found.items() if size > limits[name]]
    return faults + [f"{name}: needs no exception" for name in exceptions if found.get(name, 0) <= limit]


def assert_none(faults: list[str]) -> None:
    assert not faults, "\n".join(faults)


def test_engines_and_executable_are_not_too_large():
    lines = {target: sum(file.text.count("\n") for file in swift_files(SOURCES / target)) for target in targets()}
    engines = {target: count for target, count in lines.items() if target in ENGINES}
    executable = {target: lines[target] for target in EXECUTABLE}
    exceptions = {name: size for name, size in LARGE_TARGETS.items() if name in engines}
    assert_none(excess(engines, ENGINE_LINES, exceptions))
    exceptions = {name: size for name, size in LARGE_TARGETS.items() if name in executable}
    assert_none(excess(executable, EXECUTABLE_LINES, exceptions))


def test_files_are_not_too_long():
    lines = {file.name: file.text.count("\n") for file in swift_files()}
    assert_none(excess(lines, FILE_LINES, LARGE_FILES))


def test_functions_are_not_too_long():
    lines = {f"{file.name} {name}": count for file in swift_files() for name, count in functions(file.text).items()}
    assert len(lines) > 4000, "the functions were not found"
    assert_none(excess(lines, FUNCTION_LINES, LONG_FUNCTIONS))


def test_initializers_do_not_have_too_many_parameters():
    counts = {file.name: parameters(file.text) for file in swift_files()}
    assert sum(count > 0 for count in counts.values()) > 100, "the initializers were not found"
    assert_none(excess(counts, PARAMETERS, WIDE_INITIALIZERS))


def test_structs_without_an_initializer_do_not_have_too_many_fields():
    own = {name for file in swift_files() for name in DECLARED_TYPE.findall(file.text)} | {"init"}
    counts = {
        f"{file.name} {name}": count
        for file in swift_files()
        for name, count in arguments(file.text).items()
        if re.sub("<.*", "", name).rpartition(".")[2] in own
    }
    assert len(counts) > 1000, "the calls were not found"
    assert_none(excess(counts, PARAMETERS, {}))


def test_no_cast_finds_out_what_a_port_can_do():
    assert_none([place for file in swift_files() for place in lines_with(PORT_CAST, file)])


def test_results_of_poll_are_read_by_name():
    own = [file for file in swift_files(POLLING) if file.path.name in ("Poll.swift", "PollSet.swift")]
    assert len(own) == 2
    assert_none([place for file in own for place in lines_with(PUBLIC_RESULT, file)])
    others = [file for file in swift_files() if POLLING not in file.path.parents and polls(file)]
    assert len(others) > 20, "the poll loops were not found"
    assert_none([place for file in others for place in lines_with(READ_BY_NUMBER, file)])


LONG = "    let a = 1\n"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("func f() {\n" + LONG * 3 + "}\n", {"func f": 3}),
        ("func f(a: Int = { 1 }(), b: (Int) -> Void)\n    throws -> Int {\n" + LONG * 2 + "}\n", {"func f": 2}),
        ("init?<T>(a: T) where T: A {\n" + LONG + "}\n", {"init?": 1}),
        ("deinit {\n" + LONG * 2 + "}\n", {"deinit": 2}),
        ("protocol A {\n    func f() -> Int\n}\n", {}),
        ("var x: [Int: Int] {\n" + LONG * 2 + "}\nvar y = { 1 }()\nvar z: A = {\n" + LONG + "}()\n", {"var x": 2}),
        ("subscript(at: Int) -> Int {\n" + LONG * 4 + "}\n", {"subscript": 4}),
        ('func f() {\n    print("\\(x) {")\n}\nfunc g() { h() }\n', {"func f": 1, "func g": 0}),
    ],
)
def test_the_lines_of_a_function_are_counted(text, expected):
    assert functions(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("init(a: Int, _ b: [String: Int], c: (Int) -> Void = { _ in }) {}", 3),
        ("init() {}\ninit(a: Result<Int, A>, b: Int) {}", 2),
        ("let x = Y.init(a: 1, b: 2)", 0),
    ],
)
def test_the_parameters_of_an_initializer_are_counted(text, expected):
    assert parameters(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("let x = Y(a: 1, b: [2, 3], c: f(4, 5)) { 6 }", {"Y": 3}),
        ("let x = Y.Z<A, B>(\n    a: 1, b: g { $0, 1 })", {"Y.Z<A, B>": 2}),
        ("self.init(a: 1)\nlet x: Y = .init(a: 1, b: 2)", {"self.init": 1, ".init": 2}),
        ("f(1, 2)\nx.Y(3)\nY()", {"Y": 0}),
    ],
)
def test_the_arguments_of_an_initializer_are_counted(text, expected):
    assert arguments(text) == expected


def test_excesses_are_detected():
    assert excess({"a": 5, "b": 3}, 4, {}) == ["a: 5, at most 4"]
    assert excess({"a": 5}, 4, {"a": 5}) == [] and excess({"a": 6}, 4, {"a": 5}) == ["a: 6, at most 5"]
    assert excess({"a": 4}, 4, {"a": 5}) == ["a: needs no exception"]


def test_casts_and_numbers_are_detected():
    def file(text: str) -> SwiftFile:
        return SwiftFile(SOURCES / "RTMP/x.swift", text)

    assert lines_with(PORT_CAST, file("let a = b as? any Camera")) == ["Sources/RTMP/x.swift:1"]
    assert lines_with(PORT_CAST, file("let a = (b as? TLSConnection)?.version"))
    assert not lines_with(PORT_CAST, file("let a = b as? any CameraFailure"))
    assert not lines_with(PORT_CAST, file("let a = b as? StreamFailure"))
    for text in ("pollEntries[1].interest", "entries[Waited.stop.rawValue]", "entries.last?.interest"):
        assert lines_with(READ_BY_NUMBER, file(f"let a = {text}")), text
    assert not lines_with(READ_BY_NUMBER, file("waits.add(.control, server.pollEntries)"))
    assert lines_with(PUBLIC_RESULT, file("    public var ready: PollEvents { events }"))
    assert not lines_with(PUBLIC_RESULT, file("    public func ready(_ name: Name) -> PollEvents {"))
    assert polls(file("var entries = [PollEntry(1)]")) and not polls(file("let entries = [1]"))
