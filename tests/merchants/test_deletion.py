"""Deleting a merchant: beside other requests, before a payout comes back, and before somebody registers again."""

from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import IntegrityError

from app.accounts.models import Account
from app.clients.payrail import TransferOutcome
from app.core.transaction import transaction
from app.merchants import claiming, money
from app.payouts import operating
from app.payouts.reviewing import RETIRED_WITH_MONEY, review
from tests.factories.accounts import PASSWORD, account, mails_to, signed_in
from tests.factories.crew import crew_of, put
from tests.factories.events import event, organiser
from tests.factories.merchants import DELETE, answered, changed, invited, merchant_account
from tests.factories.payouts import Sink, earner, later, lawful, rail_of, requested, scalar, settled, work, write
from tests.http import Client, data
from tests.races import at_once

GO = {"currentPassword": PASSWORD, "confirmation": "DELETE"}
FAREWELLS = "UPDATE outbox SET run_at = now() + CAST(:span AS interval) WHERE kind = 'merchants.farewell'"


def registered_again(client: Client, who: Account) -> Client:
    me = signed_in(client, who)
    body = {"email": who.email, "password": PASSWORD, "name": "Frieda", "businessName": "Kapana Two"}
    data(me.post("/api/auth/register/merchant", body), 201)
    return me


def test_a_late_erasure_touches_only_the_profile_that_was_deleted(client: Client) -> None:
    owner = organiser(client)
    made = event(owner)
    path = f"/api/merchants/me/events/{made['id']}/crew"
    who = merchant_account(roles=["customer", "merchant"])
    me = signed_in(client, who)
    changed(me, payoutDetails={"msisdn": "+264811234567"})
    settled(who, 1000)
    answered(me, invited(owner, made["id"], who)["invited"][0]["inviteId"])
    put(me, path, {"name": "Selma", "phone": "0811111111"}, {"name": "Jonas"})
    before = requested(me, 1000)
    work()
    data(me.post(DELETE, GO))
    write(FAREWELLS, span="1 hour")
    me = registered_again(client, who)
    changed(me, payoutDetails={"msisdn": "+264811234567"})
    settled(who, 1000)
    crew = put(me, path, {"name": "Selma", "phone": "0811111111"}, {"name": "Maria"})
    after = requested(me, 400)
    other = event(owner, name="Another")
    pending = invited(owner, other["id"], who)["invited"][0]["inviteId"]
    write(FAREWELLS, span="0")
    work()
    sealed = "SELECT sealed_to IS NOT NULL AND wallet_mark IS NOT NULL FROM payout WHERE id = :id"
    assert (scalar(sealed, id=before["id"]), scalar(sealed, id=after["id"])) == (False, True)
    assert [each["name"] for each in crew_of(me, path)] == [each["name"] for each in crew] == ["Selma", "Maria"]
    assert scalar("SELECT count(*) FROM crew_member WHERE name = 'Former crew'") == 1, "Jonas was of the old crew"
    assert scalar("SELECT status FROM event_invite WHERE id = :id", id=pending) == "pending"


def test_a_payout_that_comes_back_after_the_deletion_is_given_to_operators(client: Client) -> None:
    operator, reader = account("admin"), account("admin", admin_tier="analyst")
    me, who = earner(client, 1000)
    email = who.email
    with rail_of(Sink()) as sink:
        made = requested(me, 1000)
        work()
        told = data(me.post(DELETE, GO))
        assert told["moneyMayReturnUntil"] is not None
        farewell = next(each for each in mails_to(email) if "deleted" in each["subject"])
        assert who.id in farewell["text"] and "send your last payout back" in farewell["text"]
        sink.truth[made["id"]] = TransferOutcome.RETURNED
        later()
        later()
    assert scalar("SELECT status FROM payout") == "returned"
    assert scalar("SELECT available_minor FROM ledger_purse WHERE owner_id = :id", id=who.id) == 1000
    (opened,) = operating.open_reviews()
    assert (opened.review.kind, opened.review.reference) == ("merchant_deleted", made["id"])
    (mail,) = mails_to(operator.email)
    assert made["id"] in mail["text"] and "N$\u00a010.00" in mail["text"]
    assert mails_to(reader.email) == []
    assert not [each for each in mails_to(email) if "came back" in each["subject"]]
    lawful()


