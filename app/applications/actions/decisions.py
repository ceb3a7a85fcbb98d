"""Deciding an application, and taking it back."""

from typing import Any

from sqlalchemy import func

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import documents, links, payment, scope, states
from app.applications.errors import AlreadyDecided, NotWithdrawable
from app.applications.models import Application
from app.applications.progress import go_on, moved, post
from app.applications.queries import locked
from app.core.errors import StaleVersion
from app.core.transaction import transaction


def decide(
    caller: Caller,
    id: str,
    *,
    decision: str,
    expected_version: int | None = None,
    documents_required: list[str] | None = None,
    **notes: Any,
) -> None:
    """Approves or declines. The same decision again changes nothing; of two at once, the first counts.

    Raises NotFound, StaleVersion, AlreadyDecided, MoveNotAllowed, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        application = locked(session, caller, id, scope.decidable(caller))
        if expected_version not in (None, application.version):
            raise StaleVersion()
        if application.decision is not None:
            _agree(application, decision)
            return
        if application.email is not None:
            count_mails(session, load_sender(session, application.organiser_id or caller.id), [application.email])
        moved(application, decision)
        application.decision, application.decided_by, application.decided_at = decision, caller.id, func.now()
        for name, value in notes.items():
            setattr(application, name, value)
        if decision == states.DECLINED:
            post("application_declined", application)
            return
        wanted = documents.required_of(application.stall_type) if documents_required is None else documents_required
        application.documents_required = [kind for kind in documents.KINDS if kind in wanted]
        go_on(session, application)
        fresh = links.renewed(session, application, links.due(application))
        post("application_approved", application, *fresh)


def withdraw(caller: Caller, id: str) -> None:
    """Takes the caller's own application back; its links die.

    Raises NotFound, NotWithdrawable, PaymentInProgress, MoveNotAllowed.
    """
    with transaction() as session:
        application = locked(session, caller, id, Application.account_id == caller.id)
        if application.status == states.WITHDRAWN:
            return
        if application.paid_at is not None:
            raise NotWithdrawable()
        payment.end_running(session, application.id)
        moved(application, states.WITHDRAWN)


def _agree(application: Application, decision: str) -> None:
    if application.decision != decision:
        raise AlreadyDecided(decision=application.decision, status=application.status)
