"""A package archive as Raspberry Pi's, made and signed here: Debian's kernel and firmware under Raspberry Pi's names. It is served
by HTTP, and can break off its downloads."""

import hashlib
import http.server
import re
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

from board import CHECKOUT

CACHE = Path("/var/cache/tallycam-board")
# Marks the versions of this archive's packages.
MARK = "+rpttest"
FIRMWARE = ("raspi-firmware", "firmware-brcm80211")
# Modules of Raspberry Pi's kernel only. Here they are copies of another one, and no device asks for them.
ONLY_THERE = (
    "bcm2835-codec", "bcm2835-isp", "imx219", "imx477", "imx708", "ov5647", "dw9807-vcm", "snd-soc-simple-card",
)  # fmt: skip


def tool(name: str) -> Path:
    script = f"cache={CACHE}; . scripts/lib/rootfs.sh; . scripts/lib/archive.sh; locked unpacked_tool {name}"
    found = subprocess.run(["bash", "-euc", script], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True)
    return Path(found.stdout.strip())


class Key:
    """An OpenPGP key that signs an archive."""

    def __init__(self, folder: Path, name: str):
        self._program = tool("sqop") / "usr/bin/sqop"
        self.secret = self._run(b"", "generate-key", name)
        self.file = folder / f"{name}.asc"
        self.file.write_bytes(self._run(self.secret, "extract-cert"))
        (folder / f"{name}.key").write_bytes(self.secret)
        self._key = folder / f"{name}.key"

    def _run(self, data: bytes, *words: str) -> bytes:
        return subprocess.run([str(self._program), *words], input=data, stdout=subprocess.PIPE, check=True).stdout

    @property
    def fingerprint(self) -> str:
        # Written by the program that made the key, independently of what the scripts compute.
        return re.search(r"Comment: ((?:[0-9A-F]{4} +){9}[0-9A-F]{4})", self.file.read_text())[1].replace(" ", "")

    def sign(self, text: bytes) -> bytes:
        return self._run(text, "inline-sign", "--as", "clearsigned", str(self._key))


