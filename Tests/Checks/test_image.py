"""The image's parts, as far as they can be looked at without making one: Buildroot's symbols, scripts, tuning files."""

import os
import re

import pytest
from swift_source import CHECKOUT

FOLDER = CHECKOUT / "buildroot"
CONFIGURATIONS = sorted((FOLDER / "configs").glob("tallycam_*_defconfig"))
BOARDS = [path.name.removeprefix("tallycam_").removesuffix("_defconfig") for path in CONFIGURATIONS]


def own_symbols() -> set[str]:
    texts = [path.read_text() for path in FOLDER.glob("package/*/Config.in")]
    return {symbol for text in texts for symbol in re.findall(r"^config (BR2_\w+)$", text, re.MULTILINE)}


def known_symbols() -> set[str]:
    """Those that were found in the release of Buildroot that scripts/image uses."""
    head, *lines = (FOLDER / "symbols").read_text().splitlines()
    release = re.search(r"release=(\S+)", (CHECKOUT / "scripts/image").read_text())[1]
    assert release in head, "written for another release: scripts/image --symbols"
    return {line.split()[0] for line in lines}


def symbols_in(text: str) -> set[str]:
    return set(re.findall(r"BR2_\w+", text)) - {"BR2_EXTERNAL_TALLYCAM_PATH"}


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=BOARDS)
def test_buildroot_has_every_symbol(path):
    assert symbols_in(path.read_text()) - own_symbols() <= known_symbols()


def test_a_symbol_that_buildroot_does_not_have_is_seen():
    text = CONFIGURATIONS[0].read_text().replace("BR2_PACKAGE_MDNSD=", "BR2_PACKAGE_MDSND=")
    assert symbols_in(text) - own_symbols() - known_symbols() == {"BR2_PACKAGE_MDSND"}


def test_the_package_keeps_to_buildroot_s_conventions():
    assert (FOLDER / "external.desc").read_text().startswith("name: TALLYCAM\ndesc: ")
    for folder in (FOLDER / "package").iterdir():
        name, text = folder.name, (folder / f"{folder.name}.mk").read_text()
        line = "#" * 80
        assert text.startswith(f"{line}\n#\n# {name}\n#\n{line}\n\n{name.upper()}_VERSION = ")
        assert text.endswith("\n\n$(eval $(generic-package))\n")
        assert not re.search(r"^ +\S|[ \t]$", text, re.MULTILINE), "tabs indent, and nothing trails"
        options = (folder / "Config.in").read_text()
        assert f"config BR2_PACKAGE_{name.upper()}\n\tbool \"{name}\"\n" in options
        assert symbols_in(options) <= own_symbols() | known_symbols()
        assert f"package/{name}/Config.in" in (FOLDER / "Config.in").read_text()
        for help_text in re.findall(r"\thelp\n((?:\t  .*\n|\n)+)", options):
            assert all(len(line.expandtabs(8)) <= 72 for line in help_text.splitlines())


@pytest.mark.parametrize("board", BOARDS)
def test_a_board_has_what_its_card_is_made_of(board):
    folder = CHECKOUT / "board" / board
    for name in ("board.json", "config.txt", "cmdline.txt"):
        assert (folder / name).stat().st_size > 0
    command_line = (folder / "cmdline.txt").read_text()
    assert command_line.count("\n") == 1 and "root=/dev/mmcblk0p2 rootfstype=squashfs ro rootwait" in command_line
    # The kernel by the commit that Buildroot's own configurations of this release name: its hash comes with them.
    text = (FOLDER / f"configs/tallycam_{board}_defconfig").read_text()
    assert re.search(r"github,raspberrypi,linux,([0-9a-f]{40})\)/linux-\1\.tar\.gz", text)
    assert 'BR2_GLOBAL_PATCH_DIR="board/raspberrypi/patches"' in text and "BR2_DOWNLOAD_FORCE_CHECK_HASHES=y" in text


SCRIPTS = [*(CHECKOUT / "rootfs-overlay/etc/init.d").iterdir(), *(CHECKOUT / "board/common").glob("*.sh")]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_can_be_run(path):
    assert os.access(path, os.X_OK) and path.read_text().startswith("#!/bin/sh\n")


TUNING = CHECKOUT / "out/aarch64/share/libcamera/ipa"


def test_every_sensor_of_the_kernel_has_its_tuning_file():
    kernel = (CHECKOUT / "board/common/linux.fragment").read_text()
    sensors = [name.lower() for name in re.findall(r"^CONFIG_VIDEO_((?:IMX|OV)\d+)=m$", kernel, re.MULTILINE)]
    assert len(sensors) == 4
    for name in [*sensors, "uncalibrated"]:
        assert (TUNING / f"rpi/vc4/{name}.json").stat().st_size > 1000, "run 'make build'"
    assert (TUNING / "simple/uncalibrated.yaml").exists()


def test_the_tuning_files_are_where_the_program_looks():
    """The package and the virtual card put them into the folder that is compiled in."""
    assert b"/usr/share/libcamera/ipa" in (CHECKOUT / "out/aarch64/tallycam").read_bytes()
    package = (FOLDER / "package/tallycam/tallycam.mk").read_text()
    assert "cp -a $(@D)/share/libcamera/ipa $(TARGET_DIR)/usr/share/libcamera/" in package
    assert 'cp -r out/aarch64/share/libcamera/ipa "$root/usr/share/libcamera/"' in (CHECKOUT / "scripts/image-virtual").read_text()
