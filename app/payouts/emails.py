"""Mails to merchants about payouts and statements, and to operators about reviews."""

from dataclasses import replace
from datetime import date

from sqlalchemy import func, select

from app.accounts.models import Account
from app.clients.email_templates import render_email
from app.clients.message import Attachment, Message
from app.core.db import db
from app.core.formatting import format_money, format_time
from app.ledger.models import Balance
from app.payouts.models import Payout, PayoutReview
from app.payouts.reviews import RETIRED_WITH_MONEY, REVIEW_TEXTS
from app.payouts.statement import draw_statement, find_statement

REASON_TEXTS = {
    "DECLINED": "The wallet or bank declined it.",
    "BOUNCED": "The wallet or bank sent it back.",
    "DESTINATION_UNREADABLE": "The saved payout details could not be read any more; please enter them again.",
}
NO_REASON_TEXT = "The payment rail gave no reason."


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
        payout_id=payout.id,
    )


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
    )
    file_name = f"Statement {first_day:%Y-%m}.pdf"
    return replace(message, attachments=(Attachment(file_name, draw_statement(monthly_statement), "application/pdf"),))
