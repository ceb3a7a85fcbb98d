"""Many at once: devices that move, links that are followed twice, wishes that are changed together."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.caller import Caller, build_caller
from app.core.db import db
from app.core.errors import StaleVersion
from app.core.transaction import transaction
from app.subscriptions import actions, queries
from app.subscriptions import actions as registering
from app.subscriptions.unsubscribe_links import UnsubscribeTarget
from tests.factories.accounts import account, customer
from tests.factories.subscriptions import devices, ended
from tests.races import at_once
from tests.unguarded import without

MANY = 64
EMAIL = "frieda@guest.example"


def caller() -> Caller:
    return build_caller(customer())


def in_app(app: Flask, call: Any) -> Any:
    """`call` with a context and a session of its own, as a request has."""

    def go(number: int) -> Any:
        with app.app_context():
            try:
                return call(number)
            finally:
                db.session.remove()

    return go


def test_of_sixty_four_links_followed_at_once_one_row_stays(app: Flask) -> None:
    organiser = account("organiser").id
    at_once(MANY, in_app(app, lambda _: actions.unsubscribe(UnsubscribeTarget(EMAIL, organiser))))
    at_once(MANY, in_app(app, lambda _: actions.unsubscribe(UnsubscribeTarget(EMAIL, organiser), from_all=True)))
    assert sorted(ended(), key=str) == sorted([(EMAIL, organiser), (EMAIL, None)], key=str)


@pytest.mark.control
def test_without_the_one_row_there_would_be_many(app: Flask) -> None:
    with without("uq_unsubscribe_address_organiser_id"):
        at_once(8, in_app(app, lambda _: actions.unsubscribe(UnsubscribeTarget(EMAIL, None))))
        assert len(ended()) == 8


def test_no_and_yes_at_once_leave_one_of_both(app: Flask) -> None:
    subject = UnsubscribeTarget(EMAIL, account("organiser").id)

    def change(number: int) -> None:
        (actions.unsubscribe if number % 2 else actions.resubscribe)(subject)

    at_once(MANY, in_app(app, change))
    assert len(ended()) <= 1


def registered(app: Flask, who: Caller) -> int:
    """How many devices an account has after 64 were registered at once."""
    for number in range(registering.MAX_DEVICES):
        actions.register_device(caller=who, token=f"old-{number}", platform="ios")
    at_once(
        MANY,
        in_app(app, lambda number: actions.register_device(caller=who, token=f"new-{number}", platform="ios")),
    )
    return len(devices())


def test_an_account_never_has_more_than_twenty_devices(app: Flask) -> None:
    assert registered(app, caller()) == registering.MAX_DEVICES


@pytest.mark.control
def test_without_the_claim_it_would(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registering, "lock_account", lambda *_: None)
    rounds = []
    while len(rounds) < 20 and max(rounds, default=0) <= registering.MAX_DEVICES:
        rounds.append(registered(app, caller()))
        with transaction() as session:
            session.execute(text("DELETE FROM push_device"))
    assert max(rounds) > registering.MAX_DEVICES, rounds


def test_a_token_that_many_register_has_one_owner(app: Flask) -> None:
    people = [caller() for _ in range(8)]
    made = at_once(
        MANY,
        in_app(app, lambda it: actions.register_device(caller=people[it % 8], token="shared", platform="ios")),
    )
    ((owner, _),) = devices()
    assert owner in {person.id for person in people} and len(made) == MANY


def test_two_who_take_over_each_others_devices_do_not_wait_for_ever(app: Flask) -> None:
    one, other = caller(), caller()
    for number in range(registering.MAX_DEVICES):
        actions.register_device(caller=one, token=f"one-{number}", platform="ios")
        actions.register_device(caller=other, token=f"other-{number}", platform="ios")

    def swap(number: int) -> None:
        who, whose = (one, "other") if number % 2 else (other, "one")
        actions.register_device(caller=who, token=f"{whose}-{number % registering.MAX_DEVICES}", platform="ios")

    at_once(MANY, in_app(app, swap))
    owners = [owner for owner, _ in devices()]
    assert all(owners.count(item.id) <= registering.MAX_DEVICES for item in (one, other))


def stale_changes(app: Flask, who: Caller) -> int:
    """How many of 16 changes of what all have read in one state were taken."""
    version = queries.load_preferences(who)["version"]
    before = queries.load_preferences(who)["sms"]

    def change(_: int) -> bool:
        try:
            actions.update_preferences(caller=who, expected_version=version, sms=not before)
        except StaleVersion:
            return False
        return True

    return sum(at_once(16, in_app(app, change)))


def test_of_changes_to_one_state_one_is_taken(app: Flask) -> None:
    assert stale_changes(app, caller()) == 1


@pytest.mark.control
def test_without_the_claim_more_would_be(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.subscriptions.actions.lock_account", lambda *_: None)
    assert actions.lock_account and max(stale_changes(app, caller()) for _ in range(5)) > 1
