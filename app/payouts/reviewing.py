"""What a person has to look at: written beside whatever was found, and never twice while it is open."""

from typing import Any

import structlog
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.payouts.models import PayoutReview

TOO_LONG, CONTRADICTION, MISMATCH, UNKNOWN_REFERENCE = "no_outcome", "contradiction", "mismatch", "unknown_reference"
RETIRED_WITH_MONEY = "retired_with_money"
log = structlog.get_logger(__name__)


def review(session: OrmSession, reference: str, kind: str, **detail: Any) -> None:
    """Adds a row for an operator, unless one of that kind is open already."""
    log.warning("payout.review", reference=reference, kind=kind)
    session.execute(
        insert(PayoutReview)
        .values(reference=reference, kind=kind, detail=detail)
        .on_conflict_do_nothing(index_elements=["reference", "kind"], index_where=text("resolved_at IS NULL"))
    )
