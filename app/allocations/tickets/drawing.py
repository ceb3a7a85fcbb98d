"""Tickets on paper: one to a page to carry along, or eight to a sheet to be cut apart for the door.

Black on white, so that any printer will do. The code is 40 mm wide on a ticket and 38 on a sheet, quiet zone included.
"""

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import islice
from typing import IO

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from app.allocations.tickets import qr
from app.allocations.tickets.facts import Ticket
from app.core.lettering import BOLD, DUNE, LINE, MUTED, REGULAR, Pen, fitting, lines, printable, register_fonts, width

WIDE, HIGH = A4
LEFT, RIGHT = 18 * mm, WIDE - 18 * mm
CODE = 52 * mm
COLUMNS, ROWS = 2, 4
SMALL_CODE = 38 * mm
TERMS = (
    "The code admits once. Whoever shows it first is admitted, so do not post a picture of it.",
    "Show it on paper, or on a screen turned up bright. No code at hand? Tell your name at the gate.",
    "If you pass the ticket on, ask whoever gave it to you to change the name on it.",
)


def ticket_pdf(tickets: Sequence[Ticket]) -> bytes:
    """A document with a page for each ticket; the same bytes for the same tickets."""
    out = BytesIO()
    first = tickets[0]
    canvas = _canvas(out, f"Ticket for {first.event}", first.organiser)
    for number, ticket in enumerate(tickets, 1):
        with Pen(canvas) as pen:
            _page(canvas, pen, ticket)
            if len(tickets) > 1:
                pen.draw(f"Ticket {number} of {len(tickets)}", RIGHT, 14 * mm, size=9, colour=MUTED, right=True)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def pack_pdf(out: IO[bytes], tickets: Iterable[Ticket], *, title: str, organiser: str) -> Iterator[int]:
    """Writes sheets of eight tickets to `out`; yields after each sheet how many tickets are drawn by then."""
    canvas = _canvas(out, title, organiser)
    waiting, drawn = iter(tickets), 0
    while sheet := list(islice(waiting, COLUMNS * ROWS)):
        with Pen(canvas) as pen:
            for at, ticket in enumerate(sheet):
                column, row = at % COLUMNS, at // COLUMNS
                _small(canvas, pen, ticket, column * WIDE / COLUMNS, HIGH - (row + 1) * HIGH / ROWS, drawn + at + 1)
        _cuts(canvas)
        canvas.showPage()
        drawn += len(sheet)
        yield drawn
    canvas.save()


def _canvas(out: IO[bytes], title: str, author: str) -> Canvas:
    register_fonts()
    canvas = Canvas(out, pagesize=A4, invariant=1, pageCompression=1, lang="en")
    canvas.setTitle(printable(title))
    canvas.setAuthor(printable(author))
    canvas.setCreator("Event Commerce")
    canvas.setViewerPreference("DisplayDocTitle", "true")
    return canvas


def _page(canvas: Canvas, pen: Pen, ticket: Ticket) -> None:
    canvas.setFillColor(DUNE)
    canvas.rect(0, HIGH - 4 * mm, WIDE, 4 * mm, stroke=0, fill=1)
    pen.draw(ticket.organiser, LEFT, HIGH - 18 * mm, size=11, colour=MUTED, across=RIGHT - LEFT - 68 * mm)
    pen.draw(f"{ticket.kind} · Admits one", RIGHT, HIGH - 18 * mm, font=BOLD, size=11, right=True, across=62 * mm)
    y = _paragraph(pen, ticket.event, LEFT, HIGH - 32 * mm, BOLD, 26, RIGHT - LEFT, most=6)
    y = _paragraph(pen, ticket.when, LEFT, y - 3 * mm, REGULAR, 13, RIGHT - LEFT, most=1)
    y = _paragraph(pen, ticket.where, LEFT, y - 1 * mm, REGULAR, 13, RIGHT - LEFT, most=4)
    _hairline(canvas, y)
    bottom = y - 8 * mm - CODE
    qr.draw(canvas, ticket.code, RIGHT - CODE, bottom, CODE)
    half = width(ticket.code, BOLD, 13) / 2
    pen.draw(ticket.code, RIGHT - CODE / 2 - half, bottom - 5 * mm, font=BOLD, size=13)
    below = _person(pen, ticket, y - 12 * mm)
    foot = min(below, bottom - 14 * mm)
    _hairline(canvas, foot)
    _terms(pen, ticket, foot - 8 * mm)


