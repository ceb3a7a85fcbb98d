"""A payout that comes back while its merchant leaves, or afterwards: the money is usable or operators know."""

import time
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.clients.payrail import TransferOutcome, TransferState
from app.payouts import outcomes, reviews
from tests.factories.accounts import PASSWORD, account, mails_to
from tests.factories.merchants import DELETE
from tests.factories.payouts import Sink, earner, later, lawful, rail_of, requested, scalar, work
from tests.http import Client, data
from tests.races import at_once

GO = {"currentPassword": PASSWORD, "confirmation": "DELETE"}


def test_a_payout_that_comes_back_after_the_deletion_is_given_to_operators(client: Client) -> None:
    operator, reader = account("admin"), account("admin", admin_tier="analyst")
    me, who = earner(client, 1000)
    email = who.email
    with rail_of(Sink()) as sink:
        made = requested(me, 1000)
        work()
        told = data(me.post(DELETE, GO))
        assert told["moneyMayReturnUntil"] is not None
        farewell = next(item for item in mails_to(email) if "deleted" in item["subject"])
        assert who.id in farewell["text"] and "send your last payout back" in farewell["text"]
        sink.truth[made["id"]] = TransferOutcome.RETURNED
        later()
        later()
    assert scalar("SELECT status FROM payout") == "returned"
    assert scalar("SELECT available_minor FROM ledger_purse WHERE owner_id = :id", id=who.id) == 1000
    (opened,) = reviews.list_open_reviews()
    assert (opened.review.kind, opened.review.reference) == ("merchant_deleted", made["id"])
    (mail,) = mails_to(operator.email)
    assert made["id"] in mail["text"] and "N$\u00a010.00" in mail["text"]
    assert mails_to(reader.email) == []
    assert not [item for item in mails_to(email) if "came back" in item["subject"]]
    lawful()


def test_a_bounce_and_a_deletion_at_once_never_strand_money_silently(app: Flask, client: Client) -> None:
    """Either the money is back and the merchant stays, or the merchant is gone and operators know."""
    for _ in range(6):
        me, _ = earner(client, 700)
        with rail_of(Sink()):
            made = requested(me, 700)
            work()

        def act(number: int, me: Client = me, payout_id: str = made["id"]) -> Any:
            if number:
                return me.post(DELETE, GO).status_code
            with app.app_context():
                return outcomes.record_outcome(payout_id, TransferState(outcome=TransferOutcome.RETURNED), actor="rail")

        _, left = at_once(2, act)
        reviewed = [review.review.reference for review in reviews.list_open_reviews()]
        assert left in (200, 409) and (made["id"] in reviewed) == (left == 200)
    lawful()


def deletion_during_a_bounce(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The status of a deletion that comes when a bounce has looked for its merchant, and how many reviews there are."""
    me, _ = earner(client, 700)
    with rail_of(Sink()):
        made = requested(me, 700)
        work()
    looked, has_merchant = Event(), outcomes._lock_merchant

    def look_and_wait(session: Session, payout_id: str) -> bool:
        found = has_merchant(session, payout_id)
        looked.set()
        time.sleep(0.5)
        return found

    def act(number: int) -> int:
        if number:
            looked.wait(10)
            return me.post(DELETE, GO).status_code
        with app.app_context():
            outcomes.record_outcome(made["id"], TransferState(outcome=TransferOutcome.RETURNED), actor="rail")
        return 0

    monkeypatch.setattr(outcomes, "_lock_merchant", look_and_wait)
    return at_once(2, act)[1], len(reviews.list_open_reviews())


def test_a_deletion_waits_for_a_bounce(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert deletion_during_a_bounce(app, client, monkeypatch) == (409, 0)


@pytest.mark.control
def test_without_the_lock_on_the_account_the_money_would_be_stranded(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "_lock_merchant", lambda session, payout_id: True)
    assert deletion_during_a_bounce(app, client, monkeypatch) == (200, 0)
