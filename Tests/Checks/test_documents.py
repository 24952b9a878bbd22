"""The documents can be read and trusted: short sentences, links that lead somewhere, examples that the program accepts."""

import json
import re
import subprocess
from functools import cache

import pytest
from documents import (
    CHECKOUT,
    FENCE,
    broken_links,
    code_spans,
    documents,
    linked_file,
    links,
    paragraphs,
    sentences,
    without_code,
    words,
)

PROGRAM = CHECKOUT / "out/x86_64/tallycam"
LONGEST = 35
# English that reads like a translation. "There is no shell" and "it is no longer live" do not.
SHAPES = re.compile(
    r"\bis none\b|(?<!\bthere )\bis no (?!longer\b|more\b|less\b|[a-z]+er than\b)"
    r"|\bwhom\b|\banew\b|\bat the most\b|\bof before\b|\bhow.manieth\b",
    re.IGNORECASE,
)
# Their tables are compared with the code, whose words they are.
TABLES_OF_CODE = {"docs/reference/filters.md", "docs/reference/controls.md", "docs/reference/console.md"}
FILES = ("stream.json", "device.json", "network.json", "board.json")


def text_of(name: str) -> str:
    return (CHECKOUT / name).read_text()


def long_sentences(text: str) -> list[str]:
    return [sentence for part in paragraphs(text) for sentence in sentences(part) if words(sentence) > LONGEST]


def translated(text: str) -> list[str]:
    """Also in tables and headings; quotations and code are others' words."""
    plain = re.sub(r"\s+", " ", re.sub(r"\"[^\"\n]*\"", "quotation", without_code(text)))
    return [match[0] for match in SHAPES.finditer(plain)]


def reachable(start: str, read=text_of) -> set[str]:
    """The documents that links lead to from that one, itself included."""
    found, left = {start}, [start]
    while left:
        name = left.pop()
        for link in links(read(name)):
            path = linked_file(name, link).resolve()
            if path.suffix == ".md" and path.is_relative_to(CHECKOUT):
                target = str(path.relative_to(CHECKOUT))
                if target not in found and path.exists():
                    found.add(target)
                    left.append(target)
    return found


@pytest.mark.parametrize("name", documents())
def test_sentences_are_short(name):
    assert long_sentences(text_of(name)) == []


@pytest.mark.parametrize("name", documents())
def test_documents_are_in_plain_english(name):
    text = text_of(name)
    assert translated(re.sub(r"^\|.*$", "", text, flags=re.MULTILINE) if name in TABLES_OF_CODE else text) == []


@pytest.mark.parametrize("name", documents())
def test_links_lead_to_files_and_headings(name):
    assert broken_links(name, text_of(name)) == []


def test_every_page_can_be_reached_from_the_readme():
    pages = {name for name in documents() if name.startswith("docs/")}
    assert pages - reachable("README.md") == set()


def missing_documents(text: str) -> set[str]:
    """Documents and images that the text names by their path and that do not exist."""
    return {path for path in re.findall(r"\bdocs/[\w./-]+\.(?:md|png|svg)\b", text) if not (CHECKOUT / path).exists()}


def test_code_names_documents_that_exist():
    names = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [name for name in names if not name.endswith(".md") and not name.startswith(("Fuzz/Corpus/", "Tests/Checks/test_"))]
    texts = {name: CHECKOUT / name for name in files if (CHECKOUT / name).is_file() and not (CHECKOUT / name).is_symlink()}
    faults = {(name, path) for name, file in texts.items() for path in missing_documents(file.read_text(errors="replace"))}
    assert len(texts) > 500 and faults == set()
    assert missing_documents("see docs/nothing.md, docs/README.md and docs/nothing.svg.") == {"docs/nothing.md", "docs/nothing.svg"}


# MARK: Examples


def named_file(name: str, before: str, after: str) -> str | None:
    """Which description file an example is: the page's own, else the last one that the text above names, else the first below."""
    page = re.search(r"(\w+)-json\.md$", name)
    if page and f"{page[1]}.json" in FILES:
        return f"{page[1]}.json"
    for text, which in ((re.split(r"^#|^ *```", before, flags=re.MULTILINE)[-1], -1), (after.strip().split("\n\n")[0], 0)):
        if found := re.findall("|".join(map(re.escape, FILES)), text):
            return found[which]
    return None


