"""When the LEDs changed and when the button was pressed: the guest's kernel records every line that a program sets, by its own
clock. The record is exact: what is late in it was also late for a viewer."""

import re
import statistics

from board import CHECKOUT, Board
from lights import LOOKS
from stalls import computing

TRACE = "/sys/kernel/tracing"
# The documented words for what the light shows; those of faults are counts.
HARDWARE = (CHECKOUT / "docs/reference/hardware.md").read_text()
LINE = re.compile(r" (\d+\.\d+): (?:gpio_value: (\d+) set ([01])|tracing_mark_write: (\w+))$", re.MULTILINE)


def documented_rhythm(meaning: str) -> list[int]:
    """Milliseconds of light and dark in turn, as docs/reference/hardware.md has them."""
    if meaning.isdigit():
        light, dark, pause = map(int, re.search(r"\| a fault, see below \| (\d+) (\d+) \.\.\., (\d+) \|", HARDWARE).groups())
        return [light, dark] * (int(meaning) - 1) + [light, pause]
    return [int(word) for word in re.search(rf"^\|[^|]+\| {meaning}[^|]* \| ([\d ]+) \|$", HARDWARE, re.MULTILINE)[1].split()]


class LightRecord:
    """The status light's changes, in seconds of the guest's clock since power-on."""

    def __init__(self, board: Board):
        self.board = board
        self.button = board._line("GPIO17")
        script = (
            f"[ -e {TRACE}/trace ] || mount -t tracefs tracefs {TRACE}; echo mono >{TRACE}/trace_clock;"
            f" echo 1 >{TRACE}/events/gpio/gpio_value/enable; ls -d /sys/devices/platform/gpio-sim*/gpio/gpiochip*"
        )
        # The record numbers the lines of all chips; the chip's folder is named after its first line.
        self.number = str(int(board.run(script).text.strip().rpartition("gpiochip")[2]) + 27)
        # For people, in the tests' output.
        self.measured: list[str] = []

    def start(self) -> None:
        """Clears the record."""
        self.board.run(f"echo >{TRACE}/trace")

    def press(self, seconds: float = 0.1) -> None:
        """A press of the button, recorded just before it starts and ends."""
        self.board.run(self._press(seconds), timeout=seconds + 60)

    def answer_to_press(self) -> float:
        """Milliseconds from a press to the light's next change. The guest computes meanwhile, so a busy host makes nothing late."""
        self.start()
        self.board.run(f"({computing(0.6)}) & {self._press(0.1)}; wait")
        return self.answer()

    def press_twice(self) -> None:
        """Close enough to each other for one double press, even if the guest's host is busy. Returns when the light has answered."""
        press = self._press(0.1)
        self.board.run(f"({computing(1.1)}) & {press}; sleep 0.1; {press}; wait")

    def _press(self, seconds: float) -> str:
        return (
            f"l=$(echo {self.button}/pull);"
            f" echo pressed >{TRACE}/trace_marker; echo pull-down >$l; sleep {seconds};"
            f" echo released >{TRACE}/trace_marker; echo pull-up >$l"
        )

    def changes(self) -> list[tuple[float, str]]:
        """`lit`, `dark`, `pressed` and `released`, each with its time."""
        found = []
        for when, line, level, word in LINE.findall(self.board.run(f"cat {TRACE}/trace").text):
            if word or line == self.number:
                found.append((float(when), word or ("lit" if level == "1" else "dark")))
        return found

    def light(self) -> list[tuple[float, bool]]:
        return [(when, what == "lit") for when, what in self.changes() if what in ("lit", "dark")]

    def answer(self) -> float:
        """Milliseconds from the last press to the light's next change."""
        changes = self.changes()
        last = max(index for index, (_, what) in enumerate(changes) if what == "pressed")
        turned = [when for when, what in changes[last:] if what in ("lit", "dark")]
        assert turned, f"no answer to the press: {changes[-10:]}"
        milliseconds = 1000 * (turned[0] - changes[last][0])
        self.measured.append(f"press to the light's answer: {milliseconds:.1f} ms")
        return milliseconds

    def keeps(self, meaning: str, tolerance: int = 50) -> bool:
        """Whether the light turns in the documented rhythm from now on, in one of several looks."""
        pattern = documented_rhythm(meaning)
        for _ in range(LOOKS):
            self.start()
            self.board.sleep(((1 if sum(pattern) > 2500 else 2) * sum(pattern) + max(pattern) + 100) / 1000)
            if self.kept(self.light(), meaning, tolerance):
                return True
        return False

    def kept(self, changes: list[tuple[float, bool]], meaning: str, tolerance: int = 50) -> bool:
        pattern = documented_rhythm(meaning)
        off = deviations(changes, pattern)
        # An emulated machine that waits for a processor makes a change late, which falsifies the durations before and after it.
        if not off or statistics.median(off) >= tolerance or max(off) >= 3 * tolerance:
            print(f"not the rhythm {pattern}, off by {off}: {changes}")
            return False
        self.measured.append(
            f"light, {meaning}: {' '.join(map(str, pattern))} ms, off by {statistics.median(off):.1f} ms,"
            f" {max(off):.1f} at most of {len(off)}"
        )
        return True


def deviations(changes: list[tuple[float, bool]], pattern: list[int]) -> list[float]:
    """By how many milliseconds each duration of light or dark differs from the rhythm's, at the phase that fits best; empty for
    less than a round."""
    times = [(lit, 1000 * (after - start)) for (start, lit), (after, _) in zip(changes, changes[1:])]
    fits = [
        [abs(time - pattern[(at + shift) % len(pattern)]) for at, (_, time) in enumerate(times)]
        for shift in range(len(pattern)) if times and times[0][0] == (shift % 2 == 0)
    ]  # fmt: skip
    return min(fits, key=sum) if len(times) >= len(pattern) else []
