"""Many at the same moment: one decision, one charge, one capture, one account. Each with its guard off as well."""

import time
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.applications import activation as opening
from app.applications import links, payment, queries
from app.applications.actions import activation as activating
from app.applications.actions import decisions as deciding
from app.applications.actions import pay as paying
from app.applications.models import Application
from app.core.transaction import transaction
from tests.factories.accounts import account, signed_in
from tests.factories.applications import CODE, LIST, activation, applied, approved, link, ready, upload
from tests.factories.events import organiser
from tests.http import Client, data
from tests.races import at_once

UNIQUE = """CREATE UNIQUE INDEX uq_stall_payment_counting ON stall_payment (application_id)
             WHERE status IN ('starting', 'otp_required', 'processing', 'paid')"""


def count(sql: str) -> int:
    with transaction() as session:
        return int(session.execute(text(f"SELECT count(*) FROM {sql}")).scalar_one())


def code_of(answer: Any) -> str:
    return str(answer.get_json()["shortMessage"])


def decide_at_once(client: Client) -> Counter[str]:
    owner = organiser(client)
    made = applied(client, owner)
    reviewers = [owner, signed_in(client, account("admin", admin_tier="support"))]
    words = ("approved", "declined")
    answers = at_once(2, lambda n: reviewers[n].patch(f"{LIST}/{made['id']}", {"decision": words[n]}))
    return Counter(map(code_of, answers))


def test_of_two_reviewers_one_decides(client: Client) -> None:
    for _ in range(5):
        assert decide_at_once(client) == {"SUCCESS": 1, "ALREADY_DECIDED": 1}


def test_without_the_lock_both_would(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlocked(session: Any, caller: Any, id: str, may: Any) -> Application:
        found = session.get_one(Application, id)
        time.sleep(0.2)
        return found

    monkeypatch.setattr(deciding, "locked", unlocked)
    assert decide_at_once(client)["SUCCESS"] == 2
    assert queries.locked is not unlocked


def test_two_starts_are_one_charge(client: Client) -> None:
    approved(client, organiser(client), documentsRequired=[])
    path = f"{LIST}/pay/{link('pay')}"
    answers = at_once(16, lambda _: client.post(path))
    assert len({data(each)["paymentId"] for each in answers}) == 1
    assert count("payrail_mock_charge") == count("stall_payment") == 1


def test_without_lock_and_index_there_would_be_several(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    approved(client, organiser(client), documentsRequired=[])
    token = link("pay")
    _unlock(monkeypatch)
    with transaction() as session:
        session.execute(text("DROP INDEX uq_stall_payment_counting"))
    try:
        at_once(3, lambda _: client.post(f"{LIST}/pay/{token}"))
        assert count("payrail_mock_charge") > 1
    finally:
        with transaction() as session:
            session.execute(text("DELETE FROM stall_payment"))
            session.execute(text(UNIQUE))


def test_the_index_alone_refuses_a_second_charge(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    approved(client, organiser(client), documentsRequired=[])
    token = link("pay")
    _unlock(monkeypatch)
    answers = at_once(3, lambda _: client.post(f"{LIST}/pay/{token}"))
    assert Counter(each.status_code for each in answers)[200] == 1
    assert count("payrail_mock_charge") == 1


def _unlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody looks, waits a moment, and then acts on what he saw."""
    newest = payment.newest

    def looked(application_id: str, session: Any = None) -> Any:
        found = newest(application_id, session)
        time.sleep(0.2)
        return found

    opened = links.opened
    monkeypatch.setattr(paying.links, "opened", lambda token, purpose, session=None: opened(token, purpose))
    monkeypatch.setattr(paying.payment, "newest", looked)


def test_sixty_four_right_codes_capture_once(client: Client) -> None:
    approved(client, organiser(client), documentsRequired=[])
    path = f"{LIST}/pay/{link('pay')}"
    data(client.post(path))
    answers = at_once(64, lambda n: client.post(f"{path}/payrail/verify-otp", {"code": CODE},
                                                environ_base={"REMOTE_ADDR": f"127.3.{n}.1"}))  # fmt: skip
    assert {each.status_code for each in answers} <= {200, 503}
    assert {data(each)["status"] for each in answers if each.status_code == 200} <= {"paid", "processing"}
    assert count("stall_payment WHERE status = 'paid'") == 1
    assert count("outbox WHERE payload->>'template' = 'application_paid'") == 1
    assert count("application_link WHERE purpose = 'activation'") == 1


def test_of_many_wrong_codes_five_are_looked_at(client: Client) -> None:
    approved(client, organiser(client), documentsRequired=[])
    path = f"{LIST}/pay/{link('pay')}"
    data(client.post(path))
    guess = f"{path}/payrail/verify-otp"
    answers = at_once(32, lambda n: client.post(guess, {"code": f"{n:06}"},
                                                environ_base={"REMOTE_ADDR": f"127.4.{n}.1"}))  # fmt: skip
    assert Counter(map(code_of, answers))["OTP_WRONG"] <= 5
    with transaction() as session:
        assert session.execute(text("SELECT max(tries) FROM stall_payment")).scalar_one() <= 5


def activate_at_once(client: Client, token: str) -> Counter[str]:
    answers = at_once(32, lambda n: client.post(f"/api/merchant-activation/{token}", activation(),
                                                environ_base={"REMOTE_ADDR": f"127.5.{n}.1"}))  # fmt: skip
    return Counter(map(code_of, answers))


def test_thirty_two_activations_open_one_account(client: Client) -> None:
    found = activate_at_once(client, ready(client, organiser(client)))
    assert found["SUCCESS"] == 1 and found["LINK_USED"] >= 28
    assert set(found) <= {"SUCCESS", "LINK_USED", "BUSY", "CURRENT_PASSWORD_WRONG"}
    assert count("account WHERE 'merchant' = ANY(roles)") == 1


def test_without_the_lock_a_link_would_work_several_times(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = ready(client, organiser(client))
    opened = links.opened
    numbers = iter(range(1000))

    def somebody_new(session: Any, owner: Any) -> Any:
        time.sleep(0.1)
        return opening.created(session, _renamed(owner.applicant, f"a{next(numbers)}@example.com"))

    monkeypatch.setattr(activating.links, "opened", lambda token, purpose, session=None: opened(token, purpose))
    monkeypatch.setattr(activating, "account_of", somebody_new)
    monkeypatch.setattr(activating, "moved", lambda application, state: None)
    found = activate_at_once(client, token)
    assert found["SUCCESS"] > 1, found


def _renamed(applicant: Any, email: str) -> Any:
    return replace(applicant, email=email)


def test_documents_handed_in_twice_at_once_go_on_once(client: Client) -> None:
    approved(client, organiser(client), amountMinor=0)
    token = link("documents")
    upload(client, token, "identity", "business_registration", "tax_clearance", "food_safety")
    answers = at_once(16, lambda _: client.post(f"{LIST}/docs/{token}"))
    assert {each.status_code for each in answers} == {200}
    assert count("application_link WHERE purpose = 'activation'") == 1
