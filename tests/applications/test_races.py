"""Many at the same moment: one decision, one charge, one capture, one account. Each with its guard off as well."""

import time
from collections import Counter
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import func, text, update

from app.applications import account_activation as opening
from app.applications import links, queries, stall_payments
from app.applications.actions import activation as activating
from app.applications.actions import decisions as deciding
from app.applications.actions import payments as paying
from app.applications.models import Application, ApplicationLink, StallPayment
from app.core.transaction import transaction
from tests.factories.accounts import account, signed_in
from tests.factories.applications import CODE, LIST, activation, applied, approved, link, ready, upload
from tests.factories.events import organiser
from tests.http import Client, data
from tests.races import at_once
from tests.unguarded import without


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


@pytest.mark.control
def test_without_the_lock_both_would(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlocked(session: Any, caller: Any, id: str, may: Any) -> Application:
        found = session.get_one(Application, id)
        time.sleep(0.2)
        return found

    monkeypatch.setattr(deciding, "lock_application", unlocked)
    assert decide_at_once(client)["SUCCESS"] == 2
    assert queries.lock_application is not unlocked


def test_two_starts_are_one_charge(client: Client) -> None:
    approved(client, organiser(client), documentsRequired=[])
    path = f"{LIST}/pay/{link('pay')}"
    answers = at_once(16, lambda _: client.post(path))
    assert len({data(response)["paymentId"] for response in answers}) == 1
    assert count("payrail_mock_charge") == count("stall_payment") == 1


@pytest.mark.control
def test_without_lock_and_index_there_would_be_several(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    approved(client, organiser(client), documentsRequired=[])
    token = link("pay")
    _unlock(monkeypatch)
    with without("uq_stall_payment_counting"):
        at_once(3, lambda _: client.post(f"{LIST}/pay/{token}"))
        assert count("payrail_mock_charge") > 1


def test_the_index_alone_refuses_a_second_charge(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    approved(client, organiser(client), documentsRequired=[])
    token = link("pay")
    _unlock(monkeypatch)
    answers = at_once(3, lambda _: client.post(f"{LIST}/pay/{token}"))
    assert Counter(response.status_code for response in answers)[200] == 1
    assert count("payrail_mock_charge") == 1


def _unlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody looks, waits a moment, and then acts on what they saw."""
    newest = stall_payments.find_current_payment

    def looked(application_id: str, session: Any = None) -> Any:
        found = newest(application_id, session)
        time.sleep(0.2)
        return found

    opened = links.get_active_link
    monkeypatch.setattr(paying.links, "get_active_link", lambda token, purpose, session=None: opened(token, purpose))
    monkeypatch.setattr(paying.stall_payments, "find_current_payment", looked)


def pay_path(client: Client) -> str:
    """A running payment that waits for its code."""
    approved(client, organiser(client), documentsRequired=[])
    path = f"{LIST}/pay/{link('pay')}"
    data(client.post(path))
    return path


def codes_at_once(client: Client, path: str, codes: list[str]) -> list[Any]:
    verify = f"{path}/payrail/verify-otp"
    return at_once(
        len(codes),
        lambda n: client.post(verify, {"code": codes[n]}, environ_base={"REMOTE_ADDR": f"127.3.{n}.1"}),
    )


def unguarded_claim(monkeypatch: pytest.MonkeyPatch, callers: int) -> None:
    """Everybody reads the payment before anybody takes it, and then takes it whatever it has become."""
    start, read = Barrier(callers), stall_payments.get_link_with_payment
    firsts = iter(range(callers))

    def together(token: str) -> Any:
        found = read(token)
        if next(firsts, None) is not None:
            start.wait(timeout=20)
        return found

    def whatever(payment_id: str) -> Any:
        taken = update(StallPayment).where(StallPayment.id == payment_id)
        return taken.values(status="processing", tries=StallPayment.tries + 1).returning(StallPayment.id)

    monkeypatch.setattr(paying.stall_payments, "get_link_with_payment", together)
    monkeypatch.setattr(paying, "mark_processing_sql", whatever)


def test_sixty_four_right_codes_capture_once(client: Client) -> None:
    answers = codes_at_once(client, pay_path(client), [CODE] * 64)
    assert {response.status_code for response in answers} <= {200, 503}
    assert {data(response)["status"] for response in answers if response.status_code == 200} <= {"paid", "processing"}
    assert count("stall_payment WHERE status = 'paid'") == 1
    assert count("outbox WHERE kind = 'applications.settle_payment'") == 1
    assert count("outbox WHERE payload->>'template' = 'application_paid'") == 1
    assert count("application_link WHERE purpose = 'activation'") == 1


@pytest.mark.control
def test_without_the_condition_every_code_would_go_to_the_rail(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pay_path(client)
    unguarded_claim(monkeypatch, 6)
    codes_at_once(client, path, [CODE] * 6)
    assert count("outbox WHERE kind = 'applications.settle_payment'") == 6


def test_of_many_wrong_codes_five_are_looked_at(client: Client) -> None:
    answers = codes_at_once(client, pay_path(client), [f"{n:06}" for n in range(32)])
    assert Counter(map(code_of, answers))["OTP_WRONG"] <= 5
    assert tries() <= 5


@pytest.mark.control
def test_without_the_condition_all_of_them_would_be(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pay_path(client)
    unguarded_claim(monkeypatch, 8)
    codes_at_once(client, path, [f"{n:06}" for n in range(8)])
    assert tries() == 8


def tries() -> int:
    with transaction() as session:
        return int(session.execute(text("SELECT max(tries) FROM stall_payment")).scalar_one())


def activate_at_once(client: Client, token: str, callers: int = 32) -> Counter[str]:
    answers = at_once(
        callers,
        lambda n: client.post(
            f"/api/merchant-activation/{token}", activation(), environ_base={"REMOTE_ADDR": f"127.5.{n}.1"}
        ),
    )
    return Counter(map(code_of, answers))


def test_thirty_two_activations_open_one_account(client: Client) -> None:
    found = activate_at_once(client, ready(client, organiser(client)))
    assert found["SUCCESS"] == 1 and found["LINK_USED"] >= 28, found
    assert set(found) <= {"SUCCESS", "LINK_USED", "BUSY", "CURRENT_PASSWORD_WRONG"}
    assert count("account WHERE 'merchant' = ANY(roles)") == 1


@pytest.mark.parametrize("guarded", [True, False])
def test_a_link_opens_one_account_because_it_is_claimed_under_a_condition(
    client: Client, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """All eight have read a living link before anybody writes, and each would open an account of its own."""
    token = ready(client, organiser(client))
    start, numbers, opening_one = Barrier(8), iter(range(8)), opening.create_account

    def somebody_new(session: Any, owner: Any) -> Any:
        start.wait(timeout=20)
        renamed = replace(owner.applicant, email=f"a{next(numbers)}@example.com")
        return opening_one(session, renamed, verified=True)

    def whatever(found: Any, account: Any, message: str) -> Any:
        used = update(ApplicationLink).where(ApplicationLink.id == found.link.id)
        return used.values(used_at=func.now()).returning(ApplicationLink.id)

    monkeypatch.setattr(activating, "open_account", somebody_new)
    if not guarded:
        monkeypatch.setattr(activating, "complete_activation_sql", whatever)
    assert activate_at_once(client, token, 8)["SUCCESS"] == (1 if guarded else 8)
    assert count("account WHERE 'merchant' = ANY(roles)") == (1 if guarded else 8)


def hand_in_at_once(client: Client, callers: int) -> tuple[set[int], int]:
    """The statuses of so many at once, and how often the application went on."""
    approved(client, organiser(client), amountMinor=0)
    token = link("documents")
    upload(client, token, "identity", "business_registration", "tax_clearance", "food_safety")
    answers = at_once(callers, lambda _: client.post(f"{LIST}/docs/{token}"))
    return {response.status_code for response in answers}, count("application_link WHERE purpose = 'activation'")


def test_documents_handed_in_sixteen_times_at_once_go_on_once(client: Client) -> None:
    assert hand_in_at_once(client, 16) == ({200}, 1)


@pytest.mark.control
def test_without_the_lock_they_would_go_on_several_times(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wants an activation link of its own: some get it, and for the others the index is in the way."""
    opened, start = links.get_active_link, Barrier(8)
    waiting = iter(range(9))

    def together(token: str, purpose: str, session: Any = None) -> Any:
        found = opened(token, purpose)
        if session is not None and next(waiting) > 0:
            start.wait(timeout=20)
        return found

    monkeypatch.setattr(links, "get_active_link", together)
    statuses, went_on = hand_in_at_once(client, 8)
    assert statuses != {200} or went_on > 1
