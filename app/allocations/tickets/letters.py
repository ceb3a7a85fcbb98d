"""Mails about places: the invitation, the reminder, the ticket with its code, the name on the list."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.allocations import links
from app.allocations.states import WILL_CALL
from app.allocations.tickets import qr
from app.allocations.tickets.drawing import ticket_pdf
from app.allocations.tickets.facts import UNNAMED, Ticket
from app.clients.letters import letter
from app.clients.mail import Attachment, Message

MOST_CODES = 6


def invitation(ticket: Ticket, *, key: str, reminded: bool = False) -> Message:
    """The claim link; the same link whenever it is sent."""
    url = links.url_of("claim", ticket.slot_id, ticket.generation)
    return _letter("allocation_invite", ticket, key, url=url, reminded=reminded, until=ticket.until)


def confirmation(tickets: Sequence[Ticket], *, key: str) -> Message:
    """The tickets of one claim, with their codes in the mail and as a PDF; or, for will call, what to say at the gate.

    Of a large party the mail shows the first codes, and the PDF has all.
    """
    first = tickets[0]
    told = {"holder": first.name, "reference": first.reference, "count": len(tickets)}
    if first.delivery == WILL_CALL:
        return _letter("allocation_will_call", first, key, code=first.code, **told)
    shown = tickets[:MOST_CODES]
    pictures = [Attachment(f"{each.code}.png", qr.png(each.code), "image/png", cid=each.code) for each in shown]
    codes = [each.code for each in shown]
    message = _letter("allocation_ticket", first, key, codes=codes, **told)
    name = f"Ticket {first.code}.pdf" if len(tickets) == 1 else f"{len(tickets)} tickets.pdf"
    pdf = Attachment(name, ticket_pdf(tickets), "application/pdf")
    return replace(message, attachments=(*pictures, pdf))


def _letter(template: str, ticket: Ticket, key: str, **more: Any) -> Message:
    assert ticket.email is not None
    return letter(
        template,
        to=ticket.email,
        key=key,
        sender_name=ticket.organiser,
        reply_to=ticket.contact,
        name="" if ticket.name == UNNAMED else ticket.name,
        event=ticket.event,
        when=ticket.when,
        where=ticket.where,
        kind=ticket.kind,
        giver=ticket.host,
        organiser=ticket.organiser,
        **more,
    )
