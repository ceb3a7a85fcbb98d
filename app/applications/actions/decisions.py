"""The decision about an application, and its withdrawal by the applicant."""

from sqlalchemy import func

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import documents, links, stall_payments, states
from app.applications.errors import AlreadyDecided, NotWithdrawable
from app.applications.models import Application
from app.applications.queries import can_decide_sql, lock_application
from app.applications.transitions import advance_application, enqueue_email, set_status
from app.core.errors import StaleVersion
from app.core.transaction import transaction


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
        set_status(application, decision)
        application.decision, application.decided_by, application.decided_at = decision, caller.id, func.now()
        application.decline_reason, application.reviewer_notes = decline_reason, reviewer_notes
        application.risk_level = risk_level
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
        set_status(application, states.WITHDRAWN)


def _check_same_decision(application: Application, decision: str) -> None:
    if application.decision != decision:
        raise AlreadyDecided(decision=application.decision, status=application.status)
