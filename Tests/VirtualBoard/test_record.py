"""The card's board records to USB sticks: what a power cut, a pulled stick or a bad one leaves behind."""

import pytest
from card import CardBoard, server
from players import frame_count
from recorded_writes import RecordedWrites
from reported import ask
from stick import PORT, SYSTEMS, Stick

pytestmark = pytest.mark.takes(minutes=5.6, processors=0.3)

RECORDING = {
    "camera": "synthetic", "dimension": "320x240", "audio": {"source": "silence"},
    "quality": {"lowest": "Low1", "start": "Low1", "highest": "Low1"}, "record": {"when": "always", "fileSeconds": 10},
}  # fmt: skip
# A keyframe every two seconds, at 12 frames per second and never more than 15.
GOP = 30


@pytest.fixture(scope="module")
def recorder(kept_slot) -> CardBoard:
    """A board that records on its card, since it has no stick."""
    for name, content in {"device.json": RECORDING, "stream.json": server(1)}.items():
        kept_slot.card.write(name, content)
    board = kept_slot.start(devices=PORT)
    board.wait_for_agent()
    board.wait_for_state("recording", 120)
    return board


def recording(board: CardBoard) -> dict:
    return board.status()["recording"]


def wait_for_file(board: CardBoard, folder: str) -> None:
    board.wait_until(f"tallycam status --json | grep -q '\"file\": *\"{folder}/'", 60)


def files(board: CardBoard, folder: str) -> list[str]:
    return board.run(f"ls {folder}/recordings/*.mp4", check=False).text.split()


def frame_counts(board: CardBoard, stick: Stick) -> dict[str, int]:
    """The frames of each file that was there when the stick was plugged in. The one that the board is writing does not count."""
    counts = {}
    for path in files(board, "/run/media/sda1")[:-1]:
        copy = stick.folder / "copy.mp4"
        copy.write_bytes(board.get(path))
        counts[path.rsplit("/", 1)[1]] = frame_count(copy)
    return counts


def is_used(board: CardBoard) -> bool:
    """Waits until the stick is recorded on, or until the kernel has made it read-only: if an entry of a FAT folder lies in two
    sectors, a cut between them leaves an end in the middle of the folder, which fsck.fat does not repair."""
    locked = "grep -q '/run/media/sda1 [a-z0-9]* ro,' /proc/mounts"
    board.wait_until(f"{{ {locked}; }} || tallycam status --json | grep -q '\"file\": *\"/run/media/sda1/'", 60)
    return board.run(locked, check=False).status != 0


def eject(board: CardBoard, stick: Stick) -> None:
    assert "may be pulled out" in ask(board, "record eject")
    assert not board.run("grep /run/media/ /proc/mounts", check=False).text
    stick.pull(board)


