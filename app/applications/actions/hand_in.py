"""Handing documents in."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert

from app.applications import documents, links, visits
from app.applications.documents import Sent
from app.applications.errors import DocumentsClosed, DocumentsMissing
from app.applications.models import Application, ApplicationDocument
from app.applications.progress import go_on, post
from app.applications.queries import handed_in
from app.clients import storage
from app.core.db import ReadOrWriteSession, release
from app.core.ids import new_id
from app.core.tokens import opaque_token
from app.core.transaction import transaction


def hand_in(*, token: str, files: Mapping[str, tuple[str, bytes]], submit: bool) -> dict[str, Any]:
    """Keeps the files, one of each kind, and with `submit` hands everything in; where the documents stand then.

    A file takes the place of the earlier one of its kind. Raises NotFound, LinkExpired, DocumentTooLarge,
    DocumentKindUnsupported, DocumentsClosed, and DocumentsMissing when something required is not there yet.
    """
    before = links.opened(token, links.DOCUMENTS).application
    if not _open(before, files):
        return visits.documents(token)
    sent = [documents.checked(kind, name, data) for kind, (name, data) in files.items()]
    release()
    stored = {each.kind: _stored(before.id, each) for each in sent}
    gaps: list[str] = []
    with transaction() as session:
        application = links.opened(token, links.DOCUMENTS, session=session).application
        if _open(application, files):
            for each in sent:
                _keep(session, application, each, stored[each.kind])
            application.version += 1
            gaps = _submitted(session, application) if submit else []
    if gaps:
        raise DocumentsMissing(missing=[{"kind": kind, "label": documents.LABELS[kind]} for kind in gaps])
    return visits.documents(token)


def _open(application: Application, files: Mapping[str, Any]) -> bool:
    """Whether documents are still taken; handing in twice is no error as long as nothing new comes with it."""
    if application.documents_submitted_at is not None and files:
        raise DocumentsClosed()
    return application.documents_due


def _stored(application_id: str, sent: Sent) -> str:
    """Puts the bytes where nobody can guess them, and outside what is served to the public."""
    name = f"private/applications/{application_id}/{opaque_token()}"
    storage.put(name, sent.data, content_type=sent.content_type)
    return name


def _keep(session: ReadOrWriteSession, application: Application, sent: Sent, stored_as: str) -> None:
    values = {
        "id": new_id(),
        "file_name": sent.name,
        "content_type": sent.content_type,
        "size": len(sent.data),
        "stored_as": stored_as,
        "uploaded_at": func.now(),
    }
    session.execute(
        insert(ApplicationDocument)
        .values(application_id=application.id, kind=sent.kind, **values)
        .on_conflict_do_update(index_elements=["application_id", "kind"], set_=values)
    )


def _submitted(session: ReadOrWriteSession, application: Application) -> list[str]:
    """Closes the documents and goes on, or the kinds that are missing."""
    there = [each.kind for each in handed_in(application.id, session)]
    gaps = documents.missing(application.documents_required, there)
    if not gaps:
        application.documents_submitted_at = func.now()
        post("application_documents", application)
        go_on(session, application)
    return gaps
