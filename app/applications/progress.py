"""How an application goes on: the next state, the links that are due then, and the mails that carry them."""

from typing import Any

from sqlalchemy.orm import Session as OrmSession

from app.applications import links, states
from app.applications.models import Application, ApplicationLink
from app.core.outbox import Work, enqueue_all, errand


def moved(application: Application, state: str) -> None:
    """Sets the state. Raises MoveNotAllowed."""
    application.status = states.checked(application.status, state)
    application.version += 1


def go_on(session: OrmSession, application: Application) -> list[ApplicationLink]:
    """Moves an approved application to what is outstanding now; the activation link of one that is ready, if it is
    not just approved."""
    resting = states.outstanding(documents=application.documents_due, payment=application.payment_due)
    if resting == application.status:
        application.version += 1
        return []
    approved = application.status == states.APPROVED
    moved(application, resting)
    return links.renewed(session, application, [links.ACTIVATION]) if resting == states.READY and not approved else []


def post(template: str, application: Application, *carried: ApplicationLink, **more: Any) -> None:
    """Mails the applicant, if there is an address."""
    enqueue_all(letter(template, application, *carried, **more))


def letter(template: str, application: Application, *carried: ApplicationLink, **more: Any) -> list[Work]:
    """The work of mailing the applicant, none without an address; links are named by rows, never by tokens."""
    if application.email is None:
        return []
    ids = [link.id for link in carried]
    return [errand("applications.mail", template=template, application_id=application.id, link_ids=ids, **more)]


def going_on(application: Application, fresh: list[ApplicationLink]) -> list[Work]:
    """The mail with the activation link, where there is one now."""
    return letter("application_activation", application, *fresh) if fresh else []
