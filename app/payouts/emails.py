"""What merchants get by mail: the words stand in templates/email, the facts come from here."""

from dataclasses import replace
from datetime import date

from sqlalchemy import func, select

from app.accounts.models import Account
from app.clients.email_templates import render_email
from app.clients.message import Attachment, Message
from app.core.date_format import format_time
from app.core.db import db
from app.core.money import format_money
from app.ledger.models import Balance
from app.payouts.models import Payout, PayoutReview
from app.payouts.statement import draw_statement, find_statement
from app.payouts.transitions import RETIRED_WITH_MONEY, REVIEW_TEXTS

REASON_TEXTS = {
    "DECLINED": "The wallet or bank declined it.",
    "BOUNCED": "The wallet or bank sent it back.",
    "DESTINATION_UNREADABLE": "The saved payout details could not be read any more; please enter them again.",
}
NO_REASON_TEXT = "The payment rail gave no reason."


def build_payout_email(template: str, payout_id: str, *, key: str) -> Message | None:
    """The news of a payout, to its merchant; None when they have gone since."""
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
        when=format_time(payout.settled_at) if payout.settled_at else "",
        why=REASON_TEXTS.get((payout.reason or "").upper(), NO_REASON_TEXT),
        available=format_money(available),
        payout_id=payout.id,
    )


def build_operator_email(review_id: int, account_id: str, *, key: str) -> Message | None:
    """What an operator has to look at; None when it is resolved, or the account operates nothing any more."""
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
        what=REVIEW_TEXTS[review.kind],
        amount=format_money(payout.amount_minor) if payout else "",
        destination=payout.shown_as if payout else "",
        label="Account" if review.kind == RETIRED_WITH_MONEY else "Payout",
        reference=review.reference,
    )


def build_statement_email(account_id: str, first_day: date, *, key: str) -> Message | None:
    """A month's statement, to its merchant; None when they have gone since."""
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
    name = f"Statement {first_day:%Y-%m}.pdf"
    return replace(message, attachments=(Attachment(name, draw_statement(monthly_statement), "application/pdf"),))
