"""The image's parts, as far as they can be checked without making one: scripts and tuning files."""

import ast
import os
import re
import subprocess

import pytest
from swift_source import CHECKOUT

FOLDER = CHECKOUT / "buildroot"

SCRIPTS = [*(CHECKOUT / "rootfs-overlay/etc/init.d").iterdir(), *(CHECKOUT / "board/common").glob("*.sh")]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_executable(path):
    assert os.access(path, os.X_OK) and path.read_text().startswith("#!/bin/sh\n")


OVERLAY = CHECKOUT / "rootfs-overlay"


def test_busybox_has_no_way_in_and_no_unused_daemon():
    """The card's own test (has_no_login) checks what was built; this one checks each board's configuration."""
    fragment = (CHECKOUT / "board/common/busybox.fragment").read_text()
    off = set(re.findall(r"^# CONFIG_([A-Z0-9_]+) is not set$", fragment, re.MULTILINE))
    on = set(re.findall(r"^CONFIG_([A-Z0-9_]+)=y$", fragment, re.MULTILINE))
    sets = re.findall(r"^(?:LOGIN|SERVERS|DAEMONS) = (\{.*?\})", (CHECKOUT / "Tests/VirtualBoard/ways_in.py").read_text(), re.M | re.S)
    doors = set().union(*map(ast.literal_eval, sets)) - {"sshd", "dropbear"}
    assert len(sets) == 3 and len(doors) > 25
    assert {name.upper() for name in doors} <= off
    # Enabled daemons are started by the overlay's scripts.
    scripts = "".join(path.read_text() for path in OVERLAY.rglob("*") if path.is_file())
    started = set(re.findall(r"\b[a-z][a-z0-9]+\b", re.sub("#.*", "", scripts)))
    assert {name.lower() for name in on if not name.startswith("FEATURE_")} <= started
    assert not {name.lower() for name in off} & started


TUNING = CHECKOUT / "out/aarch64/share/libcamera/ipa"


def test_every_sensor_of_the_kernel_has_its_tuning_file():
    kernel = (CHECKOUT / "board/common/linux.fragment").read_text()
    sensors = [name.lower() for name in re.findall(r"^CONFIG_VIDEO_((?:IMX|OV)\d+)=m$", kernel, re.MULTILINE)]
    assert len(sensors) == 4
    for name in [*sensors, "uncalibrated"]:
        assert (TUNING / f"rpi/vc4/{name}.json").stat().st_size > 1000, "run 'make build'"
    assert (TUNING / "simple/uncalibrated.yaml").exists()


def test_the_tuning_files_are_where_the_program_expects_them():
    """Buildroot's package and the other cards' scripts put them into the folder whose path is compiled in."""
    assert b"/usr/share/libcamera/ipa" in (CHECKOUT / "out/aarch64/tallycam").read_bytes()
    package = (FOLDER / "package/tallycam/tallycam.mk").read_text()
    assert "cp -a $(@D)/share/libcamera/ipa $(TARGET_DIR)/usr/share/libcamera/" in package
    assert 'cp -r out/aarch64/share/libcamera/ipa "$root/usr/share/libcamera/"' in (CHECKOUT / "scripts/lib/card.sh").read_text()


# The USB controller of the socket for a computer; a Raspberry Pi 3B has no such socket.
DEVICE_PORTS = {"rpi0_2w": ["otg"], "rpi3": [], "rpi4": ["peripheral"], "rpi5": ["peripheral"]}


@pytest.mark.parametrize("board", DEVICE_PORTS)
def test_a_board_has_the_device_port_of_its_socket(board):
    settings = (CHECKOUT / "board" / board / "config.txt").read_text()
    assert re.findall(r"^dtoverlay=dwc2,dr_mode=(\w+)$", settings, re.MULTILINE) == DEVICE_PORTS[board]


def test_the_kernel_has_a_webcams_functions_and_no_gadget_of_its_own():
    kernel = (CHECKOUT / "board/common/linux.fragment").read_text()
    on = set(re.findall(r"^CONFIG_USB_(\w+)=[ym]$", kernel, re.MULTILINE))
    functions = set(re.findall(r'"functions/(\w+)\.', (CHECKOUT / "Sources/USBVideo/GadgetTree.swift").read_text()))
    assert functions == {"uvc", "uac2"}
    assert {"GADGET", "DWC2", "DWC2_DUAL_ROLE", "CONFIGFS", *(f"CONFIGFS_F_{name.upper()}" for name in functions)} <= on
    off = set(re.findall(r"^# CONFIG_USB_(\w+) is not set$", kernel, re.MULTILINE))
    assert {"ETH", "G_SERIAL", "MASS_STORAGE", "G_MULTI", "G_WEBCAM"} <= off
    # Where the gadget is created.
    root = re.search(r'root = "(/sys/\S+)/usb_gadget"', (CHECKOUT / "Sources/BoardIO/BoundGadget.swift").read_text())[1]
    start = (OVERLAY / "etc/init.d/S10modules").read_text()
    assert "modprobe -q libcomposite && mount -t configfs" in start and f" {root} " in start


def refusal(*words: str) -> str:
    """The message of scripts/image when it refuses."""
    ended = subprocess.run(["scripts/image", *words], cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ended.returncode != 0 and not ended.stdout
    return ended.stderr


def test_the_image_of_an_unknown_board_or_kernel_is_refused():
    assert "choose one of rpi0_2w rpi3 rpi4 rpi5" in refusal("rpi9")
    assert "no board is named" in refusal()
    assert "choose raspberrypi, debian or buildroot" in refusal("--kernel", "other", "rpi3")


def test_debians_kernel_is_refused_for_a_raspberry_pi_5_with_the_reason():
    assert "no RP1" in refusal("--kernel", "debian", "rpi5")


def test_an_image_needs_free_disk_space(tmp_path):
    """Scratch files are put into a folder with one megabyte."""
    small = tmp_path / "small"
    small.mkdir()
    script = 'mount -t tmpfs -o size=1m small "$0" && TMPDIR=$0 exec scripts/image-prebuilt rpi3 debian "$1"'
    ended = subprocess.run(
        ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", script, small, tmp_path / "out"],
        cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert ended.returncode != 0
    assert f"{small} has 1 MB free, but 1500 MB are needed" in ended.stderr


@pytest.mark.parametrize("board", DEVICE_PORTS)
def test_each_overlay_of_config_txt_has_a_source_for_debians_kernel(board):
    """Debian has no kernel for a Raspberry Pi 5."""
    settings = (CHECKOUT / "board" / board / "config.txt").read_text()
    for name in re.findall(r"^dtoverlay=([^,\n]+)", settings, re.MULTILINE) if board != "rpi5" else []:
        places = [CHECKOUT / "board" / place / f"overlays/{name}.dtso" for place in (board, "common")]
        assert any(place.exists() for place in places), name
