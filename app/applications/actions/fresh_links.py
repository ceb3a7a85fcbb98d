"""Fresh links: from the deciders, who see them, and from the applicant, who gets them by mail alone."""

from datetime import timedelta
from typing import Any

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import links, scope
from app.applications.errors import NothingDue
from app.applications.models import Application
from app.applications.progress import post
from app.applications.queries import locked
from app.core import throttle
from app.core.errors import Throttled
from app.core.session import ReadOrWriteSession
from app.core.throttle import Rule
from app.core.transaction import transaction

GAP = Rule("application-link-gap", 1, timedelta(seconds=60))
PER_DAY = Rule("application-links-a-day", 5, timedelta(days=1))


def send_link(caller: Caller, id: str, *, purpose: str) -> dict[str, Any]:
    """A fresh link in place of the old one, mailed if there is an address, and shown to the decider.

    Raises NotFound, NothingDue, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        application = locked(session, caller, id, scope.decidable(caller))
        if purpose not in links.due(application):
            raise NothingDue(status=application.status, due=links.due(application))
        if application.email is not None:
            count_mails(session, load_sender(session, application.organiser_id or caller.id), [application.email])
        (link,) = links.renewed(session, application, [purpose], shown=True)
        post("application_link", application, link)
        return {
            "purpose": purpose,
            "url": links.address(link),
            "expires_at": link.expires_at,
            "mailed_to": application.email,
        }


def request_link(*, token: str, purpose: str) -> list[str]:
    """Mails fresh links for whatever is due to the address of the application; the purposes, none when it has none.

    Any token that was ever given out may ask, dead or alive. Raises NotFound, Throttled.
    """
    with transaction() as session:
        application = links.behind(token, purpose, session=session).application
        wanted = links.due(application) if application.email else []
        if not wanted:
            return []
        _spend(session, application)
        post("application_link", application, *links.renewed(session, application, wanted))
        return wanted


def _spend(session: ReadOrWriteSession, application: Application) -> None:
    for standing in throttle.hit_all(session, (GAP, application.id), (PER_DAY, application.id)):
        if standing.exceeded:
            raise Throttled(
                "A link was mailed already; look for it, also among unwanted mail.", retry_after=standing.seconds
            )
