"""The decision about an application, its withdrawal by the applicant, and new links for the steps that are due.

A decider who asks for a link sees it; an applicant gets it only by mail.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import documents, links, stall_payments, states
from app.applications.emails import enqueue_email
from app.applications.errors import AlreadyDecided, NothingDue, NotWithdrawable
from app.applications.links import advance_application
from app.applications.models import Application
from app.applications.queries import can_decide_sql, lock_application
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.db import ReadOrWriteSession
from app.core.errors import StaleVersion, Throttled
from app.core.languages import find_page_language
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


def decide_application(
    caller: Caller,
    id: str,
    *,
    decision: str,
    expected_version: int | None = None,
    documents_required: list[str] | None = None,
    decline_reason: str | None = None,
    reviewer_notes: str | None = None,
    risk_level: str | None = None,
) -> None:
    """Approves or declines. The same decision again changes nothing; of two simultaneous decisions the first counts.

    Raises NotFound, StaleVersion, AlreadyDecided, StepNotAllowed, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        if expected_version not in (None, application.version):
            raise StaleVersion()
        if application.decision is not None:
            _check_same_decision(application, decision)
            return
        if application.email is not None:
            count_mails(session, load_sender(session, application.organiser_id or caller.id), [application.email])
        application.set_status(decision)
        application.decision, application.decided_by, application.decided_at = decision, caller.id, func.now()
        application.decline_reason, application.reviewer_notes = decline_reason, reviewer_notes
        application.risk_level = risk_level
        action = Action.APPLICATION_DECLINED if decision == states.DECLINED else Action.APPLICATION_APPROVED
        _record(session, action, application)
        if decision == states.DECLINED:
            enqueue_email("application_declined", application)
            return
        required_kinds = (
            documents.list_required_kinds(application.stall_type) if documents_required is None else documents_required
        )
        application.documents_required = [kind for kind in documents.KINDS if kind in required_kinds]
        advance_application(session, application)
        new_links = links.renew_links(session, application, links.list_due_purposes(application))
        enqueue_email("application_approved", application, *new_links)


def withdraw_application(caller: Caller, id: str) -> None:
    """Withdraws the caller's own application; its links end.

    Raises NotFound, NotWithdrawable, PaymentInProgress, StepNotAllowed.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, Application.account_id == caller.id)
        if application.status == states.WITHDRAWN:
            return
        if application.paid_at is not None:
            raise NotWithdrawable()
        stall_payments.end_open_payment(session, application.id)
        application.set_status(states.WITHDRAWN)
        _record(session, Action.APPLICATION_WITHDRAWN, application)


def _record(session: ReadOrWriteSession, action: Action, application: Application, **data: object) -> None:
    record(
        session,
        action,
        organisation_id=application.organiser_id,
        event_id=application.event_id,
        account_id=application.account_id,
        subject=application.id,
        data=data,
    )


def _check_same_decision(application: Application, decision: str) -> None:
    if application.decision != decision:
        raise AlreadyDecided(decision=application.decision, status=application.status)


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
        _record(session, Action.APPLICATION_LINK_SHOWN, application, purpose=purpose)
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
        application.language = find_page_language() or application.language
        enqueue_email("application_link", application, *links.renew_links(session, application, due_purposes))
        return due_purposes


def _count_link_request(session: ReadOrWriteSession, application: Application) -> None:
    for limit_status in throttle.hit_all(session, (GAP_LIMIT, application.id), (DAILY_LIMIT, application.id)):
        if limit_status.exceeded:
            raise Throttled(
                "A link was mailed already; look for it, also among unwanted mail.", retry_after=limit_status.seconds
            )
