"""The card that Buildroot makes, from what Buildroot would leave: board/common/post-image.sh and scripts/finish-card run as they
do there. No complete build was tried. What stands in for Buildroot's files are files of their names."""

import os
import subprocess
from pathlib import Path

import pytest
from board import CHECKOUT
from card import Card

pytestmark = pytest.mark.takes(minutes=0.3, processors=1)

TREES = ("bcm2710-rpi-3-b.dtb", "bcm2710-rpi-3-b-plus.dtb")
FIRMWARE = ("bootcode.bin", "start.elf", "fixup.dat", "config.txt", "cmdline.txt", "overlays/vc4-kms-v3d.dtbo")


@pytest.fixture
def images(tmp_path) -> Path:
    """Buildroot's folder of images, with the license texts beside it."""
    folder = tmp_path / "images"
    for name in ("Image", "rootfs.squashfs", *TREES, *(f"rpi-firmware/{name}" for name in FIRMWARE)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(os.urandom(5000))
    (tmp_path / "legal/packages/busybox-1.38.0").mkdir(parents=True)
    for name in ("packages/busybox-1.38.0/LICENSE", "sources.txt", "tallycam.txt"):
        (tmp_path / "legal" / name).write_text(f"{name}\n")
    return folder


def make(images: Path) -> subprocess.CompletedProcess:
    words = [str(CHECKOUT / "board/common/post-image.sh"), str(images), "rpi3"]
    return subprocess.run(words, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_its_boot_partition_has_what_every_card_has(images, tmp_path):
    made = make(images)
    assert made.returncode == 0, made.stderr
    # Buildroot makes the card again after each change.
    assert make(images).returncode == 0
    output = tmp_path / "output"
    output.mkdir()
    subprocess.run(["scripts/finish-card", str(images), str(output)], cwd=CHECKOUT, check=True)
    card = Card(tmp_path, output / "sdcard.img")
    assert card.all_names() == {
        "Image", *TREES, *FIRMWARE, "board.json", "device.json", "network.json", "stream.json", "README.txt", "firmware/README.txt",
        "legal/packages/busybox-1.38.0/LICENSE", "legal/sources.txt", "legal/tallycam.txt",
    }  # fmt: skip
    assert card.read("board.json") == (CHECKOUT / "board/rpi3/board.json").read_bytes()
    assert card.read("Image") == (images / "Image").read_bytes()
    with open(card.path, "rb") as file:
        file.seek(card.entry(1)[0] * 512)
        assert file.read(5000) == (images / "rootfs.squashfs").read_bytes()
    assert {path.name for path in output.iterdir()} == {"sdcard.img", "sdcard.img.xz", "sdcard.img.xz.sha256", "sdcard.bmap"}
    subprocess.run(["sha256sum", "--check", "--quiet", "sdcard.img.xz.sha256"], cwd=output, check=True)
    assert subprocess.run(["xz", "-dc", output / "sdcard.img.xz"], stdout=subprocess.PIPE).stdout == (output / "sdcard.img").read_bytes()


def test_a_card_without_license_texts_is_not_made(images, tmp_path):
    (tmp_path / "legal/sources.txt").unlink()
    made = make(images)
    assert made.returncode != 0
    assert f"there are no license texts in {tmp_path}/legal; run make image KERNEL=buildroot" in made.stderr
