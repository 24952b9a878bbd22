"""The commands in the documents work: each one is run here, or is listed here with the reason why it cannot be.

They are typed in a folder like the checkout, in a network and a /run of their own. There, a server listens on RTMP's port, and a
camera without hardware is live."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from document_commands import CONSOLE, Block, all_blocks, blocks, unmarked
from documents import CHECKOUT, documents

pytestmark = pytest.mark.takes(minutes=0.6, processors=0.3)

PROGRAM = CHECKOUT / "out/x86_64/tallycam"
# After this, a command hangs. No command needs long.
HUNG = 60

BOARD, COMPUTER, PART = "needs a board, its camera or its console", "changes or needs the reader's computer", "is a part of a command"
OTHERS = "runs another program, in a system that is described"
# Commands that are not run. A test fails for one that no document has.
NOT_RUN = {
    "tallycam target studio off": "needs several targets: test_targets.py",
    "picocom -b 115200 /dev/ttyUSB0": BOARD,
    "screen /dev/ttyUSB0 115200": BOARD,
    "scp out/aarch64/tallycam BOARD:": BOARD,
    "scp -r out/aarch64/share/libcamera/ipa BOARD:/usr/share/libcamera/": BOARD,
    "tallycam run --unattended": BOARD,
    "tallycam page allow": "needs a browser that waits: test_page.py",
    "tallycam page allow --socket camera/socket": "needs a browser that waits: test_page.py",
    "curl -c key -X POST -H 'Origin: http://tallycam.local' http://tallycam.local/api/v1/pairing": BOARD,
    "curl -b key -c key http://tallycam.local/api/v1/pairing": BOARD,
    "awk '$6 == \"tallycam-key\" {print $7}' key": BOARD,
    "tallycam cameras": BOARD,
    "tallycam microphones": BOARD,
    "tallycam> microphones": BOARD,
    "tallycam> set microphone-gain 12": BOARD,
    "tallycam capture --video libcamera": BOARD,
    "tallycam capture --video v4l2:/dev/video0": BOARD,
    "tallycam publish --video libcamera --encoder v4l2 --url URL": BOARD,
    "tallycam publish --video v4l2:/dev/video0 --audio alsa --url URL": BOARD,
    "tallycam publish --video v4l2:/dev/video0,size=1280x720,fps=30,brightness=140 --audio alsa:hw:1,gain=6 --url URL": BOARD,
    "tallycam publish --video v4l2:/dev/video0 --preview drm --url URL": BOARD,
    "tallycam publish --video v4l2:/dev/video0 --preview drm:HDMI-A-1 --url URL": BOARD,
    "tallycam publish --video libcamera:back,size=1280x720,fps=30 --audio alsa:hw:1,gain=6 --url URL": BOARD,
    "tallycam publish --video image:title.png --audio alsa --dimension 720p --url URL": BOARD,
    "tallycam publish --camera stage=libcamera --camera break=movie:break.mp4 --commands --audio alsa --url URL": BOARD,
    "tallycam publish --camera front=libcamera:front --camera back=v4l2:/dev/video0 --audio alsa --commands --url URL": BOARD,
    "tallycam publish --audio alsa:hw:1,gain=6 --audio alsa:hw:2,mute=on --audio raw:music.pcm,rate=48000,channels=2,gain=-12"
    " --url URL": BOARD,
    "tallycam set exposure-time 1/50 gain 2": BOARD,
    "tallycam set zoom 2 focus auto": BOARD,
    "tallycam set exposure locked white-balance locked": BOARD,
    "tallycam set focus-point 0.3,0.6": BOARD,
    "tallycam webcam start": BOARD,
    "tallycam webcam start|stop": BOARD,
    "sudo bmaptool copy --bmap out/rpi0_2w/sdcard.bmap out/rpi0_2w/sdcard.img.xz /dev/sdX": COMPUTER,
    "xz -dc out/rpi0_2w/sdcard.img.xz | sudo dd of=/dev/sdX bs=4M conv=fsync status=progress": COMPUTER,
    "sudo apt install libnginx-mod-rtmp": COMPUTER,
    "sudo systemctl restart nginx": COMPUTER,
    "nc -vz 192.168.1.20 1935": COMPUTER,
    r"printf 'status json\n' | nc -N -U /run/tallycam.sock": COMPUTER,
    "out/x86_64/tallycam recordings /media/STICK/tallycam": COMPUTER,
    "out/x86_64/tallycam recordings --gaps 000123_20261126T133905Z.mp4 --target youtube": COMPUTER,
    "ffplay received.flv": COMPUTER,
    "ffplay stage.flv": COMPUTER,
    "ffplay rtmp://192.168.1.20/live/stage": COMPUTER,
    "mkfifo samples": PART,
    "PROGRAM --frames - --samples samples | out/x86_64/tallycam publish --video raw:-,format=bgra,size=1280x720,fps=30"
    " --audio raw:samples,format=f32le,rate=48000,channels=2 --dimension 720p --url rtmp://127.0.0.1/live/x": PART,
    "tallycam publish --commands": PART,
    "tallycam COMMAND": PART,
    "ffmpeg -c copy": PART,
    "swift build": OTHERS,
    "swift test": OTHERS,
    "v4l2-ctl --list-buffers": OTHERS,
    "echo unicam.0 > /sys/bus/platform/drivers/unicam/unbind": OTHERS,
    "ffmpeg fifo": OTHERS,
    "apt-get upgrade": OTHERS,
}  # fmt: skip
# `make` and the scripts build, test or measure for minutes: of those, the names and options are compared (see below).
PROJECT = re.compile(r"(?:[A-Z_]+=\S+ )?(make|scripts/[\w./-]+)(?= |$)")
# What a reader puts in place of these words.
PLACEHOLDERS = {
    "URL": "rtmp://127.0.0.1/live/x", "BOARD": "rpi4", "FILE": "frame.jpg", "DIRECTORY": "/boot", "CLIP": "trailer.mp4",
    "/media/$USER/TALLYCAM": "camera",
}  # fmt: skip
# Programs that every reader has, or that the text around them asks for.
TOOLS = {"mkdir", "cp", "echo", "sleep", "printf", "ffmpeg", "(sleep"}
# Documented to end so: the text below them says why.
STATUSES = {
    ("docs/reference/commands.md", "out/x86_64/tallycam check board/common/stream.json"): 2,
    ("docs/howto/wifi.md", "tallycam check network.json"): 2,
    # The network of this test ends at its own machine.
    ("docs/develop/debug-on-a-device.md", "tallycam doctor --boot DIRECTORY"): 1,
}
# Commands that end only when they are stopped, with what they print once they work.
ENDLESS = {"receive": "listening on", "publish": "live at rtmp", "events": "\n"}
CLIENTS = {
    "status", "start", "stop", "settings", "quality", "set", "mute", "controls", "filter", "camera", "pause", "snapshot", "torch",
    "webcam", "faults", "events",
}  # fmt: skip
# Of these, those that need no argument.
COMPLETE = {"status", "start", "stop", "settings", "controls", "faults", "events", "snapshot"}


def fate(command: str) -> str | None:
    """Whether it is `run`, `not run`, or one of the `project`'s tools. `None` if this file does not know what it is."""
    if command in NOT_RUN:
        return "not run"
    if PROJECT.match(command):
        return "project"
    if command.startswith(CONSOLE):
        return "run"
    heads = [words.split()[0] for words in re.split(r"[|;]", command)]
    return "run" if all(head in TOOLS or Path(head).name == "tallycam" for head in heads) else None


