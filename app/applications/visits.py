"""What the holder of a link is told: where his application stands, and nothing that is for the deciders."""

from collections.abc import Sequence
from typing import Any

from app.applications import links, payment, queries
from app.applications.links import Opened
from app.applications.queries import Handed
from app.applications.shown import document_rows, due_at
from app.core.dates import day
from app.core.money import spoken


def documents(token: str) -> dict[str, Any]:
    """The kinds that are required, and which are there. Raises NotFound, LinkExpired."""
    found = links.opened(token, links.DOCUMENTS)
    return documents_of(found, queries.handed_in(found.application.id))


def documents_of(found: Opened, handed: Sequence[Handed]) -> dict[str, Any]:
    """The same from what was read already."""
    application = found.application
    files = {
        item.kind: {
            "fileName": item.file_name,
            "contentType": item.content_type,
            "size": item.size,
            "uploadedAt": item.uploaded_at,
        }
        for item in handed
    }
    return {
        **_about(found),
        "documents": document_rows(application.documents_required, files),
        "submitted_at": application.documents_submitted_at,
        "version": application.version,
    }


def fee(token: str) -> dict[str, Any]:
    """Amount, state and due date of the stall fee. Raises NotFound, LinkExpired."""
    found, newest = payment.behind(token)
    application = found.application
    told = payment.told(application, newest)
    due = due_at(application.scheduled_for, application.decided_at)
    return {
        **_about(found),
        "application_status": application.status,
        **told,
        "amount_minor": application.amount_minor,
        "currency": "NAD",
        "amount": spoken(application.amount_minor),
        "due_at": due,
        "due": due and day(due, found.around.timezone),
        "payrail_msisdn": masked(application.payrail_msisdn),
        "paid_at": application.paid_at,
        "version": f"{application.version}.{told['status']}",
    }


def activation(token: str) -> dict[str, Any]:
    """For whom the activation is, as the application says. It does not tell whether the address has an account, because
    the organiser may hold the link. Raises NotFound, LinkExpired, LinkUsed."""
    found = links.opened(token, links.ACTIVATION)
    application = found.application
    return {
        **_about(found),
        "email": application.email,
        "name": application.contact_name,
        "expires_at": found.link.expires_at,
        "version": application.version,
    }


def _about(found: Opened) -> dict[str, Any]:
    application = found.application
    return {
        "id": application.id,
        "reference": application.reference,
        "status": application.status,
        "business_name": application.business_name,
        "event_name": found.around.event,
        "organiser_name": found.around.organiser,
        "contact_email": found.around.contact,
        "expires_at": found.link.expires_at,
        "steps": steps(found),
    }


def steps(found: Opened) -> list[dict[str, str]]:
    """The way from approval to the stall, for the progress list: each step is done, now, later or not needed."""
    application = found.application
    needed = {
        "documents": bool(application.documents_required),
        "payment": application.amount_minor > 0,
        "activation": True,
    }
    open_now = links.due(application)
    done = {
        "documents": application.documents_submitted_at is not None,
        "payment": application.paid_at is not None,
        "activation": application.activated_at is not None,
    }
    return [
        {"step": step, "state": "done" if done[step] else "now" if step in open_now else "later"}
        for step, is_needed in needed.items()
        if is_needed
    ]


def masked(msisdn: str | None) -> str | None:
    """A wallet's number as its owner recognises it: its last four digits."""
    return msisdn and f"••••\u00a0{msisdn[-4:]}"
