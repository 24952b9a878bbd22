"""A card that is full, read-only or hanging: the camera reports it, continues, and leaves the card alone. CardFilesTests covers
the intervals between attempts, and the minute after which a hanging card is reported."""

import contextlib
import os
import subprocess
import time
from pathlib import Path

import media
import pytest
from appliance import BOARD, DEVICE, LIVE, Appliance, Terminal, cpu_seconds, has_route, plain
from certificates import Certificates
from created_files import Creations
from held_file import ReadHeldFile, held
from scenarios import run_selected
from tallycam import Receiver
from tls_servers import Nginx

pytestmark = pytest.mark.takes(minutes=2.2, processors=0.1)

GOOD = {"url": "rtmp://127.0.0.1:1/live", "key": "x"}
USUAL = "ready" if has_route() else "no network"


@pytest.fixture
def small_boot(children):
    """A 64 kB boot partition; the build root has its own mount namespace."""
    path = children.directory / "boot"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", path], check=True)
    yield path
    children.end_all()
    subprocess.run(["umount", "--lazy", path], check=True)


def wait_for_detail(camera: Appliance, words: str) -> dict:
    status = camera.wait_until(lambda status: words in " ".join(status["details"]))
    assert 9 in [fault["blinks"] for fault in status["faults"]]
    return status


def test_a_full_card_is_retried_rarely_and_written_when_there_is_room(children, small_boot):
    terminal = Terminal()
    board = {**BOARD, "console": terminal.name}
    camera = Appliance(children, stream="{}", board=board)
    camera.wait_for_faults("stream.json")
    camera.write("stream", GOOD)
    camera.wait_for_faults()
    creations = Creations(small_boot)
    full = small_boot / "full"
    with open(full, "wb", buffering=0) as file, pytest.raises(OSError):
        while True:
            file.write(b"x" * 4096)
    # Overwriting the file itself needs no more room.
    camera.write("stream", "{ ")
    wait_for_detail(camera, "cannot be written")
    terminal.wait_for(b"No space left on device")
    camera.process.wait_until(lambda: creations.count(".faults.txt") >= 2, "second attempt")
    assert camera.faults() == "" and camera.console("events 200").count("No space left on device") == 1
    full.unlink()
    camera.wait_for_faults("stream.json")
    # The file is written before the status says so.
    camera.wait_until(lambda status: not any("cannot be written" in detail for detail in status["details"]))
    assert not list(small_boot.glob(".*.tmp"))
    count = creations.count(".faults.txt")
    time.sleep(3)
    assert creations.count(".faults.txt") == count, "what is written is left alone"


def test_a_card_that_stays_read_only_is_reported_and_left_alone(children, small_boot):
    """Without permission to mount, which stands for a card that refuses."""

    class Unprivileged(Appliance):
        prefix = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")

        def start(self):
            subprocess.run(["mount", "-o", "remount,ro", small_boot], check=True)
            return super().start()

    camera = Unprivileged(children, stream="{}")
    status = wait_for_detail(camera, "mount ")
    assert "Operation not permitted" in " ".join(status["details"])
    assert [fault["blinks"] for fault in status["faults"]][0] == 2
    before = cpu_seconds(camera)
    time.sleep(5)
    assert cpu_seconds(camera) - before < 0.3
    assert camera.console("events 200").count("Operation not permitted") == 1
    assert camera.process.interrupt_and_wait() == 0


