"""The stock as a list: exported, and imported by upload after a check; and the progress of the jobs of the stock."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.column_form import ColumnForm, describe_known
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk, render_desk_form
from app.blueprints.pages.desk.stock import MAX_UPLOAD_BYTES, READ, WRITE, blueprint
from app.blueprints.pages.desk.stock_items import HINTS, LABELS
from app.blueprints.pages.desk.stock_words import describe_row_error
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, find_upload_error
from app.blueprints.pages.rendering import describe_error
from app.core.errors import AppError, NotFound, ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.import_mappings import STOCK, find_known_columns
from app.inventory import actions, background_jobs, export, queries
from app.inventory.actions.imports import ItemChangeJson
from app.inventory.formatting import format_item
from app.inventory.stock_import.column_names import suggest_mapping
from app.web.fields import Boolean, Text
from app.web.schema import Query

MAX_SHOWN_ERRORS = 100
FILE_HEADERS = {"Cache-Control": "private, no-store", "Content-Security-Policy": "sandbox; default-src 'none'"}
JOB_ERRORS = {
    "IMPORT_REJECTED": lazy_gettext("Some rows have errors, so nothing was imported."),
    "GIVEN_UP": lazy_gettext("It took too long. Try again."),
}


class SheetSchema(Query):
    file = Text(required=True)


class StartSchema(Query):
    only_correct = Boolean(load_default=False)


SHEET = Form(
    SheetSchema,
    Input(
        "file",
        lazy_gettext("List"),
        hint=lazy_gettext("CSV or Excel, up to 20 MB and 100,000 rows. An empty cell changes nothing."),
        messages={"required": lazy_gettext("Choose a file.")},
        error_codes=("NOT_A_SPREADSHEET", "IMPORT_TOO_LARGE", "PAYLOAD_TOO_LARGE"),
    ),
)
NAME_AND_SKU = "nameAndSku"
COLUMNS = ColumnForm(
    {"sku": LABELS["sku"], "name": LABELS["name"], NAME_AND_SKU: lazy_gettext("Name, and item number too"), **LABELS},
    ("sku",),
    {NAME_AND_SKU: ("name", "sku")},
)
START = Form(StartSchema, Input("onlyCorrect", "", type="hidden"))


@blueprint.page("/import", access=WRITE)
def choose_sheet(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for a list, and the lists to download."""
    error = find_upload_error(MAX_UPLOAD_BYTES)
    return _render_upload(caller, event_id, SHEET.fill().with_error(error) if error else SHEET.fill())


