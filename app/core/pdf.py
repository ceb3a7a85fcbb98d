"""Documents: an A4 page with our furniture, one embedded font, and the same bytes for the same content.

    with Sheet(title="Receipt", number="MA-7K2Q9XRD", when="Fri 4 December 2026") as sheet:
        sheet.parties(["Windhoek Lights"], ["Kapana Corner"])
        sheet.facts([("Paid with", "mobile wallet")])
        sheet.total("Paid", "N$ 1 234.50")
    sheet.data

Every text of a user is escaped before reportlab reads it: its paragraphs take markup, and markup can open files.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any
from xml.sax.saxutils import escape

from reportlab.graphics.shapes import Drawing
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

from app.core.shaping import joined, ordered, shaped

FONTS = Path(__file__).with_name("fonts")
REGULAR, BOLD = "DejaVuSans", "DejaVuSans-Bold"
NIGHT, MUTED, LINE, DUNE = (HexColor(each) for each in ("#14213D", "#4A5568", "#DCCFBD", "#A84C1B"))
MARGIN, TOP, BOTTOM = 22 * mm, 46 * mm, 26 * mm
WIDTH = A4[0] - 2 * MARGIN


class _NumberedCanvas(Canvas):  # type: ignore[misc]
    """Knows how many pages there are before it writes the first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "invariant": 1})
        self.pages: list[dict[str, Any]] = []

    def showPage(self) -> None:  # noqa: N802
        self.pages.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        for number, page in enumerate(self.pages, 1):
            self.__dict__.update(page)
            self.setFont(REGULAR, 8)
            self.setFillColor(MUTED)
            self.drawRightString(A4[0] - MARGIN, 14 * mm, f"Page {number} of {len(self.pages)}")
            super().showPage()
        super().save()


class Sheet:
    """A document in the making; `data` are its bytes once the block has ended."""

    def __init__(self, *, title: str, number: str, when: str, foot: str = "", author: str = "") -> None:
        register()
        self.title, self.number, self.when, self.foot, self.author = title, number, when, foot, author
        self.story: list[Flowable] = []
        self.data = b""

    def __enter__(self) -> "Sheet":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.data = self._built()

    def parties(self, left: Sequence[str], right: Sequence[str], *, headings: tuple[str, str] = ("From", "To")) -> None:
        """Who gives and who gets, side by side; the first line of each is its name."""
        columns = [_party(heading, lines) for heading, lines in zip(headings, (left, right), strict=True)]
        self.story += [_grid([columns], [WIDTH / 2] * 2), Spacer(0, 10 * mm)]

    def facts(self, rows: Iterable[tuple[str, str]]) -> None:
        """Labels and values under hairlines."""
        cells = [[paragraph(label, colour=MUTED), paragraph(value)] for label, value in rows]
        self.story += [_grid(cells, [50 * mm, WIDTH - 50 * mm], lines=True), Spacer(0, 8 * mm)]

    def lines(self, rows: Iterable[tuple[str, str]]) -> None:
        """What is charged, and the amounts aligned at their cents."""
        cells = [[paragraph(what), paragraph(amount, right=True)] for what, amount in rows]
        self.story.append(_grid(cells, [WIDTH - 45 * mm, 45 * mm], lines=True))

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]], *, widths: Sequence[float]) -> None:
        """Rows under headings that stand on every page; `widths` are shares. Every column but the first three is of
        figures, aligned at the right."""
        shares = [WIDTH * share / sum(widths) for share in widths]
        head = [paragraph(each, size=8.5, colour=MUTED, right=at > 2) for at, each in enumerate(headings)]
        body = [[paragraph(each, size=9, right=at > 2) for at, each in enumerate(row)] for row in rows]
        grid = _grid([head, *body], shares, lines=True)
        grid.repeatRows = 1
        self.story += [grid, Spacer(0, 4 * mm)]

    def total(self, label: str, amount: str) -> None:
        """The sum: once, and large."""
        cells = [[paragraph(label, bold=True, size=13), paragraph(amount, bold=True, size=17, right=True)]]
        self.story += [Spacer(0, 3 * mm), _grid(cells, [WIDTH / 2] * 2), Spacer(0, 6 * mm)]

    def heading(self, text: str, *, under: str = "", room: float = 40 * mm) -> None:
        """A title within the document, and what it has to say; on a page that has room for what follows it."""
        self.story += [CondPageBreak(room + 17 * mm), Spacer(0, 5 * mm), paragraph(text, bold=True, size=12.5)]
        if under:
            self.story.append(paragraph(under, size=8.5, colour=MUTED))
        self.story.append(Spacer(0, 2.5 * mm))

    def chart(self, title: str, drawing: Drawing, *, under: str = "") -> None:
        """A chart under its title, never apart from it."""
        self.heading(title, under=under, room=drawing.height)
        self.story.append(drawing)

    def figures(self, pairs: Sequence[tuple[str, str]]) -> None:
        """The few numbers that matter, large, side by side; each with what it counts."""
        room = WIDTH / len(pairs) - 7 * mm
        widest = max(pdfmetrics.stringWidth(printable(value), BOLD, 1) for _, value in pairs)
        size = min(17.0, room / widest)
        cells = [
            [paragraph(value, bold=True, size=size) for _, value in pairs],
            [paragraph(label, size=8.5, colour=MUTED) for label, _ in pairs],
        ]
        self.story += [_grid(cells, [WIDTH / len(pairs)] * len(pairs), close=True), Spacer(0, 2 * mm)]

    def add(self, *flowables: Flowable) -> None:
        """Long tables, and whatever else reportlab lays out."""
        self.story += flowables

    def note(self, text: str) -> None:
        """A remark in small letters."""
        self.story += [paragraph(text, size=9, colour=MUTED), Spacer(0, 3 * mm)]

    def _built(self) -> bytes:
        out = BytesIO()
        document = BaseDocTemplate(
            out, pagesize=A4, title=f"{self.title} {self.number}", author=self.author, subject=self.title,
            creator="Event Commerce", lang="en", displayDocTitle=1, pageCompression=1, invariant=1,
        )  # fmt: skip
        frame = Frame(MARGIN, BOTTOM, WIDTH, A4[1] - TOP - BOTTOM, 0, 0, 0, 0)
        document.addPageTemplates(PageTemplate("page", [frame], onPage=self._furniture))
        document.build(self.story, canvasmaker=_NumberedCanvas)
        return out.getvalue()

    def _furniture(self, canvas: Canvas, _: Any) -> None:
        """What every page has: the title, its number and date at the top right, a line, and the foot."""
        canvas.setFillColor(DUNE)
        canvas.rect(0, A4[1] - 3 * mm, A4[0], 3 * mm, stroke=0, fill=1)
        _drawn(canvas, shaped(printable(self.title)), BOLD, 20, NIGHT, MARGIN, A4[1] - 26 * mm)
        beside = WIDTH - pdfmetrics.stringWidth(self.title, BOLD, 20) - 8 * mm
        number = fitted(self.number, BOLD, 10, beside)
        _drawn(canvas, number, BOLD, 10, NIGHT, A4[0] - MARGIN, A4[1] - 22 * mm, right=True)
        _drawn(canvas, shaped(printable(self.when)), REGULAR, 9, MUTED, A4[0] - MARGIN, A4[1] - 27 * mm, right=True)
        canvas.setStrokeColor(LINE)
        canvas.setLineWidth(0.5)
        canvas.line(MARGIN, A4[1] - 34 * mm, A4[0] - MARGIN, A4[1] - 34 * mm)
        canvas.line(MARGIN, 19 * mm, A4[0] - MARGIN, 19 * mm)
        _drawn(canvas, fitted(self.foot, REGULAR, 8, WIDTH - 30 * mm), REGULAR, 8, MUTED, MARGIN, 14 * mm)


