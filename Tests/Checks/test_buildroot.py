"""Buildroot's external tree, as far as it can be checked without Buildroot: symbols, hashes, layout. A part of `make lint`."""

import hashlib
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
    """The symbols that exist in the Buildroot release that scripts/image uses."""
    head, *lines = (FOLDER / "symbols").read_text().splitlines()
    release = re.search(r"release=(\S+)", (CHECKOUT / "scripts/image-buildroot").read_text())[1]
    assert release in head, "written for another release: scripts/image --symbols"
    return {line.split()[0] for line in lines}


def symbols_in(text: str) -> set[str]:
    return set(re.findall(r"BR2_\w+", text)) - {"BR2_EXTERNAL_TALLYCAM_PATH"}


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=BOARDS)
def test_buildroot_has_every_symbol(path):
    assert symbols_in(path.read_text()) - own_symbols() <= known_symbols()


def test_a_symbol_that_buildroot_lacks_is_detected():
    text = CONFIGURATIONS[0].read_text().replace("BR2_PACKAGE_MDNSD=", "BR2_PACKAGE_MDSND=")
    assert symbols_in(text) - own_symbols() - known_symbols() == {"BR2_PACKAGE_MDSND"}


def test_the_package_follows_buildroots_conventions():
    assert (FOLDER / "external.desc").read_text().startswith("name: TALLYCAM\ndesc: ")
    for folder in (FOLDER / "package").iterdir():
        name, text = folder.name, (folder / f"{folder.name}.mk").read_text()
        line = "#" * 80
        assert text.startswith(f"{line}\n#\n# {name}\n#\n{line}\n\n{name.upper()}_VERSION = ")
        assert text.endswith("\n\n$(eval $(generic-package))\n")
        assert not re.search(r"^ +\S|[ \t]$", text, re.MULTILINE), "indent with tabs, and leave no trailing space"
        options = (folder / "Config.in").read_text()
        assert f"config BR2_PACKAGE_{name.upper()}\n\tbool \"{name}\"\n" in options
        assert symbols_in(options) <= own_symbols() | known_symbols()
        assert f"package/{name}/Config.in" in (FOLDER / "Config.in").read_text()
        for help_text in re.findall(r"\thelp\n((?:\t  .*\n|\n)+)", options):
            assert all(len(line.expandtabs(8)) <= 72 for line in help_text.splitlines())


@pytest.mark.parametrize("board", BOARDS)
def test_a_board_has_the_files_for_its_card(board):
    folder = CHECKOUT / "board" / board
    for name in ("board.json", "config.txt", "cmdline.txt"):
        assert (folder / name).stat().st_size > 0
    command_line = (folder / "cmdline.txt").read_text()
    assert command_line.count("\n") == 1 and "root=/dev/mmcblk0p2 rootfstype=squashfs ro rootwait" in command_line
    # The kernel by its commit, and its hash, which is not Buildroot's own in this release.
    text = (FOLDER / f"configs/tallycam_{board}_defconfig").read_text()
    archive = re.search(r"github,raspberrypi,linux,([0-9a-f]{40})\)/(linux-\1\.tar\.gz)", text)[2]
    assert re.search(rf"^sha256  [0-9a-f]{{64}}  {archive}$", (FOLDER / "patches/linux/linux.hash").read_text(), re.MULTILINE)
    assert 'BR2_GLOBAL_PATCH_DIR="board/raspberrypi/patches $(BR2_EXTERNAL_TALLYCAM_PATH)/patches"' in text
    assert "BR2_DOWNLOAD_FORCE_CHECK_HASHES=y" in text


@pytest.mark.parametrize("board", BOARDS)
def test_a_card_has_the_programs_that_let_its_last_partition_grow(board):
    text = (FOLDER / f"configs/tallycam_{board}_defconfig").read_text().splitlines()
    assert {"BR2_PACKAGE_E2FSPROGS_FSCK=y", "BR2_PACKAGE_E2FSPROGS_RESIZE2FS=y", "BR2_PACKAGE_UTIL_LINUX_PARTX=y"} <= set(text)
    start = (CHECKOUT / "rootfs-overlay/etc/init.d/S20state").read_text()
    assert all(f"{program} " in start for program in ("e2fsck", "resize2fs", "partx"))


@pytest.mark.parametrize("board", BOARDS)
def test_a_card_has_the_programs_that_repair_sticks(board):
    text = (FOLDER / f"configs/tallycam_{board}_defconfig").read_text().splitlines()
    assert {"BR2_PACKAGE_DOSFSTOOLS_FSCK_FAT=y", "BR2_PACKAGE_EXFATPROGS=y"} <= set(text)
    start = (CHECKOUT / "rootfs-overlay/etc/init.d/S25media").read_text()
    assert "fsck.fat -a" in start and "fsck.exfat -p" in start


def loaded(text: str) -> dict[str, str]:
    """The files that scripts/image --check has loaded in Buildroot without losing a symbol: hashes by name."""
    return {name: digest for digest, name in re.findall(r"^([0-9a-f]{64})  (\S+)$", text, re.MULTILINE)}


def not_loaded(text: str) -> set[str]:
    """The files that differ from the loaded ones, so that a symbol may be lost: for a wrong name or type, or missing
    dependencies."""
    files = [*CONFIGURATIONS, *FOLDER.glob("package/*/Config.in"), FOLDER / "Config.in", FOLDER / "external.desc"]
    present = {str(path.relative_to(FOLDER)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    record = loaded(text)
    return {name for name in present.keys() | record.keys() if present.get(name) != record.get(name)}


def test_every_configuration_was_loaded_in_its_present_form():
    assert not not_loaded((FOLDER / "loaded").read_text()), "run scripts/image --check"


def test_a_changed_configuration_is_detected():
    text = (FOLDER / "loaded").read_text()
    before, digest = not_loaded(text), loaded(text)["configs/tallycam_rpi4_defconfig"]
    assert not_loaded(text.replace(digest, "0" * 64)) == before | {"configs/tallycam_rpi4_defconfig"}
    assert not_loaded(re.sub("^.*  Config.in\n", "", text, flags=re.MULTILINE)) == before | {"Config.in"}


def test_the_loading_release_is_the_one_that_makes_the_image():
    script = (CHECKOUT / "scripts/image-buildroot").read_text()
    release, commit = re.search(r"release=(\S+) commit=([0-9a-f]{40})\n", script).groups()
    assert f"Buildroot {release}, commit {commit}" in (FOLDER / "loaded").read_text().splitlines()[0]


def test_buildroots_configurations_consist_of_their_fragments():
    folder = FOLDER / "configs"
    common = (folder / "fragments/common.config").read_text()
    boards = [path.stem for path in (folder / "fragments").glob("rpi*.config")]
    assert sorted(boards) == ["rpi0_2w", "rpi3", "rpi4", "rpi5"]
    for board in boards:
        whole = (folder / f"tallycam_{board}_defconfig").read_text()
        assert whole == common + (folder / f"fragments/{board}.config").read_text()
        for path in re.findall(r"\$\(BR2_EXTERNAL_TALLYCAM_PATH\)/([^\s\"]+)", whole):
            assert (FOLDER / path).exists(), path
        lines = [line for line in whole.splitlines() if line]
        symbols = [re.match(r"(?:# )?(BR2_\w+)", line).group(1) for line in lines]
        assert len(symbols) == len(set(symbols)), "a symbol is set twice"
        assert all(re.fullmatch(r"BR2_\w+=(y|\".*\")|# BR2_\w+ is not set", line) for line in lines)
