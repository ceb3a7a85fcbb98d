"""The mail to the owner of a payout to a new destination, sent before it leaves, and its link that stops the payout.

The link holds the encrypted id of the payout; it is not stored.
"""

from collections.abc import Callable

from flask import current_app
from sqlalchemy import func, select, update

from app.accounts.models import Account
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.clients.message import Message
from app.core.db import db, release_connection
from app.core.formatting import format_money, format_time
from app.core.jobs import Permanent
from app.core.tokens import decrypt_token, encrypt_token
from app.core.transaction import transaction
from app.payouts.models import Payout
from app.payouts.reviews import OWNER_NOT_TOLD, create_review
from app.payouts.states import CANCELLABLE, SERVICE
from app.payouts.transitions import cancel_payouts

OWNER_NOT_TOLD_REASON = "OWNER_NOT_TOLD"
STOP_LINK_PURPOSE = "payout-stop"
MAX_ERROR_LENGTH = 200


def notify_owner(payout: Payout, *, fence: Callable[[], None]) -> None:
    """Mail the owner and start the hold. When the mail is refused for good, cancel the payout.

    Raises Transient or Ambiguous; the job runs again, and the payout does not leave before the mail has.
    """
    try:
        send(_build_notice(payout), fence=fence)
    except Permanent as error:
        _cancel_unnotified(payout.id, str(error))
    else:
        _start_hold(payout.id)


def _build_notice(payout: Payout) -> Message:
    account = db.session.execute(select(Account.email, Account.name).where(Account.id == payout.account_id)).one()
    hold_time = payout.held_until - payout.created_at if payout.held_until else None
    leaves_at = max(earliest_time for earliest_time in (payout.held_until, payout.scheduled_for) if earliest_time)
    message = render_email(
        "payout_new_destination",
        to=account.email,
        key=f"payout:{payout.id}",
        name=account.name,
        amount=format_money(payout.amount_minor),
        destination=payout.shown_as,
        leaves_at=format_time(leaves_at),
        can_be_stopped=bool(hold_time) or payout.scheduled_for is not None,
        stop_url=build_stop_url(payout.id),
        payout_id=payout.id,
    )
    release_connection()
    return message


def _start_hold(payout_id: str) -> None:
    """Start the hold now, because its time counts from when the mail has left."""
    held_until = func.now() + (Payout.held_until - Payout.created_at)
    with transaction() as session:
        session.execute(
            update(Payout)
            .where(Payout.id == payout_id, Payout.status.in_(CANCELLABLE), Payout.owner_told_at.is_(None))
            .values(
                owner_told_at=func.now(),
                held_until=held_until,
                due_at=func.greatest(held_until, Payout.scheduled_for),
                updated_at=func.now(),
                version=Payout.version + 1,
            )
            .execution_options(synchronize_session=False)
        )


def _cancel_unnotified(payout_id: str, error: str) -> None:
    with transaction() as session:
        if cancel_payouts(session, [payout_id], actor=SERVICE, reason=OWNER_NOT_TOLD_REASON):
            create_review(session, payout_id, OWNER_NOT_TOLD, error=error[:MAX_ERROR_LENGTH])


def build_stop_url(payout_id: str) -> str:
    """The address of the page on which anyone with the link can stop the payout."""
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/payout-stop/{encrypt_token(STOP_LINK_PURPOSE, bytes.fromhex(payout_id))}"


def find_payout_id(token: str) -> str | None:
    """The payout's id in the token of a stop link; None for a token that is not ours."""
    payload = decrypt_token(STOP_LINK_PURPOSE, token)
    return payload.hex() if payload is not None else None
