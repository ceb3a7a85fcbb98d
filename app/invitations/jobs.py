"""Mail of invitations, and how they forget a merchant."""

from typing import Any

from sqlalchemy import RowMapping, case, select, update
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts.models import Account
from app.accounts.outgoing_mail import send_for_account
from app.clients.email_templates import render_email
from app.core.db import db
from app.core.jobs import Delivery, Run, job
from app.events.models import Event
from app.invitations.formatting import format_date_time, format_money
from app.invitations.link_tokens import INVITE_KIND, build_invite_url
from app.invitations.models import EventInvite, InviteLink
from app.invitations.queries import EVENT_COLUMNS
from app.invitations.states import ACCEPTED, ANSWERS, OPEN, PENDING, WITHDRAWN
from app.invitations.status_sql import invite_status_sql, link_state_sql
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted
from app.merchants.models import MerchantProfile

Organiser = aliased(Account)


@job("invitations.mail_invite", Delivery.AT_LEAST_ONCE, to_others=True)
def send_invite_email(run: Run, *, invite_id: str) -> None:
    """Tells a merchant that they are invited, or that they take part already because they accept by themselves."""
    invite = _find_invite(invite_id)
    if invite is None or invite["status_now"] not in (PENDING, ACCEPTED):
        return
    template = "event_invite" if invite["status_now"] == PENDING else "event_joined"
    message = render_email(
        template,
        to=invite["merchant_email"],
        key=run.key,
        sender_name=invite["organiser_name"],
        reply_to=invite["organiser_email"],
        name=invite["merchant_name"],
        url=build_invite_url(invite_id, INVITE_KIND),
        **_build_email_context(invite),
    )
    send_for_account(invite["organiser_id"], message, run=run)


@job("invitations.mail_link", Delivery.AT_LEAST_ONCE, to_others=True)
def send_link_email(run: Run, *, link_id: str) -> None:
    """Mails a link to the address it was made for, if it still counts."""
    statement = (
        select(
            InviteLink,
            link_state_sql().label("state"),
            Organiser.id.label("organiser_id"),
            Organiser.email.label("organiser_email"),
            *EVENT_COLUMNS,
        )
        .join(Event, Event.id == InviteLink.event_id)
        .join(Organiser, Organiser.id == Event.organiser_id)
        .where(InviteLink.id == link_id)
    )
    link_row = db.session.execute(statement).mappings().first()
    if link_row is None or link_row["state"] != OPEN or link_row["InviteLink"].email is None:
        return
    link: InviteLink = link_row["InviteLink"]
    message = render_email(
        "merchant_invite",
        to=link.email or "",
        key=run.key,
        sender_name=link_row["organiser_name"],
        reply_to=link_row["organiser_email"],
        name=link.business_name or "",
        url=build_invite_url(link.id),
        **_build_email_context({**link_row, **{column: getattr(link, column) for column in TERM_COLUMNS}}),
    )
    send_for_account(link_row["organiser_id"], message, run=run)


@job("invitations.mail_answer", Delivery.AT_LEAST_ONCE, to_others=True)
def send_answer_email(run: Run, *, invite_id: str) -> None:
    """Tells the organiser how a merchant has answered."""
    invite = _find_invite(invite_id)
    if invite is None or invite["status_now"] not in ANSWERS:
        return
    message = render_email(
        "invite_answered",
        to=invite["organiser_email"],
        key=run.key,
        name=invite["organiser_own_name"],
        accepted=invite["status_now"] == ACCEPTED,
        business=invite["business_name"] or "A merchant",
        event=invite["event_name"],
        reply=(invite["reply"] or "").splitlines(),
    )
    send_for_account(invite["merchant_id"], message, run=run, already_counted=False)


@on_merchant_deleted
def erase_merchant_invites(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Withdraws what is open, and erases what the merchant wrote."""
    session.execute(
        update(EventInvite)
        .where(EventInvite.merchant_id == deletion.account_id)
        .values(reply=None, status=case((EventInvite.status == PENDING, WITHDRAWN), else_=EventInvite.status))
        .execution_options(synchronize_session=False)
    )


TERM_COLUMNS = ("message", "stall_type", "fee_minor", "expires_at")


def _find_invite(invite_id: str) -> RowMapping | None:
    statement = (
        select(
            *(getattr(EventInvite, column) for column in (*TERM_COLUMNS, "reply")),
            invite_status_sql().label("status_now"),
            Account.email.label("merchant_email"),
            Account.name.label("merchant_name"),
            MerchantProfile.business_name,
            Organiser.email.label("organiser_email"),
            Organiser.name.label("organiser_own_name"),
            Organiser.id.label("organiser_id"),
            EventInvite.merchant_id,
            *EVENT_COLUMNS,
        )
        .join(Event, Event.id == EventInvite.event_id)
        .join(Account, Account.id == EventInvite.merchant_id)
        .join(Organiser, Organiser.id == Event.organiser_id)
        .outerjoin(MerchantProfile, MerchantProfile.account_id == Account.id)
        .where(EventInvite.id == invite_id)
    )
    return db.session.execute(statement).mappings().first()


def _build_email_context(row: Any) -> dict[str, Any]:
    """What each invitation says of event and terms."""
    return {
        "organiser": row["organiser_name"],
        "event": row["event_name"],
        "place": f"{row['venue']}, {row['city']}",
        "when": format_date_time(row["starts_at"], row["timezone"]),
        "until": format_date_time(row["expires_at"], row["timezone"]),
        "stall": row["stall_type"] or "",
        "fee": "" if row["fee_minor"] is None else format_money(row["fee_minor"]),
        "lines": (row["message"] or "").splitlines(),
    }
