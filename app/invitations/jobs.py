"""Mail of invitations, and how they forget a merchant."""

from typing import Any

from sqlalchemy import RowMapping, case, select, update
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts.models import Account
from app.accounts.outgoing_mail import send_for_account
from app.clients.letters import letter
from app.core.db import db
from app.core.jobs import Delivery, Run, job
from app.events.models import Event
from app.invitations.conditions import invite_status, link_state
from app.invitations.models import EventInvite, InviteLink
from app.invitations.queries import OF_EVENT
from app.invitations.slugs import INVITE, url_of
from app.invitations.states import ACCEPTED, ANSWERS, OPEN, PENDING, WITHDRAWN
from app.invitations.words import day_and_time, money
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted
from app.merchants.models import MerchantProfile

Organiser = aliased(Account)


@job("invitations.mail_invite", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_invite(run: Run, *, invite_id: str) -> None:
    """Tells a merchant that he is invited, or that he takes part already because he accepts by himself."""
    found = _invite(invite_id)
    if found is None or found["status_now"] not in (PENDING, ACCEPTED):
        return
    template = "event_invite" if found["status_now"] == PENDING else "event_joined"
    mail = letter(
        template,
        to=found["merchant_email"],
        key=run.key,
        sender_name=found["organiser_name"],
        reply_to=found["organiser_email"],
        name=found["merchant_name"],
        url=url_of(invite_id, INVITE),
        **_told(found),
    )
    send_for_account(found["organiser_id"], mail, run=run)


@job("invitations.mail_link", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_link(run: Run, *, link_id: str) -> None:
    """Mails a link to the address it was made for, if it still counts."""
    statement = (
        select(
            InviteLink,
            link_state().label("state"),
            Organiser.id.label("organiser_id"),
            Organiser.email.label("organiser_email"),
            *OF_EVENT,
        )
        .join(Event, Event.id == InviteLink.event_id)
        .join(Organiser, Organiser.id == Event.organiser_id)
        .where(InviteLink.id == link_id)
    )
    found = db.session.execute(statement).mappings().first()
    if found is None or found["state"] != OPEN or found["InviteLink"].email is None:
        return
    link: InviteLink = found["InviteLink"]
    mail = letter(
        "merchant_invite",
        to=link.email or "",
        key=run.key,
        sender_name=found["organiser_name"],
        reply_to=found["organiser_email"],
        name=link.business_name or "",
        url=url_of(link.id),
        **_told({**found, **{name: getattr(link, name) for name in TERMS}}),
    )
    send_for_account(found["organiser_id"], mail, run=run)


@job("invitations.mail_answer", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_answer(run: Run, *, invite_id: str) -> None:
    """Tells the organiser how a merchant has answered."""
    found = _invite(invite_id)
    if found is None or found["status_now"] not in ANSWERS:
        return
    mail = letter(
        "invite_answered",
        to=found["organiser_email"],
        key=run.key,
        name=found["organiser_own_name"],
        accepted=found["status_now"] == ACCEPTED,
        business=found["business_name"] or "A merchant",
        event=found["event_name"],
        reply=(found["reply"] or "").splitlines(),
    )
    send_for_account(found["merchant_id"], mail, run=run, already_counted=False)


@on_merchant_deleted
def erase_answers(session: OrmSession, leaving: MerchantDeletion) -> None:
    """Withdraws what is open, and erases what the merchant wrote."""
    session.execute(
        update(EventInvite)
        .where(EventInvite.merchant_id == leaving.account_id)
        .values(reply=None, status=case((EventInvite.status == PENDING, WITHDRAWN), else_=EventInvite.status))
        .execution_options(synchronize_session=False)
    )


TERMS = ("message", "stall_type", "fee_minor", "expires_at")


def _invite(invite_id: str) -> RowMapping | None:
    statement = (
        select(
            *(getattr(EventInvite, name) for name in (*TERMS, "reply")),
            invite_status().label("status_now"),
            Account.email.label("merchant_email"),
            Account.name.label("merchant_name"),
            MerchantProfile.business_name,
            Organiser.email.label("organiser_email"),
            Organiser.name.label("organiser_own_name"),
            Organiser.id.label("organiser_id"),
            EventInvite.merchant_id,
            *OF_EVENT,
        )
        .join(Event, Event.id == EventInvite.event_id)
        .join(Account, Account.id == EventInvite.merchant_id)
        .join(Organiser, Organiser.id == Event.organiser_id)
        .outerjoin(MerchantProfile, MerchantProfile.account_id == Account.id)
        .where(EventInvite.id == invite_id)
    )
    return db.session.execute(statement).mappings().first()


def _told(found: Any) -> dict[str, Any]:
    """What each invitation says of event and terms."""
    return {
        "organiser": found["organiser_name"],
        "event": found["event_name"],
        "place": f"{found['venue']}, {found['city']}",
        "when": day_and_time(found["starts_at"], found["timezone"]),
        "until": day_and_time(found["expires_at"], found["timezone"]),
        "stall": found["stall_type"] or "",
        "fee": "" if found["fee_minor"] is None else money(found["fee_minor"]),
        "lines": (found["message"] or "").splitlines(),
    }
