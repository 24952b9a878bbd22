"""Snapshots of a live stream: their contents, their metadata, and that the stream loses nothing."""

import json
import os
import stat
import subprocess
import time
from pathlib import Path

import numpy
import pytest
from appliance import DEVICE, LIVE, Appliance, plain
from live_publisher import send, start, wait_for
from processes import HUNG
from recording import Recording, assert_whole, wait_for_media
from tallycam import TALLYCAM, Receiver, events, last_event

pytestmark = pytest.mark.takes(minutes=0.5, processors=0.3)

WIDTH, HEIGHT = 640, 480


def gray(path: Path, *options: str) -> numpy.ndarray:
    """The luma of every frame, as ffmpeg reads the file."""
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, *options, "-f", "rawvideo", "-pix_fmt", "gray", "-"],
        capture_output=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert run.stderr == b""
    return numpy.frombuffer(run.stdout, numpy.uint8).reshape(-1, HEIGHT, WIDTH).astype(int)


def said(path: Path) -> dict:
    """The snapshot's EXIF data, as ffmpeg reads it."""
    run = subprocess.run(
        ["ffprobe", "-v", "error", "-show_frames", "-of", "json", path], capture_output=True, check=True, timeout=HUNG)
    [frame] = json.loads(run.stdout)["frames"]
    return frame["tags"] | {"size": (frame["width"], frame["height"])}


def differences(snapshot: numpy.ndarray, frames: numpy.ndarray) -> list[float]:
    """How much each frame differs from the snapshot, in steps of luma."""
    return [float(numpy.abs(frame - snapshot).mean()) for frame in frames]


def test_snapshots_are_frames_of_the_stream_which_loses_none(children, tmp_path):
    receiver = Receiver(children)
    publisher = start(children, receiver.url(), quality="High1", dimension=f"{WIDTH}x{HEIGHT}")
    wait_for_media(publisher, receiver.path, frames=15)
    paths = [tmp_path / f"{number}.jpg" for number in range(6)]
    for path in paths:
        send(publisher, f"snapshot {path}")
        wait_for(publisher, "snapshot", paths.index(path) + 1)
        time.sleep(0.1)  # so that the next one is another frame
    reported = wait_for(publisher, "snapshot", len(paths))
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()

    assert [event["file"] for event in reported] == [str(path) for path in paths]
    assert [event["bytes"] for event in reported] == [path.stat().st_size for path in paths]
    assert all((event["width"], event["height"]) == (WIDTH, HEIGHT) for event in reported)
    recording = Recording(receiver.recording())
    ended = last_event(publisher, "ended")
    assert_whole(recording, ended)
    missed = ended["sourceDropped"]
    assert (ended["videoSkipped"], ended["videoDropped"]) == (0, 0) or missed
    times = [tag.timestamp for tag in recording.frames]
    assert max(after - before for before, after in zip(times, times[1:])) < 60 or missed, "30 frames a second, none missing"

    frames = gray(recording.path, "-fps_mode", "passthrough")
    shown, left_out = [], 0
    for path in paths:
        # An encoded frame is closer to its own snapshot than to its neighbors'.
        by_frame = differences(gray(path)[0], frames)
        shown.append(by_frame.index(min(by_frame)))
        left_out += min(by_frame) >= 3
    # The frame of a snapshot may have been dropped from the stream on a busy machine.
    assert left_out <= min(missed, len(paths) - 1), f"{left_out} are not in the stream"
    assert shown == sorted(shown) and len(set(shown)) >= len(paths) - left_out, shown
    print("\n  nearest frames", shown)


def test_a_snapshot_has_exif_data(children, tmp_path):
    publisher = start(children, Receiver(children).url())
    before = time.time()
    path = tmp_path / "snapshot.jpg"
    send(publisher, f"snapshot {path}")
    wait_for(publisher, "snapshot", 1)
    tags = said(path)
    taken = time.mktime(time.strptime(tags["DateTimeOriginal"].strip(), "%Y:%m:%d %H:%M:%S")) - time.timezone
    assert before - 2 < taken < time.time() + 1
    assert tags["size"] == (320, 240) and tags["Software"].startswith("Tallycam ")
    assert [tags[name].strip() for name in ("PixelXDimension", "PixelYDimension")] == ["320", "240"]


def test_file_size_follows_the_quality(children, tmp_path):
    publisher = start(children, Receiver(children).url())
    paths = {quality: tmp_path / f"{quality}.jpg" for quality in (10, 60, 90, 100)}
    for quality, path in paths.items():
        send(publisher, f"snapshot {path}" + ("" if quality == 90 else f" {quality}"))
    wait_for(publisher, "snapshot", len(paths))
    sizes = [path.stat().st_size for path in paths.values()]
    assert sizes == sorted(sizes) and sizes[-1] > 2 * sizes[0], sizes


