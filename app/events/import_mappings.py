"""What an organisation said of a file the last time: its columns, by their names, and its ticket types, by the event."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, LargeBinary, String, Text, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db import Base, ReadOrWriteSession, Timestamp, db
from app.core.spreadsheet import column_key
from app.events.models import Event
from app.events.queries import OwnEvent

SALES, STOCK, STATEMENT, TYPES, STATUSES = "sales", "stock", "statement", "types", "statuses"
MAX_RECENT = 20
"""Of so many files, the latest, the columns of a file with other headings are known."""


class ImportMapping(Base):
    """The column of each field, for files of a kind whose column names have this digest (SHA-256).

    Of the kinds `types` and `statuses` it is the ticket type of each name, and the meaning of each word for the status, in the
    files of the event whose id has this digest.
    """

    __tablename__ = "import_mapping"

    organisation_id: Mapped[str] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(10), primary_key=True)
    columns_digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    mapping: Mapped[dict[str, str]] = mapped_column(JSONB)
    saved_at: Mapped[datetime] = mapped_column(Timestamp, server_default=func.now())


def remember_mapping(
    session: ReadOrWriteSession, event_id: str, kind: str, columns: Sequence[str], mapping: Mapping[str, str]
) -> None:
    """Keep the column of each field for the next file with these columns of the organisation of an event."""
    _save(session, event_id, kind, columns, mapping, lambda _, new: new)


def _save(
    session: ReadOrWriteSession,
    event_id: str,
    kind: str,
    columns: Sequence[str],
    mapping: Mapping[str, str],
    merge: Callable[[Any, Any], ColumnElement[Any]],
) -> None:
    """Save a mapping; `merge` gets the one that is kept already, and this one."""
    values = select(
        Event.organiser_id, literal(kind), literal(_hash_columns(columns)), literal(dict(mapping), JSONB)
    ).where(Event.id == event_id)
    statement = insert(ImportMapping).from_select(["organisation_id", "kind", "columns_digest", "mapping"], values)
    session.execute(
        statement.on_conflict_do_update(
            index_elements=["organisation_id", "kind", "columns_digest"],
            set_={"mapping": merge(ImportMapping.mapping, statement.excluded.mapping), "saved_at": func.now()},
        )
    )


def find_mapping(event_id: str, kind: str, columns: Sequence[str]) -> dict[str, str] | None:
    """Return the kept mapping of a file with these columns, or None. The caller has checked the access to the event."""
    return db.session.scalar(
        select(ImportMapping.mapping)
        .join(Event, Event.organiser_id == ImportMapping.organisation_id)
        .where(Event.id == event_id, ImportMapping.kind == kind, ImportMapping.columns_digest == _hash_columns(columns))
    )


def find_known_columns(event_id: str, kind: str, columns: Sequence[str]) -> tuple[dict[str, str], bool]:
    """Return the columns of a file that are known from the latest files, by field, and whether a file had just these.

    The caller has checked the access to the event. Of a file with other headings, each column has the field that the
    latest file with its heading gave to it, if no other column has that field.
    """
    is_same = ImportMapping.columns_digest == _hash_columns(columns)
    rows = db.session.execute(
        select(ImportMapping.mapping, is_same)
        .join(Event, Event.organiser_id == ImportMapping.organisation_id)
        .where(Event.id == event_id, ImportMapping.kind == kind)
        .order_by(is_same.desc(), ImportMapping.saved_at.desc())
        .limit(MAX_RECENT)
    ).all()
    if rows and rows[0][1]:
        return rows[0][0], True
    names = {key: column for column in reversed(columns) if (key := column_key(column))}
    known: dict[str, str] = {}
    for mapping, _ in rows:
        taken = set(known.values())
        for field, heading in mapping.items():
            column = names.get(column_key(heading))
            if field not in known and column is not None and column not in taken:
                known[field] = column
    return known, False


def remember_choices(
    session: ReadOrWriteSession, event_id: str, kind: str, choices: Mapping[str, str | None] | Mapping[str, str]
) -> None:
    """Keep what names or words in a file are for the next file of an event; forget those that are None.

    `kind` is TYPES, with ids of ticket types, or STATUSES, with meanings.
    """
    forgotten = literal([name for name, choice in choices.items() if choice is None], ARRAY(Text))
    chosen = {name: choice for name, choice in choices.items() if choice is not None}
    _save(session, event_id, kind, [event_id], chosen, lambda kept, new: kept.op("-")(forgotten).op("||")(new))


def find_types(event: OwnEvent) -> dict[str, str]:
    """Return the kept ids of ticket types that the event still has, by their names in files."""
    known = {ticket_type.id for ticket_type in event.ticket_types}
    kept = find_mapping(event.id, TYPES, [event.id]) or {}
    return {name: id for name, id in kept.items() if id in known}


def find_status_words(event_id: str) -> dict[str, str]:
    """Return the kept meanings of words for the status in files of an event. The caller has checked the access to it."""
    return find_mapping(event_id, STATUSES, [event_id]) or {}


def _hash_columns(columns: Sequence[str]) -> bytes:
    return sha256(json.dumps(list(columns)).encode()).digest()
