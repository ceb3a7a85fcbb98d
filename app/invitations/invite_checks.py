"""Checks that every kind of invitation makes inside its transaction: the event is open, the terms are valid."""

from datetime import datetime
from typing import NamedTuple, TypedDict

from sqlalchemy import RowMapping, func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.outgoing_mail import Sender, build_sender, list_sender_columns
from app.core.errors import NotFound, ValidationFailed
from app.events.models import Event
from app.events.queries import WRITES, owned
from app.events.time_conversion import to_instant
from app.invitations.errors import EventClosed
from app.invitations.status_sql import is_event_open_sql


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


class LockedEvent(NamedTuple):
    """The facts of an event that invitations need, and the organiser as the sender of their mail."""

    timezone: str
    ends_at: datetime
    stall_fee_by_type: dict[str, int | None]
    now: datetime
    sender: Sender


def lock_event_for_invites(session: OrmSession, caller: Caller, event_id: str) -> LockedEvent:
    """The event, locked against changes until the transaction ends. Raises NotFound, EventClosed."""
    row = (
        session.execute(
            select(
                Event.timezone,
                Event.ends_at,
                Event.stall_types,
                func.now().label("now"),
                is_event_open_sql().label("is_open"),
                *list_sender_columns(Account),
            )
            .join(Account, Account.id == Event.organiser_id)
            .where(Event.id == event_id, owned(caller, WRITES))
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


def build_terms(event: LockedEvent, requested: RequestedTerms) -> InviteTerms:
    """The terms to store: the fee defaults to that of the stall type, and the end is the event's end at the latest.

    Raises ValidationFailed for an end in the past.
    """
    expires_at = event.ends_at
    requested_end = requested.get("expires_at")
    if requested_end is not None:
        expires_at = min(expires_at, to_instant(requested_end, event.timezone))
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


def _build_locked_event(row: RowMapping) -> LockedEvent:
    return LockedEvent(
        timezone=row["timezone"],
        ends_at=row["ends_at"],
        stall_fee_by_type={
            stall_type["name"].casefold(): stall_type.get("feeMinor") for stall_type in row["stall_types"]
        },
        now=row["now"],
        sender=build_sender(row),
    )
