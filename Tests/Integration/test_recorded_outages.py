"""The camera records while its uplink fails. The journal knows what the server's recording lacks, and the files of the gaps fill
it to the frame."""

import json
import time

import pytest
from appliance import Appliance, plain
from processes import Children, Process
from recorded_frames import Frame, gops, of_flv, of_movie
from servers import NginxRTMP
from tallycam import TALLYCAM
from uplink import Network

pytestmark = pytest.mark.takes(minutes=0.9, processors=0.2)

QUALITY = {"lowest": "Low1", "start": "Low1", "highest": "Low1"}
FRAMES_PER_SECOND = 12
# Times in files are rounded to 1/90000 s, and in answers to a millisecond.
ROUNDING = 0.002

# How the uplink fails and for how many seconds, and how long the stream is live before it. Packets that are swallowed for a
# second are sent again; after five seconds the connection is given up. Until then, three seconds of media wait.
SHORT = [("swallow", 8, 9), ("unplug", 7, 8)]
SIX_MINUTES = [
    ("swallow", 8, 20), ("unplug", 12, 30), ("swallow", 1, 25), ("lease", 6, 25), ("swallow", 25, 25), ("unplug", 3, 25),
    ("swallow", 9, 30), ("unplug", 40, 30), ("swallow", 7, 25),
]  # fmt: skip


class FarCamera(Appliance):
    """A camera that reaches its server through a network of namespaces."""

    def __init__(self, children: Children, network: Network, **files):
        self.prefix = network.prefix("client")
        super().__init__(children, **files)


def fail(network: Network, how: str, seconds: float) -> None:
    """The path to the server swallows packets, the cable is pulled, or the address is taken away."""
    start, end = {
        "swallow": (network.swallow_packets, network.pass_packets), "unplug": (network.pull_plug, network.insert_plug),
        "lease": (network.lose_address, network.get_address),
    }[how]  # fmt: skip
    start()
    time.sleep(seconds)
    end()


def frame_count(nginx: NginxRTMP) -> int:
    return sum(len(of_flv(path)) for path in nginx.all_recordings() if path.stat().st_size)


class Run:
    """A stream through an uplink that fails, and what is left of it."""

    def __init__(self, children: Children, outages: list[tuple[str, float, float]], file_seconds: int):
        self.children = children
        self.folder = children.directory / "kept"
        network = Network(children)
        nginx = NginxRTMP(children, Network.SERVER, network.prefix("server"), unique=True)
        record = {"when": "live", "folder": str(self.folder), "fileSeconds": file_seconds}
        self.camera = FarCamera(
            children, network, stream=plain(nginx.url("x")),
            device={"camera": "synthetic", "dimension": "320x240", "quality": QUALITY, "record": record},
        )  # fmt: skip
        self.camera.ask("start")
        for how, seconds, live in outages:
            self.stay_live(nginx, live)
            fail(network, how, seconds)
        self.stay_live(nginx, 8)
        self.camera.ask("stop")
        self.camera.wait_until(lambda status: status["state"] == "ready" and status["recording"]["state"] == "off")
        nginx.process.interrupt_and_wait()
        self.frames = {path: of_movie(path) for path in sorted(self.folder.glob("*.mp4"))}
        parts = [of_flv(path) for path in nginx.all_recordings()]
        self.connections = len(parts)
        self.at_server = {frame.digest for part in parts for frame in part}

    def stay_live(self, nginx: NginxRTMP, seconds: float) -> None:
        """Until the server has this much more of the stream."""
        self.camera.wait_for("live")
        enough = frame_count(nginx) + seconds * FRAMES_PER_SECOND
        self.camera.process.wait_until(lambda: frame_count(nginx) >= enough, f"{seconds} s of the stream", interval=0.2)

    @property
    def digests(self) -> list[str]:
        return [frame.digest for frames in self.frames.values() for frame in frames]

    def recordings(self, *words) -> list[dict]:
        run: Process = self.children.run("recordings", [TALLYCAM, "recordings", "--json", *words])
        assert run.child.returncode == 0, run.report()
        return [json.loads(line) for line in run.stdout.splitlines()]

    def lacks(self, gop: list[Frame]) -> bool:
        """Whether any frame of it is not at the server."""
        return any(frame.digest not in self.at_server for frame in gop)


def assert_gaps_are_what_the_server_lacks(run: Run) -> None:
    assert len(set(run.digests)) == len(run.digests), "each frame shows another time"
    assert run.at_server <= set(run.digests), "the server has frames that were not recorded"
    listed = {entry["file"]: entry for entry in run.recordings(run.folder)}
    assert list(listed) == [path.name for path in run.frames] and len(listed) >= 2
    assert all(entry["state"] == "finished" for entry in listed.values())
    found, lacking = [], []
    for path, frames in run.frames.items():
        [target] = listed[path.name]["targets"]
        for gop in gops(frames):
            is_found = {any(gap["from"] - ROUNDING <= frame.seconds < gap["to"] - ROUNDING for gap in target["gaps"]) for frame in gop}
            assert len(is_found) == 1, "gaps are whole GOPs"
            found += is_found
            lacking.append(run.lacks(gop))
    assert_same_gops(found, lacking)


def assert_same_gops(found: list[bool], lacking: list[bool]) -> None:
    """Media that TCP still delivers while its connection is given up may count as missing, but never the other way around."""
    for number, (is_found, is_lacking) in enumerate(zip(found, lacking)):
        assert is_found or not is_lacking, f"GOP {number} is missing at the server: {found}, {lacking}"
        assert not is_found or is_lacking or lacking[number + 1 : number + 2] == [True], f"GOP {number} is at the server: {found}, {lacking}"


def assert_gaps_fill_the_server(run: Run) -> int:
    """Returns the number of files that fill it."""
    filled = run.children.directory / "filled"
    filled.mkdir()
    found: set[str] = set()
    for path, frames in run.frames.items():
        written = run.recordings("--gaps", path, "--output", filled)
        for part in written:
            in_file = [frame.digest for frame in of_movie(part["file"])]
            in_recording = [frame.digest for frame in frames if part["from"] - ROUNDING <= frame.seconds < part["to"] - ROUNDING]
            assert in_file == in_recording and len(in_file) == part["frames"], part
            found.update(in_file)
    assert run.at_server | found == set(run.digests)
    return len(list(filled.iterdir()))


@pytest.mark.parametrize("outages, file_seconds", [
    pytest.param(SHORT, 15, id="short"), pytest.param(SIX_MINUTES, 60, id="six-minutes", marks=pytest.mark.slow),
])  # fmt: skip
def test_the_journal_knows_what_the_server_lacks(children, capsys, outages, file_seconds):
    run = Run(children, outages, file_seconds)
    lost = len(run.digests) - len(run.at_server)
    # Beyond the three seconds that may wait, each long outage costs frames.
    assert lost > FRAMES_PER_SECOND * sum(max(0, seconds - 4) for _, seconds, _ in outages) / 2, lost
    assert run.connections >= 1 + sum(seconds > 5 for _, seconds, _ in outages)
    assert_gaps_are_what_the_server_lacks(run)
    parts = assert_gaps_fill_the_server(run)
    with capsys.disabled():
        print(f"\n  {len(run.digests)} frames recorded, {lost} not at the server; {parts} files of gaps")
