"""The tables of the models, and which of them belong to events."""

from sqlalchemy import Table

from app.core import idempotency_store  # noqa: F401  its table
from app.core.db import Base

EVENT = "event"
# Its `event_id` is the number of an event at the payment rail.
WITH_ANOTHER_EVENT = {"payrail_callback"}


def list_tables() -> dict[str, Table]:
    """Every table of the program by its name."""
    mapped = [mapper for mapper in Base.registry.mappers if mapper.class_.__module__.startswith("app.")]
    tables = [mapper.local_table for mapper in mapped]
    return {table.name: table for table in tables if isinstance(table, Table)}


def list_event_tables() -> set[str]:
    """The table `event`, and the tables whose rows belong to one event: their primary key has `event_id`."""
    with_key = {name for name, table in list_tables().items() if "event_id" in table.primary_key.columns}
    return {EVENT} | with_key - WITH_ANOTHER_EVENT
