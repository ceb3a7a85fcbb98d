"""Invite links: anyone who has the link can apply for a stall."""

from dataclasses import dataclass
from datetime import datetime
from typing import Unpack

from sqlalchemy import ColumnElement, case, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.sql.dml import ReturningUpdate

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.errors import InviteUsed
from app.invitations.invite_checks import RequestedTerms, build_terms, lock_event_for_invites
from app.invitations.link_tokens import build_invite_url, build_slug, parse_slug
from app.invitations.models import InviteLink
from app.invitations.queries import ERROR_BY_LINK_STATE
from app.invitations.states import OPEN, REVOKED
from app.invitations.status_sql import link_state_sql

EXECUTION_OPTIONS = {"populate_existing": True, "synchronize_session": False}
IS_NEW_ROW_SQL: ColumnElement[bool] = literal_column("xmax = 0")
IS_USED_UP_SQL = InviteLink.uses >= InviteLink.max_uses


@dataclass(frozen=True, kw_only=True)
class OrganiserLink:
    """A link as its organiser sees it; `already_invited` if the email had it before, `mailed` if a mail goes out."""

    id: str
    event_id: str
    slug: str
    url: str
    state: str
    email: str | None
    business_name: str | None
    stall_type: str | None
    fee_minor: int | None
    message: str | None
    expires_at: datetime
    max_uses: int | None
    uses: int
    mailed: bool
    already_invited: bool


def create_link(
    *,
    caller: Caller,
    event_id: str,
    email: str | None = None,
    business_name: str | None = None,
    max_uses: int | None = None,
    **requested_terms: Unpack[RequestedTerms],
) -> OrganiserLink:
    """A new link with its terms, mailed if there is an email; such a link works once by default.

    If the email has a valid invitation to the event, that one is returned with `already_invited`, and no mail goes
    out. Raises NotFound, EventClosed, ValidationFailed, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        event = lock_event_for_invites(session, caller, event_id)
        values: dict[str, object] = {
            "event_id": event_id,
            "made_by": caller.id,
            "email": email,
            "invited_address": email,
            "business_name": business_name or None,
            "max_uses": max_uses or (1 if email else None),
            **build_terms(event, requested_terms),
        }
        if email:
            _release_email(session, event_id, email)
        link, is_new = _insert_or_find_link(session, values)
        if email and is_new:
            count_mails(session, event.sender, [email])
            enqueue("invitations.mail_link", key=f"invite-link-{link.id}", link_id=link.id)
        return _build_organiser_link(link, OPEN, is_mailed=email is not None and is_new, is_already_invited=not is_new)


def withdraw_link(*, caller: Caller, event_id: str, slug: str) -> OrganiserLink:
    """Withdraws a link; a repeated request changes nothing. Raises NotFound, EventClosed."""
    with transaction() as session:
        lock_event_for_invites(session, caller, event_id)
        statement = update(InviteLink).where(InviteLink.id == parse_slug(slug), InviteLink.event_id == event_id)
        changes = {"revoked_at": func.coalesce(InviteLink.revoked_at, func.now()), "invited_address": None}
        link = session.scalar(statement.values(**changes).returning(InviteLink))
        if link is None:
            raise NotFound()
        return _build_organiser_link(link, REVOKED, is_mailed=False, is_already_invited=False)


def count_link_use(session: OrmSession, link_id: str) -> None:
    """Counts one application by a valid link, in the open transaction. Raises InviteUsed, InviteWithdrawn, InviteExpired."""
    if session.execute(_count_link_use_sql(link_id), execution_options=EXECUTION_OPTIONS).first() is None:
        state = session.scalar(
            select(link_state_sql()).join(Event, Event.id == InviteLink.event_id).where(InviteLink.id == link_id)
        )
        raise ERROR_BY_LINK_STATE.get(state or "", InviteUsed)(state=state)


def _count_link_use_sql(link_id: str) -> ReturningUpdate[str]:
    """One conditional UPDATE: a request that waited for the row's lock evaluates the condition on the newest row."""
    is_last_use = InviteLink.uses + 1 >= InviteLink.max_uses
    return (
        update(InviteLink)
        .where(InviteLink.id == link_id, Event.id == InviteLink.event_id, link_state_sql() == OPEN)
        .values(uses=InviteLink.uses + 1, invited_address=case((is_last_use, None), else_=InviteLink.invited_address))
        .returning(InviteLink.id)
    )


def _release_email(session: OrmSession, event_id: str, email: str) -> None:
    """Clears `invited_address` of ended links with this email, so that it can be invited again."""
    is_ended = or_(InviteLink.revoked_at.is_not(None), InviteLink.expires_at <= func.now(), IS_USED_UP_SQL)
    session.execute(
        update(InviteLink)
        .where(InviteLink.event_id == event_id, InviteLink.invited_address == email, is_ended)
        .values(invited_address=None),
        execution_options=EXECUTION_OPTIONS,
    )


def _insert_or_find_link(session: OrmSession, values: dict[str, object]) -> tuple[InviteLink, bool]:
    """A link with these values and True, or the valid link that the email has already and False."""
    statement = insert(InviteLink).values(id=new_id(), **values)
    upsert = statement.on_conflict_do_update(
        index_elements=["event_id", "invited_address"],
        index_where=InviteLink.invited_address.is_not(None),
        set_={"event_id": statement.excluded.event_id},
    )
    link, is_new = session.execute(
        upsert.returning(InviteLink, IS_NEW_ROW_SQL), execution_options={"populate_existing": True}
    ).one()
    return link, is_new


def _build_organiser_link(link: InviteLink, state: str, *, is_mailed: bool, is_already_invited: bool) -> OrganiserLink:
    return OrganiserLink(
        id=link.id,
        event_id=link.event_id,
        slug=build_slug(link.id),
        url=build_invite_url(link.id),
        state=state,
        email=link.email,
        business_name=link.business_name,
        stall_type=link.stall_type,
        fee_minor=link.fee_minor,
        message=link.message,
        expires_at=link.expires_at,
        max_uses=link.max_uses,
        uses=link.uses,
        mailed=is_mailed,
        already_invited=is_already_invited,
    )
