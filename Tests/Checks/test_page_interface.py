"""docs/reference/api describes the server's table of routes."""

import gzip
import re

import yaml
from swift_source import CHECKOUT

ROUTE = re.compile(r'PageRoute\(\.(\w+), "(.*?)", for: \.(\w+), ')


def routes() -> dict[tuple[str, str], str]:
    """Method and path with its right, from the table in the source."""
    text = (CHECKOUT / "Sources/PageLogic/PageRoute.swift").read_text()
    return {(method, path): right for method, path, right in ROUTE.findall(text)}


def described() -> dict[tuple[str, str], str]:
    document = yaml.safe_load((CHECKOUT / "docs/reference/api/openapi.yaml").read_text())
    found = {}
    for path, operations in document["paths"].items():
        for method in set(operations) - {"parameters"}:
            is_open = operations[method].get("security") == []
            found[method, re.sub(r"\{\w+\}", "*", path)] = "everyone" if is_open else "pairedBrowser"
    return found


def test_every_route_is_described_with_its_right():
    assert len(routes()) > 20
    assert described() == routes()


def test_only_the_pages_files_and_pairing_are_open():
    opened = {path for (_, path), right in routes().items() if right == "everyone"}
    assert opened == {"/", "/*", "/api/v1/pairing"}


def test_every_file_of_the_page_is_built_in():
    text = (CHECKOUT / "Sources/CPage/page.c").read_text()
    files = sorted(path.name for path in (CHECKOUT / "Sources/CPage/page").iterdir())
    assert sorted(re.findall(r'FILE\(\w+, "(.*?)"\)', text)) == files
    assert sorted(re.findall(r'__has_include\("(.*?)\.gz"\)', text)) == files
    for path in (CHECKOUT / "Sources/CPage/page").iterdir():
        packed = CHECKOUT / f"Sources/CPage/packed/{path.name}.gz"
        assert gzip.decompress(packed.read_bytes()) == path.read_bytes(), "run scripts/pack-page"
