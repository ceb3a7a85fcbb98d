"""Correcting how an applicant is reached: a typing error in the address keeps every mail from them."""

from typing import TypedDict, Unpack

from sqlalchemy import delete, func, update

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import links, states
from app.applications.emails import enqueue_email
from app.applications.models import Application, ApplicationLink
from app.applications.open_events import check_event_open
from app.applications.queries import can_decide_sql, lock_application, record_application_act
from app.applications.states import StepNotAllowed
from app.audit.actions import Action
from app.core.db import ReadOrWriteSession
from app.core.errors import StaleVersion
from app.core.transaction import transaction
from app.events.failed_mails import FailedMail

OPEN_STATES = (states.SUBMITTED, states.WAITLISTED, *states.ACCEPTED_STATES, states.ACTIVATED)


class ContactChanges(TypedDict, total=False):
    """Fields to change; None removes a name or a phone number."""

    email: str
    contact_name: str | None
    phone: str | None


def change_contact(
    caller: Caller, id: str, *, expected_version: int | None = None, **changes: Unpack[ContactChanges]
) -> None:
    """Changes how the applicant is reached.

    After a change of the address the links that went to the old one end. The new one gets new links for what is due and
    for an open offer of a place, or the acknowledgement if the application is not decided; the failed mails
    of the application leave their list. Values that are the same change nothing.

    Raises NotFound, StaleVersion, StepNotAllowed for an application that has ended, ApplicationsClosed, SenderNotVerified,
    MailLimitReached.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        if expected_version not in (None, application.version):
            raise StaleVersion()
        if application.status not in OPEN_STATES:
            raise StepNotAllowed("The application has ended.", status=application.status)
        old_email = application.email
        changed = [name for name, value in changes.items() if getattr(application, name) != value]
        if not changed:
            return
        check_event_open(session, application)
        for name, value in changes.items():
            setattr(application, name, value)
        application.version += 1
        record_application_act(session, Action.APPLICANT_CHANGED, application, fields=sorted(changed))
        if application.email is None or application.email == old_email:
            return
        _end_links(session, application)
        template, new_links = _renew_links(session, application)
        if new_links or application.status == states.SUBMITTED:
            count_mails(session, load_sender(session, application.organiser_id or caller.id), [application.email])
            enqueue_email(template, application, *new_links, address=application.email)
            is_of_application = FailedMail.application_id == application.id
            session.execute(delete(FailedMail).where(FailedMail.event_id == application.event_id, is_of_application))


def _end_links(session: ReadOrWriteSession, application: Application) -> None:
    """Ends all links that were mailed, also those that are not due any more, but that of an offer."""
    of_application = ApplicationLink.application_id == application.id, ApplicationLink.purpose != states.OFFER
    ended = update(ApplicationLink).where(*of_application, ApplicationLink.replaced_at.is_(None))
    session.execute(ended.values(replaced_at=func.now()).execution_options(synchronize_session=False))


def _renew_links(session: ReadOrWriteSession, application: Application) -> tuple[str, list[ApplicationLink]]:
    """The mail for the new address, with its new links."""
    if application.status == states.WAITLISTED:
        return "application_place_offer", links.renew_open_offer(session, application)
    due_links = links.renew_links(session, application, links.list_due_purposes(application))
    return "application_link" if due_links else "application_received", due_links
