"""What the counts of a stock found, and its reports."""

from functools import partial

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.file_columns import REPORT_COLUMNS
from app.blueprints.pages.desk.shell import go_to
from app.blueprints.pages.desk.stock import READ, ItemNumber, blueprint, link_item
from app.blueprints.pages.desk.tables import AMOUNT, CODE, NUMBER, TIME, Column, Table, render_desk_table
from app.blueprints.pages.forms import Form, Input
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext, lazy_pgettext, mark_plural
from app.events import queries as events
from app.inventory import actions, queries
from app.inventory.reports.definitions import REPORTS
from app.inventory.reports.parameters import ReportParameters, build_report_parameters
from app.inventory.reports.report_queries import stream_report_csv
from app.inventory.variance import SORTS as VARIANCE_SORTS
from app.inventory.variance import list_variances_query
from app.web.fields import EndTimeField, TimeField
from app.web.schema import Query

EXPIRY_DAYS = 90
FILE_HEADERS = {"Cache-Control": "private, no-store"}


class PeriodSchema(Query):
    since = TimeField(data_key="from")
    until = EndTimeField(data_key="to")


VARIANCES = Table(
    "variances",
    Column("name", lazy_gettext("Item"), sort="name", link=link_item),
    ItemNumber("sku", lazy_gettext("Item number"), CODE),
    Column("unit", lazy_gettext("Unit")),
    Column("counted_at", lazy_gettext("Counted"), TIME),
    Column("expected", lazy_gettext("Expected"), NUMBER),
    Column("counted", lazy_gettext("Found"), NUMBER),
    Column("variance", lazy_gettext("Difference"), NUMBER),
    Column("value", lazy_gettext("Value"), AMOUNT),
    Column("counts", lazy_pgettext("stock", "Counts"), NUMBER),
    sorts=VARIANCE_SORTS,
    default_sort="name",
    counted=mark_plural("%(num)s counted item", "%(num)s counted items"),
    filters=Form(
        PeriodSchema, Input("from", lazy_gettext("From"), type="date"), Input("to", lazy_gettext("Until"), type="date")
    ),
    empty=lazy_gettext("Counted items appear here when somebody counts the stock."),
)


@blueprint.page("/counts", access=READ)
def show_variances(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show what the counts of a period found, and the reports."""
    event = events.get_event(caller, event_id)
    return render_desk_table(
        "desk/stock_counts.html",
        VARIANCES,
        partial(list_variances_query, caller, event_id),
        event=event,
        record_file=partial(record_export, Action.VARIANCE_EXPORTED, event_id=event_id, subject=event_id),
        reports=REPORTS.values(),
        report_columns=REPORT_COLUMNS,
    )


@blueprint.page("/reports/<name>", access=READ)
def download_report(caller: Caller, event_id: str, name: str) -> ResponseReturnValue:
    """Download a report as CSV."""
    event, parameters = _build_report(caller, event_id, name)
    headers = {**FILE_HEADERS, "Content-Disposition": f'attachment; filename="stock-{name}.csv"'}
    return Response(stream_report_csv(event, parameters), content_type="text/csv; charset=utf-8", headers=headers)


@blueprint.act("/reports/<name>", access=READ)
def request_report(caller: Caller, event_id: str, name: str) -> ResponseReturnValue:
    """Start the job that draws a report."""
    event, parameters = _build_report(caller, event_id, name)
    job = actions.request_report_pdf(caller=caller, event=event, parameters=parameters)
    return go_to(
        url_for("desk_stock.show_job", event_id=event_id, job_id=job["job_id"]), gettext("The report is being made.")
    )


def _build_report(caller: Caller, event_id: str, name: str) -> tuple[queries.StockEvent, ReportParameters]:
    """The event, and a report of the last thirty days. Raises NotFound."""
    event = queries.get_event(caller, event_id)
    if name not in REPORTS:
        raise NotFound()
    parameters = build_report_parameters(
        event.timezone, type=name, now=event.now, since=None, until=None, within_days=EXPIRY_DAYS
    )
    return event, parameters
