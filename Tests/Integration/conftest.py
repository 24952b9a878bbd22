"""Fixtures of the integration tests. Everything runs on loopback, inside the build root."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import media  # noqa: E402
import tallycam  # noqa: E402
from processes import Children  # noqa: E402
from servers import NginxRTMP  # noqa: E402


def pytest_configure(config):
    if not Path("/usr/lib/nginx/modules/ngx_rtmp_module.so").exists():
        pytest.exit("these tests run in the build root: scripts/in-build-root pytest-3 Tests/Integration", 3)


def pytest_collection_modifyitems(config, items):
    if not tallycam.TALLYCAM.exists():
        pytest.exit(f"missing: {tallycam.TALLYCAM}; run 'make build' first", 3)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows the output of the processes when a test fails."""
    report = yield
    if report.failed:
        for name, value in item.funcargs.items():
            children = value if isinstance(value, Children) else getattr(value, "children", None)
            if isinstance(children, Children):
                report.sections.append((f"processes of {name}", children.report()))
    return report


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory):
    """Keeps the nonces of signed URLs separate from the machine's own."""
    os.environ["TALLYCAM_STATE_DIR"] = str(tmp_path_factory.mktemp("state"))
    os.environ.pop("TALLYCAM_URL", None)


@pytest.fixture(scope="session", autouse=True)
def own_terminals():
    """Reserves pseudo-terminals that no other file's process can open. A camera reopens its console after a hang-up, and by
    then the number in the path may belong to another test."""
    os.unshare(os.CLONE_NEWNS)
    subprocess.run(["mount", "-t", "devpts", "-o", "ptmxmode=0666", "devpts", "/dev/pts"], check=True)


@pytest.fixture
def children(tmp_path):
    group = Children(tmp_path)
    yield group
    group.end_all()


@pytest.fixture(scope="module")
def module_children(tmp_path_factory, request):
    group = Children(tmp_path_factory.mktemp(request.module.__name__))
    yield group
    group.end_all()


@pytest.fixture
def nginx(children):
    return NginxRTMP(children)


@pytest.fixture(scope="session")
def rich_clip(tmp_path_factory):
    """22 s of 1280x720 at 30 fps, complex enough to use the bit rate of every preset."""
    return media.make_rich_clip(tmp_path_factory.mktemp("clips") / "rich.mkv")


@pytest.fixture(scope="session")
def encoded_flv(tmp_path_factory):
    """4 s of H.264 and AAC made by ffmpeg: 120 frames."""
    return media.make_encoded_flv(tmp_path_factory.mktemp("clips") / "encoded.flv")
