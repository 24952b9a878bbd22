"""`publish --from-mp4`: every frame of a recording, or of a file by ffmpeg, arrives byte for byte, and files that cannot be
published are refused in plain words before a server hears of them."""

import itertools
import subprocess

import flv
import media
import pytest
from mp4_boxes import fragments
from processes import HUNG
from tallycam import TALLYCAM, Receiver, events, last_event, wait_for_event

pytestmark = pytest.mark.takes(minutes=1, processors=0.3)

MEDIA = 4  # the exit status
SECONDS = 3
X264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", 30]


def clip(path, *options, video=X264, audio=("-c:a", "aac", "-b:a", "96k")):
    media.run_ffmpeg(
        "-f", "lavfi", "-i", f"testsrc2=s=320x240:r=30:d={SECONDS}", "-f", "lavfi", "-i", f"sine=440:r=44100:d={SECONDS}",
        *video, *audio, *options, path,
    )  # fmt: skip
    return path


def publish(children, path, url, *options):
    words = [TALLYCAM, "publish", "--from-mp4", path, "--url", url, "--pace", "fast", "--events", "json", *options]
    return children.run("publish", words)


def frames(tags) -> list[bytes]:
    return [tag.body[5:] for tag in tags if tag.is_frame]


def packets(tags) -> list[bytes]:
    return [tag.body[2:] for tag in tags if tag.is_audio]


def remuxed(path, into):
    """The tags that ffmpeg makes of the same file."""
    media.run_ffmpeg("-i", path, "-map", "0:v:0", "-map", "0:a:0?", "-c", "copy", "-f", "flv", into)
    return flv.read_tags(into)


def assert_same(received, expected):
    """The same frames and audio, at the same times to two milliseconds, counted from the first frame."""
    assert frames(received) == frames(expected) and packets(received) == packets(expected)
    for kind in ("is_frame", "is_audio"):
        times = [
            [tag.timestamp - next(tag.timestamp for tag in tags if tag.is_frame) for tag in tags if getattr(tag, kind)]
            for tags in (received, expected)
        ]
        assert max((abs(a - b) for a, b in zip(*times)), default=0) <= 2, kind
    offsets = [[int.from_bytes(tag.body[2:5], signed=True) for tag in tags if tag.is_frame] for tags in (received, expected)]
    assert max(abs(a - b) for a, b in zip(*offsets)) <= 2


