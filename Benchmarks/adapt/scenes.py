"""Scenes whose frames are functions of their number, for `footage.py`. Planes are arrays, luma first; 0 to 255."""

from dataclasses import dataclass

import numpy as np

TURN = 2 * np.pi
# The share of time in which a panning camera rests.
REST = 0.5
# The ranges of luma, Cb and Cr (BT.601, limited range).
LUMA, CHROMA = (16, 235), (16, 240)


def noise_like_nature(rng: np.random.Generator, width: int, height: int, steepness: float = 1.0) -> np.ndarray:
    """A texture whose amplitudes fall with the spatial frequency as in photographs: mean 0, deviation 1."""
    rows, columns = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]
    frequency = np.hypot(rows, columns)
    frequency[0, 0] = np.inf
    spectrum = np.fft.rfft2(rng.standard_normal((height, width))) / frequency**steepness
    texture = np.fft.irfft2(spectrum, s=(height, width))
    return ((texture - texture.mean()) / texture.std()).astype(np.float32)


def soften(plane: np.ndarray, times: int = 1) -> np.ndarray:
    """A lens's softness: 1 2 1 along both sides."""
    for _ in range(times):
        for axis in (0, 1):
            plane = (np.roll(plane, 1, axis) + 2 * plane + np.roll(plane, -1, axis)) / 4
    return plane


def halved(plane: np.ndarray) -> np.ndarray:
    return (plane[::2, ::2] + plane[1::2, ::2] + plane[::2, 1::2] + plane[1::2, 1::2]) / 4


def cut(plane: np.ndarray, x: float, y: float, width: int, height: int) -> np.ndarray:
    """A rectangle of a plane, with linear interpolation between its pixels."""
    column, row = int(x), int(y)
    right, below = np.float32(x - column), np.float32(y - row)
    piece = plane[row : row + height + 1, column : column + width + 1]
    piece = piece[:, :-1] * (1 - right) + piece[:, 1:] * right
    return piece[:-1] * (1 - below) + piece[1:] * below


@dataclass
class Image:
    """Luma, and chroma of half its sides, as floats; for a sprite, also how much of each pixel is covered."""

    planes: list[np.ndarray]
    cover: list[np.ndarray] | None = None

    @classmethod
    def of(cls, luma: np.ndarray, blue: np.ndarray, red: np.ndarray, cover: np.ndarray | None = None) -> "Image":
        """Converts four planes of the same, even, size."""
        return cls([luma, halved(blue), halved(red)], None if cover is None else [cover, *[halved(cover)] * 2])

    def cut(self, x: float, y: float, width: int, height: int) -> "Image":
        return Image([
            cut(plane, x / scale, y / scale, width // scale, height // scale)
            for plane, scale in zip(self.planes, (1, 2, 2))
        ])  # fmt: skip

    def put(self, sprite: "Image", x: float, y: float) -> None:
        """Draws a sprite over the image, clipped at the edges. A sprite's outermost pixels are clear."""
        for plane, piece, cover, scale in zip(self.planes, sprite.planes, sprite.cover, (1, 2, 2)):
            at_x, at_y = x / scale, y / scale
            left, top = int(np.floor(at_x)), int(np.floor(at_y))
            # One pixel further, so that interpolation has neighbors on both sides.
            piece, cover = (
                cut(np.pad(values, 1), 1 - (at_x - left), 1 - (at_y - top), piece.shape[1], piece.shape[0])
                for values in (piece, cover)
            )
            rows = slice(max(0, top), max(0, min(plane.shape[0], top + piece.shape[0])))
            columns = slice(max(0, left), max(0, min(plane.shape[1], left + piece.shape[1])))
            within = slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left)
            plane[rows, columns] += (piece[within] - plane[rows, columns]) * cover[within]


class Grain:
    """A sensor's noise, different in each frame."""

    def __init__(self, rng: np.random.Generator, width: int, height: int, deviation: float):
        self.width, self.height = width, height
        self.fields = [
            (rng.standard_normal((height + 64, width + 64)) * deviation).astype(np.float32) for _ in range(4)
        ]

    def of(self, number: int) -> np.ndarray:
        x, y = np.random.default_rng(number).integers(0, 64, 2)
        return self.fields[number % len(self.fields)][y : y + self.height, x : x + self.width]


