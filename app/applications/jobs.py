"""Mail of applications, payments whose outcome is still open, and applications that have had their time."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import exists, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.accounts.retirement import on_account_retired
from app.applications import letters
from app.applications.models import Application, StallPayment
from app.applications.receipt import receipt_pdf
from app.applications.settling import settle
from app.applications.states import EXPIRED, OPEN, WITHDRAWN
from app.clients import storage
from app.clients.mail import Attachment, send
from app.clients.payrail import Outcome, rail
from app.core.db import db, release
from app.core.jobs import Delivery, Permanent, Postpone, Run, job
from app.core.transaction import transaction
from app.events.models import Event

GIVE_UP_AFTER = timedelta(hours=72)
PAUSES = ((timedelta(minutes=1), 10), (timedelta(minutes=10), 60), (GIVE_UP_AFTER, 900))


@job("applications.mail", Delivery.AT_LEAST_ONCE)
def mail(run: Run, *, template: str, application_id: str, link_ids: list[str], **more: Any) -> None:
    """Tells an applicant how his application stands, with the links that are due."""
    told = letters.about(application_id, link_ids)
    release()
    if told is None:
        return
    payment_id = more.pop("payment_id", None)
    message = letters.to_applicant(template, told, key=run.key, **more)
    if payment_id is not None:
        pdf = Attachment(f"Receipt {told.application.reference}.pdf", receipt_pdf(told), "application/pdf")
        message = replace(message, attachments=(pdf,))
    send(message, fence=run.fence)


@job("applications.mail_organiser", Delivery.AT_LEAST_ONCE)
def mail_organiser(run: Run, *, application_id: str) -> None:
    """Tells the organiser that a merchant is ready, with what he wrote."""
    told = letters.about(application_id, [])
    release()
    if told is not None and told.around.contact is not None:
        send(letters.to_organiser(told, key=run.key), fence=run.fence)


@job("applications.delete_files", Delivery.AT_LEAST_ONCE)
def delete_files(run: Run, *, names: list[str]) -> None:
    """Removes the files of documents that others have replaced; those that are gone are no matter."""
    for name in names:
        storage.delete(name)


@job("applications.settle_payment", Delivery.AT_LEAST_ONCE, max_attempts=40)
def settle_payment(run: Run, *, payment_id: str) -> None:
    """Asks the rail how a payment ended whose answer never came, until it is known. It is never charged again."""
    age: Any = func.now() - StallPayment.created_at
    row = db.session.execute(select(StallPayment.status, age).where(StallPayment.id == payment_id)).first()
    release()
    if row is None or row[0] != "processing":
        return
    outcome = rail().charge_status(payment_id)
    if outcome is not Outcome.UNKNOWN:
        settle(payment_id, outcome)
        return
    pause = next((seconds for until, seconds in PAUSES if row[1] < until), None)
    if pause is None:
        raise Permanent("the rail has not told the outcome for 72 hours; ask it by hand")
    raise Postpone(timedelta(seconds=pause), "the rail does not know the outcome yet")


@job("applications.expire", Delivery.LOCAL, every=timedelta(hours=1))
def expire(run: Run) -> None:
    """Ends applications for events that are over; their links end with them."""
    with transaction() as session:
        run.done_in(session)
        session.execute(
            update(Application)
            .where(Application.status.in_(OPEN), Event.id == Application.event_id, Event.ends_at < func.now())
            .values(status=EXPIRED, version=Application.version + 1, updated_at=func.now())
            .execution_options(synchronize_session=False)
        )


@on_account_retired
def end_applications(session: OrmSession, account_id: str) -> None:
    """Withdraws the open applications of a retired account and detaches all of them.

    Where money has moved, or may have, the application stays as it is, for the organiser and the rail to settle.
    """
    own = Application.account_id == account_id
    unknown = exists().where(StallPayment.application_id == Application.id, StallPayment.status == "processing")
    unpaid = (Application.status.in_(OPEN), Application.paid_at.is_(None), ~unknown)
    withdrawn = {"status": WITHDRAWN, "version": Application.version + 1}
    silently = {"synchronize_session": False}
    session.execute(update(Application).where(own, *unpaid).values(withdrawn), execution_options=silently)
    session.execute(update(Application).where(own).values(account_id=None), execution_options=silently)
