"""A payout that comes back during or after the deletion of its merchant: no money is lost without a review."""

import time
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.clients.payrail import TransferOutcome, TransferState
from app.payouts import outcomes, reviews
from tests.factories.accounts import PASSWORD, create_account, list_mails_to
from tests.factories.merchants import DELETE
from tests.factories.payouts import (
    FakeRail,
    advance_time,
    assert_ledger_integrity,
    create_earning_merchant,
    fetch_scalar,
    request_payout,
    run_all_jobs,
    use_rail,
)
from tests.http import Client, data
from tests.races import run_concurrently

DELETE_BODY = {"currentPassword": PASSWORD, "confirmation": "DELETE"}


def test_payout_returned_after_deletion_goes_to_operators(client: Client) -> None:
    operator, analyst = create_account("admin"), create_account("admin", admin_tier="analyst")
    me, owner = create_earning_merchant(client, 1000)
    email = owner.email
    with use_rail(FakeRail()) as sink:
        payout = request_payout(me, 1000)
        run_all_jobs()
        deletion = data(me.post(DELETE, DELETE_BODY))
        assert deletion["moneyMayReturnUntil"] is not None
        deletion_mail = next(item for item in list_mails_to(email) if "deleted" in item["subject"])
        assert owner.id in deletion_mail["text"] and "send your last payout back" in deletion_mail["text"]
        sink.truth[payout["id"]] = TransferOutcome.RETURNED
        advance_time()
        advance_time()
    assert fetch_scalar("SELECT status FROM payout") == "returned"
    assert fetch_scalar("SELECT available_minor FROM ledger_purse WHERE owner_id = :id", id=owner.id) == 1000
    (open_review,) = reviews.list_open_reviews()
    assert (open_review.review.kind, open_review.review.reference) == ("merchant_deleted", payout["id"])
    (mail,) = list_mails_to(operator.email)
    assert payout["id"] in mail["text"] and "N$\u00a010.00" in mail["text"]
    assert list_mails_to(analyst.email) == []
    assert not [item for item in list_mails_to(email) if "came back" in item["subject"]]
    assert_ledger_integrity()


def test_concurrent_return_and_deletion_never_lose_money_silently(app: Flask, client: Client) -> None:
    """Either the money is back and the merchant stays, or the merchant is deleted and there is a review."""
    for _ in range(6):
        me, _ = create_earning_merchant(client, 700)
        with use_rail(FakeRail()):
            payout = request_payout(me, 700)
            run_all_jobs()

        def act(number: int, me: Client = me, payout_id: str = payout["id"]) -> Any:
            if number:
                return me.post(DELETE, DELETE_BODY).status_code
            with app.app_context():
                return outcomes.record_outcome(payout_id, TransferState(outcome=TransferOutcome.RETURNED), actor="rail")

        _, status = run_concurrently(2, act)
        reviewed_payout_ids = [review.review.reference for review in reviews.list_open_reviews()]
        assert status in (200, 409) and (payout["id"] in reviewed_payout_ids) == (status == 200)
    assert_ledger_integrity()


def delete_during_return(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The status of a deletion that starts after a return has checked its merchant, and the number of reviews."""
    me, _ = create_earning_merchant(client, 700)
    with use_rail(FakeRail()):
        payout = request_payout(me, 700)
        run_all_jobs()
    merchant_checked, lock_merchant = Event(), outcomes._lock_merchant

    def check_and_wait(session: Session, payout_id: str) -> bool:
        is_merchant = lock_merchant(session, payout_id)
        merchant_checked.set()
        time.sleep(0.5)
        return is_merchant

    def act(number: int) -> int:
        if number:
            merchant_checked.wait(90)
            return me.post(DELETE, DELETE_BODY).status_code
        with app.app_context():
            outcomes.record_outcome(payout["id"], TransferState(outcome=TransferOutcome.RETURNED), actor="rail")
        return 0

    monkeypatch.setattr(outcomes, "_lock_merchant", check_and_wait)
    return run_concurrently(2, act)[1], len(reviews.list_open_reviews())


def test_deletion_waits_for_returned_payout(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert delete_during_return(app, client, monkeypatch) == (409, 0)


@pytest.mark.control
def test_without_account_lock_returned_money_is_lost(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "_lock_merchant", lambda session, payout_id: True)
    assert delete_during_return(app, client, monkeypatch) == (200, 0)