def finished(image: Image, grain: np.ndarray | None = None) -> list[np.ndarray]:
    luma = image.planes[0] if grain is None else image.planes[0] + grain
    planes = [luma, *image.planes[1:]]
    return [
        np.clip(np.rint(plane), *limits).astype(np.uint8) for plane, limits in zip(planes, (LUMA, CHROMA, CHROMA))
    ]


def dead_leaves(rng: np.random.Generator, width: int, height: int, count: int) -> Image:
    """Overlapping textured discs, many small and few large, with edges and surfaces like photographs."""
    texture = noise_like_nature(rng, width, height)
    planes = [np.full((height, width), value, np.float32) for value in (110, 122, 132)]
    smallest, largest = height / 150, height / 5
    # Radii are distributed as r^-3, which looks the same at each scale.
    radii = 1 / np.sqrt(rng.uniform(largest**-2, smallest**-2, count))
    for radius in radii:
        x, y, squeeze = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(0.5, 1.0)
        top, bottom = max(0, int(y - radius)), min(height, int(y + radius) + 1)
        left, right = max(0, int(x - radius)), min(width, int(x + radius) + 1)
        rows, columns = np.mgrid[top:bottom, left:right].astype(np.float32)
        inside = (columns - x) ** 2 + ((rows - y) / squeeze) ** 2 < radius**2
        contrast = rng.uniform(8, 40)
        luma = rng.normal(115, 42) + contrast * texture[top:bottom, left:right]
        for plane, values in zip(planes, (luma, rng.normal(124, 8), rng.normal(131, 8))):
            plane[top:bottom, left:right] = np.where(inside, values, plane[top:bottom, left:right])
    return Image.of(*(soften(np.clip(plane, 16, 240), 2) for plane in planes))


def blob(
    rng: np.random.Generator, side: int, luma: float, chroma: tuple[float, float], contrast: float, wobble: float = 0.1
) -> Image:
    """A textured round object with a soft edge; `side` is even, `wobble` is how far its outline is from an oval."""
    rows, columns = (np.mgrid[:side, :side] - side / 2 + 0.5) / (side / 2)
    angle, distance = np.arctan2(rows, columns), np.hypot(rows, columns)
    outline = 0.95 - 1.5 * wobble + wobble * np.sin(3 * angle + rng.uniform(0, TURN))
    outline += wobble / 2 * np.sin(7 * angle + rng.uniform(0, TURN))
    cover = np.clip((outline - distance) * side / 4, 0, 1).astype(np.float32)
    shade = -25 * (rows + columns)
    surface = luma + contrast * noise_like_nature(rng, side, side) + shade
    flat = [np.full((side, side), value, np.float32) for value in chroma]
    return Image.of(soften(surface.astype(np.float32)), *flat, cover)


