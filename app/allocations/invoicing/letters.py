"""The mail that brings an invoice or a credit note."""

from dataclasses import replace

from app.allocations.invoicing.drawing import pdf_of
from app.allocations.invoicing.paper import CREDIT_NOTE, Paper
from app.clients.letters import letter
from app.clients.mail import Attachment, Message
from app.core.money import spoken


def invoice_letter(paper: Paper, *, to: str, key: str) -> Message:
    """A mail with the paper as a PDF, the same bytes as anywhere else."""
    message = letter(
        "allocation_invoice",
        to=to,
        key=key,
        sender_name=paper.seller[0],
        reply_to=paper.contact or None,
        name="",
        title=paper.title,
        number=paper.number,
        issued=paper.issued,
        seller=paper.seller[0],
        credited=paper.kind == CREDIT_NOTE,
        amount=spoken(abs(paper.total_minor)),
        facts=[list(each) for each in paper.facts],
    )
    pdf = Attachment(f"{paper.title} {paper.number}.pdf", pdf_of(paper), "application/pdf")
    return replace(message, attachments=(pdf,))
