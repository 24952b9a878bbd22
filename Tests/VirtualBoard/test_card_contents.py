"""The image of a board's card, compared with what is written about it: files and sizes, partitions, modules, libraries."""

import fnmatch
import json
import re
import subprocess
from pathlib import Path

import pytest
from board import CHECKOUT
from card import Card, make_board_image
from card_contents import Contents, listed_modules
from package_archive import tool

pytestmark = pytest.mark.takes(minutes=1.2, processors=0.9)

MEGABYTE = 1 << 20
EDITED = {"board.json", "device.json", "network.json", "stream.json"}
# Files on the boot partition of every card, each with the size that it must stay below. Kernels are compressed.
BOOT = {
    "Image": 16 * MEGABYTE, "initramfs": 2 * MEGABYTE, "config.txt": 4096, "cmdline.txt": 512, "README.txt": 4096,
    "firmware/README.txt": 512, "overlays/README": 512, **dict.fromkeys(EDITED, 4096),
}  # fmt: skip
# The board's own files: those that its models' firmware loads.
OWN = {
    "rpi3": {
        "bootcode.bin", "start.elf", "fixup.dat", "overlays/miniuart-bt.dtbo", "overlays/vc4-kms-v3d.dtbo", "bcm2837-rpi-3-b.dtb",
        "bcm2837-rpi-3-b-plus.dtb", "bcm2837-rpi-3-a-plus.dtb", "bcm2837-rpi-cm3-io3.dtb",
    },
    "rpi4": {
        "start4.elf", "fixup4.dat", "overlays/miniuart-bt.dtbo", "overlays/vc4-kms-v3d.dtbo", "overlays/dwc2.dtbo",
        "bcm2711-rpi-4-b.dtb", "bcm2711-rpi-400.dtb", "bcm2711-rpi-cm4-io.dtb",
    },
    "rpi0_2w": {
        "bootcode.bin", "start.elf", "fixup.dat", "overlays/miniuart-bt.dtbo", "overlays/vc4-kms-v3d.dtbo", "overlays/dwc2.dtbo",
        "bcm2837-rpi-zero-2-w.dtb",
    },
}  # fmt: skip
# Programs of the root file system; all others are links to busybox.
PROGRAMS = {
    "usr/bin/busybox", "usr/bin/kmod", "usr/bin/partx", "usr/bin/tallycam", "usr/sbin/e2fsck", "usr/sbin/fsck.exfat", "usr/sbin/fsck.fat",
    "usr/sbin/mdnsd", "usr/sbin/mke2fs", "usr/sbin/resize2fs", "usr/sbin/wpa_supplicant",
}  # fmt: skip
# Everything else is in one of these.
FOLDERS = ("etc/", "usr/lib/aarch64-linux-gnu/", "usr/lib/firmware/", "usr/lib/modules/", "usr/share/libcamera/ipa/", "usr/share/udhcpc/")


