"""Links and documents of applications follow an event whose days or time zone change.

Each link gets the end that it would have if the event had had these days when the link was made. So the order of several
changes does not matter, and a change that is taken back leaves nothing behind.
"""

from datetime import date, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session as OrmSession

from app.applications.calendar import (
    EVENT_CALENDAR_COLUMNS,
    EventCalendar,
    calculate_link_end,
    find_last_day,
    is_after_event,
)
from app.applications.document_requests import reopen_documents
from app.applications.documents import LABELS
from app.applications.emails import EmailContext
from app.applications.links import build_link_deadline
from app.applications.models import Application, ApplicationDocument, ApplicationLink
from app.applications.queries import record_application_act
from app.applications.states import ACTIVATED, AWAITING_PAYMENT, OPEN_STATES, READY
from app.audit.actions import Action
from app.core.db import ReadOrWriteSession, db
from app.core.formatting import format_calendar_day, format_day
from app.core.jobs import Delivery, Run, job
from app.core.languages import gettext
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.events.event_changes import EventSchedule, on_event_move
from app.events.models import Event

TIME_TO_COMMIT = timedelta(minutes=1)
"""A transaction that made a link by the earlier days has ended by then."""


@on_event_move
def enqueue_link_changes(session: OrmSession, event: Event, previous: EventSchedule) -> None:
    """Enqueues the change of the links, now and a minute later for links that are being made at this moment."""
    previous_times = (previous.starts_at, previous.ends_at, previous.timezone)
    if (event.starts_at, event.ends_at, event.timezone) != previous_times:
        enqueue("applications.move_links", event_id=event.id)
        enqueue("applications.move_links", delay=TIME_TO_COMMIT, event_id=event.id)


@job("applications.move_links", Delivery.LOCAL)
def move_links(run: Run, *, event_id: str) -> None:
    """Sets the ends of the current links of an event's open applications by its present days."""
    with transaction() as session:
        run.done_in(session)
        _set_link_ends(session, event_id)


def _set_link_ends(session: ReadOrWriteSession, event_id: str) -> None:
    rows = session.execute(
        select(Application, ApplicationLink, *EVENT_CALENDAR_COLUMNS)
        .join(ApplicationLink, ApplicationLink.application_id == Application.id)
        .join(Event, Event.id == Application.event_id)
        .where(
            Application.event_id == event_id,
            Application.status.in_((*OPEN_STATES, ACTIVATED)),
            ApplicationLink.used_at.is_(None),
            ApplicationLink.replaced_at.is_(None),
        )
        .order_by(Application.id, ApplicationLink.id)
        .with_for_update(of=[Application, ApplicationLink])
    )
    link_ends = []
    for application, link, starts_at, ends_at, timezone, _ in rows:
        calendar = EventCalendar(starts_at, ends_at, timezone, link.created_at)
        link_end = calculate_link_end(
            link.purpose,
            calendar,
            decided_at=application.get_due_since(link.purpose),
            scheduled_for=application.scheduled_for,
        )
        if link_end != link.expires_at:
            link_ends.append({"id": link.id, "expires_at": link_end})
    if link_ends:
        session.execute(update(ApplicationLink), link_ends)


def reopen_expiring_documents(application_id: str) -> None:
    """Asks for the documents of an approved application again if one is not valid any more at the end of its event.

    An activated application stays so.
    """
    with transaction() as session:
        application = session.get(Application, application_id, with_for_update=True, populate_existing=True)
        if application is None or application.status not in (AWAITING_PAYMENT, READY):
            return
        if application.documents_due or not list_expiring_documents(application):
            return
        reopen_documents(session, application)
        record_application_act(session, Action.DOCUMENTS_REOPENED, application)


def list_expiring_documents(application: Application) -> list[tuple[str, date]]:
    """Kinds and last days of the required documents that are not valid up to the end of the event."""
    row = db.session.execute(select(*EVENT_CALENDAR_COLUMNS).where(Event.id == application.event_id)).first()
    if row is None:
        return []
    last_day = find_last_day(EventCalendar(*row))
    documents = db.session.execute(
        select(ApplicationDocument.kind, ApplicationDocument.expires_on)
        .where(ApplicationDocument.application_id == application.id)
        .where(ApplicationDocument.kind.in_(application.documents_required), ApplicationDocument.expires_on < last_day)
        .order_by(ApplicationDocument.kind)
    )
    return [(kind, expires_on) for kind, expires_on in documents if expires_on is not None]


def describe_after_move(context: EmailContext) -> list[str]:
    """What the present days of the event mean for an application, in sentences of the language in use."""
    application, calendar = context.application, context.event_context.calendar
    lines = []
    for kind, expires_on in list_expiring_documents(application):
        names = {"document": gettext(LABELS[kind]), "day": format_calendar_day(expires_on)}
        lines.append(gettext("%(document)s: it is valid until %(day)s, before the event is over.", **names))
    if application.status == ACTIVATED:
        return [*lines, *([gettext("Renew it in time, and have the new one with you at your stall.")] if lines else [])]
    scheduled_for = application.scheduled_for
    if application.payment_due and scheduled_for is not None and is_after_event(scheduled_for, calendar):
        day = format_day(scheduled_for, calendar.timezone)
        lines.append(gettext("On %(day)s, when the fee was to be paid, the event is over. Pay earlier.", day=day))
    return [*lines, *(str(build_link_deadline(link, application, context.event_context)) for link in context.links)]
