"""Keys and certificates for TLS servers, made by openssl once for a test run."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

KEYS = {
    "rsa2048": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    "rsa3072": ["RSA", "-pkeyopt", "rsa_keygen_bits:3072"],
    "rsa4096": ["RSA", "-pkeyopt", "rsa_keygen_bits:4096"],
    "p256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "p384": ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "ed25519": ["ED25519"],
}
START, END = "20200101000000Z", "20990101000000Z"
AUTHORITY = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]


class Certificates:
    """In `directory`: NAME.key and NAME.pem. A server is for localhost."""

    def __init__(self, directory: Path, keys=KEYS):
        self.directory = directory
        directory.mkdir(exist_ok=True)
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.make_key, keys))
        self.make_key("p256", "ca")
        self.certify("ca", None, extensions=AUTHORITY)
        for name in keys:
            self.certify(name, "ca")

    def path(self, name: str) -> Path:
        return self.directory / name

    def openssl(self, *words) -> None:
        subprocess.run(["openssl", *map(str, words)], cwd=self.directory, check=True, capture_output=True)

    def make_key(self, kind: str, name: str | None = None) -> None:
        self.openssl("genpkey", "-algorithm", *KEYS[kind], "-out", f"{name or kind}.key")

    def certify(self, name: str, issuer: str | None, key: str | None = None, subject: str | None = None, end: str = END,
                extensions=("basicConstraints=critical,CA:FALSE", "subjectAltName=DNS:localhost")) -> None:  # fmt: skip
        """For NAME.key, or KEY.key; self-signed without an issuer."""
        signer = ["-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key"] if issuer else []
        self.openssl(
            "req", "-x509", "-key", f"{key or name}.key", *signer, "-subj", f"/CN={subject or name}", "-out", f"{name}.pem",
            "-not_before", START, "-not_after", end, *[word for text in extensions for word in ("-addext", text)],
        )  # fmt: skip

    def make_authority(self, name: str, issuer: str | None) -> None:
        self.make_key("p256", name)
        self.certify(name, issuer, extensions=AUTHORITY)

    def bundle(self, name: str, parts: list[str]) -> Path:
        path = self.path(f"{name}.pem")
        path.write_text("".join(self.path(f"{part}.pem").read_text() for part in parts))
        return path
