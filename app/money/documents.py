"""The invoices and credit notes of stall fees and blocks: a list, the PDF of one, and all of a period as one ZIP."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    SQLColumnExpression,
    Subquery,
    case,
    false,
    func,
    literal,
    literal_column,
    select,
    union_all,
)

from app.accounts.caller import Caller
from app.accounts.permissions import MONEY_READ
from app.allocations.models import Invoice
from app.allocations.open_invoices import due_minor_sql, is_overdue_sql
from app.applications.models import Application, FeeCreditNote, FeeInvoice
from app.audit.actions import Action
from app.audit.log import record_export
from app.core.db import Timestamp, db, fetch_rows, release_connection
from app.core.errors import NotFound, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.events.queries import check_event
from app.files.actions import request_file
from app.files.kinds import FileContent, FileTask, file_kind
from app.invoicing.documents import CREDIT_NOTE, INVOICE, parse_document
from app.invoicing.invoice_pdf import draw_invoice_pdf
from app.money.periods import Period
from app.money.sql import COUNT_DOCUMENTS_SQL, PERIOD_DOCUMENTS_SQL

ListQuery = Select[Any]
BLOCK, FEE = "block", "stall_fee"
DOCUMENT_STATES = OPEN, OVERDUE, OWED_BACK = ("open", "overdue", "owed_back")
"""Of invoices of blocks; overdue ones are open too. Of an invoice that is owed back, more was paid than it charges now."""
SORTS: dict[str, ColumnElement[Any]] = {"issuedAt": literal_column("documents.issued_at", Timestamp)}
ARCHIVE_KIND, MAX_ARCHIVED, PROGRESS_STEP = "invoices", 1000, 50
"""Of 1,000 documents the ZIP has about 40 MB, and a worker needs about 15 seconds of CPU for it."""


def list_documents_query(caller: Caller, event_id: str, *, state: str | None = None) -> ListQuery:
    """The invoices and credit notes of an event, or those in one of DOCUMENT_STATES. Raises NotFound.

    Each has what of it is still open, and what the organiser owes back, in cents.
    """
    check_event(caller, event_id)
    documents = _union_documents(event_id)
    columns: list[Any] = [column for column in documents.c if column.name not in ("paper", "is_overdue")]
    conditions = {
        OPEN: documents.c.open_minor > 0,
        OVERDUE: documents.c.is_overdue,
        OWED_BACK: documents.c.owed_back_minor > 0,
    }
    return select(*columns).where(*([conditions[state]] if state else ()))


def list_event_documents(event_id: str) -> Sequence[Row[Any]]:
    """The rows of `list_documents_query` for an event, in the order of their issue."""
    documents = _union_documents(event_id)
    return db.session.execute(select(documents).order_by(documents.c.issued_at, documents.c.number)).all()


def list_fee_documents(application_id: str) -> Sequence[Row[str, str, str, datetime]]:
    """The id, number and kind of the invoice and the credit notes of a stall fee, in the order of their issue."""
    statements = [
        select(model.id, model.number, literal(kind).label("kind"), model.issued_at).where(
            model.application_id == application_id
        )
        for model, kind in ((FeeInvoice, INVOICE), (FeeCreditNote, CREDIT_NOTE))
    ]
    return db.session.execute(union_all(*statements).order_by("issued_at", "number")).all()


def count_invoices_query(event_id: str, condition: ColumnElement[bool]) -> Select[Any]:
    """A select() of how many invoices of an event's blocks meet a condition, such as `due_minor_sql() > 0`."""
    return select(func.count()).where(Invoice.event_id == event_id, Invoice.kind == INVOICE, condition)


def get_document_pdf(caller: Caller, event_id: str, document_id: str) -> tuple[str, bytes]:
    """Return number and PDF of an invoice or credit note of an event. The download is recorded. Raises NotFound."""
    check_event(caller, event_id)
    documents = _union_documents(event_id)
    row = db.session.execute(select(documents).where(documents.c.id == document_id)).first()
    if row is None:
        raise NotFound()
    release_connection()
    action = Action.INVOICE_EXPORTED if row.source == BLOCK else Action.FEE_INVOICE_EXPORTED
    record_export(action, event_id=event_id, subject=row.source_id, data={"number": row.number})
    return row.number, draw_invoice_pdf(parse_document(row.paper))


