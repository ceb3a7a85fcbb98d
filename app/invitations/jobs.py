"""Jobs that mail invitations, invite links and answers, and the erasure of a deleted merchant's answers."""

from datetime import datetime
from typing import TypedDict

from sqlalchemy import RowMapping, case, select, update
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts.languages import find_account_language
from app.accounts.models import Account
from app.accounts.organisation_details import contact_sql
from app.accounts.outgoing_mail import send_for_organisation, send_for_team
from app.accounts.permissions import MERCHANT
from app.accounts.queries import find_account_by_email, owner_id_sql
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.core.db import db, release_connection
from app.core.formatting import format_money, format_time
from app.core.jobs import Delivery, Run, job
from app.core.languages import use_language
from app.events.models import Event
from app.invitations.models import EventInvite, InviteLink
from app.invitations.queries import EVENT_COLUMNS, INVITE_KIND, build_invite_url
from app.invitations.sql import invite_status_sql, link_state_sql
from app.invitations.states import ACCEPTED, ANSWERS, OPEN, PENDING, WITHDRAWN
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted
from app.merchants.models import MerchantProfile
from app.merchants.notifications import may_send

Organiser = aliased(Account)


class InvitationText(TypedDict):
    """The event and the terms as the mail templates show them."""

    organiser: str
    event: str
    place: str
    when: str
    until: str
    stall: str
    fee: str
    lines: list[str]


@job("invitations.mail_invite", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_invite_email(run: Run, *, invite_id: str) -> None:
    """Mails a merchant that they are invited, or that they take part because they accept automatically."""
    invite = _find_invite(invite_id)
    if invite is None or invite["current_status"] not in (PENDING, ACCEPTED):
        return
    template = "event_invite" if invite["current_status"] == PENDING else "event_joined"
    if not may_send(template, invite["merchant_email"]):
        return
    message = render_email(
        template,
        to=invite["merchant_email"],
        key=run.key,
        sender_name=invite["organiser_name"],
        reply_to=invite["contact"],
        name=invite["merchant_name"],
        url=build_invite_url(invite_id, INVITE_KIND),
        **_build_invitation_text(
            invite, invite["stall_type"], invite["fee_minor"], invite["message"], invite["expires_at"]
        ),
    )
    send_for_organisation(invite["organiser_id"], message, run=run)


@job("invitations.mail_link", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_link_email(run: Run, *, link_id: str) -> None:
    """Mails a link to the address it was made for, if it can still be used."""
    statement = (
        select(
            InviteLink,
            link_state_sql().label("state"),
            Event.organiser_id,
            contact_sql(Event.organiser_id, Organiser).label("contact"),
            *EVENT_COLUMNS,
        )
        .join(Event, Event.id == InviteLink.event_id)
        .join(Organiser, Organiser.id == owner_id_sql(Event.organiser_id))
        .where(InviteLink.id == link_id)
    )
    row = db.session.execute(statement).mappings().first()
    if row is None or row["state"] != OPEN:
        return
    link: InviteLink = row["InviteLink"]
    if link.email is None:
        return
    invited_account = find_account_by_email(link.email)
    with use_language(find_account_language(invited_account.id) if invited_account else None):
        message = render_email(
            "merchant_invite",
            to=link.email,
            key=run.key,
            sender_name=row["organiser_name"],
            reply_to=row["contact"],
            name=link.business_name or "",
            url=build_invite_url(link.id),
            **_build_invitation_text(row, link.stall_type, link.fee_minor, link.message, link.expires_at),
        )
    send_for_organisation(row["organiser_id"], message, run=run)


@job("invitations.mail_answer", Delivery.AT_LEAST_ONCE, to_others=True)
def send_answer_email(run: Run, *, invite_id: str) -> None:
    """Mails the organiser a merchant's answer."""
    invite = _find_invite(invite_id)
    if invite is None or invite["current_status"] not in ANSWERS:
        return
    message = render_email(
        "invite_answered",
        to=invite["organiser_email"],
        key=run.key,
        reply_to=invite["merchant_email"],
        name=invite["organiser_account_name"],
        accepted=invite["current_status"] == ACCEPTED,
        business=invite["business_name"] or "A merchant",
        event=invite["event_name"],
        reply=(invite["reply"] or "").splitlines(),
    )
    send_for_team(invite["merchant_id"], MERCHANT, message, run=run, already_counted=False)


@job("invitations.mail_link_declined", Delivery.AT_LEAST_ONCE)
def send_link_declined_email(run: Run, *, link_id: str) -> None:
    """Mails the organiser that the invited person declined, if the organiser's address is verified."""
    statement = (
        select(InviteLink.business_name, InviteLink.email, Event.name.label("event"), Organiser)
        .join(Event, Event.id == InviteLink.event_id)
        .join(Organiser, Organiser.id == owner_id_sql(Event.organiser_id))
        .where(InviteLink.id == link_id, Organiser.email_verified_at.is_not(None))
    )
    row = db.session.execute(statement).first()
    if row is None:
        return
    business_name, email, event_name, organiser = row
    message = render_email(
        "invite_answered",
        to=organiser.email,
        key=run.key,
        name=organiser.name,
        accepted=False,
        business=business_name or email or "A business",
        event=event_name,
        reply=[],
    )
    release_connection()
    send(message, fence=run.fence)


@on_merchant_deleted
def erase_merchant_invites(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Withdraws the merchant's pending invitations and erases their replies."""
    session.execute(
        update(EventInvite)
        .where(EventInvite.merchant_id == deletion.account_id)
        .values(reply=None, status=case((EventInvite.status == PENDING, WITHDRAWN), else_=EventInvite.status))
        .execution_options(synchronize_session=False)
    )


def _find_invite(invite_id: str) -> RowMapping | None:
    statement = (
        select(
            EventInvite.message,
            EventInvite.stall_type,
            EventInvite.fee_minor,
            EventInvite.expires_at,
            EventInvite.reply,
            EventInvite.merchant_id,
            invite_status_sql().label("current_status"),
            Account.email.label("merchant_email"),
            Account.name.label("merchant_name"),
            MerchantProfile.business_name,
            contact_sql(Event.organiser_id, Organiser).label("contact"),
            Organiser.email.label("organiser_email"),
            Organiser.name.label("organiser_account_name"),
            Event.organiser_id,
            *EVENT_COLUMNS,
        )
        .join(Event, Event.id == EventInvite.event_id)
        .join(Account, Account.id == EventInvite.merchant_id)
        .join(Organiser, Organiser.id == owner_id_sql(Event.organiser_id))
        .outerjoin(MerchantProfile, MerchantProfile.account_id == Account.id)
        .where(EventInvite.id == invite_id)
    )
    return db.session.execute(statement).mappings().first()


def _build_invitation_text(
    event: RowMapping, stall_type: str | None, fee_minor: int | None, message: str | None, expires_at: datetime
) -> InvitationText:
    return {
        "organiser": event["organiser_name"],
        "event": event["event_name"],
        "place": f"{event['venue']}, {event['city']}",
        "when": format_time(event["starts_at"], event["timezone"]),
        "until": format_time(expires_at, event["timezone"]),
        "stall": stall_type or "",
        "fee": "" if fee_minor is None else format_money(fee_minor),
        "lines": (message or "").splitlines(),
    }
