"""Scans of documents go some time after their application ended; files that no row names go after a day."""

import os
import shutil
import stat
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.clients import dev_mailbox, storage
from app.core.db import db
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.retention import orphaned_files as unnamed
from tests.applications.test_replaced_files import list_files
from tests.clients import s3_server
from tests.clients.s3_server import BUCKET, KEY
from tests.clients.test_storage import use
from tests.factories.accounts import deliver
from tests.factories.applications import LIST, approved, link, upload
from tests.factories.events import organiser
from tests.http import Client, data
from tests.retention.test_guests import erase


def ended(client: Client, status: str, days: int) -> Client:
    """The organiser of an application with one document that ended so many days ago."""
    owner = organiser(client)
    approved(client, owner)
    data(upload(client, link("documents"), "identity"))
    with db.engine.begin() as connection:
        connection.execute(
            text("UPDATE merchant_application SET status = :status, updated_at = now() - make_interval(days => :days)"),
            {"status": status, "days": days},
        )
    return owner


@pytest.fixture(autouse=True)
def empty_storage(app: Flask) -> None:
    for name in ("private", "ticket-packs", "media"):
        shutil.rmtree(Path(app.extensions["settings"].DATA_DIR) / "storage" / name, ignore_errors=True)


def listed(owner: Client) -> dict[str, Any]:
    """The one application that the organiser has."""
    found = data(owner.get(LIST))
    (only,) = next(value for value in found.values() if isinstance(value, list))
    return dict(only)


def sweep() -> None:
    with transaction():
        enqueue("retention.sweep_files")
    deliver()


@pytest.mark.parametrize("status", ["declined", "withdrawn", "expired"])
def test_documents_of_ended_applications_are_erased(app: Flask, client: Client, status: str) -> None:
    owner = ended(client, status, 91)
    (shown,) = [document for document in listed(owner)["documents"] if "url" in document]
    url = shown["url"].removeprefix("http://localhost:8000")
    assert client.get(url).status_code == 200
    erase()
    assert not list_files(app) and client.get(url).status_code == 404
    assert listed(owner)["status"] == status


@pytest.mark.parametrize(("status", "days"), [("declined", 89), ("awaiting_payment", 400), ("activated", 400)])
def test_other_documents_stay(app: Flask, client: Client, status: str, days: int) -> None:
    ended(client, status, days)
    erase()
    sweep()
    assert len(list_files(app)) == 1


def older(path: Path) -> Path:
    os.utime(path, (time.time() - 90_000,) * 2)
    return path


def test_files_that_no_row_names_are_swept(app: Flask, client: Client) -> None:
    ended(client, "awaiting_documents", 0)
    folder = Path(app.extensions["settings"].DATA_DIR) / "storage"
    (named,) = list_files(app)
    older(Path(named))
    for name in ("private/applications/x/lost", "private/applications/x/young", "ticket-packs/lost.pdf", "media/a.png"):
        storage.put(name, b"canary", content_type="application/pdf")
        if "young" not in name:
            older(folder / name)
    result = app.test_cli_runner().invoke(args=["retention", "run", "--dry-run"])
    assert "2  files without a row (12 bytes)" in result.output, result.output
    sweep()
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {"private/applications/x/young", "media/a.png", str(Path(named).relative_to(folder))} <= left
    assert not {"private/applications/x/lost", "ticket-packs/lost.pdf"} & left


def test_files_of_others_are_left_alone(app: Flask) -> None:
    """The folder may hold backups, or another installation's files."""
    folder = Path(app.extensions["settings"].DATA_DIR) / "storage"
    others = folder / "backup" / "db.dump"
    others.parent.mkdir()
    for path in (others, folder / "note"):
        path.write_bytes(b"theirs")
        path.chmod(0o644)
        older(path)
    assert not {"backup/db.dump", "note"} & {unnamed_file.name for unnamed_file in unnamed.list_orphaned_files()}
    sweep()
    assert (others.read_bytes(), mode(others), (folder / "note").exists()) == (b"theirs", 0o644, True)
    shutil.rmtree(others.parent)
    (folder / "note").unlink()


def test_files_in_a_bucket_are_swept(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server.running() as endpoint:
        use(app, monkeypatch, f"s3://{KEY}:se%2Fcret@{BUCKET}/files?endpoint={endpoint}&region=us-east-1")
        storage.put("private/applications/x/lost", b"canary", content_type="application/pdf")
        storage.put("media/a.png", b"canary", content_type="image/png")
        storage.put("backup/db.dump", b"theirs", content_type="application/octet-stream")
        assert [unnamed_file.name for unnamed_file in unnamed.list_orphaned_files()] == ["private/applications/x/lost"]
        sweep()
        assert storage.get("private/applications/x/lost") is None and storage.get("media/a.png") == b"canary"
        assert storage.get("backup/db.dump") == b"theirs"


def test_upload_under_way_is_left_alone(app: Flask) -> None:
    storage.put("private/applications/x/new", b"canary", content_type="application/pdf")
    assert list(unnamed.list_orphaned_files()) == []
    (listed,) = [item for page in storage.list_private() for item in page if item.name.endswith("/new")]
    assert (datetime.now(UTC) - listed.modified_at).total_seconds() < 60 and listed.size == 6
    storage.delete("private/applications/x/new")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask() -> object:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_private_files_are_private_whatever_the_umask(app: Flask, client: Client) -> None:
    ended(client, "awaiting_documents", 0)
    (name,) = list_files(app)
    assert mode(Path(name)) == 0o600
    assert {mode(folder) for folder in list(Path(name).parents)[:3]} == {0o700}
    dev_mailbox.store_message("mail", "a@example.com", "s", "t")
    mail = Path(app.extensions["settings"].DATA_DIR) / "mail"
    assert mode(mail) == 0o700 and {mode(path) for path in mail.iterdir()} == {0o600}
    storage.put("media/b.png", b"x", content_type="image/png")
    assert mode(mail.parent / "storage" / "media" / "b.png") & 0o044, "the proxy serves pictures"


def test_open_files_of_before_are_closed_by_the_sweep(app: Flask, client: Client) -> None:
    ended(client, "awaiting_documents", 0)
    (name,) = list_files(app)
    mail = Path(app.extensions["settings"].DATA_DIR) / "mail"
    for path in (*list(Path(name).parents)[:3], mail):
        path.chmod(0o755)
    for path in (Path(name), *mail.glob("*.json")):
        path.chmod(0o644)
    sweep()
    assert mode(Path(name)) == 0o600 and {mode(folder) for folder in list(Path(name).parents)[:3]} == {0o700}
    assert mode(mail) == 0o700 and {mode(path) for path in mail.glob("*.json")} <= {0o600}
