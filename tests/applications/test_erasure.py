"""Deleting a merchant erases the personal data of their applications; amounts and decisions stay."""

import shutil
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.account_lifecycle import retire_account
from app.accounts.models import Account
from app.clients import storage
from app.core.db import db, transaction_engine
from app.core.transaction import transaction
from tests.applications.test_replaced_files import list_files
from tests.factories.accounts import PASSWORD, create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.applications import (
    CODE,
    EMAIL,
    LIST,
    build_activation_body,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
    submit_documents,
)
from tests.factories.events import create_organiser_client
from tests.http import Client, data
from tests.retention.test_guests import erase

ME = "/api/merchants/me"
PERSONAL_WORDS = ("Tuli", "Hamutenya", "Kapana", EMAIL, "264811234567", "charcoal", "canary")


@pytest.fixture(autouse=True)
def empty_storage(app: Flask) -> None:
    shutil.rmtree(Path(app.extensions["settings"].DATA_DIR) / "storage" / "private", ignore_errors=True)


def delete_me(me: Client, password: str = PASSWORD) -> None:
    data(me.post(f"{ME}/delete", {"currentPassword": password, "confirmation": "DELETE"}))


def dump_tables() -> str:
    tables = ("merchant_application", "application_document", "stall_payment", "merchant", "merchant_profile")
    with db.engine.connect() as connection:
        return "\n".join(
            str(connection.scalar(text(f"SELECT json_agg(t) FROM {table} t"))).replace("{", "\n{") for table in tables
        )


def make_activated_merchant(client: Client, owner: Client) -> tuple[Client, dict[str, object]]:
    """A merchant with a complete, paid and activated application."""
    application = create_approved_application(
        client, owner, description="canary of the kitchen", website="https://canary.example", products="canary pies"
    )
    submit_documents(client, find_mailed_token("documents"))
    pay_stall_fee(client, find_mailed_token("pay"))
    sign_in = data(
        client.post(
            f"/api/merchant-activation/{find_mailed_token('activate')}", build_activation_body(password=PASSWORD)
        )
    )
    return client.as_(sign_in["accessToken"]), application


