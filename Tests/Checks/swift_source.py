"""Swift source as the rules read it: code without comments and string contents, and imports."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
SOURCES = CHECKOUT / "Sources"

IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?(\w+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class SwiftFile:
    path: Path
    text: str

    @property
    def name(self) -> str:
        return str(self.path.relative_to(CHECKOUT)) if self.path.is_relative_to(CHECKOUT) else str(self.path)

    @property
    def code_lines(self) -> list[str]:
        return code_of(self.text).split("\n")

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def imports(self) -> set[str]:
        return set(IMPORT.findall(code_of(self.text)))

    def has_reason(self, line: int, lines_above: int = 1) -> bool:
        """Whether a comment is on the line (counted from 0) or directly above it."""
        code = self.code_lines
        window = range(max(0, line - lines_above), line + 1)
        return any("//" in self.lines[at] and "//" not in code[at] for at in window)


def swift_files(folder: Path = SOURCES) -> list[SwiftFile]:
    return [SwiftFile(path, path.read_text()) for path in sorted(folder.rglob("*.swift"))]


def targets() -> list[str]:
    """Targets with Swift code; the others are C shims."""
    return sorted(path.name for path in SOURCES.iterdir() if any(path.rglob("*.swift")))


@functools.cache
def code_of(text: str) -> str:
    """The text with comments and the contents of strings blanked, and line breaks kept.

    Code within an interpolation stays.
    """
    out: list[str] = []
    at = _code(text, 0, out, closing=None)
    assert at == len(text)
    return "".join(out)


def _code(text: str, at: int, out: list[str], closing: str | None) -> int:
    depth = 0
    while at < len(text):
        character = text[at]
        if text.startswith("//", at):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            out.append(" " * (end - at))
            at = end
        elif text.startswith("/*", at):
            at = _block_comment(text, at, out)
        elif opening := re.compile(r'(#*)("""|")').match(text, at):
            at = _string(text, opening, out)
        else:
            if closing and character == "(":
                depth += 1
            elif closing and character == ")":
                if depth == 0:
                    return at
                depth -= 1
            out.append(character)
            at += 1
    return at


def _block_comment(text: str, at: int, out: list[str]) -> int:
    depth = 0
    while at < len(text):
        if text.startswith("/*", at) or text.startswith("*/", at):
            depth += 1 if text[at] == "/" else -1
            out.append("  ")
            at += 2
            if depth == 0:
                break
        else:
            out.append("\n" if text[at] == "\n" else " ")
            at += 1
    return at


def _string(text: str, opening: re.Match, out: list[str]) -> int:
    hashes, quote = opening.groups()
    end, escape = quote + hashes, "\\" + hashes
    out.append(opening.group())
    at = opening.end()
    while at < len(text) and not text.startswith(end, at):
        if text.startswith(escape + "(", at):
            out.append(" " * len(escape) + "(")
            at = _code(text, at + len(escape) + 1, out, closing=")")
            if text.startswith(")", at):
                out.append(")")
                at += 1
        elif text.startswith(escape, at):
            out.append(" " * (len(escape) + 1))
            at += len(escape) + 1
        elif text[at] == "\n" and quote == '"':
            return at
        else:
            out.append("\n" if text[at] == "\n" else " ")
            at += 1
    out.append(end if at < len(text) else "")
    return min(len(text), at + len(end))
