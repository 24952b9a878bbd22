"""The product's specifications, written down again independently of its own tables."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Quality:
    name: str
    fps: int
    profile: str
    level: int  # as in the SPS: ten times the level
    kbps: int


QUALITIES = {
    quality.name: quality
    for quality in [
        Quality("Low1", 12, "Baseline", 30, 150),
        Quality("Low2", 15, "Baseline", 30, 264),
        Quality("Low3", 15, "Baseline", 30, 350),
        Quality("Medium1", 30, "Baseline", 31, 512),
        Quality("Medium2", 30, "Baseline", 31, 800),
        Quality("Medium3", 30, "Baseline", 31, 1000),
        Quality("High1", 30, "Main", 30, 1200),
        Quality("High2", 30, "Main", 30, 1500),
        Quality("High3", 30, "Main", 30, 2000),
    ]
}
AUDIO_QUALITIES = {"High1": 96, "High2": 128}

DIMENSIONS = [
    (416, 234), (480, 270), (640, 360), (960, 540), (1280, 720), (1920, 1080),
    (400, 300), (480, 360), (640, 480), (960, 720), (1280, 960), (1920, 1140),
]  # fmt: skip

KEY_INTERVAL = 2  # seconds

# H.264 table A-1: macroblocks per second and per frame.
LEVELS = {
    30: (40_500, 1_620), 31: (108_000, 3_600), 32: (216_000, 5_120), 40: (245_760, 8_192),
    42: (522_240, 8_704), 50: (589_824, 22_080), 51: (983_040, 36_864),
}  # fmt: skip


def level_for(quality: Quality, width: int, height: int) -> int:
    """The quality's level, or the next one that supports the frame size at 30 frames per second, which every tier can reach."""
    blocks = math.ceil(width / 16) * math.ceil(height / 16)
    return next(
        level
        for level, (per_second, per_frame) in LEVELS.items()
        if level >= quality.level and blocks <= per_frame and blocks * 30 <= per_second
    )
