"""A document of an application, by the link that a decider got."""

from sqlalchemy import func, select, update

from app.accounts.permissions import STALLS_DECIDE
from app.accounts.queries import find_viewer
from app.applications import documents
from app.applications.errors import LinkExpired
from app.applications.models import Application, ApplicationDocument
from app.applications.queries import can_decide_sql
from app.audit.actions import Action
from app.audit.log import record
from app.clients import storage
from app.core.db import db, release_connection
from app.core.errors import NotFound
from app.core.transaction import transaction


def open_document(token: str) -> tuple[ApplicationDocument, bytes]:
    """A document and its bytes, for the session or key of a decider that got the link and may still read it.

    It counts as opened then, and the audit trail says who opened it.

    Raises NotFound, LinkExpired, StorageUnavailable.
    """
    grant = documents.verify_read_token(token)
    if grant is None:
        raise NotFound()
    if grant.expired:
        raise LinkExpired("A document can be read for five minutes; open the application again for a fresh link.")
    viewer = find_viewer(grant.viewer_id, STALLS_DECIDE)
    if viewer is None:
        raise NotFound()
    row = db.session.execute(
        select(ApplicationDocument, Application)
        .join(Application, Application.id == ApplicationDocument.application_id)
        .where(ApplicationDocument.id == grant.thing_id, can_decide_sql(viewer))
    ).first()
    release_connection()
    if row is None:
        raise NotFound()
    document, application = row
    data = storage.get(document.stored_as)
    if data is None:
        raise NotFound()
    with transaction() as session:
        is_unopened = ApplicationDocument.id == document.id, ApplicationDocument.opened_at.is_(None)
        session.execute(update(ApplicationDocument).where(*is_unopened).values(opened_at=func.now()))
        record(
            session,
            Action.DOCUMENT_READ,
            caller=viewer,
            organisation_id=application.organiser_id,
            event_id=application.event_id,
            account_id=application.account_id,
            subject=document.id,
            data={"application": application.id, "kind": document.kind},
        )
    return document, data
