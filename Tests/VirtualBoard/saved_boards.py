"""Boards without a boot of their own: in each run the first of a kind boots and is saved, and the others continue from there.

    with saved_boards.go_on(folder, files, display=True) as board:

A kind is defined by everything that makes up a board: options, files, parts, QEMU, and `board.py` itself. The state is saved
among the reports, which the next run removes."""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

from board import AGENT, CHECKOUT, RECIPE, Board, parts

FOLDER = CHECKOUT / "out/test/cache/boards"


def go_on(folder: Path, files: dict[str, Path], **options) -> Board:
    """`folder` is the new board's own; `files` and `options` as `Board` takes them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    saved = FOLDER / _kind(files, options)
    # Files of tests that are run beside each other wait for the first.
    with open(saved.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not saved.exists():
            _boot_and_save(saved, files, options)
    return Board(folder, saved=saved, **options)


def _boot_and_save(saved: Path, files: dict[str, Path], options: dict) -> None:
    started = saved.with_suffix(".new")
    shutil.rmtree(started, ignore_errors=True)
    started.mkdir()
    with Board(started, files=files, **options) as board:
        board.save()
    started.rename(saved)


def _kind(files: dict[str, Path], options: dict) -> str:
    version = subprocess.run(["qemu-system-aarch64", "--version"], stdout=subprocess.PIPE, check=True).stdout
    kind = hashlib.sha256(version + f"{parts()} {sorted(options.items())}".encode())
    guest = {path.name: path for path in RECIPE.glob("guest/*")} | {path.name: path for path in (AGENT, RECIPE / "zero-2-w.dtso")}
    ours = {name: Path(__file__).with_name(name) for name in ("board.py", "qemu.py")}
    for name, path in sorted((guest | ours | files).items()):
        kind.update(name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return kind.hexdigest()[:16]
