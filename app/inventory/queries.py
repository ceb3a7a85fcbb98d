"""Reads of stock, always through the event's owner."""

from typing import Any
from typing import cast as typed

from sqlalchemy import ColumnElement, RowMapping, Select, Table, func, or_, select

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.core.db import db
from app.core.errors import NotFound
from app.core.signed_downloads import verify_download_token
from app.events.models import Event
from app.events.queries import READS, WRITES, owned
from app.inventory.background_jobs import LINK_PURPOSE
from app.inventory.errors import StockLinkExpired
from app.inventory.models import Movement, StockItem, StockJob, StockOrder, StockOrderLine
from app.inventory.movement_sql import ITEM_COLUMN_NAMES, MOVEMENT_COLUMN_NAMES

ITEM_COLUMNS = typed(Table, StockItem.__table__).c
ITEM_SELECTION: list[Any] = [ITEM_COLUMNS[name] for name in ITEM_COLUMN_NAMES]
MOVEMENT_COLUMNS = typed(Table, Movement.__table__).c
MOVEMENT_SORTS: dict[str, ColumnElement[Any]] = {"occurredAt": MOVEMENT_COLUMNS.occurred_at}


def get_event(caller: Caller, event_id: str, *, tier: str = READS) -> Any:
    """The id, name and time zone of an event whose stock the caller may see, and the time. Raises NotFound."""
    row = db.session.execute(
        select(Event.id, Event.name, Event.timezone, Event.organiser_id, func.now().label("now")).where(
            Event.id == event_id, owned(caller, tier)
        )
    ).first()
    if row is None:
        raise NotFound()
    return row


def get_writable_event(caller: Caller, event_id: str) -> Any:
    """The same for anyone who may change it. Raises NotFound."""
    return get_event(caller, event_id, tier=WRITES)


def get_item(caller: Caller, event_id: str, item_id: str) -> RowMapping:
    """One item. Raises NotFound."""
    result = db.session.execute(
        select(*ITEM_SELECTION)
        .join(Event, Event.id == ITEM_COLUMNS.event_id)
        .where(ITEM_COLUMNS.id == item_id, ITEM_COLUMNS.event_id == event_id, owned(caller, READS))
    )
    row = result.mappings().first()
    if row is None:
        raise NotFound()
    return row


def list_movements_query(caller: Caller, event_id: str, item_id: str) -> Select[Any]:
    """The book of one item. Raises NotFound."""
    get_item(caller, event_id, item_id)
    columns = [MOVEMENT_COLUMNS[name] for name in MOVEMENT_COLUMN_NAMES if name != "seq"]
    return select(movement_id_sql().label("id"), *columns).where(MOVEMENT_COLUMNS.item_id == item_id)


def movement_id_sql() -> ColumnElement[str]:
    """A movement's id: it has the form of all ids, and follows the order in which movements were recorded."""
    return func.lpad(func.to_hex(MOVEMENT_COLUMNS.seq), 24, "0")


def get_job(caller: Caller, event_id: str, job_id: str) -> StockJob:
    """Long work of an event. Raises NotFound."""
    stock_job = db.session.scalar(
        select(StockJob)
        .join(Event, Event.id == StockJob.event_id)
        .where(StockJob.id == job_id, StockJob.event_id == event_id, owned(caller, READS))
    )
    if stock_job is None:
        raise NotFound()
    return stock_job


def get_job_file(caller: Caller, event_id: str, job_id: str) -> tuple[bytes, str, str]:
    """What came of long work: the bytes, their name and their type. Raises NotFound."""
    stock_job = get_job(caller, event_id, job_id)
    data = db.session.scalar(select(StockJob.file).where(StockJob.id == job_id))
    if data is None or stock_job.file_name is None or stock_job.file_type is None:
        raise NotFound()
    return data, stock_job.file_name, stock_job.file_type


def get_linked_file(event_id: str, token: str) -> tuple[bytes, str, str]:
    """What a link leads to, for the one to whom it was given and who may still see that stock.

    Raises NotFound, StockLinkExpired.
    """
    permit = verify_download_token(LINK_PURPOSE, token)
    if permit is None:
        raise NotFound()
    if permit.expired:
        raise StockLinkExpired()
    row = db.session.execute(
        select(StockJob.file, StockJob.file_name, StockJob.file_type)
        .join(Event, Event.id == StockJob.event_id)
        .join(Account, Account.id == permit.viewer_id)
        .where(
            StockJob.id == permit.thing_id,
            StockJob.event_id == event_id,
            StockJob.file.is_not(None),
            or_(Event.organiser_id == Account.id, Account.admin_tier.is_not(None)),
        )
    ).first()
    if row is None:
        raise NotFound()
    return row.file, row.file_name, row.file_type


def find_event_for_report(event_id: str) -> Any:
    """An event with its organiser's name, for what is printed; None when it has gone."""
    return db.session.execute(
        select(Event.id, Event.name, Event.timezone, OrganiserProfile.org_name.label("organiser"))
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
        .where(Event.id == event_id)
    ).first()


def get_order(caller: Caller, event_id: str, order_id: str) -> tuple[StockOrder, list[StockOrderLine], Any]:
    """An order with its lines, and the event it is for. Raises NotFound."""
    event = get_event(caller, event_id)
    stock_order = db.session.scalar(
        select(StockOrder).where(StockOrder.id == order_id, StockOrder.event_id == event_id)
    )
    if stock_order is None:
        raise NotFound()
    lines = db.session.scalars(
        select(StockOrderLine).where(StockOrderLine.order_id == order_id).order_by(StockOrderLine.sku)
    ).all()
    return stock_order, list(lines), event
