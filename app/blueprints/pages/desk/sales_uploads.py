"""Importing sales: a file is uploaded, its columns are chosen if need be, it is checked, and then imported."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_WRITE
from app.blueprints.pages.desk.column_form import ColumnForm, describe_known
from app.blueprints.pages.desk.sales import MAX_UPLOAD_BYTES, blueprint
from app.blueprints.pages.desk.sales_choices import (
    MEANING_LABELS,
    NO_CHOICES,
    Choices,
    list_chosen_types,
    list_chosen_words,
    list_new_types,
    list_problems,
    list_unknown_names,
    list_unknown_words,
    read_choices,
)
from app.blueprints.pages.desk.sales_words import (
    FIELD_LABELS,
    FORMAT_LABELS,
    describe_row_error,
    name_column,
    translate_sentence,
)
from app.blueprints.pages.desk.shell import render_desk, render_desk_form, send_back
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, find_upload_error
from app.blueprints.pages.rendering import FOR_PROGRAMS
from app.core.errors import AppError, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.actions import ticket_uploads as actions
from app.events.actions.import_ticket_file import FileOptions, mask_result
from app.events.errors import ImportTooLarge, NotASpreadsheet
from app.events.import_mappings import SALES, find_known_columns, find_status_words, find_types
from app.events.queries import OwnEvent
from app.events.ticket_layouts import REQUIRED_FIELDS
from app.events.ticket_uploads import OwnUpload, complete_mapping, get_upload, list_read_fields
from app.web.access import may
from app.web.fields import Text
from app.web.schema import Query

IMPORT = may(EVENTS_WRITE).with_verified_email()
FILE_TYPES = ".csv,.txt,.xlsx,text/csv"
MAX_SHOWN_ERRORS = 100
MANY_REPEATS = 2
NUMBER_AND_CODE = "numberAndCode"
"""The meaning of a column that is both: many shops print the number of the ticket as its barcode."""
OPTION_LABELS = {
    "reference": FIELD_LABELS["reference"],
    NUMBER_AND_CODE: lazy_gettext("Number of the ticket, which is also the code that is scanned"),
    **FIELD_LABELS,
}
FIRST_LABELS = (
    ("reference", lazy_gettext("Ticket number")),
    ("secret", lazy_gettext("Code")),
    ("order_number", lazy_gettext("Order")),
    ("ticket_type", lazy_gettext("Ticket type")),
    ("name", lazy_gettext("Guest")),
    ("email", lazy_gettext("E-mail")),
    ("price_minor", lazy_gettext("Price")),
    ("sold_at", lazy_gettext("Sold")),
)
"""What the check shows of the first tickets of a file. A column without a value is left out."""
COLUMNS = ColumnForm(OPTION_LABELS, REQUIRED_FIELDS, {NUMBER_AND_CODE: ("reference", "secret")})
PRETIX_ORDERS = frozenset({"Order code", "Order total"})
"""Columns of the list of orders, which has no tickets."""
ORDER_LIST = lazy_gettext(
    "This looks like the list of orders of pretix, which has no tickets. Export “Order positions” instead."
)


class UploadSchema(Query):
    file = Text(required=True)


UPLOAD = Form(
    UploadSchema,
    Input(
        "file",
        lazy_gettext("File with the tickets"),
        hint=lazy_gettext("CSV or Excel (XLSX), up to 40 MB and 100,000 tickets."),
        messages={
            "required": lazy_gettext("Choose a file that is not empty."),
            "IMPORT_TOO_LARGE": lazy_gettext(
                "The file is too large. It may have 40 MB and 100,000 rows. Split it, and upload the parts."
            ),
        },
        error_codes=("IMPORT_TOO_LARGE", "NOT_A_SPREADSHEET", "PAYLOAD_TOO_LARGE"),
    ),
)


@blueprint.page("/import", access=IMPORT)
def choose_file(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for a file, and where to get it."""
    form = UPLOAD.fill()
    is_too_large = find_upload_error(MAX_UPLOAD_BYTES) is not None
    return _render_upload(
        events.get_event(caller, event_id), form.with_error(ImportTooLarge()) if is_too_large else form
    )


