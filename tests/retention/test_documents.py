"""The erasure of documents of ended applications, and the removal of orphaned files."""

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
from app.core.db import db, transaction_engine
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.retention import orphaned_files
from tests.applications.test_replaced_files import list_files
from tests.clients import s3_server
from tests.clients.s3_server import BUCKET, KEY
from tests.clients.test_storage import use
from tests.factories.accounts import run_jobs
from tests.factories.applications import LIST, create_approved_application, find_mailed_token, upload_documents
from tests.factories.events import create_organiser_client
from tests.http import Client, data
from tests.retention.test_guests import erase


def end_application(client: Client, status: str, days: int) -> Client:
    """The organiser of an application with one document, which ended this many days ago."""
    owner = create_organiser_client(client)
    create_approved_application(client, owner)
    data(upload_documents(client, find_mailed_token("documents"), "identity"))
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(
            text("UPDATE merchant_application SET status = :status, updated_at = now() - make_interval(days => :days)"),
            {"status": status, "days": days},
        )
    return owner


@pytest.fixture(autouse=True)
def empty_storage(app: Flask) -> None:
    for name in ("private", "ticket-packs", "media"):
        shutil.rmtree(Path(app.extensions["settings"].DATA_DIR) / "storage" / name, ignore_errors=True)


def load_application(owner: Client) -> dict[str, Any]:
    """The organiser's only application."""
    response_data = data(owner.get(LIST))
    (application,) = next(value for value in response_data.values() if isinstance(value, list))
    return dict(application)


def run_sweep() -> None:
    with transaction():
        enqueue("retention.sweep_files")
    run_jobs()


@pytest.mark.parametrize("status", ["declined", "withdrawn", "expired"])
def test_documents_of_ended_applications_are_erased(app: Flask, client: Client, status: str) -> None:
    owner = end_application(client, status, 91)
    (document_data,) = [document for document in load_application(owner)["documents"] if "url" in document]
    url = document_data["url"].removeprefix("http://localhost:8000")
    assert client.get(url).status_code == 200
    erase()
    assert not list_files(app) and client.get(url).status_code == 404
    assert load_application(owner)["status"] == status


@pytest.mark.parametrize(("status", "days"), [("declined", 89), ("awaiting_payment", 400), ("activated", 400)])
def test_documents_of_recent_or_active_applications_stay(app: Flask, client: Client, status: str, days: int) -> None:
    end_application(client, status, days)
    erase()
    run_sweep()
    assert len(list_files(app)) == 1


def make_old(path: Path) -> Path:
    os.utime(path, (time.time() - 90_000,) * 2)
    return path


def test_orphaned_files_are_removed(app: Flask, client: Client) -> None:
    end_application(client, "awaiting_documents", 0)
    folder = Path(app.extensions["settings"].DATA_DIR) / "storage"
    (referenced,) = list_files(app)
    make_old(Path(referenced))
    for name in ("private/applications/x/lost", "private/applications/x/young", "ticket-packs/lost.pdf", "media/a.png"):
        storage.put(name, b"canary", content_type="application/pdf")
        if "young" not in name:
            make_old(folder / name)
    result = app.test_cli_runner().invoke(args=["retention", "run", "--dry-run"])
    assert "2  files without a row (12 bytes)" in result.output, result.output
    run_sweep()
    remaining = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {"private/applications/x/young", "media/a.png", str(Path(referenced).relative_to(folder))} <= remaining
    assert not {"private/applications/x/lost", "ticket-packs/lost.pdf"} & remaining


def test_files_of_other_programs_stay(app: Flask) -> None:
    """The folder may contain backups or files of another installation."""
    folder = Path(app.extensions["settings"].DATA_DIR) / "storage"
    foreign_file = folder / "backup" / "db.dump"
    foreign_file.parent.mkdir(parents=True)
    for path in (foreign_file, folder / "note"):
        path.write_bytes(b"theirs")
        path.chmod(0o644)
        make_old(path)
    assert not {"backup/db.dump", "note"} & {
        orphaned_file.name for orphaned_file in orphaned_files.list_orphaned_files()
    }
    run_sweep()
    assert (foreign_file.read_bytes(), mode(foreign_file), (folder / "note").exists()) == (b"theirs", 0o644, True)
    shutil.rmtree(foreign_file.parent)
    (folder / "note").unlink()


def test_orphaned_files_in_a_bucket_are_removed(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server.running() as endpoint:
        use(app, monkeypatch, f"s3://{KEY}:se%2Fcret@{BUCKET}/files?endpoint={endpoint}&region=us-east-1")
        storage.put("private/applications/x/lost", b"canary", content_type="application/pdf")
        storage.put("media/a.png", b"canary", content_type="image/png")
        storage.put("backup/db.dump", b"theirs", content_type="application/octet-stream")
        assert [orphaned_file.name for orphaned_file in orphaned_files.list_orphaned_files()] == [
            "private/applications/x/lost"
        ]
        run_sweep()
        assert storage.get("private/applications/x/lost") is None and storage.get("media/a.png") == b"canary"
        assert storage.get("backup/db.dump") == b"theirs"


def test_new_upload_is_not_orphaned(app: Flask) -> None:
    storage.put("private/applications/x/new", b"canary", content_type="application/pdf")
    assert list(orphaned_files.list_orphaned_files()) == []
    (stored_file,) = [item for page in storage.list_private() for item in page if item.name.endswith("/new")]
    assert (datetime.now(UTC) - stored_file.modified_at).total_seconds() < 60 and stored_file.size == 6
    storage.delete("private/applications/x/new")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask() -> object:
    old_umask = os.umask(0)
    yield
    os.umask(old_umask)


@pytest.mark.usefixtures("open_umask")
def test_private_files_have_private_modes_with_any_umask(app: Flask, client: Client) -> None:
    end_application(client, "awaiting_documents", 0)
    (name,) = list_files(app)
    assert mode(Path(name)) == 0o600
    assert {mode(folder) for folder in list(Path(name).parents)[:3]} == {0o700}
    dev_mailbox.store_message("mail", "a@example.com", "s", "t")
    mail = Path(app.extensions["settings"].DATA_DIR) / "mail"
    assert mode(mail) == 0o700 and {mode(path) for path in mail.iterdir()} == {0o600}
    storage.put("media/b.png", b"x", content_type="image/png")
    assert mode(mail.parent / "storage" / "media" / "b.png") & 0o044, "the proxy serves pictures"


def test_sweep_restricts_modes_of_old_files(app: Flask, client: Client) -> None:
    end_application(client, "awaiting_documents", 0)
    (name,) = list_files(app)
    mail = Path(app.extensions["settings"].DATA_DIR) / "mail"
    for path in (*list(Path(name).parents)[:3], mail):
        path.chmod(0o755)
    for path in (Path(name), *mail.glob("*.json")):
        path.chmod(0o644)
    run_sweep()
    assert mode(Path(name)) == 0o600 and {mode(folder) for folder in list(Path(name).parents)[:3]} == {0o700}
    assert mode(mail) == 0o700 and {mode(path) for path in mail.glob("*.json")} <= {0o600}
