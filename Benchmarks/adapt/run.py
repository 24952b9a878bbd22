"""Delay and quality for a viewer on a failing uplink: Tallycam, ffmpeg and GStreamer with the same script of rates.

Started by `make bench-adapt`. Needs root rights for network namespaces. Each program publishes through its own router to
`tallycam receive`, which records when each frame arrived; the clock burnt into the frames shows when they were captured. All
programs get the same frames through a pipe.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import analysis
import footage
import goals
import participants
import report
import screen
import sizes
from loop import Loop
from network import SERVER, Uplink
from participants import FPS, Participant, Setting

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "out/adapt"
# kbit/s and seconds.
SCRIPT = [(5000, 15.0), (1000, 20.0), (300, 20.0), (0, 8.0), (5000, 27.0)]
# For the lowest quality, on a link that is good enough.
LOWEST_SCRIPT = [(5000, 20.0)]
LOWEST_SIZE = (640, 480)


class Run:
    """One participant on its own uplink."""

    def __init__(self, participant: Participant, options: argparse.Namespace, loop: Loop, directory: Path):
        self.participant, self.loop = participant, loop
        self.directory = directory / participant.name.replace(" ", "-").replace(",", "")
        self.directory.mkdir(parents=True, exist_ok=True)
        for old in self.directory.iterdir():
            old.unlink()
        self.uplink = Uplink(options.queue, options.congestion_control)
        self.uplink.set_rate(SCRIPT[0][0])
        self.processes: list[subprocess.Popen] = []
        # The kbit/s on the link in each part, once it has settled.
        self.link_rates: list[float] = []
        try:
            self._start_all(options.program)
        except BaseException:
            self.finish()
            raise

    def _start_all(self, program: str) -> None:
        receiver = self._start(
            "receive", [*self.uplink.prefix("server"), program, "receive", "--listen", f"{SERVER}:1935",
                        "--record", str(self.directory / "stream.flv"), "--events", "json", "--report-arrivals"],
        )  # fmt: skip
        self._await("receive", "listening")
        camera = self._start(
            "camera", [sys.executable, str(HERE / "camera.py"), str(self.loop.path), str(self.loop.width),
                       str(self.loop.height), str(FPS)], stdout=subprocess.PIPE,
        )  # fmt: skip
        self.publisher_start = time.monotonic()
        publisher = self._start("publish", [*self.uplink.prefix("client"), *self.participant.command], stdin=camera.stdout)
        camera.stdout.close()
        # In the order in which they must end, so that the stream's end still arrives.
        self.processes = [publisher, receiver, camera]

    def _start(self, name: str, command: list[str], **options) -> subprocess.Popen:
        with open(self.directory / f"{name}.log", "w") as log, open(self.directory / f"{name}.out", "w") as out:
            options = {"stdin": subprocess.DEVNULL, "stdout": out, "start_new_session": True, **options}
            process = subprocess.Popen(command, stderr=log, **options)
        self.processes.append(process)
        return process

    def _events(self, name: str) -> list[dict]:
        lines = (self.directory / f"{name}.out").read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def _await(self, name: str, event: str, seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not any(item["name"] == event for item in self._events(name)):
            if time.monotonic() > deadline:
                raise SystemExit(f"bench-adapt: {self.participant.name}: no {event}; see {self.directory}")
            time.sleep(0.05)

    def await_media(self) -> None:
        self._await("receive", "arrived")

    def finish(self) -> None:
        for process in self.processes:
            self._end(process)
        self.uplink.__exit__()

    @staticmethod
    def _end(process: subprocess.Popen) -> None:
        for signal_number, seconds in ((signal.SIGINT, 5), (signal.SIGKILL, 5)):
            if process.poll() is not None:
                return
            # It leads its own session, which includes the program and its children.
            os.killpg(process.pid, signal_number)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                pass

    def result(self, start: float, script: goals.Script) -> goals.Result:
        arrived = [event for event in self._events("receive") if event["name"] == "arrived"]
        recordings = []
        for stream in sorted({event["stream"] for event in arrived}):
            path = self.directory / ("stream.flv" if stream == 1 else f"stream-{stream}.flv")
            own = [event for event in arrived if event["stream"] == stream and event["kind"] == "video"]
            recordings.append(analysis.read_recording(path, own, (self.loop.width, self.loop.height)))
        frames = [frame for recording in recordings for frame in recording.frames]
        self._write_trace(frames, start)
        parts, total = screen.views(recordings, self.loop, start, script)
        changes = self._changes()
        return goals.Result(
            self.participant, analysis.judge(frames, arrived, start, script), parts, total,
            sum(len(recording.complaints) for recording in recordings), self.link_rates,
            self._seconds_to_full(frames, start, script), len(changes),
            sum(event["reason"] == "tierSwitched" for event in changes),
        )  # fmt: skip

    def _changes(self) -> list[dict]:
        """Changes of the operating point."""
        if not self.participant.is_ours:
            return []
        changes = [event for event in self._events("publish") if event["name"] == "qualityChanged"]
        return [event for event in changes if event["reason"] != "resumed"]

    def _seconds_to_full(self, frames: list[analysis.Frame], start: float, script: goals.Script) -> float | None:
        """From the link's return until the stream has its full size and rate; `None` for never."""
        back, end = analysis.link_return(script), start + sum(seconds for _, seconds in script)
        if back is None or not self.participant.is_ours:
            return None
        sizes = [(frame.arrival, frame.size) for frame in frames if frame.size]
        rates = [
            (self.publisher_start + event["t"], (event["videoBitsPerSecond"], event["targetFramesPerSecond"]))
            for event in self._events("publish") if "videoBitsPerSecond" in event
        ]  # fmt: skip
        moments = [analysis.highest_again(values, start + back, end) for values in (sizes, rates)]
        return None if None in moments else max(moments) - start - back

    def _write_trace(self, frames: list[analysis.Frame], start: float) -> None:
        """Writes each frame, and what the controller measured and did, for the analysis of a run."""
        with open(self.directory / "frames.txt", "w") as file:
            print("# seconds  age  bytes  corrupt", file=file)
            for frame in frames:
                age = frame.arrival - frame.taken if frame.taken else float("nan")
                print(f"{frame.arrival - start:8.3f} {age:7.3f} {frame.byte_count:7d} "
                      f"{'corrupt' if frame.is_corrupt else ''}", file=file)  # fmt: skip
        if self.participant.is_ours:
            subprocess.run(
                [sys.executable, str(HERE / "trace.py"), str(self.directory / "publish.out")], check=True,
                stdout=open(self.directory / "trace.txt", "w"),
            )  # fmt: skip


