"""PDF documents: A4 pages with our layout and one embedded font; the same content gives the same bytes.

    with Sheet(title="Receipt", number="MA-7K2Q9XRD", when="Fri 4 December 2026") as sheet:
        sheet.parties(["Windhoek Lights"], ["Kapana Corner"])
        sheet.facts([("Paid with", "mobile wallet")])
        sheet.total("Paid", "N$ 1 234.50")
    sheet.data

`pdf_text` draws the text. reportlab's own paragraphs read markup, and markup can open files.
"""

from collections.abc import Iterable, Sequence
from io import BytesIO
from types import TracebackType
from typing import Protocol

from reportlab.graphics.shapes import Drawing
from reportlab.lib.colors import Color
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, CondPageBreak, Flowable, Frame, PageTemplate, Spacer, Table, TableStyle
from reportlab.platypus.flowables import UseUpSpace

from app.core.languages import get_language, gettext
from app.core.pdf_text import (
    BOLD,
    DUNE,
    LINE,
    MUTED,
    NIGHT,
    REGULAR,
    TextWriter,
    break_lines,
    printable,
    register_fonts,
    text_width,
)

MARGIN, TOP, BOTTOM = 22 * mm, 46 * mm, 26 * mm
WIDTH, HEIGHT = A4[0] - 2 * MARGIN, A4[1] - TOP - BOTTOM
MIN_FIRST_ROWS = MIN_LAST_ROWS = 3


