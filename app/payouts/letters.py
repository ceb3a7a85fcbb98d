"""What merchants get by mail: the words stand in templates/email, the facts come from here."""

from dataclasses import replace
from datetime import date

from sqlalchemy import func, select

from app.accounts.models import Account
from app.clients.letters import letter
from app.clients.message import Attachment, Message
from app.core.dates import moment
from app.core.db import db
from app.core.money import spoken
from app.ledger.models import Purse
from app.payouts.models import Payout, PayoutReview
from app.payouts.reviewing import RETIRED_WITH_MONEY, SENTENCES
from app.payouts.statement import month_of, statement_pdf

REASONS = {
    "DECLINED": "The wallet or bank declined it.",
    "BOUNCED": "The wallet or bank sent it back.",
    "DESTINATION_UNREADABLE": "The saved payout details could not be read any more; please enter them again.",
}
UNTOLD = "The payment rail gave no reason."


def about(template: str, payout_id: str, *, key: str) -> Message | None:
    """The news of a payout, to its merchant; None when he has gone since."""
    row = db.session.execute(
        select(Payout, Account, func.coalesce(Purse.available_minor, 0))
        .join(Account, Account.id == Payout.account_id)
        .outerjoin(Purse, Purse.owner_id == Payout.account_id)
        .where(Payout.id == payout_id, Account.roles.contains(["merchant"]))
    ).first()
    if row is None:
        return None
    payout, account, available = row
    return letter(
        template,
        to=account.email,
        key=key,
        name=account.name,
        amount=spoken(payout.amount_minor),
        destination=payout.shown_as,
        when=moment(payout.settled_at) if payout.settled_at else "",
        why=REASONS.get((payout.reason or "").upper(), UNTOLD),
        available=spoken(available),
        payout_id=payout.id,
    )


def for_operator(review_id: int, account_id: str, *, key: str) -> Message | None:
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
    return letter(
        "payout_review",
        to=account.email,
        key=key,
        name=account.name,
        what=SENTENCES[review.kind],
        amount=spoken(payout.amount_minor) if payout else "",
        destination=payout.shown_as if payout else "",
        label="Account" if review.kind == RETIRED_WITH_MONEY else "Payout",
        reference=review.reference,
    )


def with_statement(account_id: str, first: date, *, key: str) -> Message | None:
    """A month's statement, to its merchant; None when he has gone since."""
    month = month_of(account_id, first)
    account = db.session.get(Account, account_id)
    if month is None or account is None or "merchant" not in account.roles:
        return None
    message = letter(
        "payout_statement",
        to=account.email,
        key=key,
        name=account.name,
        month=month.title,
        balance=spoken(month.found.closing.balance_minor),
        earned=spoken(month.total("settlement")),
        paid=spoken(-month.total("payout")),
    )
    name = f"Statement {first:%Y-%m}.pdf"
    return replace(message, attachments=(Attachment(name, statement_pdf(month), "application/pdf"),))
