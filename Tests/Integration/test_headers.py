"""Profile, level, size and keyframes of every quality and dimension, read from what was received."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from expected import DIMENSIONS, KEY_INTERVAL, QUALITIES, level_for
from processes import Children
from recording import Recording, assert_whole
from tallycam import Receiver, last_event, start_publisher

pytestmark = pytest.mark.takes(minutes=0.4, processors=0.5)

# Where levels change: 640x480 fits every quality's own level, larger sizes need a higher one.
LEVEL_SIZES = [(416, 234), (640, 480), (960, 540), (1280, 720)]
LARGE = [("Low1", 1920, 1080), ("Medium1", 1920, 1080), ("High1", 1920, 1080)]


def publish_all(children: Children, jobs: list[dict], at_once: int) -> list[tuple[Recording, dict, str]]:
    """Publishes each job's options to a separate receiver."""

    def publish(job: dict) -> tuple[Recording, dict, str]:
        receiver = Receiver(children)
        publisher = start_publisher(children, receiver.url(), **job)
        assert publisher.wait() == 0, publisher.report()
        return Recording(receiver.recording()), last_event(publisher, "ended"), publisher.stderr

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(publish, jobs))


@pytest.fixture(scope="module")
def headers(module_children):
    """A short stream of every quality in sizes around the limits of the levels."""
    keys = [(name, *size) for size in LEVEL_SIZES for name in QUALITIES] + LARGE
    jobs = [{"quality": name, "dimension": f"{width}x{height}", "duration": 0.5} for name, width, height in keys]
    return dict(zip(keys, publish_all(module_children, jobs, at_once=6)))


@pytest.mark.parametrize("name", QUALITIES)
def test_profile_and_level_match_the_tables_and_rise_where_needed(headers, name):
    quality = QUALITIES[name]
    wanted, found = {}, {}
    for (other, width, height), (recording, _, _) in headers.items():
        if other == name:
            sps = recording.sps
            wanted[width, height] = (quality.profile, level_for(quality, width, height), width, height)
            found[width, height] = (sps.profile_name, sps.level, sps.width, sps.height)
    assert found == wanted
    assert len(found) >= len(LEVEL_SIZES)


def test_the_expected_levels_are_correct():
    """Checks the expectation itself, at the points that the documented limits name."""
    assert level_for(QUALITIES["High1"], 960, 540) == 31
    assert level_for(QUALITIES["Medium1"], 1280, 720) == 31
    assert level_for(QUALITIES["High3"], 1920, 1080) == 40
    assert level_for(QUALITIES["Low1"], 640, 480) == 30


@pytest.fixture(scope="module")
def sizes(module_children):
    jobs = [{"quality": "Low1", "dimension": f"{width}x{height}", "duration": 0.5} for width, height in DIMENSIONS]
    return dict(zip(DIMENSIONS, publish_all(module_children, jobs, at_once=6)))


@pytest.mark.parametrize("size", DIMENSIONS, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_dimension_arrives_unchanged(sizes, size):
    recording, sent, _ = sizes[size]
    assert (recording.sps.width, recording.sps.height) == size
    assert_whole(recording, sent)


def test_a_custom_size_is_rounded_to_16_and_reported(children):
    [(recording, _, log)] = publish_all(children, [{"quality": "Low1", "dimension": "333x250", "duration": 0.5}], 1)
    assert (recording.sps.width, recording.sps.height) == (336, 256)
    assert "333x250" in log and "336x256" in log


def test_a_size_of_whole_macroblocks_is_not_rounded(children):
    [(recording, _, log)] = publish_all(children, [{"quality": "Low1", "dimension": "320x240", "duration": 0.5}], 1)
    assert (recording.sps.width, recording.sps.height) == (320, 240)
    assert "round" not in log


def test_the_default_is_medium1_at_640x480_with_128_kbit_of_audio(children):
    [(recording, sent, _)] = publish_all(children, [{"duration": 2, "adapt": "nothing"}], 1)
    assert (recording.sps.width, recording.sps.height, recording.sps.profile_name) == (640, 480, "Baseline")
    captured = len(recording.frames) + sent["videoSkipped"]
    assert captured <= 61 and 59 <= captured + sent["sourceDropped"]
    assert abs(recording.audio_kbps() / 128 - 1) <= 0.05


@pytest.fixture(scope="module")
def long_enough(module_children):
    jobs = [{"quality": name, "dimension": "416x234", "duration": 4.6, "audio": "none", "adapt": "nothing"} for name in QUALITIES]
    return dict(zip(QUALITIES, publish_all(module_children, jobs, at_once=9)))


@pytest.mark.parametrize("name", QUALITIES)
def test_keyframes_are_two_seconds_apart(long_enough, name):
    recording, sent, _ = long_enough[name]
    missed = sent["sourceDropped"]
    assert len(recording.key_times) == 3 or missed
    gaps = [after - before for before, after in zip(recording.key_times, recording.key_times[1:])]
    one_frame = 1000 / QUALITIES[name].fps
    # The next available frame may be a few frames late.
    assert all(-one_frame - 1 <= gap - 1000 * KEY_INTERVAL <= one_frame * (1 + missed) + 1 for gap in gaps), gaps
    captured = sent["videoFrames"] + sent["videoSkipped"] + sent["videoDropped"]
    assert -1.5 - missed <= captured - 4.6 * QUALITIES[name].fps <= 1.5, sent
    assert recording.audio_packets == []


@pytest.mark.parametrize("name, kbps", [("High1", 96), ("High2", 128)])
def test_the_audio_qualities_have_their_bitrate(children, name, kbps):
    job = {"audio_quality": name, "quality": "Low1", "duration": 2, "adapt": "nothing"}
    [(recording, _, _)] = publish_all(children, [job], 1)
    assert abs(recording.audio_kbps() / kbps - 1) <= 0.05
