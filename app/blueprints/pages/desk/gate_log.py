"""The log of the gate as a table, undoing a scan, and the conflicts of gates that were offline."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import GUESTS_WRITE
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.gate import ADMIT, blueprint
from app.blueprints.pages.desk.shell import go_to, render_desk_form
from app.blueprints.pages.desk.tables import NUMBER, STATUS, TIME, Column, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.formatting import format_day
from app.core.languages import gettext, lazy_gettext, mark_plural
from app.events import queries
from app.events.queries import ListQuery, OwnEvent
from app.gate import conflicts, log, refused_scans
from app.gate.errors import UndoTooLate
from app.gate.undo import UNDONE_AT_THE_GATE, undo_scan
from app.web.fields import Choice, Text
from app.web.schema import Query

RESULT_LABELS = {
    log.ENTERED: lazy_gettext("Entered"),
    log.RETURNED: lazy_gettext("Entered again"),
    log.LEFT: lazy_gettext("Went out"),
    log.CONFLICT: lazy_gettext("Conflict"),
    log.UNDONE: lazy_gettext("Undone"),
}
UNDO_REASONS = {UNDONE_AT_THE_GATE: lazy_gettext("Undone at the gate")}
"""The reason that the page of the gate gives for an undo."""
OUTCOME_LABELS = {**RESULT_LABELS, log.FIRST_CONFLICT: lazy_gettext("First scan, in a conflict")}
REASONS = {
    "ALREADY_ADMITTED": lazy_gettext("Somebody had entered with this ticket."),
    "PARTY_TOO_SMALL": lazy_gettext("More people came than the party has places."),
    "SLOT_REVOKED": lazy_gettext("The ticket had been taken back."),
    "TICKET_CANCELLED": lazy_gettext("The ticket had been cancelled or refunded."),
    "NOT_CLAIMED": lazy_gettext("Nobody had claimed the place."),
    "WRONG_DAY": lazy_gettext("The ticket was not valid at this time."),
    "WRONG_EVENT": lazy_gettext("The ticket is for another event."),
    "TICKET_NOT_FOUND": lazy_gettext("No ticket of this event has this code."),
    "NO_REENTRY": lazy_gettext("This event does not scan who goes out."),
    "NOT_INSIDE": lazy_gettext("Nobody was inside with this ticket."),
    "NONCE_REUSED": lazy_gettext("The phone had sent another scan with the same number."),
    "VALIDATION_FAILED": lazy_gettext("The scan came more than three days later, or has a time in the future."),
}


REFUSED = "refused"


class FilterSchema(Query):
    q = Text(max=120)
    result = Choice(*RESULT_LABELS, REFUSED)
    gate = Text(max=80)
    by = Text(max=200)


class UndoSchema(Query):
    reason = Text(required=True, min=1, max=200)


FILTERS = Form(
    FilterSchema,
    Input("q", lazy_gettext("Guest"), type="search"),
    Input(
        "result",
        lazy_gettext("Result"),
        options=[
            ("", lazy_gettext("All but the refused ones")),
            *RESULT_LABELS.items(),
            (REFUSED, lazy_gettext("Refused")),
        ],
    ),
    Input("gate", lazy_gettext("Gate")),
    Input("by", lazy_gettext("Scanned by")),
)
LOG = Table(
    "admissions",
    Column("name", lazy_gettext("Guest")),
    Column("ticket_type", lazy_gettext("Ticket")),
    Column("ticket_number", lazy_gettext("Ticket number")),
    Column("outcome", lazy_gettext("Result"), STATUS, labels=OUTCOME_LABELS),
    Column("gate", lazy_gettext("Gate")),
    Column("actor_name", lazy_gettext("Scanned by")),
    Column("occurred_at", lazy_gettext("When"), TIME, sort="occurredAt"),
    Column("undo_reason", lazy_gettext("Reason for the undo"), labels=UNDO_REASONS),
    sorts=log.SORTS,
    default_sort="-occurredAt",
    counted=mark_plural("%(num)s scan", "%(num)s scans"),
    filters=FILTERS,
    empty=lazy_gettext("Scans appear here as soon as the first guest comes in."),
)
REFUSED_SCANS = Table(
    "refused",
    Column("name", lazy_gettext("Guest")),
    Column("ticket_type", lazy_gettext("Ticket")),
    Column("ticket_number", lazy_gettext("Ticket number")),
    Column("reason", lazy_gettext("Why"), labels=REASONS),
    Column("code_start", lazy_gettext("Code begins with")),
    Column("times", lazy_gettext("Times"), NUMBER),
    Column("gate", lazy_gettext("Gate")),
    Column("actor_name", lazy_gettext("Scanned by")),
    Column("occurred_at", lazy_gettext("When"), TIME, sort="occurredAt"),
    sorts=refused_scans.SORTS,
    default_sort="-occurredAt",
    counted=mark_plural("%(num)s refused scan", "%(num)s refused scans"),
    filters=FILTERS,
    empty=lazy_gettext("No scan was refused."),
)
CONFLICTS = Table(
    "conflicts",
    Column("name", lazy_gettext("Guest")),
    Column("ticket_type", lazy_gettext("Ticket")),
    Column("reason", lazy_gettext("Why"), labels=REASONS),
    Column("code", lazy_gettext("Code")),
    Column("recorded_at", lazy_gettext("Received by the service"), TIME, sort="recordedAt"),
    sorts=conflicts.SORTS,
    default_sort="-recordedAt",
    counted=mark_plural("%(num)s conflict", "%(num)s conflicts"),
    empty=lazy_gettext(
        "There are no conflicts. They appear here when phones without a network let in more people than the tickets are for."
    ),
)
UNDO = Form(
    UndoSchema,
    Input(
        "reason",
        lazy_gettext("Reason"),
        hint=lazy_gettext("The reason is kept in the log and in the audit trail."),
        messages={"required": lazy_gettext("Enter a reason.")},
        error_codes=("UNDO_TOO_LATE",),
    ),
)


@blueprint.page("/log", access=ADMIT)
def show_log(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show every scan that was taken, or those that were refused, the latest first."""
    event = queries.get_event(caller, event_id)
    is_of_refused = request.args.get("result") == REFUSED
    view: Any = partial(log.list_log_query, caller, event_id)
    if is_of_refused:
        view = partial(_list_refused_scans, caller, event_id)
    return render_desk_table(
        "desk/gate_log.html",
        REFUSED_SCANS if is_of_refused else LOG,
        view,
        event=event,
        record_file=partial(_record_file, event),
        may_undo_all=_may_undo_all(caller, event),
    )


