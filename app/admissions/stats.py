"""Figures of the admissions of an event, from its tallies: the log is not counted.

`lastAt` of a gate is the start of the last quarter of an hour in which it scanned.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from app.accounts.caller import Caller
from app.admissions.read_sql import FIND_REENTRY, LIST_TYPES, SUM_TALLIES
from app.core.db import fetch_row, fetch_rows
from app.core.errors import NotFound
from app.events.queries import ownership_params
from app.events.reentry import COUNTED_REENTRY

Figures = dict[str, Any]


class Tally(NamedTuple):
    """What a ticket type had at a gate in the quarter of an hour that began at `quarter`."""

    type_id: str
    gate: str
    quarter: datetime
    first_entries: int
    entries: int
    exits: int


def admission_stats(caller: Caller, event_id: str) -> Figures:
    """Return the `total` of an event, and its `ticketTypes`, `gates` and `quarters`. Raises NotFound.

    `inside` and `peak` are None unless the event counts exits.
    """
    params = {"event_id": event_id, **ownership_params(caller)}
    row = fetch_row(FIND_REENTRY, params)
    if row is None:
        raise NotFound()
    counts_exits = row[0] == COUNTED_REENTRY
    types = fetch_rows(LIST_TYPES, params)
    tallies = [Tally(*tally) for tally in fetch_rows(SUM_TALLIES, params)]
    places = {"sold": sum(type_[2] for type_ in types), "expected": sum(type_[3] for type_ in types)}
    return {
        "total": {**places, **_summarise(tallies, counts_exits=counts_exits)},
        "ticketTypes": [
            {
                "id": id,
                "name": name,
                "sold": sold,
                "expected": expected,
                **_summarise([tally for tally in tallies if tally.type_id == id], counts_exits=counts_exits),
            }
            for id, name, sold, expected in types
        ],
        "gates": _list_gates(tallies),
        "quarters": _list_quarters(tallies),
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


def _by(tallies: Iterable[Tally], member: str) -> dict[Any, list[Tally]]:
    groups: dict[Any, list[Tally]] = {}
    for tally in tallies:
        groups.setdefault(getattr(tally, member), []).append(tally)
    return groups
