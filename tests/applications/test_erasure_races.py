"""Applications and documents that come while their merchant is being deleted. With the guards off as well."""

import importlib
import time
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.merchants import actions as deletion
from tests.applications.test_erasure import ME, delete_me
from tests.applications.test_erasure import empty_storage as empty_storage
from tests.applications.test_replaced_files import files
from tests.factories.accounts import PASSWORD, account, deliver, signed_in
from tests.factories.applications import EMAIL, LIST, approved, body, link, upload
from tests.factories.events import organiser
from tests.http import Client
from tests.races import at_once


def application_during_a_deletion(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The status of an application that comes when the deletion has looked for applications; how many have a name."""
    me = signed_in(client, account("merchant", email=EMAIL))
    erased, looked = deletion.run_deletion_hooks, Event()

    def erase_slowly(*arguments: Any) -> None:
        erased(*arguments)
        looked.set()
        time.sleep(1)

    def act(number: int) -> int:
        own = Client(app.test_client(), me.headers)
        if number == 0:
            delete_me(own)
            return 200
        looked.wait(10)
        return int(own.post(LIST, body(email=None, contactName=None, phone=None)).status_code)

    monkeypatch.setattr(deletion, "run_deletion_hooks", erase_slowly)
    answers = at_once(2, act)
    with db.engine.begin() as connection:
        named = connection.scalar(text("SELECT count(*) FROM merchant_application WHERE contact_name IS NOT NULL"))
    return answers[1], int(named or 0)


def test_an_application_that_comes_during_the_deletion_leaves_nothing(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert application_during_a_deletion(app, client, monkeypatch) == (409, 0)


@pytest.mark.control
def test_without_holding_the_merchant_it_would_keep_their_name(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = importlib.import_module("app.applications.actions.submission")
    monkeypatch.setattr(submit, "lock_against_deletion", lambda *arguments: None)
    assert application_during_a_deletion(app, client, monkeypatch) == (201, 1)


def test_deleting_while_documents_are_handed_in_leaves_none(app: Flask, client: Client) -> None:
    """A scan that arrives at the same moment is refused or erased."""
    for _ in range(5):
        owner = organiser(client)
        approved(client, owner)
        token = link("documents")
        me = signed_in(client, account("merchant", email=EMAIL))

        def act(number: int, me: Client = me, token: str = token) -> int:
            own = Client(app.test_client(), me.headers if number == 0 else {})
            if number == 0:
                return own.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}).status_code
            return int(upload(own, token, "identity").status_code)

        answers = at_once(3, act)
        assert answers[0] == 200 and set(answers[1:]) <= {200, 404, 409, 410}, answers
        deliver()
        assert not files(app)


def deletion_during_an_upload(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The files that are left when a deletion comes while a document is being written down."""
    approved(client, organiser(client))
    token, me = link("documents"), signed_in(client, account("merchant", email=EMAIL))
    hand_in, looked = importlib.import_module("app.applications.actions.document_upload"), Event()
    keep = hand_in.save_documents

    def keep_slowly(*arguments: Any) -> Any:
        looked.set()
        time.sleep(0.5)
        return keep(*arguments)

    def act(number: int) -> int:
        if number == 0:
            looked.wait(10)
            return me.post(f"{ME}/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}).status_code
        return int(upload(client, token, "identity").status_code)

    monkeypatch.setattr(hand_in, "save_documents", keep_slowly)
    assert at_once(2, act) == [200, 200]
    deliver()
    return list(files(app))


def test_a_deletion_waits_for_an_upload_and_erases_it(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deletion_during_an_upload(app, client, monkeypatch) == []


@pytest.mark.control
def test_without_the_lock_on_the_application_the_document_would_stay(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = importlib.import_module("app.applications.links")
    opened = links.get_active_link

    def opened_without_a_lock(token: str, purpose: str, *, session: Any = None) -> Any:
        return opened(token, purpose)

    monkeypatch.setattr(links, "get_active_link", opened_without_a_lock)
    assert len(deletion_during_an_upload(app, client, monkeypatch)) == 1
