"""The stream follows a real uplink that becomes narrow, fails and returns: three policies in parallel.

`make bench-adapt` measures the same for longer, next to other programs. If the publisher reports that the processor was too
slow for its frames, their delay is not judged here; ScenarioTests does that in virtual time.
"""

import itertools
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import Children, Process
from recording import Recording
from scenarios import SideBySide
from tallycam import CHECKOUT, TALLYCAM, events, not_judged, start_publisher, wait_for_event, was_busy

sys.path.append(str(CHECKOUT / "Benchmarks/adapt"))

import analysis  # noqa: E402
from network import SERVER, Uplink  # noqa: E402

pytestmark = [pytest.mark.takes(minutes=0.7, processors=0.3), pytest.mark.paced]

# kbit/s and minimum seconds. A connection may survive the blackout; a second connection races it when the link returns. The
# script ends before the tier is switched again, 9 s after the return, because a stream that has just started would have no
# frame.
SCRIPT = [(3000, 7.0), (450, 16.0), (0, 3.0), (3000, 8.3)]
# What else each part waits for, by policy: the reason of a quality change.
AWAITED = {("seamless", 1): "linkCarriesLess", ("restart", 1): "tierSwitched", ("seamless", 3): "probing"}
# In seconds. A surviving connection is heard again at TCP's next retransmission.
RECOVERY = 2.0
POLICIES = ["nothing", "seamless", "restart"]


@dataclass
class Stream:
    publisher: Process
    recordings: list[Recording]
    frames: list[analysis.Frame]
    script: list[tuple[int, float]]  # as it was
    verdict: analysis.Verdict

    @property
    def is_busy(self) -> bool:
        return was_busy(self.publisher)

    @property
    def narrow(self) -> tuple[float, float]:
        """Start and end, in seconds of the script."""
        return self.script[0][1], self.script[0][1] + self.script[1][1]

    def changes(self, first: float = 0, last: float = 1e9) -> list[dict]:
        """The changes in a part of the script. Event times count from the publisher's start, slightly earlier."""
        started = next(event["t"] for event in events(self.publisher) if event["name"] == "publishing")
        found = [event for event in events(self.publisher) if event["name"] == "qualityChanged"]
        return [event for event in found if first <= event["t"] - started < last]


def play(children: Children, policy: str) -> Stream:
    children.priority = -10
    path = children.directory / "stream.flv"
    with Uplink(queue_bytes=32_000, congestion_control="reno") as uplink:
        uplink.set_rate(SCRIPT[0][0])
        receiver = children.start("receive", [
            *uplink.prefix("server"), TALLYCAM, "receive", "--listen", f"{SERVER}:1935", "--record", path,
            "--events", "json", "--report-arrivals",
        ])  # fmt: skip
        wait_for_event(receiver, "listening")
        publisher = start_publisher(
            children, f"rtmp://{SERVER}:1935/live/x", prefix=uplink.prefix("client"), quality="High3",
            dimension="640x360", adapt=policy, reconnect="endless", status_interval=1,
        )  # fmt: skip
        wait_for_event(receiver, "arrived")
        start, script = time.monotonic(), []
        for number, (kilobits, seconds) in enumerate(SCRIPT):
            part_start = time.monotonic()
            uplink.set_rate(kilobits)
            time.sleep(seconds)
            if reason := AWAITED.get((policy, number)):
                publisher.wait_until(lambda: reason in reasons(publisher), reason)  # noqa: B023
            script.append((kilobits, time.monotonic() - part_start))
        assert publisher.interrupt_and_wait() == 0, publisher.report()
        wait_for_event(receiver, "publisherEnded")
        assert receiver.interrupt_and_wait() == 0, receiver.report()
    return evaluate(publisher, receiver, path, start, script)


def reasons(publisher: Process) -> list[str]:
    return [event["reason"] for event in events(publisher) if event["name"] == "qualityChanged"]


def evaluate(publisher: Process, receiver: Process, path: Path, start: float, script: list[tuple[int, float]]) -> Stream:
    arrived = [event for event in events(receiver) if event["name"] == "arrived"]
    paths, frames = [], []
    for stream in sorted({event["stream"] for event in arrived}):
        paths.append(path if stream == 1 else path.with_stem(f"stream-{stream}"))
        own = [event for event in arrived if event["stream"] == stream and event["kind"] == "video"]
        frames += analysis.read_recording(paths[-1], own).frames
    verdict = analysis.judge(frames, arrived, start, script, recovery=RECOVERY)
    return Stream(publisher, [Recording(path) for path in paths], frames, script, verdict)


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    runs = SideBySide(tmp_path_factory.mktemp("adaptation"), workers=len(POLICIES))
    for policy in POLICIES:
        runs.start(policy, play, policy)
    yield runs
    runs.end()


