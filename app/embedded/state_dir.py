"""The folders of the servers; nothing outside them is changed."""

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
    """`state` has the locks and logs of the caller; `data` and `run` (sockets) are open to the servers' OS user."""

    state: Path
    data: Path
    run: Path


def prepare(state: Path, *, account: Account, spare: Path) -> Folders:
    """Create the folders that are missing; `spare` has the data if the servers' OS user cannot enter `state`."""
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
    """Delete the folder of the sockets if it is a temporary one."""
    if not folders.run.is_relative_to(folders.data):
        with suppress(OSError):
            folders.run.rmdir()


def ensure_folder(folder: Path) -> Path:
    """Create the folder and its parents, open to all OS users independent of the umask; return it."""
    if not folder.is_dir():
        ensure_folder(folder.parent)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise EmbeddedError(f"{folder} cannot be made: {error.strerror}.") from None
        folder.chmod(0o755)
    return folder


def private(folder: Path, account: Account, *, owner: Account | None = None) -> Path:
    """Create the folder, owned by the servers' OS user (or by `owner`) and closed to all others; return it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    try:
        # By descriptor, so that no other program can replace it by a link between the check and the change.
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
    """Return a short name for a path, the same on every run."""
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
