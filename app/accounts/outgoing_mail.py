"""Mail of an account: notices to its owner, and mail that it sends to other people, with daily limits.

    sender = build_sender(row)                             # the row has `list_sender_columns(Event.organiser_id)`
    count_mails(session, sender, addresses)                # in the action, next to `enqueue`
    send_for_organisation(sender_id, message, run=run)     # in the job

The sender is the organisation of the event, even if one of its staff or an admin acts, because the mail has its name.
Its address is that of its present owner. A merchant can be a sender as well, by `send_for_team`. Jobs that call one of
these are declared with `to_others=True`; docs/security.md lists them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy import Label, literal, select
from sqlalchemy.orm import QueryableAttribute
from sqlalchemy.orm import Session as OrmSession

from app.accounts.errors import MailLimitReached, SenderNotVerified
from app.accounts.models import Account
from app.accounts.organisation_details import contact_sql
from app.accounts.permissions import ORGANISER
from app.accounts.queries import owner_id_sql
from app.clients.mail import Message, send
from app.core import throttle
from app.core.db import db, release_connection
from app.core.jobs import Run
from app.core.outbox import enqueue, job_spec
from app.core.outbox.writer import Work
from app.core.throttle import Rule
from app.core.transaction import transaction

ONE_DAY = timedelta(days=1)
MAILS_PER_SENDER = Rule("mails-sender", 5000, ONE_DAY)
MAILS_PER_RECIPIENT = Rule("mails-recipient", 20, ONE_DAY)
UNREQUESTED_MAILS_PER_RECIPIENT = Rule("mails-unasked", 50, ONE_DAY)
"""For mail that the sender does not request, such as tickets and stock alerts. Beyond it, mail is dropped and logged."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Sender:
    """The organisation or merchant in whose name a mail is sent, and the address of its owner.

    `contact` is where answers go, if that is another address.
    """

    id: str
    email: str
    verified: bool
    contact: str | None = None


def list_sender_columns(sender_id: QueryableAttribute[str]) -> list[Label[str] | Label[bool]]:
    """The columns that `build_sender` reads, in a query where `Account` is the sender's owner."""
    return [
        sender_id.label("sender_id"),
        Account.email.label("sender_email"),
        Account.email_verified_at.is_not(None).label("sender_verified"),
    ]


def build_sender(row: Mapping[Any, Any]) -> Sender:
    """The sender in a row with the columns of `list_sender_columns`."""
    return Sender(row["sender_id"], row["sender_email"], row["sender_verified"])


def load_sender(session: OrmSession, team_id: str, kind: str = ORGANISER) -> Sender:
    """The organisation or merchant as a sender, loaded by its id."""
    id = literal(team_id)
    is_organisation = kind == ORGANISER
    columns = Account.email, Account.email_verified_at.is_not(None)
    contact = contact_sql(id) if is_organisation else Account.email.expression
    owner_id = owner_id_sql(id) if is_organisation else id
    return Sender(team_id, *session.execute(select(*columns, contact).where(Account.id == owner_id)).one())


def count_mails(session: OrmSession, sender: Sender, recipients: Iterable[str]) -> None:
    """Counts one mail to each address towards the sender's daily limits. Mail to the sender's own address is free.

    Raises SenderNotVerified, and MailLimitReached for the sender or for one recipient. The error must end the
    transaction, so that nothing is counted and nothing is sent.
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
    """The address of an account if it is verified now. Replies may go only to a verified address."""
    if account_id is None:
        return None
    address = db.session.scalar(
        select(Account.email).where(Account.id == account_id, Account.email_verified_at.is_not(None))
    )
    release_connection()
    return address


def send_for_organisation(organisation_id: str, message: Message, *, run: Run, already_counted: bool = True) -> None:
    """`send_for_team` for an organisation."""
    send_for_team(organisation_id, ORGANISER, message, run=run, already_counted=already_counted)


def send_for_team(sender_id: str, kind: str, message: Message, *, run: Run, already_counted: bool = True) -> None:
    """Sends a mail of an organisation or a merchant if the address of its owner is verified now; otherwise drops and
    logs it.

    Replies go to the contact of the organisation, else to that address, or nowhere. A mail that no request has counted
    (`already_counted=False`) counts here, once for all attempts, towards UNREQUESTED_MAILS_PER_RECIPIENT. Raises what
    `mail.send` raises.
    """
    sender = load_sender(db.session(), sender_id, kind)
    release_connection()
    if not sender.verified:
        log.warning("outgoing_mail.sender_not_verified", sender_id=sender_id, key=run.key)
        return
    # Only the first attempt counts: while mail is down, the retries of a few tickets would use up the daily limit.
    if (
        not already_counted
        and run.attempt == 1
        and message.to != sender.email
        and _exceeds_recipient_limit(sender_id, message.to)
    ):
        log.warning("outgoing_mail.recipient_limit_reached", sender_id=sender_id, key=run.key)
        return
    send(replace(message, reply_to=(sender.contact or sender.email) if message.reply_to else None), fence=run.fence)


def _exceeds_recipient_limit(sender_id: str, address: str) -> bool:
    with transaction() as session:
        return throttle.hit(session, UNREQUESTED_MAILS_PER_RECIPIENT, f"{sender_id}:{address}").exceeded


def enqueue_notice(template: str, account_id: str, **context: Any) -> None:
    """Sends the notice after the open transaction commits. `context` goes to its template."""
    enqueue("accounts.mail_notice", template=template, account_id=account_id, **context)


def build_notice_job(template: str, account_id: str, **context: object) -> Work:
    """The same notice as a job for `enqueue_all`."""
    return job_spec("accounts.mail_notice", template=template, account_id=account_id, **context)
