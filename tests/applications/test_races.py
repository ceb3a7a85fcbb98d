"""Simultaneous requests make one decision, one charge, one capture, one account. Controls run without the guards."""

import time
from collections import Counter
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import func, text, update

from app.applications import links, queries, stall_payments
from app.applications.actions import activation
from app.applications.actions import decisions as decisions_module
from app.applications.actions import payments as payments
from app.applications.models import Application, ApplicationLink, StallPayment
from app.core.transaction import transaction
from mock_rail import MockServer
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.applications import (
    CODE,
    LIST,
    build_activation_body,
    create_application,
    create_approved_application,
    create_ready_application,
    find_mailed_token,
    upload_documents,
)
from tests.factories.events import create_organiser_client
from tests.http import Client, data
from tests.races import run_concurrently
from tests.unguarded import without_rules


def count(sql: str) -> int:
    with transaction() as session:
        return int(session.execute(text(f"SELECT count(*) FROM {sql}")).scalar_one())


def error_code(response: Any) -> str:
    return str(response.get_json()["shortMessage"])


def decide_at_once(client: Client) -> Counter[str]:
    owner = create_organiser_client(client)
    application = create_application(client, owner)
    reviewers = [owner, create_signed_in_client(client, create_account("admin", admin_tier="support"))]
    decisions = ("approved", "declined")
    responses = run_concurrently(
        2, lambda n: reviewers[n].patch(f"{LIST}/{application['id']}", {"decision": decisions[n]})
    )
    return Counter(map(error_code, responses))


def test_one_of_two_simultaneous_decisions_counts(client: Client) -> None:
    for _ in range(5):
        assert decide_at_once(client) == {"SUCCESS": 1, "ALREADY_DECIDED": 1}


