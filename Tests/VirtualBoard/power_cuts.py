"""Cuts the power of the virtual board at random moments, some of them in the first start of a new card. It must come back every
time, with its configuration intact. It records on its card all the time: no file is lost but the last one, of which at most a GOP
is, and all of them play.

Run it by `make power-cuts`; docs/develop/build.md has its arguments.
"""

import argparse
import contextlib
import fcntl
import random
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "Integration"))

from board import CHECKOUT, HOST  # noqa: E402
from card import IMAGE, CardBoard  # noqa: E402
from card_recordings import CardRecordings  # noqa: E402
from growing_card import GrowingCard, is_grown, random_moment  # noqa: E402

FOLDER = CHECKOUT / "out/power-cuts"
DEVICE = {
    "camera": "synthetic", "dimension": "320x240", "quality": {"lowest": "Low1", "start": "Low1", "highest": "Low1"},
    "record": {"when": "always", "fileSeconds": 10},
}  # fmt: skip
# Signed URLs keep a nonce on the card; the server does not exist, so every attempt is a new connection.
STREAM = {"hub": "hub", "title": "camera", "publishKey": "key", "hosts": {"publish": {"rtmp": f"{HOST}:1"}}}


# Activities during the cuts: connections whose nonces are saved, faults that come and go, and a person's edits. No time server
# answers here, yet connections must start at once.
WORK = (
    "rm -f /run/network/clock-awaited; while true; do tallycam start; mount -o remount,rw /boot; echo '{\"hostName\": 1}' > /boot/network.json; sync;"
    " sleep 2.2; tallycam stop; mount -o remount,rw /boot; echo '{}' > /boot/network.json; sync; sleep 2.2; done"
)


# Of ten cuts, this many are in the first start of a new card, while its last partition grows.
FIRST_STARTS = 3


class Trial:
    """A card through many power cuts, with a new one now and then. The image already exists."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.first_starts = 0
        self.renew()

    def renew(self) -> None:
        """A card as it was just flashed."""
        self.card = GrowingCard(self.folder, IMAGE, {"device.json": DEVICE, "stream.json": STREAM, "network.json": {}})
        # Files that nobody writes meanwhile must not change. The person's own file may be cut off in the middle.
        self.intact = {name: self.card.read(name) for name in ("board.json", "device.json", "stream.json")}
        self.nonce = 0
        self.recordings = CardRecordings(self.folder)

    def boot(self) -> CardBoard:
        """From power-on to ready, with everything that was there before the cut."""
        board = CardBoard(self.folder, self.card)
        try:
            board.wait_for_agent()
            # The person's own edit may have been cut off. Everything else must be as before until the file is repaired.
            self.check_files()
            board.edit("network.json", "{}\n")
            board.wait_for_state("recording", 120)
            self.recordings.check(board)
            self.check_nonce(board)
            is_grown(board)
        except BaseException:
            print(board.console[-4000:])
            board.close()
            raise
        return board

    def check_nonce(self, board: CardBoard) -> None:
        words = board.run("cat /state/nonce-* 2>/dev/null", check=False).text.split()
        last = max((int(after) for word, after in zip(words, words[1:]) if word == "nonce"), default=0)
        assert last >= self.nonce, f"the nonce went back from {self.nonce} to {last}"
        self.nonce = last

    def check_files(self) -> None:
        for name, content in self.intact.items():
            assert self.card.read(name) == content, f"{name} has changed"

    def cut(self, chance: random.Random) -> str:
        """Starts the board, cuts its power at a random moment, and describes when."""
        if chance.randrange(10) < FIRST_STARTS:
            return self.cut_first_start(chance)
        if chance.random() < 0.3:
            board, moment, what = CardBoard(self.folder, self.card), chance.uniform(0.5, 25), "from power-on"
            time.sleep(moment)
        elif chance.random() < 0.5:
            board, moment, what = self.boot(), chance.uniform(0.2, 10), "into its work"
            board.start(WORK)
            time.sleep(moment)
            self.recordings.before_cut(board, is_continuous=False)
        else:
            board, moment, what = self.boot(), chance.uniform(3, 25), "into a recording"
            board.sleep(moment)
            self.recordings.before_cut(board, is_continuous=True)
        board.cut_power()
        self.check_files()
        return f"{moment:4.1f} s {what}"

    def cut_first_start(self, chance: random.Random) -> str:
        """The next start, which `boot` checks, completes what this cut interrupts."""
        self.renew()
        self.first_starts += 1
        stage, delay = random_moment(chance)
        self.card.cut_while_growing(stage, delay)
        self.check_files()
        self.card.check_file_system()
        assert self.card.has_grown_partition
        self.boot().cut_power()
        return f"{delay:4.2f} s after the first start's {stage} had changed"


@contextlib.contextmanager
def held(lock: str | None):
    if lock is None:
        yield
        return
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def cut_often(folder: Path, count: int, seed: int, lock: str | None = None) -> int:
    """Makes the given number of cuts, with a full check after each, and a final start. Returns how many were in a first start."""
    chance = random.Random(seed)
    trial, start = Trial(folder), time.monotonic()
    for number in range(1, count + 1):
        with held(lock):
            result = trial.cut(chance)
        print(
            f"{number:3d} cut {result}: files intact, nonce {trial.nonce}, {trial.recordings}, {time.monotonic() - start:.0f} s",
            flush=True,
        )
    with held(lock):
        trial.boot().cut_power()
    return trial.first_starts


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--lock", help="a file; its lock is held during each cut, and not between two")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    first = cut_often(FOLDER, arguments.count, arguments.seed, arguments.lock)
    print(f"{arguments.count} power cuts, {first} of them while a new card grew, and ready after every one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
