"""The development mailbox: sent messages as files, so that development needs no mail server."""

import json
import os
import secrets
import time
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Literal, TypedDict, get_args

from flask import current_app

from app.clients.message import Attachment
from app.core import private_files
from app.core.clock import rfc3339, utcnow
from app.core.ids import is_id

MAX_MESSAGES = 2000
DELETE_ONCE_IN = 64
Channel = Literal["mail", "sms", "push"]
PublicField = Literal["id", "channel", "to", "subject", "text", "html", "sentAt"]
PUBLIC_FIELDS: tuple[PublicField, ...] = get_args(PublicField)


class StoredAttachment(TypedDict):
    """A file of a mail; `content` is its Base64."""

    name: str
    contentType: str
    size: int
    content: str


class StoredMessage(TypedDict):
    """A message as the mailbox stores it and its page shows it."""

    id: str
    channel: str
    to: str
    subject: str | None
    text: str
    html: str | None
    sentAt: str
    headers: dict[str, str]
    attachments: list[StoredAttachment]


def store_message(
    channel: Channel,
    to: str,
    subject: str | None,
    text: str,
    html: str | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    attachments: Iterable[Attachment] = (),
) -> None:
    """Store a message. One call in 64 deletes all but the newest 2,000, because finding those reads the folder."""
    message: StoredMessage = {
        "id": _next_id(),
        "channel": "email" if channel == "mail" else channel,
        "to": to,
        "subject": subject,
        "text": text,
        "html": html,
        "sentAt": rfc3339(utcnow()),
        "headers": dict(headers or {}),
        "attachments": [
            {
                "name": attachment.filename,
                "contentType": attachment.content_type,
                "size": len(attachment.content),
                "content": b64encode(attachment.content).decode(),
            }
            for attachment in attachments
        ],
    }
    folder = _folder()
    private_files.make_private_folder(folder, within=folder.parent)
    draft = folder / f".{message['id']}.draft"
    private_files.write_private(draft, json.dumps(message, ensure_ascii=False))
    draft.rename(folder / f"{message['id']}.{_hash_recipient(to)}.json")
    if secrets.randbelow(DELETE_ONCE_IN) == 0:
        _delete_oldest(MAX_MESSAGES)


def list_messages(
    to: str | None = None, limit: int = MAX_MESSAGES, *, channel: str | None = None
) -> list[StoredMessage]:
    """Messages, the newest first; with `to` or `channel`, only those to that address or number, or of that channel."""
    messages = (message for path in _list_files(to) if (message := _read_message(path)))
    return list(islice((message for message in messages if channel in (None, message["channel"])), limit))


def find_message(id: str) -> StoredMessage | None:
    """The message with this id, or None."""
    paths = _folder().glob(f"{id}.*.json") if is_id(id) else []
    return next((_read_message(path) for path in paths), None)


def close_to_others() -> int:
    """Remove other users' permissions on the mailbox; return how many files and folders had them."""
    return private_files.close_to_others(_folder())


def _delete_oldest(max_messages: int) -> None:
    for surplus in _list_files()[max_messages:]:
        surplus.unlink(missing_ok=True)


def _list_files(to: str | None = None) -> list[Path]:
    """Files, the newest first. Names contain a hash of the recipient, so a search by address opens no other file."""
    folder, ending = _folder(), f".{_hash_recipient(to)}.json" if to else ".json"
    if not folder.exists():
        return []
    with os.scandir(folder) as entries:
        names = [item.name for item in entries if item.name.endswith(ending)]
    return [folder / name for name in sorted(names, reverse=True)]


def _read_message(path: Path) -> StoredMessage | None:
    try:
        message: StoredMessage = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return message


def _hash_recipient(to: str) -> str:
    return sha256(to.strip().lstrip("+").lower().encode()).hexdigest()[:12]


def _next_id() -> str:
    """An id of the usual form that sorts by time, in nanoseconds."""
    return time.time_ns().to_bytes(8, "big").hex() + secrets.token_hex(4)


def _folder() -> Path:
    folder: Path = current_app.extensions["settings"].DATA_DIR / "mail"
    return folder
