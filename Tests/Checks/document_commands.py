"""Takes commands out of the documents: what a reader types into a shell, or on the camera's console."""

import re
from dataclasses import dataclass

from documents import CHECKOUT, FENCE, documents

# The first word of a line or a span that is a command. A span needs a second word, too.
HEADS = (
    r"tallycam|out/\w+/tallycam|make|scripts/[\w./-]+|sudo|apt|apt-get|dd|lsblk|mount|scp|ssh|picocom|screen|nc|socat|ffplay|ffmpeg|"
    r"ffprobe|curl|openssl|git|v4l2-ctl|arecord|aplay|dmesg|gdb|strace|kill|cat|ls|mkdir|mkfifo|cp|echo|printf|python3|swift"
)
START = re.compile(rf"(?:[A-Z_]+=\S+ )?(?:{HEADS})(?= |$)")
# A line that only a command looks like, for blocks that do not say what they are.
UNMARKED = re.compile(r"^ *(?:\$ |tallycam> |(?:out/\w+/)?tallycam [a-z]|make [a-z]|scripts/|sudo )", re.MULTILINE)
LANGUAGES = {"sh", "console"}


@dataclass(frozen=True)
class Block:
    """Commands that are typed one after the other. A line of the console starts with `CONSOLE`."""

    document: str
    commands: tuple[str, ...]
    # What the document shows below the last command.
    output: str = ""


CONSOLE = "tallycam> "


def logical_lines(text: str) -> list[str]:
    """Lines that end with a backslash or a pipe go on in the next one; comments and indentation are gone."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"\|\n\s*", "| ", text))
    lines = [re.sub(r"\s+#\s.*$", "", line).strip() for line in joined.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def blocks(name: str, text: str) -> list[Block]:
    """Blocks marked `sh`, transcripts marked `console`, and spans of code that are commands."""
    found = []
    for fence in FENCE.finditer(text):
        if fence[2] == "sh":
            found.append(Block(name, tuple(logical_lines(fence[3]))))
        elif fence[2] == "console":
            parts = re.findall(rf"^ *(?:\$ |({CONSOLE}))(.+)\n((?:(?! *(?:\$ |{CONSOLE})).*\n)*)", fence[3], re.MULTILINE)
            found += [Block(name, (prompt + line.strip(),), output) for prompt, line, output in parts]
    for span in re.findall(r"`([^`\n]+)`", FENCE.sub("", text)):
        if START.match(span) and " " in span.strip():
            found.append(Block(name, (span.strip(),)))
    return list(dict.fromkeys(found))


def unmarked(text: str) -> list[str]:
    """Blocks that hold commands without saying so. What a program prints may name one, below other lines."""
    return [
        fence[3] for fence in FENCE.finditer(text)
        if fence[2] not in LANGUAGES | {"json", "swift"} and not fence[3].startswith("Usage:") and UNMARKED.match(fence[3])
    ]  # fmt: skip


def all_blocks() -> list[Block]:
    return [block for name in documents() for block in blocks(name, (CHECKOUT / name).read_text())]
