"""Reading a report: one statement gives it whole, so that rows, charts and totals are of one moment."""

from collections.abc import Iterator
from typing import Any

from app.core.clock import rfc3339
from app.core.db import fetch_rows
from app.core.staleness import as_of_now
from app.inventory.exporting import as_csv
from app.inventory.reports.asking import Asked, parameters
from app.inventory.reports.kinds import REPORTS, Report
from app.inventory.reports.parts import BOOKED_UNTIL

SHOWN = 1000


@as_of_now
def as_json(event: Any, asked: Asked, *, most: int = SHOWN) -> bytes:
    """The report: head, totals, what its charts show, and its first rows."""
    head = {
        "type": asked.type,
        "currency": "NAD",
        "generatedAt": rfc3339(asked.at),
        "eventId": event.id,
        "eventName": event.name,
        "from": rfc3339(asked.since),
        "to": rfc3339(asked.until),
        "withinDays": asked.within_days,
    }
    given = {f"head_{name}": value for name, value in head.items()} | {"most": most}
    statement = _whole(REPORTS[asked.type], list(head))
    ((found,),) = fetch_rows(statement, parameters(event, asked) | given, prepare=False)
    return bytes(found.encode())


@as_of_now
def as_file(event: Any, asked: Asked) -> Iterator[bytes]:
    """All rows of the report as CSV."""
    report = REPORTS[asked.type]
    columns = ", ".join(field.filed for field in report.fields)
    query = f"SELECT {columns} FROM ({report.select}) rows ORDER BY {report.order}"
    return as_csv(query, [field.name for field in report.fields], parameters(event, asked))


def _whole(report: Report, head: list[str]) -> str:
    totals = ", ".join(f"'{name}', {aggregate}" for name, aggregate in report.totals)
    pairs = {
        **{name: f"%(head_{name})s::{'int' if name == 'withinDays' else 'text'}" for name in head},
        "bookedUntil": BOOKED_UNTIL,
        "totals": f"(SELECT json_build_object({totals}) FROM rows)",
        **report.parts,
        "rowCount": "(SELECT count(*) FROM rows)",
        report.rows: f"(SELECT coalesce(json_agg(shown), '[]') FROM (SELECT * FROM rows ORDER BY {report.order}"
        " LIMIT %(most)s::int) shown)",
    }
    built = ", ".join(f"'{name}', {value}" for name, value in pairs.items())
    return f"WITH rows AS MATERIALIZED ({report.select}) SELECT json_build_object({built})::text"