@blueprint.page("/conflicts", access=ADMIT)
def show_conflicts(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the conflicts with all entries of the ticket, and who came first by the time of the scan."""
    event = queries.get_event(caller, event_id)
    view = partial(_list_conflicts, caller, event_id)
    return render_desk_table(
        "desk/gate_conflicts.html",
        CONFLICTS,
        view,
        event=event,
        record_file=partial(_record_file, event),
        may_undo_all=_may_undo_all(caller, event),
        reasons=REASONS,
        describe_entry=partial(_describe_entry, event),
    )


@blueprint.page("/log/<admission_id>/undo", access=ADMIT)
def confirm_undo(caller: Caller, event_id: str, admission_id: str) -> ResponseReturnValue:
    """Say what an undo does, and ask for the reason. Raises UndoTooLate."""
    event, entry = queries.get_event(caller, event_id), log.get_log_entry(caller, event_id, admission_id)
    if not (entry["is_recent"] or entry["undone_at"] or _may_undo_all(caller, event)):
        raise UndoTooLate()
    return _render_undo(caller, event_id, admission_id, UNDO.fill())


@blueprint.act("/log/<admission_id>/undo", access=ADMIT)
def undo(caller: Caller, event_id: str, admission_id: str) -> ResponseReturnValue:
    """Undo a scan with all of its party."""
    form = UNDO.from_request()
    try:
        undo_scan(caller, event_id, admission_id, **form.load())
    except FORM_ERRORS as error:
        return _render_undo(caller, event_id, admission_id, form.with_error(error))
    return go_to(_build_back(event_id), gettext("The scan is undone."))


def _list_conflicts(caller: Caller, event_id: str) -> ListQuery:
    """The conflicts, without filters."""
    return conflicts.list_conflicts_query(caller, event_id)


def _list_refused_scans(caller: Caller, event_id: str, *, result: str, **filters: Any) -> ListQuery:
    return refused_scans.list_refused_scans_query(caller, event_id, **filters)


def _record_file(event: OwnEvent) -> None:
    record_export(Action.ADMISSIONS_EXPORTED, organisation_id=event.organiser_id, event_id=event.id)


def _may_undo_all(caller: Caller, event: OwnEvent) -> bool:
    return caller.may(GUESTS_WRITE, organisation_id=event.organiser_id, event_id=event.id)


def _describe_entry(event: OwnEvent, entry: Mapping[str, str | None]) -> str:
    """When, where and by whom, to the second: two entries may be in the same minute."""
    return _describe_scan(event, datetime.fromisoformat(entry["occurred_at"] or ""), entry["gate"], entry["by"])


def _describe_scan(event: OwnEvent, occurred_at: datetime, gate: str | None, by: str | None) -> str:
    clock = f"{occurred_at.astimezone(ZoneInfo(event.timezone)):%H:%M:%S}"
    texts = (f"{format_day(occurred_at, event.timezone)}, {clock}", gate, by)
    return ", ".join(dict.fromkeys(text for text in texts if text))  # A phone's gate has its own name if none is set.


def _render_undo(caller: Caller, event_id: str, admission_id: str, form: FilledForm) -> Response:
    event, entry = queries.get_event(caller, event_id), log.get_log_entry(caller, event_id, admission_id)
    scan = _describe_scan(event, entry["occurred_at"], entry["gate"], entry["actor_name"])
    guest = entry["name"] or entry["ticket_type"] or gettext("an unknown code")
    texts = [
        f"{scan}.",
        gettext("The scan will not count any more. Without another scan the ticket may enter again."),
    ]
    if entry["people"] > 1:
        texts.append(gettext("All %(count)s people of this scan count as outside again.", count=entry["people"]))
    return render_desk_form(
        form,
        event=event,
        title=gettext("Undo the scan of %(guest)s?", guest=guest),
        lead=" ".join(texts),
        button=gettext("Undo the scan"),
        back=_build_back(event_id),
    )


def _build_back(event_id: str) -> str:
    """The address of the list from which somebody undoes a scan."""
    is_conflict = request.args.get("back") == "conflicts"
    return url_for("desk_gate.show_conflicts" if is_conflict else "desk_gate.show_log", event_id=event_id)
