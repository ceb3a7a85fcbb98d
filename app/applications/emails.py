"""Mails to applicants, organisers and operators, rendered from templates/email."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from urllib.parse import urlencode

from flask import current_app
from sqlalchemy import func, select

from app.accounts.languages import find_account_language
from app.accounts.models import Account
from app.applications import calendar, links
from app.applications.links import EventContext
from app.applications.models import (
    Application,
    ApplicationLink,
    StallFeeRecord,
    StallFeeRefund,
    StallPayment,
    StallPaymentReview,
)
from app.applications.stall_payments import REVIEW_MESSAGES
from app.applications.states import ACTIVATED, EXPIRED
from app.clients.email_templates import render_email
from app.clients.message import Attachment, Message
from app.core.addresses import mask_number
from app.core.db import db
from app.core.formatting import format_calendar_day, format_money, format_time
from app.core.languages import gettext, lazy_gettext
from app.core.outbox import Work, enqueue_all, job_spec
from app.invoicing.documents import InvoiceDocument
from app.invoicing.invoice_pdf import draw_invoice_pdf

STEP_LABELS = {
    links.DOCUMENTS: (
        lazy_gettext("Upload your documents"),
        lazy_gettext("Photos or PDF files of the papers the organiser needs."),
    ),
    links.PAYMENT: (
        lazy_gettext("Pay the stall fee"),
        lazy_gettext("The page shows how much, to whom, and how you can pay."),
    ),
    links.ACTIVATION: (
        lazy_gettext("Activate your account"),
        lazy_gettext("Choose a password, and your stall can open."),
    ),
    links.OFFER: (
        lazy_gettext("Answer the offer"),
        lazy_gettext("Accept the place, or leave it to the next in line."),
    ),
}


@dataclass(frozen=True)
class EmailContext:
    """An application with everything that its mails need; `payment` is the paid one, `language` the applicant's.

    `refund` is that of the fee, if there is one, and `received_on` the day of the transfer that paid it.
    """

    application: Application
    event_context: EventContext
    links: list[ApplicationLink]
    payment: StallPayment | None
    language: str | None
    refund: StallFeeRefund | None
    received_on: date | None


def enqueue_email(template: str, application: Application, *email_links: ApplicationLink, **params: str) -> None:
    """Enqueues a mail to the applicant, if there is an email."""
    enqueue_all(build_email_jobs(template, application, *email_links, **params))


def build_email_jobs(
    template: str, application: Application, *email_links: ApplicationLink, **params: str
) -> list[Work]:
    """The job of a mail to the applicant; none without an email. Links go by their ids, never by their tokens."""
    if application.email is None:
        return []
    link_ids = [link.id for link in email_links]
    return [
        job_spec("applications.mail", template=template, application_id=application.id, link_ids=link_ids, **params)
    ]


def build_activation_email_jobs(application: Application, new_links: list[ApplicationLink]) -> list[Work]:
    """The job of the mail with the activation link, or those of the mails about an activation without a link."""
    if application.status == ACTIVATED:
        return build_activated_email_jobs(application)
    return build_email_jobs("application_activation", application, *new_links) if new_links else []


def build_activated_email_jobs(application: Application, **params: str) -> list[Work]:
    """The jobs of the mails to merchant and organiser that the stall is ready."""
    jobs = build_email_jobs("application_activated", application, **params)
    if application.organiser_id is not None:
        jobs.append(job_spec("applications.mail_organiser", application_id=application.id))
    return jobs


def load_email_context(application_id: str, link_ids: list[str]) -> EmailContext | None:
    """The context of a mail, with those of the links that can still be used. None if the application is gone."""
    columns = (Application, StallPayment, StallFeeRefund, StallFeeRecord.received_on, *links.EVENT_CONTEXT_COLUMNS)
    statement = select(*columns).select_from(Application)
    statement = statement.outerjoin(StallFeeRefund, StallFeeRefund.application_id == Application.id)
    statement = statement.outerjoin(StallFeeRecord, StallFeeRecord.application_id == Application.id)
    paid_condition = (StallPayment.application_id == Application.id) & (StallPayment.status == "paid")
    row = db.session.execute(
        links.join_event_context(statement.outerjoin(StallPayment, paid_condition)).where(
            Application.id == application_id
        )
    ).first()
    if row is None:
        return None
    application, payment, refund, received_on, *context_values = row
    assert isinstance(application, Application) and isinstance(payment, StallPayment | None)
    assert isinstance(refund, StallFeeRefund | None) and isinstance(received_on, date | None)
    return EmailContext(
        application,
        links.build_event_context(context_values),
        _load_active_links(link_ids),
        payment,
        _find_language(application),
        refund,
        received_on,
    )


def _find_language(application: Application) -> str | None:
    """The language of the applicant's account, else that of the page on which they applied or went on."""
    account_language = find_account_language(application.account_id) if application.account_id else None
    return account_language or application.language


def build_sign_in_url(path: str) -> str:
    """The page to sign in, which leads to `path` of this site, or to the stall."""
    query = "?" + urlencode({"next": "/stall" if path == "/" else path}, safe="/")
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/sign-in{query}"


