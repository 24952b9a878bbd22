"""Code, Buildroot package and changelog name the same version."""

import re

from swift_source import CHECKOUT


def only(path: str, pattern: str) -> str:
    [found] = re.findall(pattern, (CHECKOUT / path).read_text(), re.MULTILINE)
    return found


def test_version_is_the_changelogs_newest():
    newest = re.search(r"^## \[([\d.]+)\]", (CHECKOUT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert only("Sources/StreamLogic/Status/StreamStatus.swift", r'static let version = "([\d.]+)"') == newest
    assert only("buildroot/package/tallycam/tallycam.mk", r"^TALLYCAM_VERSION = (.+)$") == newest
