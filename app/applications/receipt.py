"""The receipt for a stall fee."""

from flask import current_app

from app.applications.letters import Told
from app.core.dates import day, moment
from app.core.money import spoken
from app.core.pdf import Sheet


def receipt_pdf(told: Told) -> bytes:
    """A page that says who paid what to whom, and when; the same bytes however often it is made."""
    application, payment, around = told.application, told.payment, told.around
    assert payment is not None and payment.paid_at is not None
    vat = current_app.extensions["settings"].VAT_PERCENT
    inside = round(payment.amount_minor * vat / (100 + vat))
    with Sheet(
        title="Receipt",
        number=application.reference,
        when=day(payment.paid_at, around.timezone),
        foot=f"Payment {payment.id}",
        author=around.organiser or "Event Commerce",
    ) as sheet:
        organiser = [around.organiser or "Event Commerce", around.contact or ""]
        merchant = [
            application.business_name or application.contact_name or "",
            application.contact_name or "",
            application.email or "",
            application.phone or "",
        ]
        sheet.parties(organiser, list(dict.fromkeys(merchant)), headings=("Received by", "Paid by"))
        sheet.facts(
            [
                ("For", f"Stall at {around.event}" if around.event else "Stall fee"),
                ("Stall", application.stall_type or "—"),
                ("Paid on", moment(payment.paid_at, around.timezone)),
                ("Paid from", f"mobile wallet •••• {payment.msisdn[-4:]}"),
            ]
        )
        sheet.lines(
            [
                ("Stall fee without VAT", spoken(payment.amount_minor - inside)),
                (f"VAT {vat:g} %", spoken(inside)),
            ]
        )
        sheet.total("Paid", spoken(payment.amount_minor))
        sheet.note("Keep this receipt for your books. Nothing more is to be paid for this stall fee.")
    return sheet.data
