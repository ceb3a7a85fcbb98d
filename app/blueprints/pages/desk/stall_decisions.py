"""The decision about one application, as forms: approve, decline, waitlist, revise, another fee, new links."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from flask import Response, url_for
from flask.typing import ResponseReturnValue
from marshmallow import fields

from app.accounts.caller import Caller
from app.applications import actions, states
from app.applications.errors import StallTypeFull
from app.applications.queries import ApplicationRecord
from app.applications.stall_types import Places, fold_name, list_places
from app.blueprints.pages.desk.form_parts import PAY_BY, VERSION, WRONG_NUMBER, VersionSchema, format_amount
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk, render_desk_form
from app.blueprints.pages.desk.stall_approval import (
    APPROVAL,
    FEE,
    NOTES,
    NotesSchema,
    fit_approval,
    suggest_documents,
)
from app.blueprints.pages.desk.stall_words import LINK_LABELS, reword
from app.blueprints.pages.desk.stalls import DECIDE, blueprint, get_event_application
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.clock import rfc3339
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext, ngettext
from app.events.queries import OwnEvent
from app.web.fields import Choice, Text, WholeNumber
from app.web.schema import Query
from app.web.text_fields import EmailText

MAX_RANK = 100_000


class RefusalSchema(NotesSchema):
    decline_reason = EmailText(max=1000)


class RevisionSchema(VersionSchema):
    reason = Text(required=True, max=500)


class RevisedRefusalSchema(RefusalSchema, RevisionSchema):
    pass


class FeeSchema(RevisionSchema):
    fee_minor = Amount(data_key="fee", required=True)
    pay_by = fields.Date(data_key="payBy")


class WaitlistSchema(NotesSchema):
    waitlist_rank = WholeNumber(min=1, max=MAX_RANK)


class LinkSchema(Query):
    purpose = Choice(*states.PURPOSES, required=True)


REASON = Input(
    "reason",
    lazy_gettext("Your reason"),
    hint=lazy_gettext("It is kept with the decision. The applicant does not see it."),
    messages={"required": lazy_gettext("Enter a reason.")},
)
DECLINE_REASON = Input(
    "declineReason",
    lazy_gettext("What the applicant reads"),
    hint=lazy_gettext("It is part of the mail. Leave out web addresses."),
    type="textarea",
)


@dataclass(frozen=True)
class Decision:
    """A decision: its words, its form, and the decision of the action. `changed` is the one that it revises."""

    title: str
    lead: str
    button: str
    done: str
    form: Form
    decision: str
    changed: str | None = None


DECISIONS = {
    "approve": Decision(
        lazy_gettext("Approve"),
        lazy_gettext(
            "The applicant gets one mail with what they have to do: send documents, pay the fee, open their account."
        ),
        lazy_gettext("Approve"),
        lazy_gettext("The application is approved. The applicant gets a mail."),
        APPROVAL,
        states.APPROVED,
    ),
    "decline": Decision(
        lazy_gettext("Decline"),
        lazy_gettext("The applicant gets a mail. You can take this back later."),
        lazy_gettext("Decline"),
        lazy_gettext("The application is declined. The applicant gets a mail."),
        Form(RefusalSchema, DECLINE_REASON, *NOTES, VERSION),
        states.DECLINED,
    ),
    "waitlist": Decision(
        lazy_gettext("Put on the waitlist"),
        lazy_gettext(
            "When a place is free, the next in line gets an offer by mail. Your order comes first, then the time "
            "of the application."
        ),
        lazy_gettext("Put on the waitlist"),
        lazy_gettext("The application is on the waitlist."),
        Form(
            WaitlistSchema,
            Input(
                "waitlistRank",
                lazy_gettext("Place in line"),
                hint=lazy_gettext("1 is first. Empty: by the time of the application."),
                inputmode="numeric",
                messages={"invalid_type": WRONG_NUMBER},
            ),
            *NOTES,
            VERSION,
        ),
        states.WAITLISTED,
    ),
    "revoke": Decision(
        lazy_gettext("Take the approval back"),
        lazy_gettext(
            "The application is declined, its links end, and a stall that takes part ends. Not possible once the fee "
            "is paid."
        ),
        lazy_gettext("Decline"),
        lazy_gettext("The application is declined. The applicant gets a mail."),
        Form(RevisedRefusalSchema, REASON, DECLINE_REASON, *NOTES, VERSION),
        states.DECLINED,
        changed=states.APPROVED,
    ),
    "reopen": Decision(
        lazy_gettext("Decide again"),
        lazy_gettext(
            "The application waits for a decision again. The applicant then has to hand in their documents again. "
            "No mail is sent."
        ),
        lazy_gettext("Take it back"),
        lazy_gettext("The application waits for a decision again."),
        Form(RevisionSchema, REASON, VERSION),
        states.SUBMITTED,
        changed=states.DECLINED,
    ),
    "fee": Decision(
        lazy_gettext("Change the fee"),
        lazy_gettext("The applicant gets a mail with what is due. Not possible once the fee is paid."),
        lazy_gettext("Save"),
        lazy_gettext("The fee is changed. The applicant gets a mail."),
        Form(FeeSchema, FEE, replace(PAY_BY, hint=lazy_gettext("Empty: as it is.")), REASON, VERSION),
        states.APPROVED,
        changed=states.APPROVED,
    ),
}
LINK = Form(LinkSchema, Input("purpose", lazy_gettext("Link for"), options=list(LINK_LABELS.items())))


@blueprint.page("/<application_id>/decide/<name>", access=DECIDE)
def confirm_decision(caller: Caller, event_id: str, application_id: str, name: str) -> ResponseReturnValue:
    """Show the form of a decision."""
    event, row = get_event_application(caller, event_id, application_id)
    return _render(event, row, _get_decision(name, row), _fill(_get_decision(name, row), row))


@blueprint.act("/<application_id>/decide/<name>", access=DECIDE)
def decide(caller: Caller, event_id: str, application_id: str, name: str) -> ResponseReturnValue:
    """Decide, unless somebody else has changed the application since the form was opened."""
    event, row = get_event_application(caller, event_id, application_id)
    decision = _find_decision(name)
    form = decision.form.from_request()

    def act() -> str:
        _get_decision(name, row)
        values = form.load()
        version = values.pop("version")
        actions.decide_application(
            caller, application_id, decision=decision.decision, expected_version=version, **values
        )
        return ""

    try:
        do_once(caller, act)
    except FORM_ERRORS as error:
        return _render(
            event, row, decision, form.with_error(error if isinstance(error, StallTypeFull) else reword(error))
        )
    return go_to(_build_back(event, row), str(decision.done))


@blueprint.page("/<application_id>/links", access=DECIDE)
def offer_link(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Ask for which step to make a link."""
    event, row = get_event_application(caller, event_id, application_id)
    return _render_link(event, row, LINK.fill(purpose=_find_next_purpose(row)))


