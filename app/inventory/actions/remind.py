"""Setting and pulling the stock reminder of an event."""

from datetime import timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails
from app.core import throttle
from app.core.errors import NotFound, StaleVersion, Throttled, ValidationFailed
from app.core.ids import new_id
from app.core.outbox import enqueue_many
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events.models import Event
from app.events.queries import WRITES, owned
from app.events.timezones import on_timezone_change
from app.inventory import reading_reminders, reminders
from app.inventory.models import Reminder

TRIGGERS = Rule("inventory-trigger", 20, timedelta(hours=1))
COLUMNS = (
    "enabled",
    "frequency",
    "hour",
    "weekday",
    "recipients",
    "expiring_within_days",
    "include_low_stock",
    "include_expiring",
    "next_at",
    "version",
)


def change_reminder(*, caller: Caller, event_id: str, expected_version: int | None, **changes: Any) -> dict[str, Any]:
    """The reminder after these changes. Raises NotFound, StaleVersion, ValidationFailed."""
    with transaction() as session:
        event = session.execute(
            select(Event.id, Event.timezone, func.now().label("now"))
            .where(Event.id == event_id, owned(caller, WRITES))
            .with_for_update(key_share=True)
        ).first()
        if event is None:
            raise NotFound()
        was = reading_reminders.reminder_in(session, event_id)
        if expected_version not in (None, was["version"]):
            raise StaleVersion()
        new = {**was, **changes}
        if new["enabled"] and not new["recipients"]:
            raise ValidationFailed.of("recipients", "required", "A reminder needs somebody to go to.")
        due = reminders.next_at(
            frequency=new["frequency"],
            hour=new["hour"],
            weekday=new["weekday"],
            zone=event.timezone,
            now=event.now,
        )
        new |= {"next_at": due if new["enabled"] else None, "version": was["version"] + 1}
        values = {column: new[column] for column in COLUMNS}
        session.execute(
            insert(Reminder)
            .values(event_id=event_id, **values)
            .on_conflict_do_update(index_elements=["event_id"], set_=values)
        )
    return new


@on_timezone_change
def reschedule_reminder(session: Session, event_id: str, zone: str) -> None:
    """Keeps the hour of an event's reminder by the clock of its new zone. One that is due already goes out first."""
    statement = select(Reminder).where(Reminder.event_id == event_id, Reminder.enabled, Reminder.next_at > func.now())
    reminder = session.scalar(statement.with_for_update(key_share=True))
    if reminder is not None:
        reminder.next_at = reminders.next_at(
            frequency=reminder.frequency, hour=reminder.hour, weekday=reminder.weekday, zone=zone
        )


def trigger(*, caller: Caller, event_id: str) -> dict[str, Any]:
    """Mails the digest now, whether or not the reminder is on; to whom.

    Raises NotFound, Throttled, ValidationFailed, SenderNotVerified, MailLimitReached.
    """
    found, sender = reading_reminders.reminder_and_sender(caller, event_id)
    if not found["recipients"]:
        raise ValidationFailed.of("recipients", "required", "A reminder needs somebody to go to.")
    with transaction() as session:
        hits = throttle.hit(session, TRIGGERS, event_id)
        if not hits.exceeded:
            count_mails(session, sender, found["recipients"])
            turn = new_id()
            rows = [
                (f"inventory-digest:{event_id}:{turn}:{at}", {"event_id": event_id, "to": to, "always": True})
                for at, to in enumerate(found["recipients"])
            ]
            enqueue_many("inventory.mail_digest", rows)
    if hits.exceeded:
        raise Throttled(retry_after=hits.seconds)
    return {"recipients": found["recipients"], "queued": len(found["recipients"])}
