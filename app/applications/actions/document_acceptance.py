"""Accepting documents of an approved applicant, which count before that as well."""

from collections.abc import Sequence

from sqlalchemy import func, update

from app.accounts.caller import Caller
from app.applications.document_requests import build_kind_errors, check_documents_open, load_requests
from app.applications.models import ApplicationDocument
from app.applications.queries import can_decide_sql, lock_application, record_application_act
from app.audit.actions import Action
from app.core.errors import StaleVersion, ValidationFailed
from app.core.transaction import transaction


def accept_documents(caller: Caller, id: str, *, kinds: Sequence[str], expected_version: int | None = None) -> None:
    """Notes that a decider has looked at these documents and finds them good. What is accepted already stays so.

    Raises NotFound, StaleVersion, StepNotAllowed before the approval and after the end of the application, and
    ValidationFailed for each kind without a file, or that is asked for again.
    """
    with transaction() as session:
        application = lock_application(session, caller, id, can_decide_sql(caller))
        if expected_version not in (None, application.version):
            raise StaleVersion()
        check_documents_open(application)
        reasons = load_requests(session, application.id)
        asked_kinds = {kind for kind, reason in reasons.items() if reason is not None}
        errors = build_kind_errors(
            kinds, reasons, "not_uploaded", "There is no file of this kind yet, so it cannot be accepted."
        ) + build_kind_errors(
            kinds,
            set(kinds) - asked_kinds,
            "asked_again",
            "Another file of this kind is asked for, so this one cannot be accepted.",
        )
        if errors:
            raise ValidationFailed(errors)
        statement = (
            update(ApplicationDocument)
            .where(
                ApplicationDocument.application_id == application.id,
                ApplicationDocument.kind.in_(kinds),
                ApplicationDocument.accepted_at.is_(None),
            )
            .values(accepted_at=func.now(), accepted_by=caller.id)
            .returning(ApplicationDocument.kind)
            .execution_options(synchronize_session=False)
        )
        accepted_kinds = session.scalars(statement).all()
        if accepted_kinds:
            record_application_act(session, Action.DOCUMENTS_ACCEPTED, application, kinds=sorted(accepted_kinds))