@blueprint.act("/import", access=IMPORT)
def upload(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Keep the file, and check it if its columns are known."""
    form, file = UPLOAD.fill(), request.files.get("file")
    try:
        if file is None or not file.filename:
            raise ValidationFailed.of("file", "required", gettext("Choose a file."))
        upload_id = actions.keep_upload(caller, event_id, file.read(), file.filename)
    except FORM_ERRORS as error:
        return _render_upload(events.get_event(caller, event_id), form.with_error(_reword(error)))
    upload = get_upload(caller, event_id, upload_id)[0]
    if upload.format is None:
        return redirect(url_for("desk_sales.choose_columns", event_id=event_id, upload_id=upload_id), 303)
    return _process(caller, event_id, upload_id, _as_check(actions.load_options(upload)))


@blueprint.page("/uploads/<upload_id>/columns", access=IMPORT)
def choose_columns(caller: Caller, event_id: str, upload_id: str) -> ResponseReturnValue:
    """Show each column with its first values, and ask what it is."""
    event, upload = events.get_event(caller, event_id), get_upload(caller, event_id, upload_id)[0]
    columns = [column["name"] for column in upload.sample]
    chosen = upload.options.get("mapping")
    known, is_same = ({}, False) if chosen else find_known_columns(event_id, SALES, columns)
    types = [ticket_type.name for ticket_type in event.ticket_types]
    form = COLUMNS.fill(upload.sample, chosen or (known if is_same else complete_mapping(known, upload.sample, types)))
    return _render_columns(event, upload, form, remembered=describe_known(known, is_same=is_same))


@blueprint.act("/uploads/<upload_id>/columns", access=IMPORT)
def save_columns(caller: Caller, event_id: str, upload_id: str) -> ResponseReturnValue:
    """Check the file with the chosen columns."""
    event, upload = events.get_event(caller, event_id), get_upload(caller, event_id, upload_id)[0]
    form = COLUMNS.build(upload.sample).from_request()
    try:
        mapping = COLUMNS.read_mapping(form, upload.sample)
        options = _load_options(event, upload)._replace(
            mapping=mapping, ticket_types=find_types(event), new_types=[], status_words=find_status_words(event.id)
        )
        return _process(caller, event_id, upload_id, _as_check(options))
    except FORM_ERRORS as error:
        return _render_columns(event, upload, form.with_error(error))


@blueprint.page("/uploads/<upload_id>", access=IMPORT)
def show_upload(caller: Caller, event_id: str, upload_id: str) -> ResponseReturnValue:
    """Show what the import of an upload would do, how far it is, or what it did."""
    event, (upload, is_working) = events.get_event(caller, event_id), get_upload(caller, event_id, upload_id)
    options = actions.load_options(upload)
    result = mask_result(caller, event, upload.result) if upload.result else {}
    if not (upload.format or options.mapping):
        return redirect(url_for("desk_sales.choose_columns", event_id=event_id, upload_id=upload_id))
    errors, names = list_problems(upload, result.get("errors", [])), {column["name"] for column in upload.sample}
    first_tickets = [
        {**it, "sold_at": it["sold_at"] and datetime.fromisoformat(it["sold_at"])}
        for it in result.get("first_tickets", ())
    ]
    fields = list_read_fields(upload)
    return render_desk(
        "desk/sales_upload.html",
        event=event,
        upload=upload,
        options=options,
        is_working=is_working,
        result=result,
        first_tickets=first_tickets,
        first_labels=[
            (name, label) for name, label in FIRST_LABELS if any(ticket[name] is not None for ticket in first_tickets)
        ],
        chosen_types=list_chosen_types(event, options, result),
        chosen_words=list_chosen_words(options, result),
        meanings=MEANING_LABELS,
        new_types=list_new_types(event, result),
        has_no_codes="secret" not in fields,
        has_no_addresses="email" not in fields,
        has_no_prices=fields.isdisjoint(("price", "priceMinor")),
        has_no_states="status" not in fields,
        format_label=FORMAT_LABELS[options.mapping and "mapping" or upload.format or "own"],
        errors=[
            (error["row"], name_column(error["column"], names), error["value"], describe_row_error(error))
            for error in errors[:MAX_SHOWN_ERRORS]
        ],
        listed_count=result.get("error_count", 0)
        - (
            0 if upload.import_id else sum((*list_unknown_names(upload).values(), *list_unknown_words(upload).values()))
        ),
        warnings=[translate_sentence(warning) for warning in result.get("warnings", [])],
        has_repeated_numbers=options.mapping and sum(map(_is_repeated_number, errors)) > MANY_REPEATS,
        exceeded={error["column"] for error in errors if error["code"] == "sold_out"},
    )


@blueprint.act("/uploads/<upload_id>/check", access=IMPORT)
def check(caller: Caller, event_id: str, upload_id: str) -> ResponseReturnValue:
    """Check the file again: with ticket types for unknown names, meanings of unknown words for the state, more tickets of a
    type, or more than the capacity. With `again` the types and meanings that were chosen before are asked for again.
    """
    event, upload = events.get_event(caller, event_id), get_upload(caller, event_id, upload_id)[0]
    options, choices = _load_options(event, upload), read_choices(event, upload)
    if choices is None:
        address = url_for("desk_sales.show_upload", event_id=event_id, upload_id=upload_id)
        return send_back(address, gettext("Choose what each name and word in the file is."))
    if request.form.get("again") == "true":
        options = options._replace(ticket_types={}, new_types=[], status_words={})
    options = choices.add_to(options)._replace(
        allow_oversell=options.allow_oversell or request.form.get("allowOversell") == "true",
        raise_totals=options.raise_totals or request.form.get("raiseTotals") == "true",
    )
    return _process(caller, event_id, upload_id, _as_check(options), choices)


@blueprint.act("/uploads/<upload_id>/import", access=IMPORT)
def import_upload(caller: Caller, event_id: str, upload_id: str) -> ResponseReturnValue:
    """Import the file with the options of its last check: all rows or none, or with `onlyCorrect` the correct rows."""
    event, upload = events.get_event(caller, event_id), get_upload(caller, event_id, upload_id)[0]
    options = _load_options(event, upload)
    partial = request.form.get("onlyCorrect") == "true"
    return _process(caller, event_id, upload_id, options._replace(dry_run=False, partial=partial))


def _reword(error: AppError) -> AppError:
    """The error of a file that is no table, without the words of the program that reads it."""
    if isinstance(error, NotASpreadsheet) and FOR_PROGRAMS.search(error.text):
        return NotASpreadsheet(
            gettext("We cannot read this file as a table. Save it as CSV or Excel, and upload it again.")
        )
    return error


def _as_check(options: FileOptions) -> FileOptions:
    """The options of a check. It counts also the correct rows beside wrong ones: they can be imported alone."""
    return options._replace(dry_run=True, partial=True)


def _load_options(event: OwnEvent, upload: OwnUpload) -> FileOptions:
    """The options of the last check, without ticket types that the event has no more."""
    options, known = actions.load_options(upload), {ticket_type.id for ticket_type in event.ticket_types}
    return options._replace(ticket_types={name: id for name, id in (options.ticket_types or {}).items() if id in known})


def _process(
    caller: Caller,
    event_id: str,
    upload_id: str,
    options: FileOptions,
    choices: Choices = NO_CHOICES,
) -> ResponseReturnValue:
    actions.process_upload(caller, event_id, upload_id, options, types=choices.types, words=choices.words)
    return redirect(url_for("desk_sales.show_upload", event_id=event_id, upload_id=upload_id), 303)


def _render_upload(event: OwnEvent, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        template="desk/sales_import.html",
        title=gettext("Import sales"),
        lead=gettext(
            "Tickets are sold in your shop, for example pretix or Eventbrite. Bring its list of tickets here."
        ),
        button=gettext("Check the file"),
        back=url_for("desk_sales.show", event_id=event.id),
        has_files=True,
        file_types=FILE_TYPES,
    )


def _render_columns(event: OwnEvent, upload: OwnUpload, form: FilledForm, *, remembered: str = "") -> Response:
    names = {column["name"] for column in upload.sample}
    return render_desk_form(
        form,
        event=event,
        template="desk/import_columns.html",
        title=gettext("What are the columns?"),
        lead=gettext(
            "Choose what each column is. A ticket needs a number of its own and a ticket type. With the code of its QR "
            "code or barcode it is admitted at the gate. If the number is also printed as that code, choose “%(choice)s”.",
            choice=OPTION_LABELS[NUMBER_AND_CODE],
        ),
        button=gettext("Check the file"),
        back=url_for("desk_sales.choose_file", event_id=event.id),
        file_name=upload.file_name,
        rows=upload.rows,
        remembered=remembered,
        warning=ORDER_LIST if names >= PRETIX_ORDERS else "",
    )


def _is_repeated_number(error: Mapping[str, Any]) -> bool:
    return (error["code"], error["column"]) == ("duplicate", "reference")
