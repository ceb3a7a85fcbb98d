"""The conditions that a campaign asks for its audience, one by one and for all at once."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.subscriptions import actions, suppression
from app.subscriptions.unsubscribe_links import UnsubscribeTarget
from tests.factories.accounts import account, customer

EMAIL = "frieda@guest.example"


def holds(condition: str, **values: Any) -> bool:
    return bool(db.session.execute(text(f"SELECT {condition}"), values).scalar())


def test_who_said_no_to_one_or_to_all(app: Flask) -> None:
    one, other = account("organiser").id, account("organiser").id
    condition = suppression.is_unsubscribed_sql("CAST(:address AS text)", "CAST(:organiser AS text)")

    def said_no(organiser: str, address: str = EMAIL) -> bool:
        return holds(condition, address=address, organiser=organiser)

    assert not said_no(one)
    actions.unsubscribe(UnsubscribeTarget(EMAIL, one))
    assert said_no(one) and not said_no(other) and not said_no(one, "other@guest.example")
    actions.unsubscribe(UnsubscribeTarget(EMAIL, one), from_all=True)
    assert said_no(other)
    actions.resubscribe(UnsubscribeTarget(EMAIL, other))
    assert said_no(one) and not said_no(other)


def test_who_switched_a_channel_off(app: Flask) -> None:
    who = account(email=EMAIL)
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO channel_preference (account_id, channel, wanted) VALUES (:id, 'sms', false), "
                "(:id, 'push', true)"
            ),
            {"id": who.id},
        )
    condition = suppression.has_disabled_channel_sql("CAST(:address AS text)", "CAST(:channel AS text)")
    told = [holds(condition, address=EMAIL, channel=channel) for channel in ("email", "sms", "push")]
    assert told == [False, True, False] and not holds(condition, address="other@guest.example", channel="sms")


def test_which_addresses_refused_and_who_has_devices(app: Flask) -> None:
    who = customer()
    with transaction() as session:
        session.execute(
            text("INSERT INTO suppression (channel, address, reason) VALUES ('email', :it, '550')"), {"it": EMAIL}
        )
        session.execute(
            text("INSERT INTO push_device (id, account_id, token, platform) VALUES (:id, :id, 't', 'ios')"),
            {"id": who.id},
        )
    condition = suppression.is_suppressed_sql("CAST(:channel AS text)", "CAST(:address AS text)")
    assert holds(condition, channel="email", address=EMAIL) and not holds(condition, channel="sms", address=EMAIL)
    assert holds(suppression.has_device_sql("CAST(:id AS text)"), id=who.id)
    assert not holds(suppression.has_device_sql("CAST(:id AS text)"), id=None)


@pytest.mark.parametrize(
    "condition",
    [
        suppression.is_unsubscribed_sql("person.address", ":organiser"),
        suppression.is_suppressed_sql("'email'", "person.address"),
    ],
)
def test_a_whole_audience_is_answered_by_hashing(app: Flask, condition: str) -> None:
    """Not by one look per person: a hundred thousand of those are half a second."""
    organiser = account("organiser").id
    with transaction() as session:
        for statement in (
            "INSERT INTO unsubscribe (id, address, organiser_id) SELECT lpad(n::text, 24, '0'), n || '@a.example', :o "
            "FROM generate_series(1, 3000) n",
            "INSERT INTO suppression (channel, address, reason) SELECT 'email', n || '@a.example', '550' "
            "FROM generate_series(1, 3000) n WHERE :o <> ''",
        ):
            session.execute(text(statement), {"o": organiser})
        session.execute(text("ANALYZE unsubscribe, suppression"))
        asked = text(f"""EXPLAIN (VERBOSE) SELECT address, {condition} AS barred
              FROM (SELECT n || '@a.example' AS address FROM generate_series(1, 100000) n OFFSET 0) person""")
        plan = "\n".join(session.execute(asked, {"organiser": organiser}).scalars())
    assert "hashed SubPlan" in plan, plan
