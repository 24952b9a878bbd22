"""A day of media over a real connection, at full speed, across both wraps of RTMP's clock.

`publish --from-flv` reads tags that are generated during the run, `receive --record` writes the received media to a file, and
every single timestamp is compared on arrival. The memory of both programs is watched meanwhile. Called by `make soak`, inside
the build root.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from multiprocessing import Process, Queue
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
TALLYCAM = CHECKOUT / "out/x86_64/tallycam"
AUDIO, VIDEO, SCRIPT_DATA = 8, 9, 18
FRAMES_PER_SECOND, SAMPLES_PER_SECOND, SAMPLES_PER_AUDIO = 12, 44100, 1024
KEYFRAME_DISTANCE = 2 * FRAMES_PER_SECOND
WRAPS = {"2^31": 1 << 31, "2^32": 1 << 32}
# Memory may vary by some pages, but must not grow with time.
GROWTH_LIMIT_KB = 512


def frame_time(number: int) -> int:
    """Milliseconds since the start."""
    return number * 1000 // FRAMES_PER_SECOND


def audio_time(number: int) -> int:
    return number * SAMPLES_PER_AUDIO * 1000 // SAMPLES_PER_SECOND


def order(milliseconds: int):
    """Kind, number and time of everything that is sent, in order."""
    frame = audio = 0
    while True:
        times = frame_time(frame), audio_time(audio)
        if min(times) >= milliseconds:
            return
        if times[0] <= times[1]:
            yield VIDEO, frame, times[0]
            frame += 1
        else:
            yield AUDIO, audio, times[1]
            audio += 1


def body(kind: int, number: int) -> bytes:
    """A body with the structure of a stream's, which contains its number."""
    if kind == AUDIO:
        return b"\xaf\x01" + struct.pack(">I", number) + bytes(30)
    first = b"\x17" if number % KEYFRAME_DISTANCE == 0 else b"\x27"
    return first + b"\x01\x00\x00\x00" + struct.pack(">I", number) + bytes(80)


def tag(kind: int, timestamp: int, body: bytes) -> bytes:
    stamp = timestamp & 0xFFFFFFFF
    head = struct.pack(">II", kind << 24 | len(body), (stamp & 0xFFFFFF) << 8 | stamp >> 24)
    return head + b"\x00\x00\x00" + body + struct.pack(">I", 11 + len(body))


def write_media(path: Path, origin: int, milliseconds: int) -> None:
    with open(path, "wb", buffering=1 << 18) as pipe:
        pipe.write(b"FLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00")
        pipe.write(tag(VIDEO, origin, b"\x17\x00\x00\x00\x00\x01\x42\x00\x1f\xff\xe0\x00"))
        pipe.write(tag(AUDIO, origin, b"\xaf\x00\x12\x10"))
        for kind, number, offset in order(milliseconds):
            pipe.write(tag(kind, origin + offset, body(kind, number)))


class Tags:
    """The receiver's recording as it grows."""

    def __init__(self, path: Path):
        self.file = open(path, "rb", buffering=0)
        self.data = bytearray()
        self.at = 0

    def take(self, count: int) -> bytes:
        while len(self.data) - self.at < count:
            del self.data[: self.at]
            self.at = 0
            self.data += self._more()
        self.at += count
        return bytes(self.data[self.at - count : self.at])

    def _more(self) -> bytes:
        deadline = time.monotonic() + 60
        while not (data := self.file.read(1 << 18)):
            if time.monotonic() > deadline:
                raise TimeoutError("nothing comes any more")
            time.sleep(0.01)
        return data

    def next(self) -> tuple[int, int, bytes]:
        head = self.take(11)
        size = int.from_bytes(head[1:4], "big")
        timestamp = head[7] << 24 | int.from_bytes(head[4:7], "big")
        found = self.take(size)
        if int.from_bytes(self.take(4), "big") != 11 + size:
            raise ValueError("a tag is not followed by its size")
        return head[0], timestamp, found


def check_media(record: Path, origin: int, milliseconds: int, outcome: Queue) -> None:
    """Compares every tag; reports how many were correct, or what was wrong."""
    try:
        tags = Tags(record)
        if not tags.take(13).startswith(b"FLV\x01"):
            raise ValueError("no FLV file")
        for wanted in (SCRIPT_DATA, VIDEO, AUDIO):
            kind, timestamp, found = tags.next()
            if (kind, timestamp) != (wanted, origin & 0xFFFFFFFF) or kind != SCRIPT_DATA and found[1] != 0:
                raise ValueError(f"a header {wanted} of time {origin} was expected: {kind}, {timestamp}, {found.hex()}")
        count = 0
        for kind, number, offset in order(milliseconds):
            expected = (kind, (origin + offset) & 0xFFFFFFFF, body(kind, number))
            found = tags.next()
            if found != expected:
                raise ValueError(f"after {offset} ms: {expected[:2]} was sent, {found[:2]} came")
            count += 1
        outcome.put((count, None))
    except Exception as error:  # whatever it is, the other process must be informed
        outcome.put((0, f"{type(error).__name__}: {error}"))


