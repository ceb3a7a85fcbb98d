"""The mail to merchants that a published event has other days or another place.

It leaves an hour after the first change and says what is different then, so that several changes are one mail, and a
change that is taken back is none. It goes once to each merchant who takes part or has an open application.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TypedDict

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session as OrmSession

from app.accounts.errors import MailLimitReached, SenderNotVerified
from app.accounts.languages import find_account_language
from app.accounts.models import Account
from app.accounts.organisation_details import contact_sql
from app.accounts.outgoing_mail import count_mails, load_sender, send_for_organisation
from app.accounts.queries import owner_id_sql
from app.applications.emails import EmailContext, build_sign_in_url, load_email_context
from app.applications.links import build_link_url
from app.applications.models import Application
from app.applications.moved_events import describe_after_move, reopen_expiring_documents
from app.applications.reminders import renew_ending_links
from app.applications.states import ACTIVATED, OPEN_STATES
from app.clients.email_templates import render_email
from app.clients.message import Message
from app.core.db import ReadOrWriteSession, db, release_connection
from app.core.formatting import format_clock, format_day, format_time
from app.core.jobs import Delivery, Postpone, Run, job
from app.core.languages import gettext, ngettext, use_language
from app.core.outbox import Outbox, enqueue, enqueue_many
from app.core.transaction import transaction
from app.crew.planned_shifts import count_planned_shifts
from app.events.event_changes import EventSchedule, build_schedule, on_event_move
from app.events.models import Event
from app.invitations.models import Participation
from app.invitations.sql import is_event_open_sql, organiser_name_sql

QUIET_TIME = timedelta(hours=1)
LIMIT_DELAY = timedelta(hours=1)
"""How long the announcement waits when a daily limit of mail is reached."""
StoredSchedule = Mapping[str, str]


@dataclass(frozen=True)
class Recipient:
    """A merchant who takes part (`account_id`), has open applications, or both, and the address of the mail."""

    address: str
    account_id: str | None
    application_ids: Sequence[str]


class ChangeTexts(TypedDict):
    """The texts of the mail; `days` and `place` are empty if they are as before."""

    event: str
    new_day: str
    days: str
    previous_days: str
    place: str
    previous_place: str
    lines: list[str]
    takes_part: bool
    button_url: str


@on_event_move
def enqueue_announcement(session: OrmSession, event: Event, previous: EventSchedule) -> None:
    """Enqueues the announcement of a change of a public event, unless one waits already."""
    aggregate = f"event-change:{event.id}"
    is_waiting = exists().where(Outbox.aggregate == aggregate, Outbox.state == "ready")
    if not (previous.is_public and build_schedule(event).is_public) or session.scalar(select(is_waiting)):
        return
    enqueue(
        "stall.announce_event_change",
        delay=QUIET_TIME,
        aggregate=aggregate,
        event_id=event.id,
        previous=_store_schedule(previous),
    )


@job("stall.announce_event_change", Delivery.LOCAL)
def announce_event_change(run: Run, *, event_id: str, previous: StoredSchedule) -> None:
    """Enqueues the mail to each merchant if the event is different now. Waits while a daily limit of mail is reached."""
    try:
        with transaction() as session:
            run.done_in(session)
            event = session.scalar(select(Event).where(Event.id == event_id, is_event_open_sql()))
            if event is None or not build_schedule(event).is_public or not _has_changed(event, previous):
                return
            recipients = _list_recipients(session, event_id)
            sender = load_sender(session, event.organiser_id)
            count_mails(session, sender, [recipient.address for recipient in recipients])
            payloads = [_build_payload(event_id, previous, recipient) for recipient in recipients]
            enqueue_many("stall.mail_event_change", [(None, payload) for payload in payloads])
    except MailLimitReached:
        raise Postpone(LIMIT_DELAY, "a daily limit of mail is reached") from None
    except SenderNotVerified:
        return


@job("stall.mail_event_change", Delivery.AT_LEAST_ONCE, to_others=True)
def send_event_change_email(
    run: Run, *, event_id: str, previous: StoredSchedule, account_id: str | None, application_ids: list[str]
) -> None:
    """Mails one merchant what is different at the event, and what that means for them."""
    contexts = [context for id in application_ids if (context := _load_context(id)) is not None]
    event_row = db.session.execute(
        select(Event, organiser_name_sql(), contact_sql(Event.organiser_id))
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .where(Event.id == event_id, is_event_open_sql())
    ).first()
    account = db.session.get(Account, account_id) if account_id else None
    address = account.email if account else next((context.application.email for context in contexts), None)
    if event_row is None or address is None:
        release_connection()
        return
    event, organiser, contact = event_row
    language = find_account_language(account.id) if account else contexts[0].language
    name = account.name if account else contexts[0].application.contact_name
    with use_language(language):
        texts = _build_texts(event, previous, account_id, contexts)
        organiser_id = event.organiser_id
        release_connection()
        message: Message = render_email(
            "event_moved", to=address, key=run.key, sender_name=organiser, reply_to=contact, name=name, **texts
        )
    send_for_organisation(organiser_id, message, run=run)


def _load_context(application_id: str) -> EmailContext | None:
    """An application with the links of what is due, after its documents were checked against the new days."""
    reopen_expiring_documents(application_id)
    context = load_email_context(application_id, renew_ending_links(application_id))
    is_current = context is not None and context.application.status in (*OPEN_STATES, ACTIVATED)
    return context if is_current else None


def _build_texts(
    event: Event, previous: StoredSchedule, account_id: str | None, contexts: Sequence[EmailContext]
) -> ChangeTexts:
    """The texts of the mail in the language in use. The button leads to the stall, or to the first step that is due."""
    days, previous_days = _describe_days(build_schedule(event)), _describe_days(_load_schedule(previous))
    place, previous_place = f"{event.venue}, {event.city}", f"{previous['venue']}, {previous['city']}"
    lines = [line for context in contexts for line in describe_after_move(context)]
    links = [link for context in contexts for link in context.links]
    button_url = build_link_url(links[0]) if links else ""
    if account_id is not None:
        lines += _describe_shifts(event, previous, account_id)
        button_url = build_sign_in_url("/stall")
    return {
        "event": event.name,
        "new_day": format_day(event.starts_at, event.timezone),
        "days": days if days != previous_days else "",
        "previous_days": previous_days,
        "place": place if place != previous_place else "",
        "previous_place": previous_place,
        "lines": lines,
        "takes_part": account_id is not None,
        "button_url": button_url,
    }


def _describe_shifts(event: Event, previous: StoredSchedule, account_id: str) -> list[str]:
    days = _load_schedule(previous).count_days_to(event.starts_at, event.timezone)
    shift_count, late_count = count_planned_shifts(account_id, event.id)
    lines = []
    if days and shift_count:
        lines.append(gettext("Your planned shifts have moved by as many days as the event. Check them with your crew."))
    if late_count:
        lines.append(
            ngettext(
                "%(num)s planned shift begins when the event is over.",
                "%(num)s planned shifts begin when the event is over.",
                late_count,
            )
        )
    return lines


def _describe_days(schedule: EventSchedule) -> str:
    """From when to when the event takes place, by its clock."""
    zone = schedule.timezone
    first_day, last_day = format_day(schedule.starts_at, zone), format_day(schedule.ends_at, zone)
    start = f"{first_day}, {format_clock(schedule.starts_at, zone)}"
    end = format_time(schedule.ends_at, zone)
    return gettext(
        "%(start)s to %(end)s", start=start, end=end.removeprefix(f"{last_day}, ") if first_day == last_day else end
    )


def _has_changed(event: Event, previous: StoredSchedule) -> bool:
    """Whether days or place are different for people who read them."""
    return _store_schedule(build_schedule(event)) != dict(previous)


def _store_schedule(schedule: EventSchedule) -> dict[str, str]:
    values = asdict(schedule)
    del values["is_public"]
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def _load_schedule(stored: StoredSchedule) -> EventSchedule:
    starts_at, ends_at = (datetime.fromisoformat(stored[name]) for name in ("starts_at", "ends_at"))
    return EventSchedule(starts_at, ends_at, stored["timezone"], stored["venue"], stored["city"], is_public=True)


def _build_payload(event_id: str, previous: StoredSchedule, recipient: Recipient) -> dict[str, object]:
    return {
        "event_id": event_id,
        "previous": dict(previous),
        "account_id": recipient.account_id,
        "application_ids": list(recipient.application_ids),
    }


def _list_recipients(session: ReadOrWriteSession, event_id: str) -> list[Recipient]:
    """One recipient for each account that takes part and has a verified address, and for each address of the others."""
    participants = (
        select(Account.id, Account.email)
        .join(Participation, Participation.merchant_id == Account.id)
        .where(Participation.event_id == event_id, Account.email_verified_at.is_not(None))
        .order_by(Account.id)
    )
    address_by_account = {row.id: row.email for row in session.execute(participants)}
    account_by_address = {email.lower(): account_id for account_id, email in address_by_account.items()}
    own_applications: dict[str, list[str]] = defaultdict(list)
    other_applications: dict[str, list[str]] = defaultdict(list)
    application_rows = session.execute(
        select(Application.id, Application.account_id, func.lower(Application.email), Application.status)
        .where(Application.event_id == event_id, Application.email.is_not(None))
        .where(Application.status.in_((*OPEN_STATES, ACTIVATED)))
        .order_by(Application.created_at, Application.id)
    )
    for id, applicant_id, address, status in application_rows:
        account_id = applicant_id if applicant_id in address_by_account else account_by_address.get(address)
        if account_id is not None:
            own_applications[account_id].append(id)
        elif status != ACTIVATED:
            other_applications[address].append(id)
    return [
        *(Recipient(email, id, own_applications[id]) for id, email in address_by_account.items()),
        *(Recipient(address, None, ids) for address, ids in other_applications.items()),
    ]
