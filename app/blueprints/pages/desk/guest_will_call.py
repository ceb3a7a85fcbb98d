"""The will-call list: guests found by name, and admitted where they ask for their tickets."""

import secrets
from typing import Any

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import GATE_ADMIT, GATE_READ
from app.allocations import actions, errors, slot_queries, states
from app.allocations.will_call import list_will_call
from app.blueprints.pages.desk.form_parts import WRONG_NUMBER
from app.blueprints.pages.desk.guest_words import SLOT_LABELS, name_slot, reword
from app.blueprints.pages.desk.guests import blueprint
from app.blueprints.pages.desk.shell import go_to, render_desk, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.errors import NotFound, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.web.access import may
from app.web.fields import Secret, Text, WholeNumber
from app.web.scans import MAX_PARTY_SIZE
from app.web.schema import Query

GATE_ACCESS, ADMIT = may(GATE_READ), may(GATE_ADMIT)
MAX_GUESTS = 50


class SearchSchema(Query):
    q = Text(max=200)


class AdmissionSchema(Query):
    count = WholeNumber(min=1, max=MAX_PARTY_SIZE)
    gate = Text(max=80)
    nonce = Secret(max=80)


SEARCH = Form(
    SearchSchema,
    Input(
        "q",
        lazy_gettext("Name, e-mail address or code of the ticket"),
        hint=lazy_gettext("The beginning is enough."),
        type="search",
    ),
)
SEARCH.marks_optional = False
COUNT = Input(
    "count",
    lazy_gettext("How many of the party come in"),
    hint=lazy_gettext("Empty: one."),
    inputmode="numeric",
    messages={"invalid_type": WRONG_NUMBER, "too_small": lazy_gettext("Enter 1 or more.")},
    error_codes=(errors.PartyTooSmall.code,),
)
ADMISSION = Form(
    AdmissionSchema,
    COUNT,
    Input("gate", lazy_gettext("Where"), hint=lazy_gettext("For example: Ticket desk.")),
    Input("nonce", "", type="hidden"),
)


@blueprint.page("/will-call", access=GATE_ACCESS)
def show_will_call(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the guests that match the search, by name; without one, the first of the list."""
    event, form = events.get_event(caller, event_id), SEARCH.from_query()
    slots: Any = []
    try:
        page = list_will_call(caller, event_id, q=form.load().get("q"), limit=MAX_GUESTS)
        slots = page.slots
    except ValidationFailed as error:
        form = form.with_error(error)
    return render_desk(
        "desk/guest_will_call.html",
        event=event,
        form=form,
        slots=slots,
        most=MAX_GUESTS,
        labels=SLOT_LABELS,
        claimed=states.CLAIMED,
        may_admit=caller.may(GATE_ADMIT, organisation_id=event.organiser_id, event_id=event.id),
    )


@blueprint.page("/will-call/<slot_id>", access=ADMIT)
def confirm_admission(caller: Caller, event_id: str, slot_id: str) -> ResponseReturnValue:
    """Show the guest who is about to be admitted."""
    event, slot = _get_event_slot(caller, event_id, slot_id)
    return _render_admission(event, slot, _get_form(slot).fill(nonce=secrets.token_urlsafe(16)))


@blueprint.act("/will-call/<slot_id>", access=ADMIT)
def admit(caller: Caller, event_id: str, slot_id: str) -> ResponseReturnValue:
    """Admit a guest, or some of their party, exactly once."""
    event, slot = _get_event_slot(caller, event_id, slot_id)
    form = _get_form(slot).from_request()
    try:
        values = form.load()
        if not values.get("nonce", "").isprintable():
            raise NotFound()
        actions.admit_slot(caller, event_id, slot_id, **values)
    except FORM_ERRORS as error:
        return _render_admission(event, slot, form.with_error(reword(error)))
    done = gettext("%(name)s is admitted.", name=name_slot(slot))
    if outside := slot_queries.count_party_outside(slot):
        done = f"{done} {gettext('Of this party still outside: {count}').format(count=outside)}."
    return go_to(url_for("desk_guests.show_will_call", event_id=event_id), done)


def _get_event_slot(caller: Caller, event_id: str, slot_id: str) -> tuple[OwnEvent, Any]:
    return events.get_event(caller, event_id), slot_queries.get_slot(caller, event_id, slot_id)


def _get_form(slot: Any) -> Form:
    return ADMISSION if slot["party_size"] > 1 else ADMISSION.without("count")


def _render_admission(event: OwnEvent, slot: Any, form: FilledForm) -> Response:
    address = slot["email"] or gettext("No address")
    sentences = [f"{address}. {SLOT_LABELS[slot['status']]}."]
    if slot["party_size"] > 1:
        sentences.append(gettext("They are one of a party of %(size)s.", size=slot["party_size"]))
    sentences.append(gettext("Their ticket then counts as used."))
    return render_desk_form(
        form,
        event=event,
        title=gettext("Admit %(name)s?", name=name_slot(slot)),
        lead=" ".join(sentences),
        button=gettext("Admit"),
        back=url_for("desk_guests.show_will_call", event_id=event.id),
    )
