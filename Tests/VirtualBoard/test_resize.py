"""The frame size follows the network while the hardware encodes: the next encoder opens while the present one encodes."""

import random

import pytest
from fault_mix import Fault, troubles
from qemu import Clock
from seeds import seed_of_this_run
from size_changes import assert_grows_without_gap, gaps_at_changes, sizes_of, wait_for_change

from encoder import Publisher, ResourceUse, Stream, assert_decodes, clear_faults, kernel_is_content, set_faults
from leases import Leases

BOARD_OPTIONS = {"clock": Clock.QUICK_OWN_TIME}
pytestmark = pytest.mark.takes(minutes=2.3, processors=0.25)

CAMERA = "v4l2:/dev/video0,size=1280x720,format=NV12,fps=15"
FULL = (1280, 720)
# With the encoder's faults.
CHANGES = 4


def test_the_frame_size_follows_the_network_without_a_gap(encoder, nginx, capsys):
    publisher = Publisher(
        encoder, nginx, "resize", "--dimension 1280x720", "--quality Medium3", "--bitrate 150,1000,1000",
        "--resize seamless", source=CAMERA,
    )  # fmt: skip
    publisher.wait_frames(30)
    encoder.shape(rate="260kbit")
    wait_for_change(publisher, lambda event: event["width"] < FULL[0], 60)
    publisher.wait_frames(publisher.frames + 60)
    encoder.unshape()
    wait_for_change(publisher, lambda event: event["reason"] == "sizeFits" and event["width"] == FULL[0], 90)
    publisher.wait_frames(publisher.frames + 60)
    stream = publisher.stop()
    sizes, gaps = sizes_of(stream), gaps_at_changes(stream)
    with capsys.disabled():
        print(f"\n  sizes {sizes}, gaps {gaps} ms")
    assert sizes[0] == sizes[-1] == FULL and len(sizes) >= 3
    assert all(width * 9 == height * 16 for width, height in sizes)
    assert_grows_without_gap(stream)
    assert not {1102, 1103, 1104} & set(stream.codes)
    assert_decodes(stream)
    kernel_is_content(encoder)


def publish_to_refusal(encoder, nginx, policy: str) -> Publisher:
    """A stream whose encoder is asked for a smaller size, and gives another one."""
    publisher = Publisher(
        encoder, nginx, f"refuses-{policy}", "--dimension 1280x720", "--quality Medium3", "--bitrate 150,1000,1000",
        f"--resize {policy}", source=CAMERA,
    )  # fmt: skip
    publisher.wait_frames(30)
    set_faults(encoder, least_width=FULL[0])
    encoder.shape(rate="260kbit")
    wait_for_change(publisher, lambda event: event["width"] < FULL[0], 60)
    return publisher


def finish_refused(encoder, publisher: Publisher) -> Stream:
    """Checks that the refusal was reported once, although there was time and reason to ask again."""
    encoder.sleep(15)
    encoder.unshape()
    publisher.wait_frames(publisher.frames + 60)
    stream = publisher.stop()
    [refused] = stream.of("refused")
    assert f"frames stay at {FULL[0]}x{FULL[1]}: " in refused["reason"], refused
    kernel_is_content(encoder)
    return stream


@pytest.mark.slow
def test_an_encoder_that_refuses_the_smaller_size_keeps_its_size(encoder, nginx):
    """The stream continues in hardware at its current size."""
    publisher = publish_to_refusal(encoder, nginx, "seamless")
    publisher.wait_status(lambda status: status["width"] == FULL[0] and "reason" in status, 30)
    stream = finish_refused(encoder, publisher)
    assert set(sizes_of(stream)) == {FULL}
    assert {report["encoder"] for report in stream.of("status")} == {"v4l2:/dev/video11"}
    assert not {1102, 1103, 1104} & set(stream.codes)
    assert_decodes(stream)


@pytest.mark.slow
def test_a_restart_with_a_refused_size_returns_to_the_old_size(encoder, nginx):
    publisher = publish_to_refusal(encoder, nginx, "restart")
    publisher.wait_status(
        lambda status: status["encoder"].startswith("v4l2") and any(event["name"] == "refused" for event in publisher.events), 60
    )
    last = finish_refused(encoder, publisher).of("status")[-1]
    assert (last["width"], last["encoder"]) == (FULL[0], "v4l2:/dev/video11"), last


