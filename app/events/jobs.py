"""Jobs and hooks of events: uploads of sold tickets, cancellation when an account is retired, and what holds the
deletion of an organiser."""

from datetime import timedelta

from sqlalchemy import and_, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.account_lifecycle import on_account_retired
from app.accounts.deletion import account_deletion_check
from app.accounts.models import Account
from app.accounts.permissions import ORGANISER
from app.audit.actions import Action
from app.audit.log import record
from app.core.cache_invalidation import invalidate
from app.core.clock import rfc3339
from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction
from app.events.actions import event_actions
from app.events.actions.ticket_uploads import run_upload_job
from app.events.errors import EventsNotOver
from app.events.models import Event
from app.events.ticket_uploads import delete_old_uploads
from app.events.visibility import CANCELLED

MAX_LISTED_EVENTS = 20


@job("events.import_upload", Delivery.LOCAL, time_limit=timedelta(minutes=4), max_attempts=3)
def import_upload(run: Run, *, upload_id: str) -> None:
    """Check or import a large file of sold tickets; the tickets and the result commit together."""
    run_upload_job(run, upload_id)


@job("events.delete_uploads", Delivery.LOCAL, every=timedelta(hours=1))
def delete_uploads(run: Run) -> None:
    """Delete the uploads of sold tickets that are older than two days."""
    with transaction() as session:
        run.done_in(session)
        delete_old_uploads(session)


@on_account_retired
def cancel_events(session: OrmSession, account_id: str) -> None:
    """Cancels every event of the account, so that its links and codes stop working."""
    cancelled_ids = session.scalars(
        update(Event)
        .where(Event.organiser_id == account_id, Event.visibility != CANCELLED)
        .values(visibility=CANCELLED, version=Event.version + 1)
        .returning(Event.id)
        .execution_options(synchronize_session=False)
    ).all()
    for event_id in cancelled_ids:
        record(session, Action.EVENT_CANCELLED, organisation_id=account_id, event_id=event_id, subject=event_id)
    invalidate(session, event_actions.CATALOGUE)


@account_deletion_check
def check_events_over(session: OrmSession, account_id: str) -> None:
    """Raises EventsNotOver while an event of the account is neither over nor cancelled, unless it has passed its
    organisation on."""
    query = (
        select(Event.id, Event.name, Event.ends_at)
        .join(Account, and_(Account.id == Event.organiser_id, Account.roles.contains([ORGANISER])))
        .where(Event.organiser_id == account_id, Event.ends_at > func.now(), Event.visibility != CANCELLED)
        .order_by(Event.starts_at, Event.id)
        .limit(MAX_LISTED_EVENTS)
    )
    open_events = session.execute(query).all()
    if open_events:
        names = ", ".join(event.name for event in open_events)
        raise EventsNotOver(
            f"These events are not over: {names}. Cancel them, or wait until they are over.",
            events=[{"id": event.id, "name": event.name, "endsAt": rfc3339(event.ends_at)} for event in open_events],
        )
