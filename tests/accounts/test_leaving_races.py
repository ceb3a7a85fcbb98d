"""Concurrent deletions, suspensions, sign-ins, payouts and exports of one account, with and without their guards."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts import deletion, sessions
from app.accounts.actions import administration, data_export
from app.accounts.actions import deletion as deletion_actions
from app.accounts.models import Account
from app.accounts.sql import CREATE_SESSION_SQL
from app.core.errors import AppError
from app.core.outbox import enqueue
from app.core.spreadsheet import Rejected
from app.core.transaction import transaction
from tests.factories.accounts import (
    PASSWORD,
    create_account,
    create_customer,
    create_signed_in_client,
    list_mails_to,
    run_jobs,
)
from tests.factories.merchants import create_merchant_account, update_merchant
from tests.factories.payouts import build_payout_body, execute_sql, fetch_scalar, import_earnings
from tests.http import Client
from tests.races import run_concurrently
from tests.unguarded import without_rules

ME, EXPORT = "/api/auth/me", "/api/auth/me/export"
ACTIVE_SESSIONS_SQL = "SELECT count(*) FROM account_session WHERE account_id = :id AND ended_at IS NULL"
UNGUARDED_SESSION_SQL = text(
    CREATE_SESSION_SQL.text.replace("AND password_version = :password_version", "")
    .replace("AND suspended_at IS NULL", "")
    .replace("FOR SHARE", "")
)


class Pause:
    """A point at which one thread waits until another has run for a while."""

    def __init__(self, seconds: float = 0.5) -> None:
        self.reached, self.seconds = Event(), seconds

    def __call__(self, *_: Any, **__: Any) -> None:
        self.reached.set()
        Event().wait(self.seconds)


def run_beside(app: Flask, pause: Pause, first: Callable[[], Any], second: Callable[[], Any]) -> tuple[Any, Any]:
    """The results of both; the second starts when the first has reached the pause."""

    def run(number: int) -> Any:
        with app.app_context():
            if number:
                assert pause.reached.wait(60)
            return (first, second)[number]()

    one, other = run_concurrently(2, run)
    return one, other


def make_due(owner: Account) -> None:
    execute_sql("UPDATE account SET deletion_due_at = now() WHERE id = :id", id=owner.id)


def erase(owner: Account) -> None:
    with transaction() as session:
        deletion.erase_account_when_due(session, owner.id)


def sign_in(owner: Account) -> str:
    """The code of the refusal, or `signed in`, of a person who has just proven their password."""
    try:
        with transaction() as session:
            sessions.create_session(session, owner)
    except AppError as error:
        return error.code
    return "signed in"


def request_many_exports(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of sixteen requests for a copy at the same moment succeed, without the limit of one a day."""
    monkeypatch.setattr(data_export, "EXPORTS_PER_DAY", replace(data_export.EXPORTS_PER_DAY, count=1000))
    me = create_signed_in_client(client, create_customer())
    statuses = run_concurrently(16, lambda _: me.post(EXPORT).status_code)
    assert set(statuses) <= {202, 409}
    return statuses.count(202)


