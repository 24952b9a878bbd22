"""A camera that provides two sizes: the frame size follows the network, and no frame is scaled for it. libcamera's virtual
pipeline provides several streams. Its memory is the kernel's udmabuf, which an encoder that accepts any memory can read."""

import re

import pytest
from board import Board
from encoder import Publisher, assert_decodes
from leases import DEBUG, ENCODER_HOLDS, mount_debug
from size_changes import assert_grows_without_gap, gaps_at_changes, sizes_of, wait_for_change
from waiting import wait_until

pytestmark = [pytest.mark.takes(minutes=0.8, processors=0.9), pytest.mark.paced]

# The largest size of which an emulated processor draws thirty frames per second.
FULL = (960, 540)
SECOND = (480, 270)
DESCRIPTION = "/usr/share/libcamera/pipeline/virtual/virtual.yaml"
# The virtual camera gives a frame whenever it has a buffer. From that many per second, those are chosen that the quality needs.
CAMERA = "libcamera:Virtual0,size=960x540,fps=60"
POOR = (
    "--dimension 960x540", "--smallest-size 480x270", "--quality Medium1", "--bitrate 150,500,500", "--resize seamless",
)  # fmt: skip


@pytest.fixture
def two_sizes(any_memory, encoder):
    """The virtual camera with the stream's size and half of it."""
    sizes = "".join(
        f"  - width: {width}\n    height: {height}\n    frame_rates: [5, 60]\n" for width, height in (FULL, SECOND)
    )
    description = f'%YAML 1.1\n---\n"Virtual0":\n  supported_formats:\n{sizes}  test_pattern: "lines"\n'
    encoder.put(DESCRIPTION, f'{description}  location: "CameraLocationBack"\n  model: "A model"\n')
    mount_debug(encoder)
    yield encoder
    encoder.end_all()
    encoder.run(f"cp /board/virtual-camera.yaml {DESCRIPTION}")


def bytes_of(size: tuple[int, int]) -> int:
    """The size of a frame's buffer: NV12 in whole pages."""
    width, height = size
    return -(-width * height * 3 // 2 // 4096) * 4096


def buffers(board: Board) -> dict[int, list[int]]:
    """The camera's buffers by their size in bytes, with the number of holders of each."""
    text = board.run(f"cat {DEBUG}/dma_buf/bufinfo").text
    found: dict[int, list[int]] = {}
    for size, holders in re.findall(r"^(\d+)\s+\S+\s+\S+\s+(\d+)\s+udmabuf", text, re.MULTILINE):
        found.setdefault(int(size), []).append(int(holders))
    return found


def wait_for_imports(board: Board, size: tuple[int, int], within: float = 30) -> None:
    """Waits until the encoder directly reads the camera's buffers of this size, and only those."""

    def importing() -> set[int]:
        return {count for count, holders in buffers(board).items() if max(holders) > ENCODER_HOLDS}

    wait_until(lambda: importing() == {bytes_of(size)}, within, lambda: buffers(board), interval=0.5)


@pytest.mark.slow
def test_the_camera_provides_the_smaller_frames(two_sizes, nginx, capsys):
    """On a poor link, and on a better one again: camera -> DMABUF -> encoder at either size. The encoder reads the camera's own
    buffers, which shows that no scaler was in between."""
    publisher = Publisher(two_sizes, nginx, "second", *POOR, source=CAMERA)
    publisher.wait_frames(30)
    assert set(buffers(two_sizes)) == {bytes_of(FULL), bytes_of(SECOND)}
    wait_for_imports(two_sizes, FULL)
    two_sizes.shape(rate="260kbit")
    wait_for_change(publisher, lambda event: (event["width"], event["height"]) == SECOND, 60)
    publisher.wait_frames(publisher.frames + 60)
    wait_for_imports(two_sizes, SECOND)
    two_sizes.unshape()
    wait_for_change(publisher, lambda event: event["reason"] == "sizeFits" and event["width"] == FULL[0], 90)
    publisher.wait_frames(publisher.frames + 60)
    wait_for_imports(two_sizes, FULL)
    stream = publisher.stop()
    sizes, gaps = sizes_of(stream), gaps_at_changes(stream)
    with capsys.disabled():
        print(f"\n  sizes {sizes}, gaps {gaps} ms")
    # No encoder skipped a frame, not even at the changes.
    assert stream.ended["videoSkipped"] <= stream.most_replaced, (stream.ended, stream.stalled)
    assert sizes[0] == sizes[-1] == FULL and SECOND in sizes
    status = stream.of("status")[-1]
    assert status["sourceConverted"] == status["sourcePasses"] == status["sourceMapped"] == 0, status
    assert_grows_without_gap(stream)
    assert not {1102, 1103, 1104} & set(stream.codes)
    assert_decodes(stream)


def test_one_size_is_configured_where_frames_keep_their_size(two_sizes, nginx):
    publisher = Publisher(two_sizes, nginx, "never", *POOR[:-1], "--resize never", source=CAMERA)
    publisher.wait_frames(10)
    assert set(buffers(two_sizes)) == {bytes_of(FULL)}
    assert_decodes(publisher.stop())


def test_a_camera_without_the_second_size_uses_its_own(any_memory, encoder, nginx):
    """Its pipeline would make the second stream as large as the first."""
    mount_debug(encoder)
    publisher = Publisher(
        encoder, nginx, "single", "--dimension 640x360", "--quality Medium1", "--resize seamless",
        source="libcamera:Virtual0,fps=10",
    )  # fmt: skip
    publisher.wait_frames(20)
    assert set(buffers(encoder)) == {bytes_of((640, 360))}
    stream = publisher.stop()
    assert_decodes(stream)
    assert stream.of("status")[-1]["sourcePasses"] == 0
