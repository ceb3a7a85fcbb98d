"""Mails about payouts: to merchants, to operators about reviews, and to the owner of a payout to a new destination.

The last is sent before the payout leaves. Its link, which stops the payout, holds the encrypted id and is not stored.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from flask import current_app
from sqlalchemy import func, select, update

from app.accounts.models import Account
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.clients.message import Attachment, Message
from app.core.db import db, release_connection
from app.core.formatting import format_money, format_time
from app.core.jobs import Permanent
from app.core.tokens import decrypt_token, encrypt_token
from app.core.transaction import transaction
from app.ledger.models import Balance
from app.payouts.models import Payout, PayoutReview
from app.payouts.outcomes import cancel_payouts
from app.payouts.reviews import OWNER_NOT_TOLD, RETIRED_WITH_MONEY, REVIEW_TEXTS, create_review
from app.payouts.statement import draw_statement, find_statement, format_payout_reference
from app.payouts.states import CANCELLABLE, SERVICE

REASON_TEXTS = {
    "DECLINED": "The wallet or bank did not accept it: the number may be wrong, or the wallet closed or full.",
    "BOUNCED": "The wallet or bank sent it back: the number may be wrong, or the account closed.",
    "DESTINATION_UNREADABLE": "The saved payout details could not be read any more; please enter them again.",
}
NO_REASON_TEXT = "The wallet or bank gave no reason."


def build_payout_email(template: str, payout_id: str, *, key: str) -> Message | None:
    """The mail about a payout that was paid, failed or came back; None when the merchant was deleted."""
    row = db.session.execute(
        select(Payout, Account, func.coalesce(Balance.available_minor, 0))
        .join(Account, Account.id == Payout.account_id)
        .outerjoin(Balance, Balance.owner_id == Payout.account_id)
        .where(Payout.id == payout_id, Account.roles.contains(["merchant"]))
    ).first()
    if row is None:
        return None
    payout, account, available = row
    return render_email(
        template,
        to=account.email,
        key=key,
        name=account.name,
        amount=format_money(payout.amount_minor),
        destination=payout.shown_as,
        ended_at=format_time(payout.settled_at) if payout.settled_at else "",
        failure=REASON_TEXTS.get((payout.reason or "").upper(), NO_REASON_TEXT),
        available=format_money(available),
        payout_reference=format_payout_reference(payout.id),
        payouts_url=_build_payouts_url(),
        details_url=_build_stall_url("payout-details"),
    )


def _build_payouts_url() -> str:
    return _build_stall_url("payouts")


def _build_stall_url(page: str) -> str:
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/stall/{page}"


def build_operator_email(review_id: int, account_id: str, *, key: str) -> Message | None:
    """The mail about a review; None when it is resolved, or the account is no admin any more."""
    row = db.session.execute(
        select(PayoutReview, Payout, Account)
        .select_from(PayoutReview)
        .join(Account, (Account.id == account_id) & Account.admin_tier.is_not(None))
        .outerjoin(Payout, Payout.id == PayoutReview.reference)
        .where(PayoutReview.id == review_id, PayoutReview.resolved_at.is_(None))
    ).first()
    if row is None:
        return None
    review, payout, account = row
    return render_email(
        "payout_review",
        to=account.email,
        key=key,
        name=account.name,
        problem=REVIEW_TEXTS[review.kind],
        amount=format_money(payout.amount_minor) if payout else "",
        destination=payout.shown_as if payout else "",
        reference_label="Account" if review.kind == RETIRED_WITH_MONEY else "Payout",
        reference=review.reference,
    )


def build_statement_email(account_id: str, first_day: date, *, key: str) -> Message | None:
    """The mail with a month's statement as PDF; None when the merchant was deleted."""
    monthly_statement = find_statement(account_id, first_day)
    account = db.session.get(Account, account_id)
    if monthly_statement is None or account is None or "merchant" not in account.roles:
        return None
    message = render_email(
        "payout_statement",
        to=account.email,
        key=key,
        name=account.name,
        month=monthly_statement.title,
        balance=format_money(monthly_statement.ledger_period.closing.balance_minor),
        earned=format_money(monthly_statement.sum_amounts("settlement")),
        paid=format_money(-monthly_statement.sum_amounts("payout")),
        payouts_url=_build_payouts_url(),
    )
    file_name = f"Statement {first_day:%Y-%m}.pdf"
    return replace(message, attachments=(Attachment(file_name, draw_statement(monthly_statement), "application/pdf"),))


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
        payout_reference=format_payout_reference(payout.id),
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
