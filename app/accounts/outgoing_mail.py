"""Mail that an account has sent to others: who may, how much a day, and the check before it leaves.

    sender = sender_of(row)                                # the row was read with `sender_columns(Account)`
    count_mails(session, sender, addresses)                # in the action, beside `enqueue`
    send_for(sender_id, message, run=run)                  # in the job

The sender is the organiser of the event, no matter who of the organiser's people or of the admins acts, because the mail goes
out in the organiser's name. Jobs that use `send_for` are declared with `to_others=True`; docs/security.md lists them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.errors import MailLimitReached, SenderNotVerified
from app.accounts.models import Account
from app.clients.mail import Message, send
from app.core import throttle
from app.core.db import fetch_row, release_connection
from app.core.jobs import Run
from app.core.throttle import Rule
from app.core.transaction import transaction

ONE_DAY = timedelta(days=1)
MAILS_PER_SENDER = Rule("mails-sender", 5000, ONE_DAY)
MAILS_PER_RECIPIENT = Rule("mails-recipient", 20, ONE_DAY)
UNREQUESTED_MAILS_PER_RECIPIENT = Rule("mails-unasked", 50, ONE_DAY)
"""For mail that no request of the sender causes: tickets, stock alerts. Beyond it the mail is dropped and logged."""
VERIFIED_ADDRESS_SQL = "SELECT email FROM account WHERE id = %s AND email_verified_at IS NOT NULL"
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Sender:
    """The account that answers for a mail."""

    id: str
    email: str
    verified: bool


def list_sender_columns(account: Any) -> list[Any]:
    """The columns of an account (the class, or an alias) that `sender_of` reads."""
    return [
        account.id.label("sender_id"),
        account.email.label("sender_email"),
        account.email_verified_at.is_not(None).label("sender_verified"),
    ]


def build_sender(row: Mapping[Any, Any]) -> Sender:
    """The sender in a row that has `sender_columns`."""
    return Sender(row["sender_id"], row["sender_email"], row["sender_verified"])


def load_sender(session: OrmSession, account_id: str) -> Sender:
    """The account as a sender, for actions that have read no such row."""
    return build_sender(
        session.execute(select(*list_sender_columns(Account)).where(Account.id == account_id)).mappings().one()
    )


def count_mails(session: OrmSession, sender: Sender, recipients: Iterable[str]) -> None:
    """Counts one mail to each of these addresses towards the sender's day; mail to the sender's own is not counted.

    Raises SenderNotVerified, and MailLimitReached for the sender or for one recipient. Let it end the transaction: then
    nothing was counted and nothing is sent.
    """
    mail_counts = Counter(recipient for recipient in recipients if recipient != sender.email)
    if not sender.verified:
        raise SenderNotVerified()
    if not mail_counts:
        return
    recipient_hits = {(MAILS_PER_RECIPIENT, f"{sender.id}:{address}"): count for address, count in mail_counts.items()}
    sender_limit, *recipient_limits = throttle.hit_many(
        session, {(MAILS_PER_SENDER, sender.id): mail_counts.total(), **recipient_hits}
    )
    if sender_limit.exceeded:
        raise MailLimitReached(retry_after=sender_limit.seconds, limit=MAILS_PER_SENDER.allowed)
    exceeded_limits = {
        address: recipient_limit
        for address, recipient_limit in zip(mail_counts, recipient_limits, strict=True)
        if recipient_limit.exceeded
    }
    if exceeded_limits:
        raise MailLimitReached(
            "One address can get only so many mails a day from one sender; data.recipients names those that had them.",
            retry_after=max(limit_status.seconds for limit_status in exceeded_limits.values()),
            limit=MAILS_PER_RECIPIENT.allowed,
            recipients=sorted(exceeded_limits),
        )


def find_verified_address(account_id: str | None) -> str | None:
    """The account's address if it is verified at this moment: the only kind that answers may go to."""
    row = None if account_id is None else fetch_row(VERIFIED_ADDRESS_SQL, (account_id,))
    release_connection()
    return None if row is None else row[0]


def send_for_account(sender_id: str, message: Message, *, run: Run, already_counted: bool = True) -> None:
    """Sends a mail if its sender's address is verified at this moment, and else drops it.

    Answers go to that verified address or nowhere. With `counted=False` (no request has counted it) it is counted here,
    once for all tries, towards UNASKED_PER_RECIPIENT. Raises what `mail.send` raises.
    """
    address = find_verified_address(sender_id)
    if address is None:
        log.warning("outgoing_mail.sender_not_verified", sender_id=sender_id, key=run.key)
        return
    # Only the first try is counted: while no mail can leave, the tries of a few tickets would use the day up.
    if (
        not already_counted
        and run.attempt == 1
        and message.to != address
        and _exceeds_recipient_limit(sender_id, message.to)
    ):
        log.warning("outgoing_mail.recipient_limit_reached", sender_id=sender_id, key=run.key)
        return
    send(replace(message, reply_to=address if message.reply_to else None), fence=run.fence)


def _exceeds_recipient_limit(sender_id: str, address: str) -> bool:
    with transaction() as session:
        return throttle.hit(session, UNREQUESTED_MAILS_PER_RECIPIENT, f"{sender_id}:{address}").exceeded
