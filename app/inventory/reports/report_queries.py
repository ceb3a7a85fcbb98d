"""Report data: one statement reads rows, charts and totals, so that they agree."""

from collections.abc import Iterator

from app.audit.actions import Action
from app.audit.log import record_export
from app.core.clock import rfc3339
from app.core.csv_export import stream_query_csv
from app.core.db import fetch_rows
from app.core.replica import as_of_now
from app.inventory.queries import ReportEvent, StockEvent
from app.inventory.reports.definitions import REPORTS, ReportDefinition
from app.inventory.reports.parameters import ReportParameters, build_sql_params
from app.inventory.reports.sql import LAST_MOVEMENT_SQL

MAX_ROWS = 1000


@as_of_now
def load_report_json(
    event: StockEvent | ReportEvent, report_parameters: ReportParameters, *, row_limit: int = MAX_ROWS
) -> bytes:
    """Return a report as JSON: head, totals, chart data and the first rows."""
    head = {
        "type": report_parameters.type,
        "currency": "NAD",
        "generatedAt": rfc3339(report_parameters.at),
        "eventId": event.id,
        "eventName": event.name,
        "from": rfc3339(report_parameters.since),
        "to": rfc3339(report_parameters.until),
        "withinDays": report_parameters.within_days,
    }
    params = {f"head_{name}": value for name, value in head.items()} | {"most": row_limit}
    statement = _report_sql(REPORTS[report_parameters.type], list(head))
    ((report_json,),) = fetch_rows(statement, build_sql_params(event, report_parameters) | params, prepare=False)
    return bytes(report_json.encode())


@as_of_now
def stream_report_csv(event: StockEvent | ReportEvent, report_parameters: ReportParameters) -> Iterator[bytes]:
    """Return all rows of a report as CSV, and record the export."""
    record_export(Action.REPORT_EXPORTED, event_id=event.id, subject=event.id, data={"type": report_parameters.type})
    definition = REPORTS[report_parameters.type]
    columns = ", ".join(field.csv_sql for field in definition.fields)
    query = f"SELECT {columns} FROM ({definition.select_sql}) rows ORDER BY {definition.order_sql}"
    return stream_query_csv(
        query, [field.name for field in definition.fields], build_sql_params(event, report_parameters)
    )


def _report_sql(definition: ReportDefinition, head: list[str]) -> str:
    totals = ", ".join(f"'{name}', {aggregate}" for name, aggregate in definition.totals)
    pairs = {
        **{name: f"%(head_{name})s::{'int' if name == 'withinDays' else 'text'}" for name in head},
        "bookedUntil": LAST_MOVEMENT_SQL,
        "totals": f"(SELECT json_build_object({totals}) FROM rows)",
        **definition.extra_parts,
        "rowCount": "(SELECT count(*) FROM rows)",
        definition.rows_key: f"(SELECT coalesce(json_agg(first_rows), '[]') FROM (SELECT * FROM rows ORDER BY {definition.order_sql}"
        " LIMIT %(most)s::int) first_rows)",
    }
    json_pairs = ", ".join(f"'{name}', {value}" for name, value in pairs.items())
    return f"WITH rows AS MATERIALIZED ({definition.select_sql}) SELECT json_build_object({json_pairs})::text"
