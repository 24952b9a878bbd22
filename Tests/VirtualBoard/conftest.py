"""Fixtures of the tests on the virtual board: one guest for each test file, and its log when a test fails."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "Integration"))

from board import CHECKOUT, TALLYCAM, Board, built_modules  # noqa: E402
from card import SharedCardBoard, Slot, make_image  # noqa: E402
from display import Display  # noqa: E402
from processes import Children  # noqa: E402
from encoder import clear_faults, kernel_is_content  # noqa: E402
from guest_programs import HERE, compile_for_guest  # noqa: E402
import pi_camera as raspberry_pi_camera  # noqa: E402
import saved_boards  # noqa: E402
from servers import NginxRTMP  # noqa: E402
from usb_host import UsbHost  # noqa: E402
from webcam import Webcam  # noqa: E402

LOGS = CHECKOUT / "out/test/board/consoles"


def pytest_collection_modifyitems(config, items):
    if not config.option.collectonly and not TALLYCAM.exists():
        pytest.exit(f"missing: {TALLYCAM}; run 'make build' first", 3)


def console_log(session) -> Path:
    """A folder named after the test file, as several files run at the same time."""
    return LOGS / f"{session.items[0].path.stem}.log"


@pytest.fixture(scope="session")
def booted(tmp_path_factory, request):
    """One guest for all tests of a file that use it, started with the file's BOARD_OPTIONS. Its console log is written while
    the guest runs, and is kept."""
    folder = tmp_path_factory.mktemp("board")
    LOGS.mkdir(parents=True, exist_ok=True)
    link = console_log(request.node)
    link.unlink(missing_ok=True)
    link.symlink_to(folder / "console.log")
    options = getattr(request.node.items[0].module, "BOARD_OPTIONS", {})
    with saved_boards.go_on(folder, {"tallycam": TALLYCAM} | built_modules(), **options) as board:
        yield board
    text = (folder / "console.log").read_bytes()
    link.unlink()
    link.write_bytes(text)


@pytest.fixture
def board(booted):
    """The guest, with nothing running in it and its network restored."""
    yield booted
    booted.end_all()
    booted.unshape()
    booted.unshape_ingress()
    booted.restore()


@pytest.fixture
def encoder(board):
    """The guest with its hardware encoder. The encoder has no faults before and after, and the kernel has reported nothing
    unusual at the end."""
    clear_faults(board)
    yield board
    board.end_all()
    clear_faults(board)
    kernel_is_content(board)


@pytest.fixture(scope="session")
def scatter_program(tmp_path_factory) -> Path:
    return compile_for_guest(HERE / "scatter.c", tmp_path_factory.mktemp("scatter"))


@pytest.fixture
def scattered_camera(encoder, scatter_program):
    """vivid with memory of single pages, as a USB camera has it. In a guest that has just booted, they might be neighbors."""
    encoder.put("/tmp/scatter", scatter_program, "755")
    encoder.start("/tmp/scatter").wait_for("scattered", 20)
    words = "n_devs=1 node_types=0x1 num_inputs=1 input_types=0x0 vid_cap_nr=0"
    encoder.run(f"rmmod vivid && modprobe vivid {words} allocators=0")
    yield
    encoder.end_all()
    encoder.run(f"rmmod vivid && modprobe vivid {words} allocators=1")


@pytest.fixture
def any_memory(encoder):
    """An encoder that reads any memory directly, as those of other makers do."""
    encoder.run("rmmod virtual_h264 && insmod /board/encoder.ko any_memory=1")
    yield
    encoder.end_all()
    encoder.run("rmmod virtual_h264 && insmod /board/encoder.ko")


@pytest.fixture(scope="session")
def client_program(tmp_path_factory) -> Path:
    """The program that `encoder_client.Client` runs in the guest."""
    return compile_for_guest(HERE / "client.c", tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="session")
def camera_probe(booted, tmp_path_factory):
    """In the guest: the program that reports libcamera's frames, for `pi_camera.shoot`."""
    raspberry_pi_camera.install_probe(booted, raspberry_pi_camera.compile_probe(tmp_path_factory.mktemp("probe")))


