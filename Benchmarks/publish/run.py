"""The cost of publishing an FLV file, compared with other programs and with the minimum.

Started by `make bench-publish`. Everything is on loopback, to the same nginx-rtmp, in one run.
"""

import argparse
import json
import re
import statistics
import subprocess
import time
from pathlib import Path

import senders
from receiver import FirstMediaWatch, Nginx
from senders import Destination, Sender

HERE = Path(__file__).parent
CHECKOUT = HERE.parent.parent
OUT = CHECKOUT / "out/bench"
METRICS = {
    # name: (heading, decimals, goal and what it is relative to)
    "cpu_per_minute": ("CPU s per streamed minute", 3, "1.1 x the limit"),
    "instructions": ("user instructions for 60 s, millions", 2, "9"),
    "peak": ("peak RSS, MB", 1, "11"),
    "start": ("start to first media byte, s", 4, "0.04"),
    "cpu_per_gigabyte": ("as fast as it goes, CPU s per GB", 2, "1.5"),
}


def make_clip(name: str, *command: str) -> Path:
    """The file that ffmpeg makes from the arguments, unless an earlier run has made it."""
    path = OUT / name
    if not path.exists():
        partial = path.with_suffix(".partial.flv")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *command, "-f", "flv", str(partial)], check=True)
        partial.rename(path)
    return path


def make_source(seconds: int) -> Path:
    """720p30 at 1.5 Mbit/s with AAC at 128 kbit/s."""
    return make_clip(
        f"clip-{seconds}.flv",
        "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30,noise=alls=12:allf=t",
        "-f", "lavfi", "-i", "anoisesrc=color=pink:sample_rate=44100",
        "-t", str(seconds), "-pix_fmt", "yuv420p", "-ac", "2",
        "-c:v", "libx264", "-preset", "superfast", "-tune", "zerolatency", "-g", "60",
        "-b:v", "1500k", "-maxrate", "1500k", "-bufsize", "1500k", "-c:a", "aac", "-b:a", "128k",
    )  # fmt: skip


def repeat(clip: Path, count: int, name: str) -> Path:
    return make_clip(name, "-stream_loop", str(count - 1), "-i", str(clip), "-c", "copy") if count > 1 else clip


def compile_program(name: str) -> Path:
    program = OUT / name
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / f"{name}.c"], check=True)
    return program


