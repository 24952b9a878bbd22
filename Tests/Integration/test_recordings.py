"""`tallycam recordings` lists a folder and fills a server's gaps. ffmpeg and GStreamer, two foreign parsers, play plain, repaired
and fragmented recordings with audio and video in step."""

import json
import os
import re
import subprocess

import flv
import media
import pytest
from mp4_boxes import fragments as fragments_of
from processes import HUNG
from tallycam import TALLYCAM, Receiver, wait_for_event

pytestmark = pytest.mark.takes(minutes=1, processors=0.3)

FRAME = 1 / 30
START = 1_795_700_345_000_000_000  # 2026-11-26T13:39:05Z
NAME = "000001_20261126T133905Z"


def recordings(children, *words, status=0):
    run = children.run("recordings", [TALLYCAM, "recordings", *words])
    assert run.child.returncode == status, run.report()
    return run


def listed(children, folder) -> list[dict]:
    return [json.loads(line) for line in recordings(children, folder, "--json").stdout.splitlines()]


@pytest.fixture(scope="module")
def flashes(tmp_path_factory):
    """8 s: white with a beep for the first 0.2 s of each second, otherwise black and silent. A keyframe every second."""
    path = tmp_path_factory.mktemp("recordings") / "flashes.flv"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "color=black:s=320x240:r=30:d=8,geq=lum='if(lt(mod(T,1),0.195),235,16)':cb=128:cr=128",
        "-f", "lavfi", "-i", "aevalsrc='if(lt(mod(t,1),0.2),0.5*sin(2*PI*1000*t),0)':s=48000:d=8",
        "-c:v", "libx264", "-bf", 0, "-g", 30, "-sc_threshold", 0, "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "128k", path,
    )  # fmt: skip
    return path


