"""Raw frames (I420) in a file, repeated endlessly."""

import mmap
from pathlib import Path


class Loop:
    """A file of complete frames of one size; frame N of the endless video is frame N modulo `count` of the file."""

    def __init__(self, path: Path, width: int, height: int, fps: int):
        self.path, self.width, self.height, self.fps = path, width, height, fps
        self.byte_count = width * height * 3 // 2
        with open(path, "rb") as file:
            self._view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        self.count = len(self._view) // self.byte_count
        if not self.count:
            raise ValueError(f"{path} holds no frame of {width}x{height}: it has {len(self._view)} bytes")

    def frame(self, number: int) -> memoryview:
        return self._view[number % self.count * self.byte_count :][: self.byte_count]

    def luma(self, number: int) -> memoryview:
        return self.frame(number)[: self.width * self.height]
