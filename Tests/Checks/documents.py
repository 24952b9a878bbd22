"""Takes the project's documents apart: prose, code, links, headings and examples."""

import os
import re
from pathlib import Path

from swift_source import CHECKOUT

FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```[^\n]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)")
BUILT = {"out", "__pycache__", "node_modules"}


def documents() -> list[str]:
    """The Markdown files of the project, by their path in the checkout."""
    found = []
    for folder, folders, files in os.walk(CHECKOUT):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in BUILT]
        found += [str((Path(folder) / name).relative_to(CHECKOUT)) for name in files if name.endswith(".md")]
    # Issue templates are in a hidden folder.
    found += [str(path.relative_to(CHECKOUT)) for path in sorted((CHECKOUT / ".github").rglob("*.md"))]
    return sorted(found)


def without_code(text: str) -> str:
    """Fenced blocks and comments are gone; a span of code is one word."""
    text = re.sub(r"<!--.*?-->", "", FENCE.sub("", text), flags=re.DOTALL)
    return re.sub(r"(`+)(?:(?!\1).)+?\1", "code", text, flags=re.DOTALL)


def code_spans(text: str) -> str:
    """The text's blocks and spans of code."""
    blocks = [match[3] for match in FENCE.finditer(text)]
    return "\n".join(blocks + re.findall(r"`([^`\n]+)`", FENCE.sub("", text)))


def paragraphs(text: str) -> list[str]:
    """Prose, one paragraph or item of a list each, without tables and headings. Of a link, its text is left."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"</?[a-z][^>]*>", "", without_code(text)))
    found = [""]
    for line in text.splitlines():
        stripped = line.strip().lstrip("> ")
        starts_item = re.match(r"(?:[-*+]|\d+\.)\s", stripped)
        if not stripped or stripped.startswith(("|", "#", "---")) or re.match(r"\[[^\]]+\]:\s", stripped):
            found.append("")
        elif starts_item:
            found.append(stripped[starts_item.end() :])
        else:
            found[-1] += " " + stripped
    return [paragraph.strip() for paragraph in found if paragraph.strip()]


def sentences(paragraph: str) -> list[str]:
    """What ends with a full stop, a question or exclamation mark, or a colon. An abbreviation ends one, too: it makes two short ones
    of a long sentence, never a long one of two."""
    return re.split(r"(?<=[.!?:])[\"')*_\]]*\s+", paragraph)


def words(sentence: str) -> int:
    return len(re.findall(r"[^\W_][\w'’.,/%:-]*", sentence))


def heading_anchors(text: str) -> set[str]:
    """As GitHub makes them: small letters, hyphens for blanks, nothing but letters, digits, hyphens and underscores."""
    found: set[str] = set()
    for title in re.findall(r"^#{1,6} +(.+?)#*$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while f"{anchor}-{number}" in found if number else anchor in found:
            number += 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def links(text: str) -> list[str]:
    """The targets within the project."""
    plain = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
    targets = LINK.findall(plain) + re.findall(r"^\[[^\]]+\]:\s+(\S+)", plain, re.MULTILINE)
    targets += re.findall(r"<(?:img|a)\b[^>]*? (?:src|href)=\"([^\"]+)\"", plain)
    return [target for target in targets if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def linked_file(name: str, link: str) -> Path:
    """The file that a link in the document of this name leads to. A folder stands for its README."""
    path = (CHECKOUT / name).parent / link.partition("#")[0] if not link.startswith("#") else CHECKOUT / name
    return path / "README.md" if path.is_dir() and (path / "README.md").exists() else path


def broken_links(name: str, text: str) -> list[str]:
    """Links of this document to files and headings that do not exist."""
    broken = []
    for link in links(text):
        path, anchor = linked_file(name, link), link.partition("#")[2]
        there = text if path == CHECKOUT / name else path.read_text() if path.suffix == ".md" and path.exists() else ""
        if not path.exists() or anchor and path.suffix == ".md" and anchor not in heading_anchors(there):
            broken.append(link)
    return broken
