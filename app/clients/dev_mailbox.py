"""The development mailbox: what left the service, as files, so that no mail server is needed to see it."""

import json
import os
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from flask import current_app

from app.core import private_files
from app.core.clock import rfc3339, utcnow
from app.core.ids import is_id

KEPT = 2000
TIDY_EVERY = 64
SHOWN = ("id", "channel", "to", "subject", "text", "html", "sentAt")
Channel = Literal["mail", "sms", "push"]


def store_message(
    channel: Channel,
    to: str,
    subject: str | None,
    text: str,
    html: str | None = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Adds a message; the oldest beyond 2,000 go, at one message in 64, because finding them reads the folder."""
    entry = {
        "id": _next_id(),
        "channel": "email" if channel == "mail" else channel,
        "to": to,
        "subject": subject,
        "text": text,
        "html": html,
        "sentAt": rfc3339(utcnow()),
        "headers": dict(headers or {}),
    }
    folder = _folder()
    private_files.make_private_folder(folder, within=folder.parent)
    draft = folder / f".{entry['id']}.draft"
    private_files.write_private(draft, json.dumps(entry, ensure_ascii=False))
    draft.rename(folder / f"{entry['id']}.{_mark(to)}.json")
    if secrets.randbelow(TIDY_EVERY) == 0:
        _delete_oldest(KEPT)


def list_messages(to: str | None = None, limit: int = KEPT, *, channel: str | None = None) -> list[dict[str, Any]]:
    """The newest first; with `to`, only those sent to that address or number; with `channel`, only those of it."""
    result = (entry for path in _files(to) if (entry := _read(path)))
    return list(islice((entry for entry in result if channel in (None, entry["channel"])), limit))


def find_message(id: str) -> dict[str, Any] | None:
    """One message, or None when there is no such one."""
    paths = _folder().glob(f"{id}.*.json") if is_id(id) else []
    return next((_read(path) for path in paths), None)


def close_to_others() -> int:
    """Closes the mailbox to other accounts; how many files and folders were open."""
    return private_files.close_to_others(_folder())


def _delete_oldest(kept: int) -> None:
    for surplus in _files()[kept:]:
        surplus.unlink(missing_ok=True)


def _files(to: str | None = None) -> list[Path]:
    """The recipient is part of the file's name, so that looking for one address opens no other files."""
    folder, ending = _folder(), f".{_mark(to)}.json" if to else ".json"
    if not folder.exists():
        return []
    with os.scandir(folder) as result:
        names = [item.name for item in result if item.name.endswith(ending)]
    return [folder / name for name in sorted(names, reverse=True)]


def _read(path: Path) -> dict[str, Any] | None:
    try:
        entry: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return entry


def _mark(to: str) -> str:
    return sha256(to.strip().lstrip("+").lower().encode()).hexdigest()[:12]


def _next_id() -> str:
    """Shaped like every id, but in order of time down to the nanosecond."""
    return time.time_ns().to_bytes(8, "big").hex() + secrets.token_hex(4)


def _folder() -> Path:
    folder: Path = current_app.extensions["settings"].DATA_DIR / "mail"
    return folder
