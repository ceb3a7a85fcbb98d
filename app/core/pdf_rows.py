"""Long tables in PDFs, laid out page by page, so that ten thousand rows take little more memory than their text.

    columns = [Column("Item", 40), Column("On hand", 15, figures=True)]
    sheet.long_table("Item by item", LongTable(columns, rows, tick=report_progress))

A row is a sequence of texts; a row of one text is a heading between rows. Texts wrap, figures do not. The headings of
the columns repeat on every page.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable

from app.core.pdf_text import BOLD, LINE, MUTED, NIGHT, REGULAR, TextWriter, break_lines, printable

SIZE, LEADING, PADDING, GAP = 8.0, 10.4, 3.2, 6.0
HEAD = 18.0
FIRST_ROWS = 4
"""One more than `split` needs, because a heading between rows does not end a page."""
Row = Sequence[str]
Tick = Callable[[int], None]


@dataclass(frozen=True)
class Column:
    """A column with its share of the width; figures are aligned at the right."""

    heading: str
    share: float
    figures: bool = False


@dataclass(frozen=True)
class Line:
    """A row whose texts are broken into lines."""

    cells: list[list[str]]
    height: float
    heading: bool


class LongTable(Flowable):  # type: ignore[misc]
    """A table that reads rows as pages need them; it calls `tick` after each page with the number of rows drawn."""

    def __init__(self, columns: Sequence[Column], rows: Iterable[Row], *, tick: Tick = lambda rows: None) -> None:
        super().__init__()
        self.columns, self.tick, self.drawn = columns, tick, 0
        self.rows: Iterator[Row] = iter(rows)
        self.waiting: deque[Line] = deque()
        self.ended = False

    def measure_start(self, width: float) -> float:
        """Return the height of the headings and the first rows, which stay together."""
        while len(self.waiting) < FIRST_ROWS and self._read_row(width):
            pass
        return HEAD + sum(line.height for line in list(self.waiting)[:FIRST_ROWS])

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        count, used = self._fit_rows(width, height)
        is_complete = self.ended and count == len(self.waiting)
        return width, used if is_complete else height + 1

    def split(self, width: float, height: float) -> list[Flowable]:
        count, _ = self._fit_rows(width, height)
        if count == 0 or (count < 3 and count < len(self.waiting)):
            return []
        page = [self.waiting.popleft() for _ in range(count)]
        self.drawn += count
        self.tick(self.drawn)
        return [PageOfRows(self.columns, page), self._remaining_table()]

    def _remaining_table(self) -> "LongTable":
        """Return the remaining rows as a new table: reportlab marks a table that it moved to the next page."""
        table = copy(self)
        table.__dict__.pop("_postponed", None)
        return table

    def draw(self) -> None:
        _draw_rows(self.canv, self.columns, list(self.waiting), self.width, self.height)

    def _fit_rows(self, width: float, height: float) -> tuple[int, float]:
        """Return how many rows fit, and their height with the headings."""
        self.width = width
        count, used = 0, HEAD
        while True:
            if count == len(self.waiting) and not self._read_row(width):
                break
            if used + self.waiting[count].height > height:
                break
            used += self.waiting[count].height
            count += 1
        # A heading without its rows would seem to belong to the rows above it.
        while count and count < len(self.waiting) and self.waiting[count - 1].heading:
            count -= 1
            used -= self.waiting[count].height
        self.height = used
        return count, used

    def _read_row(self, width: float) -> bool:
        """Read the next row; return whether there was one."""
        row = next(self.rows, None)
        if row is None:
            self.ended = True
            return False
        self.waiting.append(_break_row(self.columns, row, width))
        return True


class PageOfRows(Flowable):  # type: ignore[misc]
    """The rows of one page."""

    def __init__(self, columns: Sequence[Column], lines: list[Line]) -> None:
        super().__init__()
        self.columns, self.lines = columns, lines

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width, self.height = width, HEAD + sum(line.height for line in self.lines)
        return self.width, self.height

    def draw(self) -> None:
        _draw_rows(self.canv, self.columns, self.lines, self.width, self.height)
        self.lines = []


def _widths(columns: Sequence[Column], width: float) -> list[float]:
    total = sum(column.share for column in columns)
    return [width * column.share / total for column in columns]


def _break_row(columns: Sequence[Column], row: Row, width: float) -> Line:
    if len(row) == 1:
        cells = [break_lines(printable(row[0]), BOLD, SIZE + 1, width)]
        return Line(cells, len(cells[0]) * LEADING + 4 * PADDING, heading=True)
    cells = [
        [printable(text)] if column.figures else break_lines(printable(text), REGULAR, SIZE, column_width - GAP)
        for column, text, column_width in zip(columns, row, _widths(columns, width), strict=True)
    ]
    return Line(cells, max(map(len, cells)) * LEADING + 2 * PADDING, heading=False)


def _draw_rows(canvas: Canvas, columns: Sequence[Column], rows: list[Line], width: float, height: float) -> None:
    """Draw the headings and the rows, and the lines below them."""
    widths = _widths(columns, width)
    head = [[column.heading] for column in columns]
    rules = [(height - HEAD, NIGHT, 0.8)]
    with TextWriter(canvas) as writer:
        _draw_cells(writer, columns, widths, head, height - HEAD + 6, size=7.5, colour=MUTED)
        top = height - HEAD
        for row in rows:
            if row.heading:
                for number, text in enumerate(row.cells[0]):
                    writer.put(text, 0, top - 3 * PADDING - SIZE - number * LEADING, font=BOLD, size=SIZE + 1)
            else:
                _draw_cells(writer, columns, widths, row.cells, top - PADDING - SIZE, size=SIZE)
            top -= row.height
            rules.append((top, NIGHT, 0.5) if row.heading else (top, LINE, 0.4))
    for y, colour, thickness in rules:
        canvas.setStrokeColor(colour)
        canvas.setLineWidth(thickness)
        canvas.line(0, y, width, y)


def _draw_cells(
    writer: TextWriter,
    columns: Sequence[Column],
    widths: list[float],
    cells: list[list[str]],
    base: float,
    **style: Any,
) -> None:
    left = 0.0
    for column, texts, column_width in zip(columns, cells, widths, strict=True):
        x = left + column_width - (0 if column is columns[-1] else GAP) if column.figures else left
        for number, text in enumerate(texts):
            writer.put(text, x, base - number * LEADING, right=column.figures, **style)
        left += column_width
