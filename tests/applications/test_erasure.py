"""A merchant who leaves takes the personal data of their applications along; figures and decisions stay."""

import shutil
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.models import Account
from app.accounts.retirement import retire_account
from app.clients import storage
from app.core.db import db
from app.core.transaction import transaction
from tests.applications.test_replaced_files import files
from tests.factories.accounts import PASSWORD, account, deliver, mails_to, signed_in
from tests.factories.applications import (
    CODE,
    EMAIL,
    LIST,
    activation,
    applied,
    approved,
    decided,
    handed_in,
    link,
    paid,
)
from tests.factories.events import organiser
from tests.http import Client, data
from tests.retention.test_guests import erase

ME = "/api/merchants/me"
PERSONAL = ("Tuli", "Hamutenya", "Kapana", EMAIL, "264811234567", "charcoal", "canary")


@pytest.fixture(autouse=True)
def empty_storage(app: Flask) -> None:
    shutil.rmtree(Path(app.extensions["settings"].DATA_DIR) / "storage" / "private", ignore_errors=True)


def delete_me(me: Client, password: str = PASSWORD) -> None:
    data(me.post(f"{ME}/delete", {"currentPassword": password, "confirmation": "DELETE"}))


def everything_kept() -> str:
    tables = ("merchant_application", "application_document", "stall_payment", "merchant", "merchant_profile")
    with db.engine.connect() as connection:
        return "\n".join(
            str(connection.scalar(text(f"SELECT json_agg(t) FROM {table} t"))).replace("{", "\n{") for table in tables
        )


def activated(client: Client, owner: Client) -> tuple[Client, dict[str, object]]:
    """A merchant who applied with everything, paid and was activated."""
    made = approved(
        client, owner, description="canary of the kitchen", website="https://canary.example", products="canary pies"
    )
    handed_in(client, link("documents"))
    paid(client, link("pay"))
    found = data(client.post(f"/api/merchant-activation/{link('activate')}", activation(password=PASSWORD)))
    return client.as_(found["accessToken"]), made


def test_deleting_a_merchant_erases_their_applications(app: Flask, client: Client) -> None:
    owner = organiser(client)
    me, made = activated(client, owner)
    before = data(owner.get(f"{LIST}/{made['id']}"))
    read = before["documents"][0]["url"].removeprefix("http://localhost:8000")
    assert client.get(read).status_code == 200 and files(app)
    delete_me(me)
    assert not [word for word in PERSONAL if word in everything_kept()]
    assert client.get(read).status_code == 404, "the organiser's link to the scan"
    deliver()
    assert not files(app)
    after = data(owner.get(f"{LIST}/{made['id']}"))
    for name in ("reference", "status", "eventId", "amountMinor", "decision", "decidedAt", "activatedAt"):
        assert after[name] == before[name]
    assert after["payment"] == before["payment"] and after["businessName"] == "Deleted merchant"
    assert all("url" not in document for document in after["documents"])


def test_applications_of_a_verified_address_are_erased_too(app: Flask, client: Client) -> None:
    owner = organiser(client)
    made = applied(client, owner)
    me = signed_in(client, account("merchant", email=EMAIL))
    delete_me(me)
    assert not [word for word in PERSONAL if word in everything_kept()]
    assert data(owner.get(f"{LIST}/{made['id']}"))["status"] == "withdrawn"


def test_an_unverified_address_erases_nobodys_applications(app: Flask, client: Client) -> None:
    owner = organiser(client)
    made = applied(client, owner)
    delete_me(signed_in(client, account("merchant", email=EMAIL, verified=False)))
    assert data(owner.get(f"{LIST}/{made['id']}"))["email"] == EMAIL


def test_applications_of_others_stay(app: Flask, client: Client) -> None:
    owner = organiser(client)
    made = applied(client, owner, email="other@example.com")
    delete_me(signed_in(client, account("merchant", email=EMAIL)))
    assert data(owner.get(f"{LIST}/{made['id']}"))["contactName"] == "Tuli Hamutenya"


def test_nothing_is_mailed_to_who_has_left(app: Flask, client: Client) -> None:
    owner = organiser(client)
    made = applied(client, owner)
    deliver()
    told = len(mails_to(EMAIL))
    decided(owner, made)
    delete_me(signed_in(client, account("merchant", email=EMAIL)))
    deliver()
    assert {item["subject"] for item in mails_to(EMAIL)[: len(mails_to(EMAIL)) - told]} == {"Your business is deleted"}


