"""The tables whose rows belong to one event: their keys, and how they refer to each other."""

from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, ForeignKeyConstraint, and_
from sqlalchemy.orm import Mapped, MappedColumn, QueryableAttribute, mapped_column

from app.core.db import ObjectId


class EventRow:
    """A table whose rows belong to one event: its primary key contains `event_id`, so it can be distributed by event.

    The session identifies a row by the other columns of the key (`session.get(Campaign, id)`), because ids are unique
    over all events.
    """

    event_id: Mapped[str] = mapped_column(ObjectId, primary_key=True)

    def __init_subclass__(cls, **options: Any) -> None:
        columns = {name: value for name, value in vars(cls).items() if isinstance(value, MappedColumn)}
        identity = [item for name, item in columns.items() if name != "event_id" and item.column.primary_key]
        arguments: dict[str, Any] = vars(cls).get("__mapper_args__", {})
        cls.__mapper_args__ = {**arguments, "primary_key": identity}  # type: ignore[attr-defined]
        super().__init_subclass__(**options)


def event_column() -> Mapped[str]:
    """Return the `event_id` of an `EventRow` that points to the event itself."""
    return mapped_column(ForeignKey("event.id"), primary_key=True)


def parent_key(column: str, parent: str, *, ondelete: str | None = None) -> ForeignKeyConstraint:
    """Return the foreign key of an `EventRow` to a row of the same event in the table `parent`."""
    return ForeignKeyConstraint([column, "event_id"], [f"{parent}.id", f"{parent}.event_id"], ondelete=ondelete)


def belongs_to(column: QueryableAttribute[str], parent: Any) -> ColumnElement[bool]:
    """Return the condition that a row belongs to the row of `parent` with the id in `column`, at the same event."""
    child: Any = column.parent.entity
    return and_(parent.id == column, parent.event_id == child.event_id)