@dataclass
class Memory:
    """Resident memory of a process, in kB, twice per second."""

    process: subprocess.Popen
    samples: list[int] = field(default_factory=list)
    peak: int = 0

    def __post_init__(self):
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self) -> None:
        while self.process.poll() is None:
            try:
                text = Path(f"/proc/{self.process.pid}/status").read_text()
            except OSError:
                return
            values = dict(line.split(":", 1) for line in text.splitlines())
            if "VmRSS" in values:
                self.samples.append(int(values["VmRSS"].split()[0]))
                self.peak = int(values["VmHWM"].split()[0])
            time.sleep(0.5)

    @property
    def growth(self) -> int:
        """The growth from the first half of the time to the second."""
        half = len(self.samples) // 2
        return max(self.samples[half:], default=0) - max(self.samples[:half], default=0)


def wait_for_event(path: Path, name: str, seconds: float = 30) -> dict:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for line in path.read_text().splitlines():
            if f'"{name}"' in line:
                return json.loads(line)
        time.sleep(0.02)
    raise TimeoutError(f"{path.name}: no event {name}")


def run(name: str, hours: float, directory: Path) -> dict:
    milliseconds = int(hours * 3_600_000)
    origin = WRAPS[name] - milliseconds // 2
    source, record = directory / "source", directory / "record.flv"
    os.mkfifo(source)
    record.touch()
    outcome: Queue = Queue()
    checker = Process(target=check_media, args=(record, origin, milliseconds, outcome))
    checker.start()
    with open(directory / "receive.jsonl", "w") as file:
        receiver = subprocess.Popen(
            [TALLYCAM, "receive", "--listen", "127.0.0.1:0", "--record", record, "--events", "json"],
            stdout=file, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    address = wait_for_event(directory / "receive.jsonl", "listening")["address"]
    writer = Process(target=write_media, args=(source, origin, milliseconds))
    writer.start()
    start = time.monotonic()
    with open(directory / "publish.jsonl", "w") as file:
        publisher = subprocess.Popen(
            [
                TALLYCAM, "publish", "--url", f"rtmp://{address}/live/soak", "--from-flv", source, "--pace", "fast",
                "--events", "json",
            ],
            stdout=file,
        )  # fmt: skip
    memories = {"publisher": Memory(publisher), "receiver": Memory(receiver)}
    status = publisher.wait()
    seconds = time.monotonic() - start
    count, fault = outcome.get(timeout=90)
    ended = wait_for_event(directory / "receive.jsonl", "publisherEnded") if status == 0 else {}
    receiver.terminate()
    receiver.wait()
    for process in (writer, checker):
        process.terminate()
        process.join()
    faults = [fault] if fault else []
    if status != 0:
        faults.append(f"the publisher ended with status {status}")
    if ended.get("disordered") != 0:
        faults.append(f"the receiver saw disorder: {ended}")
    for who, memory in memories.items():
        if memory.growth > GROWTH_LIMIT_KB:
            faults.append(f"the {who}'s memory grew by {memory.growth} kB")
    return {
        "wrap": name, "firstTimestamp": origin, "tags": count, "seconds": seconds, "faults": faults,
        "mediaSeconds": ended.get("videoSeconds"),
        **{f"{who}PeakKB": memory.peak for who, memory in memories.items()},
        **{f"{who}GrowthKB": memory.growth for who, memory in memories.items()},
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=24, help="of media, half before the wrap (default 24)")
    arguments = parser.parse_args()
    results = []
    for name in WRAPS:
        with tempfile.TemporaryDirectory(prefix="tallycam-soak-") as directory:
            results.append(run(name, arguments.hours, Path(directory)))
        result = results[-1]
        print(
            f"across {name} ms: {result['tags']} tags, {(result['mediaSeconds'] or 0) / 3600:.2f} h of media in "
            f"{result['seconds']:.0f} s; every timestamp {'is right' if not result['faults'] else 'is NOT right'}"
        )
        for who in ("publisher", "receiver"):
            print(f"  {who}: {result[f'{who}PeakKB'] / 1024:.1f} MB at most, grew by {result[f'{who}GrowthKB']} kB")
        for fault in result["faults"]:
            print(f"  {fault}")
    out = CHECKOUT / "out/soak.json"
    out.write_text(json.dumps(results, indent=2) + "\n")
    return 1 if any(result["faults"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