def test_one_of_many_concurrent_exports_is_made(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert request_many_exports(client, monkeypatch) == 1


@pytest.mark.control
def test_without_the_index_several_exports_are_made(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with without_rules("uq_data_export_queued"):
        assert request_many_exports(client, monkeypatch) > 1


def delete_many_times(client: Client) -> int:
    """How many mails the owner gets for sixteen requests at the same moment."""
    owner = create_customer()
    me = create_signed_in_client(client, owner)
    assert set(run_concurrently(16, lambda _: me.delete(ME).status_code)) == {200}
    return len(list_mails_to(owner.email))


def test_concurrent_deletions_send_one_mail(client: Client) -> None:
    assert delete_many_times(client) == 1


@pytest.mark.control
def test_without_the_lock_concurrent_deletions_send_several_mails(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion_actions, "lock_for_deletion", lambda session, account_id: None)
    monkeypatch.setattr(
        deletion_actions, "lock_own_account", lambda session, caller, error: session.get_one(Account, caller.id)
    )
    assert delete_many_times(client) > 1


def delete_while_payout_is_requested(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """The statuses of a deletion that has locked the account, and of a payout that is requested meanwhile."""
    owner = create_merchant_account()
    me = create_signed_in_client(client, owner)
    update_merchant(me, payoutDetails={"msisdn": "+264811234567"})
    import_earnings(owner, 1000)
    pause = Pause()
    monkeypatch.setattr(deletion, "_checks", [pause, *deletion._checks])
    return run_beside(
        app,
        pause,
        lambda: me.delete(ME).status_code,
        lambda: me.post("/api/merchants/me/payout-requests", build_payout_body()).status_code,
    )


def test_payout_beside_a_deletion_waits_and_the_deletion_is_refused(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert delete_while_payout_is_requested(app, client, monkeypatch) == (409, 201)


@pytest.mark.control
def test_without_the_lock_of_the_merchant_one_of_both_fails(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "_locks", [])
    assert delete_while_payout_is_requested(app, client, monkeypatch) != (409, 201)


def import_during_erasure(app: Flask, monkeypatch: pytest.MonkeyPatch) -> int:
    """The money of an account that was erased while earnings were imported."""
    owner = create_merchant_account()
    make_due(owner)
    pause = Pause()
    monkeypatch.setattr(deletion, "_checks", [*deletion._checks, pause])

    def import_settlement() -> None:
        with suppress(Rejected):
            import_earnings(owner, 1000)

    run_beside(app, pause, lambda: erase(owner), import_settlement)
    assert fetch_scalar("SELECT roles = '{}' FROM account WHERE id = :id", id=owner.id)
    return int(fetch_scalar("SELECT coalesce(sum(available_minor), 0) FROM ledger_purse"))


def test_earnings_are_not_credited_to_an_account_that_is_being_erased(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert import_during_erasure(app, monkeypatch) == 0


@pytest.mark.control
def test_without_the_lock_an_erased_account_has_money(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "lock_for_deletion", lambda session, account_id: session.get(Account, account_id))
    assert import_during_erasure(app, monkeypatch) == 1000


def sign_in_during_erasure(app: Flask, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """The outcome of a sign-in while the account is being erased, and its sessions afterwards."""
    owner = create_customer()
    make_due(owner)
    pause = Pause()
    monkeypatch.setattr(deletion, "_hooks", [pause])
    _, outcome = run_beside(app, pause, lambda: erase(owner), lambda: sign_in(owner))
    return outcome, fetch_scalar(ACTIVE_SESSIONS_SQL, id=owner.id)


def test_sign_in_during_an_erasure_is_refused(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sign_in_during_erasure(app, monkeypatch) == ("INVALID_CREDENTIALS", 0)


@pytest.mark.control
def test_without_the_check_an_erased_account_has_a_session(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "CREATE_SESSION_SQL", UNGUARDED_SESSION_SQL)
    assert sign_in_during_erasure(app, monkeypatch) == ("signed in", 1)


def sign_in_during_suspension(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """The outcome of a sign-in while the account is being suspended, and its sessions afterwards."""
    owner = create_customer()
    admin = create_signed_in_client(client, create_account("admin"))
    pause = Pause()
    monkeypatch.setattr(administration, "_record_act", pause)
    status, outcome = run_beside(
        app,
        pause,
        lambda: admin.post(f"/api/admin/accounts/{owner.id}/suspend", {"reason": "A test."}).status_code,
        lambda: sign_in(owner),
    )
    assert status == 200
    return outcome, fetch_scalar(ACTIVE_SESSIONS_SQL, id=owner.id)


def test_sign_in_during_a_suspension_is_refused(app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sign_in_during_suspension(app, client, monkeypatch) == ("ACCOUNT_SUSPENDED", 0)


@pytest.mark.control
def test_without_the_check_a_suspended_account_has_a_session(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CREATE_SESSION_SQL", UNGUARDED_SESSION_SQL)
    assert sign_in_during_suspension(app, client, monkeypatch) == ("signed in", 1)


def suspend_each_other(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of two super_admins are left after they suspend each other at the same moment."""
    admins = [create_account("admin") for _ in range(2)]
    clients = [create_signed_in_client(client, admin) for admin in admins]
    monkeypatch.setattr(administration, "_record_act", Pause())

    def suspend(number: int) -> int:
        path = f"/api/admin/accounts/{admins[1 - number].id}/suspend"
        return clients[number].post(path, {"reason": "A test."}).status_code

    assert 200 in run_concurrently(2, suspend)
    return int(fetch_scalar("SELECT count(*) FROM account WHERE suspended_at IS NULL"))


def test_of_two_super_admins_who_suspend_each_other_one_stays(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert suspend_each_other(client, monkeypatch) == 1


@pytest.mark.control
def test_without_the_lock_no_super_admin_stays(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(administration, "lock_admins", lambda session: None)
    assert suspend_each_other(client, monkeypatch) == 0


def leave_together(client: Client, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of two super_admins are left after both ask for their deletion at the same moment."""
    clients = [create_signed_in_client(client, create_account("admin")) for _ in range(2)]
    monkeypatch.setattr(deletion, "_checks", [Pause()])
    statuses = run_concurrently(2, lambda number: clients[number].delete(ME).status_code)
    assert 200 in statuses
    return int(fetch_scalar("SELECT count(*) FROM account WHERE deletion_due_at IS NULL"))


def test_of_two_super_admins_who_leave_at_once_one_stays(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert leave_together(client, monkeypatch) == 1


@pytest.mark.control
def test_without_the_lock_both_super_admins_leave(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "lock_admins", lambda session: None)
    assert leave_together(client, monkeypatch) == 0


def test_erasure_that_runs_many_times_at_once_happens_once(app: Flask, client: Client) -> None:
    owner = create_customer()
    make_due(owner)
    for _ in range(8):
        with transaction():
            enqueue("accounts.erase", account_id=owner.id)

    def work(_: int) -> None:
        with app.app_context():
            run_jobs()

    run_concurrently(8, work)
    assert [mail["subject"] for mail in list_mails_to(owner.email)] == ["Your account is deleted"]
    login = client.post("/api/auth/login", {"email": owner.email, "password": PASSWORD})
    assert login.status_code == 401


def test_keeping_an_account_beside_its_erasure_has_one_outcome(app: Flask, client: Client) -> None:
    owner = create_customer()
    me = create_signed_in_client(client, owner)
    make_due(owner)

    def act(number: int) -> int:
        with app.app_context():
            if number:
                return me.post(f"{ME}/keep").status_code
            erase(owner)
            return 0

    _, status = run_concurrently(2, act)
    is_erased = fetch_scalar("SELECT roles = '{}' FROM account WHERE id = :id", id=owner.id)
    assert (status, is_erased) in {(200, False), (401, True)}
