"""Until when an invitation is valid if the organiser says nothing."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from tests.factories.events import create_event, create_organiser_client
from tests.factories.merchants import create_merchant_account, invite_merchants
from tests.http import Client, data

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("begins_in", "lasts", "valid_for"),
    [
        (40 * DAY, 2 * DAY, 7 * DAY),
        (9 * DAY, 2 * DAY, 7 * DAY),
        (5 * DAY, 2 * DAY, 3 * DAY),
        (DAY, 2 * DAY, DAY),
        (2 * DAY + timedelta(minutes=30), 2 * DAY, 2 * DAY + timedelta(minutes=30)),
        (timedelta(minutes=-5), 2 * DAY, 2 * DAY - timedelta(minutes=5)),
        (timedelta(minutes=5), timedelta(minutes=20), timedelta(minutes=25)),
    ],
)
def test_invitation_is_valid_a_week_and_ends_two_days_before_the_event(
    client: Client, begins_in: timedelta, lasts: timedelta, valid_for: timedelta
) -> None:
    owner, merchant = create_organiser_client(client), create_merchant_account()
    event_id = create_event(owner)["id"]
    with transaction() as session:
        statement = text("UPDATE event SET starts_at = now() + :start, ends_at = now() + :start + :length")
        session.execute(statement, {"start": begins_in, "length": lasts})
        now: datetime = session.scalars(text("SELECT now()")).one()
    invite_merchants(owner, event_id, merchant)
    link = data(owner.post(f"/api/events/{event_id}/merchant-invite", {}), 201)
    with transaction() as session:
        invite_end = session.scalars(text("SELECT expires_at FROM event_invite")).one()
    for end in (invite_end, datetime.fromisoformat(link["expiresAt"])):
        assert timedelta(0) <= end - now - valid_for + timedelta(milliseconds=1) < timedelta(minutes=1)


def test_organiser_may_choose_a_later_end(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_event(owner)
    path = f"/api/events/{event['id']}/merchant-invite"
    assert data(owner.post(path, {"expiresAt": "2027-06-05T12:00:00"}), 201)["expiresAt"] == "2027-06-05T10:00:00.000Z"
    assert data(owner.post(path, {"expiresAt": "2030-01-01"}), 201)["expiresAt"] == event["endsAt"]
