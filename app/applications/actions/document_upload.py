"""Upload of documents by an applicant: storing the files, recording them, and handing all of them in."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date

from sqlalchemy import func, null, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession

from app.applications import documents, links, queries
from app.applications.calendar import find_last_day
from app.applications.documents import DocumentUpload, UploadedDocument
from app.applications.emails import build_activation_email_jobs, build_email_jobs
from app.applications.errors import DocumentsClosed, DocumentsMissing
from app.applications.link_queries import DocumentsPage, build_documents_page
from app.applications.links import ResolvedLink, advance_application
from app.applications.models import Application, ApplicationDocument
from app.applications.open_events import check_event_open
from app.applications.queries import DOCUMENT_COLUMNS
from app.applications.states import ACTIVATED
from app.audit.actions import Action
from app.clients import storage
from app.core.db import ReadOrWriteSession, database_now, release_connection
from app.core.ids import new_id
from app.core.languages import find_page_language
from app.core.outbox import Work, enqueue_all, job_spec
from app.core.transaction import transaction

UPDATED_COLUMNS = (
    "id",
    "file_name",
    "content_type",
    "size",
    "stored_as",
    "uploaded_at",
    "expires_on",
    "carried_from",
    "asked_again_at",
    "asked_again_reason",
    "opened_at",
    "accepted_at",
    "accepted_by",
)


def upload_documents(
    *,
    token: str,
    files: Mapping[str, tuple[str, bytes]],
    submit: bool,
    expiry_days: Mapping[str, date] | None = None,
) -> DocumentsPage:
    """Stores the files, one of each kind, with the days on which they expire, and with `submit` hands all documents in.

    A file replaces the earlier one of its kind; a day without a file is that of the earlier one. One that was asked for
    again does not count. Raises NotFound, LinkExpired, DocumentTooLarge,
    DocumentKindUnsupported, DocumentsClosed, ApplicationsClosed, and DocumentsMissing if a required document is not there yet, or is not valid up to the end
    of the event.
    """
    resolved_link = links.get_active_link(token, links.DOCUMENTS)
    expiry_days = expiry_days or {}
    if not _accepts_documents(resolved_link.application, {*files, *expiry_days}):
        return build_documents_page(resolved_link, queries.list_documents(resolved_link.application.id))
    uploads = [
        documents.check_document(kind, name, data, expiry_days.get(kind)) for kind, (name, data) in files.items()
    ]
    release_connection()
    with store_files(resolved_link.application.id, uploads) as stored_names:
        updated_link, uploaded_documents, missing_kinds = _save_uploads(
            token, uploads, stored_names, expiry_days, submit=submit
        )
    if missing_kinds:
        raise _build_missing_error(missing_kinds, uploaded_documents)
    return build_documents_page(updated_link, uploaded_documents)


def _save_uploads(
    token: str,
    uploads: Sequence[DocumentUpload],
    stored_names: Mapping[str, str],
    expiry_days: Mapping[str, date],
    *,
    submit: bool,
) -> tuple[ResolvedLink, Sequence[UploadedDocument], list[str]]:
    """The link with all documents of its application now, and with `submit` the kinds that are still missing."""
    missing_kinds: list[str] = []
    with transaction() as session:
        resolved_link = links.get_active_link(token, links.DOCUMENTS, session=session)
        application = resolved_link.application
        if not _accepts_documents(application, {*stored_names, *expiry_days}):
            return resolved_link, queries.list_documents(application.id, session), []
        check_event_open(session, application)
        _set_expiry_days(session, application.id, expiry_days)
        uploaded_documents, replaced_names = save_documents(session, application.id, uploads, stored_names)
        application.version += 1
        application.language = find_page_language() or application.language
        jobs = [job_spec("applications.delete_files", names=replaced_names)] if replaced_names else []
        if submit:
            last_day = find_last_day(resolved_link.event_context.calendar)
            accepted_kinds = [document.kind for document in uploaded_documents if document.counts_on(last_day)]
            missing_kinds = documents.list_missing_kinds(application.documents_required, accepted_kinds)
            jobs += [] if missing_kinds else _submit_documents(session, application)
        enqueue_all(jobs)
    return resolved_link, uploaded_documents, missing_kinds


def _build_missing_error(
    missing_kinds: Collection[str], uploaded_documents: Sequence[UploadedDocument]
) -> DocumentsMissing:
    """The error that names the missing documents, the day on which one expires too early, and why one is asked for again."""
    asked_again = {document.kind: document for document in uploaded_documents if document.asked_again_at is not None}
    expiry_days = {
        document.kind: document.expires_on
        for document in uploaded_documents
        if document.expires_on and document.kind not in asked_again
    }
    return DocumentsMissing(
        missing=[
            {
                "kind": kind,
                "label": documents.LABELS[kind],
                **({"expiresOn": expiry_days[kind].isoformat()} if kind in expiry_days else {}),
                **({"reason": asked_again[kind].asked_again_reason} if kind in asked_again else {}),
            }
            for kind in missing_kinds
        ]
    )


def _set_expiry_days(session: OrmSession, application_id: str, expiry_days: Mapping[str, date]) -> None:
    """Sets the days on which the documents expire that are there already. With another day, one is not accepted any more."""
    for kind, expires_on in expiry_days.items():
        session.execute(
            update(ApplicationDocument)
            .where(
                ApplicationDocument.application_id == application_id,
                ApplicationDocument.kind == kind,
                ApplicationDocument.expires_on.is_distinct_from(expires_on),
            )
            .values(expires_on=expires_on, accepted_at=None, accepted_by=None)
            .execution_options(synchronize_session=False)
        )


def _accepts_documents(application: Application, new_kinds: Collection[str]) -> bool:
    """Whether documents are still due. Handing in twice is no error without new files. Raises DocumentsClosed."""
    if application.documents_submitted_at is not None and new_kinds:
        raise DocumentsClosed()
    return application.documents_due


@contextmanager
def store_files(application_id: str, uploads: Sequence[DocumentUpload]) -> Iterator[Mapping[str, str]]:
    """Stores the files for the block, which saves their names, by kind. If the block fails, they are deleted again."""
    stored_names = {upload.kind: _store_file(application_id, upload) for upload in uploads}
    try:
        yield stored_names
    except BaseException:
        # No row names these files: the application has advanced meanwhile, or the database is unavailable.
        for name in stored_names.values():
            storage.delete(name)
        raise


def _store_file(application_id: str, upload: DocumentUpload) -> str:
    """Stores the bytes and returns the name of the file."""
    stored_name = documents.build_stored_name(application_id)
    storage.put(stored_name, upload.data, content_type=upload.content_type)
    return stored_name


def _submit_documents(session: ReadOrWriteSession, application: Application) -> list[Work]:
    """Hands the documents in and advances the application. Returns the jobs of its mail, with the link to pay."""
    application.documents_submitted_at = database_now()
    queries.record_application_act(session, Action.DOCUMENTS_SUBMITTED, application)
    payment_links = [links.get_or_renew_link(session, application, links.PAYMENT)] if application.payment_due else []
    email_jobs = build_email_jobs("application_documents", application, *payment_links)
    if application.status == ACTIVATED:
        return email_jobs
    return [*email_jobs, *build_activation_email_jobs(application, advance_application(session, application))]


def save_documents(
    session: OrmSession, application_id: str, uploads: Sequence[DocumentUpload], stored_names: Mapping[str, str]
) -> tuple[list[UploadedDocument], list[str]]:
    """All documents after the upload, and the stored names of the replaced files, in one statement.

    The application must be locked.
    """
    existing_query = select(*DOCUMENT_COLUMNS, ApplicationDocument.stored_as).where(
        ApplicationDocument.application_id == application_id
    )
    if not uploads:
        return [queries.build_document(row) for row in session.execute(existing_query)], []
    statement = insert(ApplicationDocument).values(
        [_build_document_row(application_id, upload, stored_names[upload.kind]) for upload in uploads]
    )
    changes = {name: getattr(statement.excluded, name) for name in UPDATED_COLUMNS}
    saved_documents = (
        statement.on_conflict_do_update(index_elements=["application_id", "kind"], set_=changes)
        .returning(*DOCUMENT_COLUMNS)
        .cte("saved_document")
    )
    existing_documents = existing_query.cte("existing_document")
    unchanged_query = select(*(existing_documents.c[column.key] for column in DOCUMENT_COLUMNS), null()).where(
        existing_documents.c.kind.not_in(select(saved_documents.c.kind))
    )
    saved_query = select(saved_documents, existing_documents.c.stored_as).outerjoin(
        existing_documents, existing_documents.c.kind == saved_documents.c.kind
    )
    rows = session.execute(saved_query.union_all(unchanged_query)).all()
    return [queries.build_document(row) for row in rows], [row[-1] for row in rows if row[-1] is not None]


def _build_document_row(application_id: str, upload: DocumentUpload, stored_as: str) -> dict[str, object]:
    return {
        "id": new_id(),
        "application_id": application_id,
        "kind": upload.kind,
        "file_name": upload.name,
        "content_type": upload.content_type,
        "size": len(upload.data),
        "stored_as": stored_as,
        "uploaded_at": func.now(),
        "expires_on": upload.expires_on,
        "carried_from": None,
        "asked_again_at": None,
        "asked_again_reason": None,
        "opened_at": None,
        "accepted_at": None,
        "accepted_by": None,
    }