class Bench:
    def __init__(self, nginx: Nginx, participants: list[Sender]):
        self.nginx = nginx
        self.participants = participants
        self.measure = compile_program("measure")
        self.results: dict[str, dict[str, float]] = {sender.name: {} for sender in participants}
        self.stream_count = 0

    def start(self, sender: Sender, clip: Path, realtime: bool, wrapper: list[str] | None = None):
        """Starts a sender under `measure`; `finish` returns its use of resources."""
        self.stream_count += 1
        report = OUT / f"run-{self.stream_count}.json"
        report.unlink(missing_ok=True)
        to = Destination(self.nginx.port, f"s{self.stream_count}")
        command = [str(self.measure), str(report), *(wrapper or []), *sender.command(clip, to, realtime)]
        log = open(OUT / f"log-{sender.name.replace(' ', '-')}.txt", "w")
        with log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log), report

    def finish(self, sender: Sender, started, may_be_killed: bool = False) -> dict:
        process, report = started
        process.wait()
        usage = json.loads(report.read_text())
        report.unlink()
        if usage["status"] != 0 and not may_be_killed:
            raise SystemExit(f"bench-publish: {sender.name} failed; see out/bench/log-{sender.name.replace(' ', '-')}.txt")
        return usage

    def realtime(self, clip: Path, seconds: float, count: int) -> None:
        """All at the same time, so that the machine's other work affects all of them, and several of each: on a busy machine, one
        differs from another by a fifth."""
        started = [(sender, self.start(sender, clip, realtime=True)) for _ in range(count) for sender in self.participants]
        uses: dict[str, list[dict]] = {sender.name: [] for sender in self.participants}
        for sender, run in started:
            uses[sender.name].append(self.finish(sender, run))
        for name, of_sender in uses.items():
            seconds_of_cpu = statistics.mean(usage["user"] + usage["system"] for usage in of_sender)
            self.results[name]["cpu_per_minute"] = seconds_of_cpu * 60 / seconds
            self.results[name]["peak"] = statistics.mean(usage["peak"] for usage in of_sender) / 1e6

    def instructions(self, clip: Path) -> None:
        for sender in self.participants:
            name = sender.name.replace(" ", "-")
            profile, log = OUT / f"callgrind-{name}.out", OUT / f"callgrind-{name}.txt"
            wrapper = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", f"--log-file={log}"]
            self.finish(sender, self.start(sender, clip, realtime=False, wrapper=wrapper))
            collected = re.search(r"Collected : (\d+)", log.read_text())
            self.results[sender.name]["instructions"] = int(collected[1]) / 1e6

    def start_times(self, clip: Path, count: int) -> None:
        """The median; the senders take turns, so that a busy moment does not affect only one of them."""
        times: dict[str, list[float]] = {sender.name: [] for sender in self.participants}
        for _ in range(count):
            for sender in self.participants:
                with FirstMediaWatch(self.nginx.port) as watch:
                    run = self.start(sender, clip, realtime=True)
                    first_media = watch.wait(20)
                run[0].terminate()
                usage = self.finish(sender, run, may_be_killed=True)
                if first_media is None:
                    raise SystemExit(f"bench-publish: {sender.name} sent no media")
                times[sender.name].append(first_media - usage["start"])
        for name, values in times.items():
            self.results[name]["start"] = statistics.median(values)

    def fast(self, clip: Path, count: int) -> None:
        """The median of several turns."""
        costs: dict[str, list[float]] = {sender.name: [] for sender in self.participants}
        for _ in range(count):
            for sender in self.participants:
                usage = self.finish(sender, self.start(sender, clip, realtime=False))
                costs[sender.name].append((usage["user"] + usage["system"]) / (clip.stat().st_size / 1e9))
        for name, values in costs.items():
            self.results[name]["cpu_per_gigabyte"] = statistics.median(values)


def table(results: dict[str, dict[str, float]], peers: list[str]) -> str:
    names = list(results)
    rows = [["", *names, "tallycam : limit", "tallycam : best peer", "goal"]]
    for metric, (heading, decimals, goal) in METRICS.items():
        values = [results[name][metric] for name in names]
        ours, limit = results["tallycam"][metric], results["limit"][metric]
        best = min((results[peer][metric] for peer in peers), default=float("nan"))
        ratio = "-" if metric in ("peak", "instructions") else f"{ours / limit:.2f}"
        rows.append([heading, *(f"{value:.{decimals}f}" for value in values), ratio, f"{ours / best:.3f}", goal])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench-publish", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 s of media, fewer repetitions: a first impression")
    parser.add_argument("--only", help="names of senders, separated by commas; limit and tallycam are always there")
    options = parser.parse_args()
    seconds, starts, repetitions, loops = (10, 3, 1, 30) if options.quick else (60, 11, 3, 20)
    OUT.mkdir(parents=True, exist_ok=True)
    peers = [senders.ffmpeg(), senders.gstreamer("rtmp2sink"), senders.gstreamer("rtmpsink")]
    if options.only:
        peers = [peer for peer in peers if peer.name in options.only.split(",")]
    participants = [
        senders.limit(compile_program("limit")), senders.tallycam(CHECKOUT / "out/x86_64/tallycam"), *peers
    ]
    clip = make_source(seconds)
    minute = repeat(clip, 60 // seconds, f"minute-{seconds}.flv")
    long_clip = repeat(clip, loops, f"long-{seconds}.flv")
    start = time.monotonic()
    with Nginx(OUT) as nginx:
        bench = Bench(nginx, participants)
        for step, work in {
            "start times": lambda: bench.start_times(clip, starts),
            "real-time pace": lambda: bench.realtime(clip, seconds, repetitions),
            "as fast as it goes": lambda: bench.fast(long_clip, repetitions),
            "instructions": lambda: bench.instructions(minute),
        }.items():
            print(f"bench-publish: {step} ({time.monotonic() - start:.0f} s)", flush=True)
            work()
    (OUT / "publish.json").write_text(json.dumps(bench.results, indent=1) + "\n")
    print(table(bench.results, [peer.name for peer in peers]))


if __name__ == "__main__":
    main()
