"""A merchant's own applications, for their home: state, documents, fee, invoice, and the pages on which they go on."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import or_, select

from app.applications import links, states
from app.applications.calendar import EVENT_CALENDAR_COLUMNS, EventCalendar, find_last_day
from app.applications.documents import UploadedDocument
from app.applications.fee_invoices import load_fee_document
from app.applications.models import Application, ApplicationDocument, ApplicationLink, FeeCreditNote, StallPayment
from app.applications.queries import DOCUMENT_COLUMNS, build_document
from app.applications.serializers import DocumentStatus, serialize_documents
from app.core.db import db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.visibility import CANCELLED
from app.invoicing.invoice_pdf import draw_invoice_pdf

MAX_APPLICATIONS = 50
NO_DATE = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class OwnApplication:
    """An application as its merchant sees it.

    `is_cancelled` is whether its event is. `due_purposes` has the steps that are due, and `paths` the page of each link that
    was sent. `payment_states` has those of its payments by the rail.
    """

    id: str
    reference: str
    status: str
    decline_reason: str | None
    stall_type: str | None
    amount_minor: int
    event_name: str | None
    event_starts_at: datetime | None
    is_cancelled: bool
    documents: Sequence[DocumentStatus]
    due_purposes: Sequence[str]
    paths: Mapping[str, str]
    payment_states: frozenset[str]
    is_paid: bool
    credit_note_number: str | None

    @property
    def is_under_way(self) -> bool:
        """Whether the application has not ended, or its merchant has something to do for it. Its event is not cancelled."""
        return not self.is_cancelled and (self.status in states.OPEN_STATES or bool(self.due_purposes))


def list_own_applications(merchant_id: str) -> list[OwnApplication]:
    """The merchant's applications, those for the earliest events first; at most the newest fifty."""
    rows = db.session.execute(
        select(Application, FeeCreditNote.number, Event.name, Event.visibility, *EVENT_CALENDAR_COLUMNS)
        .select_from(Application)
        .outerjoin(Event, Event.id == Application.event_id)
        .outerjoin(FeeCreditNote, FeeCreditNote.application_id == Application.id)
        .where(Application.account_id == merchant_id)
        .order_by(Application.created_at.desc(), Application.id)
        .limit(MAX_APPLICATIONS)
    ).all()
    loaded = [(*row[:3], row[3] == CANCELLED, EventCalendar(*row[4:])) for row in rows]
    ids = [application.id for application, *_ in loaded]
    documents, paths = _load_documents(ids), _load_paths(ids)
    payment_states = _load_payment_states(ids)
    applications = [
        OwnApplication(
            application.id,
            application.reference,
            application.status,
            application.decline_reason,
            application.stall_type,
            application.amount_minor,
            event_name,
            calendar.starts_at,
            is_cancelled,
            serialize_documents(application.documents_required, documents[application.id], find_last_day(calendar)),
            [] if is_cancelled else _list_due_purposes(application, paths[application.id]),
            paths[application.id],
            frozenset(payment_states[application.id]),
            application.paid_at is not None,
            credit_note_number,
        )
        for application, credit_note_number, event_name, is_cancelled, calendar in loaded
    ]
    return sorted(applications, key=lambda row: row.event_starts_at or NO_DATE)


def get_own_invoice_pdf(merchant_id: str, application_id: str, *, number: str | None = None) -> tuple[str, bytes]:
    """The number and the PDF of the invoice for a stall fee, or of the pro forma invoice before it is paid; with a
    `number` those of the credit note.

    Raises NotFound, also for the applications of others, and InvoiceNotAvailable.
    """
    is_own = (Application.id == application_id) & (Application.account_id == merchant_id)
    if db.session.scalar(select(Application.id).where(is_own)) is None:
        raise NotFound()
    document = load_fee_document(application_id, number=number)
    return document.number, draw_invoice_pdf(document)


def _list_due_purposes(application: Application, paths: Mapping[str, str]) -> list[str]:
    if application.status == states.WAITLISTED and links.OFFER in paths:
        return [links.OFFER]
    return links.list_due_purposes(application)


def _load_documents(application_ids: Sequence[str]) -> Mapping[str, list[UploadedDocument]]:
    statement = select(ApplicationDocument.application_id, *DOCUMENT_COLUMNS)
    documents: dict[str, list[UploadedDocument]] = defaultdict(list)
    for row in db.session.execute(statement.where(ApplicationDocument.application_id.in_(application_ids))):
        documents[row.application_id].append(build_document(row))
    return documents


def _load_paths(application_ids: Sequence[str]) -> Mapping[str, dict[str, str]]:
    """The page of the newest link of each purpose. That of an expired link offers a new one, unless it offered a place."""
    statement = (
        select(ApplicationLink)
        .join(Application, Application.id == ApplicationLink.application_id)
        .outerjoin(Event, Event.id == Application.event_id)
    ).where(
        ApplicationLink.application_id.in_(application_ids),
        ApplicationLink.replaced_at.is_(None),
        ApplicationLink.used_at.is_(None),
        or_(ApplicationLink.purpose != links.OFFER, ~links.IS_OVER_SQL),
    )
    paths: dict[str, dict[str, str]] = defaultdict(dict)
    for link in db.session.scalars(statement):
        paths[link.application_id][link.purpose] = f"/{links.PAGE_PATHS[link.purpose]}/{links.build_token(link)}"
    return paths


def _load_payment_states(application_ids: Sequence[str]) -> Mapping[str, set[str]]:
    statement = select(StallPayment.application_id, StallPayment.status)
    states: dict[str, set[str]] = defaultdict(set)
    for application_id, status in db.session.execute(statement.where(StallPayment.application_id.in_(application_ids))):
        states[application_id].add(status)
    return states
