"""Jobs of payouts: submission, status checks, checks for bounces, mails and monthly statements."""

from datetime import timedelta
from typing import cast

from sqlalchemy import ColumnElement, exists, func, select, update

from app.accounts.queries import list_operator_ids
from app.clients.mail import send
from app.clients.payrail import TransferOutcome, TransferState
from app.core.db import db, release_connection
from app.core.jobs import Delivery, Postpone, Run, job
from app.core.outbox import Outbox, enqueue_many
from app.core.transaction import transaction
from app.payouts import emails, statement, transfers
from app.payouts.callbacks import verify_callback
from app.payouts.emails import notify_owner
from app.payouts.models import Payout
from app.payouts.outcomes import mark_needs_review, record_outcome
from app.payouts.states import BOUNCE_WINDOW, PAID, PROCESSING, RAIL, REQUESTED, SCHEDULED
from app.payouts.transfers import PayoutSnapshot

OUTCOME_TIMEOUT = timedelta(hours=72)
STATUS_CHECK_AGES = tuple(timedelta(seconds=seconds) for seconds in (10, 30, 60, 120, 300, 900))
STATUS_CHECK_INTERVAL = timedelta(minutes=15)
BOUNCE_CHECK_AGES = (
    *(timedelta(minutes=5), timedelta(hours=1), timedelta(hours=6)),
    *(timedelta(days=days) for days in range(1, BOUNCE_WINDOW.days + 1)),
)
PAUSE_RETRY_DELAY = timedelta(seconds=60)
OVERDUE_AFTER = timedelta(minutes=2)
PROCESS_TIME_LIMIT = timedelta(seconds=40)
"""Enough for a status check at the rail and a transfer after it."""


@job("payouts.carry", Delivery.AT_LEAST_ONCE, critical=True, max_attempts=100, time_limit=PROCESS_TIME_LIMIT)
def process_payout(run: Run, *, payout_id: str) -> None:
    """Take a payout from the request to its outcome: notify the owner of a new destination, submit the payout to the
    rail, and check its status until the outcome is known."""
    snapshot = transfers.load_snapshot(payout_id)
    if snapshot is not None and snapshot.needs_owner_notice:
        notify_owner(snapshot.payout, fence=run.fence)
        snapshot = transfers.load_snapshot(payout_id)
    if snapshot is None or snapshot.payout.status not in (SCHEDULED, REQUESTED, PROCESSING):
        return
    transfer_state = _submit_or_check(run, snapshot)
    if transfer_state is None:
        raise Postpone(timedelta(seconds=1), "another process has changed the payout")
    if record_outcome(payout_id, transfer_state, actor=RAIL) == PROCESSING:
        _postpone_status_check(payout_id, snapshot.age)


def _submit_or_check(run: Run, snapshot: PayoutSnapshot) -> TransferState | None:
    payout = snapshot.payout
    if payout.status == PROCESSING:
        state = transfers.get_transfer_state(payout.id)
        must_resend = state.outcome is TransferOutcome.NOT_FOUND and not snapshot.is_merchant_paused
        return transfers.send_transfer(payout, run.fence) if must_resend else state
    if snapshot.delay > timedelta():
        raise Postpone(snapshot.delay, "it is scheduled for later, or on hold")
    if snapshot.is_merchant_paused or not transfers.is_rail_enabled():
        raise Postpone(
            PAUSE_RETRY_DELAY, "the merchant has paused" if snapshot.is_merchant_paused else "the rail is switched off"
        )
    return transfers.send_transfer(payout, run.fence) if transfers.mark_processing(payout) else None


def _postpone_status_check(payout_id: str, age: timedelta) -> None:
    if age >= OUTCOME_TIMEOUT:
        mark_needs_review(payout_id)
        return
    delay = next((check_age - age for check_age in STATUS_CHECK_AGES if check_age > age), STATUS_CHECK_INTERVAL)
    raise Postpone(max(delay, timedelta(seconds=1)), "the rail does not know the outcome yet")


