"""The card's last partition grows to the card's end at the first start, and a power cut at any moment of it harms nothing."""

import random

import pytest
from card import SMALL, CardBoard, server
from growing_card import STAGES, GrowingCard, is_grown, random_moment
from recorded_writes import RecordedWrites
from seeds import seed_of_this_run

pytestmark = pytest.mark.takes(minutes=3, processors=0.7)

FILES = {"device.json": SMALL, "stream.json": server(1)}


def start_ready(card: GrowingCard, **options) -> CardBoard:
    board = CardBoard(card.folder, card, **options)
    board.wait_for_agent()
    board.wait_for_state("ready", 120)
    return board


def test_the_last_partition_grows_at_the_first_start_and_keeps_its_files(image, tmp_path):
    card = GrowingCard(tmp_path, image, FILES)
    assert not card.has_grown_partition
    board = start_ready(card)
    try:
        is_grown(board)
        # The partition had 16 MB. Each sector that is written costs the emulated card much time.
        board.run(
            "echo kept >/state/kept && fallocate -l 200M /state/large"
            " && dd if=/dev/urandom of=/state/large bs=1M seek=192 count=8 conv=notrunc && sync"
        )
    finally:
        board.close()
    card.check_file_system()
    board = start_ready(card)
    try:
        assert board.run("cat /state/kept").text == "kept\n"
    finally:
        board.close()


def starts_and_is_grown(card: GrowingCard, configuration: bytes) -> None:
    board = start_ready(card)
    try:
        is_grown(board)
    finally:
        board.close()
    assert card.read("device.json") == configuration
    card.check_file_system()


@pytest.mark.slow
def test_a_cut_after_any_write_of_the_first_start_leaves_a_sound_card(image, tmp_path, capsys):
    """Records the writes of a first start, and cuts after many of them, and in the middle of the superblock each time. From the last write of each stage, and from a file system
    that has grown in part, the card is started again: it has grown then. The journal commits all growth at once unless a card is
    slow, so the test itself lets the file system grow in part."""
    card = GrowingCard(tmp_path, image, FILES)
    configuration = card.read("device.json")
    writes = RecordedWrites(card)
    board = start_ready(card, drive=writes.drive)
    try:
        board.run("sync")
    finally:
        board.close()
    last, count = {}, 0
    # The superblock is in the third and fourth sector of the file system, and a card writes the one without the other.
    for count in writes.cuts(most=150, always=card.first + 2):
        last[card.check_file_system()] = count
    with capsys.disabled():
        print(f"\n  {count} writes; last one of each stage: {last}")
    assert [stage for stage in last if stage != "partial"] == ["new", "table", "grown"]
    for stage, number in {**last, "partial": last["table"]}.items():
        writes.replay(number)
        if stage == "partial":
            card.grow_in_part("256M")
        assert card.check_file_system() == stage
        starts_and_is_grown(card, configuration)


@pytest.mark.parametrize(
    "stage, count", [(STAGES[0], 1), *(pytest.param(stage, 6, marks=pytest.mark.slow) for stage in STAGES)]
)
def test_a_power_cut_while_it_grows_harms_nothing(image, tmp_path, stage, count):
    """As soon as the table, or the file system, has changed, or a little after that."""
    chance = random.Random(seed_of_this_run())
    for _ in range(count):
        card = GrowingCard(tmp_path, image, FILES)
        configuration = card.read("device.json")
        card.cut_while_growing(stage, random_moment(chance)[1])
        card.check_file_system()
        starts_and_is_grown(card, configuration)