@pytest.mark.parametrize("policy", POLICIES)
def test_no_frame_refers_to_a_missing_one(streams, policy):
    stream = streams.result(policy)
    assert stream.verdict.frames > 100
    assert stream.verdict.corrupt == 0
    for recording in stream.recordings:
        assert recording.decoded.complaints == ""
        assert not recording.frames or recording.frames[0].is_keyframe


@pytest.mark.parametrize("policy", ["seamless", "restart"])
def test_viewers_see_a_live_stream(streams, policy, capsys):
    verdict = streams.result(policy).verdict
    if streams.result(policy).is_busy:
        return not_judged(capsys, "the age of what viewers see")
    assert verdict.worst_age_connected < 3.5, verdict
    # The blackout lasts 3 s, plus the time of the return.
    assert verdict.fresh_share > 0.93, verdict
    assert verdict.seconds_to_frame < RECOVERY, verdict


def test_without_adaptation_the_stream_lags(streams):
    """The same script without adaptation: the difference is due to the controller."""
    stream = streams.result("nothing")
    assert stream.changes() == []
    seamless = streams.result("seamless")
    assert stream.verdict.fresh_share < seamless.verdict.fresh_share or stream.is_busy or seamless.is_busy
    assert any(event["name"] == "dropped" for event in events(stream.publisher)) or stream.is_busy


def test_every_change_has_its_reason(streams):
    stream = streams.result("seamless")
    narrow = [event["reason"] for event in stream.changes(*stream.narrow)]
    assert narrow[0] == "linkCarriesLess" or stream.is_busy, narrow
    down = next(event for event in stream.changes() if event["reason"] == "linkCarriesLess")
    assert down["targetBitsPerSecond"] < down["previousBitsPerSecond"]
    assert 200_000 < down["linkBitsPerSecond"] < 700_000 or stream.is_busy
    assert any(event["code"] == 1101 for event in events(stream.publisher)) or stream.is_busy
    after = [event["reason"] for event in stream.changes(stream.narrow[1])]
    assert "probing" in after, after
    # Either the connection came back, or a new one was first.
    assert "resumed" in after or losses(stream), after


def test_the_seamless_stream_is_one_stream_with_one_profile(streams):
    stream = streams.result("seamless")
    assert len(stream.recordings) == 1 + losses(stream), "only the blackout may end it"
    for recording in stream.recordings:
        assert recording.sps.profile_name == "Main"
        assert recording.disorder() == []
    assert all(event["quality"] == "High1" for event in stream.changes(*stream.narrow)) or stream.is_busy


def losses(stream: Stream) -> int:
    """How often another connection took over, during or after the blackout."""
    started = next(event["t"] for event in events(stream.publisher) if event["name"] == "publishing")
    lost = [event["t"] - started for event in events(stream.publisher) if event["name"] == "reconnecting"]
    assert all(time >= stream.narrow[1] for time in lost) or stream.is_busy, lost
    return len(lost)


def test_the_restarted_stream_changes_its_profile_only_between_streams(streams):
    stream = streams.result("restart")
    profiles = [recording.sps.profile_name for recording in stream.recordings if recording.frames]
    assert [profile for profile, _ in itertools.groupby(profiles)][:2] == ["Main", "Baseline"]
    crossed = [event for event in stream.changes() if event["reason"] == "tierSwitched"]
    assert crossed and not crossed[0]["quality"].startswith("High")
    for recording in stream.recordings:
        assert recording.disorder() == []
        # A poor link may change the size. The profile is the second byte of each header's AVCDecoderConfigurationRecord.
        profiles = {tag.body[6] for tag in recording.tags if tag.is_video_header}
        assert len(profiles) <= 1, "the profile never changes within a stream"


def test_the_status_matches_the_live_view(streams):
    status = [event for event in events(streams.result("seamless").publisher) if event["name"] == "status"]
    assert all(event["targetBitsPerSecond"] > 0 and event["bufferedSeconds"] >= 0 for event in status)
    assert any("linkBitsPerSecond" in event and "reason" in event for event in status)
