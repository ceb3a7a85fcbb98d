"""Scans that stayed on a phone, for example one that was ended: uploaded as the file that the phone gives out."""

from collections import Counter

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.gate import ADMIT, blueprint
from app.blueprints.pages.desk.shell import render_desk, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.errors import AppError, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.gate.batch import REFUSED
from app.web.fields import Text
from app.web.request_parser import parse_json
from app.web.scans import record_scans
from app.web.schema import Query

MAX_SCANS = 3000
FILE_TYPES = ".json,application/json"


class ScansSchema(Query):
    file = Text(required=True)


SCANS = Form(
    ScansSchema,
    Input(
        "file",
        lazy_gettext("File of the phone"),
        hint=lazy_gettext("“scans.json”, as the phone has saved it."),
        messages={
            "required": lazy_gettext("Choose the file that the phone has saved."),
            "no_scans": lazy_gettext(
                "This is not a file of scans. Choose the file “scans.json” that the phone has saved."
            ),
            "too_many": lazy_gettext(
                "This file has more than 3,000 scans. Ask the people who run this service to add them."
            ),
            "other_event": lazy_gettext("The scans in this file are of another event. Upload it there."),
        },
    ),
)


@blueprint.page("/scans", access=ADMIT)
def choose_scans(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask for the file of a phone."""
    return _render_form(events.get_event(caller, event_id), SCANS.fill())


@blueprint.act("/scans", access=ADMIT)
def add_scans(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Record the scans of a file, and say what became of them. The same file again changes nothing."""
    event = events.get_event(caller, event_id)
    try:
        scans = _read_scans(event_id)
    except FORM_ERRORS as error:
        return _render_form(event, SCANS.fill().with_error(error))
    results = record_scans(caller, event_id, scans)
    refused = [scan for scan, result in zip(scans, results, strict=True) if result.status == REFUSED]
    counts = Counter(result.status for result in results)
    return render_desk("desk/gate_scans.html", event=event, counts=counts, refused=refused)


def _read_scans(event_id: str) -> list[dict[str, object]]:
    """The scans of this event in the uploaded file. Raises ValidationFailed."""
    file = request.files.get("file")
    if file is None or not file.filename:
        raise ValidationFailed.of("file", "required", "Choose the file.")
    try:
        rows = parse_json(file.read(), unique_keys=False)
    except AppError as error:
        raise ValidationFailed.of("file", "no_scans", "This is no file of scans.") from error
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) and "nonce" in row for row in rows):
        raise ValidationFailed.of("file", "no_scans", "This is no file of scans.")
    if len(rows) > MAX_SCANS:
        raise ValidationFailed.of("file", "too_many", "These are too many scans.")
    scans = [
        {name: value for name, value in row.items() if name != "eventId" and value is not None}
        for row in rows
        if row.get("eventId", event_id) == event_id
    ]
    if not scans:
        raise ValidationFailed.of("file", "other_event", "The scans are of another event.")
    return scans


def _render_form(event: OwnEvent, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Add the scans of a phone"),
        lead=gettext(
            "A phone that was ended, or that never found a network, keeps the scans that it has not sent. Download them on "
            "the phone, and upload the file here within three days of the scans."
        ),
        button=gettext("Add the scans"),
        back=url_for("desk_gate.show_log", event_id=event.id),
        template="desk/gate_scans_form.html",
        file_types=FILE_TYPES,
        has_files=True,
    )
