"""Reads for the holder of a link: their application without anything that is for deciders only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NotRequired, TypedDict

from sqlalchemy import func, select

from app.accounts.organisation_details import BankDetails, load_organisation_details
from app.applications import links, queries, stall_payments
from app.applications.calendar import Deadline, find_last_day
from app.applications.documents import UploadedDocument
from app.applications.errors import LinkUsed, PlaceOfferEnded
from app.applications.fee_invoices import find_credit_note, find_invoice_number
from app.applications.links import ResolvedLink
from app.applications.models import Application, ApplicationLink
from app.applications.open_events import can_go_on_sql
from app.applications.serializers import DocumentStatus, serialize_documents
from app.applications.states import ACCEPTED, ENDED_STATES, READY, WAITLISTED
from app.core.addresses import mask_address, mask_number
from app.core.db import db
from app.core.formatting import format_money


class StepProgress(TypedDict):
    """One step from the approval to the stall; `state` is `done`, `now` or `later`."""

    step: str
    state: str


class LinkPage(TypedDict):
    """The fields that the pages of all links have."""

    id: str
    organiser_id: str | None
    reference: str
    status: str
    business_name: str | None
    event_name: str | None
    organiser_name: str | None
    contact_email: str | None
    expires_at: datetime
    due_at: datetime | None
    deadline: Deadline
    steps: list[StepProgress]
    event_cancelled: bool


class DocumentsPage(LinkPage):
    """The documents of an application."""

    documents: list[DocumentStatus]
    submitted_at: datetime | None
    version: int


class FeePage(LinkPage):
    """The stall fee of an application; `status` is that of the fee. The fields of `PaymentStatus` are part of it.

    `destination` is `bank` if the applicant chose to pay by transfer, `bank` the account of the payee, if they gave one.
    """

    application_status: str
    amount_minor: int
    currency: str
    amount: str
    payrail_msisdn: str | None
    destination: str
    payee: str | None
    bank: BankDetails | None
    transfers_only: bool
    includes_vat: bool
    paid_at: datetime | None
    invoice_number: str | None
    credit_note_number: str | None
    billing_address: str | None
    billing_vat_number: str | None
    version: str
    payment_id: NotRequired[str]
    wallet: NotRequired[str]
    expires_in: NotRequired[int]
    tries_left: NotRequired[int]
    last_failure: NotRequired[str]


class PlaceOfferPage(LinkPage):
    """An offer of a place; `answer` is `accepted`, `declined`, or None while it is open."""

    stall_type: str | None
    amount_minor: int
    currency: str
    amount: str
    answer: str | None
    version: int


class ActivationPage(LinkPage):
    """The account that an activation link opens, as the application names it."""

    email: str | None
    name: str | None
    version: int


def get_documents(token: str) -> DocumentsPage:
    """The required and the uploaded documents. Raises NotFound, LinkExpired."""
    resolved_link = links.get_active_link(token, links.DOCUMENTS)
    return build_documents_page(resolved_link, queries.list_documents(resolved_link.application.id))


def build_documents_page(resolved_link: ResolvedLink, uploaded_documents: Sequence[UploadedDocument]) -> DocumentsPage:
    """The page from rows that are loaded already."""
    application = resolved_link.application
    return {
        **_build_link_page(resolved_link),
        "documents": serialize_documents(
            application.documents_required, uploaded_documents, find_last_day(resolved_link.event_context.calendar)
        ),
        "submitted_at": application.documents_submitted_at,
        "version": application.version,
    }


def get_fee(token: str) -> FeePage:
    """Amount, state and due date of the stall fee, and where to transfer it. Raises NotFound, LinkExpired."""
    resolved_link, current_payment = stall_payments.get_link_with_payment(token)
    application = resolved_link.application
    payment_status = stall_payments.build_payment_status(application, current_payment)
    wallet, organiser_id = application.payrail_msisdn, application.organiser_id
    payee = load_organisation_details(organiser_id) if organiser_id is not None else None
    transfers_only = payee is not None and payee.transfers_only
    credit_note = find_credit_note(application.id) if application.paid_at else None
    return {
        **_build_link_page(resolved_link),
        **payment_status,
        "application_status": application.status,
        "amount_minor": application.amount_minor,
        "currency": "NAD",
        "amount": format_money(application.amount_minor),
        "payrail_msisdn": wallet and mask_number(wallet),
        "destination": "bank" if transfers_only else application.destination,
        "transfers_only": transfers_only,
        "payee": payee.name if payee else None,
        "bank": payee.bank if payee else None,
        "includes_vat": payee is not None and payee.vat_number is not None,
        "paid_at": application.paid_at,
        "invoice_number": find_invoice_number(application.id) if application.paid_at else None,
        "credit_note_number": credit_note.number if credit_note else None,
        "billing_address": application.billing_address,
        "billing_vat_number": application.billing_vat_number,
        "version": f"{application.version}.{payment_status['status']}",
    }


def get_place_offer(token: str) -> PlaceOfferPage:
    """An offer of a place that is open or was answered. Raises NotFound, PlaceOfferEnded."""
    resolved_link = links.get_link(token, links.OFFER)
    is_open = resolved_link.error_class is None and resolved_link.application.status == WAITLISTED
    is_over = resolved_link.application.status in ENDED_STATES and resolved_link.link.answer == ACCEPTED
    if is_over or (not is_open and resolved_link.link.used_at is None):
        raise PlaceOfferEnded()
    return build_place_offer_page(resolved_link)


def build_place_offer_page(resolved_link: ResolvedLink) -> PlaceOfferPage:
    application = resolved_link.application
    return {
        **_build_link_page(resolved_link),
        "stall_type": application.stall_type,
        "amount_minor": application.amount_minor,
        "currency": "NAD",
        "amount": format_money(application.amount_minor),
        "answer": resolved_link.link.answer,
        "version": application.version,
    }


def get_activation(token: str) -> ActivationPage:
    """The account that the link activates, as the application names it. Raises NotFound, LinkExpired, LinkUsed.

    It does not say whether the email has an account, because the organiser may have the link.
    """
    resolved_link = links.get_active_link(token, links.ACTIVATION)
    application = resolved_link.application
    return {
        **_build_link_page(resolved_link),
        "email": application.email,
        "name": application.contact_name,
        "version": application.version,
    }


def _build_link_page(resolved_link: ResolvedLink) -> LinkPage:
    application, deadline = resolved_link.application, resolved_link.deadline
    return {
        "id": application.id,
        "organiser_id": application.organiser_id,
        "reference": application.reference,
        "status": application.status,
        "business_name": application.business_name,
        "event_name": resolved_link.event_context.event,
        "organiser_name": resolved_link.event_context.organiser,
        "contact_email": resolved_link.event_context.contact,
        "expires_at": deadline.link_end,
        "due_at": deadline.due_at,
        "deadline": deadline,
        "steps": _list_steps(resolved_link),
        "event_cancelled": resolved_link.event_context.is_cancelled,
    }


def _list_steps(resolved_link: ResolvedLink) -> list[StepProgress]:
    """The needed steps from the approval to the stall, for the progress list."""
    application = resolved_link.application
    is_needed_by_step = {
        "documents": bool(application.documents_required),
        "payment": application.amount_minor > 0,
        "activation": application.account_id is None or application.status == READY,
    }
    due_purposes = links.list_due_purposes(application)
    is_done_by_step = {
        "documents": application.documents_submitted_at is not None,
        "payment": not application.payment_due,
        "activation": application.activated_at is not None,
    }
    return [
        {"step": step, "state": "done" if is_done_by_step[step] else "now" if step in due_purposes else "later"}
        for step, is_needed in is_needed_by_step.items()
        if is_needed
    ]


@dataclass(frozen=True)
class ExpiredLink:
    """A link that cannot be used any more, and the facts that its page explains."""

    organiser_id: str | None
    event: str | None
    business: str | None
    contact: str | None
    used: bool
    application_ended: bool
    event_cancelled: bool
    event_closed: bool
    address: str | None

    @property
    def can_request_link(self) -> bool:
        """Whether a fresh link can be mailed."""
        return not (self.used or self.application_ended or self.event_closed) and self.address is not None


def get_expired_link(token: str, purpose: str) -> ExpiredLink:
    """The facts about a link that cannot be used. Raises NotFound."""
    resolved_link = links.get_link(token, purpose)
    application = resolved_link.application
    return ExpiredLink(
        organiser_id=application.organiser_id,
        event=resolved_link.event_context.event,
        business=application.business_name,
        contact=resolved_link.event_context.contact,
        used=resolved_link.error_class is LinkUsed,
        application_ended=application.status in ENDED_STATES,
        event_cancelled=resolved_link.event_context.is_cancelled,
        event_closed=not db.session.scalar(select(can_go_on_sql()).where(Application.id == application.id)),
        address=mask_address(application.email) if application.email else None,
    )


def find_payment_path(application_id: str) -> str | None:
    """The path of the valid payment link, for the page after the documents are handed in."""
    return find_step_path(application_id, links.PAYMENT)


def find_documents_path(application_id: str) -> str | None:
    """The path of the valid link to the documents, for the page after the fee is paid."""
    return find_step_path(application_id, links.DOCUMENTS)


def find_step_path(application_id: str, purpose: str) -> str | None:
    """The path of the valid link for a step, for the page of the step before."""
    link = db.session.scalar(
        select(ApplicationLink).where(
            ApplicationLink.application_id == application_id,
            ApplicationLink.purpose == purpose,
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
    )
    return f"/{links.PAGE_PATHS[purpose]}/{links.build_token(link)}" if link else None
