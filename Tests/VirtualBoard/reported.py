"""The camera's own list of events, in order and with times, requested as the console does it."""

import datetime
import re

from card import CardBoard

STATES = {"ready", "updating", "connecting", "live", "degraded", "reconnecting", "stopping", "no network"}


def ask(board: CardBoard, command: str) -> str:
    """Sends a command of the console through the socket."""
    answer = board.run(f"echo '{command}' | socat -t 5 - UNIX-CONNECT:/run/tallycam.sock").text
    assert answer.startswith("ok\n"), answer
    return answer.removeprefix("ok\n")


def last_event(board: CardBoard) -> str:
    return ask(board, "events 1").strip()


def steps(board: CardBoard, since: str) -> str:
    """The presses of the button and the states that were reported after the given event, in the order of their times."""
    lines = ask(board, "events 200").splitlines()
    lines = lines[len(lines) - lines[::-1].index(since) :]
    times = [seconds(line.split(" ", 1)[0]) for line in lines]
    assert times == sorted(times), lines
    # An event that occurs again is counted where it was reported first.
    words = [re.sub(r" \(\d+ times, .*", "", line.split(" ", 1)[1]) for line in lines]
    return ", ".join("press" if word == "button pressed" else word for word in words if word in STATES | {"button pressed"})


def seconds(stamp: str) -> float:
    """The time of day, or the time since power-on while the time of day is unknown."""
    if since_power_on := re.fullmatch(r"\+([\d.]+)s", stamp):
        return float(since_power_on[1])
    return datetime.datetime.fromisoformat(stamp).timestamp()
