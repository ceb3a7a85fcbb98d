"""A demo mail that failed: to the first applicant of an event who still has something to do."""

from sqlalchemy import select

from app.applications.models import Application
from app.applications.states import ACCEPTED_STATES
from app.core.transaction import transaction
from app.events.failed_mails import FailedMail

REASON = "the mail server refused the address: 550 5.1.1 no such user"


def seed(event_id: str) -> bool:
    """Create the failed mail; return whether it was missing, and there is an applicant."""
    with transaction() as session:
        application = session.scalars(
            select(Application)
            .where(
                Application.event_id == event_id,
                Application.status.in_(ACCEPTED_STATES),
                Application.email.is_not(None),
            )
            .order_by(Application.reference)
            .limit(1)
        ).first()
        is_there = session.scalar(select(FailedMail.id).where(FailedMail.event_id == event_id).limit(1))
        if application is None or is_there:
            return False
        session.add(
            FailedMail(
                event_id=event_id,
                application_id=application.id,
                address=application.email,
                kind="applications.mail_reminder",
                reason=REASON,
            )
        )
        return True
