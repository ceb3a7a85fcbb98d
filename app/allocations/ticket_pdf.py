"""PDFs of tickets: one ticket to a page, or eight to a sheet that is cut apart.

They are black on white for any printer. The QR code is 52 mm wide on a page and 38 mm on a sheet, with its quiet zone.
"""

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import islice
from typing import IO

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from app.allocations import qr_codes
from app.allocations.ticket_data import Ticket
from app.core.languages import get_language, gettext, lazy_gettext
from app.core.pdf_text import (
    BOLD,
    DUNE,
    LINE,
    MUTED,
    REGULAR,
    SKY,
    TextWriter,
    break_lines,
    fit_text,
    printable,
    register_fonts,
    text_width,
)

PAGE_WIDTH, PAGE_HEIGHT = A4
LEFT, RIGHT = 18 * mm, PAGE_WIDTH - 18 * mm
QR_SIZE = 52 * mm
SHEET_COLUMNS, SHEET_ROWS = 2, 4
SMALL_QR_SIZE = 38 * mm
TERMS = (
    lazy_gettext("Anyone who shows the code first is admitted, so do not post a picture of it."),
    lazy_gettext("Show it on paper, or on a screen turned up bright. No code at hand? Tell your name at the gate."),
)
PASS_ON = lazy_gettext(
    "To pass the ticket on, open it with the link in your e-mail, or ask the person who gave it to you."
)


def draw_ticket_pdf(tickets: Sequence[Ticket]) -> bytes:
    """Return a PDF with a page for each ticket; the same bytes for the same tickets."""
    buffer = BytesIO()
    first_ticket = tickets[0]
    canvas = _create_canvas(buffer, gettext("Ticket for %(event)s", event=first_ticket.event), first_ticket.organiser)
    for number, ticket in enumerate(tickets, 1):
        with TextWriter(canvas) as pen:
            _draw_ticket_page(canvas, pen, ticket)
            if len(tickets) > 1:
                label = gettext("Ticket %(number)s of %(total)s", number=number, total=len(tickets))
                pen.draw(label, RIGHT, 14 * mm, size=9, colour=MUTED, right=True)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def draw_pack_pdf(out: IO[bytes], tickets: Iterable[Ticket], *, title: str, organiser: str) -> Iterator[int]:
    """Write sheets of eight tickets to `out`; yield the number of tickets that are drawn after each sheet."""
    canvas = _create_canvas(out, title, organiser)
    remaining_tickets, drawn_count = iter(tickets), 0
    while sheet := list(islice(remaining_tickets, SHEET_COLUMNS * SHEET_ROWS)):
        with TextWriter(canvas) as pen:
            for index, ticket in enumerate(sheet):
                column, row = index % SHEET_COLUMNS, index // SHEET_COLUMNS
                _draw_small_ticket(
                    canvas,
                    pen,
                    ticket,
                    column * PAGE_WIDTH / SHEET_COLUMNS,
                    PAGE_HEIGHT - (row + 1) * PAGE_HEIGHT / SHEET_ROWS,
                    drawn_count + index + 1,
                )
        _draw_cut_lines(canvas)
        canvas.showPage()
        drawn_count += len(sheet)
        yield drawn_count
    canvas.save()


def _create_canvas(out: IO[bytes], title: str, author: str) -> Canvas:
    register_fonts()
    canvas = Canvas(out, pagesize=A4, invariant=1, pageCompression=1, lang=get_language())
    canvas.setTitle(printable(title))
    canvas.setAuthor(printable(author))
    canvas.setSubject(gettext("Ticket"))
    canvas.setCreator("Event Commerce")
    canvas.setViewerPreference("DisplayDocTitle", "true")
    return canvas


def _draw_ticket_page(canvas: Canvas, pen: TextWriter, ticket: Ticket) -> None:
    canvas.setFillColor(DUNE)
    canvas.rect(0, PAGE_HEIGHT - 4 * mm, PAGE_WIDTH, 4 * mm, stroke=0, fill=1)
    pen.draw(ticket.organiser, LEFT, PAGE_HEIGHT - 18 * mm, size=11, colour=MUTED, across=RIGHT - LEFT - 68 * mm)
    pen.draw(gettext("Admits one"), RIGHT, PAGE_HEIGHT - 18 * mm, font=BOLD, size=11, right=True, across=62 * mm)
    y = _draw_paragraph(pen, ticket.event, LEFT, PAGE_HEIGHT - 32 * mm, BOLD, 26, RIGHT - LEFT, max_lines=6)
    y = _draw_paragraph(pen, ticket.kind, LEFT, y - 3 * mm, BOLD, 13, RIGHT - LEFT, max_lines=2)
    y = _draw_paragraph(pen, ticket.when, LEFT, y - 1 * mm, REGULAR, 13, RIGHT - LEFT, max_lines=1)
    y = _draw_paragraph(pen, ticket.where, LEFT, y - 1 * mm, REGULAR, 13, RIGHT - LEFT, max_lines=4)
    y = _draw_map_link(canvas, pen, ticket.visit.map_url, y)
    _draw_hairline(canvas, y)
    qr_bottom = y - 8 * mm - QR_SIZE
    qr_codes.draw_qr_code(canvas, ticket.code, RIGHT - QR_SIZE, qr_bottom, QR_SIZE)
    half_width = text_width(ticket.code, BOLD, 13) / 2
    pen.draw(ticket.code, RIGHT - QR_SIZE / 2 - half_width, qr_bottom - 5 * mm, font=BOLD, size=13)
    holder_bottom = _draw_holder(pen, ticket, y - 12 * mm)
    terms_top = min(holder_bottom, qr_bottom - 14 * mm)
    _draw_hairline(canvas, terms_top)
    _draw_terms(pen, ticket, terms_top - 8 * mm)


