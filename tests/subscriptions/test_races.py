"""Concurrent unsubscribing, device registrations and changes of preferences."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.accounts.caller import Caller, build_caller
from app.core.db import db
from app.core.errors import StaleVersion
from app.core.transaction import transaction
from app.subscriptions import actions, queries
from app.subscriptions.message_links import UnsubscribeTarget
from tests.factories.accounts import create_account, create_customer
from tests.factories.subscriptions import list_devices, list_unsubscriptions
from tests.races import run_concurrently
from tests.unguarded import without_rules

CONCURRENT_CALLS = 64
EMAIL = "frieda@guest.example"


def caller() -> Caller:
    return build_caller(create_customer())


def with_app_context(app: Flask, call: Any) -> Any:
    """`call` with its own app context and session, like a request."""

    def run(number: int) -> Any:
        with app.app_context():
            try:
                return call(number)
            finally:
                db.session.remove()

    return run


def test_concurrent_unsubscribes_make_one_row(app: Flask) -> None:
    organiser = create_account("organiser").id
    run_concurrently(
        CONCURRENT_CALLS, with_app_context(app, lambda _: actions.unsubscribe(UnsubscribeTarget(EMAIL, organiser)))
    )
    run_concurrently(
        CONCURRENT_CALLS,
        with_app_context(app, lambda _: actions.unsubscribe(UnsubscribeTarget(EMAIL, organiser), from_all=True)),
    )
    assert sorted(list_unsubscriptions(), key=str) == sorted([(EMAIL, organiser), (EMAIL, None)], key=str)


@pytest.mark.control
def test_without_unique_constraint_nothing_is_stored(app: Flask) -> None:
    with without_rules("uq_unsubscribe_address_organiser_id"), pytest.raises(ProgrammingError, match="ON CONFLICT"):
        actions.unsubscribe(UnsubscribeTarget(EMAIL, None))
    assert list_unsubscriptions() == []


def test_concurrent_unsubscribe_and_resubscribe_leave_at_most_one_row(app: Flask) -> None:
    target = UnsubscribeTarget(EMAIL, create_account("organiser").id)

    def change(number: int) -> None:
        (actions.unsubscribe if number % 2 else actions.resubscribe)(target)

    run_concurrently(CONCURRENT_CALLS, with_app_context(app, change))
    assert len(list_unsubscriptions()) <= 1


def count_devices_after_race(app: Flask, owner: Caller) -> int:
    """The number of devices of an account after 64 concurrent registrations."""
    for number in range(actions.MAX_DEVICES):
        actions.register_device(caller=owner, token=f"old-{number}", platform="ios")
    run_concurrently(
        CONCURRENT_CALLS,
        with_app_context(
            app, lambda number: actions.register_device(caller=owner, token=f"new-{number}", platform="ios")
        ),
    )
    return len(list_devices())


def test_concurrent_registrations_keep_device_limit(app: Flask) -> None:
    assert count_devices_after_race(app, caller()) == actions.MAX_DEVICES


@pytest.mark.control
def test_without_account_lock_device_limit_is_exceeded(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "lock_account", lambda *_: None)
    rounds = []
    while len(rounds) < 20 and max(rounds, default=0) <= actions.MAX_DEVICES:
        rounds.append(count_devices_after_race(app, caller()))
        with transaction() as session:
            session.execute(text("DELETE FROM push_device"))
    assert max(rounds) > actions.MAX_DEVICES, rounds


def test_token_registered_concurrently_has_one_owner(app: Flask) -> None:
    people = [caller() for _ in range(8)]
    registrations = run_concurrently(
        CONCURRENT_CALLS,
        with_app_context(
            app, lambda number: actions.register_device(caller=people[number % 8], token="shared", platform="ios")
        ),
    )
    ((owner, _),) = list_devices()
    assert owner in {person.id for person in people} and len(registrations) == CONCURRENT_CALLS


def test_swapping_devices_does_not_deadlock(app: Flask) -> None:
    first_owner, second_owner = caller(), caller()
    for number in range(actions.MAX_DEVICES):
        actions.register_device(caller=first_owner, token=f"first-{number}", platform="ios")
        actions.register_device(caller=second_owner, token=f"second-{number}", platform="ios")

    def swap(number: int) -> None:
        owner, token_prefix = (first_owner, "second") if number % 2 else (second_owner, "first")
        actions.register_device(caller=owner, token=f"{token_prefix}-{number % actions.MAX_DEVICES}", platform="ios")

    run_concurrently(CONCURRENT_CALLS, with_app_context(app, swap))
    owners = [owner for owner, _ in list_devices()]
    assert all(owners.count(item.id) <= actions.MAX_DEVICES for item in (first_owner, second_owner))


def count_accepted_changes(app: Flask, owner: Caller) -> int:
    """How many of 16 concurrent changes of the same version succeed."""
    version = queries.load_preferences(owner)["version"]
    old_value = queries.load_preferences(owner)["sms"]

    def change(_: int) -> bool:
        try:
            actions.update_preferences(caller=owner, expected_version=version, sms=not old_value)
        except StaleVersion:
            return False
        return True

    return sum(run_concurrently(16, with_app_context(app, change)))


def test_one_of_concurrent_changes_of_a_version_succeeds(app: Flask) -> None:
    assert count_accepted_changes(app, caller()) == 1


@pytest.mark.control
def test_without_account_lock_several_changes_succeed(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.subscriptions.actions.lock_account", lambda *_: None)
    assert max(count_accepted_changes(app, caller()) for _ in range(5)) > 1
