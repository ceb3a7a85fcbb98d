"""Several applications decided at once: each by itself, with the documents, the day and the reason of one form."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import Response, request
from flask.typing import ResponseReturnValue
from marshmallow import fields

from app.accounts.caller import Caller
from app.accounts.permissions import STALLS_DECIDE
from app.applications import actions, queries, states
from app.applications.document_suggestions import load_chosen_kinds, suggest_kinds
from app.applications.documents import LABELS
from app.applications.open_events import is_event_closed
from app.applications.queries import ApplicationRecord
from app.applications.stall_types import fold_name
from app.blueprints.pages.desk.form_parts import PAY_BY
from app.blueprints.pages.desk.shell import render_desk
from app.blueprints.pages.desk.stall_approval import DOCUMENTS, build_documents_field
from app.blueprints.pages.desk.stall_words import STATE_LABELS, reword
from app.blueprints.pages.desk.stalls import DECIDABLE, DECIDE, MAX_DECIDED, blueprint, link_application
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.rendering import describe_error
from app.core.errors import NotFound, Throttled, ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.web.access import may
from app.web.fields import Text
from app.web.schema import Query
from app.web.text_fields import EmailText

ChosenKinds = Mapping[str, Sequence[str]]


class JointSchema(Query):
    documents_required = build_documents_field()
    stall_type = Text(max=120)
    pay_by = fields.Date(data_key="payBy")
    decline_reason = EmailText(max=1000)


FORM = Form(
    JointSchema,
    DOCUMENTS,
    Input("stallType", "", type="hidden"),
    PAY_BY,
    Input(
        "declineReason",
        lazy_gettext("Reason for the applicants that you decline"),
        hint=lazy_gettext("The applicants read it in the mail. Leave out web addresses."),
        type="textarea",
    ),
)
"""The documents are asked of applications of one stall type only, which the form names; others get those of their type."""


@blueprint.page("/decide", access=may(STALLS_DECIDE))
def confirm_many(caller: Caller, event_id: str) -> ResponseReturnValue:
    """List the chosen applications, and ask what to do with them."""
    return _render(caller, event_id, request.args.getlist("id"))


@blueprint.act("/decide", access=DECIDE)
def decide_many(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Approve or decline each of the chosen applications by itself, and say which could not be decided."""
    form, ids = FORM.from_request(), request.form.getlist("id")
    decision = request.form.get("decision", "")
    if decision not in (states.APPROVED, states.DECLINED):
        raise NotFound()
    try:
        values = form.load()
    except ValidationFailed as error:
        return _render(caller, event_id, ids, form.with_error(error))
    event, rows = _list_chosen(caller, event_id, ids)
    chosen_kinds = load_chosen_kinds(event.id)
    ticked_kinds, stall_type = values.pop("documents_required"), values.pop("stall_type", None)
    if stall_type:
        chosen_kinds = {**chosen_kinds, fold_name(stall_type): ticked_kinds}
    results = []
    for row in rows:
        kinds = {} if decision == states.DECLINED else {"documents_required": _list_kinds(row, chosen_kinds)}
        results.append((row, _decide(caller, row, decision, {**values, **kinds})))
    return render_desk(
        "desk/stalls_decided.html",
        event=event,
        word=gettext("Approved") if decision == states.APPROVED else gettext("Declined"),
        decided=[row for row, problem in results if not problem],
        refused=[(row, problem) for row, problem in results if problem],
        link=link_application,
    )


def _list_chosen(caller: Caller, event_id: str, ids: list[str]) -> tuple[OwnEvent, Sequence[ApplicationRecord]]:
    """The chosen applications of the event, each once and in their order. Raises NotFound."""
    event = events.get_event(caller, event_id)
    chosen_ids = [id for id in dict.fromkeys(ids) if is_id(id)][:MAX_DECIDED]
    return event, queries.list_chosen_applications(caller, event_id, chosen_ids)


def _decide(caller: Caller, row: ApplicationRecord, decision: str, values: dict[str, Any]) -> str:
    """Decide one application. Returns why that was not possible, or nothing."""
    try:
        actions.decide_application(caller, row["id"], decision=decision, **values)
    except (*FORM_ERRORS, Throttled, NotFound) as error:
        return describe_error(reword(error))
    return ""


def _list_kinds(row: ApplicationRecord, chosen_kinds: ChosenKinds) -> Sequence[str]:
    """The documents that the approval asks for; those of the waitlist were chosen there."""
    is_chosen = row["status"] != states.SUBMITTED
    return row["documents_required"] if is_chosen else suggest_kinds(chosen_kinds, row["stall_type"]).kinds


def _render(caller: Caller, event_id: str, ids: list[str], form: FilledForm | None = None) -> Response:
    event, chosen_rows = _list_chosen(caller, event_id, ids)
    rows = [row for row in chosen_rows if row["status"] in DECIDABLE]
    chosen_kinds = load_chosen_kinds(event.id)
    stall_type = _find_common_type(rows)
    if form is None:
        kinds = suggest_kinds(chosen_kinds, stall_type).kinds
        form = FORM.fill(documentsRequired=",".join(kinds), stallType=stall_type or "")
    is_closed = is_event_closed(event)
    has_documents = bool(form.value("stallType")) and not is_closed
    if not has_documents:
        form = replace(form, form=form.form.without("documentsRequired").without("stallType"))
    if is_closed:
        form = replace(form, form=form.form.without("payBy"))
    return render_desk(
        "desk/stalls_decide.html",
        event=event,
        form=form,
        rows=rows,
        documents={
            row["id"]: ", ".join(gettext(LABELS[kind]) for kind in _list_kinds(row, chosen_kinds))
            for row in rows
            if not is_closed and (row["status"] != states.SUBMITTED or not has_documents)
        },
        is_closed=is_closed,
        state_labels=STATE_LABELS,
        path=request.path,
    )


def _find_common_type(rows: Sequence[ApplicationRecord]) -> str | None:
    """The stall type of all applications that wait for their first decision; None if they have several, or none."""
    names = {fold_name(row["stall_type"]): row["stall_type"] for row in rows if row["status"] == states.SUBMITTED}
    return next(iter(names.values())) if len(names) == 1 else None