@pytest.fixture(scope="session")
def tuning_files(booted):
    raspberry_pi_camera.install_tuning_files(booted)


@pytest.fixture
def pi_camera(encoder, tuning_files):
    """The guest with a Raspberry Pi's camera, a Module 3, in medium light and without faults."""
    raspberry_pi_camera.load(encoder)
    yield encoder
    encoder.end_all()
    raspberry_pi_camera.unload(encoder)


@pytest.fixture(scope="module")
def usb_host(booted):
    """A computer that can be connected to the guest's USB port. The guest has the port while these tests run."""
    host = UsbHost(booted)
    yield host
    booted.end_all()
    host.close()


@pytest.fixture
def webcam(board, nginx, usb_host):
    """A function that starts the program, and plugs its webcam into the computer."""
    made = []

    def make(**options) -> Webcam:
        made.append(Webcam(board, nginx, usb_host, **options))
        return made[-1]

    yield make
    for one in reversed(made):
        one.end()
    kernel_is_content(board)


@pytest.fixture(scope="module")
def reader(booted, tmp_path_factory):
    """In the guest: the program that reads back what another one shows."""
    booted.put("/tmp/screen", compile_for_guest(HERE / "screen.c", tmp_path_factory.mktemp("screen")), "755")


@pytest.fixture
def hdmi(encoder, reader):
    """A display like a board's hardware: planes for YUV and for words, which scale."""
    display = Display(encoder, "vkms", "enable_overlay=1")
    yield display
    display.end()


@pytest.fixture
def plain(encoder):
    """A display that accepts RGB only."""
    display = Display(encoder, "virtio-gpu")
    yield display
    display.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With a failure, shows the output of the guest's commands and kernel."""
    report = yield
    if call.when == "call":
        item.report_of_call = report
    board = item.funcargs.get("board")
    if report.failed and isinstance(board, Board):
        # A process that is still running is usually what the test is about. Of the others, show the last ones.
        for process in [one for one in board.running[:-6] if not one.has_ended] + board.running[-6:]:
            report.sections.append((f"guest: {process.script[:100]}", process.text[-3000:]))
        try:
            report.sections.append(("guest: kernel log", board.run("dmesg | tail -n 30", timeout=20).text))
        except Exception as error:
            report.sections.append(("guest: kernel log", f"{error}; see {console_log(item.session)}"))
    return report


@pytest.fixture(scope="session")
def image():
    return make_image()


@pytest.fixture
def slot(tmp_path, image):
    """A card to be prepared, and a way to start a board from it."""
    slot = Slot(tmp_path, image)
    yield slot
    slot.close()


@pytest.fixture(scope="module")
def kept_slot(tmp_path_factory, image):
    """A slot that the tests of a file share: each test continues where the one before it has ended."""
    slot = Slot(tmp_path_factory.mktemp("kept-card"), image)
    yield slot
    slot.close()


@pytest.fixture(scope="module")
def kept_nginx(tmp_path_factory):
    """The server for the boards of `kept_slot`."""
    group = Children(tmp_path_factory.mktemp("kept-nginx"))
    try:
        yield NginxRTMP(group)
    finally:
        group.end_all()


@pytest.fixture(scope="session")
def card_boards(tmp_path_factory, image):
    """The board that tests share as long as it works: starting one takes half a minute."""
    shared = SharedCardBoard(lambda: Slot(tmp_path_factory.mktemp("card"), image))
    yield shared
    shared.close()


@pytest.fixture
def ready_card(card_boards, request):
    """A function that returns the board, ready, with the given files."""
    yield card_boards.ready
    report = getattr(request.node, "report_of_call", None)
    if report is None or report.failed:
        card_boards.close()


@pytest.fixture
def children(tmp_path):
    group = Children(tmp_path)
    yield group
    group.end_all()


@pytest.fixture
def nginx(children):
    return NginxRTMP(children)
