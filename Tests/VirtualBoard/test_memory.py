"""The hardware encoder on a board whose kernel has reserved little contiguous memory (CMA)."""

import pytest
from encoder import Publisher, assert_decodes

pytestmark = pytest.mark.slow

BOARD_OPTIONS = {"kernel_words": "cma=8M"}


def test_too_little_contiguous_memory_makes_a_smaller_frame(encoder, nginx):
    """Two inputs of 1350 kB and three outputs of 512 kB, with 4 MB to spare, are more than 8 MB. This is known before any
    request to the driver, and reported with the required amount."""
    assert encoder.run("grep CmaTotal /proc/meminfo").text.split()[1] == "8192"
    stream = Publisher(
        encoder, nginx, "contiguous", "--dimension 1280x720", "--encoder auto", "--quality Low1", "--duration 5").finish()
    assert "needs 8332 kB for its buffers, and 8192 kB of contiguous memory (CMA) are free" in stream.text
    assert stream.text.count("the frame size is ") == 1 and "the frame size is 960x540 now" in stream.text
    assert (stream.recording.sps.width, stream.recording.sps.height) == (960, 540)
    assert {event["encoder"] for event in stream.of("status")} == {"v4l2:/dev/video11"}
    assert not {1103, 1104} & set(stream.codes)
    assert_decodes(stream)
