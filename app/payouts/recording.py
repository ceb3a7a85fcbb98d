"""What the rail says becomes what we know, in one place, for answers, for asking later and for operators.

The first end counts. What contradicts it changes no ledger row: it becomes a review. The one step after an end is the
bounce of what was paid, which is followed by a compensating entry.
"""

from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account
from app.clients.payrail import TransferOutcome, TransferState
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.payouts import moving
from app.payouts.models import Payout
from app.payouts.reviewing import CONTRADICTION, MERCHANT_DELETED, MISMATCH, TOO_LONG, review
from app.payouts.states import ASKED, FAILED, NEEDS_REVIEW, PAID, PROCESSING, RETURNED
from app.payouts.steps import step

CURRENCY = "NAD"
ENDS = {TransferOutcome.PAID: PAID, TransferOutcome.FAILED: FAILED, TransferOutcome.RETURNED: RETURNED}
FOLLOW_FIRST = timedelta(seconds=65)


def record(payout_id: str, told: TransferState, *, actor: str) -> str:
    """The payout's state after the rail, or an operator, has told of it. Any number may say the same at once."""
    with transaction() as session:
        # Before the payout: a deletion locks the account, and then payouts and purse.
        usable = told.outcome is TransferOutcome.RETURNED and _has_merchant(session, payout_id)
        payout = locked(session, payout_id)
        if differs(payout, told.amount_minor, told.currency):
            review(session, payout.id, MISMATCH, amountMinor=told.amount_minor, currency=told.currency)
            return payout.status
        wanted = ENDS.get(told.outcome)
        if payout.status in ASKED and wanted is not None:
            return _ended(session, payout, wanted, told.reason, actor, usable=usable)
        if payout.status == PAID and wanted == RETURNED:
            return _returned(session, payout, told.reason, actor, usable=usable)
        if contradicts(payout.status, told.outcome):
            review(session, payout.id, CONTRADICTION, status=payout.status, told=told.outcome.value)
        return payout.status


def give_up(payout_id: str) -> str:
    """After 72 hours without an outcome a person has to look; asking goes on when the rail tells, or he does."""
    with transaction() as session:
        payout = step(session, payout_id, NEEDS_REVIEW, since=(PROCESSING,), actor="service", reason="no outcome")
        if payout is not None:
            review(session, payout_id, TOO_LONG, submittedAt=str(payout.submitted_at))
        return locked(session, payout_id).status


def locked(session: OrmSession, payout_id: str) -> Payout:
    return session.get_one(Payout, payout_id, with_for_update=True, populate_existing=True)


def differs(payout: Payout, amount_minor: int | None, currency: str | None) -> bool:
    """Whether somebody tells of another amount than ours."""
    return amount_minor not in (None, payout.amount_minor) or currency not in (None, CURRENCY)


def contradicts(status: str, outcome: TransferOutcome) -> bool:
    """Whether the rail says what cannot be true along with the state we are in."""
    if status in ASKED or outcome is TransferOutcome.UNKNOWN:
        return False
    if status == FAILED:
        return outcome not in (TransferOutcome.FAILED, TransferOutcome.NOT_FOUND)
    if status in (PAID, RETURNED):
        return outcome not in (ENDS_OF[status], TransferOutcome.ACCEPTED)
    return outcome is not TransferOutcome.NOT_FOUND


ENDS_OF = {status: outcome for outcome, status in ENDS.items()}


def _ended(session: OrmSession, payout: Payout, wanted: str, reason: str | None, actor: str, *, usable: bool) -> str:
    """The first end. What was paid and bounced before anybody asked takes both steps at once."""
    if wanted == FAILED:
        step(session, payout.id, FAILED, since=ASKED, actor=actor, reason=reason, settled_at=func.now())
        moving.release(session, payout.id, payout.account_id, payout.amount_minor)
        enqueue("payouts.mail", template="payout_failed", payout_id=payout.id)
        return FAILED
    step(session, payout.id, PAID, since=ASKED, actor=actor, reason=reason, settled_at=func.now())
    moving.pay(session, payout.id, payout.account_id, payout.amount_minor, shown_as=payout.shown_as)
    if wanted == RETURNED:
        return _returned(session, payout, reason, actor, usable=usable)
    enqueue("payouts.mail", template="payout_paid", payout_id=payout.id)
    enqueue("payouts.follow", delay=FOLLOW_FIRST, aggregate=f"payout:{payout.id}", payout_id=payout.id)
    return PAID


def _returned(session: OrmSession, payout: Payout, reason: str | None, actor: str, *, usable: bool) -> str:
    step(session, payout.id, RETURNED, since=(PAID,), actor=actor, reason=reason, settled_at=func.now())
    moving.give_back(session, payout.id, payout.account_id, payout.amount_minor, shown_as=payout.shown_as)
    if usable:
        enqueue("payouts.mail", template="payout_returned", payout_id=payout.id)
    else:
        review(session, payout.id, MERCHANT_DELETED, amountMinor=payout.amount_minor)
    return RETURNED


def _has_merchant(session: OrmSession, payout_id: str) -> bool:
    """Whether the payout's account can use money. A deletion and this wait for each other at the account's row."""
    owner = select(Payout.account_id).where(Payout.id == payout_id).scalar_subquery()
    statement = select(Account.id).where(Account.id == owner, Account.roles.contains(["merchant"]))
    return session.scalar(statement.with_for_update(read=True)) is not None
