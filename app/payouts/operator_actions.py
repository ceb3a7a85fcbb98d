"""What operators do by hand: look at what needs a person, ask the rail, say how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update

from app.accounts.models import Account
from app.clients.payrail import TransferOutcome, TransferState
from app.core.db import db, release_connection
from app.core.ids import is_id
from app.core.transaction import transaction
from app.payouts import transfers
from app.payouts.errors import NotResolvable
from app.payouts.models import Payout, PayoutReview
from app.payouts.states import AWAITING_OUTCOME, NEEDS_REVIEW, OPERATOR, RAIL
from app.payouts.transfers import record_outcome

OUTCOMES = {"paid": TransferOutcome.PAID, "failed": TransferOutcome.FAILED}


@dataclass(frozen=True)
class OpenReview:
    """A review that nobody has resolved, with the payout it is about, if there is one."""

    review: PayoutReview
    payout: Payout | None


def list_open_reviews(limit: int = 100, *, payout_id: str | None = None) -> Sequence[OpenReview]:
    """The oldest first; with a payout's id only its own."""
    statement = (
        select(PayoutReview, Payout)
        .outerjoin(Payout, Payout.id == PayoutReview.reference)
        .where(PayoutReview.resolved_at.is_(None))
    )
    if payout_id is not None:
        statement = statement.where(PayoutReview.reference == payout_id)
    rows = db.session.execute(statement.order_by(PayoutReview.id).limit(limit)).all()
    return [OpenReview(*row) for row in rows]


def check_transfer_now(payout_id: str) -> tuple[str, str]:
    """What the rail says now, and the payout's state after it. Raises NotResolvable for an unknown payout."""
    _get_status(payout_id)
    transfer_state = transfers.get_transfer_state(payout_id)
    return transfer_state.outcome.value, record_outcome(payout_id, transfer_state, actor=RAIL)


def resolve_payout(payout_id: str, outcome: str, note: str) -> str:
    """Ends a payout in review as somebody has found out at the rail or the bank. Raises NotResolvable."""
    if _get_status(payout_id) != NEEDS_REVIEW:
        raise NotResolvable(f"It is {_get_status(payout_id)}; only one that needs review is resolved by hand.")
    review_ids = [open_review.review.id for open_review in list_open_reviews(payout_id=payout_id)]
    release_connection()
    status = record_outcome(payout_id, TransferState(outcome=OUTCOMES[outcome], reason=note), actor=OPERATOR)
    if status in AWAITING_OUTCOME:
        raise NotResolvable(f"It is {status} still.")
    # What has only now come up, such as another answer of the rail, stays open.
    close_reviews(payout_id, note, review_ids=review_ids)
    return status


def close_reviews(reference: str, note: str, *, review_ids: Sequence[int] | None = None) -> int:
    """Marks the open reviews of a reference as looked at, or only those with these ids; how many."""
    conditions = [PayoutReview.reference == reference, PayoutReview.resolved_at.is_(None)]
    if review_ids is not None:
        conditions.append(PayoutReview.id.in_(review_ids))
    with transaction() as session:
        closed = session.execute(
            update(PayoutReview)
            .where(*conditions)
            .values(resolved_at=func.now(), note=note[:500])
            .returning(PayoutReview.id)
            .execution_options(synchronize_session=False)
        )
        return len(closed.all())


def find_merchant_id(id_or_email: str) -> str | None:
    """The id of a merchant, by id or address."""
    column: Any = Account.id if is_id(id_or_email) else Account.email
    return db.session.scalar(
        select(Account.id).where(column == id_or_email.strip().lower(), Account.roles.contains(["merchant"]))
    )


def _get_status(payout_id: str) -> str:
    status = db.session.scalar(select(Payout.status).where(Payout.id == payout_id))
    release_connection()
    if status is None:
        raise NotResolvable(f"There is no payout {payout_id}.")
    return status