@blueprint.act("/import", access=WRITE)
def check_sheet(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Keep the list, and check what an import of it would do."""
    form, file = SHEET.fill(), request.files.get("file")
    try:
        if file is None or not file.filename:
            raise ValidationFailed.of("file", "required", "Choose a file.")
        data = file.read()
        prepared = actions.prepare_import(caller=caller, event_id=event_id, data=data, file_name=file.filename)
    except FORM_ERRORS as error:
        return _render_upload(caller, event_id, form.with_error(error))
    if prepared.check_id is None:
        path = url_for("desk_stock.choose_columns", event_id=event_id, import_id=prepared.import_id)
    else:
        path = _build_check_path(event_id, prepared.import_id, prepared.check_id)
    return go_to(path, gettext("The file is uploaded. Nothing is imported yet."))


@blueprint.page("/import/<import_id>/columns", access=WRITE)
def choose_columns(caller: Caller, event_id: str, import_id: str) -> ResponseReturnValue:
    """Show each column with its first values, and ask what it is."""
    kept = _get_kept_file(caller, event_id, import_id)
    columns = [column["name"] for column in kept["sample"]]
    known, is_same = ({}, False) if "mapping" in kept else find_known_columns(event_id, STOCK, columns)
    others = [] if is_same else [column for column in columns if column not in known.values()]
    mapping = kept.get("mapping") or {**_suggest_mapping(event_id, others), **known}
    form = COLUMNS.fill(kept["sample"], mapping)
    return _render_columns(caller, event_id, kept, form, remembered=describe_known(known, is_same=is_same))


@blueprint.act("/import/<import_id>/columns", access=WRITE)
def save_columns(caller: Caller, event_id: str, import_id: str) -> ResponseReturnValue:
    """Check the file with the chosen columns."""
    kept = _get_kept_file(caller, event_id, import_id)
    form = COLUMNS.build(kept["sample"]).from_request()
    try:
        mapping = COLUMNS.read_mapping(form, kept["sample"])
        check_id = do_once(
            caller,
            lambda: actions.check_prepared_import(caller=caller, event_id=event_id, job_id=import_id, mapping=mapping),
        )
    except FORM_ERRORS as error:
        return _render_columns(caller, event_id, kept, form.with_error(error))
    return redirect(_build_check_path(event_id, import_id, check_id), 303)


@blueprint.page("/import/<import_id>/<check_id>", access=WRITE)
def show_check(caller: Caller, event_id: str, import_id: str, check_id: str) -> ResponseReturnValue:
    """Show the progress of the check, and then what the import would do."""
    return _render_check(caller, event_id, import_id, check_id)


@blueprint.act("/import/<import_id>/<check_id>", access=WRITE)
def start_import(caller: Caller, event_id: str, import_id: str, check_id: str) -> ResponseReturnValue:
    """Import the list that was checked."""
    try:
        partial = START.from_request().load()["only_correct"]
        actions.start_prepared_import(
            caller=caller, event_id=event_id, job_id=import_id, check_id=check_id, partial=partial
        )
    except FORM_ERRORS as error:
        return _render_check(caller, event_id, import_id, check_id, error)
    return go_to(
        url_for("desk_stock.show_job", event_id=event_id, job_id=import_id), gettext("The import has started.")
    )


@blueprint.act("/import/<import_id>/discard", access=WRITE)
def discard_import(caller: Caller, event_id: str, import_id: str) -> ResponseReturnValue:
    """Forget an uploaded list that was not imported."""
    if not actions.discard_prepared_import(caller=caller, event_id=event_id, job_id=import_id):
        path = url_for("desk_stock.show_job", event_id=event_id, job_id=import_id)
        return go_to(path, gettext("The import has started already."))
    return go_to(url_for("desk_stock.show", event_id=event_id), gettext("The list is discarded. It was not imported."))


@blueprint.page("/export.csv", access=READ)
def download_stock(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Download the stock as a list that an import reads back, or with `template=true` its columns."""
    event = queries.get_event(caller, event_id)
    if request.args.get("template") == "true":
        return _build_file(export.build_template_csv(), "stock-template.csv", "text/csv; charset=utf-8")
    return _build_file(export.stream_stock_csv(event.id), "stock.csv", "text/csv; charset=utf-8")


@blueprint.page("/jobs/<job_id>", access=READ)
def show_job(caller: Caller, event_id: str, job_id: str) -> ResponseReturnValue:
    """Show the progress of an import or a report, and then its result."""
    return render_desk(
        "desk/stock_job.html", event=events.get_event(caller, event_id), **_load_job(caller, event_id, job_id)
    )


@blueprint.page("/jobs/<job_id>/file", access=READ)
def download_file(caller: Caller, event_id: str, job_id: str) -> ResponseReturnValue:
    """Download the file of a job: a report, or the errors of an import."""
    return _build_file(*queries.get_job_file(caller, event_id, job_id))


def _build_file(content: Any, name: str, content_type: str) -> Response:
    response = Response(content, content_type=content_type, headers=FILE_HEADERS)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


def _load_job(caller: Caller, event_id: str, job_id: str) -> dict[str, Any]:
    """A job for the page. Raises NotFound."""
    job = queries.get_job(caller, event_id, job_id)
    state: dict[str, Any] = background_jobs.serialize_job(job, caller.session_id)
    result = state["result"]
    return {
        "job": state,
        "is_import": job.kind == background_jobs.IMPORT_KIND,
        "is_check": bool(job.asked.get("dry_run")),
        "is_over": state["status"] in ("done", "failed"),
        "problem": JOB_ERRORS.get(state.get("error", ""), gettext("This did not work. Try again."))
        if "error" in state
        else "",
        "errors": [
            {**error, "column": LABELS.get(error["column"], error["column"])}
            for error in result.get("errors", [])[:MAX_SHOWN_ERRORS]
        ],
        "changes": [_label_change(change) for change in result.get("changes", [])],
        "describe_row_error": describe_row_error,
        "file_url": url_for("desk_stock.download_file", event_id=event_id, job_id=job_id) if job.file_name else "",
    }


def _label_change(change: ItemChangeJson) -> dict[str, Any]:
    """What the page shows of a change: a new item without its name, its SKU and what is 0."""
    return {
        **change,
        "item": format_item(change["name"], change["sku"]),
        "new_values": [
            {**value, "label": LABELS[value["name"]]}
            for value in change["new_values"]
            if not (change["is_new"] and (value["name"] in ("name", "sku") or value["after"] == "0"))
        ],
    }


def _get_kept_file(caller: Caller, event_id: str, import_id: str) -> dict[str, Any]:
    """The columns and the name of a file that waits for its import. Raises NotFound."""
    kept = queries.get_job(caller, event_id, import_id).asked
    if "sample" not in kept:
        raise NotFound()
    return kept


def _build_check_path(event_id: str, import_id: str, check_id: str) -> str:
    return url_for("desk_stock.show_check", event_id=event_id, import_id=import_id, check_id=check_id)


def _suggest_mapping(event_id: str, columns: Sequence[str]) -> dict[str, str]:
    """The usual columns. Without a column of numbers the name is the SKU as well, unless items have numbers of their own."""
    mapping = suggest_mapping(columns)
    is_unnumbered = "name" in mapping and "sku" not in mapping
    return {"sku": mapping["name"], **mapping} if is_unnumbered and not queries.has_own_numbers(event_id) else mapping


def _render_columns(
    caller: Caller, event_id: str, kept: Mapping[str, Any], form: FilledForm, *, remembered: str = ""
) -> Response:
    return render_desk_form(
        form,
        event=events.get_event(caller, event_id),
        template="desk/import_columns.html",
        title=gettext("What are the columns?"),
        lead=gettext(
            "Choose what each column is. The item number is your own number for an item: a row with a number that exists "
            "changes this item. If the list has no such numbers, choose “Name, and item number too” for the names. A new "
            "item needs a name, and has 0 where the file has no number."
        ),
        button=gettext("Check the file"),
        back=url_for("desk_stock.choose_sheet", event_id=event_id),
        file_name=kept["file_name"],
        rows=kept["rows"],
        remembered=remembered,
    )


def _render_upload(caller: Caller, event_id: str, form: FilledForm) -> Response:
    return render_desk(
        "desk/stock_import.html",
        event=events.get_event(caller, event_id),
        form=form,
        path=request.path,
        headings=[
            (name, f"{LABELS[name]}. {HINTS[name]}" if name in HINTS and name != "sku" else LABELS[name])
            for name in export.HEADER.split(",")
        ],
    )


def _render_check(
    caller: Caller, event_id: str, import_id: str, check_id: str, error: AppError | None = None
) -> Response:
    prepared, check = queries.get_job(caller, event_id, import_id), _load_job(caller, event_id, check_id)
    if not (is_id(check_id) and check["is_check"] and prepared.kind == background_jobs.IMPORT_KIND):
        raise NotFound()
    return render_desk(
        "desk/stock_check.html",
        event=events.get_event(caller, event_id),
        status=error.status if error else 200,
        error=describe_error(error) if error else "",
        columns_url=url_for("desk_stock.choose_columns", event_id=event_id, import_id=import_id)
        if "sample" in prepared.asked
        else "",
        is_started=prepared.status != "queued",
        import_id=import_id,
        path=request.path,
        **check,
    )
