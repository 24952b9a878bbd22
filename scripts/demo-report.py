#!/usr/bin/env python3
"""Compares what `tallycam publish` sent with what `tallycam receive` received.

Usage: demo-report.py PUBLISH.jsonl RECEIVE.jsonl DECODER_ERRORS
Exit status 1 if anything is missing.
"""
import json
import sys
from pathlib import Path

STILL = Path("out/demo.png")


def last_event(path, name):
    """The last event of that name in a file of JSON lines."""
    found = None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                sys.exit(f"demo: {path} ends within a line; is the disk full?")
            if event["name"] == name:
                found = event
    if found is None:
        sys.exit(f"demo: {path} has no '{name}' event")
    return found


def main():
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__.strip())
        return
    sent = last_event(sys.argv[1], "ended")
    received = last_event(sys.argv[2], "publisherEnded")
    decoder_errors = sys.argv[3].strip()

    kbps = received["videoKbps"] + received["audioKbps"]
    largest_gap = max(received["largestVideoGap"], received["largestAudioGap"])
    print()
    print("What arrived")
    print(f"  video frames   {sent['videoFrames']} sent, {received['videoFrames']} received"
          f" ({sent['videoSkipped']} skipped by the encoder)")
    print(f"  audio          {sent['audioSeconds']:.1f} s sent, {received['audioSeconds']:.1f} s received")
    print(f"  mean bitrate   {kbps:.0f} kbit/s (video {received['videoKbps']:.0f}, audio {received['audioKbps']:.0f})")
    print(f"  largest gap    {largest_gap * 1000:.0f} ms between two frames or two blocks of audio")
    print("  recording      out/demo.flv" + (f", a still frame from it: {STILL}" if STILL.exists() else ""))

    faults = []
    if sent["videoFrames"] != received["videoFrames"]:
        faults.append(f"{sent['videoFrames'] - received['videoFrames']} video frames are missing")
    missed = sent["sourceDropped"]
    if sent["videoFrames"] + sent["videoSkipped"] + sent["videoDropped"] + sent["videoDecimated"] + missed < 14.5 * 30:
        faults.append("fewer frames were captured than 15 s at 30 fps contain")
    if abs(sent["audioSeconds"] - received["audioSeconds"]) > 0.001 or received["audioSeconds"] < 14.5:
        faults.append("audio is missing")
    if not STILL.exists():
        faults.append("ffmpeg took no still frame from the recording")
    if decoder_errors:
        faults.append(f"ffmpeg's decoder complains: {decoder_errors.splitlines()[0]}")
    if faults:
        print("FAILED: " + "; ".join(faults))
        sys.exit(1)
    if missed > 30:
        print(f"This machine was busy with other work: {missed} frames of the source were missed.")
    print("Everything that was sent arrived, and ffmpeg decodes all of it without an error.")


if __name__ == "__main__":
    main()
