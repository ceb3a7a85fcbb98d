"""Activating an account: the last step before the stall."""

from dataclasses import dataclass

from sqlalchemy import func

from app.accounts import sessions
from app.accounts.sessions import SignedIn
from app.applications import links
from app.applications.activation import account_of, owner_of
from app.applications.errors import NothingDue
from app.applications.progress import moved, post
from app.applications.states import ACTIVATED, READY
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.invitations.participation import take_part


@dataclass(frozen=True)
class Activated:
    """A signed-in merchant, and where he wants to go."""

    signed_in: SignedIn
    path: str


def activate(*, token: str, name: str, password: str, message: str, path: str, email: str | None = None) -> Activated:
    """Opens the merchant's account, or links the one he has, and signs him in. Of many at once, one succeeds.
    Whoever applied for an event takes part in it from now on.

    Raises NotFound, LinkExpired, LinkUsed, CurrentPasswordWrong, ValidationFailed, Throttled.
    """
    owner = owner_of(links.opened(token, links.ACTIVATION), name=name, password=password, email=email)
    with transaction() as session:
        found = links.opened(token, links.ACTIVATION, session=session)
        application = found.application
        if application.status != READY:
            raise NothingDue(status=application.status, due=links.due(application))
        account = account_of(session, owner)
        found.link.used_at = application.activated_at = func.now()
        application.account_id, application.activation_message = account.id, message or None
        application.email = application.email or account.email
        moved(application, ACTIVATED)
        if application.event_id is not None:
            take_part(
                session,
                event_id=application.event_id,
                merchant_id=account.id,
                stall_type=application.stall_type,
                fee_minor=application.amount_minor,
            )
        post("application_activated", application, path=path)
        if application.organiser_id is not None:
            enqueue("applications.mail_organiser", application_id=application.id)
        return Activated(sessions.begin(session, account), path)
