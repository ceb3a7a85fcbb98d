"""Uploaded files of sold tickets: what is in them, and how far their check or import is."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select

from app.accounts.caller import Caller
from app.core.db import ReadOrWriteSession, db
from app.core.errors import NotFound
from app.core.spreadsheet import NotASheet, column_key
from app.core.spreadsheet_cells import BadCell, parse_email, parse_time
from app.events.queries import get_event
from app.events.search_words import key_of
from app.events.ticket_column_names import suggest_mapping
from app.events.ticket_layouts import FIELDS, find_layout
from app.events.ticket_upload_models import TicketUpload

OwnUpload = TicketUpload
"""An upload of the caller, as `get_upload` returns it."""
RETENTION, TIMEOUT = timedelta(days=2), timedelta(minutes=15)
MAX_KEPT = 5
HAS_DIGIT = re.compile(r"\d").search
NO_NUMBER = re.compile(r"\+|.*\d[.,]\d{2}\D*$")
"""A telephone number, or an amount with cents."""
IS_OVERDUE = TicketUpload.asked_at < func.now() - TIMEOUT
CAN_START: ColumnElement[bool] = TicketUpload.import_id.is_(None) & or_(TicketUpload.asked_at.is_(None), IS_OVERDUE)
"""No job works on it, and it was not imported. A job that has no result after the timeout has died."""


def get_upload(caller: Caller, event_id: str, upload_id: str) -> tuple[TicketUpload, bool]:
    """An upload of the caller to an event, and whether a job works on it. Raises NotFound, also two days later."""
    event = get_event(caller, event_id)
    is_working = TicketUpload.asked_at.is_not(None) & ~func.coalesce(IS_OVERDUE, False)
    row = db.session.execute(
        select(TicketUpload, is_working).where(
            TicketUpload.id == upload_id,
            TicketUpload.event_id == event.id,
            TicketUpload.account_id == caller.id,
            TicketUpload.created_at > func.now() - RETENTION,
        )
    ).first()
    if row is None:
        raise NotFound()
    return row[0], row[1]


def find_format(header: Sequence[str]) -> str | None:
    """The format whose columns the header has; None for a file that needs a mapping."""
    try:
        return find_layout(list(header)).format
    except NotASheet:
        return None


def list_read_fields(upload: TicketUpload) -> set[str]:
    """The fields of an upload that a column has: those of its mapping, or of the format that its columns have."""
    if mapping := upload.options.get("mapping"):
        return set(mapping)
    header = [column["name"] for column in upload.sample]
    layout, keys = find_layout(header, upload.format), set(map(column_key, header))
    return {field for field, attribute in FIELDS.items() if keys.intersection(layout.columns[attribute])}


def suggest_for_sample(sample: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What `suggest_mapping` says, but a column with the same value in several rows is no number of a ticket: it is taken
    for that of the order. Then another column is the number, or the code that is scanned, if there is one."""
    repeated = {column["name"] for column in sample if column.get("repeats")}
    without_digits = {column["name"] for column in sample if not all(map(HAS_DIGIT, column["values"]))}
    mapping = suggest_mapping([column["name"] for column in sample], names_only=repeated | without_digits)
    if mapping.get("reference") in repeated:
        mapping.setdefault("orderNumber", mapping.pop("reference"))
        others = [column["name"] for column in sample if column["name"] not in {*repeated, *mapping.values()}]
        if other := suggest_mapping(others).get("reference"):
            mapping["reference"] = other
        elif "secret" in mapping and mapping["secret"] not in repeated:
            mapping["reference"] = mapping["secret"]
    return mapping


def complete_mapping(
    known: Mapping[str, str], sample: Sequence[Mapping[str, Any]], type_names: Collection[str]
) -> dict[str, str]:
    """The known columns, and for the other ones and the fields that have none what `suggest_for_sample` says.

    A field that has none still gets the only column whose first values are like those of the field: addresses, names of
    ticket types of the event, different numbers. Without such numbers the code is the number of the ticket too.
    """
    others = [column for column in sample if column["name"] not in known.values()]
    mapping = {**suggest_for_sample(others), **known}
    types = set(map(key_of, type_names))
    checks: dict[str, Callable[[Mapping[str, Any]], bool]] = {
        "email": lambda column: all(_can_parse(parse_email, value) for value in column["values"]),
        "ticketType": lambda column: all(key_of(value) in types for value in column["values"]),
        "reference": _may_be_number,
    }
    for field, is_like in checks.items():
        free = [column for column in sample if column["values"] and column["name"] not in mapping.values()]
        names = [column["name"] for column in free if is_like(column)]
        if len(names) == 1:
            mapping.setdefault(field, names[0])
    repeated = {column["name"] for column in sample if column.get("repeats")}
    if "secret" in mapping and mapping["secret"] not in repeated:
        mapping.setdefault("reference", mapping["secret"])
    return mapping


def _may_be_number(column: Mapping[str, Any]) -> bool:
    """Whether the values differ and have digits, and are neither times, addresses, amounts nor telephone numbers."""
    return not column.get("repeats") and all(
        HAS_DIGIT(value)
        and not NO_NUMBER.match(value)
        and not _can_parse(parse_time, value)
        and not _can_parse(parse_email, value)
        for value in column["values"]
    )


def _can_parse(parse: Callable[[str], object], value: str) -> bool:
    try:
        parse(value)
    except BadCell:
        return False
    return True


def delete_old_uploads(session: ReadOrWriteSession) -> None:
    """Delete the uploads older than two days."""
    session.execute(delete(TicketUpload).where(TicketUpload.created_at < func.now() - RETENTION))


def delete_surplus_uploads(session: ReadOrWriteSession, event_id: str, account_id: str) -> None:
    """Keep the latest five uploads of a person to an event, with one that follows."""
    own = (TicketUpload.event_id == event_id) & (TicketUpload.account_id == account_id)
    kept_ids = select(TicketUpload.id).where(own).order_by(TicketUpload.created_at.desc()).limit(MAX_KEPT - 1)
    session.execute(
        delete(TicketUpload).where(own, CAN_START | TicketUpload.import_id.is_not(None), ~TicketUpload.id.in_(kept_ids))
    )
