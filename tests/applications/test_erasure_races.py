"""Applications and documents that arrive while their merchant is being deleted. Controls run without the guards."""

import importlib
import time
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db, transaction_engine
from app.merchants import deletion_hooks as deletion
from tests.applications.test_erasure import ME, delete_me
from tests.applications.test_erasure import empty_storage as empty_storage
from tests.applications.test_replaced_files import list_files
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, run_jobs
from tests.factories.applications import (
    EMAIL,
    LIST,
    build_application_body,
    create_approved_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_organiser_client
from tests.http import Client
from tests.races import run_concurrently


def application_during_a_deletion(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The status of an application sent after the deletion hooks ran, and how many applications have a name."""
    me = create_signed_in_client(client, create_account("merchant", email=EMAIL))
    run_hooks, hooks_have_run = deletion.run_deletion_hooks, Event()

    def erase_slowly(*arguments: Any) -> None:
        run_hooks(*arguments)
        hooks_have_run.set()
        time.sleep(1)

    def act(number: int) -> int:
        own_client = Client(app.test_client(), me.headers)
        if number == 0:
            delete_me(own_client)
            return 200
        hooks_have_run.wait(90)
        return int(own_client.post(LIST, build_application_body(email=None, contactName=None, phone=None)).status_code)

    monkeypatch.setattr(deletion, "run_deletion_hooks", erase_slowly)
    statuses = run_concurrently(2, act)
    with transaction_engine(db.engine).begin() as connection:
        named_count = connection.scalar(
            text("SELECT count(*) FROM merchant_application WHERE contact_name IS NOT NULL")
        )
    return statuses[1], int(named_count or 0)


def test_application_during_the_deletion_is_refused(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert application_during_a_deletion(app, client, monkeypatch) == (409, 0)


@pytest.mark.control
def test_without_the_merchant_lock_an_application_would_keep_the_name(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = importlib.import_module("app.applications.actions.submission")
    monkeypatch.setattr(submission, "lock_against_deletion", lambda *arguments: None)
    assert application_during_a_deletion(app, client, monkeypatch) == (201, 1)


def test_deletion_during_uploads_leaves_no_files(app: Flask, client: Client) -> None:
    """A scan that arrives at the same moment is refused or erased."""
    for _ in range(5):
        owner = create_organiser_client(client)
        create_approved_application(client, owner)
        token = find_mailed_token("documents")
        me = create_signed_in_client(client, create_account("merchant", email=EMAIL))

        def act(number: int, me: Client = me, token: str = token) -> int:
            own_client = Client(app.test_client(), me.headers if number == 0 else {})
            if number == 0:
                return own_client.post(
                    f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}
                ).status_code
            return int(upload_documents(own_client, token, "identity").status_code)

        statuses = run_concurrently(3, act)
        assert statuses[0] == 200 and set(statuses[1:]) <= {200, 404, 409, 410}, statuses
        run_jobs()
        assert not list_files(app)


def deletion_during_an_upload(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The files that remain after a deletion while a document is being saved."""
    create_approved_application(client, create_organiser_client(client))
    token, me = find_mailed_token("documents"), create_signed_in_client(client, create_account("merchant", email=EMAIL))
    document_upload, hooks_have_run = importlib.import_module("app.applications.actions.document_upload"), Event()
    save_documents = document_upload.save_documents

    def save_slowly(*arguments: Any) -> Any:
        hooks_have_run.set()
        time.sleep(0.5)
        return save_documents(*arguments)

    def act(number: int) -> int:
        if number == 0:
            hooks_have_run.wait(90)
            return me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}).status_code
        return int(upload_documents(client, token, "identity").status_code)

    monkeypatch.setattr(document_upload, "save_documents", save_slowly)
    assert run_concurrently(2, act) == [200, 200]
    run_jobs()
    return list(list_files(app))


def test_deletion_waits_for_an_upload_and_erases_it(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deletion_during_an_upload(app, client, monkeypatch) == []


@pytest.mark.control
def test_without_the_application_lock_the_document_would_stay(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = importlib.import_module("app.applications.links")
    get_active_link = links.get_active_link

    def get_link_without_lock(token: str, purpose: str, *, session: Any = None) -> Any:
        return get_active_link(token, purpose)

    monkeypatch.setattr(links, "get_active_link", get_link_without_lock)
    assert len(deletion_during_an_upload(app, client, monkeypatch)) == 1
