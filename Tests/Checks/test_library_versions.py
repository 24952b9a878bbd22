"""The libraries in the program have the versions with which the tests have passed, and the notices list all of them."""

import importlib.util
import json
import re
import subprocess
import sys
import tarfile
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from swift_source import CHECKOUT

MANIFEST = "Tests/Checks/library-versions"
FOLDERS = [f"/usr/lib/{machine}-linux-gnu" for machine in ("x86_64", "aarch64")]
# Built by scripts/build-root.d, from archives with a checksum.
OWN = {"asound", "camera"}
# With the compiler, in a folder of its own.
COMPILERS = {"stdc++": "libstdc++-14-dev"}


def read_manifest(text: str) -> dict[str, list[str]]:
    """The versions of each package."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {package: versions for package, *versions in lines}


def upstream(version: str) -> str:
    """The version without Debian's epoch and revision."""
    return re.sub(r"^\d+:|-[^-]*$", "", version)


def installed(packages) -> dict[tuple[str, str], str]:
    """The upstream version of each package and architecture."""
    words = ["dpkg-query", "-W", "-f", "${Package} ${Architecture} ${Version}\n", *packages]
    output = subprocess.run(words, capture_output=True, text=True).stdout
    rows = [line.split() for line in output.splitlines()]
    return {(package, machine): upstream(version) for package, machine, version in rows if version}


def linked_libraries() -> set[str]:
    return set(re.findall(r'linkedLibrary\("(?::lib)?(.+?)(?:\.a)?"\)', (CHECKOUT / "Package.swift").read_text()))


def notices_script():
    """scripts/notices as a module."""
    loader = SourceFileLoader("notices", str(CHECKOUT / "scripts/notices"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("notices", loader))
    sys.modules["notices"] = module
    loader.exec_module(module)
    return module


notices = notices_script()


def package_of(library: str) -> str:
    if library in COMPILERS:
        return COMPILERS[library]
    words = ["dpkg-query", "-S", f"{FOLDERS[0]}/lib{library}.a"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split(":")[0]


def changes(present: dict[tuple[str, str], str], manifest: dict[str, list[str]]) -> list[str]:
    """Describes what is in the build root but was never tested."""
    return [
        f"{package} ({machine}) is {version}, and the tests have passed with {' and '.join(manifest[package])} only. "
        f"Read the library's list of changes since, run `make test`, and add {version} to its line in {MANIFEST}"
        for (package, machine), version in sorted(present.items())
        if version not in manifest[package]
    ]


def test_the_build_root_has_the_versions_that_were_tested():
    manifest = read_manifest((CHECKOUT / MANIFEST).read_text())
    present = installed(manifest)
    assert {package for package, _ in present} == set(manifest), "a package of the list is not installed"
    assert not changes(present, manifest)


def test_every_linked_library_is_in_the_list():
    packages = {package_of(library) for library in linked_libraries() - OWN}
    assert "libmbedtls-dev" in packages and "libc6-dev" in packages
    assert packages <= set(read_manifest((CHECKOUT / MANIFEST).read_text()))


def test_a_changed_version_is_detected():
    manifest = {"libmbedtls-dev": ["3.6.5", "3.6.6"]}
    assert changes({("libmbedtls-dev", "arm64"): "3.6.6", ("libmbedtls-dev", "amd64"): "3.6.5"}, manifest) == []
    [line] = changes({("libmbedtls-dev", "arm64"): "3.6.7"}, manifest)
    assert line.startswith("libmbedtls-dev (arm64) is 3.6.7, and the tests have passed with 3.6.5 and 3.6.6 only. ")
    assert [upstream(text) for text in ("1:2.1.5-4", "3.6.6-0.1~deb13u1", "2.6.0+dfsg-2")] == ["2.1.5", "3.6.6", "2.6.0+dfsg"]


def test_notices_have_each_linked_library_and_package():
    parts = notices.PARTS
    assert {library for part in parts for library in part.libraries} == linked_libraries()
    # The font is not a library.
    packages = {package for part in parts for package in part.packages} - {"fonts-dejavu-core"}
    assert packages == set(read_manifest((CHECKOUT / MANIFEST).read_text()))
    pins = json.loads((CHECKOUT / "Package.resolved").read_text())["pins"]
    assert {pin["identity"] for pin in pins} == {part.swift_package for part in parts if part.swift_package}


def test_notices_are_those_of_the_build_root():
    document = notices.NOTICES.read_text()
    assert notices.with_table(document, notices.table(notices.BuildRoot.found())) == document, "run scripts/notices"


def test_versions_in_the_notices_are_the_authors():
    versions = ("1:1.3.dfsg+really1.3.1-1+b1", "1.1.0+dfsg2-7.3", "0.0.1904.20250204-1", "2.2.1-2+deb13u1")
    assert [notices.upstream(version) for version in versions] == ["1.3.1", "1.1.0", "0.0.1904", "2.2.1"]


def small_root(folder: Path) -> notices.BuildRoot:
    """Packages one and two share a license; an archive has the LGPL, too."""
    (folder / "var/lib/dpkg").mkdir(parents=True)
    names = ("one", "two")
    (folder / "var/lib/dpkg/status").write_text("\n".join(f"Package: {name}\nVersion: 1.{name}-2\n" for name in names))
    common = folder / "usr/share/common-licenses"
    common.mkdir(parents=True)
    (common / "LGPL-2.1").write_text("The Lesser License, in full.\n")
    for name in names:
        (folder / f"usr/share/doc/{name}").mkdir(parents=True)
        (folder / f"usr/share/doc/{name}/copyright").write_text(
            f"Format: https://www.debian.org/\n\nFiles: *\nCopyright: {name}\nLicense: MIT\n\n"
            "License: MIT\n Permission is granted,\n   see /usr/share/common-licenses/LGPL-2.1.\n")
    (folder / "scripts/build-root.d").mkdir(parents=True)
    (folder / "scripts/build-root.d/three").write_text("tarball=three_3.2.orig.tar.bz2\n")
    (folder / "COPYING").write_text("The lesser license in full")
    with tarfile.open(folder / "three_3.2.orig.tar.bz2", "w:bz2") as archive:
        archive.add(folder / "COPYING", "three-3.2/COPYING")
    return notices.BuildRoot(folder, folder, folder)


def test_each_license_text_is_written_once(tmp_path):
    root = small_root(tmp_path)
    parts = [notices.Part(name, "MIT", "", "", packages=(name,)) for name in ("one", "two")]
    text = notices.all_texts(root, [*parts, notices.Part("three", "LGPL", "", "", recipe="three")])
    assert "one 1.one" in text and "Copyright: two" in text and "three 3.2" in text
    assert text.count("Permission is granted") == 1 and text.count('See the text "MIT" below.') == 2
    assert text.lower().count("lesser license") == 1


def test_missing_license_text_is_reported_with_its_place(tmp_path):
    root = small_root(tmp_path)
    (tmp_path / "usr/share/doc/two/copyright").unlink()
    with pytest.raises(notices.Problem, match="usr/share/doc/two/copyright is missing"):
        root.texts(notices.Part("two", "MIT", "", "", packages=("two",)))
