"""Applying for a stall."""

import secrets
from typing import Any

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.applications import invited
from app.applications.errors import ApplicationsClosed
from app.applications.models import Application
from app.core.dates import HOME
from app.core.db import db
from app.core.errors import NotFound, ValidationFailed
from app.core.transaction import transaction
from app.events.models import Event
from app.events.times import payment_time
from app.invitations.actions.links import use_link
from app.merchants.models import MerchantProfile
from app.merchants.row_locks import lock_against_deletion

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


def submit(
    *, caller: Caller | None, event_id: str | None = None, invite_slug: str | None = None, **given: Any
) -> Application:
    """A new application; a signed-in merchant's contact comes from his account where none is given.

    Raises NotFound for an event that the public cannot see, ValidationFailed, ApplicationsClosed, MerchantDeleted, and
    InviteExpired, InviteWithdrawn or InviteUsed for an invitation that no longer stands.
    """
    terms = invited.terms_of(invite_slug) if invite_slug else None
    if terms is not None:
        event_id = _agreed(event_id, terms.event_id)
        given["stall_type"] = given.get("stall_type") or terms.stall_type
        given["amount_minor"] = given["amount_minor"] if terms.fee_minor is None else terms.fee_minor
    event = terms or (_event(event_id) if event_id else None)
    given["scheduled_for"] = payment_time(given["mode"], given.get("scheduled_for"), event.timezone if event else HOME)
    merchant = caller if caller and "merchant" in caller.roles else None
    about = {**given, **_contact(merchant, given)} if merchant else given
    with transaction() as session:
        if merchant is not None:
            lock_against_deletion(session, merchant.id)
        if terms is not None:
            use_link(session, terms.link_id)
        made = Application(reference=_reference(), event_id=event_id, invite_slug=invite_slug, **about)
        made.organiser_id = event.organiser_id if event else None
        session.add(made)
        session.flush()
    return made


def _agreed(event_id: str | None, invited_to: str) -> str:
    if event_id not in (None, invited_to):
        raise ValidationFailed.of("eventId", "unexpected_value", "The invitation is for another event; leave it out.")
    return invited_to


def _event(event_id: str) -> Any:
    """The event, if the public may apply for it; an invitation tells of its own."""
    columns = select(Event.organiser_id, Event.timezone, Event.ends_at <= func.now(), Event.visibility)
    found = db.session.execute(columns.where(Event.id == event_id, Event.public_from <= func.now())).first()
    if found is None:
        raise NotFound()
    if found[2] or found.visibility in ("cancelled", "archived"):
        raise ApplicationsClosed()
    return found


def _contact(caller: Caller, given: dict[str, Any]) -> dict[str, Any]:
    business = select(MerchantProfile.business_name).where(MerchantProfile.account_id == caller.id)
    known = {
        "contact_name": caller.name,
        "email": caller.email,
        "phone": caller.phone,
        "business_name": business.scalar_subquery(),
    }
    return {"account_id": caller.id, **{name: given.get(name) or value for name, value in known.items()}}


def _reference() -> str:
    """Short enough for the telephone: 30^8 of them, none with letters that look alike."""
    return "MA-" + "".join(secrets.choice(ALPHABET) for _ in range(8))
