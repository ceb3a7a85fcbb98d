"""Files of documents that others have replaced are deleted once that is certain, and by nobody else."""

from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.clients import storage
from app.core.transaction import transaction
from tests.factories.accounts import deliver
from tests.factories.applications import approved, link, upload
from tests.factories.events import organiser
from tests.http import Client, data


def files(app: Flask) -> set[str]:
    folder = Path(app.extensions["settings"].DATA_DIR)
    return {str(path) for path in folder.rglob("private/applications/*/*") if path.is_file()}


def test_a_replaced_file_goes_after_the_commit(app: Flask, client: Client) -> None:
    approved(client, organiser(client))
    token, before = link("documents"), files(app)
    data(upload(client, token, "identity", "tax_clearance"))
    first = files(app) - before
    data(upload(client, token, "identity"))
    assert first < files(app)
    deliver()
    assert len(files(app) - before) == 2 and not first <= files(app)


def test_a_file_that_is_gone_already_is_no_matter(app: Flask, client: Client) -> None:
    approved(client, organiser(client))
    token = link("documents")
    data(upload(client, token, "identity"))
    with transaction() as session:
        (name,) = session.execute(text("SELECT stored_as FROM application_document")).scalars()
    data(upload(client, token, "identity"))
    storage.delete(name)
    deliver()
    with transaction() as session:
        kind = "kind = 'applications.delete_files'"
        assert session.execute(text(f"SELECT state FROM outbox WHERE {kind}")).scalars().all() == ["done"]


def test_a_file_that_came_too_late_is_not_kept(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    approved(client, organiser(client))
    token, before = link("documents"), files(app)
    put = storage.put

    def slow(name: str, content: bytes, *, content_type: str) -> None:
        put(name, content, content_type=content_type)
        with transaction() as session:
            session.execute(text("UPDATE merchant_application SET documents_submitted_at = now()"))

    monkeypatch.setattr(storage, "put", slow)
    assert upload(client, token, "identity").status_code == 409
    assert files(app) == before
