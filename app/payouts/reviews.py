"""Reviews: problems of payouts that a person has to look at. At most one per reference and kind is open.

The module also has the integrity checks between payouts and the ledger, for `flask ledger verify`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.audit.actions import Action
from app.audit.log import record
from app.core.db import db
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.ledger.commands import register_check
from app.payouts import sql
from app.payouts.models import Payout, PayoutReview

TOO_LONG, CONTRADICTION, MISMATCH, UNKNOWN_REFERENCE = "no_outcome", "contradiction", "mismatch", "unknown_reference"
OWNER_NOT_TOLD, MERCHANT_DELETED, RETIRED_WITH_MONEY = "owner_not_told", "merchant_deleted", "retired_with_money"
REVIEW_TEXTS = {
    TOO_LONG: "The rail has not said for 72 hours how this payout ended. The amount is held.",
    CONTRADICTION: "What the rail says now does not fit how this payout ended. Nothing was booked.",
    MISMATCH: "The rail names another amount or currency than was paid out. Nothing was booked.",
    UNKNOWN_REFERENCE: "The rail names a transfer that this service does not know.",
    OWNER_NOT_TOLD: "The mail about a payout to a new destination was refused. The payout was cancelled.",
    MERCHANT_DELETED: "This payout came back after its merchant had deleted the account. The money cannot be "
    "requested any more; decide what becomes of it.",
    RETIRED_WITH_MONEY: "This account has money, and its address has gone to somebody else before it was verified. "
    "Find out whose the money is.",
}
MAX_NOTE_LENGTH = 500
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class OpenReview:
    """An open review with its payout, if the reference is one of ours."""

    review: PayoutReview
    payout: Payout | None


def create_review(session: OrmSession, reference: str, kind: str, **detail: object) -> None:
    """Add a review and enqueue mails to operators, unless one of that kind is open for the reference."""
    log.warning("payout.review", reference=reference, kind=kind)
    review_id = session.scalar(
        insert(PayoutReview)
        .values(reference=reference, kind=kind, detail=detail)
        .on_conflict_do_nothing(index_elements=["reference", "kind"], index_where=text("resolved_at IS NULL"))
        .returning(PayoutReview.id)
    )
    if review_id is not None:
        enqueue("payouts.notify_operators", review_id=review_id)


def list_open_reviews(limit: int = 100, *, payout_id: str | None = None) -> Sequence[OpenReview]:
    """Open reviews, the oldest first; with a payout's id only those of the payout."""
    statement = (
        select(PayoutReview, Payout)
        .outerjoin(Payout, Payout.id == PayoutReview.reference)
        .where(PayoutReview.resolved_at.is_(None))
    )
    if payout_id is not None:
        statement = statement.where(PayoutReview.reference == payout_id)
    rows = db.session.execute(statement.order_by(PayoutReview.id).limit(limit)).all()
    return [OpenReview(*row) for row in rows]


def close_reviews(reference: str, note: str, *, review_ids: Sequence[int] | None = None) -> int:
    """Close the open reviews of a reference, or only those with these ids; return how many."""
    conditions = [PayoutReview.reference == reference, PayoutReview.resolved_at.is_(None)]
    if review_ids is not None:
        conditions.append(PayoutReview.id.in_(review_ids))
    with transaction() as session:
        closed_ids = session.scalars(
            update(PayoutReview)
            .where(*conditions)
            .values(resolved_at=func.now(), note=note[:MAX_NOTE_LENGTH])
            .returning(PayoutReview.id)
            .execution_options(synchronize_session=False)
        ).all()
        if closed_ids:
            record(session, Action.REVIEW_CLOSED, subject=reference, data={"reviews": len(closed_ids)})
    return len(closed_ids)


register_check("what is held is what open payouts hold", sql.HELD_AMOUNTS_UNLIKE_OPEN_PAYOUTS)
register_check("every payout is booked as its state says, once", sql.PAYOUTS_UNLIKE_THEIR_TRANSACTIONS)
register_check("every payout's history ends with its state", sql.PAYOUTS_UNLIKE_THEIR_HISTORY)
register_check(
    "no payout to a new destination leaves before its owner was told and could stop it",
    sql.PAYOUTS_SUBMITTED_TOO_EARLY,
)
register_check(
    "every payout without an outcome for more than 72 hours has a review", sql.OVERDUE_PAYOUTS_WITHOUT_REVIEW
)
