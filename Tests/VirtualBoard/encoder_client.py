"""A small program in the guest (client.c) that makes V4L2 calls to the encoder module, and the answers to those calls."""

import json
from pathlib import Path

from board import Board


class Client:
    def __init__(self, board: Board, program: Path):
        self.board = board
        board.put("/tmp/client", program, "755")

    def run(self, *words: str, timeout: float = 60) -> "Answers":
        text = self.board.run(f"/tmp/client {' '.join(words)}", timeout=timeout).text
        return Answers([json.loads(line) for line in text.splitlines()])


class Answers(list):
    """Lines of the client's output, in order."""

    def calls(self, name: str) -> list[dict]:
        return [line for line in self if line.get("call") == name]

    def errors(self, name: str) -> list[int]:
        return [line["errno"] for line in self.calls(name)]

    def milliseconds(self, name: str) -> list[int]:
        return [line["ms"] for line in self.calls(name)]

    def back(self, kind: str) -> list[dict]:
        """The lines about returned frames, or about coded buffers."""
        return [line for line in self if line.get("back") == kind]

    @property
    def coded(self) -> list[dict]:
        """The coded buffers without the stream's end."""
        return [line for line in self.back("coded") if not line["last"]]

    def assert_fine(self) -> "Answers":
        assert all(line.get("errno", 0) == 0 for line in self), self
        return self
