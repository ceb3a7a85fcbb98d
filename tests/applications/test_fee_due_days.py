"""The day until which a stall fee is to be paid, set with the approval or afterwards."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.core.clock import utcnow
from tests.factories.accounts import list_mails_to, run_jobs
from tests.factories.applications import (
    EMAIL,
    LIST,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.events import create_organiser_client, create_published_event, update_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, list_problems, read_error


def day_in(days: int) -> str:
    return (utcnow() + timedelta(days=days)).astimezone(ZoneInfo("Africa/Windhoek")).date().isoformat()


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def applied(client: Client, owner: Client) -> dict[str, Any]:
    event = create_published_event(owner, startDate=f"{day_in(60)}T10:00:00", endDate=f"{day_in(61)}T20:00:00")
    return create_application(client, owner, eventId=event["id"])


def read_due(owner: Client, applied: dict[str, Any]) -> str:
    return str(data(owner.get(f"{LIST}/{applied['id']}"))["payment"]["dueAt"])


def test_the_day_of_the_approval_counts_and_stands_in_the_mail(owner: Client, applied: dict[str, Any]) -> None:
    decide_application(owner, applied, documentsRequired=[], payBy=day_in(30))
    assert read_due(owner, applied) == f"{day_in(30)}T21:59:59.000Z"
    shown = data(owner.get(f"{LIST}/{applied['id']}"))
    assert (shown["mode"], shown["scheduledFor"]) == ("now", f"{day_in(30)}T21:59:59.000Z")
    assert f" {int(day_in(30)[-2:])} " in list_mails_to(EMAIL)[0]["text"]


def test_the_last_day_of_the_event_is_its_end(owner: Client, applied: dict[str, Any]) -> None:
    decide_application(owner, applied, documentsRequired=[], payBy=day_in(61))
    assert read_due(owner, applied) == f"{day_in(61)}T18:00:00.000Z"


def test_more_time_is_given_after_the_approval(client: Client, owner: Client, applied: dict[str, Any]) -> None:
    """The applicant gets one mail; the same day again, and a day once the fee is paid, change nothing."""
    decide_application(owner, applied, documentsRequired=[])
    mails = len(list_mails_to(EMAIL))
    for _ in range(2):
        decide_application(owner, applied, payBy=day_in(40))
    assert read_due(owner, applied).startswith(day_in(40)) and len(list_mails_to(EMAIL)) == mails + 1
    pay_stall_fee(client, find_mailed_token("pay"))
    body = {"decision": "approved", "payBy": day_in(41)}
    assert read_error(owner.patch(f"{LIST}/{applied['id']}", body))[0] == 409
    assert data(owner.get(f"{LIST}/{applied['id']}"))["scheduledFor"].startswith(day_in(40))


@pytest.mark.parametrize(
    ("day", "code"), [(-1, "too_small"), (62, "too_large"), ("9999-12-31", "too_large"), ("0001-01-01", "too_small")]
)
def test_a_day_that_is_over_or_after_the_event_is_refused(
    owner: Client, applied: dict[str, Any], day: int | str, code: str
) -> None:
    answer = owner.patch(
        f"{LIST}/{applied['id']}", {"decision": "approved", "payBy": day_in(day) if isinstance(day, int) else day}
    )
    assert list_problems(answer) == {"payBy": code}
    assert data(owner.get(f"{LIST}/{applied['id']}"))["status"] == "submitted"


def test_an_application_without_an_event_has_a_year(client: Client, owner: Client) -> None:
    applied = create_approved_application(client, owner, documentsRequired=[])
    assert applied["status"] == "awaiting_payment"
    decide_application(owner, applied, payBy=day_in(20))
    assert read_due(owner, applied).startswith(day_in(20))


def test_the_last_day_stays_when_the_event_ends_an_hour_earlier(owner: Client, applied: dict[str, Any]) -> None:
    """Nobody is told to pay earlier, least of all because of a day that they did not choose."""
    decide_application(owner, applied, documentsRequired=[], payBy=day_in(61))
    event = data(owner.get(f"/api/events/{fetch_scalar('SELECT event_id FROM merchant_application')}"))
    update_event(owner, event, endDate=f"{day_in(61)}T19:00:00")
    assert read_due(owner, applied).startswith(day_in(61))
    for _ in range(3):
        execute_sql("UPDATE outbox SET run_at = now() - interval '1 minute' WHERE run_at > now()")
        run_jobs()
    (mail,) = [mail for mail in list_mails_to(EMAIL) if "has moved" in mail["subject"]]
    assert "the event is over" not in mail["text"]


def test_an_approval_without_a_day_after_one_with_it_has_two_weeks(owner: Client, applied: dict[str, Any]) -> None:
    decide_application(owner, applied, documentsRequired=[], payBy=day_in(3))
    decide_application(owner, applied, "declined", reason="x")
    decide_application(owner, applied, "submitted", reason="x")
    decide_application(owner, applied, documentsRequired=[])
    assert read_due(owner, applied).startswith(day_in(14))


def test_a_day_for_a_free_stall_changes_nothing(client: Client, owner: Client) -> None:
    free = create_application(client, owner, amountMinor=0)
    decide_application(owner, free)
    mails = len(list_mails_to(EMAIL))
    decide_application(owner, free, payBy=day_in(31))
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE action = 'money.stall_fee_set'") == 0
    assert len(list_mails_to(EMAIL)) == mails
