"""A card with the kernel of Raspberry Pi's archive. A local archive stands in for it, with Debian's kernel under the names of
that archive: Raspberry Pi's own is out of the tests' reach."""

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from board import CHECKOUT
from card import Card, make_board_image
from card_contents import Contents
from package_archive import CACHE, Archive, Key
from raspi import RASPI3B, RaspberryPi

pytestmark = pytest.mark.takes(minutes=1.1, processors=0.45)

OUTPUT = "out/test-images/archive"
UNREADABLE = "the package archive could not be read, or its signature is not valid"


@dataclass
class Local:
    archive: Archive
    other_key: Key
    release: str

    def make(self, description: Path, manifest: str | Path = "") -> subprocess.CompletedProcess:
        return subprocess.run(
            ["env", f"TALLYCAM_ARCHIVE={description}", f"TALLYCAM_MANIFEST={manifest}", "scripts/image", "--output", OUTPUT, "rpi3"],
            cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def fails(self, description: Path, *messages: str) -> None:
        """Each of the messages is shown, and nothing is left in the image's folder."""
        made = self.make(description)
        assert made.returncode != 0 and all(message in made.stdout for message in messages), made.stdout
        assert [path.name for path in (CHECKOUT / OUTPUT).iterdir()] == ["lock"]


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    # It fetches the packages that are repackaged.
    make_board_image("rpi3")
    folder = tmp_path_factory.mktemp("archive")
    archive = Archive(folder / "served", Key(folder, "right"))
    release = archive.add_kernel("1:6.12.1")
    archive.add_firmware()
    yield Local(archive, Key(folder, "wrong"), release)
    archive.close()


@pytest.fixture(autouse=True)
def no_image_of_before(local):
    shutil.rmtree(CHECKOUT / OUTPUT, ignore_errors=True)
    local.archive.publish()
    local.archive.broken.clear()


def test_an_archive_signed_by_another_key_is_refused(local):
    other = local.other_key
    local.fails(local.archive.description(keyring=other.file, fingerprint=other.fingerprint), "Missing key ", UNREADABLE)


@pytest.mark.slow
def test_a_key_with_another_fingerprint_is_refused(local):
    message = f"is not the key {local.archive.key.fingerprint} that"
    local.fails(local.archive.description(keyring=local.other_key.file), message)


@pytest.mark.slow
def test_a_keyring_with_another_key_beside_the_right_one_is_refused(local, tmp_path):
    both = tmp_path / "both.asc"
    both.write_bytes(local.archive.key.file.read_bytes() + local.other_key.file.read_bytes())
    local.fails(local.archive.description(keyring=both), "and that alone")


@pytest.mark.slow
def test_a_list_that_was_changed_after_it_was_signed_is_refused(local):
    path = local.archive.folder / "dists/trixie/InRelease"
    path.write_bytes(path.read_bytes().replace(b"Origin: Test", b"Origin: Fake"))
    local.fails(local.archive.description(), "Message has been manipulated", UNREADABLE)


@pytest.mark.slow
def test_an_archive_without_a_signature_is_refused(local):
    local.archive.publish(signed=False)
    local.fails(local.archive.description(), "is not signed", UNREADABLE)


@pytest.mark.slow
def test_a_list_of_packages_that_the_signed_list_does_not_name_is_refused(local):
    path = local.archive.folder / "dists/trixie/main/binary-arm64/Packages"
    path.write_bytes(path.read_bytes().replace(b"Architecture: arm64", b"Architecture: arm46", 1))
    local.fails(local.archive.description(), "Hash Sum mismatch", UNREADABLE)


@pytest.mark.slow
def test_a_key_may_be_in_a_folder_with_a_space_in_its_name(local, tmp_path):
    """Nothing is missing but a package."""
    keyring = tmp_path / "two words/key.asc"
    keyring.parent.mkdir()
    shutil.copy(local.archive.key.file, keyring)
    local.archive.publish(without="raspi-firmware")
    local.fails(local.archive.description(keyring=keyring), "the archive has no package raspi-firmware")


@pytest.mark.slow
def test_a_missing_package_is_named(local):
    local.archive.publish(without="raspi-firmware")
    local.fails(local.archive.description(), "the archive has no package raspi-firmware")
    local.archive.publish(without="linux-image-rpi-v8")
    local.fails(local.archive.description(), "the archive has no package linux-image-rpi-v8")


@pytest.mark.slow
def test_a_download_that_breaks_off_is_reported(local):
    local.archive.broken.set()
    local.fails(local.archive.description(), "could not be downloaded whole; run this again")


def test_a_package_that_was_damaged_in_the_cache_is_removed(local):
    """apt itself looks at the size only."""
    served = next(local.archive.pool.glob(f"linux-image-{local.release}_*.deb"))
    content = bytearray(served.read_bytes())
    content[len(content) // 2] ^= 1
    cached = CACHE / "archives" / served.name.replace(":", "%3a")
    cached.write_bytes(content)
    local.fails(local.archive.description(), "was damaged and is removed")
    assert not cached.exists()


@pytest.mark.slow
def test_the_shipped_key_is_the_one_that_is_named():
    text = (CHECKOUT / "board/archives/raspberrypi").read_text()
    values = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    script = f"cache=/; . scripts/lib/archive.sh; key_fingerprints {values['keyring']}"
    found = subprocess.run(["bash", "-euc", script], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True)
    assert found.stdout.strip() == values["fingerprint"]


def modules(card: Path, folder: Path) -> list[str]:
    """The versions of the kernel in the paths of the card's modules."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    root = Contents.of(card, folder).root
    shutil.rmtree(folder)
    return sorted({name.split("/")[3] for name in root if name.startswith("usr/lib/modules/")})


@pytest.mark.slow
@pytest.mark.takes(minutes=4, processors=0.45)
def test_the_card_boots_and_follows_a_newer_kernel(local, tmp_path):
    """First after a download that broke off. Then the archive has a newer kernel, with another version in its paths; and a
    manifest asks for the former one."""
    local.archive.broken.set()
    local.fails(local.archive.description(), "could not be downloaded whole")
    local.archive.broken.clear()
    made = local.make(local.archive.description())
    assert made.returncode == 0, made.stdout
    image = CHECKOUT / OUTPUT / "sdcard.img"
    manifest = image.with_name("manifest")
    assert f"linux-image-{local.release} 1:6.12.1+rpttest " in manifest.read_text()
    card = Card(tmp_path, image)
    description = json.loads((CHECKOUT / "board/rpi3/board.json").read_text())
    del description["watchdog"]
    card.write("board.json", description)
    with RaspberryPi(RASPI3B, tmp_path, card) as pi:
        pi.wait_for("tallycam> ", 240)
    former = tmp_path / "manifest"
    shutil.copy(manifest, former)
    newer = local.archive.add_kernel("1:6.12.2", "6.12.222+rpt-rpi-v8")
    local.archive.publish()
    made = local.make(local.archive.description())
    assert made.returncode == 0, made.stdout
    assert modules(image, tmp_path) == [newer] and f"kernel {newer}" in made.stdout
    check_former(local, former, manifest, image, tmp_path)


def check_former(local, former: Path, manifest: Path, image: Path, folder: Path) -> None:
    made = local.make(local.archive.description(), former)
    assert made.returncode == 0, made.stdout
    assert modules(image, folder) == [local.release] and manifest.read_text() == former.read_text()
