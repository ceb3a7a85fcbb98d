"""What every way of inviting asks of the event, inside a transaction."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.accounts.outgoing_mail import list_sender_columns
from app.core.errors import NotFound, ValidationFailed
from app.events.models import Event
from app.events.queries import WRITES, owned
from app.events.times import instant
from app.invitations.conditions import current
from app.invitations.errors import EventClosed


def inviting_event(session: OrmSession, caller: Caller, event_id: str) -> RowMapping:
    """The event with its organiser as the sender of mail, kept as it is until the transaction ends.

    Raises NotFound, EventClosed.
    """
    found = (
        session.execute(
            select(
                Event.id,
                Event.timezone,
                Event.ends_at,
                Event.stall_types,
                func.now().label("now"),
                current().label("open"),
                *list_sender_columns(Account),
            )
            .join(Account, Account.id == Event.organiser_id)
            .where(Event.id == event_id, owned(caller, WRITES))
            .with_for_update(read=True, of=Event)
        )
        .mappings()
        .first()
    )
    if found is None:
        raise NotFound()
    if not found["open"]:
        raise EventClosed()
    return found


def terms(event: RowMapping, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The terms as they are kept: a stall type of the event brings its fee, and all ends with the event at the latest.

    Raises ValidationFailed for an end that is over already.
    """
    ends: datetime = event["ends_at"]
    if sent.get("expires_at") is not None:
        ends = min(ends, instant(sent["expires_at"], event["timezone"]))
        if ends <= event["now"]:
            raise ValidationFailed.of("expiresAt", "too_early", "Must be in the future.")
    fee = sent.get("fee_minor")
    return {
        "message": sent.get("message") or None,
        "stall_type": sent.get("stall_type") or None,
        "fee_minor": fee if fee is not None else _usual_fee(event, sent.get("stall_type")),
        "expires_at": ends,
    }


def _usual_fee(event: RowMapping, stall_type: str | None) -> int | None:
    known = {stall_type["name"].casefold(): stall_type.get("feeMinor") for stall_type in event["stall_types"]}
    return known.get(stall_type.casefold()) if stall_type else None
