"""Figures of the admissions of an event, from its tallies: the log is not counted.

`lastAt` of a gate is the start of the last quarter of an hour in which it scanned.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from app.accounts.caller import Caller
from app.admissions.read_sql import FIND_EVENT, LIST_TYPES, SUM_TALLIES
from app.core.db import fetch_row, fetch_rows
from app.core.errors import NotFound
from app.events.queries import ownership_params
from app.events.reentry import COUNTED_REENTRY, get_entry_day, get_last_entry_day

Figures = dict[str, Any]
MAX_DAYS = 366


class TypePlaces(NamedTuple):
    """A ticket type, its places that are sold, those that are sold or claimed, and when the gate admits them."""

    id: str
    name: str
    sold: int
    expected: int
    valid_from: datetime | None
    valid_until: datetime | None


class Tally(NamedTuple):
    """What a ticket type had at a gate in the quarter of an hour that began at `quarter`."""

    type_id: str
    gate: str
    quarter: datetime
    first_entries: int
    entries: int
    exits: int


class AdmittedType(NamedTuple):
    """A ticket type with its sold and expected people, and how many of them entered."""

    name: str
    sold: int
    expected: int
    admitted: int


def list_admitted_types(event_id: str) -> list[AdmittedType]:
    """The ticket types of an event with how many people entered. The caller has checked the access to the event."""
    params = {"event_id": event_id}
    tallies = _by((Tally(*tally) for tally in fetch_rows(SUM_TALLIES, params)), "type_id")
    types = [TypePlaces(*type_) for type_ in fetch_rows(LIST_TYPES, params)]
    return [AdmittedType(type_.name, type_.sold, type_.expected, _sum(tallies.get(type_.id, ()))[0]) for type_ in types]


def admission_stats(caller: Caller, event_id: str) -> Figures:
    """Return the `total` of an event, its `ticketTypes`, `gates`, `quarters` and `days`, and `today`. Raises NotFound.

    `inside` and `peak` are None unless the event counts exits. The days are those of the event, and others with scans.
    """
    params = {"event_id": event_id, **ownership_params(caller)}
    row = fetch_row(FIND_EVENT, params)
    if row is None:
        raise NotFound()
    reentry, timezone, starts_at, ends_at, now = row
    counts_exits, today = reentry == COUNTED_REENTRY, get_entry_day(now, timezone)
    types = [TypePlaces(*type_) for type_ in fetch_rows(LIST_TYPES, params)]
    tallies = [Tally(*tally) for tally in fetch_rows(SUM_TALLIES, params)]
    places = {"sold": sum(type_.sold for type_ in types), "expected": sum(type_.expected for type_ in types)}
    return {
        "total": {**places, **_summarise(tallies, counts_exits=counts_exits)},
        "ticketTypes": [
            {
                "id": type_.id,
                "name": type_.name,
                "sold": type_.sold,
                "expected": type_.expected,
                **_summarise([tally for tally in tallies if tally.type_id == type_.id], counts_exits=counts_exits),
            }
            for type_ in types
        ],
        "gates": _list_gates(tallies),
        "quarters": _list_quarters(tallies),
        "days": _list_days(tallies, types, timezone, starts_at, ends_at, today),
        "today": today,
    }


def _summarise(tallies: Sequence[Tally], *, counts_exits: bool) -> Figures:
    admitted, entries, exits = _sum(tallies)
    return {
        "admitted": admitted,
        "entries": entries,
        "reentries": entries - admitted,
        "exits": exits,
        "inside": entries - exits if counts_exits else None,
        "peak": _find_peak(tallies) if counts_exits else None,
    }


def _sum(tallies: Iterable[Tally]) -> tuple[int, int, int]:
    figures = [(tally.first_entries, tally.entries, tally.exits) for tally in tallies]
    first_entries, entries, exits = (sum(column) for column in zip(*figures, strict=True)) if figures else (0, 0, 0)
    return first_entries, entries, exits


def _find_peak(tallies: Sequence[Tally]) -> Figures:
    """Return the most people inside at the end of a quarter, and when that quarter began."""
    inside = 0
    peak: Figures = {"count": 0, "at": None}
    for quarter, group in _by(tallies, "quarter").items():
        _, entries, exits = _sum(group)
        inside += entries - exits
        if inside > peak["count"]:
            peak = {"count": inside, "at": quarter}
    return peak


def _list_gates(tallies: Sequence[Tally]) -> list[Figures]:
    return [
        {
            "gate": gate or None,
            **dict(zip(("admitted", "entries", "exits"), _sum(group), strict=True)),
            "lastAt": max(tally.quarter for tally in group),
        }
        for gate, group in sorted(_by(tallies, "gate").items())
    ]


def _list_quarters(tallies: Sequence[Tally]) -> list[Figures]:
    return [
        {
            "from": quarter,
            "entries": _sum(group)[1],
            "exits": _sum(group)[2],
            "byType": {type_id: _sum(rows)[1] for type_id, rows in _by(group, "type_id").items()},
        }
        for quarter, group in _by(tallies, "quarter").items()
    ]


def _list_days(
    tallies: Sequence[Tally],
    types: Sequence[TypePlaces],
    timezone: str,
    starts_at: datetime,
    ends_at: datetime,
    today: date,
) -> list[Figures]:
    by_day: dict[date, list[Tally]] = {day: [] for day in _list_event_days(timezone, starts_at, ends_at, today)}
    for tally in tallies:
        if tally.entries or tally.exits:
            by_day.setdefault(get_entry_day(tally.quarter, timezone), []).append(tally)
    return [
        {
            "date": day,
            "expected": sum(type_.expected for type_ in types if _is_valid_on(type_, day, timezone)),
            **dict(zip(("admitted", "entries", "exits"), _sum(by_day[day]), strict=True)),
        }
        for day in sorted(by_day)
    ]


def _list_event_days(timezone: str, starts_at: datetime, ends_at: datetime, today: date) -> list[date]:
    """The days of an event; of one of more than a year only today."""
    last = get_last_entry_day(ends_at, timezone)
    first = min(starts_at.astimezone(ZoneInfo(timezone)).date(), last)
    if (last - first).days > MAX_DAYS:
        return [today] if first <= today <= last else []
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _is_valid_on(type_: TypePlaces, day: date, timezone: str) -> bool:
    """Whether the gate admits the type on a day, which ends at 5 in the morning; who may come from midnight on may not
    come in the night before."""
    begins = type_.valid_from is None or type_.valid_from.astimezone(ZoneInfo(timezone)).date() <= day
    return begins and (type_.valid_until is None or day <= get_last_entry_day(type_.valid_until, timezone))


def _by(tallies: Iterable[Tally], member: str) -> dict[Any, list[Tally]]:
    groups: dict[Any, list[Tally]] = {}
    for tally in tallies:
        groups.setdefault(getattr(tally, member), []).append(tally)
    return groups
