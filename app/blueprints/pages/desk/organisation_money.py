"""The money of all events, and what an accountant needs of a period: journal, VAT, and all invoices."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import Response, redirect, url_for
from flask.typing import ResponseReturnValue
from marshmallow import fields

from app.accounts.caller import Caller
from app.accounts.permissions import MONEY_READ, MONEY_WRITE
from app.blueprints.pages.desk.file_columns import JOURNAL_COLUMNS, VAT_COLUMNS
from app.blueprints.pages.desk.shell import DeskPages, count_like, may_use, render_desk
from app.blueprints.pages.desk.stalls import MAX_STATEMENT_BYTES
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.stall import build_download
from app.core.errors import ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.events.queries import get_event
from app.money.documents import request_archive
from app.money.journal import stream_journal_csv
from app.money.organisation_money import MoneyOfEvent, load_organisation_money
from app.money.periods import Period, build_period
from app.money.vat import load_vat_summary
from app.money.vat_exports import KIND_LABELS, build_vat_csv, draw_vat_pdf, format_rate
from app.web.access import may
from app.web.fields import Id
from app.web.schema import Query

blueprint = DeskPages("desk_organisation_money", __name__, url_prefix="/desk/money", max_bytes=MAX_STATEMENT_BYTES)
"""The module `organisation_statement` adds its pages to it."""
READ = may(MONEY_READ, whole_organisation=True)
SETTLE = may(MONEY_WRITE, whole_organisation=True).with_verified_email()
CSV_TYPE = "text/csv; charset=utf-8"
DAY_MESSAGES = {"invalid_type": lazy_gettext("Enter a day like 2026-03-31.")}


class PeriodSchema(Query):
    since = fields.Date(data_key="from", load_default=None)
    until = fields.Date(data_key="to", load_default=None)
    event_id = Id(load_default=None)


PERIOD_INPUTS = (
    Input("from", lazy_gettext("From"), type="date", messages=DAY_MESSAGES),
    Input(
        "to",
        lazy_gettext("To"),
        type="date",
        messages={**DAY_MESSAGES, "before_start": lazy_gettext("Choose a last day that is not before the first day.")},
    ),
)


@dataclass(frozen=True)
class Selection:
    """The period and the event of the exports. Their values in an address are `arguments`."""

    period: Period
    event_id: str | None

    @property
    def arguments(self) -> dict[str, str]:
        values = {"from": self.period.since.isoformat(), "to": self.period.until.isoformat()}
        return {**values, "eventId": self.event_id} if self.event_id else values

    def build_file_name(self, name: str, ending: str) -> str:
        return f"{name}-{self.period.since}-{self.period.until}.{ending}"


@blueprint.page("", access=READ)
def show(caller: Caller) -> ResponseReturnValue:
    """Show the money of each event, and the VAT of a period with its exports."""
    events = load_organisation_money(caller)
    form = _build_form(events).from_query()
    try:
        return _render(caller, events, form, _load_selection(form))
    except FORM_ERRORS as error:
        return _render(caller, events, form.with_error(error))


@blueprint.page("/journal.csv", access=READ)
def download_journal(caller: Caller) -> ResponseReturnValue:
    """Download the journal of a period. It is recorded."""
    count_like(caller, "money.export_journal")
    selection = _load_selection(_build_form().from_query())
    content = stream_journal_csv(caller.organisation_id, *selection.period, selection.event_id)
    return build_download(content, selection.build_file_name("journal", "csv"), CSV_TYPE)


@blueprint.page("/vat.csv", access=READ)
def download_vat_csv(caller: Caller) -> ResponseReturnValue:
    """Download the VAT of a period as CSV."""
    selection = _load_selection(_build_form().from_query())
    summary = load_vat_summary(caller.organisation_id, *selection.period, selection.event_id)
    return build_download(build_vat_csv(summary), selection.build_file_name("vat", "csv"), CSV_TYPE)


@blueprint.page("/vat.pdf", access=READ)
def download_vat_pdf(caller: Caller) -> ResponseReturnValue:
    """Download the VAT of a period as PDF."""
    selection = _load_selection(_build_form().from_query())
    event_name = get_event(caller, selection.event_id).name if selection.event_id else ""
    summary = load_vat_summary(caller.organisation_id, *selection.period, selection.event_id)
    pdf = draw_vat_pdf(caller.organisation_id, summary, event_name)
    return build_download(pdf, selection.build_file_name("vat", "pdf"))


@blueprint.act("/invoices", access=READ)
def make_archive(caller: Caller) -> ResponseReturnValue:
    """Have all invoices of a period drawn into one ZIP, and show how far it is."""
    events = load_organisation_money(caller)
    form, selection = _build_form(events).from_request(), None
    try:
        selection = _load_selection(form)
        file_id = request_archive(caller, caller.organisation_id, selection.period, selection.event_id)
    except FORM_ERRORS as error:
        return _render(caller, events, form.with_error(error), selection)
    return redirect(url_for("desk_files.show_file", file_id=file_id), 303)


def _build_form(events: Sequence[MoneyOfEvent] = ()) -> Form:
    """The form of the period. With events it is one of them, or all."""
    options = [("", gettext("All events")), *((event.id, event.name) for event in events)] if events else []
    form = Form(PeriodSchema, *PERIOD_INPUTS, Input("eventId", lazy_gettext("Event"), options=options))
    form.marks_optional = False
    return form


def _load_selection(form: FilledForm) -> Selection:
    values = form.load()
    event_id, options = values["event_id"], form.form.inputs["eventId"].options
    if event_id and options and event_id not in dict(options):
        raise ValidationFailed.of("eventId", "unknown_value", "Must be an event of the organisation.")
    return Selection(build_period(values["since"], values["until"]), event_id)


def _render(
    caller: Caller, events: Sequence[MoneyOfEvent], form: FilledForm, selection: Selection | None = None
) -> Response:
    vat = None
    if selection is not None:
        vat = load_vat_summary(caller.organisation_id, *selection.period, selection.event_id)
        form = replace(form, values=selection.arguments)
    return render_desk(
        "desk/organisation_money.html",
        form=form,
        title=gettext("Money"),
        events=events,
        may_settle=may_use(SETTLE),
        selection=selection,
        vat=vat,
        kind_labels=KIND_LABELS,
        journal_columns=JOURNAL_COLUMNS,
        vat_columns=VAT_COLUMNS,
        format_rate=format_rate,
    )
