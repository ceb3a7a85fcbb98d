"""Applying for a stall, with or without an invitation.

The acknowledgement to the applicant is limited for each address, because anybody can type the address of somebody else.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, TypedDict, Unpack

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.applications.drafts import delete_draft
from app.applications.emails import enqueue_email
from app.applications.errors import APPLICATIONS_ENDED, ApplicationsClosed
from app.applications.models import Application, generate_reference
from app.applications.organiser_notes import enqueue_organiser_note
from app.applications.stall_types import StoredTypes, find_stall_type, list_stall_types
from app.core import throttle
from app.core.db import db
from app.core.errors import NotFound, ValidationFailed
from app.core.formatting import HOME, format_money
from app.core.languages import find_page_language
from app.core.throttle import Rule
from app.core.tokens import derive
from app.core.transaction import lock_name, transaction
from app.events.models import Event
from app.events.timezones import to_payment_time
from app.events.visibility import takes_applications
from app.invitations.actions.invites import count_link_use
from app.invitations.queries import ApplicationTerms, get_application_terms
from app.merchants.models import MerchantProfile
from app.merchants.queries import lock_against_deletion

ACKNOWLEDGEMENTS = Rule("application-received", 5, timedelta(days=1))
"""Acknowledgements to one address. Beyond it an application is accepted, and no mail goes out."""
MAILS_PER_EVENT = Rule("application-mails-event", 1000, timedelta(days=1))
"""Acknowledgements and links to saved forms for one event: anybody may type the addresses."""


class RequiredApplicationFields(TypedDict):
    amount_minor: int | None
    destination: str
    mode: str


class ApplicationFields(RequiredApplicationFields, total=False):
    """The fields of an application form.

    `scheduled_for` may be without a time zone. Without `amount_minor` the fee is that of the list, or none.
    """

    scheduled_for: datetime | None
    payrail_msisdn: str | None
    business_name: str | None
    contact_name: str | None
    email: str | None
    phone: str | None
    stall_type: str | None
    products: str | None
    description: str | None
    website: str | None


@dataclass(frozen=True)
class SubmittedApplication:
    """The facts of a new application for its applicant."""

    id: str
    reference: str
    status: str
    amount_minor: int
    version: int


class OpenEvent(NamedTuple):
    """An event that takes applications."""

    organiser_id: str
    timezone: str
    ends_at: datetime
    stall_types: StoredTypes


def submit_application(
    *,
    caller: Caller | None,
    event_id: str | None = None,
    invite_slug: str | None = None,
    form_key: str | None = None,
    draft_token: str | None = None,
    **fields: Unpack[ApplicationFields],
) -> SubmittedApplication:
    """A new application. For a signed-in merchant, missing contact fields come from the account.

    The applicant gets an acknowledgement and the organiser a note. `form_key` belongs to one form of a page: the same
    form again returns the same application. `draft_token` is that of the draft which the application ends.

    Raises NotFound for an event that is not public, ValidationFailed, ApplicationsClosed, MerchantDeleted, and for an
    invitation that cannot be used InviteExpired, InviteWithdrawn or InviteUsed.
    """
    terms = _get_invite_terms(invite_slug) if invite_slug else None
    if terms is not None:
        event_id = _resolve_event_id(event_id, terms.event_id)
        fields["stall_type"] = terms.stall_type or fields.get("stall_type")
        fields["amount_minor"] = fields["amount_minor"] if terms.fee_minor is None else terms.fee_minor
    event = terms or (_get_open_event(event_id) if event_id else None)
    fields["scheduled_for"] = to_payment_time(
        fields["mode"], fields.get("scheduled_for"), event.timezone if event else HOME
    )
    if event is not None and fields["scheduled_for"] is not None and fields["scheduled_for"] > event.ends_at:
        raise ValidationFailed.of("scheduledFor", "too_large", "Must be before the event is over.")
    merchant = caller if caller and "merchant" in caller.roles else None
    contact = _build_contact(merchant, fields) if merchant else {}
    with transaction() as session:
        if merchant is not None:
            lock_against_deletion(session, merchant.id)
        earlier = _find_earlier_application(session, form_key, event_id) if form_key else None
        if earlier is not None:
            return _build_result(earlier)
        if event is not None and event.stall_types:
            _apply_stall_type(_lock_stall_types(session, event_id), fields, terms)
        fields["amount_minor"] = fields["amount_minor"] or 0
        if terms is not None:
            count_link_use(session, terms.link_id)
        application = Application(
            reference=_build_reference(form_key),
            event_id=event_id,
            invite_slug=invite_slug,
            language=find_page_language(),
            **{**fields, **contact},
        )
        application.organiser_id = event.organiser_id if event else None
        session.add(application)
        session.flush()
        if draft_token:
            delete_draft(session, draft_token)
        if event_id is not None:
            _acknowledge(session, application)
            enqueue_organiser_note(event_id, application.created_at)
        return _build_result(application)


def _acknowledge(session: OrmSession, application: Application) -> None:
    """Mails the applicant that the application has arrived, unless address or event had too many of these mails today."""
    if application.email is None:
        return
    limits = [(ACKNOWLEDGEMENTS, application.email)]
    if application.event_id is not None:
        limits.append((MAILS_PER_EVENT, application.event_id))
    if not any(status.exceeded for status in throttle.hit_all(session, *limits)):
        enqueue_email("application_received", application)


def find_submitted_form(*, form_key: str, event_id: str) -> SubmittedApplication | None:
    """The application that this form has made already, for a form that is sent twice."""
    with transaction() as session:
        application = _find_earlier_application(session, form_key, event_id)
        return _build_result(application) if application else None


def _find_earlier_application(session: OrmSession, form_key: str, event_id: str | None) -> Application | None:
    """The application that was made with the same form; another request with it waits until this transaction ends."""
    lock_name(session, f"application-form:{form_key}")
    return session.scalar(
        select(Application).where(Application.reference == _build_reference(form_key), Application.event_id == event_id)
    )


def _build_result(application: Application) -> SubmittedApplication:
    return SubmittedApplication(
        application.id, application.reference, application.status, application.amount_minor, application.version
    )


def _lock_stall_types(session: OrmSession, event_id: str | None) -> StoredTypes:
    """The stall types of the event, which do not change until the transaction ends."""
    statement = select(Event.stall_types).where(Event.id == event_id)
    return session.scalars(statement.with_for_update(read=True, key_share=True)).one()


def _apply_stall_type(stored_types: StoredTypes, fields: ApplicationFields, terms: ApplicationTerms | None) -> None:
    """Takes the name of the event's list of stall types; without a list every type and amount will do.

    Raises ValidationFailed for a type that is not in the list, unless the invitation says the type, and for another
    amount than its fee, unless the invitation says the fee.
    """
    is_fee_agreed = terms is not None and terms.fee_minor is not None
    if not stored_types or (is_fee_agreed and not fields.get("stall_type")):
        return
    listed = find_stall_type(stored_types, fields.get("stall_type"))
    if listed is None and terms is not None and terms.stall_type:
        return
    if listed is None:
        names = ", ".join(stall_type.name for stall_type in list_stall_types(stored_types))
        raise ValidationFailed.of(
            "stallType", "unknown_value", f"Choose one of the stall types of this event: {names}."
        )
    fields["stall_type"] = listed.name
    if fields["amount_minor"] is None:
        fields["amount_minor"] = listed.fee_minor
    if not is_fee_agreed and fields["amount_minor"] != listed.fee_minor:
        message = f"The fee of this stall type is {format_money(listed.fee_minor)}: amountMinor {listed.fee_minor}."
        raise ValidationFailed.of("amountMinor", "wrong_fee", message)


def _resolve_event_id(event_id: str | None, invite_event_id: str) -> str:
    if event_id not in (None, invite_event_id):
        raise ValidationFailed.of("eventId", "unexpected_value", "The invitation is for another event; leave it out.")
    return invite_event_id


def _get_open_event(event_id: str) -> OpenEvent:
    """A public event that is not over and takes applications. Raises NotFound, ApplicationsClosed."""
    event_query = select(
        Event.organiser_id,
        Event.timezone,
        Event.ends_at,
        Event.stall_types,
        Event.ends_at <= func.now(),
        takes_applications(),
        Event.visibility,
    )
    row = db.session.execute(event_query.where(Event.id == event_id, Event.public_from <= func.now())).first()
    if row is None:
        raise NotFound()
    organiser_id, timezone, ends_at, stall_types, is_over, is_open, visibility = row
    if is_over or visibility in ("cancelled", "archived"):
        raise ApplicationsClosed()
    if not is_open:
        raise ApplicationsClosed(APPLICATIONS_ENDED)
    return OpenEvent(organiser_id, timezone, ends_at, stall_types)


def _build_contact(caller: Caller, fields: ApplicationFields) -> dict[str, object]:
    """The columns of the applicant: the values in the form, else those of the caller's account."""
    business_name_query = select(MerchantProfile.business_name).where(MerchantProfile.account_id == caller.id)
    return {
        "account_id": caller.id,
        "contact_name": fields.get("contact_name") or caller.name,
        "email": fields.get("email") or caller.email,
        "phone": fields.get("phone") or caller.phone,
        "business_name": fields.get("business_name") or business_name_query.scalar_subquery(),
    }


def _build_reference(form_key: str | None) -> str:
    """A reference: always the same one for a form, else a random one."""
    return generate_reference(derive("application-form", form_key) if form_key else None)


def _get_invite_terms(slug: str) -> ApplicationTerms:
    """The terms of an invite link. Raises ValidationFailed for an unknown slug, InviteExpired, InviteWithdrawn,
    InviteUsed."""
    try:
        return get_application_terms(slug)
    except NotFound as error:
        message = "There is no invitation of that name."
        raise ValidationFailed.of("inviteSlug", "unknown_value", message) from error
