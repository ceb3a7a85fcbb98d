"""Long tables on paper: laid out page by page, so that ten thousand rows take little more memory than their text.

    sheet.add(LongTable([Column("Item", 40), Column("On hand", 15, figures=True)], rows, tick=told))

A row is a sequence of texts, drawn as they stand; a row of one text is a heading between rows. Texts wrap, figures do
not. The headings of the columns stand on every page.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Flowable

from app.core.pdf import BOLD, LINE, MUTED, NIGHT, REGULAR, printable
from app.core.shaping import joined, ordered

SIZE, LEADING, PADDING, GAP = 8.0, 10.4, 3.2, 6.0
HEAD = 18.0
Row = Sequence[str]
Tick = Callable[[int], None]


@dataclass(frozen=True)
class Column:
    """A column with its share of the width; figures stand at its right."""

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
    """Takes rows as pages need them; `tick` is told after each page how many rows are drawn."""

    def __init__(self, columns: Sequence[Column], rows: Iterable[Row], *, tick: Tick = lambda rows: None) -> None:
        super().__init__()
        self.columns, self.tick, self.drawn = columns, tick, 0
        self.rows: Iterator[Row] = iter(rows)
        self.waiting: deque[Line] = deque()
        self.ended = False

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        count, used = self._fitting(width, height)
        whole = self.ended and count == len(self.waiting)
        return width, used if whole else height + 1

    def split(self, width: float, height: float) -> list[Flowable]:
        count, _ = self._fitting(width, height)
        if count == 0 or (count < 3 and count < len(self.waiting)):
            return []
        page = [self.waiting.popleft() for _ in range(count)]
        self.drawn += count
        self.tick(self.drawn)
        return [PageOfRows(self.columns, page), self._rest()]

    def _rest(self) -> "LongTable":
        """What is left, as a table of its own: reportlab remembers of each whether it was put off to the next page."""
        rest = copy(self)
        rest.__dict__.pop("_postponed", None)
        return rest

    def draw(self) -> None:
        _drawn(self.canv, self.columns, list(self.waiting), self.width, self.height)

    def _fitting(self, width: float, height: float) -> tuple[int, float]:
        """How many rows fit in, and how high they are with their headings."""
        self.width = width
        count, used = 0, HEAD
        while True:
            if count == len(self.waiting) and not self._more(width):
                break
            if used + self.waiting[count].height > height:
                break
            used += self.waiting[count].height
            count += 1
        # A heading without its rows would be read as theirs who stand above it.
        while count and count < len(self.waiting) and self.waiting[count - 1].heading:
            count -= 1
            used -= self.waiting[count].height
        self.height = used
        return count, used

    def _more(self, width: float) -> bool:
        row = next(self.rows, None)
        if row is None:
            self.ended = True
            return False
        self.waiting.append(_line(self.columns, row, width))
        return True


class PageOfRows(Flowable):  # type: ignore[misc]
    """The rows of one page."""

    def __init__(self, columns: Sequence[Column], lines: list[Line]) -> None:
        super().__init__()
        self.columns, self.lines = columns, lines

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width, self.height = width, HEAD + sum(each.height for each in self.lines)
        return self.width, self.height

    def draw(self) -> None:
        _drawn(self.canv, self.columns, self.lines, self.width, self.height)
        self.lines = []


def broken(text: str, font: str, size: float, width: float) -> list[str]:
    """The text in lines that are no wider; a word that is wider by itself is broken where it has to be."""
    lines = []
    for part in joined(printable(text)).split("\n"):
        line = ""
        for word in part.split(" "):
            together = f"{line} {word}" if line else word
            if stringWidth(together, font, size) <= width:
                line = together
                continue
            if line:
                lines.append(line)
            *whole, line = _pieces(word, font, size, width)
            lines += whole
        lines.append(line)
    return [ordered(each) for each in lines]


def _pieces(word: str, font: str, size: float, width: float) -> list[str]:
    pieces, piece = [], ""
    for each in word:
        if piece and stringWidth(piece + each, font, size) > width:
            pieces.append(piece)
            piece = ""
        piece += each
    return [*pieces, piece]


def _widths(columns: Sequence[Column], width: float) -> list[float]:
    every = sum(each.share for each in columns)
    return [width * each.share / every for each in columns]


def _line(columns: Sequence[Column], row: Row, width: float) -> Line:
    if len(row) == 1:
        cells = [broken(row[0], BOLD, SIZE + 1, width)]
        return Line(cells, len(cells[0]) * LEADING + 4 * PADDING, heading=True)
    cells = [
        [printable(text)] if column.figures else broken(text, REGULAR, SIZE, room - GAP)
        for column, text, room in zip(columns, row, _widths(columns, width), strict=True)
    ]
    return Line(cells, max(map(len, cells)) * LEADING + 2 * PADDING, heading=False)


def _drawn(canvas: Any, columns: Sequence[Column], lines: list[Line], width: float, height: float) -> None:
    pen = Pen(canvas, columns, width)
    pen.head(height)
    top = height - HEAD
    for line in lines:
        pen.line(line, top)
        top -= line.height


class Pen:
    """Writes the rows of one page on a canvas."""

    def __init__(self, canvas: Any, columns: Sequence[Column], width: float) -> None:
        self.canvas, self.columns, self.width = canvas, columns, width
        self.widths = _widths(columns, width)

    def head(self, top: float) -> None:
        self._colour(MUTED, REGULAR, 7.5)
        self._cells([[each.heading] for each in self.columns], top - HEAD + 6, 7.5)
        self._rule(top - HEAD, NIGHT, 0.8)

    def line(self, line: Line, top: float) -> None:
        if line.heading:
            self._colour(NIGHT, BOLD, SIZE + 1)
            for number, text in enumerate(line.cells[0]):
                self.canvas.drawString(0, top - 3 * PADDING - SIZE - number * LEADING, text)
            self._rule(top - line.height, NIGHT, 0.5)
            return
        self._colour(NIGHT, REGULAR, SIZE)
        self._cells(line.cells, top - PADDING - SIZE, SIZE)
        self._rule(top - line.height, LINE, 0.4)

    def _cells(self, cells: list[list[str]], base: float, size: float) -> None:
        canvas, left, last = self.canvas, 0.0, self.columns[-1]
        for column, texts, room in zip(self.columns, cells, self.widths, strict=True):
            for number, text in enumerate(texts):
                x = left
                if column.figures:
                    x += room - (0 if column is last else GAP) - stringWidth(text, REGULAR, size)
                canvas.drawString(x, base - number * LEADING, text)
            left += room

    def _colour(self, colour: Any, font: str, size: float) -> None:
        self.canvas.setFillColor(colour)
        self.canvas.setFont(font, size)

    def _rule(self, y: float, colour: Any, thickness: float) -> None:
        canvas = self.canvas
        canvas.setStrokeColor(colour)
        canvas.setLineWidth(thickness)
        canvas.line(0, y, self.width, y)
