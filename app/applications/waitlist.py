"""The waitlist of a stall type: who is next in line gets an offer when a place is free.

The line is the organiser's order (`waitlist_rank`), then the time of the application. An offer takes its place until it
is answered or lapses, so that a place is offered once; an application gets one offer at most. The stall type is locked
while an offer is made, as for an approval.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import structlog
from sqlalchemy import ColumnElement, exists, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.errors import MailLimitReached, SenderNotVerified
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import links
from app.applications.calendar import (
    EVENT_CALENDAR_COLUMNS,
    LAST_OFFER_BEFORE_EVENT,
    LEAST_OFFER_TIME,
    EventCalendar,
    calculate_offer_end,
)
from app.applications.emails import build_email_jobs
from app.applications.errors import NoWaitlist
from app.applications.models import Application, ApplicationLink
from app.applications.queries import LINE_ORDER, can_decide_sql, record_application_act
from app.applications.stall_types import StallType, count_taken, find_stall_type, fold_name, lock_stall_type
from app.applications.states import ACCEPTED_STATES, ACTIVATED, EXPIRED, OFFER, WAITLISTED
from app.audit.actions import Action
from app.core.db import ReadOrWriteSession, db
from app.core.outbox import Work, enqueue_all, job_spec
from app.core.transaction import transaction
from app.events.models import Event

LAPSED_PER_RUN = 100
ENDED_EVENTS = ("cancelled", "archived")
EVENT_HAS_TIME_SQL = Event.starts_at > func.now() + (LAST_OFFER_BEFORE_EVENT + LEAST_OFFER_TIME)
IS_NEXT_SQL: ColumnElement[bool] = (
    (Application.status == WAITLISTED)
    & Application.email.is_not(None)
    & ~select(ApplicationLink.id)
    .where(ApplicationLink.application_id == Application.id, ApplicationLink.purpose == OFFER)
    .correlate(Application)
    .exists()
)
log = structlog.get_logger(__name__)


def check_waitlist(session: OrmSession, application: Application) -> None:
    """Checks that the stall type of the application can be full. Raises NoWaitlist."""
    stored_types = session.scalar(select(Event.stall_types).where(Event.id == application.event_id))
    listed = find_stall_type(stored_types or [], application.stall_type)
    if listed is None or listed.quantity is None:
        raise NoWaitlist()


def build_offer_jobs(application: Application) -> list[Work]:
    """The job that offers the place which the application frees when it ends now; none if it has no place."""
    if application.event_id is None or application.status not in (WAITLISTED, *ACCEPTED_STATES, ACTIVATED):
        return []
    return [job_spec("applications.offer_places", event_id=application.event_id)]


def end_offer(session: OrmSession, application: Application) -> bool:
    """Ends the open offer of an application that is decided otherwise; False if there is none."""
    ended_offer = (
        update(ApplicationLink)
        .where(links.is_unanswered_offer(application.id))
        .values(replaced_at=func.now())
        .returning(ApplicationLink.id)
    )
    return session.scalar(ended_offer.execution_options(synchronize_session=False)) is not None


class Waiting(NamedTuple):
    """An application on the waitlist; `can_get_offer` unless it has no address, got an offer before, or the event is
    too near.
    """

    id: str
    reference: str
    business_name: str | None
    stall_type: str | None
    waitlist_rank: int | None
    has_offer: bool
    can_get_offer: bool


def list_waitlists(caller: Caller, event_id: str) -> Mapping[str, Sequence[Waiting]]:
    """Who waits at the event, by the folded name of the stall type, each in the order of the line."""
    has_offer = exists().where(
        ApplicationLink.application_id == Application.id,
        ApplicationLink.purpose == OFFER,
        ApplicationLink.replaced_at.is_(None),
    )
    rows = db.session.execute(
        select(
            Application.id,
            Application.reference,
            Application.business_name,
            Application.stall_type,
            Application.waitlist_rank,
            has_offer,
            IS_NEXT_SQL & EVENT_HAS_TIME_SQL,
        )
        .join(Event, Event.id == Application.event_id)
        .where(can_decide_sql(caller), Application.event_id == event_id, Application.status == WAITLISTED)
        .order_by(*LINE_ORDER)
    )
    lines: dict[str, list[Waiting]] = defaultdict(list)
    for row in rows:
        waiting = Waiting(*row)
        lines[fold_name(waiting.stall_type)].append(waiting)
    return lines


def find_next(line: Sequence[Waiting]) -> Waiting | None:
    """Who gets the next offer of a line; None if nobody can."""
    return next((waiting for waiting in line if waiting.can_get_offer), None)


def list_waiting_types(event_id: str | None = None) -> list[tuple[str, str]]:
    """The events and stall types for which somebody waits without an offer, of one event or of all."""
    statement = (
        select(Application.event_id, Application.stall_type)
        .join(Event, Event.id == Application.event_id)
        .where(IS_NEXT_SQL, EVENT_HAS_TIME_SQL, Application.stall_type.is_not(None))
        .distinct()
    )
    if event_id is not None:
        statement = statement.where(Application.event_id == event_id)
    return [(str(waiting_event_id), str(name)) for waiting_event_id, name in db.session.execute(statement)]


def offer_next_place(event_id: str, name: str) -> bool:
    """Offers a free place of the stall type to the next in line; False if no place is free, or nobody is in line."""
    try:
        with transaction() as session:
            return offer_place_to_next(session, event_id, name)
    except (MailLimitReached, SenderNotVerified) as error:
        log.warning("waitlist.offer_not_mailed", event_id=event_id, error=error.code)
        return False


def offer_place_to_next(
    session: ReadOrWriteSession, event_id: str, name: str, *, expected_id: str | None = None
) -> bool:
    """Offers a free place to the next in line; False if that is not possible, or it is not the expected application.

    Raises SenderNotVerified, MailLimitReached.
    """
    event_row = session.execute(
        select(Event.stall_types, Event.organiser_id, *EVENT_CALENDAR_COLUMNS).where(
            Event.id == event_id, Event.visibility.not_in(ENDED_EVENTS)
        )
    ).first()
    if event_row is None:
        return False
    stored_types, organiser_id, starts_at, ends_at, timezone, now = event_row
    listed = find_stall_type(stored_types, name)
    offer_end = calculate_offer_end(EventCalendar(starts_at, ends_at, timezone, now))
    if listed is None or offer_end is None or not _has_free_place(session, event_id, listed):
        return False
    application = _lock_next_in_line(session, event_id, listed.name)
    if application is None or application.email is None or expected_id not in (None, application.id):
        return False
    # The offer, and the mail with the due links after it is accepted: that one must not be refused any more.
    count_mails(session, load_sender(session, organiser_id), [application.email] * 2)
    link = links.insert_offer_link(session, application, offer_end)
    application.version += 1
    record_application_act(session, Action.PLACE_OFFERED, application)
    enqueue_all(build_email_jobs("application_place_offer", application, link))
    return True


def _has_free_place(session: ReadOrWriteSession, event_id: str, listed: StallType) -> bool:
    lock_stall_type(session, event_id, listed.name)
    return listed.quantity is None or count_taken(session, event_id, listed.name) < listed.quantity


def _lock_next_in_line(session: ReadOrWriteSession, event_id: str, name: str) -> Application | None:
    """The application that is next in line, locked.

    None also if it is locked: who decides about it waits for the stall type in turn. The next run goes on.
    """
    line = select(Application.id, Application.stall_type).where(Application.event_id == event_id, IS_NEXT_SQL)
    next_id = next(
        (
            id
            for id, type_name in session.execute(line.order_by(*LINE_ORDER))
            if fold_name(type_name) == fold_name(name)
        ),
        None,
    )
    statement = select(Application).where(Application.id == next_id, IS_NEXT_SQL)
    return session.scalar(statement.with_for_update(of=Application, skip_locked=True))


def lapse_offers() -> int:
    """Ends applications whose offer was not answered in time, and tells the applicants. Returns their number."""
    with transaction() as session:
        applications = session.scalars(
            select(Application)
            .join(ApplicationLink, ApplicationLink.application_id == Application.id)
            .join(Event, Event.id == Application.event_id)
            .where(
                Application.status == WAITLISTED,
                ApplicationLink.purpose == OFFER,
                ApplicationLink.used_at.is_(None),
                ApplicationLink.replaced_at.is_(None),
                links.IS_OVER_SQL,
            )
            .limit(LAPSED_PER_RUN)
            .with_for_update(of=[Application, ApplicationLink], skip_locked=True)
        ).all()
        for application in applications:
            application.set_status(EXPIRED)
            record_application_act(session, Action.PLACE_OFFER_LAPSED, application)
        enqueue_all(
            [work for application in applications for work in build_email_jobs("application_offer_ended", application)]
        )
    return len(applications)
