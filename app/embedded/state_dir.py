"""Where the servers keep their files, with nothing changed outside the folders made here."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.embedded.errors import EmbeddedError
from app.embedded.os_user import Account

LONGEST_SOCKET = 100  # The systems allow 107 bytes (Linux) and 103 (macOS).
PLAIN = re.compile(r"[\w./+-]+", re.ASCII)  # A comma, blank or quote means something in a connection setting.

logger = logging.getLogger("app.embedded")


@dataclass(frozen=True)
class Folders:
    """`state` holds the locks and logs of the caller; `data` and `run` are open to the servers' account."""

    state: Path
    data: Path
    run: Path


def prepare(state: Path, *, account: Account, spare: Path) -> Folders:
    """The folders, made where missing; `spare` takes the data if `state` is closed to the account."""
    private(state / "log", account, owner=Account())
    data = state
    if not account.enters(state):
        data = ensure_folder(spare / "data" / fingerprint(state))
        logger.warning("%s is closed to the account of the servers: their data is in %s", state, data)
        if not account.enters(data):
            raise EmbeddedError(
                f"Neither {state} nor {data} can be entered by the account of the servers: "
                "start as an ordinary user, or set DATABASE_URL and REDIS_URL."
            )
    for name in ("postgres", "redis"):
        private(data / name, account)
    return Folders(state, data, private(_socket_folder(data, account), account))


def tidy(folders: Folders) -> None:
    """Takes the folder for sockets away again if it had to be made among the temporary files."""
    if not folders.run.is_relative_to(folders.data):
        with suppress(OSError):
            folders.run.rmdir()


def ensure_folder(folder: Path) -> Path:
    """The folder; each part that was missing is open for passing through, whatever the umask is."""
    if not folder.is_dir():
        ensure_folder(folder.parent)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise EmbeddedError(f"{folder} cannot be made: {error.strerror}.") from None
        folder.chmod(0o755)
    return folder


def private(folder: Path, account: Account, *, owner: Account | None = None) -> Path:
    """The folder, owned by the account of the servers (or by `owner`) and closed to all others."""
    folder.mkdir(mode=0o700, exist_ok=True)
    try:
        # By descriptor, so that nobody can put a link in its place between the look and the change.
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise EmbeddedError(f"{folder} cannot be used: {error.strerror}.") from None
    try:
        if os.fstat(descriptor).st_uid not in (os.geteuid(), account.uid):
            raise EmbeddedError(f"{folder} belongs to another account: choose another state folder.")
        (owner or account).takes(descriptor)
        os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)
    return folder


def fingerprint(path: Path) -> str:
    """A short name for a path, the same on every run."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def _socket_folder(data: Path, account: Account) -> Path:
    if _fits(folder := data / "run"):
        return folder
    for base in (Path(tempfile.gettempdir()), Path("/tmp")):
        folder = base / f"event-commerce-{fingerprint(data)}"
        if _fits(folder) and account.enters(base):
            return folder
    raise EmbeddedError(f"{data} is too long a path for a socket, and so is the folder for temporary files.")


def _fits(folder: Path) -> bool:
    socket = str(folder / ".s.PGSQL.5432")
    return bool(PLAIN.fullmatch(socket)) and len(os.fsencode(socket)) <= LONGEST_SOCKET