def examples(name: str, text: str) -> list[tuple[str, str]]:
    """The JSON blocks that are description files, each with its file's name. Keys without braces are a part of one."""
    found = []
    for block in FENCE.finditer(text):
        file = named_file(name, text[: block.start()], text[block.end() :]) if block[2] == "json" else None
        if file and "…" not in block[3] and "..." not in block[3]:
            json_text = block[3].strip()
            found.append((file, json_text if json_text.startswith("{") else f"{{{json_text}}}"))
    return found


# Keys that an example may omit, although its file cannot.
REQUIRED = {
    "stream.json": {"url": "rtmp://live.example.com/app", "key": "a"},
    "board.json": json.loads((CHECKOUT / "board/rpi4/board.json").read_text()),
}


def completed(file: str, example: str) -> str:
    keys = json.loads(example)
    if file == "stream.json" and ("url" in keys or "hosts" in keys):
        return example
    return json.dumps({**REQUIRED.get(file, {}), **keys})


def complaints(file: str, example: str, folder) -> str:
    """What `tallycam check` says about an example. A file that it names need not be here."""
    try:
        text = completed(file, example)
    except json.JSONDecodeError as error:
        return f"{file}: {error}: {example}"
    (folder / file).write_text(text)
    result = subprocess.run([PROGRAM, "check", folder / file], capture_output=True, text=True, timeout=60)
    said = [line for line in (result.stderr + result.stdout).splitlines() if "(ENOENT)" not in line]
    wrong = [line for line in said if "unknown key" in line or "is unknown" in line]
    return "\n".join(said if result.returncode != 0 else wrong)


@pytest.mark.parametrize("name", [name for name in documents() if examples(name, text_of(name))])
def test_the_program_accepts_the_examples(name, tmp_path):
    found = [said for file, example in examples(name, text_of(name)) if (said := complaints(file, example, tmp_path))]
    assert found == []


@cache
def options_of(command: str) -> set[str] | None:
    """`None` for a word that is not a command: another check sees to that."""
    result = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, timeout=60)
    return set(re.findall(r"--[a-z][a-z0-9-]*", result.stdout)) if result.returncode == 0 else None


def unknown_options(text: str) -> list[str]:
    """Options in command lines of the program that their command does not have."""
    lines = re.sub(r"\\\n\s*", " ", code_spans(text))
    # A block that a command's own help stands in is compared with the program elsewhere.
    commands = re.findall(r"(?<!Usage: )\btallycam ([a-z]+)((?: [^\n|;&#]*)?)", lines)
    return [
        f"tallycam {command} {option}"
        for command, rest in commands
        for option in re.findall(r"(?<=\s)--[a-z][a-z0-9-]*", rest)
        if options_of(command) is not None and option not in options_of(command)
    ]


@pytest.mark.parametrize("name", documents())
def test_options_in_examples_exist(name):
    assert unknown_options(text_of(name)) == []


# MARK: The checks themselves


@pytest.mark.parametrize(
    "text, count",
    [
        ("word " * 36 + "\n", 1), ("word " * 35 + "\n", 0), ("- " + "word " * 30 + "\n- " + "word " * 30 + "\n", 0),
        ("word " * 20 + "end. Next " + "word " * 20 + "\n", 0), ("word " * 20 + "end. `next` " + "word " * 20 + "\n", 0),
        ("| " + "word " * 40 + " |\n", 0), ("```\n" + "word " * 40 + "\n```\n", 0),
        ("word " * 20 + "\n" + "word " * 20 + "\n", 1), ("word " * 34 + "`a b c d e`\n", 0),
        ("word " * 34 + "[one](a/b/c.md#d-e-f-g)\n", 0), ("word " * 18 + "3.5 " + "word " * 18 + "\n", 1),
        ("word " * 20 + "; " + "word " * 20 + "\n", 1), ("<!-- " + "word " * 40 + "-->\n", 0),
        ('<img alt="' + "word " * 40 + '">\n', 0),
    ],
)  # fmt: skip
def test_a_long_sentence_is_seen(text, count):
    assert len(long_sentences(text)) == count


