"""What organisers do: invite merchants from the directory, up to 200 in one request, and create and withdraw links.

Anyone who has a link can apply for a stall. Each action first locks the event and checks that it is open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypedDict, Unpack

from sqlalchemy import ColumnElement, RowMapping, case, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.sql.dml import ReturningUpdate

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.outgoing_mail import Sender, build_sender, count_mails, list_sender_columns
from app.accounts.queries import owner_id_sql
from app.audit.actions import Action
from app.audit.log import record, record_many
from app.core.errors import NotFound, ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue, enqueue_many
from app.core.transaction import transaction
from app.events.models import Event
from app.events.queries import owned
from app.events.timezones import to_instant
from app.invitations.acceptance_hooks import count_places_left
from app.invitations.deadlines import calculate_default_end
from app.invitations.errors import EventClosed, InviteUsed
from app.invitations.models import EventInvite, InviteLink
from app.invitations.queries import ERROR_BY_LINK_STATE, build_invite_url, build_slug, parse_slug
from app.invitations.sql import INVITE_MERCHANTS_SQL, is_event_open_sql, link_state_sql
from app.invitations.states import OPEN, PENDING, REVOKED, WITHDRAWN

EXECUTION_OPTIONS = {"populate_existing": True, "synchronize_session": False}
IS_NEW_ROW_SQL: ColumnElement[bool] = literal_column("xmax = 0")
IS_USED_UP_SQL = InviteLink.uses >= InviteLink.max_uses


class InvitedMerchant(NamedTuple):
    """A merchant with their invitation; `id` is None for one who takes part without an invitation."""

    id: str | None
    merchant_id: str
    status: str


class DirectoryInvites(TypedDict, total=False):
    """The result of inviting or withdrawing; only the lists that apply are present."""

    invited: list[InvitedMerchant]
    already_invited: list[InvitedMerchant]
    unavailable: list[str]
    withdrawn: list[InvitedMerchant]


class RequestedTerms(TypedDict, total=False):
    """The terms in the body of a request; a missing or empty one gets its default."""

    message: str | None
    stall_type: str | None
    fee_minor: int | None
    expires_at: datetime | None


class InviteTerms(TypedDict):
    """The terms of an invitation, as the columns of its row."""

    message: str | None
    stall_type: str | None
    fee_minor: int | None
    expires_at: datetime


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


class LockedEvent(NamedTuple):
    """The facts of an event that invitations need, and the organiser as the sender of their mail."""

    timezone: str
    starts_at: datetime
    ends_at: datetime
    stall_fee_by_type: dict[str, int | None]
    now: datetime
    sender: Sender


def invite_from_directory(
    *, caller: Caller, event_id: str, merchant_ids: Sequence[str], **requested_terms: Unpack[RequestedTerms]
) -> DirectoryInvites:
    """Invites and mails each merchant who has no invitation yet; the others are reported.

    Merchants who accept automatically take part immediately while places are left, unless there is a fee. Raises NotFound, EventClosed,
    ValidationFailed, SenderNotVerified, MailLimitReached.
    """
    requested_ids = sorted(set(merchant_ids))
    with transaction() as session:
        event = _lock_event_for_invites(session, caller, event_id)
        invited, already_invited, emails = _insert_invites(
            session, event_id, caller.id, requested_ids, _build_terms(event, requested_terms)
        )
        count_mails(session, event.sender, emails)
        email_jobs = [(f"event-invite-{invite.id}", {"invite_id": invite.id}) for invite in invited]
        enqueue_many("invitations.mail_invite", email_jobs)
        if invited:
            record(
                session,
                Action.MERCHANTS_INVITED,
                event_id=event_id,
                subject=event_id,
                data={"merchants": [invite.merchant_id for invite in invited]},
            )
    unavailable = sorted(set(requested_ids) - {invite.merchant_id for invite in (*invited, *already_invited)})
    return {"invited": invited, "already_invited": already_invited, "unavailable": unavailable}


def withdraw_invites(*, caller: Caller, event_id: str, merchant_ids: Sequence[str]) -> DirectoryInvites:
    """Withdraws pending invitations; answered ones stay, and a repeated request changes nothing.

    Raises NotFound, EventClosed.
    """
    with transaction() as session:
        _lock_event_for_invites(session, caller, event_id)
        pending_ids = select(EventInvite.id).where(
            EventInvite.event_id == event_id, EventInvite.merchant_id.in_(merchant_ids), EventInvite.status == PENDING
        )
        rows = session.execute(
            update(EventInvite)
            .where(EventInvite.id.in_(pending_ids.order_by(EventInvite.merchant_id).with_for_update()))
            .values(status=WITHDRAWN, decided_at=func.now(), version=EventInvite.version + 1)
            .returning(EventInvite.id, EventInvite.merchant_id, EventInvite.status)
            .execution_options(synchronize_session=False)
        )
        withdrawn = [InvitedMerchant(*row) for row in rows]
        record_many(session, Action.INVITE_WITHDRAWN, [invite.id for invite in withdrawn], event_id=event_id)
        return {"withdrawn": withdrawn}


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
        event = _lock_event_for_invites(session, caller, event_id)
        values: dict[str, object] = {
            "event_id": event_id,
            "made_by": caller.id,
            "email": email,
            "invited_address": email,
            "business_name": business_name or None,
            "max_uses": max_uses or (1 if email else None),
            **_build_terms(event, requested_terms),
        }
        if email:
            _release_email(session, event_id, email)
        link, is_new = _insert_or_find_link(session, values)
        if is_new:
            record(session, Action.INVITE_LINK_CREATED, event_id=event_id, subject=link.id)
        if email and is_new:
            count_mails(session, event.sender, [email])
            enqueue("invitations.mail_link", key=f"invite-link-{link.id}", link_id=link.id)
        return _build_organiser_link(link, OPEN, is_mailed=email is not None and is_new, is_already_invited=not is_new)


def withdraw_link(*, caller: Caller, event_id: str, slug: str) -> OrganiserLink:
    """Withdraws a link; a repeated request changes nothing. Raises NotFound, EventClosed."""
    with transaction() as session:
        _lock_event_for_invites(session, caller, event_id)
        statement = update(InviteLink).where(InviteLink.id == parse_slug(slug), InviteLink.event_id == event_id)
        changes = {"revoked_at": func.coalesce(InviteLink.revoked_at, func.now()), "invited_address": None}
        revoked_now = InviteLink.revoked_at == func.now()
        row = session.execute(statement.values(**changes).returning(InviteLink, revoked_now)).first()
        if row is None:
            raise NotFound()
        link, is_revoked_now = row
        if is_revoked_now:
            record(session, Action.INVITE_LINK_WITHDRAWN, event_id=event_id, subject=link.id)
        return _build_organiser_link(link, REVOKED, is_mailed=False, is_already_invited=False)


def count_link_use(session: OrmSession, link_id: str) -> None:
    """Counts one application by a valid link, in the open transaction. Raises InviteUsed, InviteWithdrawn, InviteExpired."""
    if session.execute(_count_link_use_sql(link_id), execution_options=EXECUTION_OPTIONS).first() is None:
        state = session.scalar(
            select(link_state_sql()).join(Event, Event.id == InviteLink.event_id).where(InviteLink.id == link_id)
        )
        raise ERROR_BY_LINK_STATE.get(state or "", InviteUsed)(state=state)


def _lock_event_for_invites(session: OrmSession, caller: Caller, event_id: str) -> LockedEvent:
    """The event, locked against changes until the transaction ends. Raises NotFound, EventClosed."""
    row = (
        session.execute(
            select(
                Event.timezone,
                Event.starts_at,
                Event.ends_at,
                Event.stall_types,
                func.now().label("now"),
                is_event_open_sql().label("is_open"),
                *list_sender_columns(Event.organiser_id),
            )
            .join(Account, Account.id == owner_id_sql(Event.organiser_id))
            .where(Event.id == event_id, owned(caller))
            .with_for_update(read=True, of=Event)
        )
        .mappings()
        .first()
    )
    if row is None:
        raise NotFound()
    if not row["is_open"]:
        raise EventClosed()
    return _build_locked_event(row)


def _build_terms(event: LockedEvent, requested: RequestedTerms) -> InviteTerms:
    """The terms to store: the fee defaults to that of the stall type, and the end is the event's end at the latest.

    Raises ValidationFailed for an end in the past.
    """
    expires_at = calculate_default_end(event.now, event.starts_at, event.ends_at)
    requested_end = requested.get("expires_at")
    if requested_end is not None:
        expires_at = min(event.ends_at, to_instant(requested_end, event.timezone))
        if expires_at <= event.now:
            raise ValidationFailed.of("expiresAt", "too_early", "Must be in the future.")
    stall_type, fee_minor = requested.get("stall_type") or None, requested.get("fee_minor")
    if fee_minor is None and stall_type is not None:
        fee_minor = event.stall_fee_by_type.get(stall_type.casefold())
    return {
        "message": requested.get("message") or None,
        "stall_type": stall_type,
        "fee_minor": fee_minor,
        "expires_at": expires_at,
    }


def _insert_invites(
    session: OrmSession, event_id: str, organiser_id: str, merchant_ids: Sequence[str], terms: InviteTerms
) -> tuple[list[InvitedMerchant], list[InvitedMerchant], list[str]]:
    """The merchants invited now, those invited before or taking part, and the emails of the former."""
    parameters = {
        **terms,
        "event_id": event_id,
        "invited_by": organiser_id,
        "merchant_ids": merchant_ids,
        "invite_ids": [new_id() for _ in merchant_ids],
        "places_left": count_places_left(session, event_id, terms["stall_type"]),
    }
    new_invites: list[InvitedMerchant] = []
    existing_invites: list[InvitedMerchant] = []
    emails: list[str] = []
    for row in session.execute(INVITE_MERCHANTS_SQL, parameters):
        invite = InvitedMerchant(row.id, row.merchant_id, row.status)
        (new_invites if row.is_new else existing_invites).append(invite)
        if row.is_new:
            emails.append(row.email)
    return new_invites, existing_invites, emails


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


def _build_locked_event(row: RowMapping) -> LockedEvent:
    return LockedEvent(
        timezone=row["timezone"],
        starts_at=row["starts_at"],
        ends_at=row["ends_at"],
        stall_fee_by_type={
            stall_type["name"].casefold(): stall_type.get("feeMinor") for stall_type in row["stall_types"]
        },
        now=row["now"],
        sender=build_sender(row),
    )