def spread(values: list[int], count: int) -> list[int]:
    step = max(1, len(values) // count)
    return values[::step][: count - 1] + values[-1:]


@pytest.mark.parametrize(
    "system, cuts", [("FAT32", 3), *(pytest.param(system, 34, marks=pytest.mark.slow) for system in SYSTEMS)]
)
def test_a_power_cut_costs_one_gop_at_most(recorder, tmp_path, system, cuts, capsys):
    """Records the writes of a board that records for half a minute. Then a stick as it was after some of them is plugged in:
    the board repairs the file system and its last file, every file plays, and from one flush to the next at most one GOP is
    added. Of a stick that has become read-only, every file but the last plays."""
    stick = Stick(tmp_path, system)
    writes = RecordedWrites(stick)
    stick.plug(recorder, writes.nodes(stick.name))
    wait_for_file(recorder, "/run/media/sda1")
    recorder.sleep(28)
    stick.pull(recorder)
    wait_for_file(recorder, "/state")
    flushes = writes.flushes()
    assert len(flushes) > 15
    seen: dict[int, int] = {}
    locked = 0
    for count in spread(flushes, cuts):
        writes.replay(count)
        stick.plug(recorder)
        used = is_used(recorder)
        counts = frame_counts(recorder, stick)
        eject(recorder, stick)
        if used:
            seen[count] = sum(counts.values())
        else:
            locked += 1
    with capsys.disabled():
        print(f"\n  {system}: {len(flushes)} flushes; frames after some of them: {list(seen.values())}; {locked} read-only")
    assert locked <= (max(1, cuts // 8) if system == "FAT32" else 0)
    totals = list(seen.values())
    assert totals == sorted(totals)
    # Each fragment of a GOP takes at least one flush of its own.
    passed = [flushes.index(count) for count in seen]
    for (first, second), (before, after) in zip(zip(passed, passed[1:]), zip(totals, totals[1:])):
        assert after - before <= GOP * (second - first)
    if flushes[-1] in seen:
        assert totals[-1] >= 28 * 12 - 2 * GOP


def test_a_pulled_stick_costs_no_more_than_its_last_gop(recorder, tmp_path):
    stick = Stick(tmp_path, "exFAT")
    stick.plug(recorder)
    wait_for_file(recorder, "/run/media/sda1")
    recorder.sleep(5)
    stick.pull(recorder)
    wait_for_file(recorder, "/state")
    assert recording(recorder)["state"] == "recording"
    stick.plug(recorder)
    if is_used(recorder):
        assert sum(frame_counts(recorder, stick).values()) >= 2 * 12
    eject(recorder, stick)


def test_a_locked_stick_is_reported_and_the_card_is_used(recorder, tmp_path):
    stick = Stick(tmp_path, "FAT32")
    stick.plug(recorder, stick.nodes(is_locked=True))
    recorder.wait_until("grep -q /run/media/ /proc/mounts", 20)
    recorder.wait_until("tallycam events 50 | grep -q 'a disk that cannot be used'", 20)
    wait_for_file(recorder, "/state")
    eject(recorder, stick)


def test_a_stick_without_a_file_system_changes_nothing(recorder, tmp_path):
    stick = Stick(tmp_path, "FAT32")
    with open(stick.path, "r+b") as file:
        file.seek(1 << 20)
        file.write(b"\xa5" * 65536)
    wait_for_file(recorder, "/state")
    stick.plug(recorder)
    recorder.sleep(4)
    assert recording(recorder)["state"] == "recording"
    assert not recorder.run("grep /run/media/ /proc/mounts", check=False).text
    stick.pull(recorder)


@pytest.mark.slow
def test_a_clock_that_jumps_changes_only_names(recorder, tmp_path):
    """Years ahead, then back by a day. Each file has its length and the next number."""
    wait_for_file(recorder, "/state")
    start = len(files(recorder, "/state"))
    now = int(recorder.run("date +%s").text)
    for jump in (5 * 365 * 86400, -86400, 0):
        recorder.run(f"date -s @{now + jump}")
        recorder.sleep(12)
        now += 12
        assert recording(recorder)["state"] == "recording"
    names = [path.rsplit("/", 1)[1] for path in files(recorder, "/state")][start - 1 :]
    numbers = [int(name.split("_")[0]) for name in names]
    assert len(names) >= 4 and numbers == list(range(numbers[0], numbers[0] + len(names))), names
    assert len({name.split("_")[1][:4] for name in names}) == 2, f"two years: {names}"
    # The first one may have been cut short, and the last one is being written.
    for name in names[1:-1]:
        (tmp_path / "copy.mp4").write_bytes(recorder.get(f"/state/recordings/{name}"))
        # 10 s and the rest of a GOP, with 12 frames a second and never more than 15.
        assert 10 * 11 <= frame_count(tmp_path / "copy.mp4") <= 12 * 15, name


@pytest.mark.slow
def test_a_stick_that_fails_beyond_its_true_size_costs_only_the_recording(recorder, tmp_path):
    """It claims 96 MB and has 40."""
    stick = Stick(tmp_path, "FAT32")
    faulty = {
        "driver": "blkdebug", "node-name": stick.name, "image": f"{stick.name}-file",
        "inject-error": [{"event": "pwritev", "errno": 5, "sector": sector, "once": False} for sector in range(40 << 11, (40 << 11) + 64)],
    }  # fmt: skip
    whole = {"driver": "file", "node-name": f"{stick.name}-file", "filename": str(stick.path)}
    stick.plug(recorder, [whole, faulty])
    wait_for_file(recorder, "/run/media/sda1")
    recorder.run("dd if=/dev/zero of=/run/media/sda1/other bs=1M count=39 2>/dev/null; sync", check=False)
    recorder.sleep(20)
    assert recorder.status()["state"] in ("recording", "fault")
    stick.pull(recorder)
    wait_for_file(recorder, "/state")
