"""An invoice as a PDF. The same paper gives the same bytes at every time and on every machine.

Drawn straight onto the canvas, which costs a third of what a layout engine does. Nothing is compressed: what a
compressor makes of the same text differs from one machine's library to the next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from app.allocations.invoicing.paper import Line, Paper
from app.core.lettering import BOLD, DUNE, LINE, MUTED, REGULAR, Pen, fitting, lines, printable, register_fonts, width
from app.core.money import spoken

WIDE, HIGH = A4
LEFT, RIGHT = 22 * mm, WIDE - 22 * mm
FIRST_TOP, NEXT_TOP, BOTTOM = HIGH - 52 * mm, HIGH - 40 * mm, 32 * mm
WHAT = 82 * mm
QUANTITY, UNIT = LEFT + 97 * mm, LEFT + 132 * mm
LEADING, PAD = 14.0, 6.0
SUMS = 40 * mm


def pdf_of(paper: Paper) -> bytes:
    """The finished document."""
    register_fonts()
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1, pageCompression=0, lang="en")
    canvas.setTitle(f"{paper.title} {paper.number}")
    canvas.setAuthor(printable(paper.seller[0]))
    canvas.setSubject(paper.title)
    canvas.setCreator("Event Commerce")
    canvas.setViewerPreference("DisplayDocTitle", "true")
    _Drawing(paper, canvas).whole()
    canvas.save()
    return out.getvalue()


@dataclass
class _Row:
    """A line of the table: its words broken into lines, and its figures."""

    words: list[str]
    figures: tuple[str, str, str]

    @property
    def height(self) -> float:
        return LEADING * len(self.words) + 2 * PAD - 2


class _Drawing:
    """Goes down the page; `y` is where the next thing begins."""

    def __init__(self, paper: Paper, canvas: Canvas) -> None:
        self.paper, self.canvas, self.y = paper, canvas, FIRST_TOP
        self.parties = [_party(paper.seller), _party(paper.buyer)]
        self.rows = [_row(line) for line in paper.lines]

    def whole(self) -> None:
        opening = self._parties_height() + 14.0 * len(self.paper.facts) + 30 * mm
        pages = list(_pages(self.rows, FIRST_TOP - opening - BOTTOM, NEXT_TOP - BOTTOM - 12 * mm))
        for number, rows in enumerate(pages, 1):
            with Pen(self.canvas) as self.pen:
                self._head(number, len(pages))
                if number == 1:
                    self._parties()
                    self._facts()
                if rows:
                    self._table(rows)
                if number == len(pages):
                    self._sums()
            self.canvas.showPage()

    def _head(self, number: int, pages: int) -> None:
        """The letterhead, what it is, and the foot."""
        paper, canvas = self.paper, self.canvas
        canvas.setFillColor(DUNE)
        canvas.rect(0, HIGH - 3 * mm, WIDE, 3 * mm, stroke=0, fill=1)
        self.pen.draw(f"{paper.title} {paper.number}", RIGHT, HIGH - 21 * mm, font=BOLD, size=11, right=True)
        self.pen.draw(paper.issued, RIGHT, HIGH - 26 * mm, size=9, colour=MUTED, right=True)
        name, size = fitting(printable(paper.seller[0]), BOLD, 17, 100 * mm, most=2)
        for at, line in enumerate(name):
            self.pen.put(line, LEFT, HIGH - 21 * mm - at * size * 1.2, font=BOLD, size=size)
        self._hairline(HIGH - 34 * mm)
        self._hairline(21 * mm)
        foot = " · ".join(each for each in (paper.seller[0], paper.contact) if each)
        self.pen.draw(foot, LEFT, 15 * mm, size=8, colour=MUTED, across=RIGHT - LEFT - 32 * mm)
        self.pen.draw(f"Page {number} of {pages}", RIGHT, 15 * mm, size=8, colour=MUTED, right=True)
        self.y = FIRST_TOP if number == 1 else NEXT_TOP

    def _parties(self) -> None:
        self.pen.draw(self.paper.title, LEFT, self.y + 2 * mm, font=BOLD, size=24)
        top = self.y - 12 * mm
        for x, heading, party in zip((LEFT, WIDE / 2 + 4 * mm), ("From", "To"), self.parties, strict=True):
            self.pen.draw(heading, x, top, size=8.5, colour=MUTED)
            y = top - 15
            for line, font, size in party:
                self.pen.put(line, x, y, font=font, size=size)
                y -= LEADING
        self.y -= self._parties_height()

    def _parties_height(self) -> float:
        longest = max(map(len, self.parties))
        return float(24 * mm + LEADING * longest)

    def _facts(self) -> None:
        for label, value in self.paper.facts:
            self.pen.draw(label, LEFT, self.y, size=9, colour=MUTED)
            self.pen.draw(value, LEFT + 32 * mm, self.y, size=9, across=RIGHT - LEFT - 32 * mm)
            self.y -= 14
        self.y -= 8 * mm

    def _table(self, rows: Sequence[_Row]) -> None:
        self.pen.draw("What", LEFT, self.y, size=8.5, colour=MUTED)
        for x, label in ((QUANTITY, "Quantity"), (UNIT, "Each"), (RIGHT, "Amount")):
            self.pen.draw(label, x, self.y, size=8.5, colour=MUTED, right=True)
        self.y -= PAD
        self._hairline(self.y)
        for row in rows:
            y = self.y - PAD - 10
            for x, figure in zip((QUANTITY, UNIT, RIGHT), row.figures, strict=True):
                if figure:
                    self.pen.put(figure, x, y, right=True)
            for line in row.words:
                self.pen.put(line, LEFT, y)
                y -= LEADING
            self.y -= row.height
            self._hairline(self.y)

    def _sums(self) -> None:
        paper = self.paper
        net = paper.total_minor - paper.vat_minor
        self.y -= 9 * mm
        for label, part in ((f"VAT {paper.vat_percent:g} % in the total", paper.vat_minor), ("Without VAT", net)):
            self.pen.draw(label, UNIT, self.y, size=9, colour=MUTED, right=True)
            self.pen.draw(spoken(part), RIGHT, self.y, size=9, colour=MUTED, right=True)
            self.y -= LEADING
        self.y -= 5 * mm
        label, amount = "Credited" if paper.total_minor < 0 else "Total", spoken(paper.total_minor)
        start = min(UNIT, RIGHT - width(amount, BOLD, 17) - 6 * mm)
        self.pen.draw(label, start, self.y, font=BOLD, size=13, right=True)
        self.pen.put(amount, RIGHT, self.y, font=BOLD, size=17, right=True)
        self.y -= 11 * mm
        for line in (line for note in paper.notes for line in lines(printable(note), REGULAR, 9, RIGHT - LEFT)):
            self.pen.put(line, LEFT, self.y, size=9, colour=MUTED)
            self.y -= 12.5

    def _hairline(self, y: float) -> None:
        self.canvas.setStrokeColor(LINE)
        self.canvas.setLineWidth(0.5)
        self.canvas.line(LEFT, y, RIGHT, y)


def _row(line: Line) -> _Row:
    quantity = "" if line.quantity is None else str(line.quantity)
    unit = "" if line.unit_price_minor is None else spoken(line.unit_price_minor)
    return _Row(lines(printable(line.what), REGULAR, 10, WHAT), (quantity, unit, spoken(line.amount_minor)))


def _party(texts: Sequence[str]) -> list[tuple[str, str, float]]:
    """The lines of a party with their fonts: the name in bold, nothing left out."""
    across = WIDE / 2 - LEFT - 6 * mm
    styles = [(BOLD, 11.0)] + [(REGULAR, 9.5)] * len(texts)
    return [
        (line, font, size)
        for text, (font, size) in zip(texts, styles, strict=False)
        for line in lines(printable(text), font, size, across)
    ]


def _pages(rows: Sequence[_Row], first: float, others: float) -> Iterator[list[_Row]]:
    """The rows page by page; the last page has room for the sums, if need be by having nothing else."""
    page: list[_Row] = []
    room = first
    for row in rows:
        if row.height > room:
            yield page
            page, room = [], others
        page.append(row)
        room -= row.height
    if room < SUMS:
        yield page
        page = []
    yield page
