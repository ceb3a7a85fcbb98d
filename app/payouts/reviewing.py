"""What a person has to look at: written beside whatever was found, never twice while it is open, told to operators."""

from typing import Any

import structlog
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.core.outbox import enqueue
from app.payouts.models import PayoutReview

TOO_LONG, CONTRADICTION, MISMATCH, UNKNOWN_REFERENCE = "no_outcome", "contradiction", "mismatch", "unknown_reference"
OWNER_NOT_TOLD, MERCHANT_DELETED, RETIRED_WITH_MONEY = "owner_not_told", "merchant_deleted", "retired_with_money"
SENTENCES = {
    TOO_LONG: "The rail has not said for 72 hours how this payout ended. The amount is held.",
    CONTRADICTION: "What the rail says now does not fit how this payout ended. Nothing was booked.",
    MISMATCH: "The rail names another amount or currency than was paid out. Nothing was booked.",
    UNKNOWN_REFERENCE: "The rail names a transfer that this service does not know.",
    OWNER_NOT_TOLD: "The mail about a payout to a new destination was refused. The payout was cancelled.",
    MERCHANT_DELETED: "This payout came back after its merchant had deleted the account. Nobody can request the money; "
    "decide what becomes of it.",
    RETIRED_WITH_MONEY: "This account has money, and its address has gone to somebody else before it was verified. "
    "Find out whose the money is.",
}
log = structlog.get_logger(__name__)


def review(session: OrmSession, reference: str, kind: str, **detail: Any) -> None:
    """Adds a row and has operators told, unless one of that kind is open already."""
    log.warning("payout.review", reference=reference, kind=kind)
    added = session.scalar(
        insert(PayoutReview)
        .values(reference=reference, kind=kind, detail=detail)
        .on_conflict_do_nothing(index_elements=["reference", "kind"], index_where=text("resolved_at IS NULL"))
        .returning(PayoutReview.id)
    )
    if added is not None:
        enqueue("payouts.notify_operators", review_id=added)
