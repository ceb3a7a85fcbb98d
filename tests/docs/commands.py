"""The commands in the documents: which pages have some, how a reader types them, and which errors the page announces."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.house.sources import ROOT

GUIDES_FOLDER = ROOT / "docs" / "guides"
SETUP = GUIDES_FOLDER / "README.md"
GUIDES = tuple(sorted(path for path in GUIDES_FOLDER.glob("*.md") if path != SETUP))
SERVER_PAGES = tuple(ROOT / "docs" / f"{name}.md" for name in ("deployment", "scaling", "upgrading"))
"""Their commands install packages and servers as root, so tests read them and do not run them."""
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXPECTED_ERROR = re.compile(r"# (\d{3}) ([A-Z][A-Z_]+)$", re.MULTILINE)
ERROR = re.compile(r'\{"status": ?"error".*?"statusCode": ?"(\d{3})\d\d".*?"shortMessage": ?"(\w+)"')
TOKEN = re.compile(r"eyJ[\w.-]+")
SHELL = ["bash", "-euo", "pipefail", "-x", "-c"]
MAX_SECONDS = 240


@dataclass(frozen=True)
class Outcome:
    """The exit code, the errors of the API in their order as `409 NAME`, and the end of the output."""

    code: int
    errors: list[str]
    output: str


def read_commands(page: Path) -> str:
    """All shell commands of a page."""
    return "\n".join(BLOCK.findall(page.read_text()))


def list_pages_to_run() -> list[Path]:
    """Every document with shell commands, but those of SERVER_PAGES. tests/faults/test_run.py runs those of the README."""
    pages = [*sorted((ROOT / "docs").glob("*.md")), *GUIDES]
    return [page for page in pages if page not in SERVER_PAGES and read_commands(page)]


def list_expected_errors(page: Path) -> list[str]:
    """The errors that a page announces in comments, in their order."""
    return [f"{status} {name}" for status, name in EXPECTED_ERROR.findall(read_commands(page))]


def run_page(page: Path, base: str, data: Path, folder: Path) -> Outcome:
    """Run the setup of the guides and then the commands of a page, in `folder`, which looks like the project."""
    environment = {
        **os.environ,
        "BASE": base,
        "DATA_DIR": str(data),
        "PYTHON": sys.executable,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    script = f"{read_commands(SETUP)}\n{read_commands(page)}"
    try:
        process = subprocess.run(
            [*SHELL, script], cwd=folder, env=environment, capture_output=True, text=True, timeout=MAX_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        return Outcome(-1, [], f"no end after {MAX_SECONDS} s: {_shorten(error.stderr or b'')}")
    errors = list_errors(process.stdout)
    return Outcome(process.returncode, errors, _shorten(process.stdout) + _shorten(process.stderr))


def list_errors(output: str) -> list[str]:
    """The errors of the API in an output."""
    return [f"{status} {name}" for status, name in ERROR.findall(output)]


def create_project_folder(folder: Path) -> Path:
    """Create a folder for files that commands write; its other names link to the project."""
    folder.mkdir(parents=True)
    for name in (
        ".venv",
        "Makefile",
        "app",
        "clients",
        "docs",
        "migrations",
        "mock_rail",
        "requirements.txt",
        "requirements-dev.txt",
        "wsgi.py",
    ):
        (folder / name).symlink_to(ROOT / name)
    return folder


def _shorten(output: str | bytes) -> str:
    text = output.decode(errors="replace") if isinstance(output, bytes) else output
    return "\n" + TOKEN.sub("…", text)[-2500:]
