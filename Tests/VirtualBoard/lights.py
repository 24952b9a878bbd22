"""The states of the status light of a card's board, read from its line as a person would read them."""

from card import CardBoard

STATUS = "GPIO27"
READY = [80, 2920]
CONNECTING = [125, 125]
# A guest that a busy machine lets stand still for a moment spoils a look at its light. A light that is wrong spoils each one.
LOOKS = 12
RECONNECTING = [100, 100, 100, 100, 100, 100, 700, 300]


def blinks(board: CardBoard, count: int) -> bool:
    """Whether the light shows this count: the given number of short blinks, then a long dark."""
    return any(count in groups_of_blinks(board, 0.5 * count * 2 + 5) for _ in range(LOOKS))


def groups_of_blinks(board: CardBoard, seconds: float) -> list[int]:
    groups, current = [], 0
    for lit, length in board.lamp(STATUS, seconds, pauses=2):
        if lit:
            current += 1
        elif length > 1:
            groups.append(current)
            current = 0
    # The first group may have started before the measurement.
    return groups[1:] or groups


def is_steady(board: CardBoard) -> bool:
    """Shows a live stream, with short gaps if the quality is lower than the initial one."""
    return any(all(lit or seconds < 0.3 for lit, seconds in board.lamp(STATUS, 2)) for _ in range(LOOKS))


def rhythm(board: CardBoard, pattern: list[int], tolerance: float = 0.12) -> bool:
    """Whether the light turns in this rhythm: milliseconds of light and dark, as docs/reference/hardware.md has
    them. How exact it is, light_record.py measures."""
    return any(_is_rhythm(board.lamp(STATUS, 2 * sum(pattern) / 1000 + 1)[1:-1], pattern, tolerance) for _ in range(LOOKS))


def _is_rhythm(runs: list[tuple[bool, float]], pattern: list[int], tolerance: float) -> bool:
    for shift in range(len(pattern)):
        wanted = [pattern[(at + shift) % len(pattern)] / 1000 for at in range(len(runs))]
        lights = [(at + shift) % 2 == 0 for at in range(len(runs))]
        if len(runs) >= len(pattern) and all(
            lit == light and abs(seconds - time) < tolerance for (lit, seconds), time, light in zip(runs, wanted, lights)
        ):
            return True
    print(f"not the rhythm {pattern}: {runs}")
    return False
