"""Reminders of documents and fees: three days and one day before, once each, while something is due."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.applications import reminders
from app.applications.calendar import EventCalendar
from app.applications.models import Application
from app.core.transaction import transaction
from tests.factories.accounts import list_mails_to
from tests.factories.applications import (
    EMAIL,
    LIST,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
    pay_stall_fee,
    submit_documents,
)
from tests.factories.events import create_organiser_client
from tests.factories.merchants import create_merchant_client
from tests.factories.payouts import execute_sql, fetch_scalar, run_all_jobs
from tests.http import Client, data
from tests.races import run_concurrently


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


def let_days_pass(count: int) -> None:
    """Moves approvals and links into the past, to noon in the zone of the events, by so many days."""
    execute_sql(
        "UPDATE merchant_application SET decided_at = date_trunc('day', decided_at AT TIME ZONE 'Africa/Windhoek')"
        f" AT TIME ZONE 'Africa/Windhoek' - interval '{count} days'"
    )
    execute_sql(f"UPDATE application_link SET expires_at = expires_at - interval '{count} days'")


@pytest.fixture(autouse=True)
def after_nine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reminders leave at midnight, so that the time of the run does not matter."""
    monkeypatch.setattr("app.applications.calendar.REMINDER_HOUR", 0)


def remind() -> None:
    """What the service does every half hour."""
    with transaction() as session:
        reminders.enqueue_many("applications.mail_reminder", reminders._list_reminders(session))
    run_all_jobs()


def list_reminders(email: str = EMAIL) -> list[dict[str, Any]]:
    return [mail for mail in list_mails_to(email) if "still to do" in mail["subject"]]


@pytest.mark.parametrize(("passed", "count"), [(10, 0), (11, 1), (12, 1), (13, 1), (14, 1), (15, 0)])
def test_applicant_is_reminded_in_the_last_three_days(client: Client, owner: Client, passed: int, count: int) -> None:
    create_approved_application(client, owner)
    let_days_pass(passed)
    remind()
    remind()
    assert len(list_reminders()) == count
    for mail in list_reminders():
        assert "Send the documents by" in mail["text"] and "Pay by" in mail["text"]


def test_there_is_one_reminder_three_days_before_and_one_a_day_before() -> None:
    decided_at = datetime(2026, 11, 20, 12, tzinfo=UTC)
    application = Application(id="a" * 24, decided_at=decided_at, scheduled_for=None)
    keys = []
    for hours in range(20 * 24):
        now = decided_at + timedelta(hours=hours)
        key = reminders._find_reminder_key(application, "documents", EventCalendar(None, None, None, now))
        keys.append((key or "").rpartition(":")[2])
    assert list(dict.fromkeys(keys)) == ["", "3", "1"] and keys[-1] == ""
    assert (keys.index("3"), keys.index("1")) == (10 * 24 + 10, 12 * 24 + 10)


def test_link_that_would_end_before_is_replaced(client: Client, owner: Client) -> None:
    create_approved_application(client, owner, documentsRequired=[])
    token = find_mailed_token("pay")
    let_days_pass(11)
    execute_sql("UPDATE application_link SET expires_at = now() + interval '1 hour'")
    remind()
    assert find_mailed_token("pay") != token
    assert client.get(f"{LIST}/pay/{find_mailed_token('pay')}").status_code == 200
    assert client.get(f"{LIST}/pay/{token}").status_code == 410


def test_link_that_works_long_enough_is_kept(client: Client, owner: Client) -> None:
    create_approved_application(client, owner, documentsRequired=[])
    token = find_mailed_token("pay")
    let_days_pass(11)
    execute_sql("UPDATE application_link SET expires_at = now() + interval '9 days'")
    remind()
    assert len(list_reminders()) == 1 and find_mailed_token("pay") == token


def test_only_what_is_due_is_named(client: Client, owner: Client) -> None:
    create_approved_application(client, owner)
    submit_documents(client, find_mailed_token("documents"))
    let_days_pass(11)
    remind()
    (mail,) = list_reminders()
    assert "/pay/" in mail["text"] and "/documents/" not in mail["text"]