def paragraph(
    text: str, *, bold: bool = False, size: float = 10, colour: Any = NIGHT, right: bool = False
) -> Paragraph:
    """Text that wraps; whatever looks like markup in it is shown as it stands."""
    style = ParagraphStyle(
        "text", fontName=BOLD if bold else REGULAR, fontSize=size, leading=size * 1.4, textColor=colour,
        alignment=TA_RIGHT if right else 0, splitLongWords=1,
    )  # fmt: skip
    drawn = "\n".join(shaped(line) for line in printable(text).split("\n"))
    return Paragraph(escape(drawn).replace("\n", "<br/>"), style)


def printable(text: str) -> str:
    """The text with a sign in place of what the font does not have, and without control characters."""
    has = pdfmetrics.getFont(REGULAR).face.charWidths
    kept = (each for each in text if each == "\n" or each.isprintable() or each in "\u00a0\u202f")
    return "".join(each if each == "\n" or ord(each) in has else "\u25a1" for each in kept)


def fitted(text: str, font: str, size: float, width: float) -> str:
    """The text, printable; with its end left out and marked so where it is wider than there is room."""
    text = joined(printable(text.replace("\n", " ")))
    if pdfmetrics.stringWidth(text, font, size) <= width:
        return ordered(text)
    while text and pdfmetrics.stringWidth(text + "…", font, size) > width:
        text = text[: -max(1, len(text) // 16)].rstrip()
    return ordered(text + "…")


def _party(heading: str, lines: Sequence[str]) -> list[Paragraph]:
    name, *rest = [line for line in lines if line] or [""]
    return [
        paragraph(heading, size=8.5, colour=MUTED),
        paragraph(name, bold=True, size=11),
        *(paragraph(line, size=9.5) for line in rest),
    ]


def _grid(cells: list[list[Any]], widths: list[float], *, lines: bool = False, close: bool = False) -> Table:
    style: list[tuple[Any, ...]] = [
        ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ("RIGHTPADDING", (0, 0), (-1, -1), 0),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 0 if close else 5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1 if close else 5),
    ]
    if lines:
        style.append(("LINEBELOW", (0, 0), (-1, -1), 0.5, LINE))
    return Table(cells, colWidths=widths, style=TableStyle(style), hAlign="LEFT")


def _drawn(
    canvas: Canvas, text: str, font: str, size: float, colour: Any, x: float, y: float, *, right: bool = False
) -> None:
    canvas.setFont(font, size)
    canvas.setFillColor(colour)
    (canvas.drawRightString if right else canvas.drawString)(x, y, text)


@cache
def register() -> None:
    """Makes our fonts known to reportlab."""
    for name in (REGULAR, BOLD):
        pdfmetrics.registerFont(TTFont(name, str(FONTS / f"{name}.ttf")))
    pdfmetrics.registerFontFamily(REGULAR, normal=REGULAR, bold=BOLD, italic=REGULAR, boldItalic=BOLD)
