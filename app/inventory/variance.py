"""Variances: the differences between counted quantities and the quantities that the movements gave.

What was sold is no variance, also if a count says so (`counted` with the reason `sold`). A backdated movement from before
a count changes the expected quantity (see `adjustments`).
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Numeric, Select, String, column, func, literal, select, text
from sqlalchemy import DateTime as Timestamp
from sqlalchemy import Integer as Whole
from sqlalchemy.types import TypeEngine

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record_export
from app.core.csv_export import stream_query_csv
from app.core.replica import as_of_now
from app.events.timezones import to_instant
from app.inventory import queries
from app.inventory.models import AnyColumn
from app.inventory.queries import StockEvent
from app.inventory.sql import VARIANCE_CSV_SQL, VARIANCE_SQL

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
    """Return the query of the variances, one row for each item counted in the period, with the time zone of the event.

    Raises NotFound.
    """
    event = queries.get_event(caller, event_id)
    params = _build_period_params(event, since, until)
    statement = text(VARIANCE_SQL.format(event=":event", since=":since", until=":until")).bindparams(**params)
    rows = statement.columns(**_COLUMN_TYPES).subquery("counted")
    return select(*(rows.c[name] for name in _COLUMN_TYPES), literal(event.timezone).label("timezone"))


@as_of_now
def stream_variance_csv(
    caller: Caller, event_id: str, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[bytes]:
    """Return the variances as CSV, and record the export. Raises NotFound before the first row is read."""
    params = _build_period_params(queries.get_event(caller, event_id), since, until)
    record_export(Action.VARIANCE_EXPORTED, event_id=event_id, subject=event_id)
    return stream_query_csv(VARIANCE_CSV_SQL, CSV_COLUMNS, params)


def _build_period_params(event: StockEvent, since: datetime | None, until: datetime | None) -> dict[str, object]:
    return {
        "event": event.id,
        "since": to_instant(since or datetime.fromisoformat(DEFAULT_SINCE), event.timezone),
        "until": to_instant(until or event.now, event.timezone),
    }
