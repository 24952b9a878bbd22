"""The preview: what a display shows during a stream, and that the stream does not depend on it."""

import numpy
import pytest
from display import (
    CAMERA, DISPLAY_HOLDS, HEIGHT, LEASE, SCREEN, SLOW_CAMERA, UNSEEN, WIDTH, Display, assert_each_is_shown_or_lost,
    assert_held_soon, assert_whole, difference, in_size_of_stream, let_frames_be_copied, pixels, read_back, received,
    still_camera, wait_shown,
)  # fmt: skip
from encoder import Appliance, Publisher, assert_decodes
from leases import Leases
from waiting import wait_until

pytestmark = pytest.mark.takes(minutes=3.1, processors=0.25)
BOARD_OPTIONS = {"display": True}

# The video's area on vkms' screen.
VIDEO = numpy.s_[96 : 96 + 576, 0:1024]
# The mean difference, of 255. Scalers and converters differ at the edges of colored areas.
ALIKE = 2.0


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
