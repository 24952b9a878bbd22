"""A frame size that changes inside a stream, played by a real browser in the ways that web pages use."""

from dataclasses import dataclass
from pathlib import Path

import hls
import media
import pytest
from playback import Part, play_address, play_parts
from servers import NginxRTMP
from tallycam import TALLYCAM

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=1, processors=0.9)]

SIZES = ["640x360", "320x180", "640x360"]
SECONDS = 3
FRAMES = len(SIZES) * SECONDS * 30
MPEGTS = 'video/mp2t; codecs="avc1.42c01e,mp4a.40.2"'
MP4 = 'video/mp4; codecs="avc1.42c01e,mp4a.40.2"'
FRAGMENTED = ["-c", "copy", "-bsf:a", "aac_adtstoasc", "-movflags", "frag_keyframe+delay_moov+default_base_moof"]


@dataclass
class Published:
    recording: Path
    playlist: Path

    @property
    def segments(self) -> list[Path]:
        return hls.segments(self.playlist)


@pytest.fixture(scope="module")
def published(module_children):
    clip = media.make_resized_flv(module_children.directory / "resized.flv", SIZES, SECONDS)
    nginx = NginxRTMP(module_children, hls=True)
    words = [TALLYCAM, "publish", "--from-flv", clip, "--url", nginx.url("x"), "--pace", "fast"]
    publisher = module_children.run("publish", words)
    assert publisher.child.returncode == 0, publisher.report()
    return Published(nginx.recording("x"), hls.whole(nginx.playlist("x")))


def assert_follows(played) -> None:
    """Every size in turn, to the end. Chromium decodes six fewer frames of MPEG-TS, with one size as with several."""
    assert (played.error, played.sizes) == (None, SIZES)
    assert played.frames >= FRAMES - 6
    assert abs(played.seconds - len(SIZES) * SECONDS) < 1


def test_it_plays_the_hls_playlist_itself(published, children):
    assert_follows(play_address(children, published.playlist))


def test_it_plays_the_segments_unchanged(published, children):
    assert_follows(play_parts(children, MPEGTS, [Part(segment) for segment in published.segments]))


def test_it_plays_mp4_with_an_initialization_segment_for_each_size(published, children):
    """hls.js converts MPEG-TS to this since 1.5."""
    parts = []
    for number in range(len(SIZES)):
        segments = published.segments[number * SECONDS : (number + 1) * SECONDS]
        part = children.directory / f"part-{number}.mp4"
        media.run_ffmpeg("-i", "concat:" + "|".join(map(str, segments)), *FRAGMENTED, part)
        parts.append(Part(part, number * SECONDS))
    assert_follows(play_parts(children, MP4, parts))


def test_it_plays_mp4_with_one_initialization_segment_and_in_band_parameter_sets(published, children):
    """MediaMTX converts RTMP to this: each keyframe includes the parameter sets, as in MPEG-TS."""
    mp4 = children.directory / "in-band.mp4"
    media.run_ffmpeg("-i", published.playlist, *FRAGMENTED, mp4)
    assert_follows(play_parts(children, MP4, [Part(mp4)]))


def test_it_stops_if_nothing_announces_the_size(published, children):
    """A remuxer that keeps only the first sequence header, as `ffmpeg -c copy` does from RTMP to MP4."""
    mp4 = children.directory / "first-header.mp4"
    media.run_ffmpeg("-i", published.recording, *FRAGMENTED, mp4)
    played = play_parts(children, MP4, [Part(mp4)])
    assert "PIPELINE_ERROR_DECODE" in played.error
    assert played.sizes == SIZES[:1]
