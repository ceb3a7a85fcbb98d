"""Reads of applications, always limited to what the caller may see."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, literal, or_, select
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.applications import documents, permissions
from app.applications.errors import LinkExpired
from app.applications.models import Application, ApplicationDocument, StallPayment
from app.applications.stall_payments import CURRENT_PAYMENT_ORDER, PAYMENT_STATUS_SQL
from app.clients import storage
from app.core.db import db, release_connection
from app.core.errors import NotFound
from app.events.models import Event

SORTS: dict[str, ColumnElement[Any]] = {
    "createdAt": Application.created_at.expression,
    "updatedAt": Application.updated_at.expression,
    "amountMinor": Application.amount_minor.expression,
}
APPLICATION_COLUMNS = (
    "id",
    "reference",
    "status",
    "event_id",
    "invite_slug",
    "business_name",
    "contact_name",
    "email",
    "phone",
    "stall_type",
    "products",
    "description",
    "website",
    "amount_minor",
    "destination",
    "mode",
    "scheduled_for",
    "payrail_msisdn",
    "decision",
    "decline_reason",
    "decided_at",
    "documents_required",
    "documents_submitted_at",
    "paid_at",
    "activated_at",
    "version",
    "created_at",
    "updated_at",
)
DOCUMENT_COLUMNS = (
    ApplicationDocument.kind,
    ApplicationDocument.file_name,
    ApplicationDocument.content_type,
    ApplicationDocument.size,
    ApplicationDocument.uploaded_at,
)
INTERNAL_COLUMNS = ("reviewer_notes", "risk_level", "decided_by", "activation_message")


@dataclass(frozen=True)
class UploadedDocument:
    """A document as its applicant knows it; the columns of `HANDED`."""

    kind: str
    file_name: str
    content_type: str
    size: int
    uploaded_at: datetime


def list_applications_query(caller: Caller, **filters: Any) -> Select[Any]:
    """The applications that the caller may see, with what is needed to say what is due: one query a page."""
    return _visible_applications_query(caller).where(*_build_conditions(caller, filters))


def get_application(caller: Caller, id: str) -> Mapping[Any, Any]:
    """One application as the list shows it. Raises NotFound."""
    row = db.session.execute(_visible_applications_query(caller).where(Application.id == id)).mappings().first()
    if row is None:
        raise NotFound()
    return row


def lock_application(session: OrmSession, caller: Caller, id: str, permission: ColumnElement[bool]) -> Application:
    """An application inside a transaction, for anyone who `may`. Raises NotFound."""
    statement = select(Application).where(Application.id == id, permission).with_for_update()
    application = session.scalar(statement.execution_options(populate_existing=True))
    if application is None:
        raise NotFound()
    return application


def list_documents(application_id: str, session: OrmSession | None = None) -> list[UploadedDocument]:
    """The documents that are there."""
    statement = select(*DOCUMENT_COLUMNS).where(ApplicationDocument.application_id == application_id)
    return [UploadedDocument(*row) for row in (session or db.session).execute(statement)]


def get_document(token: str) -> tuple[ApplicationDocument, bytes]:
    """A document and its bytes, for the decider to whom the link was given and who still decides.

    Raises NotFound, LinkExpired, StorageUnavailable.
    """
    read_permit = documents.verify_read_token(token)
    if read_permit is None:
        raise NotFound()
    if read_permit.expired:
        raise LinkExpired("A document can be read for five minutes; open the application again for a fresh link.")
    application_document = db.session.scalar(
        select(ApplicationDocument)
        .join(Application, Application.id == ApplicationDocument.application_id)
        .join(Account, Account.id == read_permit.viewer_id)
        .where(
            ApplicationDocument.id == read_permit.thing_id,
            or_(Application.organiser_id == Account.id, Account.admin_tier.is_not(None)),
        )
    )
    release_connection()
    data = storage.get(application_document.stored_as) if application_document else None
    if application_document is None or data is None:
        raise NotFound()
    return application_document, data


def _visible_applications_query(caller: Caller) -> Select[Any]:
    can_read_notes = permissions.can_read_notes_sql(caller)
    internal_columns = [case((can_read_notes, getattr(Application, name))).label(name) for name in INTERNAL_COLUMNS]
    return (
        select(
            *(getattr(Application, name) for name in APPLICATION_COLUMNS),
            *internal_columns,
            can_read_notes.label("is_decider"),
            Event.name.label("event_name"),
            literal(caller.id).label("viewer_id"),
            _documents_sql().label("files"),
            _payment_sql().label("payment"),
        )
        .outerjoin(Event, Event.id == Application.event_id)
        .where(permissions.can_see_sql(caller))
    )


def _documents_sql() -> ColumnElement[Any]:
    """The documents of each row, as JSON."""
    document_sql = func.jsonb_build_object(
        "id",
        ApplicationDocument.id,
        "kind",
        ApplicationDocument.kind,
        "fileName",
        ApplicationDocument.file_name,
        "contentType",
        ApplicationDocument.content_type,
        "size",
        ApplicationDocument.size,
        "uploadedAt",
        ApplicationDocument.uploaded_at,
    )
    documents_query = select(func.jsonb_agg(aggregate_order_by(document_sql, ApplicationDocument.kind))).where(
        ApplicationDocument.application_id == Application.id
    )
    return func.coalesce(documents_query.correlate(Application).scalar_subquery(), literal([], JSONB), type_=JSONB)


def _payment_sql() -> ColumnElement[Any]:
    """The newest try to pay, as JSON."""
    payment_sql = func.jsonb_build_object("paymentId", StallPayment.id, "status", PAYMENT_STATUS_SQL, type_=JSONB)
    current_query = (
        select(payment_sql).where(StallPayment.application_id == Application.id).order_by(*CURRENT_PAYMENT_ORDER)
    )
    return current_query.limit(1).correlate(Application).scalar_subquery()


def _build_conditions(caller: Caller, filters: dict[str, Any]) -> list[ColumnElement[bool]]:
    """The filters; those on what an applicant must not learn count only where the caller reads it anyway."""
    conditions = [
        getattr(Application, name) == filters[name]
        for name in ("decision", "status", "event_id")
        if filters.get(name) is not None
    ]
    if filters.get("decline_reason"):
        conditions.append(Application.decline_reason.icontains(filters["decline_reason"], autoescape=True))
    if filters.get("reviewer_notes"):
        notes_condition = Application.reviewer_notes.icontains(filters["reviewer_notes"], autoescape=True)
        conditions.append(notes_condition & permissions.can_read_notes_sql(caller))
    if filters.get("risk_level"):
        conditions.append((Application.risk_level == filters["risk_level"]) & permissions.can_read_notes_sql(caller))
    if filters.get("q"):
        conditions.append(_search_sql(filters["q"]))
    return conditions


def _search_sql(search_text: str) -> ColumnElement[bool]:
    columns = (Application.business_name, Application.contact_name, Application.email, Application.reference)
    return or_(*(column.icontains(search_text, autoescape=True) for column in columns))
