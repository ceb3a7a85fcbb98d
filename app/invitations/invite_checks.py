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
from app.events.time_conversion import to_instant
from app.invitations.errors import EventClosed
from app.invitations.status_sql import is_event_open_sql


def lock_event_for_invites(session: OrmSession, caller: Caller, event_id: str) -> RowMapping:
    """The event with its organiser as the sender of mail, kept as it is until the transaction ends.

    Raises NotFound, EventClosed.
    """
    event = (
        session.execute(
            select(
                Event.id,
                Event.timezone,
                Event.ends_at,
                Event.stall_types,
                func.now().label("now"),
                is_event_open_sql().label("open"),
                *list_sender_columns(Account),
            )
            .join(Account, Account.id == Event.organiser_id)
            .where(Event.id == event_id, owned(caller, WRITES))
            .with_for_update(read=True, of=Event)
        )
        .mappings()
        .first()
    )
    if event is None:
        raise NotFound()
    if not event["open"]:
        raise EventClosed()
    return event


def build_terms(event: RowMapping, request_fields: Mapping[str, Any]) -> dict[str, Any]:
    """The terms as they are kept: a stall type of the event brings its fee, and all ends with the event at the latest.

    Raises ValidationFailed for an end that is over already.
    """
    expires_at: datetime = event["ends_at"]
    if request_fields.get("expires_at") is not None:
        expires_at = min(expires_at, to_instant(request_fields["expires_at"], event["timezone"]))
        if expires_at <= event["now"]:
            raise ValidationFailed.of("expiresAt", "too_early", "Must be in the future.")
    fee_minor = request_fields.get("fee_minor")
    return {
        "message": request_fields.get("message") or None,
        "stall_type": request_fields.get("stall_type") or None,
        "fee_minor": fee_minor if fee_minor is not None else _find_default_fee(event, request_fields.get("stall_type")),
        "expires_at": expires_at,
    }


def _find_default_fee(event: RowMapping, stall_type: str | None) -> int | None:
    fee_by_type = {stall_type["name"].casefold(): stall_type.get("feeMinor") for stall_type in event["stall_types"]}
    return fee_by_type.get(stall_type.casefold()) if stall_type else None
