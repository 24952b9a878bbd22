"""The preview: what a display shows during a stream, and that the stream does not depend on it. vkms has planes like a board's
display hardware, and is read back through its writeback connector. virtio-gpu accepts no YUV, and is read back by QEMU."""

import random
import re
import subprocess
from pathlib import Path

import numpy
import pytest
from encoder import Appliance, Publisher, Stream, assert_decodes, set_faults
from guest_programs import HERE, compile_for_guest
from leases import ENCODER_HOLDS, Leases, mount_debug
from seeds import seed_of_this_run
from waiting import wait_until

pytestmark = pytest.mark.takes(minutes=6.4, processors=0.2)
BOARD_OPTIONS = {"display": True}

WIDTH, HEIGHT = 640, 360
CAMERA = f"v4l2:/dev/video0,size={WIDTH}x{HEIGHT},format=NV12"
# A frame that the encoder copies has 345 kB: at a higher rate the guest on a slow machine would lose some.
SLOW_CAMERA = f"{CAMERA},fps=5"
LEASE = (f"--dimension {WIDTH}x{HEIGHT}", "--quality Low3", "--adapt nothing")
# Who may hold a buffer's memory while no program reads it: the leased descriptor and the encoder; and the display with the
# kernel's import for it, the card's list of the program's imports, and a descriptor while it takes a frame.
UNSEEN = 1 + ENCODER_HOLDS
# The clock is written into each frame: the processor's mapping stays.
SEEN = UNSEEN + 1
DISPLAY_HOLDS = 3
# vkms' own mode, and the video's area in it.
SCREEN = 1024, 768
VIDEO = numpy.s_[96 : 96 + 576, 0:1024]
# The mean difference, of 255. Scalers and converters differ at the edges of colored areas.
ALIKE = 2.0


@pytest.fixture(scope="module")
def reader(booted, tmp_path_factory):
    """In the guest: the program that reads back what another one shows."""
    booted.put("/tmp/screen", compile_for_guest(HERE / "screen.c", tmp_path_factory.mktemp("screen")), "755")


class Display:
    """A graphics card of the guest, by its driver's module."""

    def __init__(self, board, module: str, words: str = ""):
        self.board = board
        self.module = module
        before = set(self._connectors())
        board.run(f"modprobe {module} {words}")
        (self.path,) = [path for path in self._connectors() if path not in before]
        self.connector = re.search(r"card\d+-(.*)", self.path)[1]

    def _connectors(self) -> list[str]:
        return self.board.run("ls -d /sys/class/drm/card*-Virtual-* 2>/dev/null", check=False).text.split()

    def plug(self, state: str) -> None:
        """`on`, `off`, or `detect` (its real state)."""
        self.board.run(f"echo {state} > {self.path}/status")

    def state(self) -> str:
        """The kernel's report about its planes."""
        mount_debug(self.board)
        number = re.search(r"card(\d+)-", self.path)[1]
        return self.board.run(f"cat /sys/kernel/debug/dri/{number}/state").text

    def planes(self) -> list[str]:
        """The planes that show something, from back to front."""
        parts = re.split(r"^plane\[", self.state().split("\ncrtc[")[0], flags=re.MULTILINE)[1:]
        return [part for part in parts if "\tfb=0" not in part]

    def end(self) -> None:
        self.board.end_all()
        for path in self.board.run("ls -d /sys/class/vtconsole/vtcon*").text.split():
            self.board.run(f"grep -q 'frame buffer' {path}/name && echo 0 > {path}/bind", check=False)
        self.board.run(f"rmmod {self.module}")


@pytest.fixture
def hdmi(encoder, reader):
    """A display like a board's hardware: planes for YUV and for words, which scale."""
    display = Display(encoder, "vkms", "enable_overlay=1")
    yield display
    display.end()


@pytest.fixture
def plain(encoder):
    """A display that accepts RGB only."""
    display = Display(encoder, "virtio-gpu")
    yield display
    display.end()