def unknown(found: list[Block]) -> list[tuple[str, str]]:
    return [(block.document, command) for block in found for command in block.commands if fate(command) is None]


@pytest.mark.parametrize("name", documents())
def test_a_block_of_commands_says_so(name):
    assert unmarked((CHECKOUT / name).read_text()) == []


def test_every_command_is_run_or_listed():
    found = all_blocks()
    assert len(found) > 150 and unknown(found) == []


def test_every_listed_command_is_in_a_document():
    commands = {command for block in all_blocks() for command in block.commands}
    assert NOT_RUN.keys() - commands == set()
    assert {key for key in STATUSES if not any(block.document == key[0] and key[1] in block.commands for block in all_blocks())} == set()


# MARK: The project's own tools


def project_fault(command: str) -> str | None:
    """What is wrong with a command of `make` or a script: its target, its name or an option."""
    tool = PROJECT.match(command)[1]
    if tool == "make":
        script = re.sub(r"\bmake\b", f"make -n -C {CHECKOUT}", command.replace("…", "rpi4"), count=1)
        script = re.sub(r"\d>\S+", "", script).replace("BOARD=BOARD", "BOARD=rpi4")
        result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=HUNG)
        return None if result.returncode == 0 else result.stderr
    path = CHECKOUT / tool
    if not path.exists():
        return f"{tool} does not exist"
    rest = command.split(tool, 1)[1]
    if rest and path.is_file() and not os.access(path, os.X_OK):
        return f"{tool} is not executable"
    text = path.read_text() if path.is_file() else ""
    # Stages and options are those of the test run, which `scripts/test` starts.
    text += (CHECKOUT / "Tests/Runner/run.py").read_text() if tool == "scripts/test" else ""
    missing = [option for option in re.findall(r"(?<=\s)--?[a-z][a-z-]*", rest) if option not in text]
    return f"{tool} has no {missing}" if missing else None


