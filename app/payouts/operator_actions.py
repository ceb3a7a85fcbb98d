"""What operators do by hand: ask the rail about a payout, and end one that needs review."""

from sqlalchemy import select

from app.accounts.models import Account
from app.clients.payrail import TransferOutcome, TransferState
from app.core.db import db, release_connection
from app.core.ids import is_id
from app.payouts import transfers
from app.payouts.errors import NotResolvable
from app.payouts.models import Payout
from app.payouts.outcomes import record_outcome
from app.payouts.reviews import close_reviews, list_open_reviews
from app.payouts.states import AWAITING_OUTCOME, NEEDS_REVIEW, OPERATOR, RAIL

OUTCOMES = {"paid": TransferOutcome.PAID, "failed": TransferOutcome.FAILED}


def check_transfer_now(payout_id: str) -> tuple[str, str]:
    """Ask the rail now; return its outcome and the payout's status. Raises NotResolvable for an unknown payout."""
    _get_status(payout_id)
    transfer_state = transfers.get_transfer_state(payout_id)
    return transfer_state.outcome.value, record_outcome(payout_id, transfer_state, actor=RAIL)


def resolve_payout(payout_id: str, outcome: str, note: str) -> str:
    """End a payout that needs review, and close its reviews; return its status. Raises NotResolvable."""
    if _get_status(payout_id) != NEEDS_REVIEW:
        raise NotResolvable(f"It is {_get_status(payout_id)}; only one that needs review is resolved by hand.")
    review_ids = [open_review.review.id for open_review in list_open_reviews(payout_id=payout_id)]
    release_connection()
    status = record_outcome(payout_id, TransferState(outcome=OUTCOMES[outcome], reason=note), actor=OPERATOR)
    if status in AWAITING_OUTCOME:
        raise NotResolvable(f"It is {status} still.")
    # A review that was created since, such as for another response of the rail, stays open.
    close_reviews(payout_id, note, review_ids=review_ids)
    return status


def find_merchant_id(id_or_email: str) -> str | None:
    """The id of a merchant by id or email address."""
    is_account = Account.id == id_or_email if is_id(id_or_email) else Account.email == id_or_email.strip().lower()
    return db.session.scalar(select(Account.id).where(is_account, Account.roles.contains(["merchant"])))


def _get_status(payout_id: str) -> str:
    status = db.session.scalar(select(Payout.status).where(Payout.id == payout_id))
    release_connection()
    if status is None:
        raise NotResolvable(f"There is no payout {payout_id}.")
    return status