@pytest.mark.parametrize("end", ["paid", "waived", "declined", "withdrawn", "expired", "cancelled"])
def test_nobody_is_reminded_of_what_is_no_longer_due(client: Client, owner: Client, end: str) -> None:
    merchant = create_merchant_client(client)
    application = create_application(merchant, owner, email=EMAIL)
    decide_application(owner, application, documentsRequired=[])
    path = f"{LIST}/{application['id']}"
    let_days_pass(11)
    if end == "paid":
        execute_sql("UPDATE application_link SET expires_at = now() + interval '1 day'")
        pay_stall_fee(client, find_mailed_token("pay"))
    elif end == "waived":
        data(owner.post(f"{path}/fee/waive", {"reason": "A school"}))
    elif end == "declined":
        decide_application(owner, application, "declined", reason="No")
    elif end == "withdrawn":
        data(merchant.post(f"{path}/withdraw"))
    elif end == "expired":
        execute_sql("UPDATE event SET starts_at = now() - interval '2 h', ends_at = now()")
    else:
        execute_sql("UPDATE event SET visibility = 'cancelled'")
    remind()
    with transaction() as session:
        reminders.enqueue_many("applications.mail_reminder", [("late", {"application_id": application["id"]})])
        assert session
    run_all_jobs()
    assert not list_reminders()


def test_a_chosen_day_is_what_the_fee_is_reminded_of(client: Client, owner: Client) -> None:
    chosen = (datetime.now(UTC) + timedelta(days=20)).isoformat()
    create_approved_application(client, owner, documentsRequired=[], mode="schedule", scheduledFor=chosen)
    let_days_pass(13)
    remind()
    assert not list_reminders()
    execute_sql("UPDATE merchant_application SET scheduled_for = now() + interval '1 day'")
    remind()
    assert len(list_reminders()) == 1


def test_approval_shortly_before_is_not_repeated_at_once(client: Client, owner: Client) -> None:
    application = create_application(client, owner)
    execute_sql("UPDATE event SET starts_at = now() + interval '60 h', ends_at = now() + interval '90 h'")
    decide_application(owner, application)
    remind()
    assert not list_reminders()


def test_reminder_is_in_the_language_of_the_applicant(client: Client, owner: Client) -> None:
    create_approved_application(client, owner, documentsRequired=[])
    execute_sql("UPDATE merchant_application SET language = 'de'")
    let_days_pass(11)
    remind()
    (mail,) = [mail for mail in list_mails_to(EMAIL) if "noch zu tun" in mail["subject"]]
    assert "Zahlen Sie bis" in mail["text"]


def test_several_processes_remind_once(client: Client, owner: Client) -> None:
    create_approved_application(client, owner)
    let_days_pass(11)

    def look(_: int) -> None:
        with client.flask.application.app_context(), transaction() as session:
            reminders.enqueue_many("applications.mail_reminder", reminders._list_reminders(session))

    run_concurrently(8, look)
    run_all_jobs()
    assert len(list_reminders()) == 1
    assert fetch_scalar("SELECT count(*) FROM outbox WHERE kind = 'applications.mail_reminder'") == 1


@pytest.mark.control
def test_without_the_key_every_process_would_remind(
    client: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_approved_application(client, owner)
    let_days_pass(11)
    list_keyed = reminders._list_reminders
    monkeypatch.setattr(
        reminders, "_list_reminders", lambda session: [(None, payload) for _, payload in list_keyed(session)]
    )
    remind()
    remind()
    assert len(list_reminders()) == 2


def test_second_attempt_after_a_crash_has_the_same_link(client: Client, owner: Client) -> None:
    application = create_approved_application(client, owner, documentsRequired=[])
    let_days_pass(13)
    first = reminders.renew_ending_links(application["id"])
    assert reminders.renew_ending_links(application["id"]) == first