class Archive:
    def __init__(self, folder: Path, key: Key):
        self.folder, self.key = folder, key
        self.pool = folder / "pool"
        self.pool.mkdir(parents=True)
        self.broken = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _handler(self) -> type:
        archive = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *words):
                super().__init__(*words, directory=str(archive.folder))

            def copyfile(self, source, output):
                if archive.broken.is_set() and self.path.endswith(".deb"):
                    output.write(source.read(1000))
                    self.close_connection = True
                else:
                    super().copyfile(source, output)

            def log_message(self, *_):
                pass

        return Handler

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        for path in CACHE.glob(f"archives/*{MARK}*"):
            path.unlink()

    def description(self, *, keyring: Path | None = None, fingerprint: str | None = None) -> Path:
        """board/archives/raspberrypi with this archive's address and key."""
        changed = {
            "uri": f"http://127.0.0.1:{self._server.server_port}",
            "keyring": keyring or self.key.file,
            "fingerprint": fingerprint or self.key.fingerprint,
        }
        text = (CHECKOUT / "board/archives/raspberrypi").read_text()
        for name, value in changed.items():
            text, count = re.subn(rf"^{name}=.*$", f"{name}={shlex.quote(str(value))}", text, flags=re.MULTILINE)
            assert count == 1
        path = self.folder / "description"
        path.write_text(text)
        return path

    def add(self, name: str, version: str, tree: Path | None = None, depends: str = "", architecture: str = "arm64") -> None:
        """A package; without a tree, it has no files."""
        stage = self.folder / "stage"
        if tree is None:
            stage.mkdir()
        else:
            tree.rename(stage)
        (stage / "DEBIAN").mkdir(exist_ok=True)
        (stage / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: {version}{MARK}\nArchitecture: {architecture}\nMaintainer: Test <test@example.org>\n"
            + (f"Depends: {depends}\n" if depends else "")
            + "Description: test\n"
        )
        path = self.pool / f"{name}_{version}{MARK}_{architecture}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", str(stage), str(path)], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(stage)

    def publish(self, without: str | None = None, *, signed: bool = True) -> None:
        """Writes and signs the lists, without one of the packages if it is given."""
        lists = self.folder / "dists/trixie"
        (lists / "main/binary-arm64").mkdir(parents=True, exist_ok=True)
        text = subprocess.run(
            ["dpkg-scanpackages", "--multiversion", "pool"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, check=True,
        ).stdout  # fmt: skip
        entries = [entry for entry in text.split("\n\n") if without is None or f"Package: {without}\n" not in entry]
        packages = "\n\n".join(entries).encode()
        (lists / "main/binary-arm64/Packages").write_bytes(packages)
        release = (
            "Origin: Test\nSuite: trixie\nCodename: trixie\nArchitectures: arm64\nComponents: main\n"
            "Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n"
            f" {hashlib.sha256(packages).hexdigest()} {len(packages)} main/binary-arm64/Packages\n"
        )
        (lists / "InRelease").unlink(missing_ok=True)
        if signed:
            (lists / "InRelease").write_bytes(self.key.sign(release.encode()))
        else:
            (lists / "Release").write_text(release)

    def add_kernel(self, version: str, release: str | None = None) -> str:
        """Debian's kernel. With `release`, the paths have that version of the kernel in them. Returns the version in the
        paths."""
        package = debian_package("linux-image-*-arm64")
        tree = unpacked(package, self.folder / "kernel")
        found = next((tree / "usr/lib/modules").iterdir()).name
        modules = tree / "usr/lib/modules" / found / "kernel"
        for name in ONLY_THERE:
            shutil.copy2(modules / "fs/nls/nls_ascii.ko.xz", modules / f"{name}.ko.xz")
        overlays = tree / f"usr/lib/linux-image-{found}/overlays"
        overlays.mkdir()
        # Raspberry Pi's names, and no compression that its kernel lacks.
        for path in (tree / f"usr/lib/linux-image-{found}/broadcom").glob("bcm2837-*"):
            path.rename(path.with_name(path.name.replace("bcm2837", "bcm2710")))
        trees = tree / f"usr/lib/linux-image-{found}/broadcom"
        shutil.copy2(trees / "bcm2710-rpi-cm3-io3.dtb", trees / "bcm2710-rpi-cm3.dtb")
        configuration = tree / f"boot/config-{found}"
        configuration.write_text(configuration.read_text().replace("CONFIG_SQUASHFS_LZ4=y\n", ""))
        (overlays / "README").write_text("Overlays\n")
        for source in (CHECKOUT / "board/common/overlays").glob("*.dtso"):
            subprocess.run(["dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o", str(overlays / f"{source.stem}.dtbo"), str(source)], check=True)
        release = release or found
        for path in [*(tree / "usr/lib").glob(f"*{found}"), *(tree / "usr/lib/modules").iterdir(), *(tree / "boot").iterdir(),
                     *(tree / "usr/share/doc").iterdir()]:  # fmt: skip
            path.rename(path.with_name(path.name.replace(found, release)))
        self.add(f"linux-image-{release}", version, tree)
        self.add("linux-image-rpi-v8", version, depends=f"linux-image-{release} (= {version}{MARK})")
        return release

    def add_firmware(self) -> None:
        for name in FIRMWARE:
            tree = unpacked(debian_package(name), self.folder / name)
            if name == "firmware-brcm80211":
                # As in Raspberry Pi's package, whose installation chooses a variant.
                chosen = tree / "usr/lib/firmware/cypress/cyfmac43455-sdio.bin"
                chosen.rename(chosen.with_name("cyfmac43455-sdio-standard.bin"))
            self.add(name, "1:1", tree, architecture="all")


def debian_package(pattern: str) -> Path:
    """The newest package of this name in the cache. Making an image with Debian's kernel has put it there."""
    found = [path for path in CACHE.glob(f"archives/{pattern}_*.deb") if MARK not in path.name]
    return max(found, key=lambda path: path.stat().st_mtime)


def unpacked(package: Path, folder: Path) -> Path:
    subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    return folder
