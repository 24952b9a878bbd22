"""The bridge to libcamera under valgrind: its own requests and buffers, with libcamera's virtual camera."""

import subprocess

import pytest
from swift_source import CHECKOUT

SOURCES = [*sorted((CHECKOUT / "Sources/CLibcamera").glob("*.cpp")), CHECKOUT / "Tests/CameraBridge/bridge_test.cpp"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("bridge") / "bridge-test"
    subprocess.run(
        ["clang++", "-std=c++17", "-g", "-O1", "-fuse-ld=lld", "-Wall", "-Wextra", "-Werror",
         f"-I{CHECKOUT}/Sources/CLibcamera/include", "-isystem", "/usr/include/libcamera", *SOURCES, "-o", path,
         "-Wl,--wrap=open64,--wrap=ioctl,--wrap=opendir,--gc-sections", "-lcamera", "-lyaml", "-lyuv", "-ljpeg", "-pthread"],
        check=True, timeout=300,
    )  # fmt: skip
    return path


def run(program, folder, *before: str) -> subprocess.CompletedProcess:
    """Runs it with the virtual camera's description where libcamera expects it; the mount ends with the program."""
    described = folder / "libcamera/pipeline/virtual"
    described.mkdir(parents=True)
    (described / "virtual.yaml").write_bytes((CHECKOUT / "Tests/CameraBridge/virtual.yaml").read_bytes())
    mounted = f'mount --bind {folder}/libcamera /usr/share/libcamera && exec "$@"'
    words = ["unshare", "--mount", "--propagation", "unchanged", "sh", "-ec", mounted, "sh", *before, str(program)]
    return subprocess.run(words, capture_output=True, text=True, timeout=500)


def test_every_request_is_made_and_released_once(program, tmp_path):
    done = run(program, tmp_path)
    assert (done.returncode, done.stdout) == (0, "every request came and went\n"), done.stderr


def test_valgrind_finds_no_fault_and_no_leak(program, tmp_path):
    done = run(
        program, tmp_path, "valgrind", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite",
        "--fair-sched=yes", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
