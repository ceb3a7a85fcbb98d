"""The copy of an event for the next year."""

from datetime import datetime, timedelta

from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_event, create_organiser_client
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data, read_error

WEEKEND = {
    "name": "Weekend",
    "priceMinor": 45000,
    "quantity": 200,
    "phases": [{"name": "Early", "priceMinor": 30000, "quantity": 50, "endsAt": "2027-03-01T12:00:00"}],
}


def parse(moment: str) -> datetime:
    return datetime.fromisoformat(moment)


def test_copy_is_a_draft_with_all_facts_and_times_52_weeks_later(client: Client) -> None:
    organiser = create_organiser_client(client)
    event = create_event(
        organiser,
        name="Windhoek Lights 2027",
        visibility="published",
        capacity=500,
        country="DE",
        startDate="2027-03-26T18:00:00",
        endDate="2027-03-29T02:00:00",
        applicationsEndAt="2027-03-01T12:00:00",
        ticketTypes=[WEEKEND, {"name": "Day", "priceMinor": 20000, "quantity": 100}],
        lineup=[{"name": "Ees", "startsAt": "2027-03-27T20:00:00"}],
        stallTypes=[{"name": "Food", "feeMinor": 1000}],
    )
    types = {ticket_type["name"]: ticket_type["id"] for ticket_type in event["ticketTypes"]}
    body = {"promoCodes": [{"code": "EARLY", "percentOff": 10, "ticketTypeIds": [types["Day"]]}]}
    data(organiser.patch(f"/api/events/{event['id']}", body))
    execute_sql("UPDATE ticket_type SET sold = 5 WHERE event_id = :id", id=event["id"])
    copy = data(organiser.post(f"/api/events/{event['id']}/copy"), 201)
    assert (copy["name"], copy["visibility"], copy["capacity"]) == ("Windhoek Lights 2028", "draft", 500)
    # 24 March 2028 is before the clocks change; the festival still starts at 18:00 on a Friday.
    assert parse(copy["startsAt"]) == parse("2028-03-24T17:00:00+00:00")
    assert parse(copy["lineup"][0]["startsAt"]) - parse(event["lineup"][0]["startsAt"]) == timedelta(weeks=52)
    weekend, day = copy["ticketTypes"]
    assert (weekend["quantity"], weekend["phases"][0]["priceMinor"]) == (200, 30000)
    assert fetch_scalar("SELECT sum(sold) FROM ticket_type WHERE event_id = :id", id=copy["id"]) == 0
    assert weekend["phases"][0]["endsAt"].startswith("2028-02-28")
    assert copy["promoCodes"][0]["ticketTypeIds"] == [day["id"]] and day["id"] != types["Day"]
    assert copy["applicationsEndAt"] == "2028-02-28T11:00:00.000Z"
    assert copy["stallTypes"] == event["stallTypes"]


def test_copy_of_an_old_event_starts_in_the_future(client: Client) -> None:
    organiser = create_organiser_client(client)
    event = create_event(organiser, name="Lights", startDate="2019-06-07T18:00:00", endDate="2019-06-08T18:00:00")
    copy = data(organiser.post(f"/api/events/{event['id']}/copy"), 201)
    start = parse(copy["startsAt"])
    assert start > datetime.now(start.tzinfo) > start - timedelta(weeks=52)
    assert (start - parse(event["startsAt"])) % timedelta(weeks=1) == timedelta(0)


def test_copy_sent_twice_with_a_key_is_one(client: Client) -> None:
    organiser = create_organiser_client(client)
    event = create_event(organiser)
    path, headers = f"/api/events/{event['id']}/copy", {"Idempotency-Key": "copy-of-lights"}
    first, second = (data(organiser.post(path, headers=headers), 201)["id"] for _ in range(2))
    assert first == second


def test_only_the_organisation_copies_its_events(client: Client) -> None:
    event = create_event(create_organiser_client(client))
    other = create_signed_in_client(client, create_account("organiser"))
    assert read_error(other.post(f"/api/events/{event['id']}/copy")) == (404, "NOT_FOUND")
