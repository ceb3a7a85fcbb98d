"""The PDF of an invoice: the same document gives the same bytes on every machine.

It is drawn directly on the canvas, at a third of the cost of a layout engine. It is not compressed, because compression
differs between versions of the library.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from app.core.formatting import format_money
from app.core.languages import SOURCE_LANGUAGE, use_language
from app.core.pdf_text import (
    BOLD,
    DUNE,
    LICHEN,
    LINE,
    MUTED,
    REGULAR,
    TextWriter,
    break_lines,
    fit_text,
    printable,
    register_fonts,
    text_width,
)
from app.invoicing.documents import FIRST_LAYOUT, PREVIEW, DocumentLine, InvoiceDocument, format_vat_number

PAGE_WIDTH, PAGE_HEIGHT = A4
LEFT, RIGHT = 22 * mm, PAGE_WIDTH - 22 * mm
FIRST_PAGE_TOP, NEXT_PAGE_TOP, BOTTOM = PAGE_HEIGHT - 52 * mm, PAGE_HEIGHT - 40 * mm, 32 * mm
DESCRIPTION_WIDTH = 82 * mm
QUANTITY_X, UNIT_PRICE_X = LEFT + 97 * mm, LEFT + 132 * mm
LEADING, ROW_PADDING = 14.0, 6.0
TOTALS_HEIGHT = 40 * mm
NOTE_LEADING = 12.5


def draw_invoice_pdf(document: InvoiceDocument) -> bytes:
    """Return the PDF of an invoice, a credit note or a preview, in English."""
    with use_language(SOURCE_LANGUAGE):
        return _draw_pdf(document)


def _draw_pdf(document: InvoiceDocument) -> bytes:
    register_fonts()
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1, pageCompression=0, lang="en")
    canvas.setTitle(document.full_title)
    canvas.setAuthor(printable(document.seller[0]))
    canvas.setSubject(document.title)
    canvas.setCreator("Event Commerce")
    canvas.setViewerPreference("DisplayDocTitle", "true")
    _InvoiceDrawing(document, canvas).draw_pages()
    canvas.save()
    return buffer.getvalue()


@dataclass
class _Row:
    """A row of the table: the lines of its text, and its numbers."""

    text_lines: list[str]
    cells: tuple[str, str, str]

    @property
    def height(self) -> float:
        return LEADING * len(self.text_lines) + 2 * ROW_PADDING - 2


class _InvoiceDrawing:
    """Draws from the top of the page downwards; `y` is where the next part begins."""

    def __init__(self, document: InvoiceDocument, canvas: Canvas) -> None:
        self.document, self.canvas, self.y = document, canvas, FIRST_PAGE_TOP
        vat_line = [format_vat_number(document.vat_number)] if document.vat_number else []
        self.parties = [_build_party_lines([*document.seller, *vat_line]), _build_party_lines(document.buyer)]
        self.rows = [_build_row(line) for line in document.lines]
        self.notes = [
            line for note in document.notes for line in break_lines(printable(note), REGULAR, 9, RIGHT - LEFT)
        ]

    def draw_pages(self) -> None:
        opening_height = self._measure_parties() + 14.0 * len(self.document.facts) + 30 * mm
        pages = list(
            _paginate_rows(
                self.rows,
                FIRST_PAGE_TOP - opening_height - BOTTOM,
                NEXT_PAGE_TOP - BOTTOM - 12 * mm,
                self._measure_totals(),
            )
        )
        for number, rows in enumerate(pages, 1):
            with TextWriter(self.canvas) as self.pen:
                self._draw_header(number, len(pages))
                if number == 1:
                    self._draw_parties()
                    self._draw_facts()
                if rows:
                    self._draw_table(rows)
                if number == len(pages):
                    self._draw_totals()
            self.canvas.showPage()

    def _draw_header(self, number: int, pages: int) -> None:
        """Draw the letterhead, the title and the footer."""
        document, canvas = self.document, self.canvas
        canvas.setFillColor(DUNE)
        canvas.rect(0, PAGE_HEIGHT - 3 * mm, PAGE_WIDTH, 3 * mm, stroke=0, fill=1)
        self.pen.draw(document.full_title, RIGHT, PAGE_HEIGHT - 21 * mm, font=BOLD, size=11, right=True)
        self.pen.draw(document.issued, RIGHT, PAGE_HEIGHT - 26 * mm, size=9, colour=MUTED, right=True)
        name, size = fit_text(printable(document.seller[0]), BOLD, 17, 100 * mm, most=2)
        for index, line in enumerate(name):
            self.pen.put(line, LEFT, PAGE_HEIGHT - 21 * mm - index * size * 1.2, font=BOLD, size=size)
        self._draw_hairline(PAGE_HEIGHT - 34 * mm)
        self._draw_hairline(21 * mm)
        if document.kind == PREVIEW:
            self._draw_watermark()
        footer = " · ".join(part for part in (document.seller[0], document.contact) if part)
        self.pen.draw(footer, LEFT, 15 * mm, size=8, colour=MUTED, across=RIGHT - LEFT - 32 * mm)
        self.pen.draw(f"Page {number} of {pages}", RIGHT, 15 * mm, size=8, colour=MUTED, right=True)
        self.y = FIRST_PAGE_TOP if number == 1 else NEXT_PAGE_TOP

    def _draw_watermark(self) -> None:
        """Mark the page, so that nobody takes a printed preview for an invoice."""
        self.canvas.saveState()
        self.canvas.translate(PAGE_WIDTH / 2, PAGE_HEIGHT / 2)
        self.canvas.rotate(45)
        self.canvas.setFillColor(LINE, alpha=0.35)
        self.canvas.setFont(BOLD, 96)
        self.canvas.drawCentredString(0, 0, "PREVIEW")
        self.canvas.restoreState()

    def _draw_parties(self) -> None:
        self.pen.draw(self.document.title, LEFT, self.y + 2 * mm, font=BOLD, size=24)
        top = self.y - 12 * mm
        for x, heading, party in zip((LEFT, PAGE_WIDTH / 2 + 4 * mm), ("From", "To"), self.parties, strict=True):
            self.pen.draw(heading, x, top, size=8.5, colour=MUTED)
            y = top - 15
            for line, font, size in party:
                self.pen.put(line, x, y, font=font, size=size)
                y -= LEADING
        self.y -= self._measure_parties()

    def _measure_parties(self) -> float:
        longest = max(map(len, self.parties))
        return float(24 * mm + LEADING * longest)

    def _draw_facts(self) -> None:
        self._draw_labelled_rows(self.document.facts)
        self.y -= 8 * mm

    def _draw_labelled_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        for label, value in rows:
            self.pen.draw(label, LEFT, self.y, size=9, colour=MUTED)
            self.pen.draw(value, LEFT + 32 * mm, self.y, size=9, across=RIGHT - LEFT - 32 * mm)
            self.y -= LEADING

    def _draw_table(self, rows: Sequence[_Row]) -> None:
        heading = "What" if self.document.layout == FIRST_LAYOUT else "Description"
        self.pen.draw(heading, LEFT, self.y, size=8.5, colour=MUTED)
        for x, label in ((QUANTITY_X, "Quantity"), (UNIT_PRICE_X, "Each"), (RIGHT, "Amount")):
            self.pen.draw(label, x, self.y, size=8.5, colour=MUTED, right=True)
        self.y -= ROW_PADDING
        self._draw_hairline(self.y)
        for row in rows:
            y = self.y - ROW_PADDING - 10
            for x, cell in zip((QUANTITY_X, UNIT_PRICE_X, RIGHT), row.cells, strict=True):
                if cell:
                    self.pen.put(cell, x, y, right=True)
            for line in row.text_lines:
                self.pen.put(line, LEFT, y)
                y -= LEADING
            self.y -= row.height
            self._draw_hairline(self.y)

    def _draw_totals(self) -> None:
        document = self.document
        self.y -= 9 * mm
        for label, part_minor in _list_vat_parts(document):
            self.pen.draw(label, UNIT_PRICE_X, self.y, size=9, colour=MUTED, right=True)
            self.pen.draw(format_money(part_minor), RIGHT, self.y, size=9, colour=MUTED, right=True)
            self.y -= LEADING
        self.y -= 5 * mm
        amount = format_money(document.total_minor)
        label = "Credited" if document.total_minor < 0 else "Total"
        start = min(UNIT_PRICE_X, RIGHT - text_width(amount, BOLD, 17) - 6 * mm)
        self.pen.draw(label, start, self.y, font=BOLD, size=13, right=True)
        self.pen.put(amount, RIGHT, self.y, font=BOLD, size=17, right=True)
        self.y -= 11 * mm
        if document.settled:
            self.pen.draw(document.settled, LEFT, self.y, font=BOLD, size=11, colour=LICHEN, across=RIGHT - LEFT)
            self.y -= 9 * mm
        if document.payment:
            self.pen.draw("How to pay", LEFT, self.y, font=BOLD, size=10)
            self.y -= LEADING
            self._draw_labelled_rows(document.payment)
            self.y -= 4 * mm
        for line in self.notes:
            self.pen.put(line, LEFT, self.y, size=9, colour=MUTED)
            self.y -= NOTE_LEADING

    def _measure_totals(self) -> float:
        """Return the height of the totals and of what is below them."""
        document = self.document
        if document.layout == FIRST_LAYOUT:
            return float(TOTALS_HEIGHT)
        payment_rows = len(document.payment) + 1 if document.payment else 0
        gaps = 25 * mm + (9 * mm if document.settled else 0) + (4 * mm if document.payment else 0)
        return float(
            gaps + LEADING * (len(_list_vat_parts(document)) + payment_rows) + NOTE_LEADING * (len(self.notes) - 1)
        )

    def _draw_hairline(self, y: float) -> None:
        self.canvas.setStrokeColor(LINE)
        self.canvas.setLineWidth(0.5)
        self.canvas.line(LEFT, y, RIGHT, y)


def _list_vat_parts(document: InvoiceDocument) -> list[tuple[str, int]]:
    """Return the amounts without VAT and of the VAT with their labels; none without VAT."""
    net_minor, rate = document.total_minor - document.vat_minor, f"VAT {document.vat_percent:g} %"
    if document.layout == FIRST_LAYOUT:
        return [(f"{rate} in the total", document.vat_minor), ("Without VAT", net_minor)]
    return [("Amount without VAT", net_minor), (rate, document.vat_minor)] if document.shows_vat else []


def _build_row(line: DocumentLine) -> _Row:
    quantity = "" if line.quantity is None else str(line.quantity)
    unit_price = "" if line.unit_price_minor is None else format_money(line.unit_price_minor)
    return _Row(
        break_lines(printable(line.what), REGULAR, 10, DESCRIPTION_WIDTH),
        (quantity, unit_price, format_money(line.amount_minor)),
    )


def _build_party_lines(texts: Sequence[str]) -> list[tuple[str, str, float]]:
    """Return the lines of a party with their fonts, the name in bold."""
    max_width = PAGE_WIDTH / 2 - LEFT - 6 * mm
    styles = [(BOLD, 11.0)] + [(REGULAR, 9.5)] * len(texts)
    return [
        (line, font, size)
        for text, (font, size) in zip(texts, styles, strict=False)
        for line in break_lines(printable(text), font, size, max_width)
    ]


def _paginate_rows(
    rows: Sequence[_Row], first_page_height: float, next_page_height: float, totals_height: float
) -> Iterator[list[_Row]]:
    """Yield the rows of each page. The last page has room for the totals, if necessary without rows."""
    page: list[_Row] = []
    remaining_height = first_page_height
    for row in rows:
        if row.height > remaining_height:
            yield page
            page, remaining_height = [], next_page_height
        page.append(row)
        remaining_height -= row.height
    if remaining_height < totals_height:
        yield page
        page = []
    yield page
