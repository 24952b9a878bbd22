"""The measurements of `make bench-adapt`, checked with recordings whose faults are known."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path += [str(CHECKOUT / "Benchmarks/adapt"), str(CHECKOUT / "Tests/Integration")]

import analysis  # noqa: E402
import flv  # noqa: E402
import footage  # noqa: E402
import goals  # noqa: E402
import screen  # noqa: E402
import strip  # noqa: E402
from participants import Participant  # noqa: E402
from ssim import SSIMFailed, ssim  # noqa: E402

pytestmark = pytest.mark.takes(minutes=0.3, processors=0.9)

SIZE = WIDTH, HEIGHT = 320, 180
FPS = 10
# kbit/s and seconds.
SCRIPT = [(5000, 3.0), (300, 3.0)]
START = 1000.0  # CLOCK_MONOTONIC


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    return footage.make_loop(tmp_path_factory.mktemp("footage"), "natural", WIDTH, HEIGHT, FPS, seconds=12)


def encode(loop, path: Path, numbers: range, size: tuple[int, int] = SIZE) -> list[flv.Tag]:
    """The video tags of the loop's frames with their clocks, as the source sends them from `START` on."""
    raw = path.with_suffix(".i420")
    with open(raw, "wb") as file:
        for number in numbers:
            moment = START + number / FPS
            file.writelines(strip.burn(loop.frame(number), number, round(moment * 1000), WIDTH, HEIGHT))
    subprocess.run(
        ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{WIDTH}x{HEIGHT}",
         "-r", str(FPS), "-i", raw, "-vf", f"scale={size[0]}:{size[1]}", "-c:v", "libx264", "-preset", "ultrafast",
         "-profile:v", "baseline", "-crf", "12", "-g", "20", "-f", "flv", path],
        check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return [tag for tag in flv.read_tags(path) if tag.is_frame or tag.is_video_header]


@dataclass
class Stream:
    recordings: list[analysis.Recording]
    parts: list[screen.View]
    total: screen.View
    verdict: analysis.Verdict


