"""The mail that brings an invoice or a credit note.

Mails about places: the invitation, the reminder, the ticket with its code, the name on the list.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.allocations import link_tokens
from app.allocations.invoicing.invoice_document import CREDIT_NOTE, InvoiceDocument
from app.allocations.invoicing.invoice_pdf import draw_invoice_pdf
from app.allocations.states import WILL_CALL
from app.allocations.tickets import qr_codes
from app.allocations.tickets.ticket_data import UNNAMED_HOLDER, Ticket
from app.allocations.tickets.ticket_pdf import draw_ticket_pdf
from app.clients.email_templates import render_email
from app.clients.mail import Attachment, Message
from app.core.money import format_money


def build_invoice_email(document: InvoiceDocument, *, to: str, key: str) -> Message:
    """A mail with the paper as a PDF, the same bytes as anywhere else."""
    message = render_email(
        "allocation_invoice",
        to=to,
        key=key,
        sender_name=document.seller[0],
        reply_to=document.contact or None,
        name="",
        title=document.title,
        number=document.number,
        issued=document.issued,
        seller=document.seller[0],
        credited=document.kind == CREDIT_NOTE,
        amount=format_money(abs(document.total_minor)),
        facts=[list(fact) for fact in document.facts],
    )
    pdf = Attachment(f"{document.title} {document.number}.pdf", draw_invoice_pdf(document), "application/pdf")
    return replace(message, attachments=(pdf,))


MAX_CODES = 6


def build_invite_email(ticket: Ticket, *, key: str, is_reminder: bool = False) -> Message:
    """The claim link; the same link whenever it is sent."""
    url = link_tokens.build_link_url("claim", ticket.slot_id, ticket.generation)
    return _render_email("allocation_invite", ticket, key, url=url, reminded=is_reminder, until=ticket.until)


def build_ticket_email(tickets: Sequence[Ticket], *, key: str) -> Message:
    """The tickets of one claim, with their codes in the mail and as a PDF; or, for will call, what to say at the gate.

    Of a large party the mail shows the first codes, and the PDF has all.
    """
    first_ticket = tickets[0]
    context = {"holder": first_ticket.name, "reference": first_ticket.reference, "count": len(tickets)}
    if first_ticket.delivery == WILL_CALL:
        return _render_email("allocation_will_call", first_ticket, key, code=first_ticket.code, **context)
    listed_tickets = tickets[:MAX_CODES]
    qr_images = [
        Attachment(f"{ticket.code}.png", qr_codes.render_png(ticket.code), "image/png", cid=ticket.code)
        for ticket in listed_tickets
    ]
    codes = [ticket.code for ticket in listed_tickets]
    message = _render_email("allocation_ticket", first_ticket, key, codes=codes, **context)
    name = f"Ticket {first_ticket.code}.pdf" if len(tickets) == 1 else f"{len(tickets)} tickets.pdf"
    pdf = Attachment(name, draw_ticket_pdf(tickets), "application/pdf")
    return replace(message, attachments=(*qr_images, pdf))


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
        kind=ticket.kind,
        giver=ticket.host,
        organiser=ticket.organiser,
        **context,
    )
