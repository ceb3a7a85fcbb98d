"""Naive times are in the event's time zone, also where clocks go forward or back (Europe/Berlin)."""

from typing import Any

import pytest

from tests.factories.events import create_event, create_organiser_client
from tests.http import Client, data

BERLIN = {"country": "DE", "startDate": "2027-01-01T12:00:00", "endDate": "2027-12-31T12:00:00"}
GAP, OVERLAP = "2027-03-28T02:30:00", "2027-10-31T02:30:00"


def phase(**times: str) -> list[dict[str, Any]]:
    return [{"name": "Day", "priceMinor": 5, "quantity": 5, "phases": [{"name": "Early", "priceMinor": 1, **times}]}]


@pytest.mark.parametrize(
    ("local", "utc"),
    [
        ("2027-03-28T01:59:59", "2027-03-28T00:59:59.000Z"),
        (GAP, "2027-03-28T01:30:00.000Z"),
        ("2027-03-28T03:00:00", "2027-03-28T01:00:00.000Z"),
        (OVERLAP, "2027-10-31T00:30:00.000Z"),
        (OVERLAP + "+01:00", "2027-10-31T01:30:00.000Z"),
        ("2027-10-31T03:00:00", "2027-10-31T02:00:00.000Z"),
        ("2027-07-01", "2027-07-01T21:59:59.000Z"),
        ("2027-07-01T08:00:00.123456", "2027-07-01T06:00:00.123Z"),
    ],
)
def test_end_of_sales_is_stored_as_instant(client: Client, local: str, utc: str) -> None:
    assert create_event(create_organiser_client(client), **BERLIN, salesEndAt=local)["salesEndAt"] == utc


@pytest.mark.parametrize(("local", "utc"), [(GAP, "2027-03-28T01:30:00.000Z"), (OVERLAP, "2027-10-31T00:30:00.000Z")])
def test_publish_at_and_phases_are_stored_as_instants(client: Client, local: str, utc: str) -> None:
    owner = create_organiser_client(client)
    made = create_event(owner, **BERLIN, capacity=5, publishAt=local, ticketTypes=phase(startsAt=local))
    assert made["publishAt"] == utc
    assert made["ticketTypes"][0]["phases"][0]["startsAt"] == utc


def test_date_means_start_of_day_and_for_an_end_end_of_day(client: Client) -> None:
    made = create_event(create_organiser_client(client), country="DE", startDate="2027-07-01", endDate="2027-07-01")
    assert made["startsAt"] == "2027-06-30T22:00:00.000Z" and made["endsAt"] == "2027-07-01T21:59:59.000Z"


def test_new_time_zone_keeps_instants_and_applies_to_new_times(client: Client) -> None:
    owner = create_organiser_client(client)
    made = create_event(owner, **BERLIN)
    changed = data(owner.patch(f"/api/events/{made['id']}", {"timezone": "Africa/Windhoek"}))
    assert changed["startsAt"] == made["startsAt"]
    body = {"timezone": "Asia/Tokyo", "startDate": "2027-01-01T12:00:00"}
    assert data(owner.patch(f"/api/events/{made['id']}", body))["startsAt"] == "2027-01-01T03:00:00.000Z"


def test_event_that_is_over_when_it_is_saved_has_a_warning(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_event(owner, startDate="2020-01-01T10:00:00", endDate="2020-01-02T10:00:00")
    assert [(warning["path"], warning["code"]) for warning in event["warnings"]] == [("endDate", "event_is_over")]
    moved = data(owner.patch(f"/api/events/{event['id']}", {"endDate": "2050-01-02T10:00:00"}))
    assert [(warning["path"], warning["code"]) for warning in moved["warnings"]] == [("startDate", "event_has_begun")]
    moved = data(owner.patch(f"/api/events/{event['id']}", {"startDate": "2050-01-01T10:00:00"}))
    assert "warnings" not in moved
