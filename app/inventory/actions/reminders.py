"""Changing the stock reminder of an event and sending its digest."""

from datetime import timedelta
from typing import Unpack, cast

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
from app.events.event_changes import EventSchedule, on_event_move
from app.events.models import Event
from app.events.queries import owned
from app.inventory import reminders
from app.inventory.models import Reminder
from app.inventory.reminders import ReminderChanges, ReminderData

TRIGGER_LIMIT = Rule("inventory-trigger", 20, timedelta(hours=1))


def update_reminder(
    *, caller: Caller, event_id: str, expected_version: int | None, **changes: Unpack[ReminderChanges]
) -> ReminderData:
    """Change the reminder of an event. Raises NotFound, StaleVersion, ValidationFailed."""
    with transaction() as session:
        event = session.execute(
            select(Event.id, Event.timezone, func.now().label("now"))
            .where(Event.id == event_id, owned(caller))
            .with_for_update(key_share=True)
        ).first()
        if event is None:
            raise NotFound()
        current = reminders.load_reminder(session, event_id)
        if expected_version not in (None, current["version"]):
            raise StaleVersion()
        updated = cast(ReminderData, {**current, **changes})
        if updated["enabled"] and not updated["recipients"]:
            raise ValidationFailed.of("recipients", "required", "A reminder needs at least one recipient.")
        next_at = reminders.calculate_next_at(
            frequency=updated["frequency"],
            hour=updated["hour"],
            weekday=updated["weekday"],
            zone=event.timezone,
            now=event.now,
        )
        updated["next_at"] = next_at if updated["enabled"] else None
        updated["version"] = current["version"] + 1
        session.execute(
            insert(Reminder)
            .values(event_id=event_id, **updated)
            .on_conflict_do_update(index_elements=["event_id"], set_=updated)
        )
    return updated


@on_event_move
def reschedule_reminder(session: Session, event: Event, previous: EventSchedule) -> None:
    """Keep the local hour of an event's reminder in its new time zone. A digest that is already due is sent first."""
    if event.timezone == previous.timezone:
        return
    statement = select(Reminder).where(Reminder.event_id == event.id, Reminder.enabled, Reminder.next_at > func.now())
    reminder = session.scalar(statement.with_for_update(key_share=True))
    if reminder is not None:
        reminder.next_at = reminders.calculate_next_at(
            frequency=reminder.frequency, hour=reminder.hour, weekday=reminder.weekday, zone=event.timezone
        )


def enqueue_digest(*, caller: Caller, event_id: str) -> list[str]:
    """Enqueue the digest now, whether or not the reminder is enabled, and return its recipients.

    Raises NotFound, Throttled, ValidationFailed, SenderNotVerified, MailLimitReached.
    """
    reminder, sender = reminders.get_reminder_and_sender(caller, event_id)
    if not reminder["recipients"]:
        raise ValidationFailed.of("recipients", "required", "A reminder needs at least one recipient.")
    with transaction() as session:
        hits = throttle.hit(session, TRIGGER_LIMIT, event_id)
        if not hits.exceeded:
            count_mails(session, sender, reminder["recipients"])
            batch_id = new_id()
            rows = [
                (
                    f"inventory-digest:{event_id}:{batch_id}:{index}",
                    {"event_id": event_id, "to": recipient, "always": True},
                )
                for index, recipient in enumerate(reminder["recipients"])
            ]
            enqueue_many("inventory.mail_digest", rows)
    if hits.exceeded:
        raise Throttled(retry_after=hits.seconds)
    return reminder["recipients"]
