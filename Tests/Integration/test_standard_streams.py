"""Standard input, output and error that are closed, shared or unread."""

import os
import shlex
import signal
import subprocess

from processes import Children
from recording import Recording, wait_for_media
from scenarios import STOP_SECONDS
from servers import free_port
from tallycam import TALLYCAM, Receiver, publish_arguments, start_publisher


def closed(arguments: list) -> list:
    """The command with all three descriptors closed, as some supervisors start programs."""
    return ["sh", "-c", f"exec {shlex.join(map(str, arguments))} <&- >&- 2>&-"]


def test_no_socket_replaces_a_closed_standard_stream(children: Children, tmp_path):
    port = free_port()
    path = tmp_path / "closed.flv"
    receiver = children.start(
        "receive", closed([TALLYCAM, "receive", "--listen", f"127.0.0.1:{port}", "--record", path])
    )
    receiver.wait_until(path.exists, "listener")
    publisher = children.start("publish", closed([TALLYCAM, *publish_arguments(f"rtmp://127.0.0.1:{port}/live/x", duration=1)]))
    assert publisher.wait() == 0
    assert receiver.interrupt_and_wait() == 0
    assert len(Recording(path).frames) > 5


def test_closed_standard_input_counts_as_ended(children: Children):
    receiver = Receiver(children)
    words = publish_arguments(receiver.url(), video="raw:-,format=i420,size=64x64,fps=10")
    publisher = children.start("publish", ["sh", "-c", f"exec {shlex.join(map(str, [TALLYCAM, *words]))} <&-"])
    assert publisher.wait() != 0
    assert "standard input" in publisher.stderr, publisher.report()


def test_both_tracks_cannot_share_standard_input(children: Children):
    publisher = start_publisher(
        children, "rtmp://127.0.0.1:1/live/x", video="raw:-,format=i420,size=64x64,fps=10",
        audio="raw:-,rate=44100,channels=2",
    )  # fmt: skip
    assert publisher.wait() == 2
    assert "standard input" in publisher.stderr


def test_a_stop_works_while_the_events_are_not_read(children: Children):
    receiver = Receiver(children)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb") as full:
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"\n" * 4096)
        except BlockingIOError:
            os.set_blocking(writing, True)
        words = [str(word) for word in [TALLYCAM, *publish_arguments(receiver.url())]]
        publisher = subprocess.Popen(words, stdout=full, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            wait_for_media(receiver.process, receiver.path, frames=31)  # the stream does not wait for the reader
            assert publisher.poll() is None
            publisher.send_signal(signal.SIGTERM)
            assert publisher.wait(STOP_SECONDS) == 0
        finally:
            publisher.kill()
    assert receiver.summary()["videoFrames"] > 30