def is_reading_pipe(camera: Appliance) -> bool:
    """Whether a thread is blocked in open(2), waiting for the pipe's writer."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        # A thread may end between listing and checking it.
        threads = Path(f"/proc/{camera.process.child.pid}/task").iterdir()
        return any("wait_for_partner" in (thread / "wchan").read_text() for thread in threads)
    return False


def test_a_hanging_card_delays_nothing(children):
    """A pipe without a writer in place of faults.txt: anyone who reads it blocks forever, as with a dying card."""
    receiver = Receiver(children)
    watchdog = Terminal()
    camera = Appliance(children, stream=plain(receiver.url()), board={**BOARD, "watchdog": watchdog.name})
    camera.wait_for(USUAL)
    os.mkfifo(camera.boot / "faults.txt")
    camera.write("network", {"hostName": "my camera"})
    camera.process.wait_until(lambda: is_reading_pipe(camera), "thread that waits for the card")
    start = time.monotonic()
    # The control socket is served by the thread that also serves the button.
    for _ in range(20):
        assert camera.console("status json").startswith("ok\n")
    # A stream starts, runs and ends meanwhile.
    assert camera.ask("start").child.returncode == 0
    camera.wait_for("live")
    camera.ask("stop")
    camera.wait_for("fault")
    # A watched thread may hang for 8 s; a restart would not help here.
    time.sleep(max(0, start + 10 - time.monotonic()))
    fed = len(read_all(watchdog))
    camera.process.wait_until(lambda: len(read_all(watchdog)) > fed, "food for the watchdog")
    assert is_reading_pipe(camera)
    # It answers again.
    let_it_answer(camera)
    camera.wait_for_faults("hostName")
    camera.write("network", None)
    camera.wait_for_faults()


def with_watermark(children) -> tuple[Path, dict]:
    path = children.directory / "logo.png"
    words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=red:s=32x32:d=1", "-frames:v", "1", path]
    subprocess.run(words, check=True)
    device = {**DEVICE, "filters": [{"filter": "image", "file": str(path)}]}
    return path, {"device": device, "stream": plain(Receiver(children).url())}


def with_certificates(children) -> tuple[Path, dict]:
    certificates = Certificates(children.directory / "tls", ["p256"])
    target = Receiver(children).port
    port = Nginx(children, certificates, ["p256"], target).ports["p256", "both"]
    path = certificates.path("ca.pem")
    return path, {"stream": {"url": f"rtmps://localhost:{port}/live", "key": "x", "caFile": str(path)}}


HANGING = {"the image of a filter": with_watermark, "the certificates": with_certificates}


@pytest.fixture(scope="module")
def hanging(request, tmp_path_factory):
    runs = run_selected(request, tmp_path_factory.mktemp("hanging"), stream_beside_a_hanging_card)
    yield runs
    runs.end()


@pytest.mark.parametrize("case", HANGING)
def test_a_card_that_hangs_during_a_stream_is_a_fault_but_causes_no_restart(hanging, case):
    """The stream continues with the known contents of the file. HangingCardTests show in virtual time how long each thread
    waits."""
    hanging.result(case)


def stream_beside_a_hanging_card(children, case):
    path, files = HANGING[case](children)
    watchdog = Terminal()
    camera = Appliance(children, board={**BOARD, "watchdog": watchdog.name}, **files)
    camera.wait_for(USUAL)
    with held(path) as file:
        # As far as can be seen, the file has changed, so it must be read again to start a stream.
        os.utime(path)
        camera.process.wait_until(lambda: file.is_waited_for, "thread that reads the file")
        for _ in range(2):
            assert camera.ask("start").child.returncode == 0
            camera.wait_for("live")
            camera.ask("stop")
            camera.wait_until(lambda status: status["state"] not in (*LIVE, "connecting"))
        # A watched thread may hang for 8 s.
        wait_for_detail(camera, "the card has not responded for more than 60 s")
        fed = len(read_all(watchdog))
        camera.process.wait_until(lambda: len(read_all(watchdog)) > fed, "food for the watchdog")
        events = camera.console("events 200")
        assert "hangs" not in events and "restart" not in events, events
        assert file.is_waited_for and camera.process.running
    camera.wait_until(lambda status: not any(fault["blinks"] == 9 for fault in status["faults"]))
    camera.ask("start")
    camera.wait_for("live")


@pytest.fixture(scope="module")
def movie(tmp_path_factory):
    path = tmp_path_factory.mktemp("movies") / "loop.mp4"
    media.run_ffmpeg(
        "-f", "lavfi", "-i", "testsrc=s=320x240:r=25:d=4", "-f", "lavfi", "-i", "sine=1000:r=48000:d=4",
        "-c:v", "libx264", "-g", 25, "-pix_fmt", "yuv420p", "-c:a", "aac", path,
    )  # fmt: skip
    return path


def has_camera_fault(status: dict) -> bool:
    return 4 in [fault["blinks"] for fault in status["faults"]]


def with_movie(children, movie: Path) -> tuple[Appliance, Terminal]:
    watchdog = Terminal()
    camera = Appliance(
        children, stream=plain(Receiver(children).url()), device={**DEVICE, "camera": f"movie:{movie}"},
        board={**BOARD, "watchdog": watchdog.name},
    )  # fmt: skip
    camera.wait_for(USUAL)
    return camera, watchdog


def assert_fed(camera: Appliance, watchdog: Terminal) -> None:
    fed = len(read_all(watchdog))
    camera.process.wait_until(lambda: len(read_all(watchdog)) > fed, "food for the watchdog")
    assert camera.process.running and "hangs" not in camera.console("events 200")


def test_a_movie_that_cannot_be_opened_on_a_hanging_card_is_a_camera_fault(children, movie):
    camera, watchdog = with_movie(children, movie)
    with held(movie) as file:
        assert camera.ask("start").child.returncode == 0
        camera.process.wait_until(lambda: file.is_waited_for, "thread that opens the movie")
        camera.wait_until(has_camera_fault)
        assert_fed(camera, watchdog)
        camera.ask("stop")
        camera.wait_until(lambda status: status["state"] in (USUAL, "fault"))
    camera.ask("start")
    assert not has_camera_fault(camera.wait_for("live"))


def test_a_movie_whose_card_hangs_while_live_is_lost_like_a_camera(children, movie):
    """The last frame is repeated, with silence. Every press is obeyed at once."""
    camera, watchdog = with_movie(children, movie)
    with held(movie, ReadHeldFile) as file:
        camera.ask("start")
        camera.wait_for("live")
        file.hold()
        assert camera.wait_until(has_camera_fault)["state"] in LIVE
        # A watched thread may hang for 8 s.
        time.sleep(10)
        assert_fed(camera, watchdog)
        assert camera.status()["state"] in LIVE
        camera.ask("stop")
        camera.wait_until(lambda status: status["state"] == USUAL and not has_camera_fault(status))
        camera.ask("start")
        camera.wait_until(has_camera_fault)
    assert not has_camera_fault(camera.wait_for("live"))


def let_it_answer(camera: Appliance) -> None:
    pipe = camera.boot / "faults.txt"
    os.close(os.open(pipe, os.O_WRONLY))
    # From now on, every reader of the pipe blocks too.
    camera.process.wait_until(lambda: not pipe.is_fifo(), "file in the pipe's place")


def read_all(terminal: Terminal) -> bytes:
    os.set_blocking(terminal.master, False)
    try:
        while block := os.read(terminal.master, 4096):
            terminal.seen += block
    except BlockingIOError:
        pass
    return terminal.seen


@pytest.mark.parametrize("kind", ["answers late", "never answers"])
def test_a_power_off_waits_for_the_card_but_not_forever(children, kind):
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    # The camera must know the fault before anything can block on the pipe.
    camera.write("stream", "{}")
    camera.wait_for_faults("stream.json")
    os.mkfifo(camera.boot / "pipe")
    os.replace(camera.boot / "pipe", camera.boot / "faults.txt")
    camera.write("stream", "{ ")
    camera.process.wait_until(lambda: is_reading_pipe(camera), "thread that waits for the card")
    start = time.monotonic()
    assert "powering off" in camera.console("poweroff")
    time.sleep(2)
    assert camera.process.running
    if kind == "answers late":
        let_it_answer(camera)
        assert camera.process.wait() == 0
        assert "stream.json" in camera.faults() and "powering off" in camera.events()
    else:
        assert camera.process.wait() == 0
        assert time.monotonic() - start > 9


def test_leftovers_of_a_power_cut_are_removed(children):
    boot, state = children.directory / "boot", children.directory / "state"
    for folder in (boot, state):
        folder.mkdir()
    left = [boot / ".faults.txt.311.4.tmp", boot / ".events.txt.311.5.tmp", state / ".events.311.6.tmp"]
    others = [boot / ".notes.txt.311.4.tmp", boot / "faults.txt.tmp", state / ".nonce-a.1.1.tmp"]
    for path in [*left, *others]:
        path.write_text("cut off")
    (boot / "faults.txt").write_text("of a run that the power cut ended")
    camera = Appliance(children, stream=GOOD)
    camera.wait_for(USUAL)
    camera.wait_for_faults()
    assert camera.process.interrupt_and_wait() == 0
    assert not [path for path in left if path.exists()]
    assert all(path.exists() for path in others)
