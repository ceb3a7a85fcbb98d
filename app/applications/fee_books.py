"""The stall fees of an event: what is due, and how it was settled.

Of a fee with a partial refund, the rest counts as paid or received. So due is the sum of the other five; the integrity
checks compare these with the ledger (`fee_bookings.py`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import ColumnElement, Row, Select, case, func, literal_column, or_, select

from app.accounts.caller import Caller
from app.applications.models import RECEIVED, Application, FeeCreditNote, FeeInvoice, StallFeeRecord, StallFeeRefund
from app.applications.queries import ListQuery
from app.applications.states import ACCEPTED_STATES, ACTIVATED, REFUNDED
from app.audit.actions import Action
from app.audit.log import record_export
from app.core.csv_export import stream_query_csv
from app.core.db import DIALECT, db
from app.core.spreadsheet_cells import escape_sql
from app.events.queries import get_event

REFUNDED_SQL: ColumnElement[int] = case((StallFeeRefund.status == REFUNDED, StallFeeRefund.amount_minor), else_=0)
KEPT_SQL: ColumnElement[int] = Application.amount_minor - REFUNDED_SQL
IS_PAID_SQL = Application.paid_at.is_not(None)
IS_RECEIVED_SQL = IS_PAID_SQL & (func.coalesce(StallFeeRecord.kind, "") == RECEIVED)
IS_WAIVED_SQL = Application.waived_at.is_not(None)
AMOUNT_COLUMNS: dict[str, ColumnElement[int]] = {
    "due_minor": Application.amount_minor.expression,
    "paid_minor": case((IS_PAID_SQL & ~IS_RECEIVED_SQL, KEPT_SQL), else_=0),
    "received_minor": case((IS_RECEIVED_SQL, KEPT_SQL), else_=0),
    "waived_minor": case((IS_WAIVED_SQL, Application.amount_minor), else_=0),
    "refunded_minor": case((IS_PAID_SQL, REFUNDED_SQL), else_=0),
    "open_minor": case((IS_PAID_SQL | IS_WAIVED_SQL, 0), else_=Application.amount_minor),
}
"""The amounts of a row; each row has its due amount, divided among the others."""
STATUS_SQL: ColumnElement[str] = case(
    (Application.refunded_at.is_not(None), "refunded"),
    (IS_RECEIVED_SQL, "received"),
    (IS_PAID_SQL, "paid"),
    (IS_WAIVED_SQL, "waived"),
    else_="open",
)
FEE_STATUSES = ("open", "paid", "received", "waived", "refunded")
CSV_HEADER = (
    "reference",
    "businessName",
    "stallType",
    "status",
    *("dueMinor", "paidMinor", "receivedMinor", "waivedMinor", "refundedMinor", "openMinor"),
    "transferReference",
    "receivedOn",
    "refundReference",
    "invoiceNumber",
    "creditNoteNumber",
)


@dataclass(frozen=True)
class FeeBooks:
    """The sums of an event, in cents: due is what is paid by the rail, received, waived, refunded and open together."""

    due_minor: int
    paid_minor: int
    received_minor: int
    waived_minor: int
    refunded_minor: int
    open_minor: int


NO_FEES = FeeBooks(0, 0, 0, 0, 0, 0)


def list_fees_query(caller: Caller, event_id: str, *, status: str | None = None) -> ListQuery:
    """The fees of an event, a row for each application whose fee is or was due. Raises NotFound."""
    get_event(caller, event_id)
    query = _fee_rows_query(event_id)
    return query if status is None else query.where(STATUS_SQL.in_([status]))


def list_event_fees(event_id: str) -> Sequence[Row[Any]]:
    """The rows of `list_fees_query` for an event, by the name of the business."""
    query = cast(Select[Any], _fee_rows_query(event_id))
    return db.session.execute(query.order_by(func.lower(Application.business_name), Application.id)).all()


def _fee_rows_query(event_id: str) -> ListQuery:
    return _fees_query(
        [event_id],
        Application.id,
        Application.reference,
        Application.business_name,
        Application.stall_type,
        Application.status.label("application_status"),
        STATUS_SQL.label("status"),
        *(amount.label(name) for name, amount in AMOUNT_COLUMNS.items()),
        StallFeeRecord.reference.label("transfer_reference"),
        StallFeeRecord.received_on,
        StallFeeRefund.status.label("refund_status"),
        StallFeeRefund.reference.label("refund_reference"),
        FeeInvoice.number.label("invoice_number"),
        FeeCreditNote.number.label("credit_note_number"),
    )


def load_fee_books(caller: Caller, event_id: str) -> FeeBooks:
    """The sums of an event. Raises NotFound."""
    get_event(caller, event_id)
    return load_fee_books_by_event([event_id])[event_id]


def load_fee_books_by_event(event_ids: Sequence[str]) -> dict[str, FeeBooks]:
    """The sums of each of these events, which the caller may read."""
    sums = (func.sum(amount) for amount in AMOUNT_COLUMNS.values())
    query = _fees_query(event_ids, Application.event_id, *sums).group_by(Application.event_id)
    books = {id: FeeBooks(*map(int, amounts)) for id, *amounts in db.session.execute(query)}
    return {id: books.get(id, NO_FEES) for id in event_ids}


def stream_fees_csv(caller: Caller, event_id: str) -> Iterator[bytes]:
    """The fees of an event as CSV. The export is recorded. Raises NotFound."""
    fees = list_fees_query(caller, event_id).order_by(Application.created_at, Application.id).subquery("fees")
    record_export(Action.STALL_FEES_EXPORTED, event_id=event_id)
    names = ("reference", "business_name", "stall_type", "status", *AMOUNT_COLUMNS, "transfer_reference", "received_on")
    document_names = ("refund_reference", "invoice_number", "credit_note_number")
    cells: list[ColumnElement[Any]] = [
        literal_column(escape_sql(f"CAST(fees.{name} AS text)")) for name in (*names, *document_names)
    ]
    compiled = select(*cells).select_from(fees).compile(dialect=DIALECT, compile_kwargs={"render_postcompile": True})
    return stream_query_csv(str(compiled), CSV_HEADER, compiled.params)


def _fees_query(event_ids: Sequence[str], *columns: Any) -> Select[Any]:
    is_due = or_(Application.status.in_((*ACCEPTED_STATES, ACTIVATED)), IS_PAID_SQL, IS_WAIVED_SQL)
    return (
        select(*columns)
        .select_from(Application)
        .outerjoin(StallFeeRecord, StallFeeRecord.application_id == Application.id)
        .outerjoin(StallFeeRefund, StallFeeRefund.application_id == Application.id)
        .outerjoin(FeeInvoice, FeeInvoice.application_id == Application.id)
        .outerjoin(FeeCreditNote, FeeCreditNote.application_id == Application.id)
        .where(Application.event_id.in_(event_ids), Application.amount_minor > 0, is_due)
    )
