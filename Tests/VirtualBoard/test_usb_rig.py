"""The USB device port of the virtual board by itself: with the kernel's own gadgets, without the program."""

import re
from pathlib import Path

import numpy
import pytest
from encoder import kernel_is_content
from guest_programs import HERE, compile_for_guest
from loopback import tone
from usb_host import CONTROLLER, HOST_RING, PORT, RATE, SAMPLES

pytestmark = [pytest.mark.slow, pytest.mark.takes(minutes=0.5, processors=0.5)]

GADGET = "/sys/kernel/config/usb_gadget/rig"
WIDTH, HEIGHT = 160, 120
FRAME = WIDTH * HEIGHT * 2
PACKET = 1024
# A packet's bytes of a frame. The payload header takes the rest, and is longer in a frame's first packet.
PAYLOAD = PACKET - 8
# As `HOST_RING`; the gadget's ring has 16384 frames.
GADGET_RING = "--nonblock --period-time=20000 --buffer-time=340000"
CABLES = 2

MAKE = f"""set -e
mkdir {GADGET} && cd {GADGET}
echo 0x1d6b > idVendor; echo 0x0104 > idProduct
mkdir strings/0x409 configs/c.1 functions/uvc.camera functions/uac2.audio
echo rig > strings/0x409/product
echo 3 > functions/uac2.audio/c_chmask; echo {RATE} > functions/uac2.audio/c_srate
cd functions/uvc.camera
echo INTERVAL > streaming_interval; echo {PACKET} > streaming_maxpacket
for size in {WIDTH}x{HEIGHT} 320x240; do
    frame=streaming/uncompressed/yuyv/$size
    mkdir -p $frame
    echo ${{size%x*}} > $frame/wWidth; echo ${{size#*x}} > $frame/wHeight
    printf '333333\\n666666\\n' > $frame/dwFrameInterval; echo 333333 > $frame/dwDefaultFrameInterval
done
mkdir streaming/header/h control/header/h
ln -s $PWD/streaming/uncompressed/yuyv streaming/header/h/
for speed in fs hs ss; do ln -s $PWD/streaming/header/h streaming/class/$speed/; done
for speed in fs ss; do ln -s $PWD/control/header/h control/class/$speed/; done
cd {GADGET}
ln -s $PWD/functions/uvc.camera $PWD/functions/uac2.audio configs/c.1/
echo {CONTROLLER} > UDC
"""
REMOVE = f"""[ -e {GADGET} ] || exit 0
cd {GADGET}
echo > UDC
rm configs/c.1/*.* functions/uvc.camera/*/class/*/h functions/uvc.camera/streaming/header/h/yuyv
find configs functions strings -mindepth 1 -depth -type d -exec rmdir {{}} \\; 2> /dev/null
cd / && rmdir {GADGET}
"""


@pytest.fixture(scope="module")
def responder(tmp_path_factory) -> Path:
    return compile_for_guest(HERE / "uvc_responder.c", tmp_path_factory.mktemp("responder"))


class Gadget:
    """A camera, a microphone and a loudspeaker, and the process that serves the camera."""

    def __init__(self, board, responder: Path, interval: int):
        self.board = board
        board.put("/tmp/uvc_responder", responder, "755")
        board.run(MAKE.replace("INTERVAL", str(interval)))
        node = board.run("grep -l camera /sys/class/video4linux/*/function_name").text.split("/")[-2]
        self.responder = board.start(f"exec /tmp/uvc_responder /dev/{node} {WIDTH} {HEIGHT} {PACKET}")
        self.card = board.run("sed -n 's/ *\\([0-9]*\\) .*UAC2_Gadget - .*/\\1/p' /proc/asound/cards").text.strip()

    def remove(self) -> None:
        self.board.end_all()
        self.board.run(REMOVE)


@pytest.fixture
def gadget(board, usb_host, responder, request):
    """Connects the cable, with a packet in every millisecond unless the test sets another interval."""
    made = Gadget(board, responder, getattr(request, "param", 4))
    usb_host.plug()
    yield made
    usb_host.unplug()
    made.remove()
    assert board.run(f"ls -A {Path(GADGET).parent}").text == ""
    kernel_is_content(board)


