"""The preview with something wrong: a display that is unplugged, a card that is removed, modes that fail, another program."""

import random

import pytest
from display import (
    CAMERA, DISPLAY_HOLDS, LEASE, SCREEN, SLOW_CAMERA, UNSEEN, Display, assert_held_soon, assert_whole, read_back, wait_shown,
)  # fmt: skip
from encoder import Publisher, assert_decodes, set_faults
from leases import Leases
from seeds import seed_of_this_run

pytestmark = pytest.mark.takes(minutes=3.3, processors=0.2)
BOARD_OPTIONS = {"display": True}

# Who may hold a buffer's memory: the clock is written into each frame, so the processor's mapping stays.
SEEN = UNSEEN + 1


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


@pytest.mark.slow
@pytest.mark.takes(minutes=6)
def test_faults_of_the_display_do_not_affect_the_stream(hdmi, nginx, capsys):
    board = hdmi.board
    rng = random.Random(seed_of_this_run())
    # With a clock in the frames, as most users would have it.
    clock = "--filter 'text,text=Studio {time},position=top-right'"
    publisher = Publisher(board, nginx, "faults", *LEASE, clock, f"--preview drm:{hdmi.connector}", source=CAMERA)
    publisher.wait_frames(20)
    leases = Leases(board)
    end = board.seconds + 300
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
