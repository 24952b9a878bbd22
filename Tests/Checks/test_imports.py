"""Which targets may import which: the core imports nothing of the system, the rim's targets do not import each other, and
engines do not import devices. No Python file imports from a test file."""

import ast
import json
import subprocess
from pathlib import Path

import pytest
from floors import CORE, CORE_PACKAGES, ENGINES, EXECUTABLE, RIM
from swift_source import CHECKOUT, SOURCES, SwiftFile, swift_files, targets

SYSTEM = {"Glibc", "Swift", "Synchronization"}
NOWHERE = {"Foundation", "FoundationEssentials", "FoundationNetworking", "FoundationXML", "Dispatch"}


def allowed_imports(target: str) -> set[str]:
    if target in CORE:
        return CORE[target] | CORE_PACKAGES.get(target, set())
    if target == "DevicePorts":
        return {"Controls", "USBVideo", "Media", "Synchronization"}
    if target in RIM:
        return set(CORE) | {"DevicePorts", "LinuxIO"} | RIM[target] | SYSTEM
    if target in ENGINES:
        return ENGINES[target] | SYSTEM
    if target in EXECUTABLE:
        return set(CORE) | set(RIM) | set(ENGINES) | {"DevicePorts"} | SYSTEM | (EXECUTABLE - {"tallycam"})
    raise KeyError(f"the target {target} is not in the table of Tests/Checks/floors.py")


def forbidden_imports(target: str, file: SwiftFile) -> set[str]:
    return (file.imports() - allowed_imports(target) - {target}) | (file.imports() & NOWHERE)


@pytest.mark.parametrize("target", targets())
def test_a_target_imports_only_what_the_design_allows(target):
    faults = [
        f"{file.name} imports {name}"
        for file in swift_files(SOURCES / target)
        for name in sorted(forbidden_imports(target, file))
    ]
    assert not faults, "\n".join(faults)


def declared_dependencies(package: Path) -> dict[str, set[str]]:
    """The dependencies of each target in a package's manifest, by name."""
    dump = subprocess.run(
        ["swift", "package", "dump-package"], cwd=package, capture_output=True, text=True, check=True, timeout=120
    )
    return {
        target["name"]: {next(iter(dependency.values()))[0] for dependency in target["dependencies"]}
        for target in json.loads(dump.stdout)["targets"]
        if target["type"] != "test"
    }


def test_the_manifest_links_only_what_the_design_allows():
    declared = declared_dependencies(CHECKOUT)
    faults = [
        f"{target} depends on {name}"
        for target in targets()
        for name in sorted(declared[target] - allowed_imports(target))
    ]
    assert not faults, "\n".join(faults)


def test_fuzzing_compiles_modules_with_the_programs_dependencies():
    product, fuzzed = declared_dependencies(CHECKOUT), declared_dependencies(CHECKOUT / "Fuzz")
    shared = [target for target in fuzzed if target in product]
    assert len(shared) > 8, "the modules were not found"
    faults = {target: fuzzed[target] ^ product[target] for target in shared if fuzzed[target] != product[target]}
    assert not faults, f"Fuzz/Package.swift and Package.swift disagree: {faults}"


@pytest.mark.parametrize(
    "target, line",
    [
        ("RTMP", "import Glibc"),
        ("RTMP", "import StreamQuality"),
        ("Media", "import Bitstream"),
        ("Bitstream", "@_implementationOnly import Foundation"),
        ("Settings", "public import struct FoundationEssentials.Data"),
        ("StreamQuality", "import COpenH264"),
        ("ApplianceLogic", "import Dispatch"),
        ("USBVideo", "import Settings"),
        ("DevicePorts", "import LinuxIO"),
        ("SoftwareEncoding", "import AudioCapture"),
        ("SyntheticSources", "@preconcurrency import Transport"),
        ("Transport", "import COpenH264"),
        ("LinuxIO", "import Foundation"),
        ("StreamLogic", "import RTMP"),
        ("ApplianceLogic", "import StreamQuality"),
        ("Transport", "import Publishing"),
        ("MediaPipeline", "import V4L2Devices"),
        ("MediaPipeline", "import RTMP"),
        ("VideoCapture", "import Encoding"),
        ("Encoding", "import VideoCapture"),
        ("Encoding", "import MediaPipeline"),
        ("CardStorage", "import ApplianceRuntime"),
        ("Publishing", "import LibcameraCapture"),
        ("Publishing", "import Terminal"),
        ("WebcamService", "import V4L2Devices"),
        ("Receiving", "import Publishing"),
        ("Terminal", "import Transport"),
        ("ApplianceRuntime", "import Publishing"),
        ("ApplianceRuntime", "import AudioCapture"),
        ("CommandChannels", "import ApplianceRuntime"),
        ("CommandChannels", "import DeviceStreams"),
        ("tallycam", "import class Foundation.FileManager"),
    ],
)
def test_a_forbidden_import_is_detected(target, line):
    assert forbidden_imports(target, SwiftFile(SOURCES / "x.swift", f"import Media\n{line}\n"))


def test_the_rule_ignores_comments_and_strings():
    text = '// import Foundation\n/* import Glibc */\nlet x = """\nimport Dispatch\n"""\n'
    assert not forbidden_imports("Media", SwiftFile(SOURCES / "x.swift", text))


def test_a_new_target_must_be_added_to_the_table():
    with pytest.raises(KeyError):
        allowed_imports("SomethingNew")


PYTHON_FOLDERS = ("Benchmarks", "Tests", "scripts")


def python_files() -> list[Path]:
    return sorted(path for folder in PYTHON_FOLDERS for path in (CHECKOUT / folder).rglob("*.py"))


def imported_tests(text: str) -> list[str]:
    """Names that a Python file imports from a test file. Parts that several files need belong in a separate module."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names += [f"{getattr(node, 'module', None) or ''}.{alias.name}" for alias in node.names]
    return [name.strip(".") for name in names if any(part.startswith("test_") for part in name.split("."))]


def test_no_file_imports_from_a_test_file():
    files = python_files()
    assert len(files) > 100, "not all files were found"
    faults = [f"{path.relative_to(CHECKOUT)} imports {name}" for path in files for name in imported_tests(path.read_text())]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "text",
    [
        "from test_card import NAME, server", "import test_card", "import json, test_card as card", "from . import test_card",
        "from Tests.VirtualBoard.test_card import NAME", "def f():\n    from test_card import NAME", "from card import test_card",
    ],
)  # fmt: skip
def test_an_import_from_a_test_file_is_detected(text):
    assert imported_tests(text)


def test_an_import_from_a_module_beside_the_tests_is_allowed():
    assert not imported_tests("import json\nfrom card import NAME, latest_card\nfrom contest_data import x  # as test_card\n")
