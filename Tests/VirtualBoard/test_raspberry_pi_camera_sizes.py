"""The Raspberry Pi's camera provides two sizes: the frame size follows the network through the image signal processor's second
output, without scaling or copying any frame for it."""

import subprocess

import pytest
from encoder import Publisher, assert_decodes
from leases import DEBUG, mount_debug
from pi_camera import BARS, IMX708, set_parameters
from size_changes import assert_grows_without_gap, gaps_at_changes, sizes_of, wait_for_change
from waiting import wait_until

pytestmark = [pytest.mark.takes(minutes=1, processors=0.4), pytest.mark.paced]

# Its driver's name in the list of importers of a buffer.
ENCODER = "bcm2835-codec"
# Daylight's gains: with their color matrix a full red has no blue.
CAMERA = f"libcamera:{IMX708},AwbEnable=off,ColourGains=2.35/1.6"


def bytes_of(size: tuple[int, int], alignment: int) -> int:
    """The size of a frame's buffer in 4:2:0, in whole pages; rows are as long as the image signal processor requires."""
    width, height = size
    return -(-(-(-width // alignment) * alignment) * height * 3 // 2 // 4096) * 4096


def imported(board) -> set[int]:
    """The sizes of the image signal processor's buffers that the encoder reads directly."""
    buffers = board.run(f"cat {DEBUG}/dma_buf/bufinfo").text.split("\n\n")
    return {
        int(buffer.split("videobuf2_dma_contig")[0].split()[-4])
        for buffer in buffers if "videobuf2_dma_contig" in buffer and ENCODER in buffer
    }  # fmt: skip


def wait_for_imports(board, size: int, within: float = 30) -> None:
    """Waits until the encoder directly reads the camera's buffers of this size, and only those."""
    wait_until(
        lambda: imported(board) == {size}, within, lambda: board.run(f"cat {DEBUG}/dma_buf/bufinfo").text, interval=0.5)


def furthest_from_bars(path, width: int, height: int) -> int:
    """The largest deviation of red, green or blue in the bars of all frames; smaller frames are scaled to the first one's
    size."""
    words = ["ffmpeg", "-v", "error", "-i", str(path), "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
    data = subprocess.run(words, capture_output=True, check=True, timeout=120).stdout
    places = [((2 * bar + 1) * width // 16 + height // 2 * width) * 3 for bar in range(8)]
    return max(
        abs(received - wanted)
        for frame in range(0, len(data), width * height * 3)
        for place, bar in zip(places, BARS)
        for received, wanted in zip(data[frame + place : frame + place + 3], bar)
    )


# Half of 960 is not a multiple of the alignment of rows in I420.
@pytest.mark.parametrize("full", [
    pytest.param((960, 540), id="960x540"), pytest.param((1280, 720), id="1280x720", marks=pytest.mark.slow),
])
def test_the_second_output_gives_the_smaller_frames(pi_camera, nginx, full, capsys):
    """On a poor link, and on a better one again: ISP -> DMABUF -> encoder at either size, with the same colors."""
    half = (full[0] // 2, full[1] // 2)
    mount_debug(pi_camera)
    set_parameters(pi_camera, color_bars=1)
    publisher = Publisher(
        pi_camera, nginx, f"second{full[1]}", f"--dimension {full[0]}x{full[1]}", f"--smallest-size {half[0]}x{half[1]}",
        "--quality Medium1", "--bitrate 150,500,500", "--resize seamless", source=CAMERA,
    )  # fmt: skip
    publisher.wait_frames(30)
    wait_for_imports(pi_camera, bytes_of(full, 32))
    pi_camera.shape(rate="260kbit")
    wait_for_change(publisher, lambda event: (event["width"], event["height"]) == half, 60)
    publisher.wait_frames(publisher.frames + 60)
    wait_for_imports(pi_camera, bytes_of(half, 64))
    pi_camera.unshape()
    wait_for_change(publisher, lambda event: event["reason"] == "sizeFits" and event["width"] == full[0], 90)
    publisher.wait_frames(publisher.frames + 60)
    wait_for_imports(pi_camera, bytes_of(full, 32))
    stream = publisher.stop()
    sizes, gaps = sizes_of(stream), gaps_at_changes(stream)
    with capsys.disabled():
        print(f"\n  sizes {sizes}, gaps {gaps} ms")
    assert sizes[0] == sizes[-1] == full and half in sizes
    status = stream.of("status")[-1]
    assert status["sourceConverted"] == status["sourcePasses"] == status["sourceMapped"] == 0, status
    assert_grows_without_gap(stream)
    assert not {1102, 1103, 1104} & set(stream.codes)
    assert_decodes(stream)
    assert furthest_from_bars(stream.recording.path, *full) <= 3
