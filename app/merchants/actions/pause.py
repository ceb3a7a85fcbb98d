"""The panic switch: pausing needs nothing, resuming the password."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.accounts.caller import Caller
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.notices import enqueue_notice
from app.accounts.throttling import check_own_password
from app.core.transaction import transaction
from app.merchants.claiming import claimed
from app.merchants.models import Merchant
from app.merchants.states import ACTIVE, CLOSED, PAUSED, check_step


def pause(*, caller: Caller) -> dict[str, Any]:
    """Hides the merchant, closes his stalls and holds what is going out. Doing it again changes nothing."""
    with transaction() as session:
        merchant = claimed(session, caller.id)
        if merchant.status != PAUSED:
            now: datetime = session.execute(select(func.now())).scalar_one()
            _go(merchant, PAUSED)
            merchant.floor_status, merchant.paused_at = CLOSED, now
            enqueue_notice("merchant_paused", caller.id)
        session.flush()
    return shown(merchant)


def resume(*, caller: Caller, current_password: str) -> dict[str, Any]:
    """Opens the merchant again; his stalls stay closed until he opens them.

    Raises CurrentPasswordWrong, which counts like a failed sign-in, and Throttled.
    """
    if not check_own_password(caller, current_password):
        raise CurrentPasswordWrong()
    with transaction() as session:
        merchant = claimed(session, caller.id)
        if merchant.status == PAUSED:
            _go(merchant, ACTIVE)
        session.flush()
    return shown(merchant)


def _go(merchant: Merchant, wanted: str) -> None:
    check_step(merchant.status, wanted)
    merchant.status = wanted
    merchant.version += 1


def shown(merchant: Merchant) -> dict[str, Any]:
    """What both answer: the status, and since when it is paused."""
    return {"status": merchant.status, "paused_at": merchant.paused_at if merchant.status == PAUSED else None}
