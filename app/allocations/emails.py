"""Emails of allocations: invitation, tickets, will-call, ended tickets, allocator link, invoice, payment, report."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from app.allocations import links, qr_codes
from app.allocations.guest_report import GuestReport, draw_guest_report
from app.allocations.invoice_issue import credits_cancelled_event
from app.allocations.queries import BlockRow
from app.allocations.states import WILL_CALL
from app.allocations.ticket_data import UNNAMED_HOLDER, Ticket
from app.allocations.ticket_pdf import draw_ticket_pdf
from app.clients.email_templates import render_email
from app.clients.mail import Attachment, Message
from app.core.formatting import format_calendar_day, format_money, format_time, format_when
from app.events.calendar_file import CALENDAR_TYPE
from app.events.map_links import build_map_link
from app.events.visit import format_validity
from app.invoicing.documents import CREDIT_NOTE, InvoiceDocument
from app.invoicing.invoice_pdf import draw_invoice_pdf

MAX_CODES = 6


def build_invoice_email(document: InvoiceDocument, *, to: str, key: str) -> Message:
    """Return an email with an invoice or credit note as a PDF, the same bytes as the download."""
    message = _render_invoice_email(
        "allocation_invoice",
        document,
        to=to,
        key=key,
        is_credit_note=document.kind == CREDIT_NOTE,
        is_cancelled=document.kind == CREDIT_NOTE and credits_cancelled_event(document),
        amount=format_money(abs(document.total_minor)),
        facts=[list(fact) for fact in document.facts],
    )
    pdf = Attachment(f"{document.title} {document.number}.pdf", draw_invoice_pdf(document), "application/pdf")
    return replace(message, attachments=(pdf,))


def build_payment_email(
    document: InvoiceDocument,
    *,
    amount_minor: int,
    received_on: date,
    due_minor: int,
    to: str,
    key: str,
    is_taken_back: bool = False,
) -> Message:
    """Return an email that a payment of an invoice has arrived, or was recorded wrongly, and what is left to pay or owed
    back; amounts in cents.
    """
    return _render_invoice_email(
        "allocation_payment_taken_back" if is_taken_back else "allocation_payment",
        document,
        to=to,
        key=key,
        amount=format_money(amount_minor),
        received_on=format_calendar_day(received_on),
        left=format_money(due_minor) if due_minor > 0 else "",
        owed_back=format_money(-due_minor) if due_minor < 0 else "",
    )


def _render_invoice_email(template: str, document: InvoiceDocument, *, to: str, key: str, **context: Any) -> Message:
    return render_email(
        template,
        to=to,
        key=key,
        sender_name=document.seller[0],
        reply_to=document.contact or None,
        name="",
        title=document.title,
        number=document.number,
        issued=document.issued,
        seller=document.seller[0],
        **context,
    )


def build_guest_report_email(report: GuestReport, *, to: str, key: str) -> Message:
    """Return the email with the report of a block as a PDF."""
    figures = ("held", "invited", "claimed", "admitted", "given_back")
    labels = ("Places", "Invited", "Have a ticket", "Admitted", "Given back")
    message = render_email(
        "allocation_report",
        to=to,
        key=key,
        sender_name=report["organiser_name"],
        reply_to=report["contact_email"],
        name="",
        event=report["event_name"],
        organiser=report["organiser_name"],
        block=report["name"] or "",
        held=report["held"],
        admitted=report["admitted"],
        facts=[(label, report[name]) for label, name in zip(labels, figures, strict=True)],  # type: ignore[literal-required]
    )
    pdf = Attachment(f"Guests at {report['event_name']}.pdf", draw_guest_report(report), "application/pdf")
    return replace(message, attachments=(pdf,))


def build_invite_email(ticket: Ticket, *, key: str, is_reminder: bool = False) -> Message:
    """Return the email with a claim link; a reminder has the same link."""
    url = links.build_link_url("claim", ticket.slot_id, ticket.generation)
    return _render_email("allocation_invite", ticket, key, url=url, is_reminder=is_reminder, until=ticket.until)


def build_taken_back_email(ticket: Ticket, *, key: str) -> Message:
    """Return the email that a ticket does not work any more."""
    return _render_email("allocation_taken_back", ticket, key)


def build_given_back_email(ticket: Ticket, *, key: str) -> Message:
    """Return the email to a guest who gave their ticket back."""
    return _render_email("allocation_given_back", ticket, key)


def build_passed_on_email(ticket: Ticket, *, new_guest: str, key: str) -> Message:
    """Return the email to the earlier guest of a ticket that was passed on."""
    return _render_email("allocation_passed_on", ticket, key, new_guest=new_guest)


def build_allocator_link_email(block: BlockRow, *, key: str) -> Message:
    """Return the email with the link by which the holder of a block hands out its tickets."""
    zone, release_at = block["timezone"], block["release_at"]
    return render_email(
        "allocation_allocator_link",
        to=block["holder_email"],
        key=key,
        sender_name=block["organiser_name"],
        reply_to=block["contact_email"],
        name=block["holder_name"] or "",
        event=block["event_name"],
        when=format_validity(block["valid_from"], block["valid_until"], zone)
        or format_when(block["starts_at"], block["ends_at"], zone),
        where=", ".join(part for part in (block["venue"], block["city"]) if part),
        map_url=build_map_link(None, None, (block["venue"], block["city"])),
        kind=block["ticket_type_name"],
        ticket_host=block["holder_organisation"] or "",
        organiser=block["organiser_name"],
        count=block["available"],
        until=format_time(release_at, zone) if release_at else "",
        url=links.build_link_url("allocator", block["id"], block["allocator_generation"]),
    )


def build_ticket_email(tickets: Sequence[Ticket], *, key: str) -> Message:
    """Return the email of one claim: the first six codes, and all tickets as a PDF; for will-call one code."""
    first_ticket = tickets[0]
    context = {
        "holder": first_ticket.name,
        "count": len(tickets),
        "url": first_ticket.ticket_url,
    }
    if first_ticket.delivery == WILL_CALL:
        message = _render_email("allocation_will_call", first_ticket, key, code=first_ticket.code, **context)
        return replace(message, attachments=(_build_calendar_attachment(first_ticket),))
    listed_tickets = tickets[:MAX_CODES]
    qr_images = [
        Attachment(f"{ticket.code}.png", qr_codes.render_png(ticket.code), "image/png", cid=ticket.code)
        for ticket in listed_tickets
    ]
    codes = [ticket.code for ticket in listed_tickets]
    message = _render_email("allocation_ticket", first_ticket, key, codes=codes, **context)
    pdf = Attachment(first_ticket.pdf_name, draw_ticket_pdf(tickets), "application/pdf")
    return replace(message, attachments=(*qr_images, pdf, _build_calendar_attachment(first_ticket)))


def _build_calendar_attachment(ticket: Ticket) -> Attachment:
    return Attachment(ticket.calendar_name, ticket.build_calendar_file(), CALENDAR_TYPE)


def _render_email(template: str, ticket: Ticket, key: str, **context: Any) -> Message:
    assert ticket.email is not None
    return render_email(
        template,
        to=ticket.email,
        key=key,
        sender_name=ticket.organiser,
        reply_to=ticket.contact,
        name="" if ticket.name == UNNAMED_HOLDER else ticket.name,
        event=ticket.event,
        when=ticket.when,
        where=ticket.where,
        map_url=ticket.visit.map_url,
        entry_rule=ticket.visit.entry_rule,
        kind=ticket.kind,
        ticket_host=ticket.host,
        organiser=ticket.organiser,
        **context,
    )
