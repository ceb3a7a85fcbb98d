"""Handing a payout to the rail so that no crash pays it twice: claim and commit, call with our reference, record.

What a crash leaves behind is `processing`. Whoever finds that asks the rail first, and sends again, with the same
reference, only when the rail surely does not know it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, exists, func, select

from app.clients.payrail import Transfer, TransferOutcome, TransferState, rail
from app.clients.payrail.errors import PayrailDisabled
from app.core.db import db, release
from app.core.transaction import transaction
from app.merchants.models import Merchant
from app.merchants.states import PAUSED
from app.payouts import destinations
from app.payouts.models import Payout
from app.payouts.states import CANCELLABLE, PROCESSING, REQUESTED, SCHEDULED, SERVICE
from app.payouts.steps import step

UNKNOWN = TransferState(outcome=TransferOutcome.UNKNOWN)
UNREADABLE = TransferState(outcome=TransferOutcome.FAILED, reason="DESTINATION_UNREADABLE")


@dataclass(frozen=True)
class Standing:
    """A payout as a job finds it, by the database's clock. `age` counts from the submission, `waits` to the time it
    is scheduled for or may leave."""

    payout: Payout
    held_back: bool
    age: timedelta
    waits: timedelta

    @property
    def untold(self) -> bool:
        """Whether it goes to a new destination, has not left, and its owner does not know."""
        payout = self.payout
        return payout.status in CANCELLABLE and payout.held_until is not None and payout.owner_told_at is None


def paused() -> ColumnElement[bool]:
    """Whether the payout's merchant has paused: then nothing of his leaves."""
    return exists().where(Merchant.account_id == Payout.account_id, Merchant.status == PAUSED)


def may_leave() -> ColumnElement[bool]:
    """Whether its destination was known, or its owner was told and had the time to stop it."""
    return Payout.held_until.is_(None) | (Payout.owner_told_at.is_not(None) & (Payout.held_until <= func.now()))


def standing(payout_id: str) -> Standing | None:
    """How the payout stands; the connection is given back, for the rail may take its time."""
    now: Any = func.now()
    age: Any = func.coalesce(now - Payout.submitted_at, timedelta())
    waits: Any = func.coalesce(func.greatest(Payout.scheduled_for, Payout.held_until) - now, timedelta())
    row = db.session.execute(
        select(Payout, paused(), age, waits).where(Payout.id == payout_id),
        execution_options={"populate_existing": True},
    ).first()
    release()
    return Standing(*row) if row else None


def claim(payout: Payout) -> bool:
    """Makes it `processing`, committed before the rail hears of it; False when it was cancelled, claimed or paused
    in the meantime."""
    with transaction() as session:
        if payout.status == SCHEDULED:
            due = (Payout.scheduled_for <= func.now(), may_leave(), ~paused())
            step(session, payout.id, REQUESTED, since=(SCHEDULED,), actor=SERVICE, where=due)
        mine = step(
            session,
            payout.id,
            PROCESSING,
            since=(REQUESTED,),
            actor=SERVICE,
            where=(may_leave(), ~paused()),
            submitted_at=func.now(),
        )
    return mine is not None


def sent(payout: Payout, fence: Callable[[], None]) -> TransferState:
    """What the rail answers to the transfer; `fence` is called at the last moment at which it knows nothing."""
    target = destinations.opened(payout.account_id, payout.destination, payout.sealed_to)
    if target is None:
        return UNREADABLE
    transfer = Transfer(
        reference=payout.id, amount_minor=payout.amount_minor, destination=target, description=f"Payout {payout.id}"
    )
    fence()
    try:
        return rail().send_transfer(transfer)
    except PayrailDisabled:
        return UNKNOWN


def asked(payout_id: str) -> TransferState:
    """What the rail says of the transfer now."""
    try:
        return rail().transfer_status(payout_id)
    except PayrailDisabled:
        return UNKNOWN


def usable() -> bool:
    """Whether there is a rail at all; without one nothing is claimed."""
    try:
        rail().check()
    except PayrailDisabled:
        return False
    return True
