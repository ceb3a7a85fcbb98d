"""What the holder of a link is told: where their application stands, and nothing that is for the deciders.

What pages show beside what the API tells: why a link is dead, and where the next one leads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from app.applications import links, queries, stall_payments
from app.applications.errors import LinkUsed
from app.applications.links import ResolvedLink
from app.applications.models import ApplicationLink
from app.applications.queries import UploadedDocument
from app.applications.serializers import calculate_fee_due_at, serialize_documents
from app.core.addresses import mask_email
from app.core.date_format import format_day
from app.core.db import db
from app.core.money import format_money


def get_documents(token: str) -> dict[str, Any]:
    """The kinds that are required, and which are there. Raises NotFound, LinkExpired."""
    resolved_link = links.get_active_link(token, links.DOCUMENTS)
    return serialize_documents_page(resolved_link, queries.list_documents(resolved_link.application.id))


def serialize_documents_page(
    resolved_link: ResolvedLink, uploaded_documents: Sequence[UploadedDocument]
) -> dict[str, Any]:
    """The same from what was read already."""
    application = resolved_link.application
    files = {
        document.kind: {
            "fileName": document.file_name,
            "contentType": document.content_type,
            "size": document.size,
            "uploadedAt": document.uploaded_at,
        }
        for document in uploaded_documents
    }
    return {
        **_serialize_link(resolved_link),
        "documents": serialize_documents(application.documents_required, files),
        "submitted_at": application.documents_submitted_at,
        "version": application.version,
    }


def get_fee(token: str) -> dict[str, Any]:
    """Amount, state and due date of the stall fee. Raises NotFound, LinkExpired."""
    resolved_link, current_payment = stall_payments.get_link_with_payment(token)
    application = resolved_link.application
    payment_data = stall_payments.serialize_payment(application, current_payment)
    fee_due_at = calculate_fee_due_at(application.scheduled_for, application.decided_at)
    return {
        **_serialize_link(resolved_link),
        "application_status": application.status,
        **payment_data,
        "amount_minor": application.amount_minor,
        "currency": "NAD",
        "amount": format_money(application.amount_minor),
        "due_at": fee_due_at,
        "due": fee_due_at and format_day(fee_due_at, resolved_link.event_context.timezone),
        "payrail_msisdn": mask_msisdn(application.payrail_msisdn),
        "paid_at": application.paid_at,
        "version": f"{application.version}.{payment_data['status']}",
    }


def get_activation(token: str) -> dict[str, Any]:
    """For whom the activation is, as the application says. It does not tell whether the address has an account, because
    the organiser may hold the link. Raises NotFound, LinkExpired, LinkUsed."""
    resolved_link = links.get_active_link(token, links.ACTIVATION)
    application = resolved_link.application
    return {
        **_serialize_link(resolved_link),
        "email": application.email,
        "name": application.contact_name,
        "expires_at": resolved_link.link.expires_at,
        "version": application.version,
    }


def _serialize_link(resolved_link: ResolvedLink) -> dict[str, Any]:
    application = resolved_link.application
    return {
        "id": application.id,
        "reference": application.reference,
        "status": application.status,
        "business_name": application.business_name,
        "event_name": resolved_link.event_context.event,
        "organiser_name": resolved_link.event_context.organiser,
        "contact_email": resolved_link.event_context.contact,
        "expires_at": resolved_link.link.expires_at,
        "steps": serialize_steps(resolved_link),
    }


def serialize_steps(resolved_link: ResolvedLink) -> list[dict[str, str]]:
    """The way from approval to the stall, for the progress list: each step is done, now, later or not needed."""
    application = resolved_link.application
    is_needed_by_step = {
        "documents": bool(application.documents_required),
        "payment": application.amount_minor > 0,
        "activation": True,
    }
    due_purposes = links.list_due_purposes(application)
    is_done_by_step = {
        "documents": application.documents_submitted_at is not None,
        "payment": application.paid_at is not None,
        "activation": application.activated_at is not None,
    }
    return [
        {"step": step, "state": "done" if is_done_by_step[step] else "now" if step in due_purposes else "later"}
        for step, is_needed in is_needed_by_step.items()
        if is_needed
    ]


def mask_msisdn(msisdn: str | None) -> str | None:
    """A wallet's number as its owner recognises it: its last four digits."""
    return msisdn and f"••••\u00a0{msisdn[-4:]}"


@dataclass(frozen=True)
class ExpiredLink:
    """A link that no longer opens anything, and what can be done about it."""

    event: str | None
    business: str | None
    contact: str | None
    used: bool
    application_ended: bool
    address: str | None

    @property
    def can_request_link(self) -> bool:
        """Whether a fresh link can be mailed."""
        return not self.used and not self.application_ended and self.address is not None


def get_expired_link(token: str, purpose: str) -> ExpiredLink:
    """Why the link is dead. Raises NotFound."""
    resolved_link = links.get_link(token, purpose)
    application = resolved_link.application
    return ExpiredLink(
        event=resolved_link.event_context.event,
        business=application.business_name,
        contact=resolved_link.event_context.contact,
        used=resolved_link.error_class is LinkUsed,
        application_ended=application.status in links.ENDED_STATES,
        address=mask_email(application.email) if application.email else None,
    )


def find_payment_path(application_id: str) -> str | None:
    """The page of the living payment link, for somebody who has just handed their documents in."""
    link = db.session.scalar(
        select(ApplicationLink).where(
            ApplicationLink.application_id == application_id,
            ApplicationLink.purpose == links.PAYMENT,
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
    )
    return f"/{links.PAGE_PATHS[links.PAYMENT]}/{links.build_token(link)}" if link else None
