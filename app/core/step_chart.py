"""A step chart for PDFs, such as a balance over a month; readable in black and white."""

import math
from collections.abc import Callable, Sequence

from reportlab.lib.colors import HexColor
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable

from app.core.pdf import WIDTH
from app.core.pdf_text import DUNE, LINE, MUTED, NIGHT, REGULAR

FILL = HexColor("#F6E9DD")
SIZE, STEPS, MIN_TOP = 7.5, 4, 400


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
        self.left = max(stringWidth(label, REGULAR, SIZE) for label in labels) + 3 * mm
        canvas.setFont(REGULAR, SIZE)
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
