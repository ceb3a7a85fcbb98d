"""What happens to stock by itself: imports of large files, reminders, alerts, and forgetting."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import func, select, text

from app.accounts.outgoing_mail import send_for
from app.clients.message import Message
from app.core.db import database_now, db, release
from app.core.jobs import Delivery, Run, job
from app.core.outbox import enqueue_many
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction
from app.events.models import Event
from app.inventory import long_work, reminders
from app.inventory.actions.importing import finish
from app.inventory.actions.report import draw
from app.inventory.letters import alert_letter, digest_letter
from app.inventory.models import Reminder

PAGE = 500
FORGET_CHANGES = text("""
    DELETE FROM inventory_change WHERE seq IN (
        SELECT seq FROM inventory_change WHERE at < now() - interval '48 hours' ORDER BY seq LIMIT 5000)
    RETURNING seq
""")
TAKE_ALERTS = text("""
    WITH taken AS (
        DELETE FROM inventory_alert WHERE seq IN (
            SELECT seq FROM inventory_alert ORDER BY seq LIMIT :page FOR UPDATE SKIP LOCKED)
        RETURNING seq, event_id, item_id, available
    )
    SELECT t.event_id, r.recipients, max(t.seq) AS turn,
           jsonb_object_agg(t.item_id, t.available::text ORDER BY t.seq) AS fallen
      FROM taken t JOIN inventory_reminder r ON r.event_id = t.event_id AND r.enabled AND r.include_low_stock
     GROUP BY t.event_id, r.recipients
""")


@job("inventory.import", Delivery.LOCAL, time_limit=timedelta(minutes=4))
def import_file(run: Run, *, job_id: str) -> None:
    """Imports a large file; the stock and the end of the work are one commit."""
    finish(run, job_id)


@job("inventory.report", Delivery.LOCAL, time_limit=timedelta(minutes=4), max_attempts=5)
def make_report(run: Run, *, job_id: str) -> None:
    """Draws a report; its bytes and the end of the work are one commit."""
    draw(run, job_id)


@job("inventory.alert", Delivery.LOCAL, every=timedelta(minutes=1))
def alert(run: Run) -> None:
    """Tells who wants to know what has fallen to its reorder level within the last minute, in one mail."""
    with transaction() as session:
        run.done_in(session)
        for row in session.execute(TAKE_ALERTS, {"page": PAGE}).all():
            enqueue_many(
                "inventory.mail_alert",
                [
                    (f"inventory-alert:{row.turn}:{at}", {"event_id": row.event_id, "to": to, "fallen": row.fallen})
                    for at, to in enumerate(row.recipients)
                ],
            )


@job("inventory.remind", Delivery.LOCAL, every=timedelta(minutes=5))
def remind(run: Run) -> None:
    """Sends the digests that are due, and finds when each is due again."""
    with transaction() as session:
        run.done_in(session)
        now = database_now()
        for reminder, zone in _due(session):
            enqueue_many(
                "inventory.mail_digest",
                [
                    (
                        f"inventory-digest:{reminder.event_id}:{reminder.next_at:%Y%m%d%H}:{at}",
                        {"event_id": reminder.event_id, "to": to, "always": False},
                    )
                    for at, to in enumerate(reminder.recipients)
                ],
            )
            reminder.next_at = reminders.next_at(
                frequency=reminder.frequency, hour=reminder.hour, weekday=reminder.weekday, zone=zone, now=now
            )


@job("inventory.mail_digest", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_digest(run: Run, *, event_id: str, to: str, always: bool) -> None:
    """Mails what has run low and what will expire; nothing when there is nothing, unless somebody asked."""
    told = reminders.digest(event_id)
    release()
    if told is not None and (always or told.low or told.expiring):
        _send(run, event_id, digest_letter(told, to=to, key=run.key), counted=always)


@job("inventory.mail_alert", Delivery.AT_LEAST_ONCE, to_others=True)
def mail_alert(run: Run, *, event_id: str, to: str, fallen: dict[str, str]) -> None:
    """Mails what has just fallen to its reorder level."""
    message = alert_letter(event_id, {item: Decimal(left) for item, left in fallen.items()}, to=to, key=run.key)
    if message is not None:
        _send(run, event_id, message, counted=False)


@job("inventory.housekeeping", Delivery.LOCAL, every=timedelta(hours=1))
def housekeeping(run: Run) -> None:
    """Forgets changes that no listener can ask for any more, and work whose outcome nobody fetched."""
    while _forgotten():
        pass
    with transaction() as session:
        run.done_in(session)
        long_work.forget_old(session)


def _send(run: Run, event_id: str, message: Message, *, counted: bool) -> None:
    """Sends it in the name of the event's organiser."""
    organiser_id = db.session.scalar(select(Event.organiser_id).where(Event.id == event_id))
    release()
    if organiser_id is not None:
        send_for(organiser_id, message, run=run, counted=counted)


def _forgotten() -> bool:
    with transaction() as session:
        return bool(session.execute(FORGET_CHANGES).all())


def _due(session: ReadOrWriteSession) -> list[Any]:
    statement = (
        select(Reminder, Event.timezone)
        .join(Event, Event.id == Reminder.event_id)
        .where(
            Reminder.enabled,
            Reminder.next_at <= func.now(),
            Event.ends_at > func.now() - reminders.AFTERWARDS,
        )
        .order_by(Reminder.next_at)
        .limit(PAGE)
        .with_for_update(skip_locked=True, of=Reminder)
    )
    return list(session.execute(statement))
