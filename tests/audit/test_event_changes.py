"""What the audit trail says about changes of an event: which fields, and the values before and after."""

from typing import Any

from sqlalchemy import inspect

from app.audit.actions import Action
from app.events.event_entries import FIELDS_WITHOUT_ENTRY
from app.events.models import Event
from tests.audit.scenes import get_entry, list_entries
from tests.factories.events import WEEKEND, create_organiser_client, create_published_event, update_event
from tests.http import Client, read_error
from tests.races import run_concurrently

PHASE = {"name": "Early bird", "priceMinor": 60000, "quantity": 20}


def test_a_change_has_the_fields_and_short_values_before_and_after(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner, capacity=500)
    changes: dict[str, Any] = {"venue": "Showgrounds", "capacity": None, "endDate": "2027-06-07T23:00:00"}
    update_event(owner, event, **changes, description="Two nights.", lineup=[{"name": "Ees"}])
    entry = get_entry(Action.EVENT_CHANGED)
    assert (entry["event_id"], entry["subject_id"]) == (event["id"], event["id"])
    assert set(entry["data"]["fields"]) == {"venue", "capacity", "endsAt", "description", "lineup"}
    assert entry["data"]["from"] == {"venue": "River grounds", "capacity": 500, "endsAt": event["endsAt"]}
    assert entry["data"]["to"] == {"venue": "Showgrounds", "endsAt": "2027-06-07T21:00:00.000Z"}


def test_a_state_is_recorded_by_its_own_act_alone(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner)
    for visibility in ("unlisted", "published", "archived", "archived"):
        update_event(owner, event, visibility=visibility)
    actions = [entry["action"] for entry in list_entries() if entry["action"].startswith("events.")]
    assert actions == ["events.created", *["events.published"] * 3, "events.archived"]


def test_a_save_without_a_change_has_no_entry(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(
        owner, stallTypes=[{"name": "Food", "feeMinor": 100}], promoCodes=[{"code": "EARLY", "percentOff": 10}]
    )
    before = list_entries()
    update_event(
        owner,
        event,
        name=event["name"],
        startDate=event["startsAt"],
        ticketTypes=event["ticketTypes"],
        stallTypes=[{"name": "Food", "feeMinor": 100, "quantity": None}],
        promoCodes=[{"code": "EARLY", "percentOff": 10}],
    )
    assert list_entries() == before


def test_a_price_and_a_phase_are_in_the_entry_of_their_ticket_type(client: Client) -> None:
    owner = create_organiser_client(client)
    (ticket_type,) = create_published_event(owner)["ticketTypes"]
    event = {"id": get_entry(Action.EVENT_CREATED)["event_id"]}
    update_event(owner, event, ticketTypes=[{**WEEKEND, "priceMinor": 90000, "phases": [PHASE]}])
    entry = get_entry(Action.TICKET_TYPE_CHANGED)
    assert (entry["subject_kind"], entry["subject_id"]) == ("ticket_type", ticket_type["id"])
    assert entry["data"] == {
        "name": "Weekend pass",
        "fields": ["priceMinor", "phases"],
        "from": {"priceMinor": 85000},
        "to": {"priceMinor": 90000, "phases": [PHASE]},
    }


def test_a_renamed_type_is_changed_and_not_removed(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner, stallTypes=[{"name": "Food", "feeMinor": 100}])
    update_event(owner, event, stallTypes=[{"name": "Food truck", "feeMinor": 100}, {"name": "Craft", "feeMinor": 50}])
    assert get_entry(Action.STALL_TYPE_CREATED)["data"]["name"] == "Craft"
    data = get_entry(Action.STALL_TYPE_CHANGED)["data"]
    assert (data["from"], data["to"]) == ({"name": "Food"}, {"name": "Food truck"})
    assert not list_entries(Action.STALL_TYPE_REMOVED)


def test_promo_codes_are_counted_and_not_named(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner, promoCodes=[{"code": "OLD", "percentOff": 10}])
    update_event(owner, event, promoCodes=[{"code": "SECRET", "percentOff": 10}, {"code": "OLD", "percentOff": 20}])
    assert get_entry(Action.PROMO_CODES_CHANGED)["data"] == {"added": 1, "changed": 1, "removed": 0}


def test_a_refused_change_has_no_entry(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner)
    before = list_entries()
    response = owner.patch(f"/api/events/{event['id']}", {"venue": "Showgrounds", "visibility": "draft"})
    assert read_error(response)[0] == 409
    assert list_entries() == before


def test_concurrent_equal_changes_have_one_entry(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner)
    run_concurrently(16, lambda _: owner.patch(f"/api/events/{event['id']}", {"capacity": 700}).status_code)
    assert get_entry(Action.EVENT_CHANGED)["data"]["to"] == {"capacity": 700}


def test_each_column_of_an_event_is_recorded_or_left_out_by_name() -> None:
    assert {column.key for column in inspect(Event).column_attrs} >= FIELDS_WITHOUT_ENTRY
