"""Documents that are asked for again after the approval: the steps back, and what the applicant reads about them."""

from collections.abc import Container, Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.applications.documents import KINDS, LABELS
from app.applications.models import Application, ApplicationDocument, ApplicationLink
from app.applications.states import ACCEPTED_STATES, ACTIVATED, ACTIVATION, AWAITING_DOCUMENTS, StepNotAllowed
from app.core.db import ReadOrWriteSession, db
from app.core.languages import gettext


def check_documents_open(application: Application) -> None:
    """Raises StepNotAllowed unless the application is approved and goes on."""
    if application.status not in (*ACCEPTED_STATES, ACTIVATED):
        raise StepNotAllowed(
            "Documents can be accepted and asked for again while the application is approved; data.status says its "
            "state.",
            status=application.status,
        )


def build_kind_errors(
    kinds: Sequence[str], right_kinds: Container[str], code: str, message: str
) -> list[dict[str, str]]:
    """The errors of a request for each of its kinds that is not one of the right ones."""
    return [
        {"path": f"kinds[{index}]", "code": code, "message": message}
        for index, kind in enumerate(kinds)
        if kind not in right_kinds
    ]


def reopen_documents(session: ReadOrWriteSession, application: Application) -> None:
    """Lets a locked application wait for its documents again; an activation link ends.

    It comes again when the documents are there. A paid fee stays paid, and an activated application stays so.
    """
    application.documents_submitted_at = None
    application.documents_reopened_at = func.now()
    if application.status in (AWAITING_DOCUMENTS, ACTIVATED):
        application.version += 1
        return
    application.set_status(AWAITING_DOCUMENTS)
    session.execute(
        update(ApplicationLink)
        .where(ApplicationLink.application_id == application.id, ApplicationLink.purpose == ACTIVATION)
        .where(ApplicationLink.replaced_at.is_(None))
        .values(replaced_at=func.now())
        .execution_options(synchronize_session=False)
    )


def load_requests(session: OrmSession, application_id: str) -> dict[str, str | None]:
    """The kinds of documents that are there, each with the reason why it is asked for again, or None."""
    rows = session.execute(
        select(ApplicationDocument.kind, ApplicationDocument.asked_again_reason).where(
            ApplicationDocument.application_id == application_id, ApplicationDocument.kind.in_(KINDS)
        )
    )
    reasons = {row.kind: row.asked_again_reason for row in rows}
    return {kind: reasons[kind] for kind in KINDS if kind in reasons}


def describe_requests(application_id: str) -> list[tuple[str, list[str]]]:
    """The documents that are asked for again with the lines of each reason, in the language in use."""
    labels_by_reason: dict[str, list[str]] = {}
    for kind, reason in load_requests(db.session(), application_id).items():
        if reason is not None:
            labels_by_reason.setdefault(reason, []).append(gettext(LABELS[kind]))
    return [(", ".join(labels), reason.splitlines()) for reason, labels in labels_by_reason.items()]
