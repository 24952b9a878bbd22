"""The board's program, emulated, publishing to the same server."""

import pytest
from recording import Recording, assert_whole, frames_due
from tallycam import TALLYCAM_ARM64, last_event, publish_arguments

pytestmark = [pytest.mark.takes(minutes=0.2, processors=0.3), pytest.mark.board_program]

SECONDS = 5


def test_the_arm64_program_publishes(nginx, children):
    publisher = children.start("publish-arm64", [
        "qemu-aarch64", TALLYCAM_ARM64,
        *publish_arguments(nginx.url("arm"), quality="Low3", dimension="320x240", duration=SECONDS),
    ])  # fmt: skip
    assert publisher.wait() == 0, publisher.report()
    sent = last_event(publisher, "ended")
    recording = Recording(nginx.recording("arm"))
    assert_whole(recording, sent)
    assert (recording.sps.width, recording.sps.height) == (320, 240)
    # An emulated processor may be too late for some frames.
    missed = sent["sourceDropped"]
    assert frames_due(sent) >= SECONDS * 15 * 0.9
    assert abs(recording.frames[0].timestamp - recording.audio_packets[0].timestamp) < 100 or missed
    assert recording.audio_packets[-1].timestamp > (SECONDS - 0.5) * 1000 or missed


def test_the_arm64_program_checks_a_stream_file(children, tmp_path):
    (tmp_path / "stream.json").write_text("{")
    check = children.run("check-arm64", ["qemu-aarch64", TALLYCAM_ARM64, "check", tmp_path / "stream.json"])
    assert check.child.returncode == 2
    assert "stream.json:1:" in check.stderr