def _draw_map_link(canvas: Canvas, pen: TextWriter, url: str, y: float) -> float:
    """Draw a link to the map; return the next baseline."""
    label, size = printable(gettext("Show on a map")), 11
    pen.put(label, LEFT, y, size=size, colour=SKY)
    canvas.linkURL(url, (LEFT, y - 3, LEFT + text_width(label, REGULAR, size), y + size))
    return y - size


def _draw_holder(pen: TextWriter, ticket: Ticket, y: float) -> float:
    """Draw the guest, the host and the block next to the code; return the y below them."""
    max_width = RIGHT - LEFT - QR_SIZE - 8 * mm
    pen.draw(gettext("Name"), LEFT, y, size=9, colour=MUTED)
    y = _draw_paragraph(pen, ticket.name, LEFT, y - 8 * mm, BOLD, 20, max_width, max_lines=9)
    block = ticket.block if ticket.block != ticket.host else ""
    for label, value in ((gettext("From"), ticket.host), (gettext("Guest of"), block)):
        if value:
            pen.draw(label, LEFT, y - 1 * mm, size=9, colour=MUTED)
            y = _draw_paragraph(pen, value, LEFT, y - 6 * mm, REGULAR, 11, max_width, max_lines=5)
    return y


def _draw_terms(pen: TextWriter, ticket: Ticket, y: float) -> None:
    contact_line = gettext("Questions? %(organiser)s, %(contact)s", organiser=ticket.organiser, contact=ticket.contact)
    terms = [f"{ticket.visit.entry_rule} {TERMS[0]}", *map(str, TERMS[1:])]
    if ticket.may_pass_on:
        terms.append(str(PASS_ON))
    for term in (*terms, contact_line):
        for line in break_lines(printable(term), REGULAR, 9, RIGHT - LEFT, most=2):
            pen.put(line, LEFT, y, size=9, colour=MUTED)
            y -= 12.5
        y -= 2


def _draw_small_ticket(canvas: Canvas, pen: TextWriter, ticket: Ticket, x: float, y: float, number: int) -> None:
    """Draw a ticket of 105 by 74 mm: the code on the left, the text on the right."""
    left, top = x + 8 * mm, y + PAGE_HEIGHT / SHEET_ROWS - 9 * mm
    max_width = PAGE_WIDTH / SHEET_COLUMNS - 16 * mm
    heading_bottom = _draw_paragraph(pen, ticket.event, left, top - 8, BOLD, 13, max_width, max_lines=2, leading=1.15)
    heading_bottom = _draw_paragraph(pen, ticket.when, left, heading_bottom, REGULAR, 7.5, max_width, max_lines=1)
    qr_bottom = y + 13 * mm
    qr_codes.draw_qr_code(canvas, ticket.code, left - 2 * mm, qr_bottom, SMALL_QR_SIZE)
    pen.draw(ticket.code, left, y + 9 * mm, font=BOLD, size=10)
    text_left, text_width = left + SMALL_QR_SIZE, max_width - SMALL_QR_SIZE
    text_y = min(heading_bottom, qr_bottom + SMALL_QR_SIZE) - 6 * mm
    text_y = _draw_paragraph(pen, ticket.kind, text_left, text_y, BOLD, 11, text_width, max_lines=2)
    for text in (gettext("Admits one"), ticket.host, ticket.where):
        if text:
            text_y = _draw_paragraph(pen, text, text_left, text_y, REGULAR, 8, text_width, max_lines=2)
    pen.draw(
        gettext("%(organiser)s · no. %(number)s", organiser=ticket.organiser, number=number),
        x + PAGE_WIDTH / SHEET_COLUMNS - 8 * mm,
        y + 9 * mm,
        size=7,
        colour=MUTED,
        right=True,
        across=42 * mm,
    )


def _draw_cut_lines(canvas: Canvas) -> None:
    canvas.setStrokeColor(LINE)
    canvas.setLineWidth(0.4)
    canvas.setDash(2, 3)
    canvas.line(PAGE_WIDTH / 2, 0, PAGE_WIDTH / 2, PAGE_HEIGHT)
    for row in range(1, SHEET_ROWS):
        canvas.line(0, row * PAGE_HEIGHT / SHEET_ROWS, PAGE_WIDTH, row * PAGE_HEIGHT / SHEET_ROWS)


def _draw_paragraph(
    pen: TextWriter,
    text: str,
    x: float,
    y: float,
    font: str,
    size: float,
    max_width: float,
    *,
    max_lines: int,
    leading: float = 1.25,
) -> float:
    """Draw text from a baseline downwards, smaller if it is long; return the next baseline."""
    text_lines, size = fit_text(printable(text), font, size, max_width, most=max_lines)
    for line in text_lines:
        pen.put(line, x, y, font=font, size=size)
        y -= size * leading
    return y - 1


def _draw_hairline(canvas: Canvas, y: float) -> None:
    canvas.setStrokeColor(LINE)
    canvas.setLineWidth(0.5)
    canvas.line(LEFT, y, RIGHT, y)