def record_frames(board, node: str, count: int) -> tuple[numpy.ndarray, list[float]]:
    """Frames as rows of the numbers that fill them, and when each had arrived, in seconds."""
    text = board.run(
        f"v4l2-ctl -d {node} --set-fmt-video=width={WIDTH},height={HEIGHT} --stream-mmap --stream-count={count} "
        "--stream-to=/tmp/frames --verbose"
    ).text
    times = [float(time) for time in re.findall(r"cap dqbuf:.* ts: ([0-9.]+)", text)]
    return numpy.frombuffer(board.get("/tmp/frames"), numpy.uint32).reshape(-1, FRAME // 4), times


def test_the_host_finds_a_camera_with_its_formats(board, usb_host, gadget):
    assert gadget.responder.wait_for(r"^connect (\d)$", 10)[1] == "3"
    node = usb_host.video_node()
    text = board.run(f"v4l2-ctl -d {node} --info --list-formats-ext").text
    assert "uvcvideo" in text and re.findall(r"Size: Discrete (\S+)", text) == ["160x120", "320x240"]
    assert re.findall(r"\((\d+)\.000 fps\)", text) == ["30", "15"] * 2
    vendor, product = usb_host.descriptors()[8:10], usb_host.descriptors()[10:12]
    assert (vendor, product) == (b"\x6b\x1d", b"\x04\x01")
    assert board.run(f"cat /sys/class/udc/{CONTROLLER}/state").text.strip() == "configured"


@pytest.mark.parametrize("gadget, microseconds, count", [(4, 1000, 40), (1, 125, 120)], indirect=["gadget"])
def test_frames_arrive_whole_and_in_order_at_the_buss_pace(board, usb_host, gadget, microseconds, count):
    frames, times = record_frames(board, usb_host.video_node(), count)
    assert len(frames) == len(times) == count
    numbers = frames[:, 0]
    assert (frames == numbers[:, None]).all()
    assert (numpy.diff(numbers) == 1).all(), numbers
    # No faster than the bus carries a frame's packets; slower where an emulated processor is. A controller that was late before
    # the first frame makes up for 0.1 s of it (ISO_MAX_LAG).
    least = (count - 1) * FRAME / PAYLOAD * microseconds / 1e6
    assert times[-1] - times[0] > 0.97 * least - 0.1, (times, least)
    assert gadget.responder.wait_for(r"streamoff", 10)


def assert_tone(samples: numpy.ndarray, frequency: int, seconds: float) -> None:
    """Checks pitch and level, and that no sample is missing or added: the phase of each hundredth of a second is the same."""
    block = RATE // 100
    assert len(samples) == RATE * seconds
    waves = numpy.exp(-2j * numpy.pi * frequency * numpy.arange(len(samples)) / RATE)
    parts = (samples * waves).reshape(-1, block).mean(axis=1) * 2
    loud = parts[numpy.abs(parts) > 0.45 * 32768]
    assert len(loud) > 0.4 * len(parts), numpy.abs(parts).astype(int)
    assert abs(numpy.abs(loud).mean() / 32768 - 0.5) < 0.01
    assert numpy.abs(numpy.angle(loud / loud[len(loud) // 2])).max() < 0.02, numpy.angle(loud)


def heard(board, player: str, recorder: str, seconds: float, host_plays: bool) -> numpy.ndarray:
    """The left side of a recording of /tmp/tone at the other end of the cable; both sides are the same."""
    play, record = f"exec aplay {SAMPLES} {player} /tmp/tone", f"exec arecord {SAMPLES} {recorder} -d {seconds} /tmp/heard"
    # The host starts first: nothing moves in the gadget's ring before.
    first = board.start(play if host_plays else record)
    board.run("until grep -q RUNNING /proc/asound/card*/pcm0[cp]/sub0/status; do sleep 0.05; done")
    second = board.start(record if host_plays else play)
    playing, recording = (first, second) if host_plays else (second, first)
    assert recording.wait(120).status == 0 and not recording.text and not playing.text, recording.text + playing.text
    playing.end()
    samples = numpy.frombuffer(board.get("/tmp/heard"), numpy.int16).reshape(-1, 2)
    assert (samples[:, 0] == samples[:, 1]).all()
    return samples[:, 0].astype(float)


def test_a_tone_arrives_complete_in_either_direction(board, usb_host, gadget):
    seconds, frequency = 2, 1000
    board.put("/tmp/tone", tone(frequency, RATE, 2, 2, 1) * 30)
    host, device = f"-D hw:{usb_host.audio_card()} {HOST_RING}", f"-D hw:{gadget.card} {GADGET_RING}"
    assert_tone(heard(board, device, host, seconds, host_plays=False), frequency, seconds)
    assert_tone(heard(board, host, device, seconds, host_plays=True), frequency, seconds)


def test_the_cable_is_pulled_during_transfers(board, usb_host, gadget):
    seen = usb_host.descriptors()
    for cable in range(CABLES):
        board.start(f"exec v4l2-ctl -d {usb_host.video_node()} --stream-mmap --stream-to=/dev/null")
        for program, file in (("arecord", "/dev/null"), ("aplay", "/dev/zero")):
            board.start(f"exec {program} {SAMPLES} -D hw:{usb_host.audio_card()} {HOST_RING} {file}")
        usb_host.wait("grep -q RUNNING /proc/asound/card*/pcm0c/sub0/status")
        gadget.responder.wait_until(lambda written: written.count(b"streamon") > cable, 20)
        usb_host.unplug()
        assert board.run(f"cat /sys/class/udc/{CONTROLLER}/state").text.strip() == "not attached"
        usb_host.plug()
        assert usb_host.descriptors() == seen
    frames, _ = record_frames(board, usb_host.video_node(), 5)
    assert (frames == frames[:, :1]).all()
    assert board.run(f"cat {PORT}/usbip_status").text.strip() == "2"
