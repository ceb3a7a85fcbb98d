"""The details of an organisation: who changes them, and what is told and recorded."""

from typing import Any

import pytest

from app.accounts.organisation_details import BankDetails, OrganisationDetails, load_organisation_details
from tests.blueprints.test_event_covers import upload
from tests.core.test_images import picture
from tests.factories.accounts import PASSWORD, create_account, list_mails_to, run_jobs
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, read_error
from tests.teams.test_members import accept, invite
from tests.teams.test_second_factor_rule import ORGANISATION, create_profiled_owner

BANK = {"accountName": "Windhoek Lights CC", "accountNumber": "62 0012 3456 7", "bankName": "Bank Windhoek"}
DETAILS = {"name": "Windhoek Lights", "address": "12 Lüderitz Street, Windhoek", "vatNumber": "1234567-015"}


def test_details_are_changed_and_removed(client: Client) -> None:
    owner = create_profiled_owner(client)
    shown = data(owner.patch(ORGANISATION, DETAILS))
    assert (shown["address"], shown["vatNumber"], shown["bank"]) == (DETAILS["address"], "1234567-015", None)
    shown = data(owner.patch(ORGANISATION, {"address": None}))
    assert (shown["address"], shown["vatNumber"]) == (None, "1234567-015")
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE data::text = '{\"address\": null}'") == 1


def test_bank_details_need_a_confirmation_and_are_told(client: Client) -> None:
    owner = create_profiled_owner(client)
    execute_sql("UPDATE account_session SET created_at = now() - interval '1 hour'")
    assert read_error(owner.patch(ORGANISATION, {"bank": BANK})) == (409, "CONFIRMATION_REQUIRED")
    assert read_error(owner.patch(ORGANISATION, {"bank": BANK, "password": "wrong"})) == (422, "CURRENT_PASSWORD_WRONG")
    shown = data(owner.patch(ORGANISATION, {"bank": BANK, "password": PASSWORD}))
    assert shown["bank"] == {**BANK, "accountNumber": "62001234567", "branchCode": None}
    run_jobs()
    (mail,) = list_mails_to(data(owner.get("/api/auth/me"))["email"])
    assert "••••4567" in mail["text"] and "620012" not in mail["text"]
    recorded = fetch_scalar("SELECT data::text FROM audit_entry WHERE action = 'access.organisation_changed'")
    assert "••••4567" in recorded and "620012" not in recorded
    data(owner.patch(ORGANISATION, {"bank": BANK, "password": PASSWORD}))
    run_jobs()
    assert len(list_mails_to(data(owner.get("/api/auth/me"))["email"])) == 1


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"vatNumber": "VAT 12"}, "vatNumber"),
        ({"bank": {"accountName": "A B", "bankName": "FNB"}, "password": PASSWORD}, "bank.accountNumber"),
        ({"logoUrl": "https://elsewhere.example/logo.png"}, "logoUrl"),
        ({"address": "x"}, "address"),
    ],
)
def test_what_cannot_be_is_refused(client: Client, changes: dict[str, Any], path: str) -> None:
    answer = create_profiled_owner(client).patch(ORGANISATION, changes)
    assert read_error(answer) == (422, "VALIDATION_FAILED")
    assert [error["path"] for error in answer.get_json()["data"]["errors"]] == [path]


def test_an_uploaded_logo_is_shown(client: Client) -> None:
    owner = create_profiled_owner(client)
    uploaded = data(upload(owner, picture("PNG"), "logo.png"), 201)["url"]
    assert data(owner.patch(ORGANISATION, {"logoUrl": uploaded}))["logoUrl"] == uploaded
    assert data(owner.patch(ORGANISATION, {"logoUrl": None}))["logoUrl"] is None


def test_only_the_owner_changes_them(client: Client) -> None:
    owner, account = create_profiled_owner(client), create_account()
    invite(owner, account.email, "manager")
    manager = accept(client, account)
    assert read_error(manager.patch(ORGANISATION, DETAILS)) == (403, "ROLE_NOT_ALLOWED")


def test_an_account_without_a_profile_has_its_name(client: Client) -> None:
    account = create_account("organiser", name="Ndapewa Iita")
    assert load_organisation_details(account.id) == OrganisationDetails("Ndapewa Iita")
    owner = create_profiled_owner(client)
    data(owner.patch(ORGANISATION, {"bank": BANK, "password": PASSWORD}))
    owner_id = fetch_scalar("SELECT account_id FROM organiser_profile")
    assert load_organisation_details(owner_id).bank == BankDetails(
        "Windhoek Lights CC", "62001234567", "Bank Windhoek", None
    )
