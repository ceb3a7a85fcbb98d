"""A confirmation that the rail answers late, wrongly or never: nothing is taken twice, and nothing that was taken is
lost. Over HTTP, through a live rail."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from app.applications.actions import payments as paying
from app.clients.payrail.disabled import DisabledRail
from app.clients.payrail.mock_server import Fault, MockServer
from tests.blueprints.test_stall_fee import fee, otp
from tests.blueprints.test_stall_fee_live import captured
from tests.blueprints.test_stall_fee_live import journal as journal
from tests.blueprints.test_stall_fee_live import payer as payer
from tests.blueprints.test_stall_fee_live import server as server
from tests.factories.accounts import PASSWORD, account, deliver, mails_to, signed_in
from tests.factories.applications import EMAIL, LIST, applied, decided, link
from tests.factories.events import organiser
from tests.factories.payouts import rail_of, scalar, work, write
from tests.factories.stall_payments import (
    call,
    capture,
    pass_time,
    reviews,
    run_recurring,
    status_of,
)
from tests.http import Client, data, refusal
from tests.races import at_once

OTHER = {"payrailMsisdn": "081 765 4321"}
LOST = Fault(do="drop", on="confirm", times=1)
IN_PROGRESS = (409, "PAYMENT_IN_PROGRESS")


def unanswered(payer: Client, server: MockServer, path: str) -> str:
    """A payment whose confirmation the rail has not answered; its id."""
    started = str(data(payer.post(path))["paymentId"])
    server.faults.set([LOST])
    assert data(otp(payer, path))["status"] == "processing"
    return started


def wrong_codes(payer: Client, path: str) -> str:
    """A payment that five wrong codes have ended; its id."""
    started = str(data(payer.post(path))["paymentId"])
    for _ in range(5):
        assert refusal(otp(payer, path, "000000")) == (422, "OTP_WRONG")
    return started


def test_a_payment_stays_processing_until_the_answer_is_final(payer: Client, server: MockServer, journal: Path) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    pass_time(21)
    assert data(payer.get(path))["status"] == "processing", "the rail says code_sent, and the confirm may still arrive"
    for body in ({}, OTHER):
        assert refusal(payer.post(path, body)) == IN_PROGRESS
    capture(server, started)
    assert call(payer, started).status_code == 200
    work()
    for answer in (payer.get(path), payer.post(path), payer.post(path, OTHER)):
        assert (data(answer)["status"], data(answer)["paymentId"]) == ("paid", started)
    assert captured(journal) == [("paid", 250000)]


def test_a_start_asks_the_rail_about_the_payment_that_is_in_progress(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    capture(server, started)
    answer = data(payer.post(path, OTHER))
    assert (answer["status"], answer["paymentId"]) == ("paid", started)


def test_what_the_rail_has_let_expire_is_due_again(payer: Client, server: MockServer, journal: Path) -> None:
    path = fee(payer)
    unanswered(payer, server, path)
    pass_time(301, server)
    shown = data(payer.get(path))
    assert (shown["status"], shown["lastFailure"]) == ("due", "expired")
    data(payer.post(path))
    assert data(otp(payer, path))["status"] == "paid" and captured(journal) == [("paid", 250000)]


def test_a_callback_is_weighed_in_every_state_but_paid(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    ended = wrong_codes(payer, path)
    capture(server, ended)
    call(payer, ended)
    work()
    shown = data(payer.get(path))
    assert (shown["status"], shown["paymentId"]) == ("paid", ended)


def test_a_capture_ends_the_payment_that_has_begun_meanwhile(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    first = wrong_codes(payer, path)
    second = data(payer.post(path))["paymentId"]
    capture(server, first)
    call(payer, first)
    work()
    assert (status_of(first), status_of(second)) == ("paid", "expired")
    assert data(otp(payer, path))["paymentId"] == first


def test_a_second_capture_is_reviewed_given_back_and_told(payer: Client, server: MockServer, journal: Path) -> None:
    boss = account("admin")
    path = fee(payer)
    first = wrong_codes(payer, path)
    second = data(payer.post(path))["paymentId"]
    assert data(otp(payer, path))["status"] == "paid"
    capture(server, first)
    for event_id in ("evt-1", "evt-2", "evt-1"):
        call(payer, first, id=event_id)
    work()
    assert reviews() == [("second_capture", first)]
    assert (status_of(first), status_of(second)) == ("expired", "paid")
    assert captured(journal) == [("paid", 250000)] * 2 + [("refunded", 250000)]
    told = [mail for mail in mails_to(boss.email) if first in mail["text"]]
    assert len(told) == 1 and "second_capture" not in told[0]["text"]
    assert data(payer.get(path))["paymentId"] == second


def test_a_refund_that_the_rail_does_not_answer_is_asked_for_again(
    payer: Client, server: MockServer, journal: Path
) -> None:
    path = fee(payer)
    first = wrong_codes(payer, path)
    data(payer.post(path))
    data(otp(payer, path))
    capture(server, first)
    server.faults.set([Fault(do="error", on="refund", times=1)])
    call(payer, first)
    work()
    assert scalar("SELECT refunded_at FROM stall_payment WHERE id = :id", id=first) is None
    pass_time(70)
    assert scalar("SELECT refunded_at FROM stall_payment WHERE id = :id", id=first) is not None
    assert captured(journal).count(("refunded", 250000)) == 1


def test_a_refund_waits_while_the_rail_is_switched_off(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    first = wrong_codes(payer, path)
    data(payer.post(path))
    data(otp(payer, path))
    capture(server, first)
    server.faults.set([Fault(do="error", on="refund", times=1)])
    call(payer, first)
    work()
    write("UPDATE outbox SET attempts = 39 WHERE kind = 'applications.refund_payment'")
    with rail_of(DisabledRail()):
        for _ in range(3):
            pass_time(70)
    pass_time(70)
    assert scalar("SELECT refunded_at FROM stall_payment WHERE id = :id", id=first) is not None


def withdrawable(payer: Client) -> tuple[Client, str, str]:
    """A merchant with an approved application of their own, its id, and where its fee is paid."""
    merchant, owner = signed_in(payer, account("merchant", email=EMAIL)), organiser(payer)
    made = applied(payer, owner)
    write("UPDATE merchant_application SET account_id = (SELECT id FROM account WHERE email = :email)", email=EMAIL)
    decided(owner, made, documentsRequired=[])
    return merchant, made["id"], f"{LIST}/pay/{link('pay')}"


def test_while_a_payment_is_processing_its_application_is_not_withdrawn(payer: Client, server: MockServer) -> None:
    merchant, application_id, path = withdrawable(payer)
    started = unanswered(payer, server, path)
    assert refusal(merchant.post(f"{LIST}/{application_id}/withdraw")) == IN_PROGRESS
    pass_time(301, server)
    assert data(merchant.post(f"{LIST}/{application_id}/withdraw"))["status"] == "withdrawn"
    assert status_of(started) == "expired"


def test_a_withdrawal_ends_the_code_that_is_awaited(payer: Client) -> None:
    merchant, application_id, path = withdrawable(payer)
    started = data(payer.post(path))["paymentId"]
    assert data(merchant.post(f"{LIST}/{application_id}/withdraw"))["status"] == "withdrawn"
    assert status_of(started) == "expired"


def test_expiry_waits_for_a_payment_that_is_processing(payer: Client, server: MockServer) -> None:
    _, application_id, path = withdrawable(payer)
    started = unanswered(payer, server, path)
    write("UPDATE event SET ends_at = now() - interval '1 s', starts_at = now() - interval '1 h'")
    run_recurring("applications.expire")
    assert data(payer.get(path))["status"] == "processing"
    capture(server, started)
    pass_time(60)
    run_recurring("applications.expire")
    assert status_of(started) == "paid"
    status = scalar("SELECT status FROM merchant_application WHERE id = :id", id=application_id)
    assert status == "expired" and reviews() == []


@pytest.mark.parametrize("closed", ["withdrawn", "expired"])
def test_a_capture_is_recorded_whatever_has_become_of_the_application(
    payer: Client, server: MockServer, closed: str
) -> None:
    boss, path = account("admin"), fee(payer)
    started = unanswered(payer, server, path)
    write("UPDATE merchant_application SET status = :closed", closed=closed)
    capture(server, started)
    pass_time(60)
    assert status_of(started) == "paid" and reviews() == [("application_closed", started)]
    assert scalar("SELECT paid_at FROM merchant_application") is not None
    assert any(started in mail["text"] for mail in mails_to(boss.email))


def test_a_capture_after_the_merchant_has_deleted_the_business_is_a_review(payer: Client, server: MockServer) -> None:
    boss = account("admin")
    merchant, _, path = withdrawable(payer)
    started = unanswered(payer, server, path)
    data(merchant.post("/api/merchants/me/delete", {"currentPassword": PASSWORD, "confirmation": "DELETE"}))
    assert scalar("SELECT status FROM merchant_application") == "withdrawn"
    capture(server, started)
    pass_time(60)
    assert status_of(started) == "paid" and reviews() == [("application_closed", started)]
    assert any(started in mail["text"] for mail in mails_to(boss.email))


def codes_at_once(payer: Client) -> Counter[str]:
    """What is said to four wrong codes at once, twelve times over. They leave a try, so the payment lives on."""
    path, said = fee(payer), Counter[str]()
    data(payer.post(path))
    for turn in range(12):
        answers = at_once(
            4,
            lambda n, turn=turn: payer.post(
                f"{path}/payrail/verify-otp", {"code": f"{n:06}"}, environ_base={"REMOTE_ADDR": f"127.9.{turn}.{n}"}
            ),
        )
        said.update(str(response.get_json()["shortMessage"]) for response in answers)
        write("UPDATE stall_payment SET tries = 0, answered = 0")
    return said


def test_of_wrong_codes_at_once_none_is_told_that_the_payment_has_expired_while_it_lives(payer: Client) -> None:
    said = codes_at_once(payer)
    assert set(said) <= {"OTP_WRONG", "SUCCESS"} and said["OTP_WRONG"] >= 12, said


@pytest.mark.control
def test_without_a_second_try_a_code_that_was_slower_is_not_looked_at(
    payer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paying, "range", lambda tries: [0], raising=False)
    said = codes_at_once(payer)
    assert said["PAYMENT_IN_PROGRESS"] > 0, said


def test_a_code_that_another_was_quicker_than_is_still_looked_at(
    payer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, claimed, lost = fee(payer), paying._mark_processing, iter([False])
    data(payer.post(path))
    monkeypatch.setattr(paying, "_mark_processing", lambda *about: next(lost, True) and claimed(*about))
    assert refusal(otp(payer, path, "000000")) == (422, "OTP_WRONG")


def test_the_receipt_is_mailed_once(payer: Client, server: MockServer) -> None:
    path = fee(payer)
    started = unanswered(payer, server, path)
    capture(server, started)
    for _ in range(3):
        call(payer, started)
    pass_time(int(timedelta(minutes=2).total_seconds()))
    deliver()
    assert sum("receipt" in mail["subject"] for mail in mails_to(EMAIL)) == 1
