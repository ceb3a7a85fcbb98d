"""Applications for stalls in the copy of a person's data, with the documents that they uploaded."""

from collections.abc import Iterable

from sqlalchemy import ColumnElement, and_, or_, select

from app.accounts.data_export import ExportFile, ExportOwner, export_files, export_part, list_rows
from app.applications.models import Application, ApplicationDocument, FeeCreditNote, FeeInvoice, StallPayment
from app.core.db import db
from app.events.models import Event


def _is_own(owner: ExportOwner) -> ColumnElement[bool]:
    """Applications of the account, and those sent without a sign-in from its verified address."""
    is_unassigned = and_(Application.account_id.is_(None), Application.email == owner.email)
    return or_(Application.account_id == owner.account_id, is_unassigned)


@export_part("applications")
def export_applications(owner: ExportOwner) -> list[dict[str, object]]:
    query = (
        select(
            Application.id,
            Application.reference,
            Event.name.label("event"),
            Application.status,
            Application.business_name,
            Application.contact_name,
            Application.email,
            Application.phone,
            Application.stall_type,
            Application.products,
            Application.description,
            Application.website,
            Application.billing_address,
            Application.billing_vat_number,
            Application.amount_minor,
            Application.payrail_msisdn.label("wallet"),
            Application.decision,
            Application.decline_reason,
            Application.reviewer_notes,
            Application.risk_level,
            Application.decided_at,
            Application.paid_at,
            Application.waived_at,
            Application.activated_at,
            Application.activation_message,
            Application.created_at,
        )
        .outerjoin(Event, Event.id == Application.event_id)
        .where(_is_own(owner))
        .order_by(Application.created_at, Application.id)
    )
    applications = list_rows(query)
    ids = [application["id"] for application in applications]
    documents_query = (
        select(
            ApplicationDocument.application_id,
            ApplicationDocument.kind,
            ApplicationDocument.file_name,
            ApplicationDocument.size,
            ApplicationDocument.uploaded_at,
            ApplicationDocument.expires_on,
            ApplicationDocument.asked_again_at,
            ApplicationDocument.asked_again_reason,
        )
        .where(ApplicationDocument.application_id.in_(ids))
        .order_by(ApplicationDocument.uploaded_at)
    )
    payments_query = (
        select(
            StallPayment.application_id,
            StallPayment.amount_minor,
            StallPayment.msisdn.label("wallet"),
            StallPayment.status,
            StallPayment.created_at,
            StallPayment.paid_at,
            StallPayment.refunded_at,
        )
        .where(StallPayment.application_id.in_(ids))
        .order_by(StallPayment.created_at)
    )
    invoices_query, credit_notes_query = (
        select(kind.application_id, kind.number, kind.total_minor, kind.issued_at).where(kind.application_id.in_(ids))
        for kind in (FeeInvoice, FeeCreditNote)
    )
    parts = {
        "documents": list_rows(documents_query),
        "payments": list_rows(payments_query),
        "invoices": list_rows(invoices_query),
        "creditNotes": list_rows(credit_notes_query),
    }
    return [
        {
            **application,
            **{
                name: [row for row in rows if row["application_id"] == application["id"]]
                for name, rows in parts.items()
            },
        }
        for application in applications
    ]


@export_files
def list_documents(owner: ExportOwner) -> Iterable[ExportFile]:
    query = (
        select(
            Application.reference,
            ApplicationDocument.kind,
            ApplicationDocument.file_name,
            ApplicationDocument.stored_as,
        )
        .join(Application, Application.id == ApplicationDocument.application_id)
        .where(_is_own(owner))
        .order_by(Application.reference, ApplicationDocument.kind)
    )
    for reference, kind, file_name, stored_as in db.session.execute(query):
        yield ExportFile(f"documents/{reference}/{kind} - {file_name}", stored_as)