@pytest.mark.parametrize(
    "text, count",
    [
        ("A short wait is none.", 1), ("It is no fault.", 1), ("He to whom it goes.", 1), ("It starts anew.", 1),
        ("Four at\nthe most.", 1), ("The gadget of before.", 1), ("| at the most |", 1), ("The how-manieth.", 1),
        ("It is no longer live.", 0), ("There is no shell.", 0), ("It is no older than a second.", 0),
        ("`at the most`", 0), ("```\nat the most\n```\n", 0), ('It says "there is none".', 0), ("It is not one.", 0),
    ],
)  # fmt: skip
def test_a_translated_shape_is_seen(text, count):
    assert len(translated(text)) == count


@pytest.mark.parametrize(
    "link, is_broken",
    [
        ("docs/nothing.md#a", True), ("docs", False), ("Makefile", False), ("#a-heading", False), ("#a-heading-1", False),
        ("#a-heading-2", True), ("#code-and-more-twice", False), ("LICENSE#x", False), ("CHANGELOG.md#no-such-heading", True),
        ("https://example.com/nothing.md", False), ("mailto:a@b.c", False),
    ],
)  # fmt: skip
def test_a_broken_link_is_seen(link, is_broken):
    text = f"See [here]({link}).\n\n# A heading\n\n# A heading\n\n## `Code` and [more](Makefile), twice\n\n`[code](nothing)`\n"
    assert broken_links("README.md", text) == ([link] if is_broken else [])


def test_a_link_of_html_is_seen():
    assert broken_links("README.md", '<img alt="a" src="docs/nothing.svg">') == ["docs/nothing.svg"]


def test_a_page_without_a_link_to_it_is_seen():
    texts = {"README.md": "[a](SECURITY.md)"}
    assert reachable("README.md", lambda name: texts.get(name, "")) == {"README.md"} | (
        {"SECURITY.md"} if (CHECKOUT / "SECURITY.md").exists() else set()
    )
    assert "README.md" in reachable("README.md", lambda name: "")


@pytest.mark.parametrize(
    "text, file",
    [
        ('In `device.json`:\n\n```json\n{"mains": 50}\n```\n', "device.json"),
        ('```json\n"webcam": true\n```\n\nThis goes into `device.json`, not `stream.json`.\n', "device.json"),
        ('Of `stream.json` and `board.json`:\n```json\n{"name": "a"}\n```\n', "board.json"),
        ('In `device.json`:\n\n## Events\n\n```json\n{"code": 1}\n```\n', None),
        ('In `device.json`:\n\n```\n{"code": 1}\n```\n', None),
        ('In `device.json`:\n\n```json\n{"code": ...}\n```\n', None),
    ],
)
def test_an_example_is_taken_for_the_file_that_is_named(text, file):
    assert [kind for kind, _ in examples("docs/x.md", text)] == ([file] if file else [])


def test_a_page_about_a_file_has_its_examples():
    assert examples("docs/reference/network-json.md", '```json\n{"country": "DE"}\n```\n') == [("network.json", '{"country": "DE"}')]


@pytest.mark.parametrize(
    "file, example, is_wrong",
    [
        ("device.json", '{"webcam": true}', False), ("device.json", '{"webcam": 3}', True), ("device.json", '{"webcan": true}', True),
        ("device.json", '{"camera": "movie:/boot/nothing.mp4"}', False), ("device.json", '{"webcam": true', True),
        ("stream.json", '{"url": "http://a"}', True), ("stream.json", '{"pauseImage": "nothing.png"}', False),
        ("network.json", '{"country": "DE"}', False), ("board.json", '{"devicePort": {"packetBytes": 1024, "interval": 4}}', False),
        ("board.json", '{"devicePort": {"packetBytes": 9999}}', True),
    ],
)  # fmt: skip
def test_a_wrong_example_is_seen(file, example, is_wrong, tmp_path):
    assert bool(complaints(file, example, tmp_path)) == is_wrong


def test_an_unknown_option_is_seen():
    text = "```sh\ntallycam check --fast a.json\ntallycam publish \\\n    --urls x | tallycam receive --listen :1\n```\n"
    assert unknown_options(text) == ["tallycam check --fast", "tallycam publish --urls"]
