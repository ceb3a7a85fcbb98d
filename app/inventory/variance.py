"""Variances: the differences between counted quantities and the quantities that the movements gave.

A backdated movement from before a count changes the expected quantity (see `adjustments`).
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Numeric, Select, String, column, func, select, text
from sqlalchemy import DateTime as Timestamp
from sqlalchemy import Integer as Whole
from sqlalchemy.types import TypeEngine

from app.accounts.caller import Caller
from app.core.replica import as_of_now
from app.core.spreadsheet_cells import escape_sql
from app.events.timezones import to_instant
from app.inventory import queries
from app.inventory.export import stream_query_csv
from app.inventory.models import AnyColumn
from app.inventory.queries import StockEvent

CSV_COLUMNS = (
    "sku",
    "name",
    "unit",
    "category",
    "storageLocation",
    "counts",
    "countedAt",
    "expected",
    "counted",
    "variance",
    "costPrice",
    "value",
)
DEFAULT_SINCE = "2000-01-01T00:00:00+00:00"
VARIANCE_SQL = """
    SELECT i.id, i.sku, i.name, i.unit, i.category, i.storage_location, v.counts, v.counted_at,
           v.counted - v.variance AS expected, v.counted, v.variance, i.cost_price,
           round(v.variance * i.cost_price, 2) AS value
      FROM (SELECT item_id, sum(delta) AS variance, count(counted)::int AS counts,
                   max(occurred_at) FILTER (WHERE counted IS NOT NULL) AS counted_at,
                   (array_agg(counted ORDER BY occurred_at DESC, seq DESC) FILTER (WHERE counted IS NOT NULL))[1]
                       AS counted
              FROM inventory_movement
             WHERE event_id = {event} AND bucket = 'onHand' AND (counted IS NOT NULL OR corrects IS NOT NULL)
               AND occurred_at >= {since} AND occurred_at <= {until}
             GROUP BY item_id) v
      JOIN inventory_item i ON i.id = v.item_id
"""
VARIANCE_CSV_SQL = f"""
    SELECT {", ".join(escape_sql(name) for name in ("sku", "name", "unit", "category", "storage_location"))},
           counts, to_char(counted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), trim_scale(expected),
           trim_scale(counted), trim_scale(variance), trim_scale(cost_price), value
      FROM ({VARIANCE_SQL.format(event="%(event)s", since="%(since)s", until="%(until)s")}) counted ORDER BY lower(name), id
"""
_COLUMN_TYPES: dict[str, TypeEngine[Any] | type[TypeEngine[Any]]] = {
    "id": String(collation="C"),
    "sku": String,
    "name": String,
    "unit": String,
    "category": String,
    "storage_location": String,
    "counts": Whole,
    "counted_at": Timestamp(timezone=True),
    "expected": Numeric,
    "counted": Numeric,
    "variance": Numeric,
    "cost_price": Numeric,
    "value": Numeric,
}
NAME_SORT_SQL: ColumnElement[str] = func.lower(column("name", String))
SORTS: dict[str, AnyColumn] = {"name": NAME_SORT_SQL}


def list_variances_query(
    caller: Caller, event_id: str, *, since: datetime | None = None, until: datetime | None = None
) -> Select[*tuple[Any, ...]]:
    """Return the query of the variances, one row for each item counted in the period. Raises NotFound."""
    params = _build_period_params(queries.get_event(caller, event_id), since, until)
    statement = text(VARIANCE_SQL.format(event=":event", since=":since", until=":until")).bindparams(**params)
    rows = statement.columns(**_COLUMN_TYPES).subquery("counted")
    return select(*(rows.c[name] for name in _COLUMN_TYPES))


@as_of_now
def stream_variance_csv(
    caller: Caller, event_id: str, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[bytes]:
    """Return the variances as CSV. Raises NotFound before the first row is read."""
    params = _build_period_params(queries.get_event(caller, event_id), since, until)
    return stream_query_csv(VARIANCE_CSV_SQL, CSV_COLUMNS, params)


def _build_period_params(event: StockEvent, since: datetime | None, until: datetime | None) -> dict[str, object]:
    return {
        "event": event.id,
        "since": to_instant(since or datetime.fromisoformat(DEFAULT_SINCE), event.timezone),
        "until": to_instant(until or event.now, event.timezone),
    }