class _NumberedCanvas(Canvas):  # type: ignore[misc]
    """A canvas that writes `Page 1 of 3`: it keeps the pages until their number is known."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **{**kwargs, "invariant": 1})
        self.pages: list[dict[str, object]] = []

    def showPage(self) -> None:  # noqa: N802
        self.pages.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        for number, page in enumerate(self.pages, 1):
            self.__dict__.update(page)
            with TextWriter(self) as writer:
                label = gettext("Page %(number)s of %(total)s", number=number, total=len(self.pages))
                writer.draw(label, A4[0] - MARGIN, 14 * mm, size=8, colour=MUTED, right=True)
            super().showPage()
        super().save()


class Sheet:
    """A document that is being written; `data` has its bytes after the block."""

    def __init__(self, *, title: str, number: str, when: str, foot: str = "", author: str = "") -> None:
        register_fonts()
        self.title, self.number, self.when, self.foot, self.author = title, number, when, foot, author
        self.story: list[Flowable] = []
        self.data = b""

    def __enter__(self) -> "Sheet":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.data = self._build()

    def parties(self, left: Sequence[str], right: Sequence[str], *, headings: tuple[str, str] = ("From", "To")) -> None:
        """Add sender and recipient side by side; the first line of each is the name."""
        columns = [_build_party(heading, lines) for heading, lines in zip(headings, (left, right), strict=True)]
        self.story += [build_grid([columns], [WIDTH / 2] * 2), Spacer(0, 10 * mm)]

    def facts(self, rows: Iterable[tuple[str, str]]) -> None:
        """Add labels and values with thin lines between."""
        cells = [[paragraph(label, colour=MUTED), paragraph(value)] for label, value in rows]
        self.story += [build_grid(cells, [50 * mm, WIDTH - 50 * mm], lines=True), Spacer(0, 8 * mm)]

    def lines(self, rows: Iterable[tuple[str, str]], *, title: str = "") -> None:
        """Add what is charged, with the amounts aligned at the right."""
        cells = [[paragraph(label), paragraph(amount, right=True)] for label, amount in rows]
        self._add_table(build_grid(cells, [WIDTH - 45 * mm, 45 * mm], lines=True), title)

    def table(
        self,
        headings: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        widths: Sequence[float],
        figures: int,
        title: str = "",
        under: str = "",
    ) -> None:
        """Add rows with headings that repeat on every page, below a title with a caption.

        `widths` are shares of the page's width; the last `figures` columns are aligned at the right.
        """
        first_right = len(headings) - figures
        head = [paragraph(text, size=8.5, colour=MUTED, right=at >= first_right) for at, text in enumerate(headings)]
        body = [[paragraph(text, size=9, right=at >= first_right) for at, text in enumerate(row)] for row in rows]
        column_widths = [WIDTH * share / sum(widths) for share in widths]
        self._add_table(build_grid([head, *body], column_widths, lines=True, repeat=1), title, under)
        self.story.append(Spacer(0, 4 * mm))

    def heading(self, text: str, *, under: str = "", room: float = 0) -> None:
        """Add a heading with a caption below, on a page that has `room` (points) for what follows."""
        parts = [paragraph(text, bold=True, size=11)]
        if under:
            parts.append(paragraph(under, size=8.5, colour=MUTED))
        parts.append(Spacer(0, 2 * mm))
        if room:
            parts.insert(0, Spacer(0, 5 * mm))
            needed = room + sum(part.wrap(WIDTH, HEIGHT)[1] for part in parts)
            self.story.append(CondPageBreak(min(needed, HEIGHT)))
        self.story += parts

    def chart(self, title: str, drawing: Drawing, *, under: str = "") -> None:
        """Add a chart with its title on the same page."""
        self.heading(title, under=under, room=drawing.height)
        self.story.append(drawing)

    def figures(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Add a few large numbers side by side, as (label, value)."""
        max_width = WIDTH / len(pairs) - 7 * mm
        size = min(17.0, max_width / max(text_width(printable(value), BOLD, 1) for _, value in pairs))
        cells = [
            [paragraph(value, bold=True, size=size) for _, value in pairs],
            [paragraph(label, size=8.5, colour=MUTED) for label, _ in pairs],
        ]
        self.story += [build_grid(cells, [WIDTH / len(pairs)] * len(pairs), close=True), Spacer(0, 2 * mm)]

    def long_table(self, title: str, table: "MeasuredTable", *, under: str = "") -> None:
        """Add a table that may take many pages; it begins where there is room for its first rows."""
        self._add_table(table, title, under)

    def figure(self, drawing: Flowable) -> None:
        """Add a chart without a title."""
        self.story += [drawing, Spacer(0, 6 * mm)]

    def total(self, label: str, amount: str) -> None:
        """Add the total in large letters."""
        cells = [[paragraph(label, bold=True, size=13), paragraph(amount, bold=True, size=17, right=True)]]
        self.story += [Spacer(0, 3 * mm), build_grid(cells, [WIDTH / 2] * 2), Spacer(0, 6 * mm)]

    def note(self, text: str) -> None:
        """Add a note in small letters."""
        self.story += [paragraph(text, size=9, colour=MUTED), Spacer(0, 3 * mm)]

    def _add_table(self, table: "MeasuredTable", title: str, under: str = "") -> None:
        """Add a table on the page of its title."""
        if title:
            self.heading(title, under=under, room=table.measure_start(WIDTH))
        self.story.append(table)

    def _build(self) -> bytes:
        buffer = BytesIO()
        document = BaseDocTemplate(
            buffer,
            pagesize=A4,
            title=f"{self.title} {self.number}",
            author=self.author,
            subject=self.title,
            creator="Event Commerce",
            lang=get_language(),
            displayDocTitle=1,
            pageCompression=1,
            invariant=1,
        )
        frame = Frame(MARGIN, BOTTOM, WIDTH, A4[1] - TOP - BOTTOM, 0, 0, 0, 0)
        document.addPageTemplates(PageTemplate("page", [frame], onPage=self._draw_frame))
        document.build(self.story, canvasmaker=_NumberedCanvas)
        return buffer.getvalue()

    def _draw_frame(self, canvas: Canvas, _: object) -> None:
        """Draw what every page has: the title, number and date at the top right, lines, and the footer."""
        canvas.setFillColor(DUNE)
        canvas.rect(0, A4[1] - 3 * mm, A4[0], 3 * mm, stroke=0, fill=1)
        canvas.setStrokeColor(LINE)
        canvas.setLineWidth(0.5)
        canvas.line(MARGIN, A4[1] - 34 * mm, A4[0] - MARGIN, A4[1] - 34 * mm)
        canvas.line(MARGIN, 19 * mm, A4[0] - MARGIN, 19 * mm)
        with TextWriter(canvas) as writer:
            writer.draw(self.title, MARGIN, A4[1] - 26 * mm, font=BOLD, size=20)
            number_width = WIDTH - text_width(printable(self.title), BOLD, 20) - 8 * mm
            writer.draw(self.number, A4[0] - MARGIN, A4[1] - 22 * mm, font=BOLD, right=True, across=number_width)
            writer.draw(self.when, A4[0] - MARGIN, A4[1] - 27 * mm, size=9, colour=MUTED, right=True)
            writer.draw(self.foot, MARGIN, 14 * mm, size=8, colour=MUTED, across=WIDTH - 30 * mm)


