"""A guide as a reader follows it: its commands, what they are announced to be refused with, and what happened."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.house.sources import ROOT

FOLDER = ROOT / "docs" / "guides"
SETUP, GUIDES = FOLDER / "README.md", tuple(sorted(path for path in FOLDER.glob("*.md") if path.stem != "README"))
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ANNOUNCED = re.compile(r"# (\d{3}) ([A-Z][A-Z_]+)$", re.MULTILINE)
REFUSAL = re.compile(r'\{"status": ?"error".*?"statusCode": ?"(\d{3})\d\d".*?"shortMessage": ?"(\w+)"')
TOKEN = re.compile(r"eyJ[\w.-]+")
STRICT = ["bash", "-euo", "pipefail", "-x", "-c"]
SECONDS = 240


@dataclass(frozen=True)
class Followed:
    """How it went: the exit code, the refusals in their order as `409 NAME`, and the end of what was said."""

    code: int
    refused: list[str]
    said: str


def commands(page: Path) -> str:
    """Everything that a page gives to type into a shell."""
    return "\n".join(BLOCK.findall(page.read_text()))


def announced(page: Path) -> list[str]:
    """The refusals that a page announces, in their order."""
    return [f"{status} {name}" for status, name in ANNOUNCED.findall(commands(page))]


def follow(page: Path, base: str, data: Path, folder: Path) -> Followed:
    """Types what the page says, after what comes before every guide; `folder` looks like the project's."""
    environment = {
        **os.environ,
        "BASE": base,
        "DATA_DIR": str(data),
        "PYTHON": sys.executable,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    script = f"{commands(SETUP)}\n{commands(page)}"
    try:
        done = subprocess.run(
            [*STRICT, script], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as error:
        return Followed(-1, [], f"no end after {SECONDS} s: {_end(error.stderr or b'')}")
    return Followed(done.returncode, refusals(done.stdout), _end(done.stdout) + _end(done.stderr))


def refusals(said: str) -> list[str]:
    """The refusals among the answers."""
    return [f"{status} {name}" for status, name in REFUSAL.findall(said)]


def looks_like_the_project(folder: Path) -> Path:
    """A folder in which files may be written, and whose names lead into the project."""
    folder.mkdir()
    for name in (
        ".venv",
        "Makefile",
        "app",
        "clients",
        "docs",
        "migrations",
        "requirements.txt",
        "requirements-dev.txt",
        "wsgi.py",
    ):
        (folder / name).symlink_to(ROOT / name)
    return folder


def _end(said: str | bytes) -> str:
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return "\n" + TOKEN.sub("…", text)[-2500:]
