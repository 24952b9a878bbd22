"""How live a stream stays on a failing uplink: Tallycam, ffmpeg and GStreamer on the same script of rates.

Started by `make bench-adapt`. Needs root rights for network namespaces. Each program publishes through a router of its
own to `tallycam receive`, which notes when each frame arrived; the clock burnt into the frames tells when they were
taken.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import analysis
import media
from network import SERVER, Uplink

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
OUT = CHECKOUT / "out/adapt"
URL = f"rtmp://{SERVER}:1935/live/x"
FPS = 30
# kbit/s and seconds.
SCRIPT = [(5000, 15.0), (1000, 20.0), (300, 20.0), (0, 8.0), (5000, 27.0)]
# What High3 and its audio take, kbit/s.
TOP = 2128
GOALS = {"fresh_share": 0.9, "worst_age_connected": 3.5, "corrupt": 0, "use": 0.85, "seconds_to_frame": 1.0}


@dataclass(frozen=True)
class Participant:
    name: str
    command: list[str]
    # Whether frames come from camera.py through a pipe.
    has_camera: bool = False
    is_ours: bool = False


class Run:
    """One participant on its own uplink."""

    def __init__(self, participant: Participant, options: argparse.Namespace, frames: Path):
        self.participant, self.options = participant, options
        self.label = participant.name.replace(" ", "-").replace(",", "")
        self.directory = OUT / self.label
        self.directory.mkdir(parents=True, exist_ok=True)
        for old in self.directory.iterdir():
            old.unlink()
        self.uplink = Uplink(options.queue, options.congestion_control)
        self.uplink.set_rate(SCRIPT[0][0])
        self.processes: list[subprocess.Popen] = []
        # kbit/s on the link in each part, once it has settled.
        self.link_rates: list[float] = []
        self.receiver = self._start(
            "receive", [*self.uplink.prefix("server"), options.program, "receive", "--listen", f"{SERVER}:1935",
                        "--record", str(self.directory / "stream.flv"), "--events", "json", "--report-arrivals"],
        )  # fmt: skip
        self._await("receive", "listening")
        camera = None
        if participant.has_camera:
            camera = self._start(
                "camera", [sys.executable, str(HERE / "camera.py"), str(frames), str(options.width),
                           str(options.height), str(FPS)], stdout=subprocess.PIPE,
            ).stdout  # fmt: skip
        self.publisher = self._start(
            "publish", [*self.uplink.prefix("client"), *participant.command], stdin=camera or subprocess.DEVNULL
        )
        if camera:
            camera.close()

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
                raise SystemExit(f"bench-adapt: {self.label}: no {event}; see {self.directory}")
            time.sleep(0.05)

    def await_media(self) -> None:
        self._await("receive", "arrived")

    def finish(self) -> None:
        for process in (self.publisher, self.receiver, *self.processes):
            self._end(process)
        self.uplink.__exit__()

    @staticmethod
    def _end(process: subprocess.Popen) -> None:
        for signal_number, seconds in ((signal.SIGINT, 5), (signal.SIGKILL, 5)):
            if process.poll() is not None:
                return
            # A session of its own, started by us: the program and what it started.
            os.killpg(process.pid, signal_number)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                pass

    def verdict(self, start: float) -> analysis.Verdict:
        arrived = [event for event in self._events("receive") if event["name"] == "arrived"]
        frames: list[analysis.Frame] = []
        for stream in sorted({event["stream"] for event in arrived}):
            path = self.directory / ("stream.flv" if stream == 1 else f"stream-{stream}.flv")
            own = [event for event in arrived if event["stream"] == stream and event["kind"] == "video"]
            frames += analysis.read_stream(path, own)
        self._write_trace(frames, start)
        return analysis.judge(frames, arrived, start, SCRIPT)

    def changes(self) -> tuple[int, int]:
        """Changes of the operating point, and ends and starts of the stream for another profile."""
        if not self.participant.is_ours:
            return 0, 0
        events = self._events("publish")
        changes = [event for event in events if event["name"] == "qualityChanged" and event["reason"] != "resumed"]
        return len(changes), sum(event["reason"] == "tierSwitched" for event in changes)

    def _write_trace(self, frames: list[analysis.Frame], start: float) -> None:
        """Each frame, and what the controller saw and did, for looking into what a run shows."""
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


def tallycam(
    name: str, options: argparse.Namespace, policy: str, has_camera: bool = False, quality: str = "High3"
) -> Participant:
    size = f"{options.width}x{options.height}"
    video = f"raw:-,format=i420,size={size},fps={FPS}" if has_camera else "synthetic"
    command = [
        options.program, "publish", "--url", URL, "--video", video, "--quality", quality, "--dimension", size,
        "--adapt", policy, "--reconnect", "endless", "--events", "json", "--trace", "--status-interval", "1",
    ]  # fmt: skip
    return Participant(name, command, has_camera, is_ours=True)


def ffmpeg(name: str, options: argparse.Namespace, *output: str) -> Participant:
    command = [
        "ffmpeg", "-v", "error", "-use_wallclock_as_timestamps", "1", "-f", "rawvideo", "-pix_fmt", "yuv420p",
        "-s", f"{options.width}x{options.height}", "-r", str(FPS), "-i", "-",
        "-re", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100", "-map", "0:v", "-map", "1:a",
        "-c:v", "libx264", "-preset", "superfast", "-tune", "zerolatency", "-g", "60",
        "-b:v", "2000k", "-maxrate", "2000k", "-bufsize", "2000k", "-c:a", "aac", "-b:a", "128k", *output, URL,
    ]  # fmt: skip
    return Participant(name, command, has_camera=True)


def gstreamer(name: str, options: argparse.Namespace) -> Participant:
    pipeline = (
        f"fdsrc fd=0 blocksize={options.width * options.height * 3 // 2} ! "
        f"rawvideoparse width={options.width} height={options.height} format=i420 framerate={FPS}/1 ! queue ! "
        "openh264enc bitrate=2000000 gop-size=60 rate-control=bitrate complexity=low ! h264parse ! queue ! "
        f"flvmux name=mux streamable=true ! rtmp2sink location={URL} "
        "audiotestsrc is-live=true wave=sine ! audio/x-raw,rate=44100,channels=2 ! voaacenc bitrate=128000 ! "
        "aacparse ! queue ! mux."
    )
    return Participant(name, ["gst-launch-1.0", "-q", *pipeline.split()], has_camera=True)


def rounds(options: argparse.Namespace) -> list[list[Participant]]:
    """Those of a round run side by side: as many encoders as two cores carry."""
    ours = [tallycam("tallycam, seamless", options, "seamless"), tallycam("tallycam, restart", options, "restart")]
    # Low and Medium only, which all players can follow without a break; and a switch of tiers with video that needs the bits.
    groups = [
        tallycam("tallycam, Medium3", options, "seamless", quality="Medium3"),
        tallycam("tallycam, camera restart", options, "restart", has_camera=True),
    ]
    camera = tallycam("tallycam, camera", options, "seamless", has_camera=True)
    if options.only:
        chosen = [item for item in [*ours, *groups, camera] if item.name == f"tallycam, {options.only}"]
        return [chosen] if chosen else sys.exit(f"bench-adapt: there is no run of \"{options.only}\"")
    if options.ours:
        return [ours, groups]
    fifo = ["-f", "fifo", "-fifo_format", "flv", "-drop_pkts_on_overflow", "1", "-attempt_recovery", "1",
            "-recover_any_error", "1", "-recovery_wait_time", "1"]  # fmt: skip
    return [
        ours,
        groups,
        [camera, gstreamer("gst rtmp2sink", options)],
        [ffmpeg("ffmpeg", options, "-f", "flv"), ffmpeg("ffmpeg fifo", options, *fifo)],
    ]


def make_frames(options: argparse.Namespace) -> Path:
    """Three seconds of raw video that needs the bits: forwards and backwards, so that it has no cut."""
    path = OUT / f"frames-{options.width}x{options.height}.i420"
    if not path.exists():
        scene = (
            f"{media.RICH_SCENE},trim=end_frame=45,scale={options.width}:{options.height},"
            "split[a][b];[b]reverse[c];[a][c]concat"
        )
        partial = path.with_suffix(".partial")
        words = ["-filter_complex", scene, "-f", "rawvideo", str(partial)]
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *words], check=True)
        partial.rename(path)
    return path


def play(runs: list[Run]) -> float:
    for run in runs:
        run.await_media()
    start = time.monotonic()
    at = start
    for kilobits, seconds in SCRIPT:
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


def show(results: list[tuple[Run, analysis.Verdict]], options: argparse.Namespace) -> bool:
    print(f"\n{options.width}x{options.height}, High3 where nothing else is said, {options.congestion_control}, a router queue of {options.queue} "
          f"bytes, {', '.join(f'{kilobits} kbit/s {seconds:.0f} s' for kilobits, seconds in SCRIPT)}\n")  # fmt: skip
    steady = [index for index, (kilobits, _) in enumerate(SCRIPT) if kilobits]
    heads = ["", "< 3 s old", "worst age", "outside", "corrupt", "frames", "to frame", "changes", "restarts"]
    heads += [f"use of {SCRIPT[part][0]}" for part in steady] + [f"media at {SCRIPT[part][0]}" for part in steady]
    rows, all_reached = [heads], True
    for run, verdict in results:
        changes, restarts = run.changes()
        back = verdict.seconds_to_frame
        row = [run.participant.name, f"{verdict.fresh_share:.1%}", f"{verdict.worst_age:.2f} s",
               f"{verdict.worst_age_connected:.2f} s", str(verdict.corrupt), str(verdict.frames),
               "never" if back is None else f"{back:.2f} s", str(changes) if run.participant.is_ours else "-",
               str(restarts) if run.participant.is_ours else "-"]  # fmt: skip
        row += [f"{run.link_rates[part] / SCRIPT[part][0]:.0%}" for part in steady]
        row += [f"{verdict.media_rates[part]:.0f}" for part in steady]
        rows.append(row)
        if run.participant.is_ours:
            all_reached &= reaches(run, verdict)
    rows.append(["goal", "90 %", "", "3.5 s", "0", "", "1.0 s", "", ""] + ["85 %" if SCRIPT[part][0] < TOP else "" for part in steady] + ["" for _ in steady])
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for row in rows:
        print("  ".join(cell.rjust(width) if column else cell.ljust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))))  # fmt: skip
    print("\n'outside': neither in the blackout nor in the second after it. 'use': bytes on the wire from the 10th second\n"
          "of each part on; a link that carries more than High3 with its audio (2128 kbit/s) cannot be full. 'media':\n"
          "kbit/s of video and audio that arrived then.")
    return all_reached


def reaches(run: Run, verdict: analysis.Verdict) -> bool:
    misses = [
        f"{rate / kilobits:.1%} of {kilobits} used" for rate, (kilobits, _) in zip(run.link_rates, SCRIPT)
        if 0 < kilobits < TOP and rate < GOALS["use"] * kilobits
    ]  # fmt: skip
    if verdict.fresh_share < GOALS["fresh_share"]:
        misses.append(f"{verdict.fresh_share:.1%} under 3 s")
    if verdict.worst_age_connected >= GOALS["worst_age_connected"]:
        misses.append(f"{verdict.worst_age_connected:.2f} s at worst")
    if verdict.corrupt:
        misses.append(f"{verdict.corrupt} corrupt frames")
    if verdict.seconds_to_frame is None or verdict.seconds_to_frame > GOALS["seconds_to_frame"]:
        misses.append(f"{verdict.seconds_to_frame} s to the first frame")
    if misses:
        print(f"MISSED by {run.participant.name}: {'; '.join(misses)}")
    return not misses


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-adapt", description=__doc__)
    parser.add_argument("--ours", action="store_true", help="Tallycam only")
    parser.add_argument("--only", metavar="NAME", help="one run of Tallycam: seamless, restart, Medium3, camera, camera restart")
    parser.add_argument("--size", default="1280x720", help="of the frames (default 1280x720)")
    parser.add_argument("--queue", type=int, default=64_000, help="bytes that the router holds (default 64000)")
    # Cubic, which boards have, is not allowed in namespaces everywhere; Reno fills queues like it.
    parser.add_argument("--congestion-control", default="reno", help="of the publisher's TCP (default reno; bbr)")
    parser.add_argument("--program", default=str(CHECKOUT / "out/x86_64/tallycam"))
    options = parser.parse_args()
    options.width, options.height = map(int, options.size.split("x"))
    OUT.mkdir(parents=True, exist_ok=True)
    frames = make_frames(options)
    results = []
    for participants in rounds(options):
        print(f"{sum(seconds for _, seconds in SCRIPT):.0f} s: {'; '.join(item.name for item in participants)}", flush=True)
        runs = [Run(participant, options, frames) for participant in participants]
        try:
            start = play(runs)
        finally:
            for run in runs:
                run.finish()
        results += [(run, run.verdict(start)) for run in runs]
    return 0 if show(results, options) else 1


if __name__ == "__main__":
    sys.exit(main())