@pytest.fixture
def view(loop, tmp_path):
    def view(pieces: list[tuple[range, tuple[int, int]]], delay: float = 0.02, drop: int | None = None) -> Stream:
        """Pieces of the source, each in its size, that arrive `delay` seconds after they were captured."""
        tags, numbers = [], []
        for index, (piece, size) in enumerate(pieces):
            tags += encode(loop, tmp_path / f"piece-{index}.flv", piece, size)
            numbers += piece
        if drop is not None:
            tags.remove([tag for tag in tags if tag.is_frame][drop])
            del numbers[drop]
        path = tmp_path / "stream.flv"
        stamps = iter(numbers)
        flv.write_tags(path, [
            flv.Tag(tag.kind, next(stamps) * 1000 // FPS if tag.is_frame else 0, tag.body) for tag in tags
        ])  # fmt: skip
        arrivals = [{"clock": START + number / FPS + delay, "bytes": 1} for number in numbers]
        recordings = [analysis.read_recording(path, arrivals, SIZE)]
        frames = [frame for recording in recordings for frame in recording.frames]
        return Stream(
            recordings, *screen.views(recordings, loop, START, SCRIPT), analysis.judge(frames, arrivals, START, SCRIPT)
        )

    return view


ALL = range(60)


def test_the_same_frames_are_alike_and_others_differ(loop):
    lumas = [bytes(loop.luma(number)) for number in (0, 60)]
    same, other = ssim([(lumas[0], lumas[0]), (lumas[0], lumas[1])], WIDTH, HEIGHT)
    assert same == 1
    assert other < 0.8


def test_a_pair_of_another_size_is_refused(loop):
    with pytest.raises(SSIMFailed):
        ssim([(bytes(loop.luma(0)), b"short")], WIDTH, HEIGHT)


def test_a_punctual_stream_shows_the_source(view):
    stream = view([(ALL, SIZE)])
    frames = stream.recordings[0].frames
    assert [frame.number for frame in frames] == [*ALL]
    assert [frame.taken for frame in frames] == [pytest.approx(START + number / FPS, abs=0.001) for number in ALL]
    assert not any(frame.is_corrupt for frame in frames)
    assert stream.recordings[0].complaints == []
    assert stream.total.frames_per_second == pytest.approx(10, abs=0.2)
    assert stream.total.longest_freeze == pytest.approx(0.1, abs=0.01)
    assert stream.total.size_changes == 0
    # The frame of this very moment comes 0.02 s later: the one before it is shown.
    assert stream.total.ssim > 0.8


def test_late_frames_are_less_like_the_source(view):
    in_time, late = view([(ALL, SIZE)]), view([(ALL, SIZE)], delay=0.52)
    assert late.total.ssim < in_time.total.ssim - 0.05
    assert late.verdict.worst_age_connected > in_time.verdict.worst_age_connected + 0.4


def test_a_freeze_is_measured_in_its_place(view):
    whole = view([(ALL, SIZE)])
    # Part 2, from 3 s on, lacks 1.5 s; the remainder starts with a keyframe.
    stream = view([(range(35), SIZE), (range(50, 60), SIZE)])
    assert stream.parts[0] == whole.parts[0]
    assert stream.parts[1].longest_freeze == pytest.approx(1.6, abs=0.01)
    assert stream.verdict.longest_freeze_connected == pytest.approx(1.6, abs=0.01)
    assert stream.parts[1].frames_per_second == pytest.approx(5, abs=0.4)
    assert stream.parts[1].ssim < whole.parts[1].ssim - 0.02
    assert stream.total.size_changes == 0


def test_a_freeze_across_two_parts_counts_in_both(view):
    stream = view([(range(25), SIZE), (range(40, 55), SIZE)])
    assert stream.parts[0].longest_freeze == pytest.approx(3 - 2.42, abs=0.01)
    assert stream.parts[1].longest_freeze == pytest.approx(4.02 - 3, abs=0.01)
    # The end counts as well: the last frame stays until then.
    assert view([(range(45), SIZE)]).parts[1].longest_freeze == pytest.approx(6 - 4.42, abs=0.01)


def test_decoded_luma_keeps_its_range(loop, tmp_path):
    encode(loop, tmp_path / "stream.flv", range(3))
    height = strip.strip_height(*SIZE)
    with open("/dev/null", "w") as log:
        for luma in analysis.decode(tmp_path / "stream.flv", SIZE, (HEIGHT - height, height), log):
            values = sorted(luma)
            assert values[len(values) // 10] == pytest.approx(16, abs=4)
            assert values[-len(values) // 10] == pytest.approx(235, abs=4)


def test_a_changing_size_is_counted_and_clocks_stay_legible(view):
    whole = view([(ALL, SIZE)])
    stream = view([(range(20), SIZE), (range(20, 40), (160, 96)), (range(40, 60), SIZE)])
    frames = stream.recordings[0].frames
    assert [frame.size for frame in frames] == [SIZE] * 20 + [(160, 96)] * 20 + [SIZE] * 20
    assert [frame.number for frame in frames] == [*ALL], "some clocks are illegible"
    assert [part.size_changes for part in stream.parts] == [1, 1]
    assert stream.total.size_changes == 2
    assert stream.recordings[0].complaints == []
    assert stream.total.ssim < whole.total.ssim


def test_a_missing_frame_corrupts_dependent_frames(view):
    stream = view([(ALL, SIZE)], drop=25)
    # Up to the next keyframe; every 20th frame is one.
    assert stream.verdict.corrupt == 14


def test_the_time_to_full_size_starts_with_the_links_return():
    sizes = [(1.0, 720), (5.0, 360), (12.0, 540), (15.0, 720)]
    assert analysis.highest_again(sizes, back=10.0, end=20.0) == 15.0
    assert analysis.highest_again(sizes, back=16.0, end=20.0) == 16.0
    assert analysis.highest_again(sizes, back=10.0, end=14.0) is None


def result(name: str, ssim: float, **marks) -> goals.Result:
    verdict = analysis.Verdict(0.95, 1.0, 1.0, 0, 60, None, 0.5, [0.0, 0.0])
    views = [screen.View(20, 0.5, 0, ssim)] * 2
    return goals.Result(Participant(name, [], **marks), verdict, views, views[0], 0, [2000, 280], None, 0, 0)


@pytest.mark.parametrize("own, missed", [(0.8, 0), (0.785, 2), (0.4, 4)])
def test_likeness_is_compared_with_fixed_sizes_and_peers(own, missed):
    ours = result("seamless", own, is_ours=True, is_judged=True)
    others = [ours, result("640x360", 0.8, is_ours=True, is_fixed=True), result("ffmpeg", 0.5)]
    checks = goals.check(ours, others, SCRIPT, is_natural=True)
    assert sum(not check.is_met for check in checks) == missed
    assert any(check.goal.startswith("frames a second at 300") for check in checks)


@pytest.mark.parametrize("content", ["natural", "head", "screen"])
def test_footage_moves_and_is_the_same_each_time(content, tmp_path):
    for name in ("one", "two"):
        footage.write_frames(tmp_path / name, content, WIDTH, HEIGHT, FPS, 12)
    one = (tmp_path / "one").read_bytes()
    assert one == (tmp_path / "two").read_bytes()
    size = WIDTH * HEIGHT * 3 // 2
    assert len(one) == 12 * size
    frames = {one[at : at + size] for at in range(0, len(one), size)}
    assert len(frames) == 12