@pytest.fixture(scope="module", params=["rpi3", *(pytest.param(name, marks=pytest.mark.slow) for name in ("rpi4", "rpi0_2w"))])
def board(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def image(board) -> Path:
    return make_board_image(board)


@pytest.fixture(scope="module")
def contents(board, image, tmp_path_factory) -> Contents:
    return Contents.of(image, tmp_path_factory.mktemp(board))


def test_the_boot_partition_has_exactly_the_files_that_are_used(contents, board):
    legal = {name for name in contents.boot if name.startswith("legal/")}
    assert set(contents.boot) - legal == BOOT.keys() | OWN[board]
    assert all(0 < contents.boot[name] < size for name, size in BOOT.items())
    packages = {line.split()[0] for line in manifest(board)}
    common = {name for name in legal if name.startswith("legal/common-licenses/")}
    own = {"legal/tallycam.txt", "legal/LICENSE", "legal/THIRD-PARTY-NOTICES.md", "legal/sources.txt"}
    assert legal - common == {f"legal/{name}.txt" for name in packages} | own
    assert contents.boot["legal/tallycam.txt"] > 500_000
    assert {"GPL-2", "GPL-3", "LGPL-2.1"} <= {name.rpartition("/")[2] for name in common}


def test_every_license_that_the_copyright_files_name_is_on_the_card(image, tmp_path):
    card = Card(tmp_path, image)
    names = card.all_names()
    for name in names:
        if name.startswith("legal/") and name.endswith(".txt"):
            for other in re.findall(rb"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])", card.read(name)):
                assert f"legal/common-licenses/{other.decode()}" in names, name
    assert b"GNU GENERAL PUBLIC LICENSE" in card.read("legal/busybox.txt")


def manifest(board: str) -> list[str]:
    lines = (CHECKOUT / "out/test-images" / board / "manifest").read_text().splitlines()[1:]
    assert all(re.fullmatch(r"\S+ \S+ [0-9a-f]{64}", line) for line in lines)
    return lines


def test_two_slots_and_the_snapshots_fit_on_the_boot_partition(contents):
    slot = sum(size for name, size in contents.boot.items() if name in ("Image", "initramfs") or name.endswith((".dtb", ".dtbo")))
    assert sum(contents.boot.values()) + slot + 20 * MEGABYTE < 0.9 * 128 * MEGABYTE


def test_the_partitions_are_where_the_map_states(image, tmp_path):
    card = Card(tmp_path, image)
    text = (CHECKOUT / "board/common/genimage.cfg").read_text()
    stated = [tuple(map(int, found)) for found in re.findall(r"offset = (\d+)M\n\t\tsize = (\d+)M", text)]
    assert [card.entry(number) for number in range(4)] == [(offset << 11, size << 11) for offset, size in stated]
    # A card of 1 GB has fewer bytes than 2^30.
    assert sum(stated[-1]) < 900


def test_the_root_file_system_has_no_other_programs_and_files(contents):
    files = {name for name in contents.root if not name.startswith(FOLDERS)}
    assert files == PROGRAMS
    assert {target for name, target in contents.links.items() if name.startswith(("usr/bin/", "usr/sbin/"))} <= {
        "busybox", "../bin/busybox", "../bin/kmod"
    }  # fmt: skip
    assert sum(contents.root.values()) < 64 * MEGABYTE


def test_every_library_is_needed_and_every_needed_library_is_there(contents):
    place = "usr/lib/aarch64-linux-gnu/"
    there = {name.removeprefix(place) for name in contents.root if name.startswith(place)}
    needed = set()
    for name in [*PROGRAMS, *(place + library for library in there)]:
        words = ["aarch64-linux-gnu-readelf", "-d", "-l", str(contents.folder / name)]
        text = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", text)) | set(re.findall(r"interpreter: /lib/(.*)\]", text))
    assert there == needed


def test_the_modules_are_the_listed_ones_and_what_they_need(contents, board):
    assert contents.modules() == contents.needed_modules(listed_modules(board, "debian"))


def test_the_devices_of_the_boards_tree_find_their_drivers(contents, board):
    """Those that the product uses: the card, USB, Wi-Fi's slot, the display, the watchdog, and Ethernet where the tree has it."""
    aliases = (contents.folder / f"usr/lib/modules/{contents.release}/modules.alias").read_text()
    wanted = {"brcm,bcm2835-usb": "dwc2", "brcm,bcm2835-sdhci": "sdhci_iproc"}
    wanted |= (
        {"brcm,bcm2711-genet-v5": "genet", "brcm,bcm2711-vc5": "vc4", "brcm,bcm2711-emmc2": "sdhci_iproc"}
        if board == "rpi4" else {"brcm,bcm2835-vc4": "vc4", "brcm,bcm2835-sdhost": "bcm2835"}
    )  # fmt: skip
    for device, driver in wanted.items():
        assert re.search(rf"^alias of:N\*T\*C{re.escape(device)} {driver}$", aliases, re.MULTILINE), device


# Chips whose firmware the driver asks for, and Debian's archive lacks.
LACKING = {"43430b0"}


def test_the_wifi_chips_have_what_their_driver_asks_for(contents, board):
    words = ["modinfo", "-b", str(contents.folder / "usr"), "-k", contents.release, "-F", "firmware", "brcmfmac"]
    asked = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    there = {name.removeprefix("usr/lib/firmware/") for name in contents.root if "/firmware/brcm/" in name}
    # The driver asks for these of each chip, and does not declare them all.
    asked += [name.removesuffix(".bin") + kind for name in asked if name.endswith("-sdio.bin") for kind in (".txt", ".clm_blob")]
    assert all(any(fnmatch.fnmatchcase(name, pattern) for pattern in asked) for name in there), there
    chips = (CHECKOUT / "board" / board / "wifi-chips").read_text().split("\n", 1)[1].split()
    binaries = {chip: f"brcm/brcmfmac{chip}-sdio.bin" for chip in chips}
    missing = {chip for chip, name in binaries.items() if name in asked and name not in there}
    assert missing == LACKING & set(chips)
    for chip, name in binaries.items():
        if name in there:
            assert any(re.fullmatch(rf"brcm/brcmfmac{chip}-sdio(\..*)?\.txt", other) for other in there), chip


