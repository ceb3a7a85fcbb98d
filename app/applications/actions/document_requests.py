"""Asking an approved applicant for documents again that are there already, with the reason that they read."""

from collections.abc import Sequence

from sqlalchemy import func, update

from app.accounts.caller import Caller
from app.accounts.outgoing_mail import count_mails, load_sender
from app.applications import documents, links
from app.applications.document_requests import (
    build_kind_errors,
    check_documents_open,
    load_requests,
    reopen_documents,
)
from app.applications.emails import enqueue_email
from app.applications.models import Application, ApplicationDocument
from app.applications.open_events import check_event_open
from app.applications.queries import can_decide_sql, lock_application, record_application_act
from app.audit.actions import Action
from app.core.db import ReadOrWriteSession
from app.core.errors import StaleVersion, ValidationFailed
from app.core.transaction import transaction

MAIL_TEMPLATE = "application_documents_again"


def ask_again(
    caller: Caller, id: str, *, kinds: Sequence[str], reason: str, expected_version: int | None = None
) -> None:
    """Asks for another file in place of each of these documents. The applicant gets a mail with the reason and a new link.

    The files stay until others replace them, and do not count any more. What is asked for with the same reason already
    changes nothing. Raises NotFound, StaleVersion, StepNotAllowed before the approval and after the end of the
    application, ValidationFailed for a kind without a file, ApplicationsClosed, SenderNotVerified, MailLimitReached.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        if expected_version not in (None, application.version):
            raise StaleVersion()
        check_documents_open(application)
        reasons = load_requests(session, application.id)
        errors = build_kind_errors(
            kinds, reasons, "not_uploaded", "There is no file of this kind yet, so it cannot be asked for again."
        )
        if errors:
            raise ValidationFailed(errors)
        if all(reasons[kind] == reason for kind in kinds):
            return
        check_event_open(session, application)
        if application.email is not None:
            count_mails(session, load_sender(session, application.organiser_id or caller.id), [application.email])
        _mark_documents(session, application, kinds, reason)
        required_kinds = {*application.documents_required, *kinds}
        application.documents_required = [kind for kind in documents.KINDS if kind in required_kinds]
        reopen_documents(session, application)
        record_application_act(
            session, Action.DOCUMENTS_ASKED_AGAIN, application, kinds=sorted(set(kinds)), reason=reason
        )
        enqueue_email(MAIL_TEMPLATE, application, *links.renew_links(session, application, [links.DOCUMENTS]))


def _mark_documents(session: ReadOrWriteSession, application: Application, kinds: Sequence[str], reason: str) -> None:
    session.execute(
        update(ApplicationDocument)
        .where(ApplicationDocument.application_id == application.id, ApplicationDocument.kind.in_(kinds))
        .values(asked_again_at=func.now(), asked_again_reason=reason, accepted_at=None, accepted_by=None)
        .execution_options(synchronize_session=False)
    )
