"""Shows the quality controller's measurements and changes, second by second.

Usage: trace.py EVENTS

EVENTS is the output of `tallycam publish --events json --trace`: ten measurements per second and every change, each with its
reason. Rates are in kbit/s over the last second.
"""

import json
import sys


def main(path: str) -> None:
    measured: list[dict] = []
    everything: list[dict] = []
    shown = -1.0
    point = ""
    print("      t   delay   in  out  video  link   waiting  on the way")
    for line in open(path):
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        name, now = event["name"], event["t"]
        everything.append(event)
        if name == "measured":
            measured.append(event)
            first = next(item for item in measured if now - item["t"] <= 1.05)
            if now - shown >= 0.5 and now > first["t"]:
                shown = now
                print(row(event, first), point)
        elif name == "qualityChanged":
            point = f"{event['quality']} {event.get('videoBitsPerSecond', 0) // 1000}k {event.get('targetFramesPerSecond', 0)} fps"
            print(f"{now:7.2f}   -> {point}, audio {event.get('audioBitsPerSecond', 0) // 1000}k: {event['meaning']}"
                  f" (link {event.get('linkBitsPerSecond', 0) // 1000}k)")  # fmt: skip
        elif name == "dropped":
            continue
        elif not name.startswith(("status", "bufferDuration")):
            print(f"{now:7.2f}   {event['code']} {name} "
                  + " ".join(str(event[key]) for key in ("state", "reason", "delay", "server") if key in event))  # fmt: skip
    show_swings(everything)


def show_swings(events: list[dict]) -> None:
    """The video encoder's output in the seconds after a change of its target, as a share of the target."""
    measured = [event for event in events if event["name"] == "measured"]
    changes = [event for event in events if event["name"] == "qualityChanged" and "videoBitsPerSecond" in event]
    print("\nencoder after a change: given / asked for in the first second, the second, the third and fourth")
    for change, following in zip(changes, [*changes[1:], None]):
        end = following["t"] if following else 1e9
        shares = []
        for first, last in ((0, 1), (1, 2), (2, 4)):
            inside = [event for event in measured if first <= event["t"] - change["t"] < last + 0.05]
            if change["t"] + last > end or len(inside) < 2:
                break
            seconds = inside[-1]["t"] - inside[0]["t"]
            given = (inside[-1]["encodedVideoBytes"] - inside[0]["encodedVideoBytes"]) * 8 / seconds
            shares.append(f"{given / change['videoBitsPerSecond']:5.2f}")
        if shares:
            print(f"{change['t']:7.2f} {change['videoBitsPerSecond'] // 1000:5d}k {change['targetFramesPerSecond']:3d} fps  "
                  + " ".join(shares))  # fmt: skip


def row(event: dict, first: dict) -> str:
    seconds = event["t"] - first["t"]

    def rate(key: str) -> float:
        return (event[key] - first[key]) * 8 / 1000 / seconds

    return (
        f"{event['t']:7.2f} {event['delaySeconds']:7.2f} {rate('appendedBytes'):5.0f} {rate('deliveredBytes'):4.0f}"
        f" {rate('encodedVideoBytes'):5.0f} {event.get('linkBitsPerSecond', 0) / 1000:6.0f}"
        f" {event['waitingBytes']:8d} {event['undeliveredBytes'] - event['waitingBytes']:8d} "
    )


if __name__ == "__main__":
    main(sys.argv[1])
