"""A stopped stream ends as the protocol requires, and everything that was sent has arrived."""

import signal
import socket

import pytest
from processes import HUNG
from recording import Recording, assert_whole, wait_for_media
from rtmp_wire import Tap
from scenarios import end_at_once
from tallycam import Receiver, last_event, start_publisher, wait_for_event


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_stream_cleanly(nginx, children, signal_number):
    tap = Tap(nginx.port)
    publisher = start_publisher(children, tap.url("x"), quality="Low3")
    wait_for_media(publisher, nginx.recordings / "x.flv", 1)
    end_at_once(publisher, signal_number)
    assert tap.ended["client"].wait(HUNG) and tap.ended["server"].wait(HUNG)

    names = [command[0] for command in tap.commands()]
    assert names[-2:] == ["FCUnpublish", "deleteStream"]
    unpublish, delete = tap.commands()[-2:]
    assert unpublish[3] == "x"
    assert delete[3] == 1
    assert "deleteStream" in nginx.log

    recording = Recording(nginx.recording("x"))
    assert_whole(recording, last_event(publisher, "ended"))


def test_a_stream_of_limited_length_ends_the_same_way(nginx, children):
    tap = Tap(nginx.port)
    publisher = start_publisher(children, tap.url("x"), quality="Low3", duration=1)
    assert publisher.wait() == 0, publisher.report()
    assert tap.ended["client"].wait(HUNG)
    assert [command[0] for command in tap.commands()][-2:] == ["FCUnpublish", "deleteStream"]
    assert_whole(Recording(nginx.recording("x")), last_event(publisher, "ended"))


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_receiver_leaves_a_complete_recording(children, signal_number):
    receiver = Receiver(children)
    publisher = start_publisher(children, receiver.url(), quality="Low3")
    wait_for_media(publisher, receiver.path, frames=12)
    assert receiver.process.interrupt_and_wait(signal_number) == 0, receiver.process.report()
    recording = Recording(receiver.path)
    assert recording.decoded.complaints == ""
    assert len(recording.frames) >= 10


def test_a_receiver_without_a_publisher_ends_at_a_signal(children):
    receiver = Receiver(children)
    assert receiver.process.interrupt_and_wait() == 0


def test_a_signal_before_the_stream_is_live_ends_it_too(children):
    """The server accepts the connection but sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        publisher = start_publisher(children, f"rtmp://127.0.0.1:{port}/live/x", quality="Low3")
        silent.accept()
        wait_for_event(publisher, "connected")
        end_at_once(publisher, signal.SIGINT)
