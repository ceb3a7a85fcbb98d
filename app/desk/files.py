"""The files of an organisation in one list: those of `app.files`, and the reports and imports of stock."""

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    RowMapping,
    Select,
    case,
    cast,
    false,
    func,
    literal,
    literal_column,
    null,
    select,
    union_all,
)

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.permissions import STOCK_READ
from app.core.db import Timestamp, db
from app.core.errors import NotFound
from app.core.languages import lazy_gettext
from app.events.models import Event
from app.events.queries import owned
from app.files.kinds import LABELS
from app.files.models import OrganisationFile
from app.files.queries import is_deletable, is_visible
from app.files.states import FAILED
from app.inventory.background_jobs import OPEN_STATES, TIMEOUT
from app.inventory.models import StockJob

ListQuery = Select[Any]
FileRow = RowMapping
STOCK = "stock_"
FILE_LABELS: Mapping[str, str] = ChainMap(
    LABELS, {f"{STOCK}report": lazy_gettext("Stock report"), f"{STOCK}import": lazy_gettext("Stock import")}
)
"""The words of each kind of the list; `stock_` begins the kinds of stock, whose files the stock has."""
SORTS: dict[str, ColumnElement[Any]] = {"createdAt": literal_column("files.created_at", Timestamp)}
KILOBYTE = 1024.0


def list_files_query(caller: Caller) -> ListQuery:
    """The files that the caller may see, with the names of their events and of the persons who asked for them."""
    files = union_all(_select_files(caller), _select_stock_jobs(caller)).subquery("files")
    columns: list[Any] = [*files.c]
    return (
        select(*columns, Event.name.label("event_name"), Event.timezone, Account.name.label("asked_by"))
        .outerjoin(Event, Event.id == files.c.event_id)
        .outerjoin(Account, Account.id == files.c.account_id)
    )


def get_listed_file(caller: Caller, file_id: str) -> FileRow:
    """Return a row of `list_files_query`. Raises NotFound."""
    statement = list_files_query(caller).where(literal_column("files.id") == file_id)
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def _select_files(caller: Caller) -> Select[Any]:
    file: Any = OrganisationFile
    return select(
        file.id,
        file.event_id,
        file.account_id,
        file.kind,
        file.status,
        file.progress,
        file.message,
        file.content.is_not(None).label("has_content"),
        _count_kilobytes(file.content).label("kilobytes"),
        file.created_at,
        is_deletable(caller).label("may_delete"),
    ).where(is_visible(caller))


def _select_stock_jobs(caller: Caller) -> Select[Any]:
    """Reports and imports, without checks of files and files that wait to be imported."""
    job = StockJob
    is_given_up = job.status.in_(OPEN_STATES) & (job.created_at < func.now() - TIMEOUT)
    return (
        select(
            job.id,
            job.event_id,
            job.account_id,
            literal(STOCK).concat(job.kind).label("kind"),
            case((is_given_up, FAILED), else_=job.status).label("status"),
            job.progress,
            null().label("message"),
            job.file.is_not(None).label("has_content"),
            _count_kilobytes(job.file).label("kilobytes"),
            job.created_at,
            false().label("may_delete"),
        )
        .join(Event, Event.id == job.event_id)
        .where(
            owned(caller.for_permission(STOCK_READ)),
            *(job.asked[flag].astext.is_distinct_from("true") for flag in ("dry_run", "kept")),
        )
    )


def _count_kilobytes(content: Any) -> ColumnElement[Any]:
    """The size of a file, rounded up; the database knows it without reading the file."""
    return cast(func.ceil(func.octet_length(content) / KILOBYTE), Integer)
