"""Whether a stall is open, busy, paused or closed."""

from typing import Any

from sqlalchemy import func, select, update

from app.accounts.caller import Caller
from app.core.errors import NotFound
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.models import Participation
from app.invitations.status_sql import is_event_open_sql
from app.merchants.errors import MerchantPaused
from app.merchants.row_locks import lock_merchant
from app.merchants.states import CLOSED, PAUSED


def set_floor_status(*, caller: Caller, status: str, event_id: str | None = None) -> dict[str, Any]:
    """Sets the floor status of one stall, or of all at events that are not over; it is kept for the next one as well.

    Raises NotFound for an event one has no part in, MerchantPaused (a paused merchant's stalls are closed).
    """
    with transaction() as session:
        merchant = lock_merchant(session, caller.id)
        if merchant.status == PAUSED and status != CLOSED:
            raise MerchantPaused()
        conditions = [Participation.merchant_id == caller.id]
        if event_id is not None:
            conditions.append(Participation.event_id == event_id)
        else:
            conditions.append(Participation.event_id.in_(select(Event.id).where(is_event_open_sql())))
        event_ids = session.scalars(
            update(Participation)
            .where(*conditions)
            .values(floor_status=status, floor_set_at=func.clock_timestamp())
            .returning(Participation.event_id)
            .execution_options(synchronize_session=False)
        ).all()
        if event_id is not None and not event_ids:
            raise NotFound()
        if merchant.floor_status != status:
            merchant.floor_status = status
            merchant.version += 1
        session.flush()
    return {"status": status, "event_ids": sorted(event_ids)}
