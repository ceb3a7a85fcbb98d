"""Reminders to applicants: before their documents or their fee are due, and before a document expires.

The key of each reminder in the outbox names the application or the document, the day and the days before it, so that it is sent
once, also by several workers and after a crash. What is still due is checked again when the mail leaves.
"""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.outgoing_mail import send_for_organisation
from app.applications import calendar, documents, emails, links, states
from app.applications.calendar import EVENT_CALENDAR_COLUMNS, EventCalendar, calculate_reminder_at
from app.applications.models import Application, ApplicationDocument, ApplicationLink, StallPayment
from app.applications.stall_payments import UNANSWERED_SQL
from app.core.db import ReadOrWriteSession, db, release_connection
from app.core.formatting import HOME, format_calendar_day
from app.core.jobs import Delivery, Run, job
from app.core.languages import gettext, use_language
from app.core.outbox import enqueue_many
from app.core.outbox.writer import Row
from app.core.transaction import transaction
from app.events.models import Event
from app.invitations.sql import is_event_open_sql

REMINDER_DAYS = (1, 3)
EXPIRY_DAYS = (7, 30)
EXPIRY_WINDOW = 3
"""For so many days a missed notice is still sent; the outbox keeps keys for longer."""
ONE_DAY = timedelta(days=1)
IS_WAITING_SQL: ColumnElement[bool] = or_(
    Application.status.in_((states.AWAITING_DOCUMENTS, states.AWAITING_PAYMENT)),
    (Application.status == states.ACTIVATED)
    & Application.documents_reopened_at.is_not(None)
    & Application.documents_submitted_at.is_(None),
)
"""Something is due: also documents that an activated merchant was asked for again."""
EVENT_IS_AHEAD_SQL: ColumnElement[bool] = Event.id.is_(None) | is_event_open_sql()
IS_DUE_SOON_SQL: ColumnElement[bool] = or_(
    Application.decided_at.between(func.now() - 15 * ONE_DAY, func.now() - 10 * ONE_DAY),
    Application.documents_reopened_at.between(func.now() - 15 * ONE_DAY, func.now() - 10 * ONE_DAY),
    Application.scheduled_for.between(func.now() - ONE_DAY, func.now() + 4 * ONE_DAY),
    Event.starts_at.between(func.now(), func.now() + 4 * ONE_DAY),
    Event.ends_at.between(func.now(), func.now() + 4 * ONE_DAY),
)
"""True for all applications with something due in the next three days, and for some others."""


@job("applications.remind", Delivery.LOCAL, every=timedelta(minutes=30))
def enqueue_reminders(run: Run) -> None:
    """Enqueues the reminders that are due now."""
    with transaction() as session:
        run.done_in(session)
        enqueue_many("applications.mail_reminder", _list_reminders(session), not_after=ONE_DAY)
        enqueue_many("applications.mail_expiry", _list_expiring_documents(session), not_after=ONE_DAY)


def _list_reminders(session: ReadOrWriteSession) -> list[Row]:
    """Keys and payloads of the reminders whose time has come."""
    rows = session.execute(
        select(Application, *EVENT_CALENDAR_COLUMNS)
        .outerjoin(Event, Event.id == Application.event_id)
        .where(IS_WAITING_SQL, Application.email.is_not(None), EVENT_IS_AHEAD_SQL, IS_DUE_SOON_SQL)
    )
    keys: dict[str, str] = {}
    for application, starts_at, ends_at, timezone, now in rows:
        event_calendar = EventCalendar(starts_at, ends_at, timezone, now)
        for purpose in links.list_due_purposes(application):
            key = _find_reminder_key(application, purpose, event_calendar)
            if key is not None:
                keys[key] = application.id
    return [(key, {"application_id": application_id}) for key, application_id in keys.items()]


def _find_reminder_key(application: Application, purpose: str, event_calendar: EventCalendar) -> str | None:
    """The key of the reminder whose time it is, the same for all purposes that are due on one day; None without one.

    An approval after the time of a reminder has said the same already.
    """
    decided_at = application.get_due_since(purpose)
    due_at = calendar.calculate_due_at(
        purpose, event_calendar, decided_at=decided_at, scheduled_for=application.scheduled_for
    )
    if due_at is None or decided_at is None or due_at <= event_calendar.now:
        return None
    for days in REMINDER_DAYS:
        reminder_at = calculate_reminder_at(due_at, days, event_calendar.timezone)
        if reminder_at <= event_calendar.now:
            return (
                f"application-reminder:{application.id}:{due_at:%Y-%m-%d}:{days}" if decided_at < reminder_at else None
            )
    return None