def read_back(program: Publisher | Appliance) -> numpy.ndarray:
    """The content of vkms' screen; the program is stopped for a moment."""
    pid = program.process.pid
    program.board.run(f"/tmp/screen {pid} > /tmp/screen.ppm; status=$?; kill -CONT {pid}; exit $status")
    return pixels(program.board.get("/tmp/screen.ppm"))


def pixels(ppm: bytes) -> numpy.ndarray:
    magic, size, depth, data = ppm.split(b"\n", 3)
    assert (magic, depth) == (b"P6", b"255")
    width, height = map(int, size.split())
    return numpy.frombuffer(data, numpy.uint8).reshape(height, width, 3)


def received(stream: Stream, matrix: str = "bt601") -> numpy.ndarray:
    """The last copied frame as the server received it, as RGB, in the range that the stream declares."""
    copied = [index for index, frame in enumerate(stream.recording.frames) if len(frame.body) > WIDTH * HEIGHT]
    run = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(stream.recording.path), "-vf",
         f"select=eq(n\\,{copied[-1]}),scale={WIDTH}:{HEIGHT}:in_color_matrix={matrix}:flags=accurate_rnd+full_chroma_int,"
         "format=rgb24",
         "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
        capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    return numpy.frombuffer(run.stdout, numpy.uint8).reshape(HEIGHT, WIDTH, 3)


def in_size_of_stream(image: numpy.ndarray) -> numpy.ndarray:
    """For each of the stream's pixels, the pixel of the screen that shows it."""
    rows = (2 * numpy.arange(HEIGHT) + 1) * image.shape[0] // (2 * HEIGHT)
    columns = (2 * numpy.arange(WIDTH) + 1) * image.shape[1] // (2 * WIDTH)
    return image[rows][:, columns]


