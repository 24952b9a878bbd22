"""Disks that a recording meets: full, read-only, with thousands of files. They cost the recording, never the stream."""

import os
import subprocess
from pathlib import Path

import media
import pytest
from appliance import LIVE, Appliance, plain
from recorded_frames import of_flv
from recording import wait_for_media
from tallycam import TALLYCAM, Receiver

pytestmark = pytest.mark.takes(minutes=0.8, processors=0.3)

QUALITY = {"lowest": "Low1", "start": "Low1", "highest": "Low1"}


class Disk:
    """An ext4 file system in a file, mounted."""

    def __init__(self, folder: Path, megabytes: int):
        self.image, self.place = folder / "disk.img", folder / "disk"
        with open(self.image, "wb") as file:
            file.truncate(megabytes << 20)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-m", "0", self.image], check=True)
        self.place.mkdir()
        subprocess.run(["mount", "-o", "loop", self.image, self.place], check=True)

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", self.place], check=True)

    def fill(self) -> Path:
        """Another program takes everything that is free."""
        path = self.place / "other"
        with open(path, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
            except OSError:
                os.fsync(file.fileno())
        return path

    def close(self) -> None:
        subprocess.run(["umount", "-l", self.place], check=True)


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path, 96)
    yield disk
    disk.close()


def recorder(children, nginx, folder: Path, **keys) -> Appliance:
    """A camera that is live and records into this folder."""
    record = {"when": "always", "folder": str(folder), "fileSeconds": 10, **keys}
    camera = Appliance(
        children, stream=plain(nginx.url("x")),
        device={"camera": "synthetic", "dimension": "320x240", "quality": QUALITY, "record": record},
    )  # fmt: skip
    camera.ask("start")
    camera.lost_at_first = camera.wait_for("live")["videoDropped"]
    return camera


def is_recording(status: dict) -> bool:
    return "file" in status["recording"]


def blinks(status: dict) -> list[int]:
    return [fault["blinks"] for fault in status["faults"]]


def assert_undisturbed(camera: Appliance, nginx) -> None:
    """The server gets more of the stream, of which nothing is missing but what was encoded before it had answered."""
    before = camera.status()
    after = camera.wait_until(lambda status: status["state"] in LIVE and status["videoFrames"] > before["videoFrames"] + 12)
    assert after["videoDropped"] == camera.lost_at_first, (before, after)
    # The camera counts what the kernel has taken; the server may be late.
    path, sent = nginx.recordings / "x.flv", before["videoFrames"]
    camera.process.wait_until(lambda: len(of_flv(path)) >= sent, f"{sent} frames in the server's recording", interval=0.1)


def test_a_full_disk_costs_the_recording_until_there_is_room(nginx, children, disk):
    folder = disk.place / "recordings"
    camera = recorder(children, nginx, folder)
    camera.wait_until(is_recording)
    wait_for_media(camera.process, nginx.recordings / "x.flv", seconds=12)
    other = disk.fill()
    status = camera.wait_until(lambda status: status["recording"]["state"] == "failed")
    assert "No space left" in status["recording"]["problem"] and blinks(status) == [11], status
    assert_undisturbed(camera, nginx)
    other.unlink()
    camera.wait_until(is_recording)
    camera.wait_until(lambda status: blinks(status) == [])
    wait_for_media(camera.process, nginx.recordings / "x.flv", seconds=24)
    camera.ask("record", "stop")
    camera.wait_until(lambda status: status["recording"]["state"] == "off")
    paths = sorted(folder.glob("*.mp4"))
    assert len(paths) >= 2
    assert [media.decode(path).complaints for path in paths] == [""] * len(paths)


def test_a_read_only_disk_costs_the_recording_until_it_can_be_written(nginx, children, disk):
    disk.remount("ro")
    camera = recorder(children, nginx, disk.place / "recordings")
    status = camera.wait_until(lambda status: status["recording"]["state"] == "failed")
    assert "Read-only file system" in status["recording"]["problem"] and blinks(status) == [11], status
    assert_undisturbed(camera, nginx)
    disk.remount("rw")
    camera.wait_until(is_recording)
    assert_undisturbed(camera, nginx)


def test_a_folder_with_ten_thousand_recordings_is_continued(nginx, children, encoded_flv, tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    first = folder / "000001_20261126T133905Z.mp4"
    receiver = Receiver(children)
    words = [TALLYCAM, "publish", "--from-flv", encoded_flv, "--url", receiver.url(), "--pace", "fast"]
    assert children.run("publish", words).child.returncode == 0
    media.run_ffmpeg("-i", receiver.recording(), "-c", "copy", first)
    for number in range(2, 10_001):
        os.link(first, folder / f"{number:06}_20261126T133905Z.mp4")
    camera = recorder(children, nginx, folder)
    camera.wait_until(is_recording)
    assert_undisturbed(camera, nginx)
    # What came before the camera was live may be a file of its own.
    numbers = sorted(int(path.name[:6]) for path in folder.glob("*.mp4"))
    assert len(numbers) in (10_001, 10_002) and numbers == list(range(1, len(numbers) + 1))
