"""The libraries in the program have the versions with which the tests have passed."""

import re
import subprocess

from swift_source import CHECKOUT

MANIFEST = "Tests/Checks/library-versions"
FOLDERS = [f"/usr/lib/{machine}-linux-gnu" for machine in ("x86_64", "aarch64")]
# Built by scripts/build-root.d, from archives with a checksum.
OWN = {"asound", "camera"}
# Installed with the compiler, in its own folder.
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
    names = re.findall(r'linkedLibrary\("(?::lib)?(.+?)(?:\.a)?"\)', (CHECKOUT / "Package.swift").read_text())
    return set(names) - OWN


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


def test_the_build_root_has_the_tested_versions():
    manifest = read_manifest((CHECKOUT / MANIFEST).read_text())
    present = installed(manifest)
    assert {package for package, _ in present} == set(manifest), "a package of the list is not installed"
    assert not changes(present, manifest)


def test_every_linked_library_is_in_the_list():
    packages = {package_of(library) for library in linked_libraries()}
    assert "libmbedtls-dev" in packages and "libc6-dev" in packages
    assert packages <= set(read_manifest((CHECKOUT / MANIFEST).read_text()))


def test_a_changed_version_is_detected():
    manifest = {"libmbedtls-dev": ["3.6.5", "3.6.6"]}
    assert changes({("libmbedtls-dev", "arm64"): "3.6.6", ("libmbedtls-dev", "amd64"): "3.6.5"}, manifest) == []
    [line] = changes({("libmbedtls-dev", "arm64"): "3.6.7"}, manifest)
    assert line.startswith("libmbedtls-dev (arm64) is 3.6.7, and the tests have passed with 3.6.5 and 3.6.6 only. ")
    assert [upstream(text) for text in ("1:2.1.5-4", "3.6.6-0.1~deb13u1", "2.6.0+dfsg-2")] == ["2.1.5", "3.6.6", "2.6.0+dfsg"]
