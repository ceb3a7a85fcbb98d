"""Activating an account: the last step before the stall."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, update

from app.accounts import sessions
from app.accounts.errors import CurrentPasswordWrong
from app.accounts.models import Account
from app.accounts.sessions import LoginResult
from app.applications import links
from app.applications.activation import NOT_HIS, account_of, news_of, opened_with_account, owner_of
from app.applications.errors import LinkExpired, NothingDue
from app.applications.links import Opened
from app.applications.models import Application, ApplicationLink
from app.applications.progress import letter
from app.applications.states import ACTIVATED, READY, checked
from app.core.errors import AppError
from app.core.outbox import enqueue_all, errand
from app.core.session import ReadOrWriteSession
from app.core.transaction import transaction
from app.invitations.participation import joining


@dataclass(frozen=True)
class Activated:
    """A signed-in merchant, where he wants to go, and for which event he applied."""

    signed_in: LoginResult
    path: str
    event: str | None


def activate(*, token: str, name: str, password: str, message: str, path: str, email: str | None = None) -> Activated:
    """Opens the merchant's account, or links the one he has, and signs him in. Of many at once, one succeeds.
    Whoever applied for an event takes part in it from now on.

    Raises NotFound, LinkExpired, LinkUsed, CurrentPasswordWrong, ValidationFailed, Throttled.
    """
    found, known = opened_with_account(token)
    owner = owner_of(found, known, name=name, password=password, email=email)
    with transaction() as session:
        account = account_of(session, owner)
        if account is None:
            raise _beaten(session, token) or CurrentPasswordWrong(NOT_HIS)
        if not claimed(session, found, account, message):
            raise _beaten(session, token) or LinkExpired()
        application = found.application
        works = [*letter("application_activated", application, path=path), *news_of(owner, account)]
        if application.organiser_id is not None:
            works.append(errand("applications.mail_organiser", application_id=application.id))
        enqueue_all(works)
        return Activated(sessions.create_session(session, account), path, found.around.event)


def claimed(session: ReadOrWriteSession, found: Opened, account: Account, message: str) -> bool:
    """Uses the link up, closes the application and takes part, all in one conditional statement; False when the link
    had died or the application had gone on by then, and then nothing of the transaction may stay."""
    done = session.scalars(claim(found, account, message), execution_options={"populate_existing": True}).first()
    return done is not None


def claim(found: Opened, account: Account, message: str) -> Any:
    """That statement. The application comes first, as everywhere, and the link is looked at once it is locked."""
    application, link = found.application, found.link
    closed = (
        update(Application)
        .where(Application.id == application.id, Application.status == READY)
        .values(
            status=checked(READY, ACTIVATED),
            version=Application.version + 1,
            account_id=account.id,
            activation_message=message or None,
            activated_at=func.now(),
            updated_at=func.now(),
            email=func.coalesce(Application.email, account.email),
        )
        .returning(Application.id)
        .cte("closed")
    )
    used = (
        update(ApplicationLink)
        .where(
            ApplicationLink.id == link.id,
            ApplicationLink.application_id == closed.c.id,
            ApplicationLink.used_at.is_(None),
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
        .values(used_at=func.now())
        .returning(ApplicationLink.id)
        .execution_options(synchronize_session=False)
    )
    if application.event_id is None:
        return used
    joined = joining(
        event_id=application.event_id,
        merchant_id=account.id,
        stall_type=application.stall_type,
        fee_minor=application.amount_minor,
    )
    return used.add_cte(joined.cte("joined"))


def _beaten(session: ReadOrWriteSession, token: str) -> AppError | None:
    """Why it came to nothing: what the link and the application are by now."""
    found = links.behind(token, links.ACTIVATION, session=session)
    if found.death is not None:
        return found.death()
    application = found.application
    return None if application.status == READY else NothingDue(status=application.status, due=links.due(application))