def test_deleting_a_merchant_erases_their_applications(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    me, application = make_activated_merchant(client, owner)
    before = data(owner.get(f"{LIST}/{application['id']}"))
    file_path = before["documents"][0]["url"].removeprefix("http://localhost:8000")
    assert client.get(file_path).status_code == 200 and list_files(app)
    delete_me(me)
    assert not [word for word in PERSONAL_WORDS if word in dump_tables()]
    assert client.get(file_path).status_code == 404, "the organiser's link to the scan"
    run_jobs()
    assert not list_files(app)
    after = data(owner.get(f"{LIST}/{application['id']}"))
    for name in ("reference", "status", "eventId", "amountMinor", "decision", "decidedAt", "activatedAt"):
        assert after[name] == before[name]
    assert after["payment"] == before["payment"] and after["businessName"] == "Deleted merchant"
    assert all("url" not in document for document in after["documents"])


def test_applications_of_a_verified_email_are_erased_too(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    me = create_signed_in_client(client, create_account("merchant", email=EMAIL))
    delete_me(me)
    assert not [word for word in PERSONAL_WORDS if word in dump_tables()]
    assert data(owner.get(f"{LIST}/{application['id']}"))["status"] == "withdrawn"


def test_unverified_email_erases_no_applications(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    delete_me(create_signed_in_client(client, create_account("merchant", email=EMAIL, verified=False)))
    assert data(owner.get(f"{LIST}/{application['id']}"))["email"] == EMAIL


def test_applications_of_others_stay(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner, email="other@example.com")
    delete_me(create_signed_in_client(client, create_account("merchant", email=EMAIL)))
    assert data(owner.get(f"{LIST}/{application['id']}"))["contactName"] == "Tuli Hamutenya"


def test_deleted_merchant_gets_no_more_mail(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    run_jobs()
    earlier_mails = len(list_mails_to(EMAIL))
    decide_application(owner, application)
    delete_me(create_signed_in_client(client, create_account("merchant", email=EMAIL)))
    run_jobs()
    assert {item["subject"] for item in list_mails_to(EMAIL)[: len(list_mails_to(EMAIL)) - earlier_mails]} == {
        "Your business is deleted"
    }


def test_files_are_removed_once_storage_is_back(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    me, _ = make_activated_merchant(client, create_organiser_client(client))
    delete_file = storage.delete

    def unavailable(name: str) -> None:
        raise storage.StorageUnavailable()

    monkeypatch.setattr(storage, "delete", unavailable)
    delete_me(me)
    run_jobs()
    assert list_files(app)
    monkeypatch.setattr(storage, "delete", delete_file)
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("UPDATE outbox SET run_at = now() WHERE kind = 'applications.delete_files'"))
    run_jobs()
    assert not list_files(app)


def test_applications_after_a_deletion_stay(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    merchant_account = create_account("merchant", email=EMAIL)
    create_application(client, owner)
    delete_me(create_signed_in_client(client, merchant_account))
    create_account("merchant", email=EMAIL)
    new_application = create_application(client, owner)
    run_jobs()
    assert data(owner.get(f"{LIST}/{new_application['id']}"))["contactName"] == "Tuli Hamutenya"


def test_deletion_while_a_code_is_awaited_erases_the_wallet_and_charges_nothing(app: Flask, client: Client) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    token = find_mailed_token("pay")
    data(client.post(f"{LIST}/pay/{token}"))
    delete_me(create_signed_in_client(client, create_account("merchant", email=EMAIL)))
    assert not [word for word in PERSONAL_WORDS if word in dump_tables()]
    for response in (
        client.get(f"{LIST}/pay/{token}"),
        client.post(f"{LIST}/pay/{token}/payrail/verify-otp", {"code": CODE}),
    ):
        assert response.status_code == 410
    with transaction_engine(db.engine).begin() as connection:
        assert connection.scalar(text("SELECT status FROM stall_payment")) == "expired"
        assert connection.scalar(text("SELECT status FROM merchant_application")) == "withdrawn"


def test_wallet_of_an_open_payment_is_erased_when_it_ends(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner, documentsRequired=[])
    data(client.post(f"{LIST}/pay/{find_mailed_token('pay')}"))
    with transaction_engine(db.engine).begin() as connection:
        # A confirmation was sent, and another wallet was named since: the first wallet may have paid.
        connection.execute(text("UPDATE stall_payment SET status = 'expired', tries = 1, answered = 0"))
    delete_me(create_signed_in_client(client, create_account("merchant", email=EMAIL)))
    erase()
    with transaction_engine(db.engine).begin() as connection:
        assert connection.scalar(text("SELECT msisdn FROM stall_payment")) == "+264811234567"
        assert connection.scalar(text("SELECT status FROM merchant_application")) == "withdrawn"
        connection.execute(text("UPDATE stall_payment SET answered = 1"))
    assert "1  erased applications whose payment has ended since" in (
        app.test_cli_runner().invoke(args=["retention", "run", "--dry-run"]).output
    )
    erase()
    with transaction_engine(db.engine).begin() as connection:
        assert connection.scalar(text("SELECT msisdn FROM stall_payment")) == ""
    assert data(owner.get(f"{LIST}/{application['id']}"))["status"] == "withdrawn"
    erase()


def test_payment_that_waits_for_its_code_ends_with_the_deletion(app: Flask, client: Client) -> None:
    owner = create_organiser_client(client)
    application = create_approved_application(client, owner, documentsRequired=[])
    pay = f"{LIST}/pay/{find_mailed_token('pay')}"
    data(client.post(pay))
    delete_me(create_signed_in_client(client, create_account("merchant", email=EMAIL)))
    with transaction_engine(db.engine).begin() as connection:
        assert connection.execute(text("SELECT status, msisdn FROM stall_payment")).one() == ("expired", "")
    assert data(owner.get(f"{LIST}/{application['id']}"))["status"] == "withdrawn"
    assert client.post(f"{pay}/verify-otp", {"code": "123456"}).status_code in (404, 410)


@pytest.mark.parametrize(("money", "is_kept"), [("", False), ("paid_at = now()", True)])
def test_retired_account_keeps_only_applications_with_money(client: Client, money: str, is_kept: bool) -> None:
    """A paid application stays with its links; the others of an unverified account are erased."""
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    merchant_account = create_account("merchant", verified=False)
    with transaction() as session:
        session.execute(text("UPDATE merchant_application SET account_id = :id"), {"id": merchant_account.id})
        if money:
            session.execute(text(f"UPDATE merchant_application SET {money}"))
        retire_account(session, session.get_one(Account, merchant_account.id))
    run_jobs()
    row = data(owner.get(f"{LIST}/{application['id']}"))
    assert (row["contactName"], row["status"]) == (("Tuli Hamutenya", "submitted") if is_kept else (None, "withdrawn"))
    with transaction_engine(db.engine).begin() as connection:
        assert (connection.scalar(text("SELECT account_id FROM merchant_application")) is None) == is_kept


def test_queued_mail_to_a_deleted_merchant_is_skipped(client: Client) -> None:
    owner, me = (
        create_organiser_client(client),
        create_signed_in_client(client, create_account("merchant", email=EMAIL)),
    )
    application = create_application(me, owner)
    decide_application(owner, application)
    delete_me(me)
    run_jobs()
    with db.engine.connect() as connection:
        assert connection.scalar(text("SELECT state FROM outbox WHERE kind = 'applications.mail'")) == "done"
    assert [mail["subject"] for mail in list_mails_to(EMAIL) if "deleted" not in mail["subject"].lower()] == []
