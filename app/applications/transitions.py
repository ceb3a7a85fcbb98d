"""Steps of an application: its next state, the links that are due then, and the mails with these links."""

from sqlalchemy.orm import Session as OrmSession

from app.applications import links, states
from app.applications.models import Application, ApplicationLink
from app.core.outbox import Work, enqueue_all, job_spec


def set_status(application: Application, status: str) -> None:
    """Sets the state. Raises StepNotAllowed."""
    application.status = states.check_step(application.status, status)
    application.version += 1


def advance_application(session: OrmSession, application: Application) -> list[ApplicationLink]:
    """Moves an approved application to its first outstanding step.

    Returns the new activation link if the application has become ready by this step and not by the approval itself.
    """
    next_status = states.get_outstanding_state(documents=application.documents_due, payment=application.payment_due)
    if next_status == application.status:
        application.version += 1
        return []
    is_just_approved = application.status == states.APPROVED
    set_status(application, next_status)
    return (
        links.renew_links(session, application, [links.ACTIVATION])
        if next_status == states.READY and not is_just_approved
        else []
    )


def enqueue_email(template: str, application: Application, *email_links: ApplicationLink, **params: str) -> None:
    """Enqueues a mail to the applicant, if there is an email."""
    enqueue_all(build_email_jobs(template, application, *email_links, **params))


def build_email_jobs(
    template: str, application: Application, *email_links: ApplicationLink, **params: str
) -> list[Work]:
    """The job of a mail to the applicant; none without an email. Links go by their ids, never by their tokens."""
    if application.email is None:
        return []
    link_ids = [link.id for link in email_links]
    return [
        job_spec("applications.mail", template=template, application_id=application.id, link_ids=link_ids, **params)
    ]


def build_activation_email_jobs(application: Application, new_links: list[ApplicationLink]) -> list[Work]:
    """The job of the mail with the activation link; none without a new link."""
    return build_email_jobs("application_activation", application, *new_links) if new_links else []
