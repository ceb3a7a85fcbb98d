"""Charts for documents: drawn with the page's own colours and font, and readable in black and white."""

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
SIZE, STEPS, LEAST = 7.5, 4, 400


class StepChart(Flowable):  # type: ignore[misc]
    """What changes at once and then stays: `points` are (where, value), with `where` from 0 to 1 across the width.

    `ticks` are (where, label) below; `spoken` writes a value for the axis, whose steps are round figures.
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
        self.most = round_up(max([value for _, value in points], default=0))

    def wrap(self, *_: float) -> tuple[float, float]:
        return self.width, self.height + 6 * mm

    def draw(self) -> None:
        """The grid, the area, the line, and the last value beside its point."""
        canvas: Canvas = self.canv
        labels = [self.spoken(self.most * step // STEPS) for step in range(STEPS + 1)]
        self.left = max(stringWidth(label, REGULAR, SIZE) for label in labels) + 3 * mm
        canvas.setFont(REGULAR, SIZE)
        self._grid(canvas, labels)
        corners = list(self._corners())
        if corners:
            self._area(canvas, corners)
            self._last(canvas, corners[-1])

    def _grid(self, canvas: Canvas, labels: Sequence[str]) -> None:
        canvas.setLineWidth(0.5)
        canvas.setStrokeColor(LINE)
        canvas.setFillColor(MUTED)
        for step, label in enumerate(labels):
            y = self._y(self.most * step / STEPS)
            canvas.line(self.left, y, self.width, y)
            canvas.drawRightString(self.left - 2 * mm, y - 2.5, label)
        for where, label in self.ticks:
            canvas.line(self._x(where), self._y(0), self._x(where), self._y(0) - 1.2 * mm)
            canvas.drawCentredString(self._x(where), self._y(0) - 4.4 * mm, label)

    def _area(self, canvas: Canvas, corners: Sequence[tuple[float, float]]) -> None:
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
        for one, other in zip(corners, corners[1:], strict=False):
            canvas.line(*one, *other)

    def _last(self, canvas: Canvas, at: tuple[float, float]) -> None:
        canvas.setFillColor(DUNE)
        canvas.circle(*at, 2, stroke=0, fill=1)
        canvas.setFillColor(NIGHT)
        canvas.drawRightString(at[0] - 2, at[1] + 4, self.spoken(self.points[-1][1]))

    def _corners(self) -> Sequence[tuple[float, float]]:
        """The line's corners: across at the value before, then up or down."""
        items: list[tuple[float, float]] = []
        for where, value in self.points:
            if items:
                items.append((self._x(where), items[-1][1]))
            items.append((self._x(where), self._y(value)))
        return items

    def _x(self, where: float) -> float:
        return float(self.left + (self.width - self.left) * min(max(where, 0.0), 1.0))

    def _y(self, value: float) -> float:
        return float(6 * mm + (self.height - 6 * mm) * value / self.most)


def round_up(value: int) -> int:
    """The next figure that an axis can be divided at: 1, 2, 4, 6, 8 or 10 times a power of ten, of cents."""
    if value <= LEAST:
        return LEAST
    power: int = 10 ** int(math.log10(value))
    return next(power * factor for factor in (1, 2, 4, 6, 8, 10) if power * factor >= value)
