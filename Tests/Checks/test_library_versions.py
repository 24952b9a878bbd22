"""The libraries in the program have the versions with which the tests have passed."""

import re
import subprocess

from swift_source import CHECKOUT

MANIFEST = "Tests/Checks/library-versions"
FOLDERS = [f"/usr/lib/{machine}-linux-gnu" for machine in ("x86_64", "aarch64")]
# Built by scripts/build-root.d, from archives with a checksum.
OWN = {"asound", "camera"}
# What THIRD-PARTY-NOTICES.md calls each package of the list.
NOTICES = {
    "libc6-dev": "glibc", "libdrm-dev": "libdrm", "libfdk-aac-dev": "fdk-aac", "libfreetype-dev": "FreeType",
    "libgcc-14-dev": "libstdc++, libgcc", "libgpiod-dev": "libgpiod", "libjpeg62-turbo-dev": "libjpeg-turbo",
    "libmbedtls-dev": "Mbed TLS", "libopenh264-dev": "OpenH264", "libpng-dev": "libpng", "libspeexdsp-dev": "speexdsp",
    "libstdc++-14-dev": "libstdc++, libgcc", "libv4l-dev": "libv4lconvert", "libyaml-dev": "libyaml", "libyuv-dev": "libyuv",
    "rapidjson-dev": "RapidJSON", "swiftlang": "Swift standard library, runtime, libdispatch", "zlib1g-dev": "zlib",
}  # fmt: skip
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


def plain(version: str) -> str:
    """Without what Debian adds to the upstream version: +dfsg, another name for the same, a snapshot's day."""
    return re.sub(r"^.*\+really|\+dfsg\d*$|\.dfsg|\.\d{8}$", "", version)


def without_notice(manifest: dict[str, list[str]], text: str) -> list[str]:
    """Packages whose newest version the notices do not have in the row of its name."""
    rows = {name: version for name, version in re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|", text, re.MULTILINE)}
    return [name for name, versions in manifest.items() if rows.get(NOTICES.get(name, "")) != plain(versions[-1])]


def test_the_notices_have_each_linked_library_with_its_version():
    manifest, text = read_manifest((CHECKOUT / MANIFEST).read_text()), (CHECKOUT / "THIRD-PARTY-NOTICES.md").read_text()
    assert without_notice(manifest, text) == []
    assert without_notice(manifest, text.replace("| libgpiod |", "| gpiod |")) == ["libgpiod-dev"]
    assert without_notice({"libgpiod-dev": ["2.2.2"], "libnew-dev": ["1.0"]}, text) == ["libgpiod-dev", "libnew-dev"]
    names = ("1.3.dfsg+really1.3.1", "1.1.0+dfsg2", "0.0.1904.20250204", "2.2.1")
    assert [plain(version) for version in names] == ["1.3.1", "1.1.0", "0.0.1904", "2.2.1"]


def test_the_build_root_has_the_versions_that_were_tested():
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
