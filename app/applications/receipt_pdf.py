"""The PDF receipt for a stall fee."""

from flask import current_app

from app.applications.emails import EmailContext
from app.core.addresses import mask_number
from app.core.date_format import format_day, format_time
from app.core.money import format_money
from app.core.pdf import Sheet


def draw_receipt(context: EmailContext) -> bytes:
    """The PDF of a paid payment; the same bytes each time."""
    application, payment, event_context = context.application, context.payment, context.event_context
    assert payment is not None and payment.paid_at is not None
    vat_percent = current_app.extensions["settings"].VAT_PERCENT
    vat_minor = round(payment.amount_minor * vat_percent / (100 + vat_percent))
    with Sheet(
        title="Receipt",
        number=application.reference,
        when=format_day(payment.paid_at, event_context.timezone),
        foot=f"Payment {payment.id}",
        author=event_context.organiser or "Event Commerce",
    ) as sheet:
        organiser = [event_context.organiser or "Event Commerce", event_context.contact or ""]
        merchant = [
            application.business_name or application.contact_name or "",
            application.contact_name or "",
            application.email or "",
            application.phone or "",
        ]
        sheet.parties(organiser, list(dict.fromkeys(merchant)), headings=("Received by", "Paid by"))
        sheet.facts(
            [
                ("For", f"Stall at {event_context.event}" if event_context.event else "Stall fee"),
                ("Stall", application.stall_type or "—"),
                ("Paid on", format_time(payment.paid_at, event_context.timezone)),
                ("Paid from", f"mobile wallet {mask_number(payment.msisdn, separator=' ')}"),
            ]
        )
        sheet.lines(
            [
                ("Stall fee without VAT", format_money(payment.amount_minor - vat_minor)),
                (f"VAT {vat_percent:g} %", format_money(vat_minor)),
            ]
        )
        sheet.total("Paid", format_money(payment.amount_minor))
        sheet.note("Keep this receipt for your books. Nothing more is to be paid for this stall fee.")
    return sheet.data
