"""The file of a replaced document is deleted after the commit."""

from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.clients import storage
from app.core.transaction import transaction
from tests.factories.accounts import run_jobs
from tests.factories.applications import create_approved_application, find_mailed_token, upload_documents
from tests.factories.events import create_organiser_client
from tests.http import Client, data


def list_files(app: Flask) -> set[str]:
    folder = Path(app.extensions["settings"].DATA_DIR)
    return {str(path) for path in folder.rglob("private/applications/*/*") if path.is_file()}


def test_replaced_file_is_deleted_after_the_commit(app: Flask, client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    token, before = find_mailed_token("documents"), list_files(app)
    data(upload_documents(client, token, "identity", "tax_clearance"))
    first = list_files(app) - before
    data(upload_documents(client, token, "identity"))
    assert first < list_files(app)
    run_jobs()
    assert len(list_files(app) - before) == 2 and not first <= list_files(app)


def test_missing_file_is_not_an_error(app: Flask, client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    data(upload_documents(client, token, "identity"))
    with transaction() as session:
        (name,) = session.execute(text("SELECT stored_as FROM application_document")).scalars()
    data(upload_documents(client, token, "identity"))
    storage.delete(name)
    run_jobs()
    with transaction() as session:
        kind = "kind = 'applications.delete_files'"
        assert session.execute(text(f"SELECT state FROM outbox WHERE {kind}")).scalars().all() == ["done"]


def test_file_of_a_late_upload_is_deleted(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    create_approved_application(client, create_organiser_client(client))
    token, before = find_mailed_token("documents"), list_files(app)
    put = storage.put

    def put_and_submit(name: str, content: bytes, *, content_type: str) -> None:
        put(name, content, content_type=content_type)
        with transaction() as session:
            session.execute(text("UPDATE merchant_application SET documents_submitted_at = now()"))

    monkeypatch.setattr(storage, "put", put_and_submit)
    assert upload_documents(client, token, "identity").status_code == 409
    assert list_files(app) == before
