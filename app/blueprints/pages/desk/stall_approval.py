"""The form of an approval: the documents to ask for, the fee, and what the applicant then has to do until when."""

from dataclasses import replace
from typing import Any

from marshmallow import fields
from marshmallow.validate import OneOf

from app.accounts.organisation_details import load_organisation_details
from app.applications import states
from app.applications.calendar import calculate_due_at, find_last_day, format_deadline
from app.applications.carried_documents import list_reusable_documents
from app.applications.document_suggestions import SuggestedKinds, load_chosen_kinds, suggest_kinds
from app.applications.documents import KINDS, LABELS
from app.applications.errors import StallTypeFull
from app.applications.queries import ApplicationRecord
from app.applications.serializers import build_calendar
from app.applications.stall_types import Places
from app.blueprints.pages.desk.form_parts import PAY_BY, VERSION, VersionSchema
from app.blueprints.pages.desk.stall_words import FULL, RISK_LABELS, describe_payment
from app.blueprints.pages.forms import FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.formatting import format_calendar_day
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.campaign_fields import ListOrText
from app.web.fields import Boolean, Choice, Text

WRONG_FEE = lazy_gettext("Enter an amount like 1500 or 1500.50.")


class NotesSchema(VersionSchema):
    reviewer_notes = Text(max=2000)
    risk_level = Choice(*states.RISK_LEVELS)


def build_documents_field() -> ListOrText:
    """A field of the kinds of documents that an approval asks for; none without a tick."""
    return ListOrText(Text(validate=[OneOf(KINDS)]), max=len(KINDS), example=[KINDS[0]], load_default=list)


class ApprovalSchema(NotesSchema):
    documents_required = build_documents_field()
    fee_minor = Amount(data_key="fee")
    pay_by = fields.Date(data_key="payBy")
    override_quota = Boolean(load_default=False)
    reason = Text(max=500)


NOTES = (
    Input(
        "reviewerNotes",
        lazy_gettext("Notes"),
        hint=lazy_gettext("Only people who decide on applications see them."),
        type="textarea",
    ),
    Input(
        "riskLevel",
        lazy_gettext("Risk"),
        hint=lazy_gettext("Only people who decide on applications see it."),
        options=[("", lazy_gettext("Not set")), *RISK_LABELS.items()],
    ),
)
DOCUMENTS = Input(
    "documentsRequired",
    lazy_gettext("Documents to ask for"),
    type="checkboxes",
    options=[(kind, lazy_gettext(label)) for kind, label in LABELS.items()],
)
FEE = Input(
    "fee",
    lazy_gettext("Fee in N$"),
    inputmode="decimal",
    messages={"required": lazy_gettext("Enter a fee."), "invalid_type": WRONG_FEE},
)
APPROVAL = Form(
    ApprovalSchema,
    DOCUMENTS,
    FEE,
    PAY_BY,
    Input(
        "overrideQuota",
        lazy_gettext("Approve although all places are taken"),
        hint=lazy_gettext("This needs a reason."),
        type="checkbox",
        error_codes=(StallTypeFull.code,),
        messages={StallTypeFull.code: FULL},
    ),
    Input(
        "reason",
        lazy_gettext("Your reason"),
        hint=lazy_gettext(
            "Needed for another fee, or for one place more than there are. The applicant does not see it: their mail "
            "has the new fee and the one that they applied with."
        ),
        messages={"required": lazy_gettext("Enter why you set another fee, or approve one place more than there are.")},
    ),
    *NOTES,
    VERSION,
)


def suggest_documents(row: ApplicationRecord) -> SuggestedKinds:
    """The kinds that are ticked at first; those of an application on the waitlist were chosen there."""
    if row["status"] == states.WAITLISTED:
        return SuggestedKinds(row["documents_required"], is_chosen=True)
    return suggest_kinds(load_chosen_kinds(row["event_id"]), row["stall_type"])


def fit_approval(form: FilledForm, event: OwnEvent, row: ApplicationRecord, places: Places | None) -> FilledForm:
    """The form with what is true of the application: which documents are there already, and how and until when the fee
    is paid. The tick for a full stall type is only where it is full. `places` are those of the stall type, if it is listed.
    """
    fitting = {"documentsRequired": _describe_documents(row), "fee": {"hint": _describe_fee(event, row)}}
    inputs = (replace(input_, **fitting.get(name, {})) for name, input_ in APPROVAL.inputs.items())
    fitted = Form(APPROVAL.schema, *inputs)
    if not isinstance(form.error, StallTypeFull) and (places is None or places.left != 0):
        fitted = fitted.without("overrideQuota")
    return replace(form, form=fitted)


def _describe_fee(event: OwnEvent, row: ApplicationRecord) -> str:
    """How the applicant wants to pay, and when the fee is due if the application is approved now."""
    calendar = build_calendar(row)
    due_at = calculate_due_at(states.PAYMENT, calendar, decided_at=calendar.now, scheduled_for=row["scheduled_for"])
    if due_at is None or not row["amount_minor"]:
        return ""
    organisation = load_organisation_details(event.organiser_id)
    shown_row: Any = {**row, "destination": "bank"} if organisation.transfers_only else row
    text = gettext(
        "Due by %(due)s. The applicant has chosen to pay %(payment)s.",
        due=format_deadline(due_at, event.timezone),
        payment=describe_payment(shown_row),
    )
    if organisation.bank is None and shown_row["destination"] == "bank":
        text += " " + gettext("The applicant cannot see where to pay: the settings have no bank details yet.")
    return text


def _describe_documents(row: ApplicationRecord) -> dict[str, Any]:
    """The hint, which says why these documents are ticked, and the options with what is there already."""
    name = row["stall_type"] or gettext("no stall type")
    if row["status"] == states.WAITLISTED:
        hint = gettext("Ticked are those that were chosen for the waitlist.")
    elif suggest_documents(row).is_chosen:
        hint = gettext("Ticked are those of your last approval of this stall type (%(type)s).", type=name)
    else:
        hint = gettext(
            "Ticked are those that stalls usually need, with a food safety certificate if the stall type (%(type)s) names "
            "food or drink. What you choose now is ticked for the next one of this type.",
            type=name,
        )
    present = _list_present(row)
    options = [(kind, gettext(LABELS[kind]) + (f" · {present[kind]}" if kind in present else "")) for kind in KINDS]
    return {"hint": hint, "options": options}


def _list_present(row: ApplicationRecord) -> dict[str, str]:
    """The documents that the applicant need not send again, by kind: sent for this application, or carried over."""
    present = {
        file["kind"]: gettext("there already: %(file)s", file=file["file_name"])
        for file in row["files"]
        if file["kind"] in LABELS
    }
    reusable = list_reusable_documents(row["id"], find_last_day(build_calendar(row)))
    for kind, (reference, expires_on) in reusable.items():
        present[kind] = (
            gettext("there already, from their application %(reference)s", reference=reference)
            if expires_on is None
            else gettext(
                "there already, from their application %(reference)s, valid until %(day)s",
                reference=reference,
                day=format_calendar_day(expires_on),
            )
        )
    return present
