"""The jobs of the stock: imports of large files, reports, reminders, alerts and the deletion of old rows."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

from sqlalchemy import delete, func, select

from app.accounts.outgoing_mail import send_for_organisation
from app.clients.message import Message
from app.core.db import ReadOrWriteSession, database_now, db, release_connection
from app.core.jobs import Delivery, Run, job
from app.core.outbox import enqueue_many
from app.core.transaction import transaction
from app.events.models import Event
from app.inventory import background_jobs, change_feed, reminders
from app.inventory.actions.imports import run_import_job
from app.inventory.actions.reports import run_report_job
from app.inventory.emails import build_alert_email, build_digest_email, find_event_sender
from app.inventory.models import Change, Reminder
from app.inventory.sql import TAKE_ALERTS_SQL
from app.merchants.notifications import may_send

BATCH_SIZE, DELETE_BATCH_SIZE = 500, 5000


@job("inventory.import", Delivery.LOCAL, time_limit=timedelta(minutes=4))
def import_file(run: Run, *, job_id: str) -> None:
    """Import a large file; the stock and the result of the job commit together."""
    run_import_job(run, job_id)


@job("inventory.report", Delivery.LOCAL, time_limit=timedelta(minutes=4), max_attempts=5)
def make_report(run: Run, *, job_id: str) -> None:
    """Draw the PDF of a report."""
    run_report_job(run, job_id)


@job("inventory.alert", Delivery.LOCAL, every=timedelta(minutes=1))
def enqueue_alerts(run: Run) -> None:
    """Enqueue one email for each recipient with the items that fell to their reorder level in the last minute."""
    with transaction() as session:
        run.done_in(session)
        for row in session.execute(TAKE_ALERTS_SQL, {"page": BATCH_SIZE}).all():
            enqueue_many(
                "inventory.mail_alert",
                [
                    (
                        f"inventory-alert:{row.turn}:{index}",
                        {"event_id": row.event_id, "to": recipient, "fallen": row.fallen},
                    )
                    for index, recipient in enumerate(row.recipients)
                ],
            )


@job("inventory.remind", Delivery.LOCAL, every=timedelta(minutes=5))
def enqueue_due_digests(run: Run) -> None:
    """Enqueue the digests that are due and set when each is due next."""
    with transaction() as session:
        run.done_in(session)
        now = database_now()
        for reminder, zone in _lock_due_reminders(session):
            enqueue_many(
                "inventory.mail_digest",
                [
                    (
                        f"inventory-digest:{reminder.event_id}:{reminder.next_at:%Y%m%d%H}:{index}",
                        {"event_id": reminder.event_id, "to": recipient, "always": False},
                    )
                    for index, recipient in enumerate(reminder.recipients)
                ],
            )
            reminder.next_at = reminders.calculate_next_at(
                frequency=reminder.frequency, hour=reminder.hour, weekday=reminder.weekday, zone=zone, now=now
            )


@job("inventory.mail_digest", Delivery.AT_LEAST_ONCE, to_others=True)
def send_digest(run: Run, *, event_id: str, to: str, always: bool) -> None:
    """Send a digest. An empty one, or one to a merchant who has switched mail off, only with `always`: on request."""
    if not always and not may_send("inventory_digest", to):
        return
    digest, sender = reminders.load_digest(event_id), find_event_sender(event_id)
    release_connection()
    if digest is not None and sender is not None and (always or digest.low or digest.expiring):
        _send_for_organiser(run, event_id, build_digest_email(digest, sender, to=to, key=run.key), counted=always)


@job("inventory.mail_alert", Delivery.AT_LEAST_ONCE, to_others=True)
def send_alert(run: Run, *, event_id: str, to: str, fallen: dict[str, str]) -> None:
    """Send an alert."""
    if not may_send("inventory_alert", to):
        return
    sender = find_event_sender(event_id)
    message = sender and build_alert_email(
        sender, {item_id: Decimal(available) for item_id, available in fallen.items()}, to=to, key=run.key
    )
    if message is not None:
        _send_for_organiser(run, event_id, message, counted=False)


@job("inventory.housekeeping", Delivery.LOCAL, every=timedelta(hours=1))
def delete_expired(run: Run) -> None:
    """Delete the stream changes older than two days, and the background jobs older than seven."""
    while _delete_old_changes():
        pass
    with transaction() as session:
        run.done_in(session)
        background_jobs.delete_old_jobs(session)


def _send_for_organiser(run: Run, event_id: str, message: Message, *, counted: bool) -> None:
    """Send an email in the name of the event's organiser."""
    organiser_id = db.session.scalar(select(Event.organiser_id).where(Event.id == event_id))
    release_connection()
    if organiser_id is not None:
        send_for_organisation(organiser_id, message, run=run, already_counted=counted)


def _delete_old_changes() -> bool:
    old = select(Change.seq).where(Change.at < func.now() - change_feed.RETENTION)
    statement = delete(Change).where(Change.seq.in_(old.order_by(Change.seq).limit(DELETE_BATCH_SIZE)))
    with transaction() as session:
        return bool(session.scalars(statement.returning(Change.seq)).all())


def _lock_due_reminders(session: ReadOrWriteSession) -> Sequence[tuple[Reminder, str]]:
    statement = (
        select(Reminder, Event.timezone)
        .join(Event, Event.id == Reminder.event_id)
        .where(
            Reminder.enabled,
            Reminder.next_at <= func.now(),
            Event.ends_at > func.now() - reminders.REMINDER_PERIOD_AFTER_EVENT,
        )
        .order_by(Reminder.next_at)
        .limit(BATCH_SIZE)
        .with_for_update(skip_locked=True, of=Reminder)
    )
    return [(row.Reminder, row.timezone) for row in session.execute(statement)]
