"""Documents that a returning merchant does not send again: copies from their earlier applications to the organisation.

A document is carried over when the application is approved, if

- the application was sent with the account of a merchant whose address is verified,
- the earlier application is of the same account to the same organisation, and its documents were accepted,
- the document is required again, and valid up to the end of the event.

Each application has a file of its own, so that deleting one of them, or its retention, does not touch the others.
"""

from datetime import date

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session as OrmSession
from sqlalchemy.orm import aliased

from app.accounts.models import Account
from app.accounts.permissions import MERCHANT
from app.applications.calendar import EVENT_CALENDAR_COLUMNS, EventCalendar, find_last_day
from app.applications.documents import KINDS, build_stored_name, is_valid_on
from app.applications.models import Application, ApplicationDocument
from app.applications.states import ACCEPTED_STATES, ACTIVATED
from app.clients import storage
from app.core.db import db, release_connection
from app.core.ids import new_id
from app.core.jobs import Delivery, Run, job
from app.core.outbox import Work, job_spec
from app.core.transaction import transaction
from app.events.models import Event

Earlier = aliased(Application)


def build_carry_jobs(application: Application) -> list[Work]:
    """The job that carries documents over to an application that is approved now; none where none can be."""
    if application.account_id is None or application.organiser_id is None or not application.documents_due:
        return []
    return [job_spec("applications.carry_documents", application_id=application.id)]


@job("applications.carry_documents", Delivery.AT_LEAST_ONCE)
def carry_documents(run: Run, *, application_id: str) -> None:
    """Copies the documents that can be carried over to an application, one after the other."""
    with transaction() as session:
        documents = _list_carried_documents(session, application_id)
    release_connection()
    for document, reference in documents:
        data = storage.get(document.stored_as)
        if data is not None:
            _carry_document(application_id, document, reference, data)


def _carry_document(application_id: str, document: ApplicationDocument, reference: str, data: bytes) -> None:
    """Stores a copy of the file, and its row unless the applicant has sent one meanwhile or the earlier one is gone."""
    file_name = build_stored_name(application_id)
    storage.put(file_name, data, content_type=document.content_type)
    is_carried = False
    try:
        with transaction() as session:
            is_carried = _insert_copy(session, application_id, document, reference, file_name)
    finally:
        if not is_carried:
            storage.delete(file_name)


def _insert_copy(
    session: OrmSession, application_id: str, document: ApplicationDocument, reference: str, file_name: str
) -> bool:
    current = {(row.id, row.stored_as) for row, _ in _list_carried_documents(session, application_id)}
    if (document.id, document.stored_as) not in current:
        return False
    copy = insert(ApplicationDocument).values(
        id=new_id(),
        application_id=application_id,
        kind=document.kind,
        file_name=document.file_name,
        content_type=document.content_type,
        size=document.size,
        stored_as=file_name,
        expires_on=document.expires_on,
        uploaded_at=document.uploaded_at,
        carried_from=reference,
        accepted_at=document.accepted_at,
        accepted_by=document.accepted_by,
    )
    copy = copy.on_conflict_do_nothing(index_elements=["application_id", "kind"])
    return session.scalar(copy.returning(ApplicationDocument.id)) is not None


def _list_carried_documents(session: OrmSession, application_id: str) -> list[tuple[ApplicationDocument, str]]:
    """The newest document of each kind that the application still needs, with the reference of its application.

    The application is locked. The documents are locked against deletion until the transaction ends.
    """
    application = session.get(Application, application_id, with_for_update=True, populate_existing=True)
    if application is None or not application.documents_due or application.status not in ACCEPTED_STATES:
        return []
    calendar_row = session.execute(select(*EVENT_CALENDAR_COLUMNS).where(Event.id == application.event_id)).first()
    if calendar_row is None:
        return []
    last_day = find_last_day(EventCalendar(*calendar_row))
    query = _earlier_documents_query(application_id)
    rows = session.execute(
        query.where(ApplicationDocument.kind.in_(application.documents_required)).with_for_update(
            read=True, of=ApplicationDocument
        )
    )
    newest = {
        document.kind: (document, reference)
        for document, reference in rows
        if is_valid_on(last_day, document.expires_on)
    }
    return list(newest.values())


def list_reusable_documents(application_id: str, last_day: date) -> dict[str, tuple[str, date | None]]:
    """What an approval would carry over: by kind, the reference of the earlier application and the last valid day.

    Documents must be valid on `last_day`.
    """
    return {
        document.kind: (reference, document.expires_on)
        for document, reference in db.session.execute(_earlier_documents_query(application_id))
        if document.kind in KINDS and is_valid_on(last_day, document.expires_on)
    }


def _earlier_documents_query(application_id: str) -> Select[ApplicationDocument, str]:
    """Accepted documents of the merchant's earlier applications to the organisation, without kinds that were sent for
    this one, the oldest first, with the references."""
    sent_kinds = select(ApplicationDocument.kind).where(ApplicationDocument.application_id == application_id)
    return (
        select(ApplicationDocument, Earlier.reference)
        .join(Earlier, Earlier.id == ApplicationDocument.application_id)
        .join(Account, Account.id == Earlier.account_id)
        .join(
            Application,
            (Application.account_id == Earlier.account_id) & (Application.organiser_id == Earlier.organiser_id),
        )
        .where(
            Application.id == application_id,
            Earlier.id != application_id,
            Earlier.documents_submitted_at.is_not(None),
            Earlier.status.in_((*ACCEPTED_STATES, ACTIVATED)),
            Earlier.erased_at.is_(None),
            Account.email_verified_at.is_not(None),
            Account.roles.contains([MERCHANT]),
            ApplicationDocument.asked_again_at.is_(None),
            ApplicationDocument.kind.not_in(sent_kinds),
        )
        .order_by(ApplicationDocument.uploaded_at, ApplicationDocument.id)
    )
