"""Reviews of stall payments: at most one open row per reference and kind, with a mail to the operators."""

from collections.abc import Sequence

import structlog
from sqlalchemy import cast, func, text, update
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Session as OrmSession

from app.applications.models import StallPaymentReview
from app.core.outbox import enqueue

NO_OUTCOME, MISMATCH, CONTRADICTION = "no_outcome", "mismatch", "contradiction"
SECOND_CAPTURE, APPLICATION_CLOSED, UNKNOWN_REFERENCE = "second_capture", "application_closed", "unknown_reference"
REVIEW_MESSAGES = {
    NO_OUTCOME: "The outcome of this payment is unknown after 72 hours. The service asks the rail every hour.",
    MISMATCH: "The rail reports a different amount or currency than requested. The payment does not count as paid.",
    CONTRADICTION: "The rail reports a different outcome now than before.",
    SECOND_CAPTURE: "The rail has taken the fee although it was paid already. The service asks for a refund.",
    APPLICATION_CLOSED: "The fee was taken after the application had ended. Decide with the organiser whether to"
    " refund it.",
    UNKNOWN_REFERENCE: "The rail reports a charge that this service does not know.",
}
log = structlog.get_logger(__name__)


def add_review(session: OrmSession, reference: str, kind: str, **detail: object) -> None:
    """Adds a review and notifies the operators, unless one of that kind is open already."""
    review_id = session.scalar(
        insert(StallPaymentReview)
        .values(reference=reference, kind=kind, detail=detail)
        .on_conflict_do_nothing(index_elements=["reference", "kind"], index_where=text("resolved_at IS NULL"))
        .returning(StallPaymentReview.id)
    )
    if review_id is not None:
        log.error("stall_payment.review", reference=reference, kind=kind)
        enqueue("applications.notify_operators", review_id=review_id)


def add_review_detail(session: OrmSession, reference: str, kind: str, **detail: object) -> None:
    """Adds facts to the open review of that kind, if there is one."""
    session.execute(
        update(StallPaymentReview)
        .where(StallPaymentReview.reference == reference, StallPaymentReview.kind == kind)
        .where(StallPaymentReview.resolved_at.is_(None))
        .values(detail=StallPaymentReview.detail.concat(cast(detail, JSONB)))
        .execution_options(synchronize_session=False)
    )


def close_reviews(session: OrmSession, reference: str, note: str, *, review_ids: Sequence[int] | None = None) -> int:
    """Closes the open reviews of a reference, or only those with these ids. Returns their number."""
    conditions = [StallPaymentReview.reference == reference, StallPaymentReview.resolved_at.is_(None)]
    if review_ids is not None:
        conditions.append(StallPaymentReview.id.in_(review_ids))
    closed_rows = session.execute(
        update(StallPaymentReview)
        .where(*conditions)
        .values(resolved_at=func.now(), note=note[:500])
        .returning(StallPaymentReview.id)
        .execution_options(synchronize_session=False)
    )
    return len(closed_rows.all())
