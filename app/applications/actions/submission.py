"""Applying for a stall.

What the invitation behind an application says: the event, and the terms that come with it.
"""

import secrets
from typing import Any

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.applications.errors import ApplicationsClosed
from app.applications.models import Application
from app.core.date_format import HOME
from app.core.db import db
from app.core.errors import NotFound, ValidationFailed
from app.core.transaction import transaction
from app.events.models import Event
from app.events.time_conversion import to_payment_time
from app.invitations.actions.invite_links import count_link_use
from app.invitations.queries import ApplicationTerms, get_application_terms
from app.merchants.models import MerchantProfile
from app.merchants.row_locks import lock_against_deletion

REFERENCE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


def submit_application(
    *, caller: Caller | None, event_id: str | None = None, invite_slug: str | None = None, **fields: Any
) -> Application:
    """A new application; a signed-in merchant's contact comes from their account where none is given.

    Raises NotFound for an event that the public cannot see, ValidationFailed, ApplicationsClosed, MerchantDeleted, and
    InviteExpired, InviteWithdrawn or InviteUsed for an invitation that no longer stands.
    """
    terms = _get_invite_terms(invite_slug) if invite_slug else None
    if terms is not None:
        event_id = _resolve_event_id(event_id, terms.event_id)
        fields["stall_type"] = fields.get("stall_type") or terms.stall_type
        fields["amount_minor"] = fields["amount_minor"] if terms.fee_minor is None else terms.fee_minor
    event = terms or (_get_open_event(event_id) if event_id else None)
    fields["scheduled_for"] = to_payment_time(
        fields["mode"], fields.get("scheduled_for"), event.timezone if event else HOME
    )
    merchant = caller if caller and "merchant" in caller.roles else None
    values = {**fields, **_build_contact(merchant, fields)} if merchant else fields
    with transaction() as session:
        if merchant is not None:
            lock_against_deletion(session, merchant.id)
        if terms is not None:
            count_link_use(session, terms.link_id)
        application = Application(reference=_generate_reference(), event_id=event_id, invite_slug=invite_slug, **values)
        application.organiser_id = event.organiser_id if event else None
        session.add(application)
        session.flush()
    return application


def _resolve_event_id(event_id: str | None, invite_event_id: str) -> str:
    if event_id not in (None, invite_event_id):
        raise ValidationFailed.of("eventId", "unexpected_value", "The invitation is for another event; leave it out.")
    return invite_event_id


def _get_open_event(event_id: str) -> Any:
    """The event, if the public may apply for it; an invitation tells of its own."""
    event_query = select(Event.organiser_id, Event.timezone, Event.ends_at <= func.now(), Event.visibility)
    event = db.session.execute(event_query.where(Event.id == event_id, Event.public_from <= func.now())).first()
    if event is None:
        raise NotFound()
    if event[2] or event.visibility in ("cancelled", "archived"):
        raise ApplicationsClosed()
    return event


def _build_contact(caller: Caller, fields: dict[str, Any]) -> dict[str, Any]:
    business_name_query = select(MerchantProfile.business_name).where(MerchantProfile.account_id == caller.id)
    account_values = {
        "contact_name": caller.name,
        "email": caller.email,
        "phone": caller.phone,
        "business_name": business_name_query.scalar_subquery(),
    }
    return {"account_id": caller.id, **{name: fields.get(name) or value for name, value in account_values.items()}}


def _generate_reference() -> str:
    """Short enough for the telephone: 30^8 of them, none with letters that look alike."""
    return "MA-" + "".join(secrets.choice(REFERENCE_ALPHABET) for _ in range(8))


def _get_invite_terms(slug: str) -> ApplicationTerms:
    """The terms of an invite link. Raises ValidationFailed for an unknown slug, InviteExpired, InviteWithdrawn, InviteUsed."""
    try:
        return get_application_terms(slug)
    except NotFound as error:
        message = "There is no invitation of that name."
        raise ValidationFailed.of("inviteSlug", "unknown_value", message) from error
