"""Shows what the quality controller saw and did, second by second.

Usage: trace.py EVENTS

EVENTS is what `tallycam publish --events json --trace` wrote: ten measurements a second and every change, each with its
reason. Rates are in kbit/s over the last second.
"""

import json
import sys


def main(path: str) -> None:
    measured: list[dict] = []
    shown = -1.0
    point = ""
    print("      t   delay   in  out  video  link   waiting  on the way")
    for line in open(path):
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        name, now = event["name"], event["t"]
        if name == "measured":
            measured.append(event)
            first = next(item for item in measured if now - item["t"] <= 1.05)
            if now - shown >= 0.5 and now > first["t"]:
                shown = now
                print(row(event, first), point)
        elif name == "qualityChanged":
            point = f"{event['quality']} {event.get('videoBitsPerSecond', 0) // 1000}k {event.get('framesPerSecond', 0)} fps"
            print(f"{now:7.2f}   -> {point}, audio {event.get('audioBitsPerSecond', 0) // 1000}k: {event['meaning']}"
                  f" (link {event.get('linkBitsPerSecond', 0) // 1000}k)")  # fmt: skip
        elif name == "dropped":
            continue
        elif not name.startswith(("status", "bufferDuration")):
            print(f"{now:7.2f}   {event['code']} {name} "
                  + " ".join(str(event[key]) for key in ("state", "reason", "delay", "server") if key in event))  # fmt: skip


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
