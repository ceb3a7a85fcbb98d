"""What operators do by hand: look at what needs a person, ask the rail, say how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update

from app.accounts.models import Account
from app.clients.payrail import TransferOutcome, TransferState
from app.core.db import db, release
from app.core.ids import is_id
from app.core.transaction import transaction
from app.payouts import submitting
from app.payouts.errors import NotResolvable
from app.payouts.models import Payout, PayoutReview
from app.payouts.recording import record
from app.payouts.states import ASKED, NEEDS_REVIEW, OPERATOR, RAIL

OUTCOMES = {"paid": TransferOutcome.PAID, "failed": TransferOutcome.FAILED}


@dataclass(frozen=True)
class Open:
    """A review that nobody has resolved, with the payout it is about, if there is one."""

    review: PayoutReview
    payout: Payout | None


def open_reviews(limit: int = 100, *, payout_id: str | None = None) -> Sequence[Open]:
    """The oldest first; with a payout's id only its own."""
    statement = (
        select(PayoutReview, Payout)
        .outerjoin(Payout, Payout.id == PayoutReview.reference)
        .where(PayoutReview.resolved_at.is_(None))
    )
    if payout_id is not None:
        statement = statement.where(PayoutReview.reference == payout_id)
    rows = db.session.execute(statement.order_by(PayoutReview.id).limit(limit)).all()
    return [Open(*row) for row in rows]


def ask_now(payout_id: str) -> tuple[str, str]:
    """What the rail says now, and the payout's state after it. Raises NotResolvable for an unknown payout."""
    _state(payout_id)
    told = submitting.asked(payout_id)
    return told.outcome.value, record(payout_id, told, actor=RAIL)


def resolve(payout_id: str, outcome: str, note: str) -> str:
    """Ends a payout in review as somebody has found out at the rail or the bank. Raises NotResolvable."""
    if _state(payout_id) != NEEDS_REVIEW:
        raise NotResolvable(f"It is {_state(payout_id)}; only one that needs review is resolved by hand.")
    known = [review.review.id for review in open_reviews(payout_id=payout_id)]
    release()
    state = record(payout_id, TransferState(outcome=OUTCOMES[outcome], reason=note), actor=OPERATOR)
    if state in ASKED:
        raise NotResolvable(f"It is {state} still.")
    # What has only now come up, such as another answer of the rail, stays open.
    close(payout_id, note, only=known)
    return state


def close(reference: str, note: str, *, only: Sequence[int] | None = None) -> int:
    """Marks the open reviews of a reference as looked at, or only those with these ids; how many."""
    wanted = [PayoutReview.reference == reference, PayoutReview.resolved_at.is_(None)]
    if only is not None:
        wanted.append(PayoutReview.id.in_(only))
    with transaction() as session:
        closed = session.execute(
            update(PayoutReview)
            .where(*wanted)
            .values(resolved_at=func.now(), note=note[:500])
            .returning(PayoutReview.id)
            .execution_options(synchronize_session=False)
        )
        return len(closed.all())


def merchant_id(named: str) -> str | None:
    """The id of a merchant, by id or address."""
    column: Any = Account.id if is_id(named) else Account.email
    return db.session.scalar(
        select(Account.id).where(column == named.strip().lower(), Account.roles.contains(["merchant"]))
    )


def _state(payout_id: str) -> str:
    status = db.session.scalar(select(Payout.status).where(Payout.id == payout_id))
    release()
    if status is None:
        raise NotResolvable(f"There is no payout {payout_id}.")
    return status
