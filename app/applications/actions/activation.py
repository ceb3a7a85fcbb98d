"""Activation of the merchant's account, the last step of an application."""

from dataclasses import dataclass

from sqlalchemy import func, update
from sqlalchemy.sql.dml import ReturningUpdate

from app.accounts import sessions
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.models import Account
from app.accounts.sessions import LoginResult
from app.applications import links
from app.applications.account_activation import (
    WRONG_PASSWORD_MESSAGE,
    build_owner,
    build_owner_notifications,
    get_link_with_account,
    open_account,
)
from app.applications.errors import LinkExpired, NothingDue
from app.applications.links import ResolvedLink
from app.applications.models import Application, ApplicationLink
from app.applications.states import ACTIVATED, READY, check_step
from app.applications.transitions import build_email_jobs
from app.core.errors import AppError
from app.core.outbox import enqueue_all, job_spec
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction
from app.invitations.participation import add_participant_sql


@dataclass(frozen=True)
class ActivationResult:
    """A signed-in merchant, the path to go to, and the event of the application."""

    login_result: LoginResult
    path: str
    event: str | None


def activate_account(
    *, token: str, name: str, password: str, message: str, path: str, email: str | None = None
) -> ActivationResult:
    """Opens the merchant's account, or links an existing one, and signs in. The merchant takes part in the event now.

    Of concurrent activations one succeeds. Raises NotFound, LinkExpired, LinkUsed, CurrentPasswordWrong, ValidationFailed, Throttled.
    """
    resolved_link, known_account = get_link_with_account(token)
    owner = build_owner(resolved_link, known_account, name=name, password=password, email=email)
    with transaction() as session:
        account = open_account(session, owner)
        if account is None:
            raise _find_activation_error(session, token) or CurrentPasswordWrong(WRONG_PASSWORD_MESSAGE)
        if not complete_activation(session, resolved_link, account, message):
            raise _find_activation_error(session, token) or LinkExpired()
        application = resolved_link.application
        jobs = [
            *build_email_jobs("application_activated", application, path=path),
            *build_owner_notifications(owner, account),
        ]
        if application.organiser_id is not None:
            jobs.append(job_spec("applications.mail_organiser", application_id=application.id))
        enqueue_all(jobs)
        return ActivationResult(sessions.create_session(session, account), path, resolved_link.event_context.event)


def complete_activation(
    session: ReadOrWriteSession, resolved_link: ResolvedLink, account: Account, message: str
) -> bool:
    """Uses the link, activates the application and adds the participant, in one conditional statement.

    False if link or application have changed meanwhile; then the transaction must be rolled back.
    """
    used_link_id = session.scalars(
        complete_activation_sql(resolved_link, account, message), execution_options={"populate_existing": True}
    ).first()
    return used_link_id is not None


def complete_activation_sql(resolved_link: ResolvedLink, account: Account, message: str) -> ReturningUpdate[str]:
    """The statement of `complete_activation`. The application is locked first, as everywhere, then the link is checked."""
    application, link = resolved_link.application, resolved_link.link
    activated_application = (
        update(Application)
        .where(Application.id == application.id, Application.status == READY)
        .values(
            status=check_step(READY, ACTIVATED),
            version=Application.version + 1,
            account_id=account.id,
            activation_message=message or None,
            activated_at=func.now(),
            updated_at=func.now(),
            email=func.coalesce(Application.email, account.email),
        )
        .returning(Application.id)
        .cte("activated_application")
    )
    link_use = (
        update(ApplicationLink)
        .where(
            ApplicationLink.id == link.id,
            ApplicationLink.application_id == activated_application.c.id,
            ApplicationLink.used_at.is_(None),
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
        .values(used_at=func.now())
        .returning(ApplicationLink.id)
        .execution_options(synchronize_session=False)
    )
    if application.event_id is None:
        return link_use
    participant_insert = add_participant_sql(
        event_id=application.event_id,
        merchant_id=account.id,
        stall_type=application.stall_type,
        fee_minor=application.amount_minor,
    )
    return link_use.add_cte(participant_insert.cte("participant"))


def _find_activation_error(session: ReadOrWriteSession, token: str) -> AppError | None:
    """The reason why the activation failed, from the state of link and application now; None if neither is the reason."""
    resolved_link = links.get_link(token, links.ACTIVATION, session=session)
    if resolved_link.error_class is not None:
        return resolved_link.error_class()
    application = resolved_link.application
    if application.status == READY:
        return None
    return NothingDue(status=application.status, due=links.list_due_purposes(application))
