"""Reads of applications, always through whoever may see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, literal, or_, select
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.orm import Session as OrmSession

from app.accounts.caller import Caller
from app.accounts.models import Account
from app.applications import documents, scope
from app.applications.errors import LinkExpired
from app.applications.models import Application, ApplicationDocument, StallPayment
from app.applications.payment import NEWEST, SHOWN_STATUS
from app.clients import storage
from app.core.db import db, release
from app.core.errors import NotFound
from app.events.models import Event

SORTS: dict[str, ColumnElement[Any]] = {
    "createdAt": Application.created_at.expression,
    "updatedAt": Application.updated_at.expression,
    "amountMinor": Application.amount_minor.expression,
}
PLAIN = (
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
HANDED = (
    ApplicationDocument.kind,
    ApplicationDocument.file_name,
    ApplicationDocument.content_type,
    ApplicationDocument.size,
    ApplicationDocument.uploaded_at,
)
INNER = ("reviewer_notes", "risk_level", "decided_by", "activation_message")


@dataclass(frozen=True)
class Handed:
    """A document as its applicant knows it; the columns of `HANDED`."""

    kind: str
    file_name: str
    content_type: str
    size: int
    uploaded_at: datetime


def listed(caller: Caller, **filters: Any) -> Select[Any]:
    """The applications that the caller may see, with what is needed to say what is due: one query a page."""
    return _shown_to(caller).where(*_conditions(caller, filters))


def one(caller: Caller, id: str) -> Mapping[Any, Any]:
    """One application as the list shows it. Raises NotFound."""
    row = db.session.execute(_shown_to(caller).where(Application.id == id)).mappings().first()
    if row is None:
        raise NotFound()
    return row


def locked(session: OrmSession, caller: Caller, id: str, may: ColumnElement[bool]) -> Application:
    """An application inside a transaction, for whoever `may`. Raises NotFound."""
    statement = select(Application).where(Application.id == id, may).with_for_update()
    found = session.scalar(statement.execution_options(populate_existing=True))
    if found is None:
        raise NotFound()
    return found


def handed_in(application_id: str, session: OrmSession | None = None) -> list[Handed]:
    """The documents that are there."""
    statement = select(*HANDED).where(ApplicationDocument.application_id == application_id)
    return [Handed(*row) for row in (session or db.session).execute(statement)]


def document(token: str) -> tuple[ApplicationDocument, bytes]:
    """A document and its bytes, for the decider to whom the link was given and who still decides.

    Raises NotFound, LinkExpired, StorageUnavailable.
    """
    permitted = documents.reading_of(token)
    if permitted is None:
        raise NotFound()
    if permitted.expired:
        raise LinkExpired("A document can be read for five minutes; open the application again for a fresh link.")
    found = db.session.scalar(
        select(ApplicationDocument)
        .join(Application, Application.id == ApplicationDocument.application_id)
        .join(Account, Account.id == permitted.viewer_id)
        .where(
            ApplicationDocument.id == permitted.thing_id,
            or_(Application.organiser_id == Account.id, Account.admin_tier.is_not(None)),
        )
    )
    release()
    data = storage.get(found.stored_as) if found else None
    if found is None or data is None:
        raise NotFound()
    return found, data


def _shown_to(caller: Caller) -> Select[Any]:
    inside = scope.inside(caller)
    inner = [case((inside, getattr(Application, name))).label(name) for name in INNER]
    return (
        select(
            *(getattr(Application, name) for name in PLAIN),
            *inner,
            inside.label("is_decider"),
            Event.name.label("event_name"),
            literal(caller.id).label("viewer_id"),
            _documents().label("files"),
            _payment().label("payment"),
        )
        .outerjoin(Event, Event.id == Application.event_id)
        .where(scope.visible(caller))
    )


def _documents() -> ColumnElement[Any]:
    """The documents of each row, as JSON."""
    each = func.jsonb_build_object(
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
    inner = select(func.jsonb_agg(aggregate_order_by(each, ApplicationDocument.kind))).where(
        ApplicationDocument.application_id == Application.id
    )
    return func.coalesce(inner.correlate(Application).scalar_subquery(), literal([], JSONB), type_=JSONB)


def _payment() -> ColumnElement[Any]:
    """The newest try to pay, as JSON."""
    told = func.jsonb_build_object("paymentId", StallPayment.id, "status", SHOWN_STATUS, type_=JSONB)
    newest = select(told).where(StallPayment.application_id == Application.id).order_by(*NEWEST)
    return newest.limit(1).correlate(Application).scalar_subquery()


def _conditions(caller: Caller, filters: dict[str, Any]) -> list[ColumnElement[bool]]:
    """The filters; those on what an applicant must not learn count only where the caller reads it anyway."""
    found = [
        getattr(Application, name) == filters[name]
        for name in ("decision", "status", "event_id")
        if filters.get(name) is not None
    ]
    if filters.get("decline_reason"):
        found.append(Application.decline_reason.icontains(filters["decline_reason"], autoescape=True))
    if filters.get("reviewer_notes"):
        notes = Application.reviewer_notes.icontains(filters["reviewer_notes"], autoescape=True)
        found.append(notes & scope.inside(caller))
    if filters.get("risk_level"):
        found.append((Application.risk_level == filters["risk_level"]) & scope.inside(caller))
    if filters.get("q"):
        found.append(_search(filters["q"]))
    return found


def _search(words: str) -> ColumnElement[bool]:
    columns = (Application.business_name, Application.contact_name, Application.email, Application.reference)
    return or_(*(column.icontains(words, autoescape=True) for column in columns))
