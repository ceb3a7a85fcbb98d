"""Files in a folder and in a bucket: the same behaviour, and a 503 when the store is down."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from flask import Flask

from app.clients import storage
from app.clients.storage import StorageUnavailable
from app.core.transaction import TransactionOpen, transaction
from tests.clients import s3_server
from tests.clients.s3_server import BUCKET, KEY, SECRET
from tests.settings import settings_for


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server.running() as endpoint:
        yield endpoint


@pytest.fixture(params=["folder", "bucket"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return f"file://{quote(str(tmp_path))}/a%20folder"
    endpoint = request.getfixturevalue("s3")
    return f"s3://{KEY}:{quote(SECRET, safe='')}@{BUCKET}/files?endpoint={endpoint}&region=us-east-1"


@pytest.fixture
def stored(app: Flask, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(app, monkeypatch, url)


def use(app: Flask, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    settings = app.extensions["settings"]
    more = settings_for(database_url=settings.DATABASE_URL, redis_url=settings.REDIS_URL, STORAGE_URL=url)
    monkeypatch.setitem(app.extensions, "settings", more)


@pytest.mark.usefixtures("stored")
def test_stored_file_can_be_read() -> None:
    storage.put("media/a.png", b"\x89PNG", content_type="image/png")
    assert storage.get("media/a.png") == b"\x89PNG"


@pytest.mark.usefixtures("stored")
def test_name_can_be_put_twice() -> None:
    storage.put("media/b.png", b"one", content_type="image/png")
    storage.put("media/b.png", b"one", content_type="image/png")
    assert storage.get("media/b.png") == b"one"


@pytest.mark.usefixtures("stored")
def test_missing_file_is_none() -> None:
    assert storage.get("media/none.png") is None


@pytest.mark.usefixtures("stored")
def test_deleting_twice_is_no_error() -> None:
    storage.put("private/g.pdf", b"%PDF", content_type="application/pdf")
    storage.delete("private/g.pdf")
    storage.delete("private/g.pdf")
    assert storage.get("private/g.pdf") is None


@pytest.mark.usefixtures("stored")
def test_use_inside_a_transaction_raises() -> None:
    with pytest.raises(TransactionOpen), transaction():
        storage.put("media/c.png", b"one", content_type="image/png")
    with pytest.raises(TransactionOpen), transaction():
        storage.delete("media/c.png")


def test_credentials_of_the_environment_are_used_without_those_of_the_url(
    app: Flask, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    use(app, monkeypatch, f"s3://{BUCKET}/environment?endpoint={s3}")
    storage.put("media/d.webp", b"RIFF", content_type="image/webp")
    assert storage.get("media/d.webp") == b"RIFF"


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1", "http://127.0.0.1:1/path"])
def test_unreachable_store_is_a_503(app: Flask, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(app, monkeypatch, f"s3://{KEY}:secret@{BUCKET}?endpoint={endpoint}")
    with pytest.raises(storage.StorageUnavailable):
        storage.put("media/e.png", b"one", content_type="image/png")
    with pytest.raises(storage.StorageUnavailable):
        storage.get("media/e.png")
    with pytest.raises(storage.StorageUnavailable):
        storage.delete("media/e.png")


def test_wrong_credentials_are_a_503_and_not_a_missing_file(
    app: Flask, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(app, monkeypatch, f"s3://{KEY}:wrong@{BUCKET}?endpoint={s3}")
    with pytest.raises(storage.StorageUnavailable):
        storage.put("media/f.png", b"one", content_type="image/png")


@pytest.mark.usefixtures("stored")
def test_a_fork_of_a_process_that_used_the_store_gets_an_error_and_does_not_wait() -> None:
    storage.put("private/a", b"a", content_type="text/plain")
    child = os.fork()
    if not child:
        try:
            storage.get("private/a")
        except StorageUnavailable as error:
            os._exit(0 if isinstance(error.__cause__, RuntimeError) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