def test_a_review_about_an_account_names_the_account_and_no_payout(client: Client) -> None:
    operator, who = account("admin"), merchant_account()
    with transaction() as session:
        review(session, who.id, RETIRED_WITH_MONEY, balanceMinor=1000)
    work()
    (mail,) = mails_to(operator.email)
    for text in (mail["text"], mail["html"]):
        assert f"Account {who.id}" in text and f"Payout {who.id}" not in text


def test_who_was_never_paid_is_told_of_no_return(client: Client) -> None:
    who = merchant_account()
    assert data(signed_in(client, who).post(DELETE, GO))["moneyMayReturnUntil"] is None
    assert "send your last payout back" not in mails_to(who.email)[0]["text"]


def test_a_bounce_and_a_deletion_at_once_never_strand_money_silently(app: Flask, client: Client) -> None:
    """Either the money is back and the merchant stays, or the merchant is gone and operators know."""
    from app.clients.payrail import TransferState
    from app.payouts.recording import record

    for _ in range(6):
        me, _ = earner(client, 700)
        with rail_of(Sink()):
            made = requested(me, 700)
            work()

        def act(number: int, me: Client = me, payout_id: str = made["id"]) -> Any:
            if number:
                return me.post(DELETE, GO).status_code
            with app.app_context():
                return record(payout_id, TransferState(outcome=TransferOutcome.RETURNED), actor="rail")

        _, left = at_once(2, act)
        reviewed = [each.review.reference for each in operating.open_reviews()]
        assert left in (200, 409) and (made["id"] in reviewed) == (left == 200)
    lawful()


CHANGES = {
    "pause": ("POST", "/api/merchants/me/pause", None),
    "patch": ("PATCH", "/api/merchants/me", {"payoutDetails": {}, "settings": {"language": "de"}, "city": "Outjo"}),
    "resume": ("POST", "/api/merchants/me/resume", {"currentPassword": PASSWORD, "confirmation": True}),
    "delete": ("POST", DELETE, GO),
    "payout": ("POST", "/api/merchants/me/payout-requests",
               {"amountMinor": 1, "destination": "payrail", "mode": "now", "payrailMsisdn": "+264811234567"}),
}  # fmt: skip


def during_a_deletion(client: Client, monkeypatch: pytest.MonkeyPatch, change: str, *, row: bool) -> tuple[int, int]:
    """The statuses of a deletion, and of a change that began while the deletion held its locks."""
    who = merchant_account()
    me = signed_in(client, who)
    if row:
        changed(me, city="Windhoek")
    locked, go_on = Event(), Event()

    def wait(*_: Any) -> None:
        locked.set()
        go_on.wait(0.4)

    monkeypatch.setattr(money, "_checks", [wait])

    def act(number: int) -> int:
        if number == 0:
            return me.post(DELETE, GO).status_code
        locked.wait(10)
        method, path, body = CHANGES[change]
        return me.open(method, path, body).status_code

    deleted, other = at_once(2, act)
    return deleted, other


@pytest.mark.parametrize("row", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_during_a_deletion_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch, change: str, row: bool
) -> None:
    deleted, other = during_a_deletion(client, monkeypatch, change, row=row)
    assert deleted == 200 and other in (401, 409)
    assert scalar("SELECT count(*) FROM merchant_profile") == 0, "nobody made the deleted merchant a new profile"
    assert scalar("SELECT count(*) FROM merchant WHERE status <> 'deleted'") == 0


@pytest.mark.control
def test_without_the_guard_a_change_during_a_deletion_is_an_error(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(error: IntegrityError) -> bool:
        return False

    monkeypatch.setattr(claiming, "_profile_is_gone", unknown)
    app.testing = False
    try:
        assert during_a_deletion(client, monkeypatch, "pause", row=True) == (200, 500)
    finally:
        app.testing = True