def difference(shown: numpy.ndarray, sent: numpy.ndarray) -> float:
    """Compares the area above the words, which cover the lower edge."""
    part = numpy.s_[: HEIGHT * 5 // 6]
    return numpy.abs(shown[part].astype(int) - sent[part].astype(int)).mean()


def still_camera(board) -> None:
    """Uses the camera's test pattern without its clock, so that all frames are the same."""
    board.run("v4l2-ctl -d /dev/video0 -c osd_text_mode=2")


def wait_shown(publisher: Publisher) -> None:
    """Waits until frames are on the screen. By then the preview has settled how it shows them."""
    publisher.wait_status(lambda status: status.get("previewFrames", 0) > 5, 60)


def let_frames_be_copied(publisher: Publisher) -> None:
    """Makes the encoder copy some frames unchanged, so that the server gets them sample by sample. Only some, as they are too
    large for a slow machine's network, and with other frames after them, so that they have arrived when the stream ends.
    The number of frames is up to a second old, five or six frames."""
    for lossless in (1, 0):
        set_faults(publisher.board, lossless=lossless)
        publisher.wait_frames(publisher.frames + 10)


def assert_each_is_shown_or_lost(stream) -> None:
    """Checks that while a display is lit, each frame for the encoder is offered to it, and counted when the next one
    follows."""
    lit = [status for status in stream.of("status") if status.get("previewFrames", 0) > 0]
    first, last = lit[0], lit[-1]
    assert last["sourceFrames"] > first["sourceFrames"] + 20
    grown = {name: last[name] - first[name] for name in last if name.startswith(("preview", "source", "videoDecimated"))}
    offered = grown["sourceFrames"] + grown["sourceRepeated"] - grown["videoDecimated"]
    # One waiting, one being shown, and one between the camera and the display.
    assert abs(offered - grown["previewFrames"] - grown["previewLost"]) <= 3, (first, last)


def assert_whole(stream, is_converted: bool = False) -> None:
    """Checks that the preview cost the published stream nothing."""
    assert_decodes(stream)
    assert 1104 not in stream.codes and 1103 not in stream.codes, stream.codes
    last = stream.of("status")[-1]
    assert last["sourcePasses"] == 0, last
    # Filters read each frame.
    assert is_converted or "filters" in last or last["sourceMapped"] == 0, last
    assert last["previewFrames"] > 0, last
    assert last["previewConverted"] == (last["previewFrames"] if is_converted else 0), last


def assert_held_soon(leases: Leases, at_most: int) -> None:
    """Waits until few enough hold the buffers. A program that queries the kernel about a buffer holds it during the call, and a
    card that was just closed releases its imports a moment after the next one has made its own. Whatever is kept for good is
    still held later."""
    end = leases.board.seconds + 5
    while True:
        try:
            return leases.assert_held(at_most)
        except AssertionError:
            if leases.board.seconds > end:
                raise


# The encoder's frames themselves.


def test_the_screen_shows_what_the_server_gets(hdmi, nginx):
    board = hdmi.board
    still_camera(board)
    publisher = Publisher(board, nginx, "preview", *LEASE, f"--preview drm:{hdmi.connector}", source=SLOW_CAMERA)
    wait_shown(publisher)
    leases = Leases(board)
    video, words = hdmi.planes()
    assert "format=NV12" in video and "imported=yes" in video and f"size={WIDTH}x{HEIGHT}" in video, video
    assert "crtc-pos=1024x576+0+96" in video and "color-encoding=ITU-R BT.601" in video, video
    assert "format=AR24" in words, words
    screen = read_back(publisher)
    assert screen.shape == (SCREEN[1], SCREEN[0], 3)
    publisher.wait_frames(publisher.frames + 20)
    leases.assert_return()
    assert_held_soon(leases, UNSEEN + DISPLAY_HOLDS)
    let_frames_be_copied(publisher)
    stream = publisher.stop()
    assert_whole(stream)
    assert_each_is_shown_or_lost(stream)
    # Everything except the words, which cover the lowest part of the video, and the bars above and below.
    shown, sent = in_size_of_stream(screen[VIDEO]), received(stream)
    assert difference(shown, sent) < ALIKE, f"the screen differs from the stream by {difference(shown, sent):.1f} of 255"
    assert screen[:96].max() == 0, "something is above the video"
    # Checks that this measure can fail.
    assert difference(shown, sent[:, ::-1]) > 20 * ALIKE


def test_the_screen_uses_the_cameras_color_space(hdmi, nginx):
    """Here the camera has BT.709's matrix and the full range."""
    board = hdmi.board
    still_camera(board)
    board.run("v4l2-ctl -d /dev/video0 -c colorspace=1,y_cbcr_encoding=2,quantization=1")
    try:
        publisher = Publisher(board, nginx, "colors", *LEASE, f"--preview drm:{hdmi.connector}", source=SLOW_CAMERA)
        wait_shown(publisher)
        video = hdmi.planes()[0]
        assert "color-encoding=ITU-R BT.709" in video and "color-range=YCbCr full range" in video, video
        screen = read_back(publisher)
        let_frames_be_copied(publisher)
        stream = publisher.stop()
    finally:
        board.run("v4l2-ctl -d /dev/video0 -c colorspace=2,y_cbcr_encoding=0,quantization=0")
    shown = in_size_of_stream(screen[VIDEO])
    assert difference(shown, received(stream, "bt709")) < ALIKE
    assert difference(shown, received(stream, "bt601")) > 2 * ALIKE, "both matrices look alike"


def test_words_are_in_front_of_the_video(hdmi, nginx):
    publisher = Publisher(hdmi.board, nginx, "words", *LEASE, f"--preview drm:{hdmi.connector}", source=CAMERA)
    wait_shown(publisher)
    # The strip is drawn for 640 pixels, and scaled.
    assert_says_live(read_back(publisher), strip=91)
    assert_whole(publisher.stop())


def assert_says_live(screen: numpy.ndarray, strip: int) -> None:
    """Checks for a tally light: red letters of the headline, white ones below it, in the lowest `strip` rows."""
    words = screen[-strip:].astype(int)
    red = (words[..., 0] > 200) & (words[..., 1] < 140) & (words[..., 2] < 140)
    white = words.min(axis=2) > 240
    headline = strip * 30 // 57
    assert red[:headline].sum() > 500 and white[headline:].sum() > 500, (red.sum(), white.sum())
    assert not red[strip * 37 // 57 :].any()


def test_hardware_without_scaling_shows_frames_in_their_size(encoder, reader, nginx):
    display = Display(encoder, "vkms", "enable_overlay=1 scaling=0")
    try:
        still_camera(encoder)
        publisher = Publisher(encoder, nginx, "less", *LEASE, f"--preview drm:{display.connector}", source=SLOW_CAMERA)
        wait_shown(publisher)
        assert "format=NV12" in display.planes()[0] and len(display.planes()) == 2
        screen = read_back(publisher)
        let_frames_be_copied(publisher)
        stream = publisher.stop()
    finally:
        display.end()
    assert_whole(stream)
    # In the original size, centered.
    video = screen[204 : 204 + HEIGHT, 192 : 192 + WIDTH]
    sent = received(stream)
    assert numpy.abs(video.astype(int) - sent.astype(int)).mean() < 2
    assert screen[:200].max() == 0 and screen[:, :190][:600].max() == 0


def test_pooled_frames_are_copied_for_a_plane_that_takes_yuv(hdmi, nginx):
    publisher = Publisher(hdmi.board, nginx, "pooled", *LEASE, f"--preview drm:{hdmi.connector}", source="synthetic")
    wait_shown(publisher)
    assert "format=YU12" in hdmi.planes()[0] and "imported=no" in hdmi.planes()[0]
    stream = publisher.stop()
    assert_decodes(stream)
    last = stream.of("status")[-1]
    assert 0 < last["previewConverted"] == last["previewFrames"], last


# Drawn by the processor.


def test_words_are_drawn_with_the_video_where_no_plane_is_in_front_of_it(encoder, reader, nginx):
    """The display accepts YUV, and has one plane: frames are converted together with the words, separately from the encoder's
    frames."""
    display = Display(encoder, "vkms", "enable_overlay=0")
    try:
        still_camera(encoder)
        publisher = Publisher(encoder, nginx, "single", *LEASE, f"--preview drm:{display.connector}", source=SLOW_CAMERA)
        wait_shown(publisher)
        (plane,) = display.planes()
        assert "format=XR24" in plane and "imported=no" in plane, plane
        screen = read_back(publisher)
        leases = Leases(encoder)
        leases.assert_return()
        let_frames_be_copied(publisher)
        stream = publisher.stop()
    finally:
        display.end()
    assert_whole(stream, is_converted=True)
    assert stream.of("previewLit")[0]["converted"] is True
    assert_says_live(screen, strip=57)
    sent = received(stream)
    assert difference(in_size_of_stream(screen[VIDEO]), sent) < ALIKE
    # Nothing was written into the sent frames: the test pattern's rows are all alike.
    assert (sent == sent[0]).all()


def test_a_display_without_yuv_gets_converted_frames(plain, nginx):
    board = plain.board
    still_camera(board)
    publisher = Publisher(board, nginx, "drawn", *LEASE, f"--preview drm:{plain.connector}", source=CAMERA)
    wait_shown(publisher)
    screen = pixels(board.screenshot().read_bytes())
    leases = Leases(board)
    leases.assert_return()
    let_frames_be_copied(publisher)
    stream = publisher.stop()
    assert_whole(stream, is_converted=True)
    assert stream.of("previewLit")[0]["converted"] is True
    # At a reduced rate, of fifteen per second.
    status = stream.of("status")
    seconds = status[-1]["t"] - status[0]["t"]
    assert (status[-1]["previewFrames"] - status[0]["previewFrames"]) / seconds < 11
    assert status[-1]["previewLost"] > 0
    height, width = screen.shape[:2]
    tall = width * HEIGHT // WIDTH
    top = (height - tall) // 2
    shown, sent = in_size_of_stream(screen[top : top + tall]), received(stream)
    assert difference(shown, sent) < ALIKE, difference(shown, sent)
    assert screen[: top - 2].max() == 0


def test_a_display_comes_and_goes(plain, nginx):
    board = plain.board
    plain.plug("off")
    publisher = Publisher(board, nginx, "plugged", *LEASE, "--preview drm", source=CAMERA)
    publisher.wait_frames(20)
    (dark,) = [event for event in publisher.events if event["name"] == "previewDark"]
    assert "no display is connected" in dark["reason"], dark
    for turn in range(1, 3):
        plain.plug("on")
        publisher.process.wait_for(rf'(?s)(previewLit.*){{{turn}}}', 20)
        before = publisher.last_status["previewFrames"]
        publisher.wait_status(lambda status, before=before: status["previewFrames"] > before, 20)
        plain.plug("off")
        publisher.process.wait_for(rf'(?s)(the display was unplugged.*){{{turn}}}', 20)
    publisher.wait_frames(publisher.frames + 20)
    stream = publisher.stop()
    plain.plug("detect")
    assert_whole(stream, is_converted=True)
    names = [event["name"] for event in stream.events if event["name"].startswith("preview")]
    assert names == ["previewDark"] + ["previewLit", "previewDark"] * 2


def test_a_card_is_removed_and_returns(plain, nginx):
    board = plain.board
    publisher = Publisher(board, nginx, "away", *LEASE, "--preview drm", source=CAMERA)
    publisher.wait_status(lambda status: status["previewFrames"] > 0, 60)
    slot = board.run(f"readlink -f {plain.path}/device/device").text.strip()
    board.run(f"echo 1 > {slot}/remove")
    publisher.process.wait_for("previewDark", 20)
    publisher.wait_frames(publisher.frames + 30)
    board.run("echo 1 > /sys/bus/pci/rescan")
    publisher.process.wait_for("(?s)previewDark.*previewLit", 30)
    before = publisher.last_status["previewFrames"]
    publisher.wait_status(lambda status: status["previewFrames"] > before, 20)
    stream = publisher.stop()
    assert_whole(stream, is_converted=True)
    assert len(stream.of("previewDark")) == 1


def test_failing_modes_are_replaced_by_smaller_ones(hdmi, nginx):
    """The display offers its modes, and the driver refuses to set them: at first the wide ones, then, while one is lit, all."""
    board = hdmi.board
    widest = "/sys/module/vkms/parameters/widest"
    board.run(f"echo {SCREEN[0] - 1} > {widest}")
    publisher = Publisher(board, nginx, "modes", *LEASE, f"--preview drm:{hdmi.connector}", source=SLOW_CAMERA)
    wait_shown(publisher)
    leases = Leases(board)
    assert read_back(publisher).shape == (600, 800, 3)
    board.run(f"echo 1 > {widest}")
    publisher.process.wait_for("previewDark", 20)
    publisher.wait_frames(publisher.frames + 20)
    leases.assert_return()
    assert_held_soon(leases, UNSEEN)
    board.run(f"echo 0 > {widest}")
    publisher.process.wait_for("(?s)previewDark.*previewLit", 40)
    before = publisher.last_status["previewFrames"]
    publisher.wait_status(lambda status: status["previewFrames"] > before, 20)
    assert read_back(publisher).shape == (SCREEN[1], SCREEN[0], 3)
    stream = publisher.stop()
    assert_whole(stream)
    lit, dark = stream.of("previewLit"), stream.of("previewDark")
    assert ["800x600" in event["display"] for event in lit] == [True, False], lit
    assert len(dark) == 1 and "Invalid argument" in dark[0]["reason"], dark


def test_another_program_keeps_the_display(hdmi, nginx):
    board = hdmi.board
    first = Publisher(board, nginx, "first", "--dimension 320x240 --quality Low1", f"--preview drm:{hdmi.connector}")
    first.wait_frames(10)
    second = Publisher(board, nginx, "second", "--dimension 320x240 --quality Low1", f"--preview drm:{hdmi.connector}")
    second.wait_frames(10)
    (dark,) = [event for event in second.events if event["name"] == "previewDark"]
    assert "another program" in dark["reason"], dark
    first.stop()
    second.process.wait_for("previewLit", 20)
    second.wait_status(lambda status: status["previewFrames"] > 0, 20)
    assert_decodes(second.stop())


def test_a_missing_connector_is_named(encoder, nginx):
    publisher = Publisher(encoder, nginx, "none", "--dimension 320x240 --quality Low1", "--preview drm:HDMI-A-1")
    publisher.wait_frames(10)
    stream = publisher.stop()
    (dark,) = stream.of("previewDark")
    assert "no card for displays" in dark["reason"], dark
    assert_decodes(stream)


# Faults at random.


def trouble(rng: random.Random, display: Display) -> None:
    """Something happens to the display, or silently to the encoder."""
    kind = rng.choice(["pulled", "loose", "skips", "slow", "looked at"])
    match kind:
        case "pulled":
            display.plug("off")
            display.board.sleep(rng.uniform(1, 5))
            display.plug("on")
        case "loose":
            for state in ["off", "on"] * rng.randint(2, 5):
                display.plug(state)
                display.board.sleep(rng.uniform(0, 0.3))
        case "skips":
            set_faults(display.board, skip_every=rng.randint(2, 12))
            display.board.sleep(rng.uniform(1, 3))
            set_faults(display.board, skip_every=0)
        case "slow":
            set_faults(display.board, frame_ms=rng.choice([20, 36, 60]))
        case "looked at":
            # Occupies the driver.
            display.board.run(f"cat {display.path}/modes {display.path}/edid > /dev/null")
            display.state()


@pytest.mark.parametrize(
    "seconds", [40, pytest.param(300, marks=[pytest.mark.slow, pytest.mark.takes(minutes=6)])]
)
def test_faults_of_the_display_do_not_affect_the_stream(hdmi, nginx, seconds, capsys):
    board = hdmi.board
    rng = random.Random(seed_of_this_run())
    # With a clock in the frames, as most users would have it.
    clock = "--filter 'text,text=Studio {time},position=top-right'"
    publisher = Publisher(board, nginx, "faults", *LEASE, clock, f"--preview drm:{hdmi.connector}", source=CAMERA)
    publisher.wait_frames(20)
    leases = Leases(board)
    end = board.seconds + seconds
    while board.seconds < end:
        trouble(rng, hdmi)
        leases.assert_return()
        assert_held_soon(leases, SEEN + DISPLAY_HOLDS)
        board.sleep(rng.uniform(0, 2))
    hdmi.plug("off")
    publisher.wait_frames(publisher.frames + 60)
    # The display's holds end with it.
    assert_held_soon(leases, SEEN)
    hdmi.plug("on")
    before = publisher.last_status["previewFrames"]
    publisher.wait_status(lambda status: status["previewFrames"] > before, 20)
    stream = publisher.stop()
    hdmi.plug("detect")
    with capsys.disabled():
        print(f"\n  {leases}; {len(stream.of('previewDark'))} times dark, {len(stream.of('previewLit'))} times lit")
    assert_whole(stream)
    assert stream.of("previewDark")
    last = stream.of("status")[-1]
    assert last["filterFrames"][0] >= last["videoFrames"] > 0, last


# The appliance.


def test_the_display_shows_the_cameras_state(plain, nginx):
    board = plain.board
    still_camera(board)
    device = {"camera": "/dev/video0", "dimension": f"{WIDTH}x{HEIGHT}", "preview": "hdmi"}
    camera = Appliance(board, nginx, "appliance", **device)

    def colors(part: numpy.ndarray) -> int:
        return len(numpy.unique(part.reshape(-1, 3) // 64, axis=0))

    def screen_when(condition, what: str) -> numpy.ndarray:
        def screen() -> tuple[numpy.ndarray] | None:
            shown = pixels(board.screenshot().read_bytes())
            return (shown,) if condition(shown) else None

        return wait_until(screen, 20, what, interval=0.5)[0]

    # White words on black, at the top.
    page = screen_when(lambda screen: (screen[:300].min(axis=2) > 240).sum() > 2000, "no page")
    assert colors(page) <= 4 and page[400:].max() == 0
    camera.live_with()
    screen_when(lambda screen: colors(screen[: len(screen) // 2]) > 5, "no video")

    def red(screen: numpy.ndarray) -> numpy.ndarray:
        return (screen[-300:, :, 0] > 200) & (screen[-300:, :, 1] < 120) & (screen[-300:, :, 1] > 60)

    # The words follow the state within a quarter of a second.
    screen_when(lambda screen: red(screen).sum() > 500, "nothing says live")
    camera.stop()
    screen_when(lambda screen: colors(screen) <= 4, "the video stays")
    assert "the preview is on" in camera.events


def has_video(display: Display) -> bool:
    planes = display.planes()
    return len(planes) == 2 and "format=NV12" in planes[0] and "imported=yes" in planes[0]


def test_an_always_on_camera_is_shown_without_a_stream(hdmi, nginx):
    board = hdmi.board
    still_camera(board)
    device = {"camera": "/dev/video0", "dimension": f"{WIDTH}x{HEIGHT}", "mirrored": True,
              "preview": {"display": "hdmi", "camera": "always"}}  # fmt: skip
    camera = Appliance(board, nginx, "always", **device)

    def wait_for_video() -> None:
        wait_until(lambda: has_video(hdmi), 20, "no video")

    def descriptors() -> int:
        return int(board.run(f"ls /proc/{camera.process.pid}/fd | wc -l").text)

    wait_for_video()
    leases = Leases(board)
    leases.assert_return()
    # No encoder holds a buffer.
    assert_held_soon(leases, 1 + DISPLAY_HOLDS)
    before = read_back(camera)
    # Mirrored as in the stream: the bars end with white instead of black on the right.
    video = before[VIDEO].astype(int)
    assert video[:400, -60:].mean() > 150 > 50 > video[:400, :60].mean()
    strip = before[-91:].astype(int)
    assert (strip.min(axis=2) > 240).sum() > 500, "no words"
    open_files = descriptors()
    assert camera.ask("start") == "connecting\n"
    camera.wait(lambda status: status["state"] == "live" and "encoder" in status)
    wait_for_video()
    live = read_back(camera)
    leases.assert_return()
    camera.stop()
    wait_for_video()
    assert difference(live[VIDEO], before[VIDEO]) < 0.1
    after = read_back(camera)
    assert difference(after[VIDEO], before[VIDEO]) < 0.1 and (after[-91:] == before[-91:]).mean() > 0.99
    # A snapshot gets the camera in between.
    assert camera.ask("snapshot").endswith(".jpg\n")
    wait_for_video()
    leases.assert_return()
    assert_held_soon(leases, 1 + DISPLAY_HOLDS)
    wait_until(lambda: descriptors() <= open_files, 20, lambda: f"{descriptors()} descriptors, {open_files} before")
    # Without the camera only the words are shown, with the reason.
    board.run("echo vivid.0 > /sys/bus/platform/drivers/vivid/unbind")
    wait_until(lambda: len(hdmi.planes()) == 1, 20, "the last frame stays")
    wait_until(lambda: "camera unavailable while idle: " in camera.events, 20, "no event states the reason")
    page = read_back(camera)
    assert (page[:300].min(axis=2) > 240).sum() > 2000 and page[400:].max() == 0
    board.run("echo vivid.0 > /sys/bus/platform/drivers/vivid/bind")
    wait_for_video()
    events = camera.events
    assert events.count("camera unavailable while idle") == events.count("the camera is available again") == 1, events
    assert "fail" not in events and "error" not in events, events
