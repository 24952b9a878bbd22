"""The image's parts, as far as they can be looked at without making one: scripts and tuning files."""

import os
import re

import pytest
from swift_source import CHECKOUT

FOLDER = CHECKOUT / "buildroot"

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
