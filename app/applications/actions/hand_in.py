"""Handing documents in."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.applications import documents, links, queries, visits
from app.applications.documents import Sent
from app.applications.errors import DocumentsClosed, DocumentsMissing
from app.applications.keeping import Handed, keep
from app.applications.links import Opened
from app.applications.models import Application
from app.applications.progress import go_on, going_on, letter
from app.clients import storage
from app.core.db import database_now, release
from app.core.outbox import Work, enqueue_all, errand
from app.core.session import ReadOrWriteSession
from app.core.tokens import opaque_token
from app.core.transaction import transaction


def hand_in(*, token: str, files: Mapping[str, tuple[str, bytes]], submit: bool) -> dict[str, Any]:
    """Keeps the files, one of each kind, and with `submit` hands everything in; where the documents stand then.

    A file takes the place of the earlier one of its kind. Raises NotFound, LinkExpired, DocumentTooLarge,
    DocumentKindUnsupported, DocumentsClosed, and DocumentsMissing when something required is not there yet.
    """
    before = links.opened(token, links.DOCUMENTS)
    if not _open(before.application, files):
        return visits.documents_of(before, queries.handed_in(before.application.id))
    sent = [documents.checked(kind, name, data) for kind, (name, data) in files.items()]
    release()
    stored = {item.kind: _stored(before.application.id, item) for item in sent}
    try:
        found, there, gaps = _kept(token, sent, stored, submit=submit)
    except BaseException:
        # Nobody knows of these files: the application has gone on meanwhile, or the database is away.
        for name in stored.values():
            storage.delete(name)
        raise
    if gaps:
        raise DocumentsMissing(missing=[{"kind": kind, "label": documents.LABELS[kind]} for kind in gaps])
    return visits.documents_of(found, there)


def _kept(
    token: str, sent: Sequence[Sent], stored: Mapping[str, str], *, submit: bool
) -> tuple[Opened, Sequence[Handed], list[str]]:
    """The application with the documents it has then, and with `submit` the kinds that are still missing."""
    gaps: list[str] = []
    with transaction() as session:
        found = links.opened(token, links.DOCUMENTS, session=session)
        application = found.application
        if not _open(application, stored):
            return found, queries.handed_in(application.id, session), []
        there, replaced = keep(session, application.id, sent, stored)
        application.version += 1
        works = [errand("applications.delete_files", names=replaced)] if replaced else []
        if submit:
            gaps = documents.missing(application.documents_required, [item.kind for item in there])
            works += [] if gaps else _submitted(session, application)
        enqueue_all(works)
    return found, there, gaps


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


def _submitted(session: ReadOrWriteSession, application: Application) -> list[Work]:
    """Closes the documents and goes on; what has to be mailed."""
    application.documents_submitted_at = database_now()
    return [*letter("application_documents", application), *going_on(application, go_on(session, application))]
