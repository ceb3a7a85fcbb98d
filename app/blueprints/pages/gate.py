"""The page of the gate on a paired phone. Without a camera or script it is a form that scans, searches and undoes."""

import secrets
from typing import Any

from flask import Response, request, session
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.gate_device import find_gate_caller, get_event_id, render_gate_page
from app.blueprints.pages.gate_verdict import build_refusal, build_verdict
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import AppError
from app.core.languages import gettext, lazy_gettext
from app.events import queries as event_queries
from app.gate.early_scans import are_scans_early
from app.gate.errors import TicketNotFound
from app.gate.place_search import search_places
from app.gate.refused_scans import scan_or_log_refusal
from app.gate.scan_check import check_scan
from app.gate.undo import UNDONE_AT_THE_GATE, undo_scan
from app.web.fields import Boolean, Choice, Id, Secret, Text, WholeNumber, field_error
from app.web.schema import Query
from app.web.types import RawData

blueprint = Pages("gate_page", __name__, url_prefix="/gate", translated=True)
GATE_KEY = "gate"
"""The key of the session with the name of the gate that was typed last."""


class Printable(Secret):
    """A code or a nonce: exact, without control characters."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if not text.isprintable():
            raise field_error("invalid_characters", "Must be printable.")
        return text


class PlaceSchema(Query):
    place_id = Id(required=True)
    nonce = Printable(required=True, max=80)
    gate = Text(max=80)


class ScanSchema(Query):
    code = Printable(required=True, max=200)
    nonce = Printable(required=True, max=80)
    count = WholeNumber(min=1, max=100)
    gate = Text(max=80)
    direction = Choice("in", "out", load_default="in")
    training = Boolean(load_default=False)


class UndoSchema(Query):
    admission_id = Id(required=True)


SCAN = Form(
    ScanSchema,
    Input(
        "code",
        lazy_gettext("Code of the ticket"),
        messages=dict.fromkeys(("required", "invalid_characters"), lazy_gettext("Enter the code of the ticket.")),
    ),
    Input("count", lazy_gettext("How many people of a party?"), inputmode="numeric"),
    Input("gate", lazy_gettext("Name of the gate")),
    Input("direction", lazy_gettext("What do you scan?")),
    Input("nonce", "", type="hidden"),
    Input("training", "", type="hidden"),
)
PLACE = Form(PlaceSchema, *(Input(name, "", type="hidden") for name in ("placeId", "gate", "nonce")))
UNDO = Form(UndoSchema, Input("admissionId", "", type="hidden"))


@blueprint.get("")
def show() -> Response:
    """Show the page of the gate, or how to pair this phone. `q` finds guests by name."""
    caller = find_gate_caller()
    return _render_unpaired() if caller is None else _render(caller, SCAN.fill(**_build_new_values()))


@blueprint.post("/scan")
def send_scan() -> ResponseReturnValue:
    """Scan a typed code or a found guest, and show the verdict."""
    caller, is_by_name = find_gate_caller(), "placeId" in request.form
    form = (PLACE if is_by_name else SCAN).from_request()
    if caller is None:
        return _render_unpaired()
    session[GATE_KEY] = form.values["gate"][:80]
    try:
        values = form.load()
    except FORM_ERRORS as error:
        if is_by_name:
            raise
        return _render(caller, form.with_error(error))
    event = event_queries.get_event(caller, get_event_id(caller))
    is_training = values.pop("training", False)
    take = check_scan if is_training else scan_or_log_refusal
    search_text = ""
    try:
        verdict, status = build_verdict(take(caller, get_event_id(caller), **values)), 200
    except AppError as error:
        refusal = build_refusal(error, event.timezone)
        if refusal is None:
            raise
        verdict, status = refusal, error.status
        if isinstance(error, TicketNotFound):
            search_text = values.get("code", "")
    return render_gate_page(
        "pages/gate_verdict.html",
        status=status,
        verdict=verdict,
        event=event,
        is_training=is_training,
        search_text=search_text,
    )


@blueprint.post("/undo")
def send_undo() -> ResponseReturnValue:
    """Undo a scan of this phone."""
    caller, form = find_gate_caller(), UNDO.from_request()
    if caller is None:
        return _render_unpaired()
    undo_scan(caller, get_event_id(caller), form.load()["admission_id"], UNDONE_AT_THE_GATE)
    return _render(caller, SCAN.fill(**_build_new_values()), done=gettext("The scan is undone."))


def _render(caller: Caller, form: FilledForm, *, done: str = "") -> Response:
    event, q = (
        event_queries.get_event(caller, get_event_id(caller)),
        request.args.get("q", "").replace("\0", "")[:80].strip(),
    )
    guests = search_places(caller, event.id, q) if q else []
    status = form.error.status if form.error else 200
    context = {"form": form, "event": event, "gate": form.value("gate"), "q": q, "guests": guests, "done": done}
    context["are_scans_early"] = are_scans_early(event)
    return render_gate_page("pages/gate.html", status=status, **context)


def _render_unpaired() -> Response:
    return render_page("pages/gate_unpaired.html", status=200 if request.method == "GET" else 401)


def _build_new_values() -> dict[str, str]:
    return {"nonce": secrets.token_urlsafe(16), "gate": session.get(GATE_KEY, ""), "direction": "in"}