def test_make_and_the_scripts_have_what_the_documents_name():
    commands = sorted({command for block in all_blocks() for command in block.commands if fate(command) == "project"})
    assert len(commands) > 40
    assert {command: fault for command in commands if (fault := project_fault(command))} == {}


# MARK: Places to run commands in

# A folder for the network's and the mounts' namespace. The card's partition and the sockets are in memory.
ENTER = (
    "ip link set lo up && mkdir -p /boot /run && mount -t tmpfs none /run && mount -t tmpfs none /boot && echo ready && "
    "exec sleep infinity"
)
CAMERA = {"cameras": {"stage": "synthetic", "hall": "synthetic"}, "audio": {"source": "silence"}}
STREAM = {"url": "rtmp://127.0.0.1/live", "key": "camera"}
WRONG_NETWORK = {"country": "DE", "wifi": [{"ssid": "Studio", "password": "secret"}]}


class Place:
    """Namespaces and a folder in which a reader types commands."""

    def __init__(self, folder: Path):
        self.folder, self.processes, self.count, self.is_stuck = folder, [], 0, False
        for name in ("out", "board", "docs"):
            (folder / name).symlink_to(CHECKOUT / name)
        (folder / "bin").mkdir()
        (folder / "bin/tallycam").symlink_to(PROGRAM)
        words = ["unshare", "--net", "--mount", "--propagation", "unchanged", "sh", "-c", ENTER]
        self.holder = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == "ready\n"

    def enter(self, script: str) -> list[str]:
        words = ["nsenter", "--target", str(self.holder.pid), "--net", "--mount", "--root", f"--wd={self.folder}"]
        return [*words, "env", f"PATH={self.folder}/bin:{os.environ['PATH']}", "sh", "-c", script]

    def run(self, script: str) -> subprocess.CompletedProcess:
        return subprocess.run(self.enter(script), capture_output=True, text=True, timeout=HUNG, stdin=subprocess.DEVNULL)

    def start(self, script: str, until: str) -> None:
        """Starts a command that does not end, and waits until its output has that text."""
        self.count += 1
        path = self.folder / f"output-{self.count}"
        with path.open("wb") as output:
            process = subprocess.Popen(self.enter(f"exec {script}"), stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        self.processes.append((process, path, script))
        self.wait(lambda: until in path.read_text(), lambda: f"{script}: {path.read_text()}", process)

    def wait(self, is_so, what, process=None) -> None:
        deadline = time.monotonic() + HUNG
        while not is_so():
            assert time.monotonic() < deadline and (process is None or process.poll() in (None, 0)), what()
            time.sleep(0.02)

    def stop(self) -> list[str]:
        """Interrupts what was started, as Ctrl-C does, newest first. What does not end well is returned."""
        faults = []
        for process, path, script in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            status = process.wait(HUNG)
            # A client has nothing to finish, and ends by the signal.
            if status not in (0, -signal.SIGINT) if "events" in script else status != 0:
                faults.append(f"{script}: status {status}: {path.read_text()}")
        self.processes = []
        return faults

    def close(self) -> list[str]:
        faults = self.stop()
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()
        return faults

    # MARK: The camera

    def start_camera(self) -> None:
        folder = self.folder / "camera"
        (folder / "state").mkdir(parents=True, exist_ok=True)
        for name, content in (("device", CAMERA), ("stream", STREAM), ("board", {"name": "Desk"}), ("network", {})):
            for path in (folder / f"{name}.json", self.folder / f"{name}.json"):
                path.write_text(json.dumps(content))
        # A second stream of the same name would be refused.
        (self.folder / "stream.json").write_text(json.dumps({**STREAM, "key": "computer"}))
        (self.folder / "camera/socket").symlink_to("/run/tallycam.sock")
        self.run(f"cp {folder}/*.json /boot")
        self.start("tallycam receive --listen 127.0.0.1:1935", "listening on")
        self.start(f"tallycam run --boot /boot --state {folder}/state --network {folder}/state --simulate-power --log", "")
        self.wait(lambda: self.run("tallycam status").returncode == 0, lambda: "no camera")

    def go_live(self) -> None:
        """So that each command meets the same state, whatever the one before has done."""
        def state() -> str:
            return self.run("tallycam status").stdout.partition("\n")[0].removeprefix("state:").strip()

        assert not self.is_stuck
        self.is_stuck = True
        self.wait(lambda: state() != "disconnecting", state)
        if state() == "paused":
            self.run("tallycam pause off")
        elif state() not in ("live", "degraded"):
            self.run("tallycam start")
        self.wait(lambda: state() in ("live", "degraded"), state)
        self.is_stuck = False


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A camera and its server, and files to work with."""
    folder = tmp_path_factory.mktemp("desk")
    place = Place(folder)
    source = "-loglevel error -f lavfi -i testsrc2=s=1280x720:r=30:d=1 -f lavfi -i sine=d=1 -c:v libx264 -preset ultrafast -c:a aac"
    for name in ("trailer.mp4", "received.flv"):
        made = place.run(f"ffmpeg {source} -bf 0 -pix_fmt yuv420p {name}")
        assert made.returncode == 0, made.stderr
    place.start_camera()
    yield place
    assert place.close() == []


# MARK: Running them


def words_of(command: str) -> list[str]:
    """The program's own command in a line, without what stands before a pipe."""
    return shlex.split(re.split(r"\|\s*(?=\S*tallycam )", command)[-1])


def is_endless(command: str) -> bool:
    words = words_of(command)
    if Path(words[0]).name != "tallycam" or "--help" in words or "|" in command:
        return False
    if "--from-flv" in words or "--from-mp4" in words:
        return False
    if words[1] == "publish" and "--duration" in words:
        return int(words[words.index("--duration") + 1]) > 5
    return words[1] in {"receive", "run", "publish"} or words[1] == "events" and "--follow" in words


def typed(command: str) -> str:
    for word, value in PLACEHOLDERS.items():
        command = re.sub(rf"(?<![\w/=.-]){re.escape(word)}(?![\w=])|(?<=board/){re.escape(word)}(?=/)", lambda _, text=value: text, command)
    return command


def is_mention(command: str) -> bool:
    """`tallycam run` in a sentence, instead of something to type."""
    words = command.split()
    return len(words) == 2 and words[0] == "tallycam" and re.fullmatch(r"[a-z]+", words[1]) is not None and words[1] not in COMPLETE


def result_of(command: str, place: Place) -> tuple[int, str]:
    if command.startswith(CONSOLE):
        # The socket's lines are the console's.
        text = ask(place, command.removeprefix(CONSOLE))
        return (0 if text.startswith("ok") else 1, text.partition("\n")[2])
    result = place.run(typed(command))
    return result.returncode, result.stderr + result.stdout


def ask(place: Place, line: str) -> str:
    """The path leads through the namespaces: a socket is found by its file."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(HUNG)
        connection.connect(f"/proc/{place.holder.pid}/root/run/tallycam.sock")
        connection.sendall(f"{line}\n".encode())
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def shape(line: str) -> str:
    """The first word of a line of output, whatever its numbers are; of a path, the file's name."""
    word = line.split()[0] if line.split() else ""
    return re.sub(r"[\d.]+", "0", word.rpartition("/")[2] if word.startswith("/") else word)


def faults_of(block: Block, place: Place) -> list[str]:
    """What is wrong with the commands that can run, typed one after the other. Endless ones go on in terminals of their own."""
    faults = []
    for command in block.commands:
        if fate(command) != "run":
            continue
        words = words_of(command) if not command.startswith(CONSOLE) else []
        if command.startswith(CONSOLE) or words[1:2] and words[1] in CLIENTS:
            place.go_live()
        if is_mention(command):
            status, output = result_of(f"{command} --help", place)
        elif is_endless(command):
            place.start(typed(command), ENDLESS.get(words[1], ""))
            if words[1] == "run":
                path = words[words.index("--socket") + 1] if "--socket" in words else "/run/tallycam.sock"
                place.wait(lambda path=path: place.run(f"tallycam status --socket {path}").returncode == 0, lambda: "no camera")
            continue
        else:
            status, output = result_of(command, place)
        if status != STATUSES.get((block.document, command), 0):
            faults.append(f"{command}: status {status}: {output}")
        missing = {shape(line) for line in block.output.splitlines()} - {shape(line) for line in output.splitlines()} - {"…"}
        if missing:
            faults.append(f"{command}: prints no line that starts with {missing}: {output}")
    return faults


def needs_own_place(block: Block) -> bool:
    """It starts the server or the camera itself."""
    return any(fate(command) == "run" and is_endless(command) and words_of(command)[1] in {"receive", "run"} for command in block.commands)


RUN = [block for block in all_blocks() if any(fate(command) == "run" for command in block.commands)]


def with_blocks(wanted):
    chosen = [block for block in RUN if wanted(block)]
    return pytest.mark.parametrize("block", chosen, ids=lambda block: f"{block.document}: {block.commands[0]}")


@with_blocks(lambda block: not needs_own_place(block))
def test_the_commands_work(block, desk):
    if block.document == "docs/howto/wifi.md":
        (desk.folder / "network.json").write_text(json.dumps(WRONG_NETWORK))
    try:
        assert faults_of(block, desk) == []
    finally:
        kept, desk.processes = desk.processes[:2], desk.processes[2:]
        faults = desk.stop()
        desk.processes = kept
        (desk.folder / "network.json").write_text("{}")
        shutil.rmtree(desk.folder / "settings", ignore_errors=True)
    assert faults == []


@with_blocks(needs_own_place)
def test_the_commands_with_a_server_or_camera_work(block, tmp_path):
    place = Place(tmp_path)
    try:
        assert faults_of(block, place) == []
    finally:
        faults = place.close()
    assert faults == []
    for name in re.findall(r"--record (\S+)", " ".join(block.commands)):
        assert (tmp_path / name).exists()


# MARK: The checks themselves


@pytest.mark.parametrize(
    "text, found",
    [
        ("```sh\ntallycam a \\\n    --b\n# c\nmake x  # d\n```\n", [("tallycam a --b", "make x")]),
        ("```sh\nffmpeg a |\n    tallycam b\n```\n", [("ffmpeg a | tallycam b",)]),
        ("```console\n$ tallycam a\nb\ntallycam> c\nd\n```\n", [("tallycam a",), ("tallycam> c",)]),
        ("```\na\n```\n", []), ('```json\n{"a": 1}\n```\n', []),
        ("`tallycam a --b`, `tallycam`, `make` and `make x`; `a b`\n", [("tallycam a --b",), ("make x",)]),
        ("`A=1 scripts/test unit`, `set fps 3`\n", [("A=1 scripts/test unit",)]),
    ],
)  # fmt: skip
def test_commands_are_found(text, found):
    assert [block.commands for block in blocks("x.md", text)] == found


@pytest.mark.parametrize("command", ["rm -r x", "tallycam status | jq .", "nc -U a", "tallycam status; reboot"])
def test_an_unknown_command_is_seen(command):
    assert unknown([Block("x.md", (command,))]) == [("x.md", command)]


@pytest.mark.parametrize("text", ["```\ntallycam status\n```\n", "```text\n$ tallycam status\nlive\n```\n", "```\nmake test\n```\n"])
def test_an_unmarked_block_is_seen(text):
    assert len(unmarked(text)) == 1


@pytest.mark.parametrize(
    "command, is_wrong",
    [
        ("make build", False), ("make biuld", True), ("make image BOARD=…", False), ("scripts/test unit -k NAME", False),
        ("scripts/test unit --fast", True), ("scripts/tset unit", True), ("scripts/image --check", False),
    ],
)  # fmt: skip
def test_a_wrong_target_or_option_is_seen(command, is_wrong):
    assert bool(project_fault(command)) == is_wrong


@pytest.mark.parametrize(
    "command, output",
    [
        ("tallycam status --fast", ""), ("tallycam> camera cellar", ""), ("tallycam check nothing.json", ""),
        ("tallycam> camera hall", "the camera was hall"), ("tallycam status", "speed:    live"),
    ],
)  # fmt: skip
def test_a_command_that_fails_or_prints_something_else_is_seen(command, output, desk):
    assert (faults_of(Block("x.md", (command,), output), desk) != []) == (command != "tallycam> camera hall")
