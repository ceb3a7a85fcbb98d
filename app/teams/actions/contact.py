"""The public contact address of an organisation: it counts from when its mailbox has confirmed it by a link."""

from datetime import timedelta
from typing import NamedTuple

from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.models import OrganiserProfile
from app.accounts.outgoing_mail import count_mails, enqueue_notice, load_sender
from app.accounts.permissions import ORGANISER
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.addresses import mask_address
from app.core.cache_invalidation import invalidate
from app.core.db import db
from app.core.errors import LinkExpired, NotFound, Throttled
from app.core.languages import get_language
from app.core.outbox import enqueue
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events.actions.event_actions import CATALOGUE
from app.teams.contact_links import parse_contact_token
from app.teams.queries import Team, find_owner_id

CONTACT_MAILS = Rule("contact-mails", 5, timedelta(days=1))
"""Links to new contact addresses of an organisation, which go to people who did not ask for them."""


class ContactRequest(NamedTuple):
    """What a link confirms: the name of the organisation and the address, and whether it is confirmed."""

    organisation: str
    email: str
    is_confirmed: bool


def plan_contact(
    session: Session, caller: Caller, profile: OrganiserProfile, email: str | None
) -> dict[str, str | None]:
    """The columns for a new contact address. The caller's own counts at once, another one gets a mail with the link.

    An address that waits for its confirmation gets no second mail. Raises SenderNotVerified, MailLimitReached, Throttled.
    """
    if email is not None and email == profile.pending_contact_email:
        return {}
    if email == profile.contact_email:
        return {"pending_contact_email": None}
    if email is None or (email == caller.email and caller.email_verified):
        return {"contact_email": email, "pending_contact_email": None}
    _send_link(session, profile.account_id, email)
    return {"pending_contact_email": email}


def resend_contact_link(organisation: Team) -> None:
    """Mail the link of the address that waits for its confirmation again; the earlier one works too.

    Raises NotFound if none waits, SenderNotVerified, MailLimitReached, Throttled.
    """
    with transaction() as session:
        profile = session.get(OrganiserProfile, organisation.id, with_for_update=True, populate_existing=True)
        if profile is None or profile.pending_contact_email is None:
            raise NotFound()
        _send_link(session, profile.account_id, profile.pending_contact_email)


def _send_link(session: Session, organisation_id: str, email: str) -> None:
    """Raises SenderNotVerified, MailLimitReached, Throttled."""
    hits = throttle.hit(session, CONTACT_MAILS, organisation_id)
    if hits.exceeded:
        raise Throttled(retry_after=hits.seconds)
    count_mails(session, load_sender(session, organisation_id), [email])
    enqueue("teams.mail_contact", organisation_id=organisation_id, email=email, language=get_language())


def announce_contact(session: Session, profile: OrganiserProfile) -> None:
    """Tell the owner where people write now, and renew the pages that show it."""
    owner_id = find_owner_id(session, Team(ORGANISER, profile.account_id))
    enqueue_notice("contact_changed", owner_id, organisation=profile.org_name, contact=profile.contact_email)
    invalidate(session, CATALOGUE)


def find_contact_request(token: str) -> ContactRequest:
    """What the link confirms. Raises NotFound, LinkExpired if the organisation has chosen another address since."""
    organisation_id, email = parse_contact_token(token)
    profile = db.session.get(OrganiserProfile, organisation_id)
    if profile is None:
        raise NotFound()
    if email not in (profile.pending_contact_email, profile.contact_email):
        raise LinkExpired()
    return ContactRequest(profile.org_name, email, email == profile.contact_email)


def confirm_contact(*, token: str) -> ContactRequest:
    """Makes the address of the link the public contact; a second time nothing changes. Raises NotFound, LinkExpired."""
    organisation_id, email = parse_contact_token(token)
    with transaction() as session:
        profile = session.get(OrganiserProfile, organisation_id, with_for_update=True, populate_existing=True)
        if profile is None:
            raise NotFound()
        if profile.pending_contact_email == email:
            profile.contact_email, profile.pending_contact_email = email, None
            record(
                session,
                Action.ORGANISATION_CHANGED,
                organisation_id=organisation_id,
                subject=organisation_id,
                data={"contact_email": mask_address(email)},
            )
            announce_contact(session, profile)
        elif profile.contact_email != email:
            raise LinkExpired()
        return ContactRequest(profile.org_name, email, True)
