"""Files: a local folder, or a bucket of any S3-compatible store, by one setting.

    STORAGE_URL=file:///var/lib/event-commerce/files
    STORAGE_URL=s3://bucket/prefix?region=af-south-1
    STORAGE_URL=s3://KEY:SECRET@bucket?endpoint=http://127.0.0.1:9000&region=us-east-1

Credentials come from the URL (percent-encoded) or from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. A put is atomic.
Files under `media/` are public; only the service's own user can read others. Callers choose unique names; putting the
same content under its hash twice is safe.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from threading import Event
from typing import IO, TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

import obstore
from flask import current_app
from obstore.store import LocalStore, ObjectStore, S3Store

from app.core import private_files
from app.core.errors import Unavailable
from app.core.transaction import assert_no_transaction

if TYPE_CHECKING:
    from obstore import Attributes
    from obstore.store import S3Config

TIMEOUT = timedelta(seconds=10)
PUBLIC = "media"
PRIVATE_FOLDERS = ("private", "ticket-packs")
"""The folders of private files. The service does not delete other files in the bucket, nor change their permissions."""
PIECE_BYTES = 1024 * 1024
RETRIES = {"max_retries": 2, "retry_timeout": timedelta(seconds=15)}


class StorageUnavailable(Unavailable):
    number, code = 50330, "STORAGE_UNAVAILABLE"
    message = "Files cannot be read or written right now; try again in a moment."


@dataclass(frozen=True)
class StoredFile:
    """A file as the store lists it."""

    name: str
    size: int
    modified_at: datetime


def put(name: str, data: bytes | IO[bytes], *, content_type: str) -> None:
    """Store bytes, or the rest of an open file, under a name. Raises StorageUnavailable."""
    assert_no_transaction()
    url = _get_url()
    # The local store keeps no content types; whatever serves a file derives the type from its name.
    attributes: Attributes | None = {"Content-Type": content_type} if url.startswith("s3:") else None
    folder = _folder(url)
    private = folder / name if folder and not _is_public(name) else None
    try:
        if folder and private:
            private_files.make_private_folder(private.parent, within=folder)
        obstore.put(_get_working_store(), name, data, attributes=attributes)
        if private:
            private_files.close_file(private)
    except Exception as error:
        raise StorageUnavailable() from error


def get(name: str) -> bytes | None:
    """The bytes stored under a name; None when there are none. Raises StorageUnavailable."""
    assert_no_transaction()
    try:
        return bytes(obstore.get(_get_working_store(), name).bytes())
    except FileNotFoundError:
        return None
    except Exception as error:
        raise StorageUnavailable() from error


def stream(name: str) -> Iterator[bytes] | None:
    """The same in pieces, for large files. Raises StorageUnavailable."""
    assert_no_transaction()
    try:
        pieces = obstore.get(_get_working_store(), name).stream(min_chunk_size=PIECE_BYTES)
    except FileNotFoundError:
        return None
    except Exception as error:
        raise StorageUnavailable() from error
    return map(bytes, pieces)


def delete(name: str) -> None:
    """Delete a file; a missing one is no error. Raises StorageUnavailable."""
    assert_no_transaction()
    try:
        obstore.delete(_get_working_store(), name)
    except FileNotFoundError:
        return
    except Exception as error:
        raise StorageUnavailable() from error


def list_private() -> Iterator[list[StoredFile]]:
    """All private files, in lists of up to 500. Raises StorageUnavailable."""
    assert_no_transaction()
    try:
        for prefix in PRIVATE_FOLDERS:
            for entries in obstore.list(_get_working_store(), prefix, chunk_size=500):
                yield [StoredFile(item["path"], item["size"], item["last_modified"]) for item in entries]
    except Exception as error:
        raise StorageUnavailable() from error


def close_to_others() -> int:
    """Remove other users' permissions on private files in a local folder; return how many files had them."""
    folder = _folder(_get_url())
    if folder is None or not folder.is_dir():
        return 0
    return sum(private_files.close_to_others(folder / part) for part in PRIVATE_FOLDERS)


def _is_public(name: str) -> bool:
    return name.partition("/")[0] == PUBLIC


def _folder(url: str) -> Path | None:
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


@lru_cache(maxsize=8)
def _get_store(url: str) -> ObjectStore:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return LocalStore(unquote(parts.path), mkdir=True)
    options = {name: parameters[-1] for name, parameters in parse_qs(parts.query).items()}
    endpoint = options.get("endpoint")
    config: S3Config = {"region": options.get("region", "us-east-1"), "virtual_hosted_style_request": False}
    if endpoint:
        config["endpoint"] = endpoint
    if parts.username:
        config |= {"access_key_id": unquote(parts.username), "secret_access_key": unquote(parts.password or "")}
    return S3Store(
        parts.hostname or "",
        config=config,
        prefix=parts.path.strip("/") or None,
        client_options={"timeout": TIMEOUT, "allow_http": bool(endpoint and endpoint.startswith("http:"))},
        retry_config=RETRIES,  # type: ignore[arg-type]
    )


_was_used_before_fork = Event()


def _note_fork() -> None:
    if _get_store.cache_info().currsize:
        _was_used_before_fork.set()


os.register_at_fork(after_in_child=_note_fork)


def _get_working_store() -> ObjectStore:
    """The store. A fork does not copy its threads, so a child of a process that has used it would wait for ever."""
    if _was_used_before_fork.is_set():
        raise RuntimeError("The store of files was used before this process was forked.")
    return _get_store(_get_url())


def _get_url() -> str:
    url: str = current_app.extensions["settings"].STORAGE_URL
    return url
