"""Writing an invoice or a credit note, inside the caller's transaction and under the block's lock."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.allocations import prices
from app.allocations.invoicing import numbering
from app.allocations.invoicing.errors import NothingToInvoice
from app.allocations.invoicing.models import Invoice
from app.allocations.invoicing.paper import CREDIT_NOTE, INVOICE, Line, Paper
from app.allocations.invoicing.subject import Subject, subject
from app.core.dates import HOME, day
from app.core.ids import new_id

PRICES = "All amounts are in Namibian dollars. Prices include VAT."


def invoice(session: Session, block_id: str) -> Invoice:
    """The invoice of a locked block: the one there is, or a new one. Raises NothingToInvoice."""
    there = session.scalar(select(Invoice).where(Invoice.block_id == block_id, Invoice.kind == INVOICE))
    if there is not None:
        return there
    about = subject(session, block_id)
    cost = prices.cost_of(about.block, about.ticket_type)
    if cost.total_minor == 0:
        raise NothingToInvoice()
    lines = [
        Line(
            what=each.description,
            quantity=each.quantity,
            unit_price_minor=each.unit_price_minor,
            amount_minor=each.amount_minor,
        )
        for each in cost.lines
    ]
    return _issued(
        session,
        about,
        INVOICE,
        about.block.held,
        lines=lines,
        vat_percent=cost.vat_percent,
        vat_minor=cost.vat_minor,
        total_minor=cost.total_minor,
        facts=about.facts,
        notes=[PRICES, f"For questions about payment write to {about.contact}."],
    )


def credit_note(session: Session, block_id: str) -> Invoice | None:
    """A credit note for the places that a locked block has lost since they were invoiced; None when there are none.

    What was credited before counts, so it does not matter how often, or for what, this is called.
    """
    papers = session.scalars(
        select(Invoice)
        .where(Invoice.block_id == block_id)
        .order_by(Invoice.kind.desc(), Invoice.year, Invoice.sequence)
    ).all()
    if not papers:
        return None
    about = subject(session, block_id)
    charged = papers[0].quantity - sum(each.quantity for each in papers[1:])
    if about.block.held >= charged:
        return None
    return _credited(session, about, papers[0], charged, about.block.held)


def _credited(session: Session, about: Subject, original: Invoice, before: int, after: int) -> Invoice:
    """A credit note over the places from `before` down to `after`, at what each of them was invoiced with."""
    each, percent = original.total_minor // original.quantity, float(original.paper["vat_percent"])
    vat = prices.vat_inside(before * each, percent) - prices.vat_inside(after * each, percent)
    gone, total = before - after, -(before - after) * each
    line = Line(
        what=f"{about.ticket_type}: places given back", quantity=gone, unit_price_minor=-each, amount_minor=total
    )
    facts = [("For invoice", f"{original.number} of {original.paper['issued']}"), *about.facts]
    notes = [f"This corrects invoice {original.number}: {after} of {original.quantity} places remain.", PRICES]
    return _issued(
        session,
        about,
        CREDIT_NOTE,
        gone,
        lines=[line],
        vat_percent=percent,
        vat_minor=-vat,
        total_minor=total,
        facts=facts,
        notes=notes,
    )


def _issued(
    session: Session,
    about: Subject,
    kind: str,
    quantity: int,
    *,
    lines: list[Line],
    vat_percent: float,
    vat_minor: int,
    total_minor: int,
    facts: list[tuple[str, str]],
    notes: list[str],
) -> Invoice:
    """The paper under the next number. The number comes last: until the commit everybody else waits for it.

    One moment decides the year of the number and the date that is printed, both by the calendar of Windhoek.
    """
    number = numbering.take(session, about.organiser_id, kind, about.moment)
    paper = Paper(
        kind=kind,
        number=str(number),
        issued=day(about.moment, HOME),
        seller=about.seller,
        buyer=about.buyer,
        facts=facts,
        lines=lines,
        vat_percent=vat_percent,
        vat_minor=vat_minor,
        total_minor=total_minor,
        notes=notes,
        contact=about.contact,
    )
    made = Invoice(
        id=new_id(),
        block_id=about.block.id,
        organiser_id=about.organiser_id,
        kind=kind,
        year=number.year,
        sequence=number.sequence,
        number=paper.number,
        quantity=quantity,
        total_minor=total_minor,
        paper=paper.as_json(),
        issued_at=about.moment,
    )
    session.add(made)
    session.flush()
    return made
