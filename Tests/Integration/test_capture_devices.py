"""Cameras and microphones that are missing, or are something else: each has its own message."""

import json
import os
import subprocess

import pytest
from processes import HUNG
from tallycam import TALLYCAM

URL = "rtmp://127.0.0.1:9/live/x"


def refused(*arguments: str, user: int | None = None) -> tuple[int, dict, str]:
    """Exit status, the `failed` event and the last line of a publisher that cannot start."""
    run = subprocess.run(
        [TALLYCAM, "publish", "--url", URL, "--events", "json", *arguments],
        capture_output=True, text=True, timeout=HUNG, user=user, extra_groups=[] if user else None,
    )  # fmt: skip
    events = [json.loads(line) for line in run.stdout.splitlines()]
    failed = [event for event in events if event["name"] == "failed"]
    return run.returncode, failed[-1] if failed else {}, run.stderr.splitlines()[-1]


def test_a_missing_camera():
    status, event, line = refused("--video", "v4l2:/dev/video-none")
    assert (status, event["code"]) == (4, -1301)
    assert "there is no camera at /dev/video-none" in line and "tallycam cameras" in line


@pytest.mark.parametrize("path", ["/dev/null", "/etc/hostname"])
def test_a_path_that_is_not_a_camera(path):
    status, event, line = refused("--video", f"v4l2:{path}")
    assert (status, event["code"]) == (4, -1301)
    assert f"{path} is not a camera" in line


def test_a_forbidden_camera(tmp_path):
    path = tmp_path / "video9"
    path.write_bytes(b"")
    os.chmod(path, 0o600)
    for folder in [tmp_path, *tmp_path.parents]:
        os.chmod(folder, os.stat(folder).st_mode | 0o055)
    status, event, line = refused("--video", f"v4l2:{path}", user=65534)
    assert (status, event["code"]) == (4, -1301)
    assert "cannot be opened: permission denied" in line and "video" in line


def test_a_missing_microphone():
    status, event, line = refused("--video", "none", "--audio", "alsa:hw:29")
    assert (status, event["code"]) == (4, -1302)
    assert "there is no microphone hw:29" in line and "tallycam microphones" in line


@pytest.mark.parametrize(
    "option, source, words",
    [
        ("--video", "v4l2:video0", "takes a path"),
        ("--video", "v4l2:/dev/video0,size=0x0", "size is WIDTHxHEIGHT"),
        ("--video", "v4l2:/dev/video0,fps=0", "fps is a whole number"),
        ("--video", "v4l2:/dev/video0,gain", "is not NAME=VALUE"),
        ("--audio", "alsa:hw:0,gain=loud", "gain is a number of dB"),
        ("--audio", "alsa:hw:0,volume=3", "neither gain=DB nor mute"),
    ],
)
def test_an_invalid_description_is_a_usage_error(option, source, words):
    status, _, line = refused(option, source)
    assert status == 2 and words in line


@pytest.mark.parametrize("command, words", [("cameras", "no camera found"), ("microphones", "no microphone found")])
def test_empty_lists_are_explained(command, words):
    run = subprocess.run([TALLYCAM, command], capture_output=True, text=True, timeout=HUNG)
    if run.returncode == 0:
        assert run.stdout.count(":") > 0
    else:
        assert run.returncode == 4 and words in run.stderr and run.stdout == ""
