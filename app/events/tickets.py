"""Reads of imported tickets."""

from typing import Any

from sqlalchemy import ColumnElement, String, case, exists, false, func, literal, literal_column, null, or_, select

from app.accounts.caller import Caller
from app.accounts.permissions import GATE_ADMIT, GUESTS_READ, GUESTS_WRITE, MONEY_READ
from app.core.db import db
from app.events.event_rows import belongs_to
from app.events.models import Ticket, TicketImport, TicketImportChange, TicketType
from app.events.queries import ListQuery, OwnEvent, get_event
from app.events.search_words import contains_sql
from app.events.ticket_holders import reference_end_sql

STATUSES = ("sold", "cancelled", "refunded")
CODE_READERS = (GATE_ADMIT, GUESTS_WRITE)
"""The permissions of which one is needed to see the codes of tickets."""
SORTS: dict[str, ColumnElement[str]] = {"reference": Ticket.reference.expression}


def find_hidden_fields(caller: Caller, event: OwnEvent) -> set[str]:
    """Which of `secret`, `name` and `price` of the event's tickets this caller does not see."""
    readers = {"secret": CODE_READERS, "name": (GUESTS_READ,), "price": (MONEY_READ,)}
    return {
        field
        for field, permissions in readers.items()
        if not any(
            caller.may(permission, organisation_id=event.organiser_id, event_id=event.id) for permission in permissions
        )
    }


def count_unsold(event: OwnEvent) -> dict[str, int]:
    """How many imported tickets of the event are not sold any more, by their status. The caller has checked the access."""
    type_ids = [ticket_type.id for ticket_type in event.ticket_types]
    rows = db.session.execute(
        select(Ticket.status, func.count())
        .where(Ticket.ticket_type_id.in_(type_ids), Ticket.event_id == event.id, Ticket.status != "sold")
        .group_by(Ticket.status)
    )
    return {row[0]: row[1] for row in rows}


def visible_reference_sql() -> ColumnElement[str]:
    """The reference of a ticket; of one that is also the code that admits, only the end."""
    end: ColumnElement[str] = literal_column(reference_end_sql(Ticket.__tablename__), String)
    return case((Ticket.reference == Ticket.secret, end), else_=Ticket.reference)


def list_tickets_query(
    caller: Caller,
    event_id: str,
    *,
    q: str | None = None,
    status: str | None = None,
    ticket_type_id: str | None = None,
    import_id: str | None = None,
    admitted: bool | None = None,
) -> ListQuery:
    """The imported tickets of an event. `q` is a part of the name, the beginning of the reference, the order number or
    the address, or the whole secret.

    The secret is None for callers who may neither admit nor change guests: it is the ticket. So is a number of an order
    that equals it, and of a reference that equals it they see the end. The price is None for callers who may not read
    the event's money. Raises NotFound.
    """
    event = get_event(caller, event_id)
    hidden = find_hidden_fields(caller, event)
    shows_secret = "secret" not in hidden
    order_number: ColumnElement[str | None] = Ticket.order_number.expression
    reference: ColumnElement[str] = Ticket.reference.expression
    if not shows_secret:
        reference = visible_reference_sql()
        order_number = func.nullif(order_number, Ticket.secret)
    # A ticket without a day of sale has the time of the transaction that imported it, as its import has.
    is_import_time = exists().where(TicketImport.event_id == event.id, TicketImport.imported_at == Ticket.sold_at)
    columns: tuple[Any, ...] = (
        Ticket.id,
        reference.label("reference"),
        Ticket.ticket_type_id,
        TicketType.name.label("ticket_type"),
        Ticket.name,
        Ticket.email,
        (null() if "price" in hidden else Ticket.price_minor).label("price_minor"),
        Ticket.sold_at,
        case((is_import_time, None), else_=Ticket.sold_at).label("known_sold_at"),
        Ticket.status,
        order_number.label("order_number"),
        (Ticket.secret if shows_secret else null()).label("secret"),
        Ticket.valid_from,
        Ticket.valid_until,
        Ticket.admitted_at,
        literal(event.timezone).label("timezone"),
    )
    joined = select(*columns).join(TicketType, belongs_to(Ticket.ticket_type_id, TicketType))
    statement = joined.where(Ticket.event_id == event.id)
    if q is not None:
        beginnings = (reference, order_number, Ticket.email)
        starts = or_(*(column.istartswith(q, autoescape=True) for column in beginnings))
        is_secret = Ticket.secret == q if shows_secret else false()
        statement = statement.where(or_(contains_sql(Ticket.name, q), starts, is_secret))
    if status is not None:
        statement = statement.where(Ticket.status == status)
    if ticket_type_id is not None:
        statement = statement.where(Ticket.ticket_type_id == ticket_type_id)
    if import_id is not None:
        changed_ids = select(TicketImportChange.ticket_id).where(
            TicketImportChange.import_id == import_id, TicketImportChange.event_id == event.id
        )
        statement = statement.where(Ticket.id.in_(changed_ids))
    if admitted is not None:
        statement = statement.where(Ticket.admitted_at.is_not(None) == literal(admitted))
    return statement
