"""Measurements of a received stream."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import flv
import media
from processes import Process
from rtmp_wire import decode_amf

SAMPLE_RATES = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000]


class Recording:
    def __init__(self, path: Path):
        self.path = path
        self.tags = flv.read_tags(path)

    @cached_property
    def frames(self) -> list[flv.Tag]:
        return [tag for tag in self.tags if tag.is_frame]

    @cached_property
    def audio_packets(self) -> list[flv.Tag]:
        return [tag for tag in self.tags if tag.is_audio]

    @cached_property
    def decoded(self) -> media.Decoded:
        return media.decode(self.path)

    @cached_property
    def sps(self) -> flv.SequenceParameterSet:
        headers = [tag for tag in self.tags if tag.is_video_header]
        assert headers, f"{self.path} has no AVC sequence header"
        return flv.sps_of_header(headers[0])

    @cached_property
    def sample_rate(self) -> int:
        """From the AudioSpecificConfig (ISO 14496-3 section 1.6.2.1)."""
        config = next(tag for tag in self.tags if tag.is_audio_header).body[2:]
        return SAMPLE_RATES[(config[0] & 7) << 1 | config[1] >> 7]

    @cached_property
    def channel_count(self) -> int:
        """From the AudioSpecificConfig. For one or two channels, it equals their number."""
        return next(tag for tag in self.tags if tag.is_audio_header).body[3] >> 3 & 15

    @property
    def audio_seconds(self) -> float:
        return len(self.audio_packets) * 1024 / self.sample_rate

    @cached_property
    def metadata(self) -> dict:
        for tag in self.tags:
            if tag.kind == flv.SCRIPT:
                values = decode_amf(tag.body)
                return values[values.index("onMetaData") + 1]
        return {}

    @property
    def key_times(self) -> list[int]:
        return [tag.timestamp for tag in self.frames if tag.is_keyframe]

    def disorder(self) -> list[str]:
        """Consecutive tags of one track whose timestamps do not increase."""
        return [
            f"{kind} at {after.timestamp} ms follows {before.timestamp} ms"
            for kind, track in (("video", self.frames), ("audio", self.audio_packets))
            for before, after in zip(track, track[1:])
            if after.timestamp <= before.timestamp
        ]

    def video_kbps(self, seconds: float) -> float:
        # The first five bytes of each body belong to FLV.
        return sum(len(tag.body) - 5 for tag in self.frames) * 8 / seconds / 1000

    def audio_kbps(self) -> float:
        return sum(len(tag.body) - 2 for tag in self.audio_packets) * 8 / self.audio_seconds / 1000


def frames_due(ended: dict) -> int:
    """The frames sent, plus those whose absence the `ended` event explains."""
    kinds = ["videoFrames", "videoSkipped", "videoDropped", "videoDecimated", "sourceDropped", "sourceSuperseded"]
    return sum(ended.get(kind, 0) for kind in kinds)


def media_so_far(path: Path) -> list[flv.Tag]:
    """Frames and audio packets of a file that is still being written."""
    tags = flv.read_tags(path, is_growing=True) if path.exists() else []
    return [tag for tag in tags if tag.is_frame or tag.is_audio]


def wait_for_media(
    process: Process, path: Path | Callable[[], Path], seconds: float = 0, frames: int = 1, audio_packets: int = 0
) -> None:
    """Waits until a server's recording reaches this media time, which a busy machine does not stretch."""

    def has_come() -> bool:
        media = media_so_far(path() if callable(path) else path)
        count = sum(tag.is_frame for tag in media)
        if count < frames or len(media) - count < audio_packets:
            return False
        return not media or max(tag.timestamp for tag in media) - media[0].timestamp >= 1000 * seconds

    process.wait_until(has_come, f"{seconds} s, {frames} frames and {audio_packets} audio packets recorded", interval=0.1)


def assert_whole(recording: Recording, sent: dict) -> None:
    """The stream decodes without errors and contains everything that the publisher reports as sent."""
    assert recording.decoded.complaints == ""
    assert abs(len(recording.frames) - sent["videoFrames"]) <= 1
    assert recording.decoded.frames == len(recording.frames)
    assert recording.decoded.audio_packets == len(recording.audio_packets)
    assert recording.disorder() == []
    if recording.frames:
        assert recording.frames[0].is_keyframe
