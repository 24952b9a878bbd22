"""Small programs in C that run in a guest."""

import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def compile_for_guest(source: Path, folder: Path) -> Path:
    """The program in that folder, statically linked: guests have few libraries."""
    program = folder / source.stem
    words = ["aarch64-linux-gnu-gcc-14", "-O1", "-Wall", "-Werror", "-static", source, "-o", program]
    subprocess.run(words, check=True)
    return program
