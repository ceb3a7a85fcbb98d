"""Files: a local folder, or a bucket of any S3-compatible store, by one setting.

    STORAGE_URL=file:///var/lib/event-commerce/files
    STORAGE_URL=s3://bucket/prefix?region=af-south-1
    STORAGE_URL=s3://KEY:SECRET@bucket?endpoint=http://127.0.0.1:9000&region=us-east-1

Keys come from the address (percent-encoded) or else from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. A put is
whole or it did not happen. Names are the caller's affair; who stores content under its hash may put it twice.
"""

from datetime import timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import obstore
from flask import current_app
from obstore.store import LocalStore, ObjectStore, S3Store

from app.core.errors import Unavailable
from app.core.transaction import assert_no_transaction

PATIENCE = timedelta(seconds=10)
RETRIES = {"max_retries": 2, "retry_timeout": timedelta(seconds=15)}


class StorageUnavailable(Unavailable):
    number, code = 50330, "STORAGE_UNAVAILABLE"
    message = "Files cannot be read or written right now; try again in a moment."


def put(name: str, data: bytes, *, content_type: str) -> None:
    """Stores bytes under a name. Raises StorageUnavailable."""
    assert_no_transaction()
    url = _url()
    # The local store keeps no content types; whoever serves a file knows its kind by its name.
    about: Any = {"Content-Type": content_type} if url.startswith("s3:") else None
    try:
        obstore.put(_store(url), name, data, attributes=about)
    except Exception as error:
        raise StorageUnavailable() from error


def get(name: str) -> bytes | None:
    """The bytes stored under a name; None when there are none. Raises StorageUnavailable."""
    assert_no_transaction()
    try:
        return bytes(obstore.get(_store(_url()), name).bytes())
    except FileNotFoundError:
        return None
    except Exception as error:
        raise StorageUnavailable() from error


def delete(name: str) -> None:
    """Removes what is stored under a name; what is not there is gone already. Raises StorageUnavailable."""
    assert_no_transaction()
    try:
        obstore.delete(_store(_url()), name)
    except FileNotFoundError:
        return
    except Exception as error:
        raise StorageUnavailable() from error


@lru_cache(maxsize=8)
def _store(url: str) -> ObjectStore:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return LocalStore(unquote(parts.path), mkdir=True)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    endpoint = options.get("endpoint")
    config: dict[str, Any] = {"region": options.get("region", "us-east-1"), "virtual_hosted_style_request": False}
    if endpoint:
        config["endpoint"] = endpoint
    if parts.username:
        config |= {"access_key_id": unquote(parts.username), "secret_access_key": unquote(parts.password or "")}
    return S3Store(
        parts.hostname or "",
        prefix=parts.path.strip("/") or None,
        client_options={"timeout": PATIENCE, "allow_http": bool(endpoint and endpoint.startswith("http:"))},
        retry_config=RETRIES,  # type: ignore[arg-type]
        **config,
    )


def _url() -> str:
    url: str = current_app.extensions["settings"].STORAGE_URL
    return url