def test_impossible_snapshots_are_reported_and_the_stream_continues(children, tmp_path):
    receiver = Receiver(children)
    publisher = start(children, receiver.url())
    send(publisher, "snapshot", "snapshot a.jpg 101", "snapshot a.jpg best", "snapshot a.jpg 50 c")
    assert len(wait_for(publisher, "refused", 4)) == 4
    (tmp_path / "folder").mkdir()
    missing, full = tmp_path / "missing/a.jpg", tmp_path / "folder"
    send(publisher, f"snapshot {missing}", f"snapshot {full}", "snapshot /dev/full/a.jpg")
    failed = wait_for(publisher, "snapshotFailed", 3)
    assert str(missing) in failed[0]["reason"] and "No such file" in failed[0]["reason"]
    assert str(full) in failed[1]["reason"] and "Is a directory" in failed[1]["reason"]
    assert not any(".tmp" in event["reason"] for event in failed), "the temporary file's name means nothing to a person"
    # A device, which no file may replace.
    os.mkfifo(tmp_path / "pipe")
    send(publisher, f"snapshot {tmp_path}/pipe")
    assert "which is not a regular file" in wait_for(publisher, "snapshotFailed", 4)[3]["reason"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    # More at once than anyone intends.
    send(publisher, *(f"snapshot {tmp_path}/{number}.jpg" for number in range(40)))
    publisher.wait_until(
        lambda: len([event for event in events(publisher) if event["name"].startswith("snapshot")]) == 44, "all answers")
    assert any(event["kind"] == "othersWaiting" for event in wait_for(publisher, "snapshotFailed", 5))
    assert list(tmp_path.glob(".*.tmp")) == []
    send(publisher, "stop")
    assert publisher.wait() == 0, publisher.report()
    assert_whole(Recording(receiver.recording()), last_event(publisher, "ended"))


def test_the_end_of_a_stream_ends_its_snapshots(children, tmp_path):
    publisher = start(children, Receiver(children).url())
    send(publisher, f"snapshot {tmp_path}/last.jpg", "stop")
    assert publisher.wait() == 0, publisher.report()
    [answer] = [event for event in events(publisher) if event["name"].startswith("snapshot")]
    assert (answer["name"] == "snapshot") == (tmp_path / "last.jpg").exists()
    assert events(publisher)[-1]["name"] == "ended" or events(publisher)[-2]["name"] == "ended"


def test_audio_alone_has_no_snapshot(children, tmp_path):
    publisher = start(children, Receiver(children).url(), video="none", quality=None, dimension=None)
    send(publisher, f"snapshot {tmp_path}/a.jpg")
    [failed] = wait_for(publisher, "snapshotFailed", 1)
    assert failed["kind"] == "noVideo"


def test_the_camera_gives_its_snapshot_to_each_asker(children, tmp_path):
    receiver = Receiver(children)
    camera = Appliance(children, stream=plain(receiver.url()), device={**DEVICE, "snapshots": {"count": 2, "quality": 80}})
    # Nothing is live; the test pattern needs no exposure time.
    assert camera.ask("snapshot", "--output", tmp_path / "idle.jpg").child.returncode == 0
    camera.ask("start")
    camera.wait_for("live")
    for name in ("a", "b", "c"):
        asked = camera.ask("snapshot")
        assert asked.child.returncode == 0 and asked.stdout.startswith(f"{camera.state}/snapshots/snapshot-"), asked.report()
    assert sorted(path.name for path in (camera.state / "snapshots").iterdir()) == ["snapshot-000002.jpg", "snapshot-000003.jpg"]
    # The file's bytes go to standard output unchanged.
    run = subprocess.run(
        [TALLYCAM, "snapshot", "--output", "-", "--quality", "30", "--socket", camera.socket], capture_output=True, check=True)
    (tmp_path / "live.jpg").write_bytes(run.stdout)
    for name in ("idle", "live"):
        assert said(tmp_path / f"{name}.jpg")["size"] == (320, 240)
    assert (tmp_path / "live.jpg").stat().st_size < (camera.state / "snapshots/snapshot-000003.jpg").stat().st_size
    assert camera.status()["state"] in LIVE
    wrong = camera.ask("snapshot", "--quality", "0")
    assert wrong.child.returncode == 2 and "1 to 100" in wrong.stderr
    nowhere = camera.ask("snapshot", "--output", "")
    assert nowhere.child.returncode == 2 and "--output is empty" in nowhere.stderr
    # Devices, which no file may replace.
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "live.jpg")
    for name in ("pipe", "link"):
        before = (tmp_path / name).lstat()
        spared = camera.ask("snapshot", "--output", tmp_path / name)
        assert spared.child.returncode == 5 and "which is not a regular file" in spared.stderr, spared.report()
        assert (tmp_path / name).lstat() == before


def test_output_that_cannot_be_written_is_a_failure(children):
    camera = Appliance(children, stream=plain("rtmp://127.0.0.1:9/live/x"))
    for words in (
        ["status"], ["status", "--json"], ["controls"], ["snapshot"], ["snapshot", "--output", "-"],
        ["status", "--help"],
    ):  # fmt: skip
        # It has no reader.
        reader, writer = os.pipe()
        os.close(reader)
        command = [TALLYCAM, *words, *([] if "--help" in words else ["--socket", camera.socket])]
        run = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=HUNG)
        os.close(writer)
        assert run.returncode == 6 and run.stderr == "tallycam: standard output: Broken pipe\n", (words, run)


def test_missing_features_are_reported_with_the_file_that_can_fix_them(children):
    cameras = {"front": "/dev/video77", "back": "synthetic"}
    camera = Appliance(
        children, stream=plain("rtmp://127.0.0.1:9/live/x"),
        device={**DEVICE, "camera": "auto", "cameras": cameras, "doublePress": "torch"})
    camera.wait_for_faults('key:     doublePress', 'is "torch", but board.json names no flash LED')
    for command in ("torch", "torch on", "set torch on"):
        assert "board.json names no flash LED" in camera.console(command)
    assert "no camera at /dev/video77" in camera.ask("snapshot").stderr
    camera.ask("start")
    camera.wait_for_faults("key:     cameras.front", "no camera at /dev/video77")
    camera.ask("stop")
    camera.write("device", {**DEVICE, "camera": "back", "cameras": cameras})
    camera.wait_for("ready")
    assert camera.ask("snapshot").child.returncode == 0