class Natural:
    """A camera panned by hand, with rests, over a textured scene, in which objects move and water or leaves sway."""

    def __init__(self, width: int, height: int, count: int):
        rng = np.random.default_rng(1)
        self.width, self.height, self.count = width, height, count
        # A margin on each side for the camera's path.
        self.margin = height // 4 * 2
        self.world = dead_leaves(rng, width + 2 * self.margin, height + 2 * self.margin, 12 * 900)
        self.things = [
            blob(rng, int(height * share) // 2 * 2, luma, chroma, contrast)
            for share, luma, chroma, contrast in [
                (0.30, 150, (100, 165), 14), (0.22, 70, (150, 110), 10), (0.16, 190, (120, 120), 16),
            ]
        ]  # fmt: skip
        self.grain = Grain(rng, width, height, 2.0)

    def frame(self, number: int) -> list[np.ndarray]:
        turn, unit = TURN * number / self.count, self.height / 720
        # An oval path, which closes only at the end of the loop, and a slightly unsteady hand.
        way = TURN * self._way(number / self.count)
        x = self.margin + unit * (30 * np.sin(way) + 0.8 * np.sin(9 * turn) + 0.2 * np.sin(29 * turn))
        y = self.margin + unit * (18 * np.cos(way) + 0.6 * np.sin(11 * turn) + 0.2 * np.cos(31 * turn))
        image = self.world.cut(x, y, self.width, self.height)
        self._sway(image, turn)
        for index, thing in enumerate(self.things):
            side = thing.planes[0].shape[0]
            across = 0.5 + 0.3 * np.sin((index + 1) * turn + 2 * index)
            down = 0.35 + 0.22 * np.cos((index + 2) * turn + index)
            image.put(thing, across * self.width - side / 2, down * self.height - side / 2)
        return finished(image, self.grain.of(number))

    @staticmethod
    def _way(share: float) -> float:
        """The camera's place at a share of the loop: in each quarter it first rests, then moves on."""
        quarter, within = divmod(4 * share, 1)
        moved = max(0.0, within / (1 - REST) - REST / (1 - REST))
        return (quarter + moved * moved * (3 - 2 * moved)) / 4

    def _sway(self, image: Image, turn: float) -> None:
        """Shifts lines of the lower left quarter, each in its own way, by amounts that rise and fall."""
        for plane in image.planes:
            height, width = plane.shape
            top, right = height // 2, width // 3
            rows = np.arange(top, height)
            unit = height / 720
            shift = unit * 6 * np.sin(TURN * rows / height * 9 + 7 * turn)
            shift += unit * 4 * np.sin(TURN * rows / height * 4 - 5 * turn)
            # The region's edges do not move, so that it has no seam.
            shift *= (rows - top) / (height - top)
            columns = np.arange(right)
            place = columns + shift[:, None] * (1 - columns / right)
            place = np.clip(place, 0, width - 2)
            left = place.astype(int)
            share = (place - left).astype(np.float32)
            lines = rows[:, None]
            plane[top:, :right] = plane[lines, left] * (1 - share) + plane[lines, left + 1] * share


class Head:
    """A person who talks, nods and blinks, in front of a background that is out of focus."""

    def __init__(self, width: int, height: int, count: int):
        rng = np.random.default_rng(2)
        self.width, self.height, self.count = width, height, count
        room = 120 + 38 * noise_like_nature(rng, width, height, 1.6)
        tints = [126 + 5 * noise_like_nature(rng, width, height, 1.8) for _ in range(2)]
        self.room = Image.of(*(soften(plane, 12) for plane in (room, *tints)))
        side = int(height * 0.62) // 2 * 2
        self.shoulders = blob(rng, int(height * 1.1) // 2 * 2, 80, (140, 118), 12, wobble=0.03)
        self.head = blob(rng, side, 165, (116, 146), 5, wobble=0.01)
        self.hair = blob(rng, int(side * 0.72) // 2 * 2, 55, (124, 134), 16, wobble=0.02)
        self.eye = blob(rng, max(4, side // 12 * 2), 45, (128, 128), 2, wobble=0)
        self.mouth = [
            blob(rng, max(4, int(side * (0.1 + 0.03 * step)) // 2 * 2), 75, (118, 155), 3, wobble=0.02) for step in range(6)
        ]
        self.grain = Grain(rng, width, height, 1.2)

    def frame(self, number: int) -> list[np.ndarray]:
        turn, unit = TURN * number / self.count, self.height / 720
        image = Image([plane.copy() for plane in self.room.planes])
        middle = self.width / 2 + unit * (22 * np.sin(turn) + 5 * np.sin(5 * turn))
        level = self.height * 0.42 + unit * (9 * np.cos(turn) + 6 * np.sin(7 * turn))

        def put(sprite: Image, x: float, y: float) -> None:
            side = sprite.planes[0].shape[0]
            image.put(sprite, x - side / 2, y - side / 2)

        side = self.head.planes[0].shape[0]
        put(self.shoulders, self.width / 2 + unit * 8 * np.sin(turn), self.height * 1.05)
        put(self.hair, middle, level - 0.26 * side)
        put(self.head, middle, level)
        if number % 97 > 3:
            for eye in (-0.17, 0.17):
                put(self.eye, middle + eye * side + unit * 2 * np.sin(3 * turn), level - 0.08 * side)
        # Syllables: about four per second, with pauses.
        opening = abs(np.sin(48 * turn)) * (0.5 + 0.5 * np.sin(5 * turn + 1))
        put(self.mouth[int(opening * len(self.mouth) * 0.99)], middle, level + 0.2 * side)
        return finished(image, self.grain.of(number))


class Screen:
    """Windows full of text: one scrolls and rests, one is typed into, and a pointer moves. No noise."""

    def __init__(self, width: int, height: int, count: int):
        rng = np.random.default_rng(3)
        self.width, self.height, self.count = width, height, count
        self.letter = max(8, height // 60 // 2 * 2)
        self.letters = [rng.random((5, 3)) < 0.55 for _ in range(26)]
        flat = np.full((height, width), 128, np.float32)
        self.desk = Image.of(np.full((height, width), 60, np.float32), flat + 18, flat - 10)
        # As high as its scroll distance in a loop, followed by the same again.
        rows = height * 2 // self.letter
        page = self._text(rng, width // 2 // 2 * 2, rows * self.letter, dark_on_light=True)
        self.page, self.page_height = np.vstack([page, page[:height]]), rows * self.letter
        self.editor = self._text(rng, width * 3 // 8 // 2 * 2, height * 5 // 8 // 2 * 2, dark_on_light=False)

    def _text(self, rng: np.random.Generator, width: int, height: int, dark_on_light: bool) -> np.ndarray:
        ink, paper = (30, 225) if dark_on_light else (205, 40)
        plane = np.full((height, width), paper, np.float32)
        dot = self.letter // 6 or 1
        for row in range(0, height - self.letter, self.letter + self.letter // 2):
            for column in range(self.letter, int(width * rng.uniform(0.5, 0.95)), 4 * dot):
                if rng.random() < 0.17:
                    continue
                shape = np.kron(self.letters[rng.integers(26)], np.ones((dot, dot), bool))
                area = plane[row : row + shape.shape[0], column : column + shape.shape[1]]
                area[shape[: area.shape[0], : area.shape[1]]] = ink
        return plane

    def frame(self, number: int) -> list[np.ndarray]:
        image = Image([plane.copy() for plane in self.desk.planes])
        luma = image.planes[0]
        # Scrolls for a quarter of each sixth of the loop, a sixth of the page each time.
        sixth, rest = divmod(number * 6 / self.count, 1)
        offset = round((sixth + min(1.0, rest * 4)) * self.page_height / 6) % self.page_height
        top, left = self.height // 12, self.width // 24
        shown = self.height * 3 // 4
        luma[top : top + shown, left : left + self.page.shape[1]] = self.page[offset : offset + shown]
        self._type(luma, number)
        for plane in image.planes[1:]:
            plane[top // 2 : (top + shown) // 2, left // 2 : (left + self.page.shape[1]) // 2] = 128
        turn = TURN * number / self.count
        x, y = int(self.width * (0.5 + 0.4 * np.sin(turn))), int(self.height * (0.5 + 0.4 * np.sin(2 * turn + 1)))
        size = self.letter
        luma[y : y + size, x : x + size // 2] = 16
        luma[y : y + size // 2, x : x + size // 4] = 235
        return finished(image)

    def _type(self, luma: np.ndarray, number: int) -> None:
        """The editor's text, as far as it has been typed."""
        height, width = self.editor.shape
        top, left = self.height // 5, self.width * 9 // 16
        line = self.letter + self.letter // 2
        lines = height // line
        typed = lines * width * number // self.count
        row, column = typed // width, typed % width
        area = luma[top : top + height, left : left + width]
        area[:] = 40
        area[: row * line] = self.editor[: row * line]
        area[row * line : (row + 1) * line, :column] = self.editor[row * line : (row + 1) * line, :column]
        area[row * line : row * line + self.letter, column : column + 2] = 235


SCENES = {"natural": Natural, "head": Head, "screen": Screen}
