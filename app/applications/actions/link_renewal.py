"""New links: at the request of a decider, who sees the link, or of the applicant, who gets it only by mail."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import links
from app.applications.errors import NothingDue
from app.applications.models import Application
from app.applications.queries import can_decide_sql, lock_application
from app.applications.transitions import enqueue_email
from app.core import throttle
from app.core.errors import Throttled
from app.core.session import ReadOrWriteSession
from app.core.throttle import Rule
from app.core.transaction import transaction

GAP_LIMIT = Rule("application-link-gap", 1, timedelta(seconds=60))
DAILY_LIMIT = Rule("application-links-a-day", 5, timedelta(days=1))


@dataclass(frozen=True)
class SentLink:
    """A new link as its decider sees it; `mailed_to` is None without an email."""

    purpose: str
    url: str
    expires_at: datetime
    mailed_to: str | None


def send_link(caller: Caller, id: str, *, purpose: str) -> SentLink:
    """A new link in place of the old one, mailed if there is an email and shown to the decider.

    Raises NotFound, NothingDue, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        if purpose not in links.list_due_purposes(application):
            raise NothingDue(status=application.status, due=links.list_due_purposes(application))
        if application.email is not None:
            count_mails(session, load_sender(session, application.organiser_id or caller.id), [application.email])
        (link,) = links.renew_links(session, application, [purpose], shown_to_decider=True)
        enqueue_email("application_link", application, link)
        return SentLink(purpose, links.build_link_url(link), link.expires_at, mailed_to=application.email)


def request_links(*, token: str, purpose: str) -> list[str]:
    """Mails new links for the due purposes to the application's email. Returns the purposes; none without an email.

    Every token of the application may request this, also an expired one. Raises NotFound, Throttled.
    """
    with transaction() as session:
        application = links.get_link(token, purpose, session=session).application
        due_purposes = links.list_due_purposes(application) if application.email else []
        if not due_purposes:
            return []
        _count_link_request(session, application)
        enqueue_email("application_link", application, *links.renew_links(session, application, due_purposes))
        return due_purposes


def _count_link_request(session: ReadOrWriteSession, application: Application) -> None:
    for limit_status in throttle.hit_all(session, (GAP_LIMIT, application.id), (DAILY_LIMIT, application.id)):
        if limit_status.exceeded:
            raise Throttled(
                "A link was mailed already; look for it, also among unwanted mail.", retry_after=limit_status.seconds
            )
