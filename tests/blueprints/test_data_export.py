"""A person gets a copy of their data: what is in it, its link, and its end."""

import json
import re
import zipfile
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest

from app.accounts.models import Account
from app.clients import storage
from app.core.outbox import enqueue
from app.core.outbox.lease import expire_leases
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from app.retention import orphaned_files
from tests.factories import applications
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    list_mails_to,
    run_jobs,
)
from tests.factories.allocations import create_block
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import create_merchant_account, invite_merchants, update_merchant
from tests.factories.payouts import execute_sql, fetch_scalar, import_earnings, request_payout
from tests.http import Client, data, read_error

EXPORT = "/api/auth/me/export"


def request_link(client: Client, owner: Account, me: Client | None = None) -> str:
    """The path of the link that was mailed."""
    data((me or create_signed_in_client(client, owner)).post(EXPORT), 202)
    run_jobs()
    text = list_mails_to(owner.email)[0]["text"]
    match = re.search(r"http://localhost:8000(/data-export/\S+)", text)
    assert match, text
    return match[1]


def download(client: Client, path: str) -> dict[str, Any]:
    """The files of the copy; JSON files as objects."""
    response = client.get(f"{path}/file")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/zip"
    assert "attachment" in response.headers["Content-Disposition"]
    assert "no-store" in response.headers["Cache-Control"]
    with zipfile.ZipFile(BytesIO(response.data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return {name: json.loads(content) if name.endswith(".json") else content for name, content in files.items()}


def test_customer_gets_their_account_sign_ins_and_nothing_secret(client: Client) -> None:
    owner, other = create_customer(phone="+264811234567"), create_customer(name="Jonas Other")
    create_signed_in_client(client, other)
    files = download(client, request_link(client, owner))
    assert sorted(files) == ["README.txt", "account.json", "history.json", "sign_ins.json"]
    assert (files["account.json"]["email"], files["account.json"]["phone"]) == (owner.email, "+264811234567")
    assert len(files["sign_ins.json"]["sessions"]) == 1
    everything = json.dumps([files["account.json"], files["sign_ins.json"]])
    assert not re.search(r"argon2|hash|token|counter|password|Jonas", everything)
    assert owner.email.encode() in files["README.txt"]


def test_merchant_gets_whole_payout_details_payouts_balance_and_invitations(client: Client) -> None:
    organiser, owner = create_organiser_client(client), create_merchant_account("Kapana Corner")
    me = create_signed_in_client(client, owner)
    update_merchant(me, payoutDetails={"msisdn": "+264811234567"})
    import_earnings(owner, 1000)
    request_payout(me, 1000)
    invite_merchants(organiser, create_event(organiser)["id"], owner, message="Please come.")
    run_jobs()
    files = download(client, request_link(client, owner, me))
    assert files["business.json"]["business_name"] == "Kapana Corner"
    assert files["business.json"]["payout_details"] == {"msisdn": "+264811234567"}
    (payout,) = files["payouts.json"]
    assert (payout["amount_minor"], payout["status"]) == (1000, "paid") and "+264811234567" in str(payout["paid_to"])
    assert files["balance.json"]["available_minor"] == 0 and len(files["balance.json"]["entries"]) >= 2
    assert files["invitations.json"][0]["message"] == "Please come."


def test_applicant_gets_applications_and_uploaded_documents(client: Client) -> None:
    organiser = create_organiser_client(client)
    application = applications.create_approved_application(client, organiser)
    applications.upload_documents(client, applications.find_mailed_token("documents"), "identity")
    files = download(client, request_link(client, create_customer(email=applications.EMAIL)))
    (exported,) = files["applications.json"]
    assert (exported["reference"], exported["email"]) == (application["reference"], applications.EMAIL)
    (name,) = (name for name in files if name.startswith("documents/"))
    assert name.startswith(f"documents/{application['reference']}/identity") and files[name] == applications.PDF


def test_organiser_gets_events_without_guests(client: Client) -> None:
    block = create_block(client)
    block.invite("guest@example.com")
    owner_id = fetch_scalar("SELECT organiser_id FROM event")
    owner = Account(id=owner_id, email=fetch_scalar("SELECT email FROM account WHERE id = :id", id=owner_id))
    files = download(client, request_link(client, owner, block.owner))
    assert [event["id"] for event in files["events.json"]] == [block.event["id"]]
    assert "guest@" not in json.dumps({name: part for name, part in files.items() if name != "README.txt"})


def test_guest_gets_places_without_their_codes(client: Client) -> None:
    block = create_block(client)
    block.invite("guest@example.com")
    code = fetch_scalar("SELECT code FROM allocation_slot WHERE email = 'guest@example.com'")
    files = download(client, request_link(client, create_customer(email="guest@example.com")))
    (place,) = files["free_tickets.json"]
    assert place["event"] == block.event["name"] and str(code) not in json.dumps(place)


def test_unverified_address_gets_no_copy(client: Client) -> None:
    me = create_signed_in_client(client, create_customer(verified=False))
    assert read_error(me.post(EXPORT)) == (403, "EMAIL_NOT_VERIFIED")


def test_one_copy_at_a_time_and_one_a_day(client: Client) -> None:
    owner = create_customer()
    me = create_signed_in_client(client, owner)
    data(me.post(EXPORT), 202)
    assert read_error(me.post(EXPORT)) == (409, "EXPORT_IN_PROGRESS")
    run_jobs()
    answer = me.post(EXPORT)
    assert read_error(answer) == (429, "RATE_LIMITED") and int(answer.headers["Retry-After"]) > 86000
    execute_sql("UPDATE throttle SET ends_at = now()")
    data(me.post(EXPORT), 202)


def test_copy_that_cannot_be_made_may_be_asked_for_again(client: Client) -> None:
    owner = create_customer()
    me = create_signed_in_client(client, owner)
    data(me.post(EXPORT), 202)
    execute_sql(
        "UPDATE outbox SET state = 'leased', lease_until = now() - interval '1 s', lost = 99"
        " WHERE kind = 'accounts.export_data'"
    )
    expire_leases(get_tuning())
    run_jobs()
    assert fetch_scalar("SELECT status FROM data_export") == "failed"
    data(me.post(EXPORT), 202)


def test_repeated_job_makes_the_same_link_and_one_mail(client: Client) -> None:
    owner = create_customer()
    path = request_link(client, owner)
    export_id = fetch_scalar("SELECT id FROM data_export")
    with transaction():
        enqueue("accounts.export_data", export_id=export_id)
    run_jobs()
    assert len(list_mails_to(owner.email)) == 1 and client.get(path).status_code == 200


def test_half_done_job_continues(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = create_customer()
    data(create_signed_in_client(client, owner).post(EXPORT), 202)

    def fail(*_: Any, **__: Any) -> None:
        raise storage.StorageUnavailable()

    with monkeypatch.context() as patch:
        patch.setattr(storage, "put", fail)
        run_jobs()
    assert fetch_scalar("SELECT status FROM data_export") == "queued"
    execute_sql("UPDATE outbox SET run_at = now() WHERE kind = 'accounts.export_data'")
    run_jobs()
    assert fetch_scalar("SELECT status FROM data_export") == "done"


def test_only_the_hash_of_the_token_is_stored(client: Client) -> None:
    token = request_link(client, create_customer()).rpartition("/")[2]
    for table in ("data_export", "outbox"):
        assert fetch_scalar(f"SELECT count(*) FROM {table} t WHERE t::text LIKE '%' || :token || '%'", token=token) == 0


@pytest.mark.parametrize("path", ["/data-export/unknown", "/data-export/unknown/file"])
def test_unknown_links_are_not_found(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404 and "text/html" in response.headers["Content-Type"]


def test_link_ends_after_seven_days_and_its_file_is_deleted(client: Client) -> None:
    path = request_link(client, create_customer())
    export_id = fetch_scalar("SELECT id FROM data_export")
    assert fetch_scalar("SELECT expires_at - now() BETWEEN '6 days 23 hours' AND '7 days' FROM data_export")
    execute_sql("UPDATE data_export SET expires_at = now()")
    assert client.get(path).status_code == client.get(f"{path}/file").status_code == 404
    with transaction():
        enqueue("accounts.delete_exports")
    run_jobs()
    assert storage.get(f"private/exports/{export_id}.zip") is None
    assert fetch_scalar("SELECT count(*) FROM data_export") == 0


def test_link_ends_when_the_account_is_deleted(client: Client) -> None:
    owner = create_customer()
    me = create_signed_in_client(client, owner)
    path = request_link(client, owner, me)
    export_id = fetch_scalar("SELECT id FROM data_export")
    data(me.delete("/api/auth/me"))
    assert client.get(path).status_code == 200
    execute_sql("UPDATE account SET deletion_due_at = now()")
    with transaction():
        enqueue("accounts.erase", account_id=owner.id)
    run_jobs()
    assert client.get(path).status_code == client.get(f"{path}/file").status_code == 404
    run_jobs()
    assert storage.get(f"private/exports/{export_id}.zip") is None


def test_link_ends_when_the_last_role_is_deleted(client: Client) -> None:
    owner = create_merchant_account()
    me = create_signed_in_client(client, owner)
    path = request_link(client, owner, me)
    data(me.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}))
    assert client.get(f"{path}/file").status_code == 404


def test_sweep_keeps_copies_that_can_be_downloaded(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    request_link(client, create_customer())
    monkeypatch.setattr(orphaned_files, "MAX_UPLOAD_TIME", timedelta(seconds=-60))
    name = f"private/exports/{fetch_scalar('SELECT id FROM data_export')}.zip"
    assert name not in [file.name for file in orphaned_files.list_orphaned_files()]
    execute_sql("DELETE FROM data_export")
    assert name in [file.name for file in orphaned_files.list_orphaned_files()]


def test_export_of_an_account_that_is_deleted_meanwhile_leaves_no_file(client: Client) -> None:
    owner = create_account("customer")
    data(create_signed_in_client(client, owner).post(EXPORT), 202)
    execute_sql("UPDATE account SET email_verified_at = NULL")
    run_jobs()
    assert fetch_scalar("SELECT count(*) FROM data_export WHERE status = 'done'") == 0
