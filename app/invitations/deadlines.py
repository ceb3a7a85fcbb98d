"""Deadlines of invitations. While they can still be answered, they follow an event whose days change.

A deadline that the organiser did not choose is calculated again by the new days. A chosen one stays, but never after the
event; one at the end of the event stays there.
"""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, case, func, literal, update
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.orm import Session as OrmSession

from app.core.db import Timestamp
from app.core.jobs import Delivery, Run, job
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.event_changes import EventSchedule, on_event_move
from app.events.models import Event
from app.invitations.models import EventInvite, InviteLink
from app.invitations.states import PENDING

Moment = ColumnElement[datetime] | InstrumentedAttribute[datetime]
TIME_TO_ANSWER, TIME_BEFORE_EVENT, SHORTEST_TIME = timedelta(days=7), timedelta(days=2), timedelta(hours=1)
"""How long an invitation is valid by default, how long before the event it ends at the latest, and the least of it."""


def calculate_default_end(now: datetime, starts_at: datetime, ends_at: datetime) -> datetime:
    """A week from now, at most two days before the event begins; for a later invitation its beginning or its end."""
    usual_end = min(now + TIME_TO_ANSWER, starts_at - TIME_BEFORE_EVENT)
    return next((end for end in (usual_end, starts_at) if end >= now + SHORTEST_TIME), ends_at)


def _default_end_sql(created_at: Moment, starts_at: Moment, ends_at: Moment) -> ColumnElement[datetime]:
    """The same in SQL, for an invitation that was made at `created_at`."""
    usual_end = func.least(created_at + TIME_TO_ANSWER, starts_at - TIME_BEFORE_EVENT)
    earliest_end = created_at + SHORTEST_TIME
    return case((usual_end >= earliest_end, usual_end), (starts_at >= earliest_end, starts_at), else_=ends_at)


@on_event_move
def enqueue_deadline_changes(session: OrmSession, event: Event, previous: EventSchedule) -> None:
    """Enqueues the change of the deadlines. Answers lock an invitation before the event, so it is a job."""
    if (event.starts_at, event.ends_at) != (previous.starts_at, previous.ends_at):
        enqueue(
            "invitations.move_deadlines",
            event_id=event.id,
            previous_start=previous.starts_at.isoformat(),
            previous_end=previous.ends_at.isoformat(),
        )


@job("invitations.move_deadlines", Delivery.LOCAL)
def move_deadlines(run: Run, *, event_id: str, previous_start: str, previous_end: str) -> None:
    """Sets the deadlines of an event's open invitations by its present days."""
    start, end = (literal(datetime.fromisoformat(text), Timestamp) for text in (previous_start, previous_end))
    with transaction() as session:
        run.done_in(session)
        for table, is_open in (
            (EventInvite, EventInvite.status == PENDING),
            (InviteLink, InviteLink.revoked_at.is_(None)),
        ):
            was_default = table.expires_at == _default_end_sql(table.created_at, start, end)
            new_end = case(
                (was_default, _default_end_sql(table.created_at, Event.starts_at, Event.ends_at)),
                (table.expires_at == end, Event.ends_at),
                else_=func.least(table.expires_at, Event.ends_at),
            )
            session.execute(
                update(table)
                .where(table.event_id == event_id, Event.id == table.event_id, is_open, table.expires_at > func.now())
                .values(expires_at=new_end)
                .execution_options(synchronize_session=False)
            )
