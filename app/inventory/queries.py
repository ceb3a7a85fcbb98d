"""Reads of stock, always through the event's owner."""

from typing import Any
from typing import cast as typed

from sqlalchemy import ColumnElement, RowMapping, Select, Table, func, or_, select

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.core.db import db
from app.core.errors import NotFound
from app.core.permits import permitted
from app.events.models import Event
from app.events.queries import READS, WRITES, owned
from app.inventory.book import MOVEMENT, SHOWN
from app.inventory.errors import StockLinkExpired
from app.inventory.long_work import PURPOSE
from app.inventory.models import Movement, StockItem, StockJob, StockOrder, StockOrderLine

ITEM = typed(Table, StockItem.__table__).c
ROW: list[Any] = [ITEM[each] for each in SHOWN]
LEDGER = typed(Table, Movement.__table__).c
MOVEMENT_SORTS: dict[str, ColumnElement[Any]] = {"occurredAt": LEDGER.occurred_at}


def event_of(caller: Caller, event_id: str, *, tier: str = READS) -> Any:
    """The id, name and time zone of an event whose stock the caller may see, and the time. Raises NotFound."""
    row = db.session.execute(
        select(Event.id, Event.name, Event.timezone, Event.organiser_id, func.now().label("now")).where(
            Event.id == event_id, owned(caller, tier)
        )
    ).first()
    if row is None:
        raise NotFound()
    return row


def writable(caller: Caller, event_id: str) -> Any:
    """The same for whoever may change it. Raises NotFound."""
    return event_of(caller, event_id, tier=WRITES)


def item(caller: Caller, event_id: str, item_id: str) -> RowMapping:
    """One item. Raises NotFound."""
    found = db.session.execute(
        select(*ROW)
        .join(Event, Event.id == ITEM.event_id)
        .where(ITEM.id == item_id, ITEM.event_id == event_id, owned(caller, READS))
    )
    row = found.mappings().first()
    if row is None:
        raise NotFound()
    return row


def movements(caller: Caller, event_id: str, item_id: str) -> Select[Any]:
    """The book of one item. Raises NotFound."""
    item(caller, event_id, item_id)
    shown = [LEDGER[each] for each in MOVEMENT if each != "seq"]
    return select(movement_id().label("id"), *shown).where(LEDGER.item_id == item_id)


def movement_id() -> ColumnElement[str]:
    """A movement's id: it has the form of all ids, and follows the order in which movements were recorded."""
    return func.lpad(func.to_hex(LEDGER.seq), 24, "0")


def job(caller: Caller, event_id: str, job_id: str) -> StockJob:
    """Long work of an event. Raises NotFound."""
    found = db.session.scalar(
        select(StockJob)
        .join(Event, Event.id == StockJob.event_id)
        .where(StockJob.id == job_id, StockJob.event_id == event_id, owned(caller, READS))
    )
    if found is None:
        raise NotFound()
    return found


def job_file(caller: Caller, event_id: str, job_id: str) -> tuple[bytes, str, str]:
    """What came of long work: the bytes, their name and their type. Raises NotFound."""
    found = job(caller, event_id, job_id)
    data = db.session.scalar(select(StockJob.file).where(StockJob.id == job_id))
    if data is None or found.file_name is None or found.file_type is None:
        raise NotFound()
    return data, found.file_name, found.file_type


def linked_file(event_id: str, token: str) -> tuple[bytes, str, str]:
    """What a link leads to, for the one to whom it was given and who may still see that stock.

    Raises NotFound, StockLinkExpired.
    """
    found = permitted(PURPOSE, token)
    if found is None:
        raise NotFound()
    if found.expired:
        raise StockLinkExpired()
    row = db.session.execute(
        select(StockJob.file, StockJob.file_name, StockJob.file_type)
        .join(Event, Event.id == StockJob.event_id)
        .join(Account, Account.id == found.viewer_id)
        .where(
            StockJob.id == found.thing_id,
            StockJob.event_id == event_id,
            StockJob.file.is_not(None),
            or_(Event.organiser_id == Account.id, Account.admin_tier.is_not(None)),
        )
    ).first()
    if row is None:
        raise NotFound()
    return row.file, row.file_name, row.file_type


def around(event_id: str) -> Any:
    """An event with its organiser's name, for what is printed; None when it has gone."""
    return db.session.execute(
        select(Event.id, Event.name, Event.timezone, OrganiserProfile.org_name.label("organiser"))
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
        .where(Event.id == event_id)
    ).first()


def order(caller: Caller, event_id: str, order_id: str) -> tuple[StockOrder, list[StockOrderLine], Any]:
    """An order with its lines, and the event it is for. Raises NotFound."""
    event = event_of(caller, event_id)
    found = db.session.scalar(select(StockOrder).where(StockOrder.id == order_id, StockOrder.event_id == event_id))
    if found is None:
        raise NotFound()
    lines = db.session.scalars(
        select(StockOrderLine).where(StockOrderLine.order_id == order_id).order_by(StockOrderLine.sku)
    ).all()
    return found, list(lines), event