@pytest.mark.control
def test_without_the_lock_both_decisions_would_count(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_without_lock(session: Any, caller: Any, id: str, permission: Any) -> Application:
        result = session.get_one(Application, id)
        time.sleep(0.2)
        return result

    monkeypatch.setattr(decisions_module, "lock_application", find_without_lock)
    assert decide_at_once(client)["SUCCESS"] == 2
    assert queries.lock_application is not find_without_lock


def test_simultaneous_starts_make_one_charge(client: Client, rail_server: MockServer) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    path = f"{LIST}/pay/{find_mailed_token('pay')}"
    responses = run_concurrently(16, lambda _: client.post(path))
    assert len({data(response)["paymentId"] for response in responses}) == 1
    assert len(rail_server.store.list_charges()) == count("stall_payment") == 1


@pytest.mark.control
def test_without_lock_and_index_there_would_be_several_charges(
    client: Client, rail_server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    token = find_mailed_token("pay")
    remove_lock(monkeypatch)
    with without_rules("uq_stall_payment_counting"):
        run_concurrently(3, lambda _: client.post(f"{LIST}/pay/{token}"))
        assert len(rail_server.store.list_charges()) > 1


def test_index_alone_refuses_a_second_charge(
    client: Client, rail_server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    token = find_mailed_token("pay")
    remove_lock(monkeypatch)
    responses = run_concurrently(3, lambda _: client.post(f"{LIST}/pay/{token}"))
    assert Counter(response.status_code for response in responses)[200] == 1
    assert len(rail_server.store.list_charges()) == 1


def remove_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without locks, requests read, wait a moment, and act on what they read."""
    find_current_payment = stall_payments.find_current_payment

    def find_slowly(application_id: str, session: Any = None) -> Any:
        result = find_current_payment(application_id, session)
        time.sleep(0.2)
        return result

    get_active_link = links.get_active_link
    monkeypatch.setattr(
        payments.links, "get_active_link", lambda token, purpose, session=None: get_active_link(token, purpose)
    )
    monkeypatch.setattr(payments.stall_payments, "find_current_payment", find_slowly)


def pay_path(client: Client) -> str:
    """The path of a payment that waits for its code."""
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    path = f"{LIST}/pay/{find_mailed_token('pay')}"
    data(client.post(path))
    return path


def codes_at_once(client: Client, path: str, codes: list[str]) -> list[Any]:
    verify = f"{path}/payrail/verify-otp"
    return run_concurrently(
        len(codes),
        lambda n: client.post(verify, {"code": codes[n]}, environ_base={"REMOTE_ADDR": f"127.3.{n}.1"}),
    )


def remove_condition(monkeypatch: pytest.MonkeyPatch, callers: int) -> None:
    """All requests read the payment before one updates it, and then update it without the condition."""
    barrier, get_link_with_payment = Barrier(callers), stall_payments.get_link_with_payment
    waiting_calls = iter(range(callers))

    def read_at_the_same_time(token: str) -> Any:
        result = get_link_with_payment(token)
        if next(waiting_calls, None) is not None:
            barrier.wait(timeout=90)
        return result

    def update_without_condition(payment_id: str) -> Any:
        statement = update(StallPayment).where(StallPayment.id == payment_id)
        return statement.values(status="processing", tries=StallPayment.tries + 1).returning(StallPayment.id)

    monkeypatch.setattr(payments.stall_payments, "get_link_with_payment", read_at_the_same_time)
    monkeypatch.setattr(payments, "mark_processing_sql", update_without_condition)


def test_sixty_four_right_codes_capture_once(client: Client) -> None:
    responses = codes_at_once(client, pay_path(client), [CODE] * 64)
    assert {response.status_code for response in responses} <= {200, 503}
    assert {data(response)["status"] for response in responses if response.status_code == 200} <= {"paid", "processing"}
    assert count("stall_payment WHERE status = 'paid'") == 1
    assert count("outbox WHERE kind = 'applications.settle_payment'") == 1
    assert count("outbox WHERE payload->>'template' = 'application_paid'") == 1
    assert count("application_link WHERE purpose = 'activation'") == 1


@pytest.mark.control
def test_without_the_condition_every_code_would_go_to_the_rail(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pay_path(client)
    remove_condition(monkeypatch, 6)
    codes_at_once(client, path, [CODE] * 6)
    assert count("outbox WHERE kind = 'applications.settle_payment'") == 6


def test_at_most_five_of_many_wrong_codes_are_checked(client: Client) -> None:
    responses = codes_at_once(client, pay_path(client), [f"{n:06}" for n in range(32)])
    assert Counter(map(error_code, responses))["OTP_WRONG"] <= 5
    assert tries() <= 5


@pytest.mark.control
def test_without_the_condition_all_wrong_codes_would_be_checked(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pay_path(client)
    remove_condition(monkeypatch, 8)
    codes_at_once(client, path, [f"{n:06}" for n in range(8)])
    assert tries() == 8


def tries() -> int:
    with transaction() as session:
        return int(session.execute(text("SELECT max(tries) FROM stall_payment")).scalar_one())


def activate_at_once(client: Client, token: str, callers: int = 32) -> Counter[str]:
    responses = run_concurrently(
        callers,
        lambda n: client.post(
            f"/api/merchant-activation/{token}", build_activation_body(), environ_base={"REMOTE_ADDR": f"127.5.{n}.1"}
        ),
    )
    return Counter(map(error_code, responses))


def test_thirty_two_activations_open_one_account(client: Client) -> None:
    result = activate_at_once(client, create_ready_application(client, create_organiser_client(client)))
    assert result["SUCCESS"] == 1 and result["LINK_USED"] >= 28, result
    assert set(result) <= {"SUCCESS", "LINK_USED", "BUSY", "CURRENT_PASSWORD_WRONG"}
    assert count("account WHERE 'merchant' = ANY(roles)") == 1


@pytest.mark.parametrize("guarded", [True, False])
def test_link_opens_one_account_because_its_use_is_conditional(
    client: Client, monkeypatch: pytest.MonkeyPatch, guarded: bool
) -> None:
    """All eight requests read a usable link before one of them writes; each would open its own account."""
    token = create_ready_application(client, create_organiser_client(client))
    barrier, numbers, create_account = Barrier(8), iter(range(8)), activation.create_account

    def open_new_account(session: Any, owner: Any) -> Any:
        barrier.wait(timeout=90)
        renamed = replace(owner.applicant, email=f"a{next(numbers)}@example.com")
        return create_account(session, renamed, verified=True)

    def update_without_condition(result: Any, account: Any, message: str) -> Any:
        statement = update(ApplicationLink).where(ApplicationLink.id == result.link.id)
        return statement.values(used_at=func.now()).returning(ApplicationLink.id)

    monkeypatch.setattr(activation, "open_account", open_new_account)
    if not guarded:
        monkeypatch.setattr(activation, "complete_activation_sql", update_without_condition)
    assert activate_at_once(client, token, 8)["SUCCESS"] == (1 if guarded else 8)
    assert count("account WHERE 'merchant' = ANY(roles)") == (1 if guarded else 8)


def submit_documents_at_once(client: Client, callers: int) -> tuple[set[int], int]:
    """The statuses of simultaneous submissions, and how often the application advanced."""
    create_approved_application(client, create_organiser_client(client), amountMinor=0)
    token = find_mailed_token("documents")
    upload_documents(client, token, "identity", "business_registration", "tax_clearance", "food_safety")
    responses = run_concurrently(callers, lambda _: client.post(f"{LIST}/docs/{token}"))
    return {response.status_code for response in responses}, count("application_link WHERE purpose = 'activation'")


def test_simultaneous_submissions_of_documents_advance_once(client: Client) -> None:
    assert submit_documents_at_once(client, 16) == ({200}, 1)


@pytest.mark.control
def test_without_the_lock_submissions_would_advance_several_times(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request makes an activation link; some succeed, and the unique index refuses the others."""
    get_active_link, barrier = links.get_active_link, Barrier(8)
    waiting = iter(range(9))

    def read_at_the_same_time(token: str, purpose: str, session: Any = None) -> Any:
        result = get_active_link(token, purpose)
        if session is not None and next(waiting) > 0:
            barrier.wait(timeout=90)
        return result

    monkeypatch.setattr(links, "get_active_link", read_at_the_same_time)
    statuses, advance_count = submit_documents_at_once(client, 8)
    assert statuses != {200} or advance_count > 1