FORMS = {
    "plain": [],
    "faststart": ["-movflags", "+faststart"],
    "fragmented": ["-movflags", "+frag_keyframe+empty_moov"],
    "first-fragment-in-moov": ["-movflags", "+frag_keyframe"],
    "dash": ["-movflags", "+frag_keyframe+empty_moov+default_base_moof+separate_moof"],
    "b-frames": ["-bf", 2],
    "b-frames-fragmented": ["-bf", 2, "-movflags", "+frag_keyframe+delay_moov"],
    "quicktime": ["-f", "mov"],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_frame_of_a_file_by_ffmpeg_arrives(nginx, children, tmp_path, form):
    # The preset has no B frames.
    video = [word for word in X264 if word not in ("-preset", "ultrafast")] if "b-frames" in form else X264
    path = clip(tmp_path / "clip.mp4", *FORMS[form], video=video)
    publisher = publish(children, path, nginx.url("x"))
    assert publisher.child.returncode == 0, publisher.report()
    received = flv.read_tags(nginx.recording("x"))
    expected = remuxed(path, tmp_path / "expected.flv")
    assert len(frames(expected)) == 30 * SECONDS
    assert_same(received, expected)
    assert media.decode(nginx.recording("x")).complaints == ""


def record(children, name):
    """A recording by `receive`; not finished if the receiver is killed."""
    path = children.directory / name
    process = children.start("receive", [TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", path, "--events", "json"])
    url = f"rtmp://{wait_for_event(process, 'listening')['address']}/live/x"
    return path, process, url


def test_every_frame_of_a_recording_arrives(nginx, children, encoded_flv):
    path, process, url = record(children, "recorded.mp4")
    words = [TALLYCAM, "publish", "--from-flv", encoded_flv, "--url", url, "--pace", "fast"]
    assert children.run("fill", words).child.returncode == 0
    wait_for_event(process, "publisherEnded")
    assert process.interrupt_and_wait() == 0
    assert publish(children, path, nginx.url("x")).child.returncode == 0
    received, sent = flv.read_tags(nginx.recording("x")), flv.read_tags(encoded_flv)
    start = next(tag.timestamp for tag in sent if tag.is_frame)
    assert_same(received, [tag for tag in sent if tag.timestamp >= start or tag.is_video_header or tag.is_audio_header])


def test_recording_that_is_cut_off_arrives_up_to_its_last_fragment(children, tmp_path, encoded_flv):
    path, process, url = record(children, "recorded.mp4")
    # Again and again: on a busy machine, the clip could end before the receiver is killed.
    words = ["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", encoded_flv, "-c", "copy", "-f", "flv", url]
    sender = children.start("fill", words)
    process.wait_until(lambda: fragments(path) >= 1, "a fragment")
    process.kill()
    sender.kill()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(path.read_bytes() + path.read_bytes()[-40:])
    receiver = Receiver(children)
    publisher = publish(children, cut, receiver.url())
    assert publisher.child.returncode == 0, publisher.report()
    received = frames(flv.read_tags(receiver.recording()))
    sent = itertools.cycle(frames(flv.read_tags(encoded_flv)))
    assert received and len(received) % 60 == 0 and received == list(itertools.islice(sent, len(received)))


def test_first_of_several_video_tracks_is_published(children, tmp_path):
    path = tmp_path / "two.mp4"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=s=320x240:r=30:d=1", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=30:d=1",
        "-map", "0", "-map", "1", *X264, path,
    )  # fmt: skip
    receiver = Receiver(children)
    publisher = publish(children, path, receiver.url())
    assert publisher.child.returncode == 0, publisher.report()
    assert "2 video tracks in H.264; publishing the first one" in publisher.stderr
    assert media.frame_sizes(receiver.recording()) == [("320x240", 30)]


def test_realtime_pace_follows_the_file(children, tmp_path):
    path = clip(tmp_path / "clip.mp4")
    receiver = Receiver(children)
    words = [TALLYCAM, "publish", "--from-mp4", path, "--url", receiver.url(), "--events", "json"]
    publisher = children.run("publish", words)
    assert publisher.child.returncode == 0, publisher.report()
    live = next(event["t"] for event in events(publisher) if event["name"] == "publishing")
    assert last_event(publisher, "ended")["t"] - live >= SECONDS - 0.5


def flipped(path, into, seed: int):
    """A byte of the table of contents is another one."""
    data = bytearray(path.read_bytes())
    place = data.rindex(b"moov") + 4 + seed * 97 % (len(data) - data.rindex(b"moov") - 8)
    data[place] ^= 0xFF
    into.write_bytes(data)
    return into


def cut_within_gop(tmp_path):
    path = tmp_path / "cut.mp4"
    media.run_ffmpeg("-ss", 0.5, "-i", clip(tmp_path / "whole.mp4"), "-c", "copy", path)
    return path


def truncated(tmp_path, *options):
    path = clip(tmp_path / "whole.mp4", *options)
    path.write_bytes(path.read_bytes()[:-2000])
    return path


REFUSALS = {
    "no table of contents": (lambda at: truncated(at), "no table of contents"),
    "faststart and cut off": (lambda at: truncated(at, "-movflags", "+faststart"), "cut off: it ends before its last frame"),
    "edit within a GOP": (cut_within_gop, "edit list hides"),
    "other video": (lambda at: clip(at / "x.mp4", video=["-c:v", "mpeg4"]), "no H.264 video: its video is mp4v"),
    "other audio": (lambda at: clip(at / "x.mp4", audio=["-c:a", "ac3"]), "audio is ac-3, not AAC"),
    "audio alone": (lambda at: clip(at / "x.mp4", "-vn", video=[]), "no H.264 video"),
    "FLV": (lambda at: clip(at / "x.flv"), "this is an FLV file; publish it by --from-flv"),
    "missing": (lambda at: at / "none.mp4", "No such file"),
    "folder": (lambda at: at, "directory"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_unsuitable_file_is_refused_before_connecting(children, tmp_path, name):
    make, words = REFUSALS[name]
    publisher = publish(children, make(tmp_path), "rtmp://127.0.0.1:1/live/x")
    assert publisher.child.returncode == MEDIA, publisher.report()
    assert words in publisher.stderr


def test_damaged_tables_end_in_a_refusal_or_a_stream(children, tmp_path):
    """Never in a crash. The fuzz target mp4tags goes deeper."""
    whole = clip(tmp_path / "whole.mp4")
    receiver = Receiver(children)
    for seed in range(12):
        path = flipped(whole, tmp_path / "damaged.mp4", seed)
        publisher = publish(children, path, receiver.url())
        assert publisher.child.returncode in (0, MEDIA), publisher.report()


@pytest.mark.parametrize("words, complaint", [
    (["--from-flv", "x.flv"], "--from-flv and --from-mp4 cannot be combined"),
    (["--quality", "Low1"], "--quality cannot be combined with --from-mp4"),
    (["--reconnect", "3"], "--reconnect cannot be combined with --from-mp4"),
])  # fmt: skip
def test_options_of_live_media_are_refused(children, words, complaint):
    publisher = publish(children, "x.mp4", "rtmp://127.0.0.1:1/live/x", *words)
    assert publisher.child.returncode == 2 and complaint in publisher.stderr


def test_timecode_is_in_every_frame(children, tmp_path):
    """ffmpeg reads the message, as a foreign witness."""
    receiver = Receiver(children)
    words = [
        TALLYCAM, "publish", "--dimension", "320x240", "--audio", "none", "--duration", "2", "--timecode",
        "--url", receiver.url(), "--encoder", "openh264",
    ]  # fmt: skip
    assert children.run("publish", words).child.returncode == 0
    shown = subprocess.run(
        ["ffmpeg", "-v", "info", "-i", receiver.recording(), "-vf", "showinfo", "-f", "null", "-"],
        capture_output=True, text=True, check=True, timeout=HUNG, stdin=subprocess.DEVNULL,
    ).stderr  # fmt: skip
    count = shown.count("pts_time:")
    assert count > 20 and shown.count("4d495350-6d69-6372-6f73-656374696d65") == count
    stamps = stamps_of(flv.read_tags(receiver.path))
    assert len(stamps) == count
    steps = [after - before for before, after in zip(stamps, stamps[1:])]
    times = [tag.timestamp for tag in flv.read_tags(receiver.path) if tag.is_frame]
    # The same clock as that of the timestamps, which are whole milliseconds.
    assert all(abs(step / 1000 - (after - before)) <= 2 for step, before, after in zip(steps, times, times[1:]))


def stamps_of(tags) -> list[int]:
    """Microseconds since 1970 of each frame."""
    stamps = []
    for body in frames(tags):
        place = body.find(b"\x06\x05\x1cMISPmicrosectime")
        if place >= 0:
            digits = body[place + 20 : place + 31]
            stamps.append(int.from_bytes(digits[0:2] + digits[3:5] + digits[6:8] + digits[9:11]))
    return stamps