@job("payouts.follow", Delivery.AT_LEAST_ONCE)
def check_for_bounce(run: Run, *, payout_id: str) -> None:
    """Check whether a paid payout came back, at growing intervals for 14 days."""
    time_since_payment = cast(ColumnElement[timedelta], func.now() - Payout.settled_at)
    row = db.session.execute(select(Payout.status, time_since_payment).where(Payout.id == payout_id)).first()
    release_connection()
    if row is None:
        return
    status, age = row
    if status != PAID:
        return
    transfer_state = transfers.get_transfer_state(payout_id)
    if (
        transfer_state.outcome is not TransferOutcome.UNKNOWN
        and record_outcome(payout_id, transfer_state, actor=RAIL) != PAID
    ):
        return
    delay = next((check_age - age for check_age in BOUNCE_CHECK_AGES if check_age > age), None)
    if delay is not None:
        raise Postpone(delay, "it may still bounce")


@job("payouts.ask", Delivery.AT_LEAST_ONCE, critical=True, max_attempts=100)
def process_callback(run: Run, *, event_id: str) -> None:
    """Ask the rail about the payout of a callback. The callback's own content can only create a review."""
    verify_callback(event_id)


@job("payouts.watch", Delivery.LOCAL, every=timedelta(minutes=1))
def requeue_lost_payouts(run: Run) -> None:
    """Enqueue a new job for payouts that lost theirs because its process died too often."""
    with transaction() as session:
        run.done_in(session)
        has_job = exists().where(Outbox.aggregate == "payout:" + Payout.id, Outbox.state.in_(("ready", "leased")))
        lost_ids = session.scalars(
            update(Payout)
            .where(
                Payout.due_at < func.now() - OVERDUE_AFTER,
                Payout.status.in_((SCHEDULED, REQUESTED, PROCESSING)),
                ~has_job,
            )
            .values(due_at=func.now())
            .returning(Payout.id)
            .execution_options(synchronize_session=False)
        ).all()
        for payout_id in lost_ids:
            enqueue_many("payouts.carry", [(None, {"payout_id": payout_id})], aggregate=f"payout:{payout_id}")


@job("payouts.mail", Delivery.AT_LEAST_ONCE)
def send_payout_email(run: Run, *, template: str, payout_id: str) -> None:
    """Mail the merchant that a payout was paid, failed or came back."""
    message = emails.build_payout_email(template, payout_id, key=run.key)
    release_connection()
    if message is not None:
        send(message, fence=run.fence)


@job("payouts.notify_operators", Delivery.LOCAL)
def enqueue_operator_emails(run: Run, *, review_id: int) -> None:
    """Enqueue a mail about a review to each operator."""
    with transaction() as session:
        run.done_in(session)
        enqueue_many(
            "payouts.mail_operator",
            [
                (f"payout-review:{review_id}:{operator_id}", {"review_id": review_id, "account_id": operator_id})
                for operator_id in list_operator_ids(session)
            ],
        )


@job("payouts.mail_operator", Delivery.AT_LEAST_ONCE)
def send_operator_email(run: Run, *, review_id: int, account_id: str) -> None:
    """Mail one operator about a review."""
    message = emails.build_operator_email(review_id, account_id, key=run.key)
    release_connection()
    if message is not None:
        send(message, fence=run.fence)


@job("payouts.statements", Delivery.LOCAL, every=timedelta(hours=1))
def enqueue_statements(run: Run) -> None:
    """Enqueue the statement mails of the previous month, once per merchant."""
    with transaction() as session:
        run.done_in(session)
        month = statement.get_previous_month(statement.get_today())
        account_ids = statement.create_due_statements(month)
        enqueue_many(
            "payouts.mail_statement",
            [
                (f"statement:{month:%Y-%m}:{account_id}", {"account_id": account_id, "month": f"{month:%Y-%m}"})
                for account_id in account_ids
            ],
        )


@job("payouts.mail_statement", Delivery.AT_LEAST_ONCE)
def send_statement(run: Run, *, account_id: str, month: str) -> None:
    """Mail a merchant's monthly statement as PDF."""
    message = emails.build_statement_email(account_id, statement.parse_month(month), key=run.key)
    release_connection()
    if message is not None:
        send(message, fence=run.fence)
