"""A bank statement that pays stall fees and invoices of blocks, of an event or of all: first looked at, then recorded."""

from collections.abc import Mapping

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.applications.errors import StatementUnreadable
from app.applications.fee_statement import MATCHED, RECORDED, UNMATCHED, read_sample, write_statement
from app.blueprints.pages.desk.shell import render_desk
from app.blueprints.pages.desk.stall_fees import SETTLE
from app.blueprints.pages.desk.stalls import MAX_STATEMENT_BYTES, blueprint
from app.blueprints.pages.desk.statement_columns import (
    COLUMNS,
    describe_columns,
    pack_file,
    render_columns,
    suggest_columns,
    unpack_file,
)
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, find_upload_error
from app.core.errors import ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.money.recorded_transfers import digest_transfers
from app.money.statement_choices import count_assignable, list_rows_to_assign, list_rows_to_record
from app.money.statement_events import find_columns, remember_columns
from app.money.statements import StatementResult, import_statement
from app.web.fields import Text
from app.web.schema import Query

REASONS = {
    "no_reference": lazy_gettext("No reference of an application and no number of an invoice"),
    "unknown_reference": lazy_gettext("The reference belongs to no application to this event"),
    "several_references": lazy_gettext("References or numbers of several payments"),
    "wrong_amount": lazy_gettext("Not the whole fee"),
    "paid_already": lazy_gettext("This fee is paid already. This may be a second payment"),
    "nothing_due": lazy_gettext("No fee is due"),
    "more_than_due": lazy_gettext("More than is due for the invoice"),
    "invoice_settled": lazy_gettext("Nothing is due for this invoice"),
    "payment_in_progress": lazy_gettext("A payment by wallet is in progress"),
    "repeated": lazy_gettext("The reference is in another row as well"),
    "reversed": lazy_gettext("A later row sends the money back"),
    "future": lazy_gettext("The day is in the future"),
    "too_early": lazy_gettext("More than a year ago"),
    "amount_unreadable": lazy_gettext("The amount cannot be read"),
    "date_unreadable": lazy_gettext("The day cannot be read"),
    "direction_unknown": lazy_gettext("The word for money in or out is not known"),
}
UNKNOWN_AT_ALL_EVENTS = lazy_gettext("The reference belongs to no application to your events")

MAX_CHOICES = 30
"""A row that more fees or invoices fit has a field with suggestions instead of a list."""


class StatementSchema(Query):
    file = Text(required=True)


STATEMENT = Form(
    StatementSchema,
    Input(
        "file",
        lazy_gettext("Bank statement"),
        hint=lazy_gettext(
            "CSV or Excel, up to 2 MB and 5,000 rows, with columns for the date, the amount and the description. If "
            "their headings are not known, you choose the columns."
        ),
        messages={"required": lazy_gettext("Choose a file.")},
        error_codes=("STATEMENT_UNREADABLE", "PAYLOAD_TOO_LARGE"),
    ),
)