def _person(pen: Pen, ticket: Ticket, y: float) -> float:
    """Whose it is and from whom, beside the code; where it ends."""
    across = RIGHT - LEFT - CODE - 8 * mm
    pen.draw("Name", LEFT, y, size=9, colour=MUTED)
    y = _paragraph(pen, ticket.name, LEFT, y - 8 * mm, BOLD, 20, across, most=9)
    rows = (("From", ticket.host), ("Allocation", ticket.block), ("Reference", ticket.reference))
    for label, value in rows:
        if value:
            pen.draw(label, LEFT, y - 1 * mm, size=9, colour=MUTED)
            y = _paragraph(pen, value, LEFT, y - 6 * mm, REGULAR, 11, across, most=5)
    return y


def _terms(pen: Pen, ticket: Ticket, y: float) -> None:
    last = f"Questions? {ticket.organiser}, {ticket.contact}"
    for term in (*TERMS, last):
        for line in lines(printable(term), REGULAR, 9, RIGHT - LEFT, most=2):
            pen.put(line, LEFT, y, size=9, colour=MUTED)
            y -= 12.5
        y -= 2


def _small(canvas: Canvas, pen: Pen, ticket: Ticket, x: float, y: float, number: int) -> None:
    """A ticket of 105 by 74 mm: the code left, what it is for beside it."""
    left, top = x + 8 * mm, y + HIGH / ROWS - 9 * mm
    across = WIDE / COLUMNS - 16 * mm
    low = _paragraph(pen, ticket.event, left, top - 8, BOLD, 13, across, most=2, leading=1.15)
    low = _paragraph(pen, ticket.when, left, low, REGULAR, 7.5, across, most=1)
    code_y = y + 13 * mm
    qr.draw(canvas, ticket.code, left - 2 * mm, code_y, SMALL_CODE)
    pen.draw(ticket.code, left, y + 9 * mm, font=BOLD, size=10)
    beside, room = left + SMALL_CODE, across - SMALL_CODE
    line = min(low, code_y + SMALL_CODE) - 6 * mm
    line = _paragraph(pen, ticket.kind, beside, line, BOLD, 11, room, most=2)
    for text in ("Admits one", ticket.host, ticket.where):
        if text:
            line = _paragraph(pen, text, beside, line, REGULAR, 8, room, most=2)
    pen.draw(
        f"{ticket.organiser} · no. {number}",
        x + WIDE / COLUMNS - 8 * mm,
        y + 9 * mm,
        size=7,
        colour=MUTED,
        right=True,
        across=42 * mm,
    )


def _cuts(canvas: Canvas) -> None:
    """Where to cut."""
    canvas.setStrokeColor(LINE)
    canvas.setLineWidth(0.4)
    canvas.setDash(2, 3)
    canvas.line(WIDE / 2, 0, WIDE / 2, HIGH)
    for row in range(1, ROWS):
        canvas.line(0, row * HIGH / ROWS, WIDE, row * HIGH / ROWS)


def _paragraph(
    pen: Pen, text: str, x: float, y: float, font: str, size: float, across: float, *, most: int, leading: float = 1.25
) -> float:
    """Text from a baseline downwards, smaller where it is long; the baseline of what comes next."""
    found, size = fitting(printable(text), font, size, across, most=most)
    for line in found:
        pen.put(line, x, y, font=font, size=size)
        y -= size * leading
    return y - 1


def _hairline(canvas: Canvas, y: float) -> None:
    canvas.setStrokeColor(LINE)
    canvas.setLineWidth(0.5)
    canvas.line(LEFT, y, RIGHT, y)
