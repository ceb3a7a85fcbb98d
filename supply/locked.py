"""The lock file, read: what is installed where the service runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packaging.markers import Marker

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = ROOT / "requirements.txt"
DEVELOPMENT = ROOT / "requirements-dev.txt"
PIN = re.compile(r"^(?P<name>[\w.-]+)(?:\[[\w,-]+\])?==(?P<version>[^\s;\\]+)\s*(?:;\s*(?P<marker>[^\\]+?))?\s*\\?$")


@dataclass
class Pin:
    """One dependency: `hashes` are the SHA-256 of its files, `wanted_by` names what brings it (a file: we do)."""

    name: str
    version: str
    marker: str | None
    hashes: list[str] = field(default_factory=list)
    wanted_by: list[str] = field(default_factory=list)

    @property
    def here(self) -> bool:
        """Whether it is for machines like this one."""
        return self.marker is None or Marker(self.marker).evaluate()

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name.lower().replace('_', '-')}@{self.version}"


def pins(file: Path = RUNTIME) -> list[Pin]:
    """Every locked dependency, in the order of the file."""
    return list(_read(file.read_text().splitlines()))


def _read(lines: list[str]) -> Iterator[Pin]:
    found: Pin | None = None
    for line in lines:
        if start := PIN.match(line):
            if found:
                yield found
            found = Pin(start["name"], start["version"], start["marker"])
        elif found and "--hash=sha256:" in line:
            found.hashes.append(line.partition("sha256:")[2].strip(" \\"))
        elif found and line.startswith("    #"):
            wanted = line.strip(" #").removeprefix("via").strip()
            found.wanted_by += [wanted] if wanted else []
    if found:
        yield found
