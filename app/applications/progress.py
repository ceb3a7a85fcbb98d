"""How an application goes on: the next state, the links that are due then, and the mails that carry them."""

from typing import Any

from sqlalchemy.orm import Session as OrmSession

from app.applications import links, states
from app.applications.models import Application, ApplicationLink
from app.core.outbox import enqueue


def moved(application: Application, state: str) -> None:
    """Sets the state. Raises MoveNotAllowed."""
    application.status = states.checked(application.status, state)
    application.version += 1


def go_on(session: OrmSession, application: Application) -> None:
    """Moves an approved application to what is outstanding now; ready, it gets its activation link by mail."""
    resting = states.outstanding(documents=application.documents_due, payment=application.payment_due)
    if resting == application.status:
        application.version += 1
        return
    approved = application.status == states.APPROVED
    moved(application, resting)
    if resting == states.READY and not approved:
        post("application_activation", application, links.renewed(session, application, links.ACTIVATION))


def post(template: str, application: Application, *carried: ApplicationLink, **more: Any) -> None:
    """Mails the applicant, if there is an address; links are named by their rows, never by their tokens."""
    if application.email is None:
        return
    ids = [link.id for link in carried]
    enqueue("applications.mail", template=template, application_id=application.id, link_ids=ids, **more)