class PlainParagraph(Flowable):  # type: ignore[misc]
    """Text without markup that wraps and continues on the next page."""

    def __init__(self, text: str, *, font: str, size: float, colour: Color, right: bool) -> None:
        super().__init__()
        self.text, self.font, self.size, self.colour, self.right = printable(text), font, size, colour, right
        self.leading = size * 1.4
        self.lines: list[str] = []

    def wrap(self, across: float, _: float) -> tuple[float, float]:
        self.lines, self.width = break_lines(self.text, self.font, self.size, across), across
        self.height = self.leading * len(self.lines)
        return across, self.height

    def split(self, across: float, height: float) -> list["PlainParagraph"]:
        self.wrap(across, height)
        fitting = int(height / self.leading)
        if not 0 < fitting < len(self.lines):
            return []
        return [self._with_lines(self.lines[:fitting]), self._with_lines(self.lines[fitting:])]

    def draw(self) -> None:
        x = self.width if self.right else 0
        with TextWriter(self.canv) as writer:
            for number, line in enumerate(self.lines):
                y = self.height - number * self.leading - self.size
                writer.put(line, x, y, font=self.font, size=self.size, colour=self.colour, right=self.right)

    def _with_lines(self, lines: list[str]) -> "PlainParagraph":
        return PlainParagraph("\n".join(lines), font=self.font, size=self.size, colour=self.colour, right=self.right)


class MeasuredTable(Protocol):
    """A table that knows how much of it has to be on the page of its title."""

    def measure_start(self, width: float) -> float:
        """Return the height of this part."""


class _UnbrokenEndTable(Table):  # type: ignore[misc]
    """A table whose last page has at least three rows, if another page precedes it."""

    def measure_start(self, width: float) -> float:
        """Return the height of all rows if they fill less than half a page, else that of the headings and first rows."""
        _, height = self.wrap(width, HEIGHT)
        if height <= HEIGHT / 2:
            return float(height)
        return float(sum(self._rowHeights[: self.repeatRows + MIN_FIRST_ROWS]))

    def split(self, width: float, height: float) -> list[Flowable]:
        parts: list[Flowable] = super().split(width, height)
        missing = MIN_LAST_ROWS - (parts[-1]._nrows - self.repeatRows) if len(parts) == 2 else 0
        if missing <= 0 or parts[0]._nrows - self.repeatRows <= missing:
            return parts
        first, last = super().split(width, sum(parts[0]._rowHeights[:-missing]))
        return [first, UseUpSpace(), last]


def paragraph(
    text: str, *, bold: bool = False, size: float = 10, colour: Color = NIGHT, right: bool = False
) -> PlainParagraph:
    """Return text that wraps; markup in it is shown as text."""
    return PlainParagraph(text, font=BOLD if bold else REGULAR, size=size, colour=colour, right=right)


def _build_party(heading: str, texts: Sequence[str]) -> list[PlainParagraph]:
    name, *details = [text for text in texts if text] or [""]
    return [
        paragraph(heading, size=8.5, colour=MUTED),
        paragraph(name, bold=True, size=11),
        *(paragraph(detail, size=9.5) for detail in details),
    ]


def build_grid(
    cells: Sequence[Sequence[object]], widths: list[float], *, lines: bool = False, repeat: int = 0, close: bool = False
) -> Table:
    """Return a table of paragraphs with these widths in points; `repeat` rows are headings on every page."""
    style: list[tuple[object, ...]] = [
        ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ("RIGHTPADDING", (0, 0), (-1, -1), 0),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 0 if close else 5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1 if close else 5),
    ]
    if lines:
        style.append(("LINEBELOW", (0, 0), (-1, -1), 0.5, LINE))
    return _UnbrokenEndTable(cells, colWidths=widths, style=TableStyle(style), hAlign="LEFT", repeatRows=repeat)
