"""How long a guest stood still. While a guest is idle its clock follows the host's: if a busy host does not let it run for a
second, a second is missing in the guest, too, and from every stream in it. Tests that compare gaps allow for that."""

from board import Board

# Wakes by the guest's clock, whose smallest unit is 10 ms here, and writes each new maximum of the time between. It starts no
# program, so it costs almost nothing.
SCRIPT = (
    "mkfifo /tmp/never.$$; exec busybox sh -c 'exec 3<>/tmp/never.$$; rm /tmp/never.$$; most=0; last=;"
    " while :; do read t r </proc/uptime; now=${t%.*}${t#*.}; [ $((now - ${last:-$now})) -le $most ] ||"
    " { most=$((now - last)); echo $most; }; last=$now; read -t 0.05 w <&3; done'"
)
# In seconds: what the process needs between two looks while nothing stands still.
USUAL = 0.1


def computing(seconds: float) -> str:
    """A shell command that computes for so long by the guest's clock. Meanwhile the guest is not idle, so its clock follows its
    instructions only, and nothing in it is late."""
    return (
        f"read t r </proc/uptime; end=$((${{t%.*}}${{t#*.}} + {round(100 * seconds)}));"
        " while [ ${t%.*}${t#*.} -lt $end ]; do read t r </proc/uptime; done"
    )


class Stalls:
    """From now on, until the test ends."""

    def __init__(self, board: Board):
        self._process = board.start(SCRIPT)

    @property
    def longest(self) -> float:
        """Seconds that the guest stood still at once, if that was unusual; 0 on an idle machine."""
        assert not self._process.has_ended, self._process.text
        longest = int((self._process.text.split() or ["0"])[-1]) / 100
        return longest if longest > USUAL else 0.0

    def end(self) -> float:
        """No longer watches; `longest` until now."""
        longest = self.longest
        self._process.end()
        return longest
