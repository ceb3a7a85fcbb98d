"""Charts: few, labelled directly, in our colours, and readable in black and white.

    sheet.chart("What it is worth", bars([("Beer", 2395176, "N$ 23 951.76"), …]))
    differences([("Lager", -1200, "−N$ 12.00"), …])             # to the left what is missing, to the right what is more
    columns([("7 Dec", 12, "12"), …])                           # upright, over time
    lines(["1 Dec", …], [("in", [3, …]), ("out", [1, …])])

Values are numbers of any size; only their share of the largest counts. Texts are drawn as they stand.
"""

from collections.abc import Sequence
from typing import Any

from reportlab.graphics.shapes import Drawing, Line, PolyLine, Rect, String
from reportlab.lib.colors import HexColor
from reportlab.lib.units import mm

from app.core import bidi, pdf_text
from app.core.pdf import WIDTH
from app.core.pdf_text import BOLD, DUNE, LINE, MUTED, NIGHT, REGULAR, SAND, printable, text_width

SKY, EMBER = HexColor("#2A6F97"), HexColor("#B3261E")
STYLES = ((SKY, 1.8, None), (DUNE, 1.4, [4, 2]))
ROW, BAR, LABEL, SIZE = 16.0, 9.5, 52 * mm, 8.5
TALL, BASE = 38 * mm, 16.0
MOST_LABELS = 9
Bar = tuple[str, Any, str]


def draw_bars(values: Sequence[Bar]) -> Drawing:
    """Lying bars under each other, the longest as long as there is room beside its figure."""
    drawing = Drawing(WIDTH, ROW * len(values))
    room = WIDTH - LABEL - _widest(values) - 4 * mm
    most = max([value for _, value, _ in values if value > 0], default=1)
    for number, (label, value, said) in enumerate(values):
        y = ROW * (len(values) - number - 1)
        length = max(0.6, room * float(value / most)) if value > 0 else 0.6
        drawing.add(Rect(LABEL, y + 3, room, BAR, fillColor=SAND, strokeColor=None))
        drawing.add(Rect(LABEL, y + 3, length, BAR, fillColor=SKY, strokeColor=None))
        drawing.add(_text(0, y + 5, _cut(label)))
        drawing.add(_text(WIDTH, y + 5, said, anchor="end", font=BOLD))
    return drawing


def draw_differences(values: Sequence[Bar]) -> Drawing:
    """Bars to both sides of one line; what is missing is told by its side and sign, and not by its colour alone."""
    drawing = Drawing(WIDTH, ROW * len(values))
    room = (WIDTH - LABEL - _widest(values) - 4 * mm) / 2
    middle = LABEL + room
    most = max([abs(value) for _, value, _ in values if value], default=1)
    for number, (label, value, said) in enumerate(values):
        y = ROW * (len(values) - number - 1)
        length = max(0.6, room * float(abs(value) / most))
        left, colour = (middle - length, DUNE) if value < 0 else (middle, SKY)
        drawing.add(Rect(left, y + 3, length, BAR, fillColor=colour, strokeColor=None))
        drawing.add(_text(0, y + 5, _cut(label)))
        drawing.add(_text(WIDTH, y + 5, said, anchor="end", font=BOLD))
    drawing.add(Line(middle, 0, middle, ROW * len(values), strokeColor=NIGHT, strokeWidth=0.6))
    return drawing


def draw_columns(values: Sequence[Bar], *, first_stands_out: bool = False) -> Drawing:
    """Upright bars over time, each with its figure above and, as far as there is room, its label below."""
    drawing = Drawing(WIDTH, TALL + BASE + 12)
    step = WIDTH / max(1, len(values))
    most = max([value for _, value, _ in values if value > 0], default=1)
    drawing.add(Line(0, BASE, WIDTH, BASE, strokeColor=NIGHT, strokeWidth=0.6))
    for number, (label, value, said) in enumerate(values):
        x = step * number
        high = max(0.8, TALL * float(value / most)) if value > 0 else 0
        colour = EMBER if first_stands_out and number == 0 else SKY
        drawing.add(Rect(x + step * 0.16, BASE, step * 0.68, high, fillColor=colour, strokeColor=None))
        if value > 0:
            drawing.add(_text(x + step / 2, BASE + high + 3, said, anchor="middle", font=BOLD, size=7.5))
        drawing.add(_text(x + step / 2, BASE - 10, label, anchor="middle", colour=MUTED, size=6.8))
    return drawing


def draw_lines(days: Sequence[str], series: Sequence[tuple[str, Sequence[Any]]], *, top: str = "") -> Drawing:
    """One line for each series, named at its end; `top` says what the upper edge stands for."""
    drawing = Drawing(WIDTH, TALL + BASE + 12)
    right = WIDTH - 4 - max(text_width(name, BOLD, SIZE) for name, _ in series)
    most = max([value for _, values in series for value in values if value > 0], default=1)
    across = [right * number / max(1, len(days) - 1) for number in range(len(days))]
    for share in (0, 0.5, 1):
        y = BASE + TALL * share
        drawing.add(Line(0, y, right, y, strokeColor=NIGHT if share == 0 else LINE, strokeWidth=0.5))
    drawing.add(_text(0, BASE + TALL + 4, top, colour=MUTED, size=7.5))
    ends: list[float] = []
    for (name, values), (colour, thickness, dashes) in zip(series, STYLES, strict=False):
        heights = [BASE + TALL * float(value / most) for value in values]
        points = [item for pair in zip(across, heights, strict=True) for item in pair]
        drawing.add(
            PolyLine(points, strokeColor=colour, strokeWidth=thickness, strokeDashArray=dashes, strokeLineJoin=1)
        )
        at = heights[-1] - 3 if not ends or abs(heights[-1] - 3 - ends[0]) > SIZE else ends[0] + SIZE + 2
        ends.append(at)
        drawing.add(_text(right + 4, at, name, font=BOLD, colour=colour))
    for number in _spread(len(days)):
        anchor = "start" if number == 0 else "middle" if number < len(days) - 1 else "end"
        drawing.add(_text(across[number], BASE - 10, days[number], anchor=anchor, colour=MUTED, size=7.2))
    return drawing


def _spread(count: int) -> list[int]:
    """Which of so many labels are written: the first, the last and some between."""
    if count <= MOST_LABELS:
        return list(range(count))
    return sorted({round((count - 1) * number / (MOST_LABELS - 2)) for number in range(MOST_LABELS - 1)})


def _widest(values: Sequence[Bar]) -> float:
    return max((text_width(said, BOLD, SIZE) for _, _, said in values), default=0)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    font: str = REGULAR,
    colour: Any = NIGHT,
    size: float = SIZE,
) -> String:
    return String(x, y, bidi.to_visual_order(text), textAnchor=anchor, fontName=font, fontSize=size, fillColor=colour)


def _cut(label: str) -> str:
    return pdf_text.break_lines(printable(label), REGULAR, SIZE, LABEL - 4 * mm, most=1)[0]
