"""An authority of a test's own, and what it signs."""

import subprocess
from functools import cached_property
from pathlib import Path

NEW = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]


class Authority:
    """Signs for servers of this machine by its address, or for others by their names."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self.folder, self.name = folder, name

    @cached_property
    def file(self) -> Path:
        """The certificate that a client is to be shown."""
        self._make(self.name, f"/CN={self.name}")
        return self.folder / f"{self.name}.pem"

    def signed(self, server: str, address: str = "IP:127.0.0.1") -> tuple[Path, Path]:
        """The certificate and the key of a server, the same ones each time."""
        cert = self.folder / f"{server}.pem"
        if not cert.exists():
            own = ["-CA", str(self.file), "-CAkey", str(self.file.with_suffix(".key"))]
            said = ["-addext", f"subjectAltName={address}", "-addext", "basicConstraints=critical,CA:FALSE"]
            self._make(server, f"/CN={server}", *own, *said)
        return cert, cert.with_suffix(".key")

    def _make(self, name: str, subject: str, *more: str) -> None:
        files = ["-keyout", str(self.folder / f"{name}.key"), "-out", str(self.folder / f"{name}.pem")]
        subprocess.run([*NEW, "-subj", subject, *more, *files], check=True, capture_output=True)
