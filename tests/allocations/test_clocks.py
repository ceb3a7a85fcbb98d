"""The clock of the database decides the time of an admission and the year of an invoice."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.allocations import invoice_issue
from app.core import clock
from tests.allocations.blocks import block_of, festival, organiser_of
from tests.allocations.documents import extract_text
from tests.factories.allocations import create_block
from tests.http import Client, data, list_problems

MINUTE, HALF = timedelta(minutes=1), timedelta(seconds=30)
EARLIEST, LATEST = timedelta(hours=72), timedelta(minutes=5)
SetClock = Callable[[timedelta], None]


@pytest.fixture
def set_app_clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """Set the clock of this process ahead of the database's, or behind it if below zero."""

    def set_ahead(span: timedelta) -> None:
        class Shifted(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return datetime.now(tz) + span

        monkeypatch.setattr(clock, "datetime", Shifted)

    return set_ahead


def at(span: timedelta) -> str:
    return (datetime.now(UTC) + span).isoformat()


@pytest.mark.parametrize("ahead", [-MINUTE, MINUTE])
@pytest.mark.parametrize("count", [None, 1])
def test_admission_is_timed_by_the_clock_of_the_database(
    client: Client, set_app_clock: SetClock, ahead: timedelta, count: int | None
) -> None:
    made = create_block(client)
    early, late, now = made.claimed(3)
    set_app_clock(ahead)
    for wrong in (-EARLIEST - HALF, LATEST + HALF):
        refused = made.admit(early, occurredAt=at(wrong), count=count)
        assert list_problems(refused) == {"occurredAt": "out_of_range"}
    admitted_at = data(made.admit(early, occurredAt=at(-EARLIEST + HALF), count=count))["admittedAt"]
    assert datetime.fromisoformat(admitted_at) < datetime.now(UTC) - EARLIEST + MINUTE
    for slot, sent in ((late, at(LATEST - HALF)), (now, at(-HALF))):
        admitted_at = data(made.admit(slot, occurredAt=sent, count=count))["admittedAt"]
        assert datetime.fromisoformat(admitted_at) <= datetime.now(UTC), "no admission is in the future"


def issued(owner: Client, made: dict[str, Any]) -> tuple[str, str, str]:
    """Number, printed date and `issuedAt` of a new invoice."""
    path = f"/api/events/{made['id']}/allocations/{block_of(made).id}"
    printed = extract_text(owner.get(f"{path}/invoice.pdf").data)
    said = data(owner.get(f"{path}/invoice"))
    return said["number"], printed, said["issuedAt"]


@pytest.mark.parametrize(
    ("moment", "number", "date"),
    [
        ("2026-12-31T21:59:59.999+00:00", "2026-000001", "Thu 31 December 2026"),
        ("2026-12-31T22:00:00.000+00:00", "2027-000001", "Fri 1 January 2027"),
        ("2026-12-31T23:59:59.999+00:00", "2027-000001", "Fri 1 January 2027"),
    ],
)
@pytest.mark.parametrize("zone", ["Africa/Windhoek", "Pacific/Auckland"])
def test_number_and_date_of_an_invoice_come_from_one_moment(
    client: Client, monkeypatch: pytest.MonkeyPatch, zone: str, moment: str, number: str, date: str
) -> None:
    """By the calendar of Windhoek, in any time zone of the event."""
    owner, _ = organiser_of(client)
    made = festival(owner, timezone=zone)
    frozen = datetime.fromisoformat(moment)
    subject = invoice_issue.load_invoice_context
    monkeypatch.setattr(invoice_issue, "load_invoice_context", lambda *about: replace(subject(*about), moment=frozen))
    given, printed, issued_at = issued(owner, made)
    assert given == number and date in printed
    assert datetime.fromisoformat(issued_at) == frozen


@pytest.mark.parametrize("years", [-1, 1])
def test_invoice_ignores_the_clock_of_the_process(client: Client, set_app_clock: SetClock, years: int) -> None:
    owner, _ = organiser_of(client)
    made = festival(owner)
    set_app_clock(timedelta(days=366 * years))
    number, printed, issued_at = issued(owner, made)
    assert printed.splitlines()[1].endswith(number[:4])
    assert abs(datetime.fromisoformat(issued_at) - datetime.now(UTC)) < MINUTE