@blueprint.act("/<application_id>/links", access=DECIDE)
def send_link(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Make a link in place of the old one, mail it, and show it."""
    event, row = get_event_application(caller, event_id, application_id)
    form = LINK.from_request()
    try:
        link_text = do_once(
            caller,
            lambda: json.dumps(asdict(actions.send_link(caller, application_id, **form.load())), default=rfc3339),
        )
    except FORM_ERRORS as error:
        return _render_link(event, row, form.with_error(reword(error)))
    link = json.loads(link_text)
    link["expires_at"] = datetime.fromisoformat(link["expires_at"])
    return render_desk("desk/stall_link.html", event=event, link=link, row=row, back=_build_back(event, row))


def _get_decision(name: str, row: ApplicationRecord) -> Decision:
    """A decision by its name. Raises NotFound, also where it would revise another decision than there is."""
    decision = _find_decision(name)
    if decision.changed is not None and row["decision"] != decision.changed:
        raise NotFound()
    return decision


def _find_decision(name: str) -> Decision:
    if name not in DECISIONS:
        raise NotFound()
    return DECISIONS[name]


def _fill(decision: Decision, row: ApplicationRecord) -> FilledForm:
    kinds = suggest_documents(row).kinds if decision.form is APPROVAL else ()
    values = {
        "documentsRequired": ",".join(kinds),
        "fee": format_amount(row["amount_minor"]),
        "waitlistRank": str(row["waitlist_rank"] or ""),
        "reviewerNotes": row["reviewer_notes"] or "",
        "riskLevel": row["risk_level"] or "",
        "declineReason": row["decline_reason"] or "",
        "version": str(row["version"]),
    }
    return decision.form.fill(**{name: value for name, value in values.items() if name in decision.form.inputs})


def _find_next_purpose(row: ApplicationRecord) -> str:
    by_status = {
        states.AWAITING_DOCUMENTS: states.DOCUMENTS,
        states.ACTIVATED: states.DOCUMENTS,
        states.READY: states.ACTIVATION,
    }
    return by_status.get(row["status"], states.PAYMENT)


def _build_back(event: OwnEvent, row: ApplicationRecord) -> str:
    return url_for("desk_stalls.show_application", event_id=event.id, application_id=row["id"])


def _render(event: OwnEvent, row: ApplicationRecord, decision: Decision, form: FilledForm) -> Response:
    lead = str(decision.lead)
    takes_place = decision.form is APPROVAL or decision.decision == states.WAITLISTED
    places = _find_places(event, row) if takes_place else None
    if decision.form is APPROVAL:
        form = fit_approval(form, event, row, places)
        if places and places.quantity is not None:
            lead = f"{_describe_taken_places(places)} {lead}"
    elif decision.decision == states.WAITLISTED and places and places.left:
        lead = f"{_describe_free_places(places.left)} {lead}"
    return render_desk_form(
        form,
        event=event,
        title=f"{decision.title}: {row['business_name'] or row['reference']}",
        lead=lead,
        button=decision.button,
        back=_build_back(event, row),
    )


def _find_places(event: OwnEvent, row: ApplicationRecord) -> Places | None:
    """The stall type of the application with its places; None for one that the event does not list."""
    key = fold_name(row["stall_type"])
    return next((places for places in list_places(event.id, event.stall_types) if places.key == key), None)


def _describe_taken_places(places: Places) -> str:
    return gettext(
        "%(stall_type)s: %(taken)s of %(quantity)s places are taken.",
        stall_type=places.name,
        taken=places.taken,
        quantity=places.quantity,
    )


def _describe_free_places(count: int) -> str:
    return ngettext(
        "%(num)s place is free now: the next in line gets an offer of it by mail within a minute.",
        "%(num)s places are free now: the next in line get offers by mail within a minute.",
        count,
    )


def _render_link(event: OwnEvent, row: ApplicationRecord, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("New link for %(name)s", name=row["business_name"] or row["reference"]),
        lead=gettext("The new link replaces the old one. The applicant gets it by mail, and you see it here."),
        button=gettext("Make the link"),
        back=_build_back(event, row),
    )
