"""Charts for PDFs, labelled directly and readable in black and white: steps, bars, columns and lines.

    sheet.chart("Value of stock", draw_bars([("Beer", 2395176, "N$ 23 951.76"), …]))
    draw_differences([("Lager", -1200, "−N$ 12.00"), …])             # negative values to the left, positive to the right
    draw_columns([("7 Dec", 12, "12"), …])                           # vertical, over time
    draw_lines(["1 Dec", …], [("in", [3, …]), ("out", [1, …])])

Values are numbers of any size; bars show their share of the largest one.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from reportlab.graphics.shapes import Drawing, Group, Line, PolyLine, Rect, String
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable

from app.core import bidi, pdf_text
from app.core.cjk_fonts import split_by_font
from app.core.pdf import WIDTH
from app.core.pdf_text import BOLD, DUNE, LINE, MUTED, NIGHT, REGULAR, SAND, SKY, printable, text_width

FILL = HexColor("#F6E9DD")
STEP_FONT_SIZE, STEPS, MIN_TOP = 7.5, 4, 400


class StepChart(Flowable):  # type: ignore[misc]
    """A line of steps; `points` are (position, value), with the position from 0 to 1 of the width.

    `ticks` are (position, label) below; `spoken` formats a value for the axis, whose steps are round numbers.
    """

    def __init__(
        self,
        points: Sequence[tuple[float, int]],
        *,
        ticks: Sequence[tuple[float, str]],
        spoken: Callable[[int], str],
        height: float = 52 * mm,
    ) -> None:
        super().__init__()
        self.points, self.ticks, self.spoken = points, ticks, spoken
        self.width, self.height = WIDTH, height
        self.top_value = round_up(max([value for _, value in points], default=0))

    def wrap(self, *_: float) -> tuple[float, float]:
        return self.width, self.height + 6 * mm

    def draw(self) -> None:
        """Draw the grid, the area, the line, and the last value next to its point."""
        canvas: Canvas = self.canv
        labels = [self.spoken(self.top_value * step // STEPS) for step in range(STEPS + 1)]
        self.left = max(stringWidth(label, REGULAR, STEP_FONT_SIZE) for label in labels) + 3 * mm
        canvas.setFont(REGULAR, STEP_FONT_SIZE)
        self._draw_grid(canvas, labels)
        corners = list(self._corners())
        if corners:
            self._draw_area(canvas, corners)
            self._draw_last_value(canvas, corners[-1])

    def _draw_grid(self, canvas: Canvas, labels: Sequence[str]) -> None:
        canvas.setLineWidth(0.5)
        canvas.setStrokeColor(LINE)
        canvas.setFillColor(MUTED)
        for step, label in enumerate(labels):
            y = self._y(self.top_value * step / STEPS)
            canvas.line(self.left, y, self.width, y)
            canvas.drawRightString(self.left - 2 * mm, y - 2.5, label)
        for position, label in self.ticks:
            canvas.line(self._x(position), self._y(0), self._x(position), self._y(0) - 1.2 * mm)
            canvas.drawCentredString(self._x(position), self._y(0) - 4.4 * mm, label)

    def _draw_area(self, canvas: Canvas, corners: Sequence[tuple[float, float]]) -> None:
        path = canvas.beginPath()
        path.moveTo(corners[0][0], self._y(0))
        for x, y in corners:
            path.lineTo(x, y)
        path.lineTo(corners[-1][0], self._y(0))
        path.close()
        canvas.setFillColor(FILL)
        canvas.drawPath(path, stroke=0, fill=1)
        canvas.setStrokeColor(DUNE)
        canvas.setLineWidth(1.4)
        for start, end in zip(corners, corners[1:], strict=False):
            canvas.line(*start, *end)

    def _draw_last_value(self, canvas: Canvas, point: tuple[float, float]) -> None:
        canvas.setFillColor(DUNE)
        canvas.circle(*point, 2, stroke=0, fill=1)
        canvas.setFillColor(NIGHT)
        canvas.drawRightString(point[0] - 2, point[1] + 4, self.spoken(self.points[-1][1]))

    def _corners(self) -> Sequence[tuple[float, float]]:
        """Return the corners of the line: across at the previous value, then up or down."""
        corners: list[tuple[float, float]] = []
        for position, value in self.points:
            if corners:
                corners.append((self._x(position), corners[-1][1]))
            corners.append((self._x(position), self._y(value)))
        return corners

    def _x(self, position: float) -> float:
        return float(self.left + (self.width - self.left) * min(max(position, 0.0), 1.0))

    def _y(self, value: float) -> float:
        return float(6 * mm + (self.height - 6 * mm) * value / self.top_value)


def round_up(value: int) -> int:
    """Return the next round number of cents: 1, 2, 4, 6, 8 or 10 times a power of ten."""
    if value <= MIN_TOP:
        return MIN_TOP
    power: int = 10 ** int(math.log10(value))
    return next(power * factor for factor in (1, 2, 4, 6, 8, 10) if power * factor >= value)


EMBER = HexColor("#B3261E")
STYLES = ((SKY, 1.8, None), (DUNE, 1.4, [4, 2]))
ROW, BAR, LABEL, SIZE = 16.0, 9.5, 52 * mm, 8.5
TALL, BASE = 38 * mm, 16.0
MAX_LABELS = 9
Bar = tuple[str, Any, str]
"""Label, value, and the value as text."""


def draw_bars(values: Sequence[Bar]) -> Drawing:
    """Return horizontal bars, one per row, with the value at the right."""
    drawing = Drawing(WIDTH, ROW * len(values))
    room = WIDTH - LABEL - _max_text_width(values) - 4 * mm
    largest = max([value for _, value, _ in values if value > 0], default=1)
    for number, (label, value, text) in enumerate(values):
        y = ROW * (len(values) - number - 1)
        length = max(0.6, room * float(value / largest)) if value > 0 else 0.6
        drawing.add(Rect(LABEL, y + 3, room, BAR, fillColor=SAND, strokeColor=None))
        drawing.add(Rect(LABEL, y + 3, length, BAR, fillColor=SKY, strokeColor=None))
        drawing.add(_text(0, y + 5, _shorten(label)))
        drawing.add(_text(WIDTH, y + 5, text, anchor="end", font=BOLD))
    return drawing


def draw_differences(values: Sequence[Bar]) -> Drawing:
    """Return bars to both sides of a line; side and sign show what is negative, not the colour alone."""
    drawing = Drawing(WIDTH, ROW * len(values))
    room = (WIDTH - LABEL - _max_text_width(values) - 4 * mm) / 2
    middle = LABEL + room
    largest = max([abs(value) for _, value, _ in values if value], default=1)
    for number, (label, value, text) in enumerate(values):
        y = ROW * (len(values) - number - 1)
        length = max(0.6, room * float(abs(value) / largest))
        left, colour = (middle - length, DUNE) if value < 0 else (middle, SKY)
        drawing.add(Rect(left, y + 3, length, BAR, fillColor=colour, strokeColor=None))
        drawing.add(_text(0, y + 5, _shorten(label)))
        drawing.add(_text(WIDTH, y + 5, text, anchor="end", font=BOLD))
    drawing.add(Line(middle, 0, middle, ROW * len(values), strokeColor=NIGHT, strokeWidth=0.6))
    return drawing


def draw_columns(values: Sequence[Bar], *, first_stands_out: bool = False) -> Drawing:
    """Return vertical bars over time, each with its value above and its label below."""
    drawing = Drawing(WIDTH, TALL + BASE + 12)
    step = WIDTH / max(1, len(values))
    largest = max([value for _, value, _ in values if value > 0], default=1)
    drawing.add(Line(0, BASE, WIDTH, BASE, strokeColor=NIGHT, strokeWidth=0.6))
    for number, (label, value, text) in enumerate(values):
        x = step * number
        bar_height = max(0.8, TALL * float(value / largest)) if value > 0 else 0
        colour = EMBER if first_stands_out and number == 0 else SKY
        drawing.add(Rect(x + step * 0.16, BASE, step * 0.68, bar_height, fillColor=colour, strokeColor=None))
        if value > 0:
            drawing.add(_text(x + step / 2, BASE + bar_height + 3, text, anchor="middle", font=BOLD, size=7.5))
        drawing.add(_text(x + step / 2, BASE - 10, label, anchor="middle", colour=MUTED, size=6.8))
    return drawing


def draw_lines(days: Sequence[str], series: Sequence[tuple[str, Sequence[Any]]], *, top: str = "") -> Drawing:
    """Return one line for each series, with its name at the end; `top` labels the upper edge."""
    drawing = Drawing(WIDTH, TALL + BASE + 12)
    right = WIDTH - 4 - max(text_width(name, BOLD, SIZE) for name, _ in series)
    largest = max([value for _, values in series for value in values if value > 0], default=1)
    xs = [right * number / max(1, len(days) - 1) for number in range(len(days))]
    for share in (0, 0.5, 1):
        y = BASE + TALL * share
        drawing.add(Line(0, y, right, y, strokeColor=NIGHT if share == 0 else LINE, strokeWidth=0.5))
    drawing.add(_text(0, BASE + TALL + 4, top, colour=MUTED, size=7.5))
    name_heights: list[float] = []
    for (name, values), (colour, thickness, dashes) in zip(series, STYLES, strict=False):
        heights = [BASE + TALL * float(value / largest) for value in values]
        points = [coordinate for point in zip(xs, heights, strict=True) for coordinate in point]
        drawing.add(
            PolyLine(points, strokeColor=colour, strokeWidth=thickness, strokeDashArray=dashes, strokeLineJoin=1)
        )
        y = heights[-1] - 3
        if name_heights and abs(y - name_heights[0]) <= SIZE:
            y = name_heights[0] + SIZE + 2
        name_heights.append(y)
        drawing.add(_text(right + 4, y, name, font=BOLD, colour=colour))
    for number in _choose_labels(len(days)):
        anchor = "start" if number == 0 else "middle" if number < len(days) - 1 else "end"
        drawing.add(_text(xs[number], BASE - 10, days[number], anchor=anchor, colour=MUTED, size=7.2))
    return drawing


def _choose_labels(count: int) -> list[int]:
    """Return the indexes of the labels to draw: the first, the last and some between."""
    if count <= MAX_LABELS:
        return list(range(count))
    return sorted({round((count - 1) * number / (MAX_LABELS - 2)) for number in range(MAX_LABELS - 1)})


def _max_text_width(values: Sequence[Bar]) -> float:
    return max((text_width(text, BOLD, SIZE) for _, _, text in values), default=0)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    font: str = REGULAR,
    colour: Color = NIGHT,
    size: float = SIZE,
) -> Group:
    """Return one line of text; its pieces have the font of their letters."""
    line, pieces = bidi.to_visual_order(text), Group()
    x -= {"start": 0, "middle": 0.5, "end": 1}[anchor] * text_width(line, font, size)
    for piece_font, piece in split_by_font(line, font):
        pieces.add(String(x, y, piece, fontName=piece_font, fontSize=size, fillColor=colour))
        x += text_width(piece, font, size)
    return pieces


def _shorten(label: str) -> str:
    return pdf_text.break_lines(printable(label), REGULAR, SIZE, LABEL - 4 * mm, most=1)[0]
