"""Why libcamera lists no camera: devices are missing, may not be opened, or are not cameras."""

import subprocess

import pytest
from processes import HUNG
from tallycam import TALLYCAM

NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups"


def refused(tmp_path, nodes: dict[str, int], *command: str, user: str = "") -> str:
    """The command's last line, with a /dev that has these nodes in addition to the usual ones."""
    folder = tmp_path / "dev"
    folder.mkdir()
    for name, mode in nodes.items():
        (folder / name).touch()
        (folder / name).chmod(mode)
    for part in [tmp_path, *tmp_path.parents]:
        part.chmod(part.stat().st_mode | 0o055)
    script = f"cp -a /dev/null /dev/full /dev/urandom {folder} && mount --bind {folder} /dev && exec {user} \"$@\""
    words = ["unshare", "--mount", "--propagation", "unchanged", "sh", "-ec", script, "sh", str(TALLYCAM), *command]
    run = subprocess.run(words, capture_output=True, text=True, timeout=HUNG)
    assert (run.returncode, run.stdout) == (4, ""), run.stderr
    return run.stderr.splitlines()[-1]


@pytest.mark.parametrize("command", [["cameras"], ["cameras", "--json"], ["capture", "--video", "libcamera"]])
def test_no_device(tmp_path, command):
    line = refused(tmp_path, {}, *command)
    assert "no camera found" in line and "no /dev/media* and no /dev/video*" in line


@pytest.mark.parametrize("command", [["cameras"], ["capture", "--video", "libcamera:back"]])
def test_no_permission(tmp_path, command):
    line = refused(tmp_path, {"media3": 0o600}, *command, user=NOBODY)
    assert "/dev/media3 cannot be opened: permission denied" in line and "video" in line


def test_devices_that_are_not_cameras(tmp_path):
    line = refused(tmp_path, {"media0": 0o666, "video11": 0o666}, "capture", "--video", "libcamera")
    assert "/dev/media0, /dev/video11, but none of them is a camera that libcamera supports" in line
