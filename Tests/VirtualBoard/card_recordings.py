"""The recordings on a card through power cuts: no file is lost but the last one, of which at most a GOP is."""

from pathlib import Path

from card import CardBoard
from players import frame_count

PLACE = "/state/recordings"
# A keyframe every two seconds. Times of files are whole seconds, and a fragment takes a moment.
GOP_SECONDS, SLACK_SECONDS = 2, 2
# A file without a complete fragment is shorter, and is removed.
HEAD = 1500


class CardRecordings:
    def __init__(self, folder: Path):
        self.folder = folder
        # Sizes by name, and the name of the file that was being written.
        self.sizes: dict[str, int] = {}
        self.last: str | None = None
        self.played: set[str] = set()
        self.frames = 0

    @staticmethod
    def _listing(board: CardBoard) -> tuple[int, dict[str, tuple[int, int]]]:
        """The guest's time, and each file's size and time of change."""
        script = f"date +%s; cd {PLACE} 2>/dev/null && stat -c '%n %s %Y' *.mp4 2>/dev/null"
        first, *lines = board.run(script, check=False).text.splitlines()
        words = (line.split() for line in lines)
        return int(first), {name: (int(size), int(changed)) for name, size, changed in words}

    def before_cut(self, board: CardBoard, *, is_continuous: bool) -> None:
        """`is_continuous`: it has recorded without an interruption for some seconds."""
        now, files = self._listing(board)
        self._know({name: size for name, (size, _) in files.items()})
        if is_continuous:
            age = now - files[self.last][1]
            assert age <= GOP_SECONDS + SLACK_SECONDS, f"{self.last} has got nothing for {age} s"

    def _know(self, sizes: dict[str, int]) -> None:
        self.sizes, self.last = sizes, max(sizes, default=None)

    def check(self, board: CardBoard) -> None:
        """After the next start, which has repaired what the cut has left."""
        board.wait_until(f"tallycam status --json | grep -q '\"file\": *\"{PLACE}/'", 60)
        files = {name: size for name, (size, _) in self._listing(board)[1].items()}
        for name, size in self.sizes.items():
            if name == self.last and size < HEAD and name not in files:
                continue
            # The last file lacks what was not in a complete fragment, and has an index instead.
            assert name in files and (files[name] == size or name == self.last and files[name] >= size), (
                f"{name} had {size} bytes, now {files.get(name)}"
            )
        self._know(files)
        copy = self.folder / "recording.mp4"
        for name in sorted(files.keys() - self.played - {self.last}):
            copy.write_bytes(board.get(f"{PLACE}/{name}"))
            self.frames += frame_count(copy)
            self.played.add(name)

    def __str__(self) -> str:
        return f"{len(self.played)} recordings with {self.frames} frames play"
