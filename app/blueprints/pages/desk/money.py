"""The money of an event: its figures beside the ledger's, its invoices, and the settlement report."""

from functools import partial

from flask import redirect, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import MONEY_READ, STALLS_READ
from app.blueprints.pages.desk.charts import Point, build_chart
from app.blueprints.pages.desk.shell import DeskPages, may_use
from app.blueprints.pages.desk.tables import DAY, MONEY, STATUS, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import Form, Input
from app.blueprints.pages.stall import build_download
from app.core.formatting import format_money
from app.core.languages import gettext, lazy_gettext, lazy_pgettext, mark_plural
from app.events import queries as events
from app.invoicing.documents import CREDIT_NOTE, INVOICE
from app.money.documents import (
    DOCUMENT_STATES,
    FEE,
    OPEN,
    OVERDUE,
    OWED_BACK,
    SORTS,
    get_document_pdf,
    list_documents_query,
)
from app.money.event_money import EventMoney, load_event_money_and_end
from app.money.settlement import request_settlement
from app.money.settlement_pdf import FIGURE_LABELS
from app.money.settlement_state import find_last_report
from app.web.access import may
from app.web.fields import Choice
from app.web.schema import Query

blueprint = DeskPages("desk_money", __name__, url_prefix="/desk/events/<event_id>/money")
READ = may(MONEY_READ)
EXPORT = may(MONEY_READ, whole_organisation=True)
KIND_LABELS = {INVOICE: lazy_gettext("Invoice"), CREDIT_NOTE: lazy_gettext("Credit note")}


def _link_document(row: Row) -> str:
    return url_for("desk_money.download_document", event_id=row["event_id"], document_id=row["id"])


STATE_OPTIONS = [
    ("", lazy_gettext("All")),
    (OPEN, lazy_gettext("Open invoices of blocks")),
    (OVERDUE, lazy_gettext("Overdue invoices of blocks")),
    (OWED_BACK, lazy_gettext("You owe money back")),
]


class FilterSchema(Query):
    state = Choice(*DOCUMENT_STATES)


DOCUMENTS = Table(
    "invoices",
    Column("number", lazy_pgettext("invoice", "Number"), link=_link_document),
    Column("kind", lazy_gettext("Document"), STATUS, labels=KIND_LABELS),
    Column("issued_at", lazy_gettext("Issued"), DAY, sort="issuedAt"),
    Column("buyer", lazy_pgettext("recipient", "To")),
    Column("total_minor", lazy_gettext("Amount"), MONEY),
    Column("open_minor", lazy_gettext("Open"), MONEY),
    sorts=SORTS,
    default_sort="-issuedAt",
    counted=mark_plural("%(num)s document", "%(num)s documents"),
    filters=Form(FilterSchema, Input("state", lazy_gettext("State"), options=STATE_OPTIONS)),
    empty=lazy_gettext("Invoices and credit notes of stall fees and blocks appear here when they are issued."),
)


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the money of an event."""
    money, is_over = load_event_money_and_end(caller, event_id)
    event = events.get_event(caller, event_id)
    return render_desk_table(
        "desk/money.html",
        DOCUMENTS,
        partial(list_documents_query, caller, event_id),
        event=event,
        money=money,
        is_over=is_over,
        report=find_last_report(event_id),
        charts=_build_charts(money),
        figure_labels=FIGURE_LABELS,
        fee_source=FEE,
        may_export=may_use(EXPORT),
        may_see_stalls=caller.may(STALLS_READ, organisation_id=event.organiser_id, event_id=event_id),
    )


@blueprint.act("/settlement", access=READ)
def make_settlement(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Have the settlement report drawn, and show how far it is."""
    file_id = request_settlement(caller, event_id)
    return redirect(url_for("desk_files.show_file", file_id=file_id), 303)


@blueprint.page("/documents/<document_id>", access=READ)
def download_document(caller: Caller, event_id: str, document_id: str) -> ResponseReturnValue:
    """Download an invoice or credit note. It is recorded."""
    number, pdf = get_document_pdf(caller, event_id, document_id)
    return build_download(pdf, f"{number}.pdf")


def _build_charts(money: EventMoney) -> dict[str, object]:
    fees = money.stall_fees
    fee_points = [
        Point(gettext("By wallet"), fees.paid_minor),
        Point(gettext("By transfer"), fees.received_minor),
        Point(gettext("Waived"), fees.waived_minor),
        Point(gettext("Refunded"), fees.refunded_minor),
        Point(gettext("Open"), fees.open_minor),
    ]
    ticket_points = [Point(row.ticket_type, row.sold_minor) for row in money.tickets]
    return {
        "tickets": build_chart(gettext("Takings of tickets by type"), ticket_points, format_value=format_money),
        "fees": build_chart(gettext("Stall fees"), fee_points, format_value=format_money),
    }