def build_applicant_email(
    template: str,
    context: EmailContext,
    *,
    key: str,
    path: str = "/",
    invoice: InvoiceDocument | None = None,
    document: str = "",
    expires_on: str = "",
    asked_again: Sequence[tuple[str, list[str]]] = (),
    first_fee_minor: int | None = None,
) -> Message:
    """A mail to the applicant in the organiser's name, with the PDF of an invoice or about a document that expires.

    `asked_again` has documents and the lines of the reason why a decider asks for them again. `first_fee_minor` is the
    fee in cents before a decider changed it.
    """
    application = context.application
    assert application.email is not None
    timezone = context.event_context.timezone
    fee_due_at = calendar.calculate_due_at(
        links.PAYMENT,
        context.event_context.calendar,
        decided_at=application.decided_at,
        scheduled_for=application.scheduled_for,
    )
    message = render_email(
        template,
        to=application.email,
        key=key,
        sender_name=context.event_context.organiser,
        reply_to=context.event_context.contact,
        name=application.contact_name,
        business=application.business_name or gettext("your stall"),
        event=context.event_context.event or "",
        reference=application.reference,
        stall_type=application.stall_type or "",
        has_lapsed=application.status == EXPIRED,
        had_stall=application.activated_at is not None,
        fee=format_money(application.amount_minor) if application.amount_minor else "",
        reason_lines=(application.decline_reason or "").splitlines(),
        steps=[_build_step(link, context) for link in context.links],
        amount=format_money(application.amount_minor),
        amount_due=application.payment_due,
        first_fee=format_money(first_fee_minor) if first_fee_minor not in (None, application.amount_minor) else "",
        due=calendar.format_deadline(fee_due_at, timezone) if fee_due_at else "",
        paid_at=_describe_payment_time(context),
        wallet=mask_number(context.payment.msisdn) if context.payment else "",
        refund=_describe_refund(context.refund),
        email=application.email,
        sign_in_url=build_sign_in_url(path),
        invoice_title=invoice.title if invoice else "",
        invoice_number=invoice.number if invoice else "",
        document=document,
        expires_on=expires_on,
        asked_again=asked_again,
        takes_part=application.status == ACTIVATED,
    )
    if invoice is None:
        return message
    pdf = Attachment(f"{invoice.title} {invoice.number}.pdf", draw_invoice_pdf(invoice), "application/pdf")
    return replace(message, attachments=(pdf,))


def _describe_payment_time(context: EmailContext) -> str:
    """When the fee was paid: the day of the transfer, or the time of the payment by wallet; empty while it is due."""
    if context.received_on is not None:
        return format_calendar_day(context.received_on)
    paid_at = context.payment.paid_at if context.payment else context.application.paid_at
    return format_time(paid_at, context.event_context.timezone) if paid_at else ""


def _describe_refund(refund: StallFeeRefund | None) -> dict[str, str]:
    """The refund for the mail about it; empty texts without one."""
    if refund is None:
        return dict.fromkeys(("amount", "method", "reference"), "")
    return {
        "amount": format_money(refund.amount_minor),
        "method": refund.method,
        "reference": refund.reference or "",
    }


def build_organiser_email(context: EmailContext, *, reply_to: str | None, key: str) -> Message:
    """The mail to the organiser that a merchant is ready, with the merchant's message."""
    application = context.application
    assert context.event_context.owner_email is not None
    return render_email(
        "application_ready_organiser",
        to=context.event_context.owner_email,
        key=key,
        reply_to=reply_to,
        name="",
        business=application.business_name or application.contact_name or gettext("A merchant"),
        contact=application.contact_name or "",
        event=context.event_context.event or "",
        reference=application.reference,
        message_lines=(application.activation_message or "").splitlines(),
        email=application.email or "",
        phone=application.phone or "",
    )


def build_operator_email(review_id: int, account_id: str, *, key: str) -> Message | None:
    """The mail to an operator about a review; None if it is resolved or the account is not an operator any more."""
    row = db.session.execute(
        select(StallPaymentReview, StallPayment, Application, Account)
        .select_from(StallPaymentReview)
        .join(Account, (Account.id == account_id) & Account.admin_tier.is_not(None))
        .outerjoin(StallPayment, StallPayment.id == StallPaymentReview.reference)
        .outerjoin(Application, Application.id == StallPayment.application_id)
        .where(StallPaymentReview.id == review_id, StallPaymentReview.resolved_at.is_(None))
    ).first()
    if row is None:
        return None
    review, payment, application, account = row
    return render_email(
        "stall_payment_review",
        to=account.email,
        key=key,
        name=account.name,
        problem=REVIEW_MESSAGES[review.kind],
        application=application.reference if application else "",
        business=(application.business_name or "") if application else "",
        amount=format_money(payment.amount_minor) if payment else "",
        payment_id=review.reference,
    )


def _load_active_links(link_ids: list[str]) -> list[ApplicationLink]:
    if not link_ids:
        return []
    active_links = db.session.scalars(
        select(ApplicationLink).where(
            ApplicationLink.id.in_(link_ids),
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.used_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
    )
    return sorted(active_links, key=lambda link: links.PAGE_PATHS[link.purpose] != "documents")


def _build_step(link: ApplicationLink, context: EmailContext) -> dict[str, str]:
    label, hint = STEP_LABELS[link.purpose]
    deadline = links.build_link_deadline(link, context.application, context.event_context)
    return {
        "label": str(label),
        "hint": str(hint),
        "url": links.build_link_url(link),
        "deadline": str(deadline),
    }