@job("applications.mail_reminder", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_reminder_email(run: Run, *, application_id: str) -> None:
    """Reminds an applicant of what is still due, with links that work until then."""
    link_ids = renew_ending_links(application_id)
    context = emails.load_email_context(application_id, link_ids)
    release_connection()
    if context is None or context.application.email is None or not context.links:
        return
    with use_language(context.language):
        message = emails.build_applicant_email("application_reminder", context, key=run.key)
    sender_id = context.application.organiser_id or context.application.decided_by
    if sender_id is not None:
        send_for_organisation(sender_id, message, run=run, already_counted=False)


def renew_ending_links(application_id: str) -> list[str]:
    """The links of what is still due; a link that ends before its purpose is due is replaced by a new one.

    A second attempt finds the new links. A fee whose payment the rail has not answered is left out.
    """
    with transaction() as session:
        row = session.execute(
            select(Application, *EVENT_CALENDAR_COLUMNS)
            .outerjoin(Event, Event.id == Application.event_id)
            .where(Application.id == application_id, EVENT_IS_AHEAD_SQL)
            .with_for_update(of=Application)
        ).first()
        if row is None:
            return []
        application, starts_at, ends_at, timezone, now = row
        event_calendar = EventCalendar(starts_at, ends_at, timezone, now)
        due_purposes = [purpose for purpose in links.list_due_purposes(application) if purpose != links.ACTIVATION]
        if links.PAYMENT in due_purposes and _has_unanswered_payment(session, application_id):
            due_purposes.remove(links.PAYMENT)
        current_links = session.scalars(
            select(ApplicationLink).where(
                ApplicationLink.application_id == application_id,
                ApplicationLink.purpose.in_(due_purposes),
                ApplicationLink.replaced_at.is_(None),
            )
        ).all()
        kept_links = [link for link in current_links if _works_until_due(link, application, event_calendar)]
        kept_purposes = {link.purpose for link in kept_links}
        ending_purposes = [purpose for purpose in due_purposes if purpose not in kept_purposes]
        new_links = links.renew_links(session, application, ending_purposes)
        return [link.id for link in (*kept_links, *new_links)]


def _works_until_due(link: ApplicationLink, application: Application, event_calendar: EventCalendar) -> bool:
    due_at = calendar.calculate_due_at(
        link.purpose,
        event_calendar,
        decided_at=application.get_due_since(link.purpose),
        scheduled_for=application.scheduled_for,
    )
    return link.expires_at >= max(event_calendar.now, due_at or event_calendar.now)


def _has_unanswered_payment(session: ReadOrWriteSession, application_id: str) -> bool:
    of_application = (StallPayment.application_id == application_id, UNANSWERED_SQL)
    return session.scalar(select(StallPayment.id).where(*of_application).limit(1)) is not None


def _list_expiring_documents(session: ReadOrWriteSession) -> list[Row]:
    """Keys and payloads of the notices about documents that expire in 30 or 7 days, of merchants on their way or there.

    A document that was sent when it had fewer days left is left out.
    """
    today = func.date(func.timezone(func.coalesce(Event.timezone, HOME), func.now()))
    days_left = ApplicationDocument.expires_on - today
    uploaded_on = func.date(func.timezone(func.coalesce(Event.timezone, HOME), ApplicationDocument.uploaded_at))
    rows: list[Row] = []
    for days in EXPIRY_DAYS:
        query = (
            _active_documents_query(ApplicationDocument.id, ApplicationDocument.expires_on)
            .where(days_left <= days, days_left > days - EXPIRY_WINDOW)
            .where(ApplicationDocument.expires_on - uploaded_on >= days)
        )
        rows += [
            (f"document-expiry:{document_id}:{expires_on}:{days}", {"document_id": document_id})
            for document_id, expires_on in session.execute(query)
        ]
    return rows


def _active_documents_query(*columns: InstrumentedAttribute[Any]) -> Select[Any]:
    """Documents with a day of expiry, of applications that are approved, for events that are ahead."""
    return (
        select(*columns)
        .join(Application, Application.id == ApplicationDocument.application_id)
        .outerjoin(Event, Event.id == Application.event_id)
        .where(
            ApplicationDocument.expires_on.is_not(None),
            Application.status.in_((*states.ACCEPTED_STATES, states.ACTIVATED)),
            Application.email.is_not(None),
            EVENT_IS_AHEAD_SQL,
        )
    )


@job("applications.mail_expiry", Delivery.AT_LEAST_ONCE, ended="desk.note_failed_mails", to_others=True)
def send_expiry_email(run: Run, *, document_id: str) -> None:
    """Tells an applicant that a document expires soon, unless it has been replaced."""
    columns = (ApplicationDocument.application_id, ApplicationDocument.kind, ApplicationDocument.expires_on)
    row = db.session.execute(_active_documents_query(*columns).where(ApplicationDocument.id == document_id)).first()
    context = emails.load_email_context(row[0], []) if row else None
    release_connection()
    if row is None or context is None:
        return
    with use_language(context.language):
        message = emails.build_applicant_email(
            "application_document_expiry",
            context,
            key=run.key,
            document=gettext(documents.LABELS[row[1]]),
            expires_on=format_calendar_day(row[2]),
        )
    sender_id = context.application.organiser_id or context.application.decided_by
    if sender_id is not None:
        send_for_organisation(sender_id, message, run=run, already_counted=False)
