"""What applicants and organisers get by mail: the words stand in templates/email, the facts come from here."""

from dataclasses import dataclass

from flask import current_app
from sqlalchemy import func, select

from app.accounts.models import Account
from app.applications import links
from app.applications.links import Surroundings
from app.applications.models import Application, ApplicationLink, StallPayment, StallPaymentReview
from app.applications.payment_reviews import SENTENCES
from app.applications.shown import due_at
from app.clients.letters import letter
from app.clients.message import Message
from app.core.dates import day, moment
from app.core.db import db
from app.core.money import spoken

LABELS = {
    links.DOCUMENTS: ("Upload your documents", "Photos or PDF files of the papers the organiser needs."),
    links.PAYMENT: ("Pay the stall fee", "From a mobile wallet, with a code that comes to your phone."),
    links.ACTIVATION: ("Activate your account", "Choose a password, and your stall can open."),
}


@dataclass(frozen=True)
class Told:
    """An application with everything that a letter says of it."""

    application: Application
    around: Surroundings
    links: list[ApplicationLink]
    payment: StallPayment | None


def about(application_id: str, link_ids: list[str]) -> Told | None:
    """The facts; links that have died in the meantime are left out."""
    statement = select(Application, StallPayment, *links.AROUND).select_from(Application)
    paid = (StallPayment.application_id == Application.id) & (StallPayment.status == "paid")
    row = db.session.execute(
        links.joined(statement.outerjoin(StallPayment, paid)).where(Application.id == application_id)
    ).first()
    if row is None:
        return None
    return Told(row[0], links.around(row[2:]), _living(link_ids), row[1])


def to_applicant(template: str, told: Told, *, key: str, path: str = "/") -> Message:
    """A letter to the applicant, from the organiser by way of the service."""
    application = told.application
    assert application.email is not None
    zone = told.around.timezone
    paid_at = told.payment and told.payment.paid_at
    due = due_at(application.scheduled_for, application.decided_at)
    return letter(
        template,
        to=application.email,
        key=key,
        sender_name=told.around.organiser,
        reply_to=told.around.contact,
        name=application.contact_name,
        business=application.business_name or "your stall",
        event=told.around.event or "",
        reference=application.reference,
        reason_lines=(application.decline_reason or "").splitlines(),
        steps=[_step(link, zone) for link in told.links],
        amount=spoken(application.amount_minor),
        amount_due=application.payment_due,
        due=day(due, zone) if due else "",
        paid_at=moment(paid_at, zone) if paid_at else "",
        wallet=f"••••\u00a0{told.payment.msisdn[-4:]}" if told.payment else "",
        email=application.email,
        home_url=current_app.extensions["settings"].PUBLIC_BASE_URL + path,
    )


def to_organiser(told: Told, *, reply_to: str | None, key: str) -> Message:
    """The news that a merchant is ready, with their own words."""
    application = told.application
    assert told.around.contact is not None
    return letter(
        "application_ready_organiser",
        to=told.around.contact,
        key=key,
        reply_to=reply_to,
        name="",
        business=application.business_name or application.contact_name or "A merchant",
        contact=application.contact_name or "",
        event=told.around.event or "",
        reference=application.reference,
        message_lines=(application.activation_message or "").splitlines(),
        email=application.email or "",
        phone=application.phone or "",
    )


def to_operator(review_id: int, account_id: str, *, key: str) -> Message | None:
    """What an operator has to look at; None when it is resolved, or the account is no operator any more."""
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
    return letter(
        "stall_payment_review",
        to=account.email,
        key=key,
        name=account.name,
        what=SENTENCES[review.kind],
        application=application.reference if application else "",
        business=(application.business_name or "") if application else "",
        amount=spoken(payment.amount_minor) if payment else "",
        payment_id=review.reference,
    )


def _living(link_ids: list[str]) -> list[ApplicationLink]:
    if not link_ids:
        return []
    found = db.session.scalars(
        select(ApplicationLink).where(
            ApplicationLink.id.in_(link_ids),
            ApplicationLink.replaced_at.is_(None),
            ApplicationLink.used_at.is_(None),
            ApplicationLink.expires_at > func.now(),
        )
    )
    return sorted(found, key=lambda link: links.PAGES[link.purpose] != "documents")


def _step(link: ApplicationLink, zone: str | None) -> dict[str, str]:
    label, hint = LABELS[link.purpose]
    return {"label": label, "hint": hint, "url": links.address(link), "until": day(link.expires_at, zone)}