def test_the_description_names_the_board_and_the_card_what_it_lacks(image, board, tmp_path):
    card = Card(tmp_path, image)
    assert json.loads(card.read("board.json")) == json.loads((CHECKOUT / "board" / board / "board.json").read_text())
    assert b"no driver for\ncamera modules" in card.read("README.txt")


def test_a_run_without_changes_says_what_is_there_and_how_to_flash_it(image, board):
    folder = image.parent.relative_to(CHECKOUT)
    words = ["scripts/image", "--kernel", "debian", "--output", str(folder), board]
    shown = subprocess.run(words, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True).stdout
    name = json.loads((CHECKOUT / "board" / board / "board.json").read_text())["name"]
    running = next(line.split()[0] for line in manifest(board) if line.startswith("linux-image-")).removeprefix("linux-image-")
    assert f"\n{folder}/sdcard.img: {name}, kernel {running}, up to date, 340 MB\n" in shown
    assert f"sudo bmaptool copy --bmap {folder}/sdcard.bmap {folder}/sdcard.img.xz /dev/sdX\n" in shown
    assert "Then edit stream.json on the partition TALLYCAM, and network.json for Wi-Fi" in shown
    assert "no driver for\ncamera modules" in shown


@pytest.mark.parametrize("page", ["docs/reference/hardware.md", "docs/develop/add-a-board.md"])
def test_the_contiguous_memory_is_what_the_documents_say(image, board, tmp_path, page):
    """The kernel prefers the command line's to the device tree's."""
    lines = [line.split("|") for line in (CHECKOUT / page).read_text().splitlines()]
    column = next(line.index(" CMA ") for line in lines if " CMA " in line)
    stated = next(line[column] for line in lines if len(line) > column and f"`{board}`" in line[1])
    card = Card(tmp_path, image)
    if asked := re.search(rb"\bcma=(\d+)M", card.read("cmdline.txt")):
        assert stated.strip() == f"{int(asked[1])} MB"
        return
    for name in [name for name in card.names() if name.endswith(".dtb")]:
        (tmp_path / name).write_bytes(card.read(name))
        words = ["fdtget", "-t", "x", str(tmp_path / name), "/reserved-memory/linux,cma", "size"]
        size = int(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout, 16)
        assert f"with `KERNEL=debian` {size >> 20} MB, as its device tree asks" in stated


def test_the_compressed_image_flashes_to_the_same_card(image, tmp_path):
    """As bmaptool writes it, which compares checksums as it goes; and the checksum beside it."""
    subprocess.run(["sha256sum", "--check", "--quiet", "sdcard.img.xz.sha256"], cwd=image.parent, check=True)
    copy = tmp_path / "card"
    # A used card: what is not written keeps its earlier content.
    with open(copy, "wb") as file:
        for _ in range(400):
            file.write(b"\xa5" * MEGABYTE)
    bmaptool = tool("bmaptool")
    words = ["python3", str(bmaptool / "usr/bin/bmaptool"), "copy", "--bmap", str(image.with_name("sdcard.bmap")), f"{image}.xz", str(copy)]
    subprocess.run(["env", f"PYTHONPATH={bmaptool}/usr/lib/python3/dist-packages", *words], check=True, capture_output=True)
    card = Card(tmp_path, image)
    squashfs = card.entry(1)[0] * 512
    with open(image, "rb") as file:
        file.seek(squashfs + 40)
        used = int.from_bytes(file.read(8), "little")
    for number, size in ((0, None), (1, used), (3, None)):
        start, sectors = card.entry(number)
        assert_same(image, copy, start * 512, size or sectors * 512)
    assert_same(image, copy, 0, 512)


def assert_same(image: Path, copy: Path, start: int, size: int) -> None:
    with open(image, "rb") as first, open(copy, "rb") as second:
        first.seek(start)
        second.seek(start)
        while size > 0:
            count = min(size, MEGABYTE)
            assert first.read(count) == second.read(count), start
            size -= count
