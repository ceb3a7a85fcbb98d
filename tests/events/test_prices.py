"""Prices by date and quantity, and the status of a sale, in the public inventory and in statistics."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from app.core.cache_invalidation import invalidate
from app.core.transaction import transaction
from app.events import availability
from app.events.ticket_types import current_phase, find_covering_phase, sale_status
from tests.events.law import assert_law_holds
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data

NOW = datetime(2027, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def phase(
    name: str, price: int, *, start: int | None = None, end: int | None = None, quantity: int | None = None
) -> Any:
    """A phase that starts and ends that many days from now."""
    return SimpleNamespace(
        name=name,
        price_minor=price,
        quantity=quantity,
        starts_at=None if start is None else NOW + start * DAY,
        ends_at=None if end is None else NOW + end * DAY,
    )


EARLY = phase("Early", 100, end=5, quantity=10)
REGULAR = phase("Regular", 200, quantity=20)


@pytest.mark.parametrize(
    ("phases", "sold", "days", "name"),
    [
        ([], 0, 0, None),
        ([EARLY, REGULAR], 0, 0, "Early"),
        ([EARLY, REGULAR], 9, 0, "Early"),
        ([EARLY, REGULAR], 10, 0, "Regular"),
        ([EARLY, REGULAR], 3, 5, "Regular"),
        ([EARLY, REGULAR], 29, 5, "Regular"),
        ([EARLY, REGULAR], 30, 5, None),
        ([phase("Later", 5, start=1)], 0, 0, None),
        ([phase("Later", 5, start=1)], 0, 1, "Later"),
        ([phase("Past", 5, end=0), phase("Open", 6)], 999, 0, "Open"),
    ],
)
def test_phase_depends_on_date_and_sales(phases: list[Any], sold: int, days: int, name: str | None) -> None:
    current = current_phase(phases, sold=sold, now=NOW + days * DAY)
    assert (current and current.name) == name


@pytest.mark.parametrize(
    ("phases", "covered"),
    [
        ([EARLY, REGULAR], []),
        ([phase("Open", 1), REGULAR], [1]),
        ([phase("Open", 1, start=1), REGULAR], []),
        ([phase("Open", 1, start=1), phase("Later", 2, start=1)], [1]),
        ([phase("Open", 1, start=1), phase("Sooner", 2, start=0, end=3)], []),
        (
            [
                phase("May", 1, start=1, end=9),
                phase("In it", 2, start=2, end=9, quantity=5),
                phase("Longer", 3, end=10),
            ],
            [1],
        ),
        ([phase("First", 1, quantity=5), phase("Open", 2), phase("Never", 3)], [2]),
        ([phase("Early", 1, end=5), phase("Regular", 2, end=1)], [1]),
        ([phase("Early", 1, end=5), phase("Regular", 2, end=5), phase("Late", 3, end=6)], [1]),
        ([phase("Early", 1, end=5, quantity=9), phase("Regular", 2, end=1)], []),
        ([phase("A", 1, end=5), phase("B", 2, start=4, end=8), phase("C", 3, start=1, end=8)], [2]),
        ([phase("A", 1, end=5), phase("B", 2, start=6, end=8), phase("C", 3, start=1, end=8)], []),
        ([phase("A", 1, end=5), phase("B", 2, start=5), phase("C", 3)], [2]),
        ([phase("A", 1, start=1, end=5), phase("C", 3, end=5)], []),
    ],
)
def test_a_phase_without_a_limit_covers_later_ones(phases: list[Any], covered: list[int]) -> None:
    assert [position for position in range(len(phases)) if find_covering_phase(phases, position)] == covered


def test_a_covered_phase_is_a_warning(client: Client) -> None:
    owner = create_organiser_client(client)
    phases = [{"name": "Open", "priceMinor": 100}, {"name": "Late", "priceMinor": 200}]
    ticket_type = {"name": "Day", "priceMinor": 300, "quantity": 10}
    event = create_published_event(owner, ticketTypes=[{**ticket_type, "phases": phases}])
    (warning,) = event["warnings"]
    assert (warning["path"], warning["code"]) == ("ticketTypes[0].phases[1]", "phase_never_applies")
    assert "Open comes before it" in warning["message"]
    assert "warnings" not in create_published_event(owner, ticketTypes=[{**ticket_type, "phases": phases[:1]}])


@pytest.mark.parametrize(
    ("phases", "public", "ends", "status"),
    [
        ([], 100, 1, "on_sale"),
        ([], 11, 1, "on_sale"),
        ([], 10, 1, "low"),
        ([], 1, 1, "low"),
        ([], 0, 1, "sold_out"),
        ([], 50, 0, "ended"),
        ([], 0, -1, "ended"),
        ([phase("Later", 5, start=1)], 50, 9, "not_started"),
        ([phase("Later", 5, start=1)], 0, 9, "sold_out"),
        ([phase("Now", 5, start=0), phase("Later", 5, start=1)], 50, 9, "on_sale"),
        ([phase("Past", 5, end=-1)], 50, 9, "on_sale"),
    ],
)
def test_sale_status(phases: list[Any], public: int, ends: int, status: str) -> None:
    assert sale_status(phases, public=public, total=100, sales_end_at=NOW + ends * DAY, now=NOW) == status


def move(ticket_type_id: str, count: int, source: Any, target: Any) -> None:
    with transaction() as session:
        assert availability.move(session, ticket_type_id, count, source=source, target=target)
        invalidate(session, "tickets")


def test_inventory_shows_price_and_places_immediately(client: Client) -> None:
    owner = create_organiser_client(client)
    phases = [{"name": "Early", "priceMinor": 100, "quantity": 10}]
    event = create_published_event(
        owner, ticketTypes=[{"name": "Day", "priceMinor": 500, "quantity": 40, "phases": phases}]
    )
    path, day = f"/api/events/public/{event['id']}/ticket-inventory", event["ticketTypes"][0]["id"]

    def read_inventory() -> tuple[Any, ...]:
        ticket_type = data(client.get(path))["ticketTypes"][0]
        return tuple(ticket_type[name] for name in ("phase", "priceMinor", "sold", "allocated", "available", "status"))

    assert read_inventory() == ("Early", 100, 0, 0, 40, "on_sale")
    move(day, 10, "public", "sold")
    assert read_inventory() == (None, 500, 10, 0, 30, "on_sale")
    move(day, 26, "public", "available")
    assert read_inventory() == (None, 500, 10, 26, 4, "low")
    move(day, 4, "public", "sold")
    assert read_inventory() == (None, 500, 14, 26, 0, "sold_out")
    assert_law_holds()


def test_event_with_only_a_capacity_has_an_empty_inventory(client: Client) -> None:
    event = create_published_event(create_organiser_client(client), ticketTypes=[], capacity=5)
    assert data(client.get(f"/api/events/public/{event['id']}/ticket-inventory"))["ticketTypes"] == []


def test_statistics_show_counters_and_todays_figures(client: Client) -> None:
    owner = create_organiser_client(client)
    event = create_published_event(owner)
    weekend = event["ticketTypes"][0]["id"]
    move(weekend, 5, "public", "available")
    move(weekend, 2, "available", "invited")
    with transaction() as session:
        availability.tally(session, weekend, allocated=5, invited=2)
        availability.tally(session, weekend, invited=1)
    statistics = data(owner.get(f"/api/events/{event['id']}/ticket-stats"))
    weekend_stats = statistics["ticketTypes"][0]
    names = ("allocated", "invited", "available", "total")
    assert tuple(weekend_stats[name] for name in names) == (5, 2, 95, 100)
    (today,) = statistics["series"]
    assert (today["ticketTypeId"], today["allocated"], today["invited"], today["sold"]) == (weekend, 5, 3, 0)
    assert statistics["timezone"] == "Africa/Windhoek" and statistics["totals"]["allocated"] == 5