def flap(board, seconds: float) -> None:
    """Alternates between more than the stream needs and almost nothing."""
    end = board.seconds + seconds
    while board.seconds < end:
        board.shape(rate="200kbit")
        board.sleep(1)
        board.unshape()
        board.sleep(1)


def hold(board, seconds: float, **link: str) -> None:
    board.shape(**link)
    board.sleep(seconds)


@pytest.mark.slow
@pytest.mark.takes(minutes=2)
@pytest.mark.parametrize(
    "happen",
    [
        pytest.param(lambda board: flap(board, 40), id="flaps every second"),
        pytest.param(lambda board: hold(board, 40, rate="60kbit"), id="carries 60 kbit a second"),
        pytest.param(
            lambda board: hold(board, 40, rate="600kbit", delay="40ms", loss="5%", reorder="25%"), id="loses and reorders"
        ),
    ],
)
def test_a_bad_link_ends_no_stream(encoder, nginx, capsys, happen):
    """However the sizes change meanwhile: the stream continues, and recovers fully once the link has."""
    publisher = Publisher(
        encoder, nginx, "bad-link", "--dimension 1280x720", "--quality Medium3", "--bitrate 150,1000,1000",
        "--resize seamless", source=CAMERA,
    )  # fmt: skip
    publisher.wait_frames(30)
    happen(encoder)
    encoder.unshape()

    def is_whole(status: dict) -> bool:
        return status["width"] == FULL[0] and status["videoBitsPerSecond"] == 1_000_000

    publisher.wait_status(is_whole, 90)
    publisher.wait_frames(publisher.frames + 30)
    stream = publisher.stop()
    sizes = sizes_of(stream)
    with capsys.disabled():
        print(f"\n  sizes {sizes}, {stream.ended['videoFrames']} frames, {stream.ended['videoDropped']} dropped")
    assert sizes[0] == sizes[-1] == FULL
    assert "reconnecting" not in [event["state"] for event in stream.of("stateChanged")]
    assert not {1102, 1103, 1104} & set(stream.codes) and all(code >= 0 for code in stream.codes)
    assert_decodes(stream)
    kernel_is_content(encoder)


def wait_for_size(publisher: Publisher, is_smaller: bool) -> None:
    """Waits for the size in a status while the hardware encodes. A stall that led to software takes a minute until then, and
    software needs so little for the camera's pattern that the network has no effect."""
    publisher.wait_status(
        lambda status: status["encoder"].startswith("v4l2") and (status["width"] < FULL[0]) == is_smaller, 200
    )


@pytest.mark.slow
@pytest.mark.takes(minutes=5)
def test_the_size_changes_during_the_encoders_faults(encoder, nginx, capsys):
    """Each change meets a different fault of the present encoder or of the next one. The stream continues, finally in hardware,
    and nothing of any encoder is left behind."""
    publisher = Publisher(
        encoder, nginx, "faulty", "--dimension 1280x720", "--quality Medium3", "--bitrate 150,1000,1000",
        "--resize seamless", source=CAMERA,
    )  # fmt: skip
    publisher.wait_frames(120)
    rng = random.Random(seed_of_this_run())
    leases, use = Leases(encoder), ResourceUse(encoder, publisher.process.pid)
    due: list[Fault] = troubles(rng, 15)
    rng.shuffle(due)
    for number, fault in enumerate(due[:CHANGES]):
        is_smaller = number % 2 == 0
        set_faults(encoder, **fault.parameters)
        encoder.sleep(rng.uniform(0, 3))
        if is_smaller:
            encoder.shape(rate="260kbit")
        else:
            encoder.unshape()
        encoder.sleep(rng.uniform(2, 8))
        clear_faults(encoder)
        wait_for_size(publisher, is_smaller)
        publisher.wait_frames(publisher.frames + 30)
        use.measure()
    leases.assert_return()
    leases.assert_held()
    stream = publisher.stop()
    sizes = sizes_of(stream)
    with capsys.disabled():
        print(f"\n  {[fault.name for fault in due[:CHANGES]]}\n  sizes {sizes}, codes {sorted(set(stream.codes))}\n  {use}\n  {leases}")
    assert sizes[0] == sizes[-1] == FULL and sum(size != FULL for size in sizes) >= CHANGES // 2
    assert "reconnecting" not in [event["state"] for event in stream.of("stateChanged")]
    assert all(code >= 0 for code in stream.codes) and 1102 not in stream.codes
    assert use.is_flat(), str(use)
    assert_decodes(stream)
