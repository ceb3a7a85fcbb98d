"""Payouts on their way: handed over, asked for until their end is known, followed for bounces; mail; statements."""

from datetime import timedelta
from typing import Any

from sqlalchemy import exists, func, select, update

from app.accounts.operators import list_operator_ids
from app.clients.mail import send
from app.clients.payrail import TransferOutcome, TransferState
from app.core.db import db, release
from app.core.jobs import Delivery, Postpone, Run, job
from app.core.outbox import Outbox, enqueue_many
from app.core.transaction import transaction
from app.payouts import farewell, laws, letters, months, submitting
from app.payouts.hints import weigh
from app.payouts.models import Payout
from app.payouts.notices import tell_owner
from app.payouts.recording import give_up, record
from app.payouts.states import BOUNCE_WINDOW, PAID, PROCESSING, RAIL, REQUESTED, SCHEDULED
from app.payouts.submitting import Standing

__all__ = ["farewell", "laws"]

GIVE_UP_AFTER = timedelta(hours=72)
ASK_AT = tuple(timedelta(seconds=number) for number in (10, 30, 60, 120, 300, 900))
ASK_EVERY = timedelta(minutes=15)
FOLLOW_AT = (
    *(timedelta(minutes=5), timedelta(hours=1), timedelta(hours=6)),
    *(timedelta(days=n) for n in range(1, BOUNCE_WINDOW.days + 1)),
)
HELD_BACK = timedelta(seconds=60)
OVERDUE = timedelta(minutes=2)
BOTH_CALLS = timedelta(seconds=40)
"""To ask the rail, and to send again what it does not know."""


@job("payouts.carry", Delivery.AT_LEAST_ONCE, critical=True, max_attempts=100, time_limit=BOTH_CALLS)
def carry(run: Run, *, payout_id: str) -> None:
    """Takes a payout from the request to its end: tells its owner of a new destination, claims it, tells the rail, and
    asks until the outcome is known."""
    found = submitting.standing(payout_id)
    if found is not None and found.untold:
        tell_owner(found.payout, fence=run.fence)
        found = submitting.standing(payout_id)
    if found is None or found.payout.status not in (SCHEDULED, REQUESTED, PROCESSING):
        return
    told = _told(run, found)
    if told is None:
        raise Postpone(timedelta(seconds=1), "somebody else has taken a step")
    if record(payout_id, told, actor=RAIL) == PROCESSING:
        _ask_later(payout_id, found.age)


def _told(run: Run, found: Standing) -> TransferState | None:
    payout = found.payout
    if payout.status == PROCESSING:
        state = submitting.asked(payout.id)
        again = state.outcome is TransferOutcome.NOT_FOUND and not found.held_back
        return submitting.sent(payout, run.fence) if again else state
    if found.waits > timedelta():
        raise Postpone(found.waits, "it is scheduled for later, or rests")
    if found.held_back or not submitting.usable():
        raise Postpone(HELD_BACK, "the merchant has paused" if found.held_back else "the rail is switched off")
    return submitting.sent(payout, run.fence) if submitting.claim(payout) else None


def _ask_later(payout_id: str, age: timedelta) -> None:
    if age >= GIVE_UP_AFTER:
        give_up(payout_id)
        return
    delay = next((item - age for item in ASK_AT if item > age), ASK_EVERY)
    raise Postpone(max(delay, timedelta(seconds=1)), "the rail does not know the outcome yet")


@job("payouts.follow", Delivery.AT_LEAST_ONCE)
def follow(run: Run, *, payout_id: str) -> None:
    """Looks for a bounce of what was paid, ever more rarely, for two weeks."""
    age: Any = func.now() - Payout.settled_at
    row = db.session.execute(select(Payout.status, age).where(Payout.id == payout_id)).first()
    release()
    if row is None or row[0] != PAID:
        return
    told = submitting.asked(payout_id)
    if told.outcome is not TransferOutcome.UNKNOWN and record(payout_id, told, actor=RAIL) != PAID:
        return
    delay = next((item - row[1] for item in FOLLOW_AT if item > row[1]), None)
    if delay is not None:
        raise Postpone(delay, "it may still bounce")


@job("payouts.ask", Delivery.AT_LEAST_ONCE, critical=True, max_attempts=100)
def ask(run: Run, *, event_id: str) -> None:
    """Asks the rail at once, because it called. What the call itself said counts for nothing but a review."""
    weigh(event_id)


@job("payouts.watch", Delivery.LOCAL, every=timedelta(minutes=1))
def watch(run: Run) -> None:
    """Gives a new job to payouts whose own was lost: their processes died too often."""
    with transaction() as session:
        run.done_in(session)
        living = exists().where(Outbox.aggregate == "payout:" + Payout.id, Outbox.state.in_(("ready", "leased")))
        lost = session.scalars(
            update(Payout)
            .where(Payout.due_at < func.now() - OVERDUE, Payout.status.in_((SCHEDULED, REQUESTED, PROCESSING)), ~living)
            .values(due_at=func.now())
            .returning(Payout.id)
            .execution_options(synchronize_session=False)
        ).all()
        for payout_id in lost:
            enqueue_many("payouts.carry", [(None, {"payout_id": payout_id})], aggregate=f"payout:{payout_id}")


@job("payouts.mail", Delivery.AT_LEAST_ONCE)
def mail(run: Run, *, template: str, payout_id: str) -> None:
    """Tells the merchant that a payout was paid, failed or came back."""
    message = letters.about(template, payout_id, key=run.key)
    release()
    if message is not None:
        send(message, fence=run.fence)


@job("payouts.notify_operators", Delivery.LOCAL)
def notify_operators(run: Run, *, review_id: int) -> None:
    """Has every operator mailed about a review."""
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
def mail_operator(run: Run, *, review_id: int, account_id: str) -> None:
    """Tells one operator what they have to look at."""
    message = letters.for_operator(review_id, account_id, key=run.key)
    release()
    if message is not None:
        send(message, fence=run.fence)


@job("payouts.statements", Delivery.LOCAL, every=timedelta(hours=1))
def statements(run: Run) -> None:
    """Has the statements of the month that is over made and mailed, once for each merchant."""
    with transaction() as session:
        run.done_in(session)
        month = months.last(months.today())
        owed = months.owed(session, month)
        enqueue_many(
            "payouts.mail_statement",
            [(f"statement:{month:%Y-%m}:{owner}", {"account_id": owner, "month": f"{month:%Y-%m}"}) for owner in owed],
        )


@job("payouts.mail_statement", Delivery.AT_LEAST_ONCE)
def mail_statement(run: Run, *, account_id: str, month: str) -> None:
    """Mails a merchant's month, as a PDF."""
    made = letters.with_statement(account_id, months.read(month), key=run.key)
    release()
    if made is not None:
        send(made, fence=run.fence)