@blueprint.page("/statement", access=SETTLE)
def choose_statement(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for a bank statement."""
    return show_statement_form(caller, event_id)


@blueprint.act("/statement", access=SETTLE)
def read_statement(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Say what the rows of a file pay, ask for its columns, or record the rows that the page said."""
    return answer_statement(caller, event_id)


def show_statement_form(caller: Caller, event_id: str | None) -> Response:
    """The form for a statement of an event, or without one of all events of the organisation."""
    error = find_upload_error(MAX_STATEMENT_BYTES)
    return _render(caller, event_id, STATEMENT.fill().with_error(error) if error else STATEMENT.fill())


def answer_statement(caller: Caller, event_id: str | None) -> Response:
    """What the rows of a file pay, the page for its columns, or what was recorded."""
    form, rows, content = STATEMENT.fill(), request.form.get("rows"), request.form.get("content")
    try:
        if rows is not None:
            references, digest = request.form.getlist("pays"), request.form.get("recorded")
            if digest is None:
                raise StatementUnreadable(gettext("This form does not work any more. Open the page again."))
            result = import_statement(
                caller, event_id, rows.encode(), dry_run=False, references=references, digest=digest
            )
            return _render(caller, event_id, form, result)
        return _read_columns(caller, event_id, content) if content else _read_file(caller, event_id)
    except FORM_ERRORS as error:
        return _render(caller, event_id, form.with_error(error))


def _read_file(caller: Caller, event_id: str | None) -> Response:
    """What the rows of a file pay, or the page for its columns. Raises ValidationFailed, StatementUnreadable."""
    event, file = _find_event(caller, event_id), request.files.get("file")
    if file is None or not file.filename:
        raise ValidationFailed.of("file", "required", gettext("Choose a file."))
    data = file.read()
    sample = read_sample(data)
    known, is_same = find_columns(caller, event_id, sample.headings)
    if "columns" in request.form or not (is_same or sample.is_certain):
        return render_columns(
            suggest_columns(sample, known, is_same=is_same),
            sample,
            pack_file(data),
            file_name=file.filename,
            path=_build_path(event_id),
            event=event,
            known=known,
            is_same=is_same,
        )
    mapping = known if is_same else None
    result = import_statement(caller, event_id, data, dry_run=True, mapping=mapping)
    return _render(caller, event_id, STATEMENT.fill(), result, mapping, rows_in_file=sample.rows)


def _read_columns(caller: Caller, event_id: str | None, content: str) -> Response:
    """What the rows pay with the columns that were chosen, which are kept. Raises StatementUnreadable."""
    event, data = _find_event(caller, event_id), unpack_file(content)
    sample = read_sample(data)
    form = COLUMNS.build(sample.columns).from_request()
    try:
        mapping = COLUMNS.read_mapping(form, sample.columns)
    except FORM_ERRORS as error:
        file_name = request.form.get("fileName", "")
        path = _build_path(event_id)
        return render_columns(form.with_error(error), sample, content, file_name=file_name, path=path, event=event)
    result = import_statement(caller, event_id, data, dry_run=True, mapping=mapping)
    remember_columns(caller, event_id, sample.headings, mapping)
    return _render(caller, event_id, STATEMENT.fill(), result, mapping, rows_in_file=sample.rows)


def _find_event(caller: Caller, event_id: str | None) -> OwnEvent | None:
    return events.get_event(caller, event_id) if event_id else None


def _build_path(event_id: str | None) -> str:
    if event_id is None:
        return url_for("desk_organisation_money.read_statement")
    return url_for("desk_stalls.read_statement", event_id=event_id)


def _render(
    caller: Caller,
    event_id: str | None,
    form: FilledForm,
    result: StatementResult | None = None,
    mapping: Mapping[str, str] | None = None,
    *,
    rows_in_file: int = 0,
) -> Response:
    event = _find_event(caller, event_id)
    groups = (
        {}
        if result is None
        else {status: [row for row in result.rows if row.status == status] for status in (MATCHED, RECORDED, UNMATCHED)}
    )
    rows_to_assign = list_rows_to_assign(caller, event_id, result.rows) if result and result.dry_run else []
    rows_to_record = list_rows_to_record(result.rows, rows_to_assign) if result and result.dry_run else []
    return render_desk(
        "desk/stall_statement.html",
        event=event,
        form=form,
        result=result,
        groups=groups,
        has_all_candidates=result is None or len(rows_to_assign) < count_assignable(result.rows),
        open_payments=sorted({payment for _, payments in rows_to_assign for payment in payments}),
        max_choices=MAX_CHOICES,
        candidates={matched.row.number: payments for matched, payments in rows_to_assign},
        rows_to_record=write_statement(rows_to_record),
        recorded=digest_transfers(result.transfers if result else (), rows_to_record),
        reasons=REASONS if event else {**REASONS, "unknown_reference": UNKNOWN_AT_ALL_EVENTS},
        event_names={id: name for id, name in result.event_names.items() if id != event_id} if result else {},
        left_out=max(0, rows_in_file - len(result.rows)) if result else 0,
        chosen_columns=describe_columns(mapping) if mapping else "",
        path=_build_path(event_id),
    )
