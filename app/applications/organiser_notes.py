"""Mails to an organiser: that there are new applications, at most once an hour for an event, and that the rail has
refused a refund.

The first application of an hour is told at once. The others wait for the next hour, and are told in one mail then.
"""

from datetime import datetime, timedelta

from flask import current_app
from sqlalchemy import func, select

from app.accounts.languages import find_account_language
from app.accounts.models import Account
from app.accounts.queries import owner_id_sql
from app.applications.fee_refunds import is_told_of_refusal_sql
from app.applications.models import Application, StallFeeRefund
from app.applications.states import REFUND_REFUSED, SUBMITTED
from app.clients.email_templates import render_email
from app.clients.mail import Message
from app.core.db import db
from app.core.formatting import format_money
from app.core.languages import gettext, use_language
from app.core.outbox import enqueue
from app.events.models import Event

ONE_HOUR = timedelta(hours=1)
TIME_TO_COMMIT = timedelta(minutes=1)
"""When the note of an hour is written, the transactions that began before it have ended."""
MAX_LISTED = 10


def enqueue_organiser_note(event_id: str, submitted_at: datetime) -> None:
    """Enqueues the mail about an application, in its transaction: this hour's, or if that is gone, the next one's."""
    hour = submitted_at.replace(minute=0, second=0, microsecond=0)
    since = submitted_at.isoformat()
    is_first = enqueue(
        "applications.mail_new", key=_build_key(event_id, hour), event_id=event_id, since=since, until=None
    )
    if not is_first:
        next_hour = hour + ONE_HOUR
        enqueue(
            "applications.mail_new",
            key=_build_key(event_id, next_hour),
            run_at=next_hour + TIME_TO_COMMIT,
            event_id=event_id,
            since=since,
            until=next_hour.isoformat(),
        )


def _build_key(event_id: str, hour: datetime) -> str:
    return f"new-applications:{event_id}:{int(hour.timestamp())}"


def build_organiser_note(event_id: str, since: datetime, until: datetime | None, *, key: str) -> Message | None:
    """The mail about the undecided applications of this time; without `until` only the one of `since`.

    None if there are none any more, or the organiser's address is not verified.
    """
    organiser_row = db.session.execute(
        select(Event.name, Account)
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .where(Event.id == event_id, Account.email_verified_at.is_not(None))
    ).first()
    is_waiting = (Application.event_id == event_id, Application.status == SUBMITTED)
    is_new = Application.created_at == since
    if until is not None:
        is_new = (Application.created_at >= since) & (Application.created_at < until)
    applications = db.session.scalars(
        select(Application).where(*is_waiting, is_new).order_by(Application.created_at, Application.id)
    ).all()
    if organiser_row is None or not applications:
        return None
    waiting_count = db.session.scalar(select(func.count()).select_from(Application).where(*is_waiting)) or 0
    event_name, organiser = organiser_row
    with use_language(find_account_language(organiser.id)):
        return render_email(
            "applications_new",
            to=organiser.email,
            key=key,
            name=organiser.name,
            event=event_name,
            count=len(applications),
            waiting_count=waiting_count,
            lines=[_describe(application) for application in applications[:MAX_LISTED]],
            url=f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/desk/events/{event_id}/stalls",
            unlisted_count=max(0, len(applications) - MAX_LISTED),
        )


def build_refund_refused_email(application_id: str, account_id: str, *, key: str) -> Message | None:
    """The mail to one person of the organisation about a refund that the rail has refused, in the language in use.

    None if the refund has another state now, or the person may not refund the fee any more.
    """
    row = db.session.execute(
        select(Application, StallFeeRefund, Account, Event.name)
        .select_from(Application)
        .join(StallFeeRefund, StallFeeRefund.application_id == Application.id)
        .join(Account, (Account.id == account_id) & is_told_of_refusal_sql())
        .outerjoin(Event, Event.id == Application.event_id)
        .where(Application.id == application_id, StallFeeRefund.status == REFUND_REFUSED)
    ).first()
    if row is None:
        return None
    application, refund, account, event_name = row
    return render_email(
        "application_refund_refused",
        to=account.email,
        key=key,
        name=account.name,
        business=application.business_name or application.contact_name or gettext("A merchant"),
        event=event_name or "",
        reference=application.reference,
        amount=format_money(refund.amount_minor),
    )


def _describe(application: Application) -> str:
    business = application.business_name or application.contact_name or gettext("A business")
    fee = format_money(application.amount_minor) if application.amount_minor else gettext("no fee")
    return ", ".join(filter(None, (business, application.stall_type, fee, application.reference)))