def recorded(children, clip, folder, fragments: int | None = None):
    """A recording by the recorder's writer, in the form of the device's names; cut off after so many fragments."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{NAME}.mp4"
    process = children.start("receive", [TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", path, "--events", "json"])
    url = f"rtmp://{wait_for_event(process, 'listening')['address']}/live/x"
    if fragments is None:
        words = [TALLYCAM, "publish", "--from-flv", clip, "--url", url, "--pace", "fast"]
        assert children.run("fill", words).child.returncode == 0
        wait_for_event(process, "publisherEnded")
        assert process.interrupt_and_wait() == 0
        return path
    # Again and again: on a busy machine, the clip could end before the receiver is killed.
    words = ["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy", "-f", "flv", url]
    sender = children.start("fill", words)
    process.wait_until(lambda: fragments_of(path) >= fragments, "fragments")
    process.kill()
    sender.kill()
    return path


def write_journal(path, *ranges, target="studio"):
    lines = [{"start": "2026-11-26T13:39:05Z", "unixNanoseconds": START, "clockErrorSeconds": 0.01}]
    lines += [{"target": target, "from": start, "to": end} for start, end in ranges]
    path.with_suffix(".jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


# Two foreign parsers.


def frame_times(path, stream: str) -> list[float]:
    """By ffmpeg, in seconds."""
    run = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time", "-of", "json", path],
        capture_output=True, text=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return [float(packet["pts_time"]) for packet in json.loads(run.stdout)["packets"]]


def buffer_times(children, path, pad: str) -> list[float]:
    """By GStreamer: the times at which the buffers are played."""
    player = children.run(f"gst-{pad}", [
        "gst-launch-1.0", "--verbose", "filesrc", f"location={path}", "!", "qtdemux", "name=d", f"d.{pad}", "!",
        "queue", "!", "fakesink", "name=sink", "silent=false",
    ])  # fmt: skip
    assert player.child.returncode == 0, player.report()
    times, base, start = [], 0.0, 0.0
    for line in player.stdout.splitlines():
        if "GstEventSegment" in line:
            base, start = (int(re.search(rf"\b{name}=\(guint64\)(\d+)", line)[1]) / 1e9 for name in ("base", "start"))
        elif match := re.search(r"chain .*pts: (\d+):(\d+):([\d.]+)", line):
            hours, minutes, seconds = match.groups()
            times.append(3600 * int(hours) + 60 * int(minutes) + float(seconds) - start + base)
    return times


def assert_in_step(children, path, clip):
    """Both parsers find each frame and packet at its distance from the first frame, to a frame."""
    tags = flv.read_tags(clip)
    zero = next(tag.timestamp for tag in tags if tag.is_frame)
    video = [(tag.timestamp - zero) / 1000 for tag in tags if tag.is_frame]
    audio = [(tag.timestamp - zero) / 1000 for tag in tags if tag.is_audio and tag.timestamp >= zero]
    by_ffmpeg = frame_times(path, "v"), frame_times(path, "a")
    by_gstreamer = buffer_times(children, path, "video_0"), buffer_times(children, path, "audio_0")
    for found_video, found_audio in (by_ffmpeg, by_gstreamer):
        assert len(found_video) >= 60 and len(found_audio) >= 80
        shift = found_video[0]
        for found, sent in ((found_video, video), (found_audio, audio)):
            assert max(abs(a - shift - b) for a, b in zip(found, sent)) < FRAME
    assert len(by_ffmpeg[0]) == len(by_gstreamer[0]) and len(by_ffmpeg[1]) == len(by_gstreamer[1])
    assert media.decode(path).complaints == ""


def test_finished_recording_is_in_step(children, flashes, tmp_path):
    path = recorded(children, flashes, tmp_path / "r")
    assert_in_step(children, path, flashes)
    assert len(frame_times(path, "v")) == 240


def test_fragmented_and_repaired_recordings_are_in_step(children, flashes, tmp_path):
    path = recorded(children, flashes, tmp_path / "r", fragments=3)
    with path.open("ab") as file:
        file.write(bytes(5000))
    assert [entry["state"] for entry in listed(children, path.parent)] == ["unfinished"]
    assert_in_step(children, path, flashes)
    count = len(frame_times(path, "v"))
    run = recordings(children, path.parent, "--repair")
    assert f"repaired {path}: {count} frames" in run.stderr
    assert [entry["state"] for entry in listed(children, path.parent)] == ["finished"]
    assert_in_step(children, path, flashes)
    assert len(frame_times(path, "v")) == count >= 90


def test_gaps_fill_the_servers_recording_to_the_frame(children, flashes, tmp_path):
    """The server is stopped and started again: it has 2.4 s, and then everything from 5 s on."""
    path = recorded(children, flashes, tmp_path / "r")
    server = []
    for number, (start, end) in enumerate([(0, 2.4), (5, 8)]):
        part = tmp_path / f"part-{number}.mp4"
        media.run_ffmpeg("-ss", start, "-i", path, "-t", end - start, "-c", "copy", "-movflags", "+faststart", part)
        receiver = Receiver(children)
        words = [TALLYCAM, "publish", "--from-mp4", part, "--url", receiver.url(), "--pace", "fast"]
        assert children.run("publish", words).child.returncode == 0
        server += [tag.body[5:] for tag in flv.read_tags(receiver.recording()) if tag.is_frame]
    write_journal(path, (0, 2.4), (5, 8.1))
    gap = {"from": 2, "to": 5}
    [entry] = listed(children, path.parent)
    assert entry["targets"] == [{"name": "studio", "missingSeconds": 3, "gaps": [gap]}]
    assert entry["unixNanoseconds"] == START and entry["end"] == "2026-11-26T13:39:13Z"
    run = recordings(children, "--gaps", path, "--output", tmp_path)
    filled = tmp_path / f"{NAME}.studio-1.mp4"
    assert str(filled) in run.stdout and "90 frames in 3.0 s, from 2026-11-26T13:39:07Z" in run.stdout
    receiver = Receiver(children)
    words = [TALLYCAM, "publish", "--from-mp4", filled, "--url", receiver.url(), "--pace", "fast"]
    assert children.run("publish", words).child.returncode == 0
    missing = [tag.body[5:] for tag in flv.read_tags(receiver.recording()) if tag.is_frame]
    every = [tag.body[5:] for tag in flv.read_tags(flashes) if tag.is_frame]
    assert missing == every[60:150] and set(server) | set(missing) == set(every)
    assert media.decode(filled).complaints == "" and len(buffer_times(children, filled, "video_0")) == 90


def test_ten_thousand_files_are_listed(children, encoded_flv, tmp_path):
    path = recorded(children, encoded_flv, tmp_path / "r")
    write_journal(path, (0, 9))
    for number in range(2, 10_001):
        other = path.with_name(f"{number:06}_20261126T133905Z.mp4")
        os.link(path, other)
        os.link(path.with_suffix(".jsonl"), other.with_suffix(".jsonl"))
    entries = listed(children, path.parent)
    assert len(entries) == 10_000 and all(entry["state"] == "finished" for entry in entries)
    lines = recordings(children, path.parent).stdout.splitlines()
    assert len(lines) == 10_002 and max(map(len, lines)) <= 80


def test_other_files_are_named_as_such(children, tmp_path):
    (tmp_path / "000001_noclock.mp4").write_bytes(os.urandom(5000))
    (tmp_path / "000002_noclock.mp4").write_bytes(b"")
    (tmp_path / "holiday.mp4").write_bytes(b"x")
    text = recordings(children, tmp_path).stdout
    assert [line.split()[-1] for line in text.splitlines() if ".mp4" in line] == ["foreign", "empty", "foreign"]
    run = recordings(children, "--gaps", tmp_path / "000001_noclock.mp4", status=4)
    assert "is not an MP4 file that can be read" in run.stderr


@pytest.mark.parametrize("words, complaint", [
    (["--output", "."], "--output needs --gaps"), (["--gaps", "x.mp4", "folder"], "--gaps takes one recording"),
    (["--gaps", "none.mp4"], "none.mp4"), (["nowhere"], "nowhere"), (["--gaps", "x.mp4", "--repair"], "--gaps takes"),
])  # fmt: skip
def test_wrong_words_are_explained(children, words, complaint):
    run = children.run("recordings", [TALLYCAM, "recordings", *words])
    assert run.child.returncode in (2, 4, 6) and complaint in run.stderr
