"""Reads of the stock of an event that the caller may see."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypedDict

from sqlalchemy import ColumnElement, RowMapping, ScalarSelect, Select, column, exists, func, literal, select
from sqlalchemy.orm import aliased

from app.accounts.caller import Caller
from app.accounts.models import Account, OrganiserProfile
from app.accounts.organisation_details import contact_sql
from app.accounts.permissions import STOCK_READ
from app.accounts.queries import find_viewer, owner_id_sql
from app.audit.actions import Action
from app.audit.log import record_export
from app.core.db import Timestamp, db
from app.core.errors import NotFound
from app.core.ids import is_id
from app.core.tokens import verify_download_token
from app.events.models import Event
from app.events.queries import owned
from app.inventory.background_jobs import LINK_PURPOSE, is_waiting_import_sql
from app.inventory.errors import StockLinkExpired
from app.inventory.item_fields import BUCKETS, MAX_SKU_LENGTH
from app.inventory.models import ITEM_TABLE, MOVEMENT_TABLE, AnyColumn, StockJob
from app.inventory.purchase_order_sql import MAX_ITEMS, UNFILLED_ITEMS_SQL
from app.inventory.sql import ITEM_COLUMN_NAMES, MOVEMENT_COLUMN_NAMES

ITEM_COLUMNS = ITEM_TABLE.c
ITEM_SELECTION = [ITEM_COLUMNS[name] for name in ITEM_COLUMN_NAMES]
MOVEMENT_COLUMNS = MOVEMENT_TABLE.c
MOVEMENT_SORTS: dict[str, AnyColumn] = {"occurredAt": MOVEMENT_COLUMNS.occurred_at}
HISTORY_SORTS: dict[str, AnyColumn] = {"occurredAt": column("occurred_at", Timestamp)}
CHOICE_COLUMNS = ("category", "supplier", "storage_location")
MAX_LATEST, MAX_CHOICES = 50, 200


class StockEvent(NamedTuple):
    """An event whose stock the caller may see, and the time of the database."""

    id: str
    name: str
    timezone: str
    now: datetime


class WaitingImport(TypedDict):
    """An uploaded list whose import was not started; `check_id` is None while its columns are not chosen."""

    id: str
    check_id: str | None
    file_name: str


class StockOverview(NamedTuple):
    """The categories, suppliers and storage locations of a stock, each in order, and the list that waits for its import."""

    choices: dict[str, list[str]]
    waiting_import: WaitingImport | None


class Buyer(NamedTuple):
    """Who buys for an event: name, contact address and postal address of the organisation, and the place of the event."""

    name: str
    contact: str
    address: str
    place: str


class ReportEvent(NamedTuple):
    """An event with the name of its organiser, for a PDF."""

    id: str
    name: str
    timezone: str
    organiser: str | None


def get_event(caller: Caller, event_id: str) -> StockEvent:
    """Return an event for whose stock the caller has the permission of the route. Raises NotFound."""
    row = db.session.execute(
        select(Event.id, Event.name, Event.timezone, func.now()).where(Event.id == event_id, owned(caller))
    ).first()
    if row is None:
        raise NotFound()
    return StockEvent(*row)


def get_item(caller: Caller, event_id: str, item_id: str) -> RowMapping:
    """Return an item. Raises NotFound."""
    result = db.session.execute(
        select(*ITEM_SELECTION)
        .join(Event, Event.id == ITEM_COLUMNS.event_id)
        .where(ITEM_COLUMNS.id == item_id, ITEM_COLUMNS.event_id == event_id, owned(caller))
    )
    row = result.mappings().first()
    if row is None:
        raise NotFound()
    return row


def list_quantities(caller: Caller, event_id: str, item_ids: Sequence[str]) -> Sequence[RowMapping]:
    """The names, versions and quantities of some items of an event. Raises NotFound without the event."""
    event = get_event(caller, event_id)
    columns = [ITEM_COLUMNS[name] for name in ("id", "name", "version", *BUCKETS.values())]
    statement = select(*columns).where(ITEM_COLUMNS.event_id == event.id, ITEM_COLUMNS.id.in_(item_ids))
    return db.session.execute(statement).mappings().all()


def has_own_numbers(event_id: str) -> bool:
    """Whether an item of the stock, also an archived one, has another SKU than its name. The caller has checked the access."""
    name = func.trim(func.left(ITEM_COLUMNS.name, MAX_SKU_LENGTH))
    other_sku = ITEM_COLUMNS.event_id == event_id, func.lower(ITEM_COLUMNS.sku) != func.lower(name)
    return bool(db.session.scalar(select(exists().where(*other_sku))))


def list_unfilled_items(event_id: str) -> Sequence[RowMapping]:
    """The low items that no order fills up, by name. The caller has checked the access to the event."""
    return db.session.execute(UNFILLED_ITEMS_SQL, {"event": event_id, "most": MAX_ITEMS}).mappings().all()


def list_movements_query(caller: Caller, event_id: str, item_id: str) -> Select[*tuple[Any, ...]]:
    """Return the query of the movements of an item. Raises NotFound."""
    get_item(caller, event_id, item_id)
    columns = [MOVEMENT_COLUMNS[name] for name in MOVEMENT_COLUMN_NAMES if name != "seq"]
    return select(movement_id_sql().label("id"), *columns).where(MOVEMENT_COLUMNS.item_id == item_id)


def movement_id_sql() -> ColumnElement[str]:
    """Return the expression of `format_movement_id`."""
    return func.lpad(func.to_hex(MOVEMENT_COLUMNS.seq), 24, "0")


def list_history_query(caller: Caller, event_id: str, item_id: str) -> Select[*tuple[Any, ...]]:
    """Return the query of the movements of an item with the quantity of the bucket before and after each, who made it,
    and the time zone of the event. Raises NotFound.
    """
    event = get_event(caller, event_id)
    get_item(caller, event_id, item_id)
    after = func.sum(MOVEMENT_COLUMNS.delta).over(
        partition_by=MOVEMENT_COLUMNS.bucket, order_by=(MOVEMENT_COLUMNS.occurred_at, MOVEMENT_COLUMNS.seq)
    )
    columns = [MOVEMENT_COLUMNS[name] for name in ("bucket", "delta", "reason", "note", "reference", "occurred_at")]
    movements = select(
        movement_id_sql().label("id"),
        *columns,
        MOVEMENT_COLUMNS.actor_id,
        (after - MOVEMENT_COLUMNS.delta).label("before"),
        after.label("after"),
    ).where(MOVEMENT_COLUMNS.item_id == item_id)
    rows = movements.subquery("history")
    return (
        select(*rows.c, Account.name.label("actor_name"), literal(event.timezone).label("timezone"))
        .select_from(rows)
        .outerjoin(Account, Account.id == rows.c.actor_id)
    )


def list_latest_movements(caller: Caller, event_id: str) -> Sequence[RowMapping]:
    """Return the latest movements of a stock with their items and who made them, the newest first. Raises NotFound."""
    event = get_event(caller, event_id)
    columns = [MOVEMENT_COLUMNS[name] for name in MOVEMENT_COLUMN_NAMES]
    statement = (
        select(*columns, ITEM_COLUMNS.name, ITEM_COLUMNS.unit, Account.name.label("actor_name"))
        .join(ITEM_TABLE, ITEM_COLUMNS.id == MOVEMENT_COLUMNS.item_id)
        .outerjoin(Account, Account.id == MOVEMENT_COLUMNS.actor_id)
        .where(MOVEMENT_COLUMNS.event_id == event.id)
        .order_by(MOVEMENT_COLUMNS.occurred_at.desc(), MOVEMENT_COLUMNS.seq.desc())
        .limit(MAX_LATEST)
    )
    return db.session.execute(statement).mappings().all()


def load_overview(caller: Caller, event_id: str) -> StockOverview:
    """Return what the page of a stock shows beside its items. Raises NotFound."""
    event = get_event(caller, event_id)
    values = [func.array_agg(ITEM_COLUMNS[name].distinct()).label(name) for name in CHOICE_COLUMNS]
    waiting_import = _waiting_import_sql(event.id).label("waiting_import")
    statement = select(*values, waiting_import).where(ITEM_COLUMNS.event_id == event.id)
    row = db.session.execute(statement).mappings().one()
    choices = {name: _list_spellings(row[name] or ())[:MAX_CHOICES] for name in CHOICE_COLUMNS}
    return StockOverview(choices, row["waiting_import"])


def _waiting_import_sql(event_id: str) -> ScalarSelect[Any]:
    """The last uploaded list, if its import was not started: its id, its file name, and its last check."""
    check = aliased(StockJob)
    check_id = (
        select(check.id)
        .where(check.event_id == event_id, check.asked["import_id"].astext == StockJob.id)
        .order_by(check.created_at.desc())
        .limit(1)
        .scalar_subquery()
    )
    last_upload_id = (
        select(StockJob.id)
        .where(StockJob.event_id == event_id, StockJob.asked["dry_run"].astext == "false")
        .order_by(StockJob.created_at.desc())
        .limit(1)
        .scalar_subquery()
    )
    return (
        select(
            func.jsonb_build_object(
                "id", StockJob.id, "check_id", check_id, "file_name", StockJob.asked["file_name"].astext
            )
        )
        .where(StockJob.id == last_upload_id, StockJob.event_id == event_id, is_waiting_import_sql())
        .scalar_subquery()
    )


def _list_spellings(texts: Iterable[str | None]) -> list[str]:
    """One spelling of each text in any case, in order."""
    spellings = {text.casefold(): text for text in texts if text}
    return [spellings[key] for key in sorted(spellings)]


def get_job(caller: Caller, event_id: str, job_id: str) -> StockJob:
    """Return a background job of an event. Raises NotFound, also for a text that is not an id."""
    if not is_id(job_id):
        raise NotFound()
    stock_job = db.session.scalar(
        select(StockJob)
        .join(Event, Event.id == StockJob.event_id)
        .where(StockJob.id == job_id, StockJob.event_id == event_id, owned(caller))
    )
    if stock_job is None:
        raise NotFound()
    return stock_job


def get_job_file(caller: Caller, event_id: str, job_id: str) -> tuple[bytes, str, str]:
    """Return the file of a background job: its bytes, name and content type. Raises NotFound."""
    stock_job = get_job(caller, event_id, job_id)
    data = db.session.scalar(select(StockJob.file).where(StockJob.id == job_id))
    if data is None or stock_job.file_name is None or stock_job.file_type is None:
        raise NotFound()
    _record_download(caller, event_id, stock_job.file_name)
    return data, stock_job.file_name, stock_job.file_type


def get_linked_file(event_id: str, token: str) -> tuple[bytes, str, str]:
    """Return the file of a download link, if the session, device or key it was signed for may still see the stock.

    Raises NotFound, StockLinkExpired.
    """
    permit = verify_download_token(LINK_PURPOSE, token)
    if permit is None:
        raise NotFound()
    if permit.expired:
        raise StockLinkExpired()
    viewer = find_viewer(permit.viewer_id, STOCK_READ)
    if viewer is None:
        raise NotFound()
    row = db.session.execute(
        select(StockJob.file, StockJob.file_name, StockJob.file_type)
        .join(Event, Event.id == StockJob.event_id)
        .where(
            StockJob.id == permit.thing_id,
            StockJob.event_id == event_id,
            StockJob.file.is_not(None),
            owned(viewer),
        )
    ).first()
    if row is None:
        raise NotFound()
    _record_download(viewer, event_id, row.file_name)
    return row.file, row.file_name, row.file_type


def _record_download(caller: Caller, event_id: str, file_name: str) -> None:
    record_export(
        Action.REPORT_EXPORTED, caller=caller, event_id=event_id, subject=event_id, data={"fileName": file_name}
    )


def find_event_for_report(event_id: str) -> ReportEvent | None:
    """Return an event for a PDF; None when it has been deleted."""
    row = db.session.execute(
        select(Event.id, Event.name, Event.timezone, OrganiserProfile.org_name)
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
        .where(Event.id == event_id)
    ).first()
    return None if row is None else ReportEvent(*row)


def load_buyer(event_id: str) -> Buyer:
    """Return the organisation that buys for an event, and where the event is."""
    row = db.session.execute(
        select(
            func.coalesce(OrganiserProfile.org_name, Account.name),
            contact_sql(Event.organiser_id),
            func.coalesce(OrganiserProfile.address, ""),
            func.concat_ws(", ", Event.venue, Event.city),
        )
        .select_from(Event)
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
        .where(Event.id == event_id)
    ).one()
    return Buyer(*row)
