"""The SQL conditions of a campaign's audience, for one person and for a whole audience."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from app.subscriptions import actions, sql
from app.subscriptions.message_links import UnsubscribeTarget
from tests.factories.accounts import create_account, create_customer

EMAIL = "frieda@guest.example"


def evaluate_condition(condition: str, **values: Any) -> bool:
    return bool(db.session.execute(text(f"SELECT {condition}"), values).scalar())


def test_unsubscribed_from_one_organiser_or_all(app: Flask) -> None:
    organiser_id, other_organiser_id = create_account("organiser").id, create_account("organiser").id
    condition = sql.is_unsubscribed_sql("CAST(:address AS text)", "CAST(:organiser AS text)")

    def is_unsubscribed(organiser: str, address: str = EMAIL) -> bool:
        return evaluate_condition(condition, address=address, organiser=organiser)

    assert not is_unsubscribed(organiser_id)
    actions.unsubscribe(UnsubscribeTarget(EMAIL, organiser_id))
    assert (
        is_unsubscribed(organiser_id)
        and not is_unsubscribed(other_organiser_id)
        and not is_unsubscribed(organiser_id, "other@guest.example")
    )
    actions.unsubscribe(UnsubscribeTarget(EMAIL, organiser_id), from_all=True)
    assert is_unsubscribed(other_organiser_id)
    actions.resubscribe(UnsubscribeTarget(EMAIL, other_organiser_id))
    assert is_unsubscribed(organiser_id) and not is_unsubscribed(other_organiser_id)


def test_disabled_channel_condition(app: Flask) -> None:
    subscriber = create_account(email=EMAIL)
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO channel_preference (account_id, channel, wanted) VALUES (:id, 'sms', false), "
                "(:id, 'push', true)"
            ),
            {"id": subscriber.id},
        )
    condition = sql.has_disabled_channel_sql("CAST(:address AS text)", "CAST(:channel AS text)")
    disabled = [evaluate_condition(condition, address=EMAIL, channel=channel) for channel in ("email", "sms", "push")]
    assert disabled == [False, True, False] and not evaluate_condition(
        condition, address="other@guest.example", channel="sms"
    )


def test_suppressed_address_and_device_conditions(app: Flask) -> None:
    subscriber = create_customer()
    with transaction() as session:
        session.execute(
            text("INSERT INTO suppression (channel, address, reason) VALUES ('email', :address, '550')"),
            {"address": EMAIL},
        )
        session.execute(
            text("INSERT INTO push_device (id, account_id, token, platform) VALUES (:id, :id, 't', 'ios')"),
            {"id": subscriber.id},
        )
    condition = sql.is_suppressed_sql("CAST(:channel AS text)", "CAST(:address AS text)")
    assert evaluate_condition(condition, channel="email", address=EMAIL) and not evaluate_condition(
        condition, channel="sms", address=EMAIL
    )
    assert evaluate_condition(sql.has_device_sql("CAST(:id AS text)"), id=subscriber.id)
    assert not evaluate_condition(sql.has_device_sql("CAST(:id AS text)"), id=None)


@pytest.mark.parametrize(
    "condition",
    [
        sql.is_unsubscribed_sql("person.address", ":organiser"),
        sql.is_suppressed_sql("'email'", "person.address"),
    ],
)
def test_conditions_use_hashes_for_a_whole_audience(app: Flask, condition: str) -> None:
    """A lookup for each of 100,000 people would take half a second."""
    organiser = create_account("organiser").id
    with transaction() as session:
        for statement in (
            "INSERT INTO unsubscribe (id, address, organiser_id) SELECT lpad(n::text, 24, '0'), n || '@a.example', :o "
            "FROM generate_series(1, 3000) n",
            "INSERT INTO suppression (channel, address, reason) SELECT 'email', n || '@a.example', '550' "
            "FROM generate_series(1, 3000) n WHERE :o <> ''",
        ):
            session.execute(text(statement), {"o": organiser})
        session.execute(text("ANALYZE unsubscribe, suppression"))
        explain = text(f"""EXPLAIN (VERBOSE) SELECT address, {condition} AS is_excluded
              FROM (SELECT n || '@a.example' AS address FROM generate_series(1, 100000) n OFFSET 0) person""")
        plan = "\n".join(session.execute(explain, {"organiser": organiser}).scalars())
    assert "hashed SubPlan" in plan, plan
