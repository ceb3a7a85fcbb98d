"""The form of an approval: the documents to ask for, the fee, and what the applicant then has to do until when."""

from dataclasses import replace

from app.applications import states
from app.applications.calendar import calculate_due_at, find_last_day, format_deadline
from app.applications.carried_documents import list_reusable_documents
from app.applications.document_suggestions import SuggestedKinds, load_chosen_kinds, suggest_kinds
from app.applications.documents import KINDS
from app.applications.errors import StallTypeFull
from app.applications.queries import ApplicationRecord
from app.applications.serializers import build_calendar
from app.applications.stall_types import find_stall_type, list_places
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.stall_words import FULL, RISK_LABELS, describe_payment
from app.blueprints.pages.forms import FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.formatting import format_calendar_day
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.fields import Boolean, Choice, Text
from app.web.schema import to_camel_case

ASK_LABELS = {
    "identity": lazy_gettext("Ask for: identity document"),
    "business_registration": lazy_gettext("Ask for: business registration"),
    "tax_clearance": lazy_gettext("Ask for: tax clearance certificate"),
    "food_safety": lazy_gettext("Ask for: food safety certificate"),
}
WRONG_FEE = lazy_gettext("Enter an amount like 1500 or 1500.50.")


class NotesSchema(VersionSchema):
    reviewer_notes = Text(max=2000)
    risk_level = Choice(*states.RISK_LEVELS)


class ApprovalSchema(NotesSchema):
    identity = Boolean(load_default=False)
    business_registration = Boolean(load_default=False)
    tax_clearance = Boolean(load_default=False)
    food_safety = Boolean(load_default=False)
    fee_minor = Amount(data_key="fee")
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
FEE = Input(
    "fee",
    lazy_gettext("Fee in N$"),
    inputmode="decimal",
    messages={"required": lazy_gettext("Enter a fee."), "invalid_type": WRONG_FEE},
)
APPROVAL = Form(
    ApprovalSchema,
    *(Input(to_camel_case(kind), ASK_LABELS[kind], type="checkbox") for kind in KINDS),
    FEE,
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
            "Needed for another fee, or for one place more than there are. The applicant does not see it."
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


def describe_approval(event: OwnEvent, row: ApplicationRecord) -> str:
    """Why these documents are ticked, and how and until when the fee is paid after an approval now."""
    stall_type = row["stall_type"] or gettext("no stall type")
    if row["status"] == states.WAITLISTED:
        documents = gettext("Ticked are the documents that were chosen for the waitlist.")
    elif suggest_documents(row).is_chosen:
        documents = gettext(
            "Ticked are the documents of your last approval of this stall type (%(type)s).", type=stall_type
        )
    else:
        documents = gettext("Ticked are the documents that this stall type needs (%(type)s).", type=stall_type)
    if not row["amount_minor"]:
        return documents
    calendar = build_calendar(row)
    due_at = calculate_due_at(states.PAYMENT, calendar, decided_at=calendar.now, scheduled_for=row["scheduled_for"])
    assert due_at is not None
    payment = gettext(
        "The fee is due by %(due)s. Chosen by the applicant: %(payment)s.",
        due=format_deadline(due_at, event.timezone),
        payment=describe_payment(row),
    )
    return f"{documents} {payment}"


def fit_approval(form: FilledForm, event: OwnEvent, row: ApplicationRecord) -> FilledForm:
    """The form with the documents that are there already, and the tick for a full stall type only where it is full."""
    hints = {to_camel_case(kind): hint for kind, hint in _describe_documents(event, row).items()}
    inputs = (replace(input_, hint=hints.get(name, input_.hint)) for name, input_ in APPROVAL.inputs.items())
    fitted = Form(APPROVAL.schema, *inputs)
    if not isinstance(form.error, StallTypeFull) and not _is_full(event, row):
        fitted = fitted.without("overrideQuota")
    return replace(form, form=fitted)


def _describe_documents(event: OwnEvent, row: ApplicationRecord) -> dict[str, str]:
    """The documents that the applicant need not send again, by kind: sent for this application, or carried over."""
    last_day = find_last_day(build_calendar(row))
    documents = {document["kind"]: document for document in row["files"]}
    hints = {
        kind: gettext("There already: %(file)s", file=documents[kind]["file_name"])
        for kind in KINDS
        if kind in documents
    }
    for kind, (reference, expires_on) in list_reusable_documents(row["id"], last_day).items():
        hints[kind] = (
            gettext("There already, from their application %(reference)s.", reference=reference)
            if expires_on is None
            else gettext(
                "There already, from their application %(reference)s, valid until %(day)s.",
                reference=reference,
                day=format_calendar_day(expires_on),
            )
        )
    return hints


def _is_full(event: OwnEvent, row: ApplicationRecord) -> bool:
    """Whether all places of the stall type that the application is for are taken."""
    listed = find_stall_type(event.stall_types, row["stall_type"])
    if listed is None or listed.quantity is None:
        return False
    places = list_places(event.id, event.stall_types)
    return any(place.taken >= listed.quantity for place in places if place.name == listed.name)
