"""Links by which anybody who holds one can apply for a stall."""

from typing import Any

from sqlalchemy import case, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import build_sender, count_mails
from app.core.errors import NotFound
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.errors import InviteUsed
from app.invitations.invite_checks import build_terms, lock_event_for_invites
from app.invitations.link_tokens import build_invite_url, build_slug, parse_slug
from app.invitations.models import InviteLink
from app.invitations.queries import ERROR_BY_LINK_STATE
from app.invitations.states import OPEN, REVOKED
from app.invitations.status_sql import link_state_sql

EXECUTION_OPTIONS = {"populate_existing": True, "synchronize_session": False}
IS_USED_UP_SQL = InviteLink.uses >= InviteLink.max_uses


def create_link(
    *,
    caller: Caller,
    event_id: str,
    email: str | None = None,
    business_name: str | None = None,
    max_uses: int | None = None,
    **request_fields: Any,
) -> dict[str, Any]:
    """A new link with its terms, mailed when there is an address; such a link counts once unless told otherwise.

    An address that has an invitation to the event which still counts gets no other: that one is answered, with
    `already_invited`, and no mail goes out. Raises NotFound, EventClosed, ValidationFailed, SenderNotVerified,
    MailLimitReached.
    """
    with transaction() as session:
        event = lock_event_for_invites(session, caller, event_id)
        values = {
            "event_id": event_id,
            "made_by": caller.id,
            "email": email,
            "invited_address": email,
            "business_name": business_name or None,
            "max_uses": max_uses or (1 if email else None),
            **build_terms(event, request_fields),
        }
        if email:
            _release_email(session, event_id, email)
        link, is_new = _insert_or_find_link(session, values)
        if email and is_new:
            count_mails(session, build_sender(event), [email])
            enqueue("invitations.mail_link", key=f"invite-link-{link.id}", link_id=link.id)
        is_mailed = email is not None and is_new
        return {**_serialize_link(link), "state": OPEN, "mailed": is_mailed, "already_invited": not is_new}


def withdraw_link(*, caller: Caller, event_id: str, slug: str) -> dict[str, Any]:
    """Ends a link; ending it again changes nothing. Raises NotFound, EventClosed."""
    with transaction() as session:
        lock_event_for_invites(session, caller, event_id)
        statement = update(InviteLink).where(InviteLink.id == parse_slug(slug), InviteLink.event_id == event_id)
        changes = {"revoked_at": func.coalesce(InviteLink.revoked_at, func.now()), "invited_address": None}
        link = session.scalar(statement.values(**changes).returning(InviteLink))
        if link is None:
            raise NotFound()
        return {**_serialize_link(link), "state": REVOKED, "mailed": False, "already_invited": False}


def count_link_use(session: OrmSession, link_id: str) -> None:
    """Counts one application by a link that still counts, in the open transaction.

    Raises InviteUsed, InviteWithdrawn, InviteExpired.
    """
    result = session.execute(_count_link_use_sql(link_id), execution_options=EXECUTION_OPTIONS)
    if result.first() is None:
        state = session.scalar(
            select(link_state_sql()).join(Event, Event.id == InviteLink.event_id).where(InviteLink.id == link_id)
        )
        raise ERROR_BY_LINK_STATE.get(state or "", InviteUsed)(state=state)


def _count_link_use_sql(link_id: str) -> Any:
    """The one statement that counts a use: anyone who has waited for the row finds it as it is by then."""
    is_last_use = InviteLink.uses + 1 >= InviteLink.max_uses
    return (
        update(InviteLink)
        .where(InviteLink.id == link_id, Event.id == InviteLink.event_id, link_state_sql() == OPEN)
        .values(uses=InviteLink.uses + 1, invited_address=case((is_last_use, None), else_=InviteLink.invited_address))
        .returning(InviteLink.id)
    )


def _release_email(session: OrmSession, event_id: str, email: str) -> None:
    """Lets go of the address where its invitation no longer counts."""
    is_ended = or_(InviteLink.revoked_at.is_not(None), InviteLink.expires_at <= func.now(), IS_USED_UP_SQL)
    session.execute(
        update(InviteLink)
        .where(InviteLink.event_id == event_id, InviteLink.invited_address == email, is_ended)
        .values(invited_address=None),
        execution_options=EXECUTION_OPTIONS,
    )


def _insert_or_find_link(session: OrmSession, values: dict[str, Any]) -> tuple[InviteLink, bool]:
    """The link with these values, and whether it is new; else the one that its address has."""
    statement = insert(InviteLink).values(id=new_id(), **values)
    upsert = statement.on_conflict_do_update(
        index_elements=["event_id", "invited_address"],
        index_where=InviteLink.invited_address.is_not(None),
        set_={"event_id": statement.excluded.event_id},
    )
    row: Any = session.execute(
        upsert.returning(InviteLink, literal_column("xmax = 0")), execution_options={"populate_existing": True}
    ).one()
    return row[0], row[1]


def _serialize_link(link: InviteLink) -> dict[str, Any]:
    link_fields = {column.key: getattr(link, column.key) for column in InviteLink.__table__.columns}
    return {**link_fields, "slug": build_slug(link.id), "url": build_invite_url(link.id)}
