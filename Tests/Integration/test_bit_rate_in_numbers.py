"""A bit rate in numbers: what is sent, what its headers say, and what is refused."""

import json
import subprocess

import media
import pytest
from appliance import DEVICE, Appliance, plain
from processes import HUNG
from recording import Recording, assert_whole
from tallycam import TALLYCAM, Receiver, last_event, start_publisher

pytestmark = pytest.mark.takes(minutes=0.8, processors=0.5)

SECONDS = 10


def noisy_raw(path, size: str, fps: int):
    """Frames that no encoder can show with fewer bits than it is given."""
    media.run_ffmpeg(
        "-f", "lavfi", "-i", f"testsrc2=s={size}:r={fps}:d={SECONDS},noise=alls=24:allf=t",
        "-pix_fmt", "yuv420p", "-f", "rawvideo", path,
    )  # fmt: skip
    return path


def probed(path, *entries: str) -> dict:
    words = ["ffprobe", "-v", "error", "-select_streams", "v", "-of", "json", *entries, str(path)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, timeout=HUNG, check=True).stdout)


@pytest.mark.parametrize("quality,size,fps,level", [("2.5M", "320x240", 30, 30), ("2500k@60", "320x240", 60, 30)])
def test_the_bit_rate_is_sent(children, tmp_path, quality, size, fps, level):
    """Smaller frames than a service asks for, so that a busy machine keeps up: the rate is what matters."""
    raw, receiver = noisy_raw(tmp_path / "noise.i420", size, fps), Receiver(children)
    publisher = start_publisher(
        children, receiver.url(), quality=quality, dimension=size, video=f"raw:{raw},format=i420,size={size},fps={fps}",
        adapt="nothing", buffer=5,
    )  # fmt: skip
    assert publisher.wait() == 0, publisher.report()
    raw.unlink()
    sent, recording = last_event(publisher, "ended"), Recording(receiver.recording())
    assert_whole(recording, sent)
    times = [tag.timestamp / 1000 for tag in recording.frames]
    span = times[-1] - times[0] + 1 / fps
    captured = sent["videoFrames"] + sent["videoSkipped"]
    assert abs(captured - SECONDS * fps) <= fps / 10 and sent["videoSkipped"] <= captured / 20, sent
    # A machine that stalls reads frames late, which makes the stream longer and its rate lower.
    allowed = 0.1 + max(0, span / SECONDS - 1)
    kbps = recording.video_kbps(span)
    assert abs(kbps / 2_500 - 1) <= allowed, f"{kbps:.0f} kbit/s over {span:.1f} s"
    packets = probed(receiver.recording(), "-show_entries", "packet=size")["packets"]
    assert abs(sum(int(packet["size"]) for packet in packets) * 8 / span / 1000 / 2_500 - 1) <= allowed
    stream = probed(receiver.recording(), "-show_entries", "stream=profile,level,width,height")["streams"][0]
    assert (stream["profile"], stream["level"], f"{stream['width']}x{stream['height']}") == ("Main", level, size)


@pytest.mark.parametrize(
    "quality,size,profile,level",
    [("4.5M", (1280, 720), "Main", 31), ("4.5M@60", (1280, 720), "Main", 32), ("6M", (1920, 1080), "Main", 40)],
)
def test_the_level_in_the_header_follows_size_and_rate(children, quality, size, profile, level):
    receiver = Receiver(children)
    publisher = start_publisher(
        children, receiver.url(), quality=quality, dimension=f"{size[0]}x{size[1]}", duration=0.5
    )
    assert publisher.wait() == 0, publisher.report()
    sps = Recording(receiver.recording()).sps
    assert (sps.profile_name, sps.level, sps.width, sps.height) == (profile, level, *size)


def test_a_rate_beyond_the_level_is_refused(children):
    publisher = start_publisher(children, Receiver(children).url(), quality="6M@60", dimension="1080p", duration=0.5)
    assert publisher.wait() == 2, publisher.report()
    assert "489600 macroblocks per second" in publisher.stderr and "allows 245760" in publisher.stderr


@pytest.mark.parametrize(
    "quality,key,part",
    [
        ({"highest": {"kbit": 25_000}}, "quality.highest.kbit", "from 150 to 20000 kbit/s"),
        ({"highest": "25M"}, "quality.highest", "from 150k to 20000k"),
        ({"highest": {"kbit": 6_000, "framesPerSecond": 60}}, "quality.highest", "245760"),
        ({"highest": {"kbit": 6_000, "framesPerSecond": 20}}, "quality.highest.framesPerSecond", "from 24 to 60"),
    ],
)
def test_a_fault_in_the_file_names_key_limit_and_example(children, tmp_path, quality, key, part):
    path = tmp_path / "device.json"
    path.write_text(json.dumps({"dimension": "1080p", "quality": quality}))
    check = children.run("check", [TALLYCAM, "check", path])
    assert check.child.returncode == 2, check.report()
    assert f": {key}: " in check.stderr and part in check.stderr
    assert '"highest": "4.5M"' in check.stderr or '{"kbit": 4500' in check.stderr, "an example"


def test_the_camera_streams_at_the_rate_of_its_file(children):
    receiver = Receiver(children)
    device = {**DEVICE, "quality": {"lowest": "Low1", "start": "2500k", "highest": {"kbit": 3000, "framesPerSecond": 24}}}
    camera = Appliance(children, stream=plain(receiver.url()), device=device)
    assert "starts at 2500k, within Low1 to 3000k@24, 320x240" in camera.ask("status").stdout
    camera.ask("start")
    camera.wait_for("live")
    assert "3000k@24" in camera.wait_until(lambda status: "quality" in status)["quality"]
    assert camera.ask("quality", "3.5M@30").stdout.startswith("quality 3500k\n")
    refusal = camera.ask("quality", "25M")
    assert refusal.child.returncode != 0 and "from 150k to 20000k" in refusal.stderr
    camera.ask("stop")