def play(runs: list[Run], script: goals.Script) -> float:
    """Returns the start time by CLOCK_MONOTONIC."""
    for run in runs:
        run.await_media()
    start = time.monotonic()
    at = start
    for kilobits, seconds in script:
        for run in runs:
            run.uplink.set_rate(kilobits)
        settled = min(at + analysis.SETTLING, at + seconds - 1)
        at += seconds
        time.sleep(max(0.0, settled - time.monotonic()))
        before = [(time.monotonic(), run.uplink.received_bytes()) for run in runs]
        time.sleep(max(0.0, at - time.monotonic()))
        for run, (first, count) in zip(runs, before):
            span = time.monotonic() - first
            run.link_rates.append((run.uplink.received_bytes() - count) * 8 / 1000 / span)
    return start


def measure(
    people: list[Participant], options: argparse.Namespace, loop: Loop, directory: Path, script: goals.Script
) -> list[goals.Result]:
    """Two at the same time: as many encoders as two cores can run."""
    results = []
    for at in range(0, len(people), 2):
        pair = people[at : at + 2]
        print(f"{sum(seconds for _, seconds in script):.0f} s: {'; '.join(item.name for item in pair)}", flush=True)
        runs: list[Run] = []
        try:
            for participant in pair:
                runs.append(Run(participant, options, loop, directory))
            start = play(runs, script)
        finally:
            for run in runs:
                run.finish()
        results += [run.result(start, script) for run in runs]
    return results


def measure_content(content: str, options: argparse.Namespace) -> bool:
    width, height = map(int, options.size.split("x"))
    setting = Setting(options.program, width, height, participants.can_resize(options.program))
    everybody = participants.everybody(setting)
    chosen = options.only or participants.names(setting, options.quick, options.ours)
    if unknown := [name for name in chosen if name not in everybody]:
        sys.exit(f"bench-adapt: there is no run of {unknown}; there are {', '.join(everybody)}")
    loop = footage.make_loop(OUT / "footage", content, width, height, FPS, program=options.program)
    results = measure([everybody[name] for name in chosen], options, loop, OUT / content, SCRIPT)
    print(f"\n{content}, {options.size}, High3 where nothing else is said, {options.congestion_control}, a router queue of "
          f"{options.queue} bytes, {', '.join(f'{kilobits} kbit/s {seconds:.0f} s' for kilobits, seconds in SCRIPT)}")  # fmt: skip
    return report.show(results, SCRIPT, is_natural=content == "natural")


def measure_lowest(options: argparse.Namespace) -> bool:
    """Low1 at 640x480 on a good link: how many of its 12 frames per second it sends."""
    setting = Setting(options.program, *LOWEST_SIZE, participants.can_resize(options.program))
    loop = footage.make_loop(OUT / "footage", "natural", *LOWEST_SIZE, FPS, program=options.program)
    results = measure(participants.lowest(setting), options, loop, OUT / "lowest", LOWEST_SCRIPT)
    return report.show_lowest(results)


def measure_sizes(options: argparse.Namespace) -> None:
    setting = Setting(options.program, 1280, 720, participants.can_resize(options.program))
    for content in options.content or sizes.CONTENTS:
        loop = footage.make_loop(OUT / "footage", content, setting.width, setting.height, FPS, program=options.program)
        sizes.show(content, measure(sizes.participants(setting), options, loop, OUT / "sizes" / content, sizes.SCRIPT))


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-adapt", description=__doc__)
    parser.add_argument("--content", choices=footage.CONTENTS, action="append",
                        help="what the frames show; may be given more than once (default natural and synthetic)")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="natural content, and of Tallycam only seamless and fixed sizes")
    parser.add_argument("--ours", action="store_true", help="Tallycam only")
    parser.add_argument("--only", metavar="NAME", action="append", help="one run; may be given more than once")
    parser.add_argument("--lowest", action="store_true", help="only the short run of Low1 at 640x480")
    parser.add_argument("--sizes", action="store_true", help="only fixed sizes at fixed bit rates, for three kinds of content")
    parser.add_argument("--size", default="1280x720", help="of the source's frame (default 1280x720)")
    parser.add_argument("--queue", type=int, default=64_000, help="bytes that the router holds (default 64000)")
    # Cubic, the default on boards, is not allowed in namespaces everywhere; Reno fills queues in the same way.
    parser.add_argument("--congestion-control", default="reno", help="of the publisher's TCP (default reno; bbr)")
    parser.add_argument("--program", default=str(footage.PROGRAM))
    options = parser.parse_args()
    if options.sizes:
        measure_sizes(options)
        return 0
    reached = []
    if not options.lowest:
        contents = options.content or (["natural"] if options.quick else ["natural", "synthetic"])
        reached += [measure_content(content, options) for content in contents]
    if options.lowest or not (options.quick or options.only):
        reached.append(measure_lowest(options))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