def test_files_are_removed_once_storage_is_back(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    me, _ = activated(client, organiser(client))
    remove = storage.delete

    def unavailable(name: str) -> None:
        raise storage.StorageUnavailable()

    monkeypatch.setattr(storage, "delete", unavailable)
    delete_me(me)
    deliver()
    assert files(app)
    monkeypatch.setattr(storage, "delete", remove)
    with db.engine.begin() as connection:
        connection.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'applications.delete_files'"))
    deliver()
    assert not files(app)


def test_a_merchant_who_comes_back_keeps_new_applications(app: Flask, client: Client) -> None:
    owner = organiser(client)
    who = account("merchant", email=EMAIL)
    applied(client, owner)
    delete_me(signed_in(client, who))
    account("merchant", email=EMAIL)
    again = applied(client, owner)
    deliver()
    assert data(owner.get(f"{LIST}/{again['id']}"))["contactName"] == "Tuli Hamutenya"


def test_a_merchant_who_leaves_while_a_code_is_awaited_leaves_no_wallet_and_pays_nothing(
    app: Flask, client: Client
) -> None:
    approved(client, organiser(client), documentsRequired=[])
    token = link("pay")
    data(client.post(f"{LIST}/pay/{token}"))
    delete_me(signed_in(client, account("merchant", email=EMAIL)))
    assert not [word for word in PERSONAL if word in everything_kept()]
    for answer in (
        client.get(f"{LIST}/pay/{token}"),
        client.post(f"{LIST}/pay/{token}/payrail/verify-otp", {"code": CODE}),
    ):
        assert answer.status_code == 410
    with db.engine.begin() as connection:
        assert connection.scalar(text("SELECT status FROM stall_payment")) == "expired"
        assert connection.scalar(text("SELECT status FROM merchant_application")) == "withdrawn"


def test_wallet_of_a_payment_under_way_is_erased_when_it_ends(app: Flask, client: Client) -> None:
    owner = organiser(client)
    made = approved(client, owner, documentsRequired=[])
    data(client.post(f"{LIST}/pay/{link('pay')}"))
    with db.engine.begin() as connection:
        # A confirmation has left, and another wallet was named since: nobody knows whether the first has paid.
        connection.execute(text("UPDATE stall_payment SET status = 'expired', tries = 1, answered = 0"))
    delete_me(signed_in(client, account("merchant", email=EMAIL)))
    erase()
    with db.engine.begin() as connection:
        assert connection.scalar(text("SELECT msisdn FROM stall_payment")) == "+264811234567"
        assert connection.scalar(text("SELECT status FROM merchant_application")) == "withdrawn"
        connection.execute(text("UPDATE stall_payment SET answered = 1"))
    assert "1  erased applications whose payment has ended since" in (
        app.test_cli_runner().invoke(args=["retention", "run", "--dry-run"]).output
    )
    erase()
    with db.engine.begin() as connection:
        assert connection.scalar(text("SELECT msisdn FROM stall_payment")) == ""
    assert data(owner.get(f"{LIST}/{made['id']}"))["status"] == "withdrawn"
    erase()


def test_a_payment_that_waits_for_its_code_ends_with_the_deletion(app: Flask, client: Client) -> None:
    owner = organiser(client)
    made = approved(client, owner, documentsRequired=[])
    pay = f"{LIST}/pay/{link('pay')}"
    data(client.post(pay))
    delete_me(signed_in(client, account("merchant", email=EMAIL)))
    with db.engine.begin() as connection:
        assert connection.execute(text("SELECT status, msisdn FROM stall_payment")).one() == ("expired", "")
    assert data(owner.get(f"{LIST}/{made['id']}"))["status"] == "withdrawn"
    assert client.post(f"{pay}/verify-otp", {"code": "123456"}).status_code in (404, 410)


@pytest.mark.parametrize(("money", "kept"), [("", False), ("paid_at = now()", True)])
def test_a_retired_account_keeps_only_applications_with_money(client: Client, money: str, kept: bool) -> None:
    """Anyone who paid goes on with the links in their mails; all else of an unverified account is erased."""
    owner = organiser(client)
    made = applied(client, owner)
    who = account("merchant", verified=False)
    with transaction() as session:
        session.execute(text("UPDATE merchant_application SET account_id = :id"), {"id": who.id})
        if money:
            session.execute(text(f"UPDATE merchant_application SET {money}"))
        retire_account(session, session.get_one(Account, who.id))
    deliver()
    shown = data(owner.get(f"{LIST}/{made['id']}"))
    assert (shown["contactName"], shown["status"]) == (("Tuli Hamutenya", "submitted") if kept else (None, "withdrawn"))
    with db.engine.begin() as connection:
        assert (connection.scalar(text("SELECT account_id FROM merchant_application")) is None) == kept


def test_mail_that_was_queued_before_the_deletion_is_not_sent_and_is_no_failure(client: Client) -> None:
    owner, me = organiser(client), signed_in(client, account("merchant", email=EMAIL))
    made = applied(me, owner)
    decided(owner, made)
    delete_me(me)
    deliver()
    with db.engine.connect() as connection:
        assert connection.scalar(text("SELECT state FROM outbox WHERE kind = 'applications.mail'")) == "done"
    assert [mail["subject"] for mail in mails_to(EMAIL) if "deleted" not in mail["subject"].lower()] == []
