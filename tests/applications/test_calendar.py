"""Due days, chosen days, event days and the ends of links never contradict."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.applications.calendar import (
    EventCalendar,
    build_deadline,
    calculate_due_at,
    calculate_link_end,
    calculate_reminder_at,
    end_of_day,
)
from app.applications.states import ACTIVATION, DOCUMENTS, PAYMENT, PURPOSES
from tests.factories.accounts import list_mails_to
from tests.factories.applications import (
    EMAIL,
    LIST,
    build_application_body,
    create_application,
    create_approved_application,
    decide_application,
    find_mailed_token,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data, list_problems

ZONES = ["Africa/Windhoek", "Africa/Cairo", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Asia/Kolkata", None]
DECIDED = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)).map(lambda moment: moment.replace(tzinfo=UTC))
MINUTES = st.integers(0, 90 * 24 * 60).map(lambda count: timedelta(minutes=count))


@st.composite
def situations(draw: Any) -> tuple[EventCalendar, datetime, datetime | None]:
    """A decision before the event is over, the calendar at a later time, and the day that the applicant chose."""
    decided_at = draw(DECIDED)
    starts_at = decided_at + draw(MINUTES) - timedelta(days=2)
    ends_at = max(starts_at, decided_at) + timedelta(hours=1) + draw(MINUTES) / 10
    scheduled_for = draw(st.none() | MINUTES.map(lambda delay: decided_at - timedelta(days=3) + delay))
    now = decided_at + draw(st.just(timedelta()) | MINUTES)
    zone = draw(st.sampled_from(ZONES))
    if draw(st.booleans()):
        return EventCalendar(None, None, None, now), decided_at, scheduled_for
    return EventCalendar(starts_at, ends_at, zone, now), decided_at, scheduled_for


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(situations(), st.sampled_from(PURPOSES))
def test_times_of_an_application_never_contradict(
    situation: tuple[EventCalendar, datetime, datetime | None], purpose: str
) -> None:
    calendar, decided_at, scheduled_for = situation
    times = {"decided_at": decided_at, "scheduled_for": scheduled_for}
    due_at = calculate_due_at(purpose, calendar, **times)
    link_end = calculate_link_end(purpose, calendar, **times)
    event_end = calendar.ends_at or datetime.max.replace(tzinfo=UTC)
    assert link_end <= event_end
    assert (due_at is None) == (purpose == ACTIVATION)
    if due_at is not None:
        assert decided_at < due_at <= link_end
    if purpose == PAYMENT and scheduled_for is not None:
        assert link_end >= min(scheduled_for + timedelta(days=7), event_end)
        if scheduled_for >= decided_at and scheduled_for <= event_end:
            assert due_at == min(end_of_day(scheduled_for, calendar.timezone), event_end)
    elif due_at is not None and calendar.starts_at is not None and calendar.starts_at > decided_at + timedelta(days=1):
        assert due_at <= calendar.starts_at
    assert link_end >= min(calendar.now + timedelta(days=7 if purpose == ACTIVATION else 14), event_end)
    sentence = str(build_deadline(purpose, link_end, calendar, **times))
    assert ("until then" in sentence) == (due_at == link_end >= calendar.now)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    situations().filter(lambda situation: situation[0].ends_at is not None),
    st.sampled_from(PURPOSES),
    st.lists(st.tuples(st.integers(-60, 60), st.integers(0, 20), st.sampled_from(ZONES[:-1])), min_size=1, max_size=3),
)
def test_times_follow_an_event_that_moves_and_moves_again(
    situation: tuple[EventCalendar, datetime, datetime | None], purpose: str, moves: list[tuple[int, int, str]]
) -> None:
    """`calendar.now` is the time at which the link was made, and stays."""
    first_calendar, decided_at, scheduled_for = situation
    times = {"decided_at": decided_at, "scheduled_for": scheduled_for}
    first_end = calculate_link_end(purpose, first_calendar, **times)
    calendar, link_end = first_calendar, first_end
    for days, longer, zone in moves:
        previous, previous_end = calendar, link_end
        assert calendar.starts_at is not None and calendar.ends_at is not None
        move = timedelta(days=days)
        calendar = EventCalendar(
            calendar.starts_at + move, calendar.ends_at + move + timedelta(days=longer), zone, calendar.now
        )
        assert calendar.starts_at is not None and calendar.ends_at is not None
        due_at, link_end = calculate_due_at(purpose, calendar, **times), calculate_link_end(purpose, calendar, **times)
        assert link_end <= calendar.ends_at
        assert link_end >= min(calendar.now + timedelta(days=7 if purpose == ACTIVATION else 14), calendar.ends_at)
        if due_at is not None:
            assert due_at <= link_end
            if scheduled_for is not None and scheduled_for > calendar.ends_at:
                assert purpose != PAYMENT or due_at in (calendar.starts_at, calendar.ends_at)
        assert str(build_deadline(purpose, previous_end, calendar, **times)).count("until") <= 1
        sentence = str(build_deadline(purpose, link_end, calendar, **times))
        assert ("until then" in sentence) == (due_at == link_end >= calendar.now)
        if days >= 0 and zone == previous.timezone:
            assert link_end >= previous_end
    assert calculate_link_end(purpose, first_calendar, **times) == first_end


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(DECIDED, st.sampled_from(ZONES))
def test_day_ends_a_second_before_the_next_one(moment: datetime, zone: str | None) -> None:
    local_zone = ZoneInfo(zone or "Africa/Windhoek")
    end = end_of_day(moment, zone)
    assert end >= moment - timedelta(seconds=1)
    assert end.astimezone(local_zone).date() == moment.astimezone(local_zone).date()
    assert (end + timedelta(seconds=1)).astimezone(local_zone).date() > moment.astimezone(local_zone).date()


def test_reminder_comes_at_nine_in_the_zone_of_the_event() -> None:
    due_at = datetime(2026, 12, 4, 21, 59, 59, tzinfo=UTC)
    assert calculate_reminder_at(due_at, 3, "Africa/Windhoek") == datetime(2026, 12, 1, 7, tzinfo=UTC)
    assert calculate_reminder_at(due_at, 1, "Asia/Kolkata") == datetime(2026, 12, 4, 3, 30, tzinfo=UTC)


def in_days(count: int) -> str:
    return (datetime.now(UTC) + timedelta(days=count)).isoformat()


def test_payment_link_outlives_the_chosen_day(client: Client) -> None:
    owner = create_organiser_client(client)
    schedule = {"mode": "schedule", "scheduledFor": in_days(40)}
    approved = create_approved_application(client, owner, documentsRequired=[], **schedule)
    token = find_mailed_token("pay")
    fee = data(client.get(f"{LIST}/pay/{token}"))
    chosen = datetime.fromisoformat(approved["scheduledFor"])
    due_at, link_end = (datetime.fromisoformat(fee[name]) for name in ("dueAt", "expiresAt"))
    assert chosen <= due_at <= chosen + timedelta(days=1) and link_end >= chosen + timedelta(days=7)
    assert approved["payment"]["dueAt"] == fee["dueAt"]
    execute_sql("UPDATE application_link SET expires_at = expires_at - interval '40 days'")
    assert client.get(f"{LIST}/pay/{token}").status_code == 200


def test_page_and_mail_say_the_deadline_in_the_same_sentence(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    (mail,) = [mail for mail in list_mails_to(EMAIL) if "approved" in mail["subject"]]
    for path in ("pay", "documents"):
        page = client.get(f"/{path}/{find_mailed_token(path)}").get_data(as_text=True)
        start = {"pay": "Pay by ", "documents": "Send the documents by "}[path]
        (sentence,) = {line[line.index(start) :].split("<")[0] for line in page.splitlines() if start in line}
        assert sentence.endswith("; the link works until then.")
        assert sentence in mail["text"] and sentence in mail["html"]


def test_links_end_with_the_event(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner, startDate=in_days(2), endDate=in_days(3))
    application = create_application(client, eventId=event["id"], amountMinor=0)
    decide_application(owner, application, documentsRequired=["identity"])
    documents = data(client.get(f"{LIST}/docs/{find_mailed_token('documents')}"))
    assert documents["expiresAt"] == event["endsAt"] and documents["dueAt"] == event["startsAt"]
    other = create_application(client, eventId=event["id"], amountMinor=0, email="simon@example.com")
    decide_application(owner, other, documentsRequired=[])
    activation = data(client.get(f"/api/merchant-activation/{find_mailed_token('activate', 'simon@example.com')}"))
    assert activation["expiresAt"] == event["endsAt"] and activation["dueAt"] is None


@pytest.mark.parametrize(("days", "problems"), [(2, []), (5, [("scheduledFor", "too_large")])])
def test_chosen_day_is_before_the_end_of_the_event(client: Client, days: int, problems: list[Any]) -> None:
    event = create_published_event(create_organiser_client(client), startDate=in_days(3), endDate=in_days(4))
    body = build_application_body(eventId=event["id"], mode="schedule", scheduledFor=in_days(days))
    response = client.post(LIST, body)
    if not problems:
        data(response, 201)
    else:
        assert list_problems(response) == dict(problems)


def test_deadline_that_has_passed_is_called_so(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client), documentsRequired=[])
    execute_sql("UPDATE merchant_application SET decided_at = decided_at - interval '20 days'")
    page = client.get(f"/pay/{find_mailed_token('pay')}").get_data(as_text=True)
    assert "The fee was due by" in page and "the link works until" in page


def test_documents_have_a_due_day(client: Client) -> None:
    owner = create_organiser_client(client)
    create_approved_application(client, owner)
    documents = data(client.get(f"{LIST}/docs/{find_mailed_token('documents')}"))
    assert documents["dueAt"] == documents["expiresAt"]
    assert DOCUMENTS in PURPOSES