def request_archive(caller: Caller, organisation_id: str, period: Period, event_id: str | None = None) -> str:
    """Have the invoices and credit notes of a period drawn as one ZIP, and return the id of the file.

    Raises ValidationFailed without any, or with more than 1,000; NotFound, Throttled.
    """
    if event_id:
        check_event(caller, event_id)
    parameters = {"since": period.since.isoformat(), "until": period.until.isoformat()}
    (count,) = fetch_rows(COUNT_DOCUMENTS_SQL, _build_parameters(organisation_id, parameters, event_id))[0]
    if count == 0:
        raise ValidationFailed.of("from", "nothing", gettext("There are no invoices in this period."))
    if count > MAX_ARCHIVED:
        text = gettext(
            "These are %(count)s invoices. One file takes %(max)s: choose a shorter period, or one event.",
            count=count,
            max=MAX_ARCHIVED,
        )
        raise ValidationFailed.of("from", "too_many", text)
    return request_file(caller, ARCHIVE_KIND, organisation_id=organisation_id, event_id=event_id, parameters=parameters)


@file_kind(ARCHIVE_KIND, lazy_gettext("Invoices"), permission=MONEY_READ)
def make_archive(task: FileTask) -> FileContent:
    """Draw the invoices and credit notes of a period into one ZIP, each under its number."""
    since, until = (date.fromisoformat(task.parameters[name]) for name in ("since", "until"))
    rows = fetch_rows(PERIOD_DOCUMENTS_SQL, _build_parameters(task.organisation_id, task.parameters, task.event_id))
    release_connection()
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for position, (number, paper, issued_at) in enumerate(rows):
            if position % PROGRESS_STEP == 0:
                task.update_progress(100 * position // len(rows))
            entry = ZipInfo(f"{number}.pdf", issued_at.timetuple()[:6])
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, draw_invoice_pdf(parse_document(paper)))
    return FileContent(f"invoices-{since}-{until}.zip", "application/zip", buffer.getvalue())


def _build_parameters(
    organisation_id: str, parameters: Mapping[str, str], event_id: str | None
) -> dict[str, str | int | None]:
    period = {name: parameters[name] for name in ("since", "until")}
    return {**period, "organisation_id": organisation_id, "event_id": event_id, "limit": MAX_ARCHIVED}


def _union_documents(event_id: str) -> Subquery:
    is_invoice = Invoice.kind == INVOICE
    blocks = _select_document(
        Invoice,
        BLOCK,
        Invoice.block_id,
        Invoice.event_id,
        Invoice.kind,
        case((is_invoice, func.greatest(due_minor_sql(), 0)), else_=0),
        case((is_invoice, func.greatest(-due_minor_sql(), 0)), else_=0),
        is_overdue_sql(),
    ).where(Invoice.event_id == event_id)
    fees = [
        _select_document(
            model, FEE, model.application_id, Application.event_id, literal(kind), literal(0), literal(0), false()
        )
        .join(Application, Application.id == model.application_id)
        .where(Application.event_id == event_id)
        for model, kind in ((FeeInvoice, INVOICE), (FeeCreditNote, CREDIT_NOTE))
    ]
    return union_all(blocks, *fees).subquery("documents")


def _select_document(
    model: Any,
    source: str,
    source_id: SQLColumnExpression[Any],
    event_id: SQLColumnExpression[Any],
    kind: SQLColumnExpression[Any],
    open_minor: ColumnElement[Any],
    owed_back_minor: ColumnElement[Any],
    is_overdue: ColumnElement[bool],
) -> Select[Any]:
    return select(
        model.id,
        event_id.label("event_id"),
        literal(source).label("source"),
        source_id.label("source_id"),
        kind.label("kind"),
        model.number,
        model.paper["buyer"][0].astext.label("buyer"),
        model.total_minor,
        open_minor.label("open_minor"),
        owed_back_minor.label("owed_back_minor"),
        is_overdue.label("is_overdue"),
        model.issued_at,
        model.paper,
    )
