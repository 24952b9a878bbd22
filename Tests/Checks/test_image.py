"""The image's parts, as far as they can be checked without making one: scripts and tuning files."""

import ast
import fcntl
import os
import re
import subprocess
from pathlib import Path

import pytest
from swift_source import CHECKOUT

pytestmark = pytest.mark.board_program

FOLDER = CHECKOUT / "buildroot"

SCRIPTS = [*(CHECKOUT / "rootfs-overlay/etc/init.d").iterdir(), *(CHECKOUT / "board/common").glob("*.sh")]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_executable(path):
    """Those of the card have only busybox's shell. Buildroot needs bash itself."""
    first = path.read_text().split("\n", 1)[0]
    assert os.access(path, os.X_OK)
    assert first == "#!/bin/sh" or path.parent.name == "common" and first == "#!/usr/bin/env bash"


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


def refusal(*words: str | Path, manifest: str | Path = "") -> str:
    """The message of scripts/image when it refuses."""
    ended = subprocess.run(
        ["env", f"TALLYCAM_MANIFEST={manifest}", "scripts/image", *words], cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert ended.returncode != 0 and not ended.stdout
    return ended.stderr


def test_the_image_of_an_unknown_board_or_kernel_is_refused():
    assert "choose one of rpi0_2w rpi3 rpi4 rpi5" in refusal("rpi9")
    assert "no board is named" in refusal()
    assert "choose raspberrypi, debian or buildroot" in refusal("--kernel", "other", "rpi3")


@pytest.mark.parametrize("option", ["--kernel", "--output"])
def test_an_option_without_its_value_shows_the_usage(option):
    assert refusal("rpi3", option).startswith("Usage: scripts/image ")


def test_a_path_that_the_build_root_does_not_have_is_refused():
    assert "the folder /srv/images is outside the build root" in refusal("--output", "/srv/images", "rpi3")
    assert "is outside the build root" in refusal("--output", "../elsewhere", "rpi3")
    assert "the manifest /srv/manifest is outside the build root" in refusal("rpi3", manifest="/srv/manifest")
    assert "there is no manifest out/nowhere" in refusal("rpi3", manifest="out/nowhere")


MANIFEST = "# rpi4, kernel debian: package, version, SHA-256\nraspi-firmware 1:1 " + "0" * 64 + "\n"


def named(path: Path) -> Path:
    """As messages name it: a file in the checkout from there."""
    return path.relative_to(CHECKOUT) if path.is_relative_to(CHECKOUT) else path


def test_a_manifest_of_another_board_or_kernel_is_refused(tmp_path):
    path = tmp_path / "manifest"
    path.write_text(MANIFEST)
    message = refusal("--kernel", "debian", "rpi3", manifest=path)
    assert message == (
        f"image: the manifest {named(path)} is of BOARD=rpi4 KERNEL=debian, not of BOARD=rpi3 KERNEL=debian; use one of the same board and"
        " kernel, or none\n"
    )
    assert "is of BOARD=rpi4 KERNEL=debian, not of BOARD=rpi4 KERNEL=raspberrypi" in refusal("rpi4", manifest=path)


def test_a_file_that_is_not_a_manifest_is_refused(tmp_path):
    path = tmp_path / "manifest"
    path.write_text(MANIFEST.split("\n", 1)[1])
    assert f'{named(path)} is not a manifest: its first line is not "# rpi3, kernel raspberrypi: ..."' in refusal("rpi3", manifest=path)


def test_buildroot_refuses_what_it_would_ignore():
    assert "takes no MANIFEST and no --output" in refusal("--kernel", "buildroot", "rpi3", manifest="out/rpi3/manifest")
    assert "takes no MANIFEST and no --output" in refusal("--kernel", "buildroot", "--output", "out/other", "rpi3")


def sourced(script: str) -> subprocess.CompletedProcess:
    """Runs a script with the functions of the images' scripts."""
    before = "cache=/nowhere work=/nowhere board=rpi3 kernel=debian recipe=board/rpi3 overlays=kernel; fail() { echo \"$*\" >&2; exit 1; }"
    libraries = "".join(f". scripts/lib/{name}.sh; " for name in ("rootfs", "archive", "card", "boot", "legal"))
    return subprocess.run(
        ["bash", "-euc", f"{before}; {libraries}{script}"], cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_each_missing_device_tree_is_named(tmp_path):
    trees = (CHECKOUT / "board/rpi3/device-trees").read_text()
    names = re.search(r"^debian +(.*)$", trees, re.MULTILINE)[1].split()
    (tmp_path / "kernel/broadcom").mkdir(parents=True)
    (tmp_path / "kernel/overlays").mkdir()
    (tmp_path / "kernel/overlays/README").touch()
    for name in names:
        (tmp_path / f"kernel/broadcom/{name}.dtb").touch()
    (tmp_path / "card").mkdir()
    script = f"take_device_trees '{tmp_path}/kernel' '{tmp_path}/card'; echo $boot_files"
    assert sourced(script).stdout.split() == [f"{name}.dtb" for name in names]
    (tmp_path / f"kernel/broadcom/{names[-1]}.dtb").unlink()
    assert f"has no device tree broadcom/{names[-1]}.dtb" in sourced(script).stderr


def test_all_keys_of_a_keyring_are_seen(tmp_path):
    keyring = CHECKOUT / "board/archives/raspberrypi.asc"
    expected = re.search(r"^fingerprint=(.*)$", (CHECKOUT / "board/archives/raspberrypi").read_text(), re.MULTILINE)[1]
    assert sourced(f"key_fingerprints {keyring}").stdout.split() == [expected]
    twice = tmp_path / "twice.asc"
    twice.write_bytes(keyring.read_bytes() * 2)
    assert sourced(f"key_fingerprints {twice}").stdout.split() == [expected, expected]
    twice.write_text("not a keyring")
    assert sourced(f"key_fingerprints {twice}").returncode != 0


def test_what_an_interrupted_run_has_left_is_replaced(tmp_path):
    (tmp_path / "made").write_text("new")
    (tmp_path / "sdcard.img.new").write_text("half of one")
    assert sourced(f"hand_over '{tmp_path}/made' '{tmp_path}/sdcard.img'").returncode == 0
    assert (tmp_path / "sdcard.img").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "sdcard.img"]


def test_a_run_that_waits_for_another_one_says_so(tmp_path):
    script = f"exec 5>'{tmp_path}/lock'; take_turn 5 'waiting for another run, which makes a card'; echo its turn"
    assert (alone := sourced(script)).stdout == "its turn\n" and not alone.stderr
    with open(tmp_path / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ["bash", "-euc", f". scripts/lib/turns.sh; {script}"]
        waiting = subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr.readline() == "waiting for another run, which makes a card\n"
        assert waiting.poll() is None
    assert waiting.communicate()[0] == "its turn\n"


def test_one_run_at_a_time_fetches_buildroot(tmp_path):
    """There is nothing to fetch from; so the run whose turn it is fails."""
    with open(tmp_path / "buildroot.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ["env", f"TALLYCAM_CACHE={tmp_path}", f"TALLYCAM_BUILDROOT_URL={tmp_path}/nowhere", "scripts/image-buildroot", "--check"]
        waiting = subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr.readline() == "image: waiting for another run, which fetches Buildroot\n"
        assert waiting.poll() is None
    assert f"Buildroot could not be fetched from {tmp_path}/nowhere" in waiting.communicate()[1]
    assert waiting.returncode != 0


def test_no_script_of_the_cards_waits_silently():
    """The virtual board's parts are kept by the script that makes them, and it waits for this cache only."""
    scripts = [*(CHECKOUT / "scripts").glob("image*"), CHECKOUT / "scripts/userland", *(CHECKOUT / "scripts/lib").glob("*.sh")]
    assert {path.name for path in scripts if re.search(r"\bflock\b", path.read_text())} == {"turns.sh"}


def test_a_missing_license_text_is_named_with_its_package(tmp_path):
    legal = tmp_path / "legal"
    legal.mkdir()
    (legal / "mdnsd.txt").write_text("The text is in /usr/share/common-licenses/GPL-2, and /usr/share/common-licenses/Unheard-of-1.0.\n")
    ended = sourced(f"common_licenses '{legal}'")
    assert ended.returncode != 0
    assert ended.stderr == (
        "the license text of the package mdnsd names /usr/share/common-licenses/Unheard-of-1.0, which the build root does not have\n"
    )
    assert sorted(path.name for path in (legal / "common-licenses").iterdir()) == ["GPL-2"]
    ended = sourced(f"package_license '{tmp_path}' kmod '{legal}'")
    assert ended.returncode != 0
    assert "the package kmod has no license text: its file usr/share/doc/kmod/copyright is missing" in ended.stderr


# The first line as Buildroot 2025.02.16 writes it, and one with its form.
BUILDROOT_MANIFEST = (
    '"PACKAGE","VERSION","LICENSE","LICENSE FILES","SOURCE ARCHIVE","SOURCE SITE","DEPENDENCIES WITH LICENSES"\n'
    '"busybox","1.38.0","GPL-2.0, bzip2-1.0.4","LICENSE","busybox-1.38.0.tar.bz2","https://www.busybox.net/downloads","skeleton [unknown]"\n'
)


def test_buildroots_licenses_are_collected_for_the_card(tmp_path):
    info, legal = tmp_path / "legal-info", tmp_path / "legal"
    legal.mkdir()
    assert f"there is no {info}/manifest.csv" in sourced(f"buildroot_licenses '{info}' '{legal}'").stderr
    (info / "licenses/busybox-1.38.0").mkdir(parents=True)
    (info / "licenses/busybox-1.38.0/LICENSE").write_text("GNU GENERAL PUBLIC LICENSE\n")
    (info / "manifest.csv").write_text(BUILDROOT_MANIFEST)
    assert sourced(f"buildroot_licenses '{info}' '{legal}'").returncode == 0
    assert (legal / "packages/busybox-1.38.0/LICENSE").read_text() == "GNU GENERAL PUBLIC LICENSE\n"
    expected = "busybox 1.38.0, GPL-2.0, bzip2-1.0.4: https://www.busybox.net/downloads/busybox-1.38.0.tar.bz2"
    assert (legal / "sources.txt").read_text().splitlines()[2:] == [expected]


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
