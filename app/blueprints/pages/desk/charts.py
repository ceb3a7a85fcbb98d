"""Charts of the desk: bars or a line as SVG, drawn on the server. The macro `chart` of `desk/parts.html` shows them.

chart = build_chart("Tickets sold each day", [Point("1 May", 12), Point("2 May", 30)], kind="line")
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.core.formatting import format_number
from app.core.languages import gettext

WIDTH, HEIGHT, TOP, BOTTOM = 560, 280, 24, 28
BAR_SHARE, MAX_BAR_WIDTH, MAX_LABELS, CHARACTER_WIDTH = 0.7, 120, 8, 11
"""A character is that wide on a phone, where the letters are larger."""
BARS, LINE = "bars", "line"


class Point(NamedTuple):
    """A label on the axis, and a value of 0 or more. A `limit`, of which the value is a part, is drawn around its bar."""

    label: str
    value: int
    limit: int | None = None


class Mark(NamedTuple):
    """A point as drawn. `shows_label` and `shows_value` say what has room beside it; `short_label` has room in any case.

    `label_x` and `text_x` are the middles of the texts, which end within the chart.
    """

    label: str
    short_label: str
    text: str
    x: float
    label_x: float
    text_x: float
    y: float
    bar_x: float
    bar_width: float
    bar_height: float
    shows_label: bool
    shows_value: bool
    limit_y: float | None = None


class Chart(NamedTuple):
    """A chart of the kind `bars` or `line`: its marks, and the points of the line as SVG writes them."""

    title: str
    kind: str
    marks: Sequence[Mark]
    line: str
    width: int = WIDTH
    height: int = HEIGHT
    base: int = HEIGHT - BOTTOM


def build_chart(
    title: str, points: Sequence[Point], *, kind: str = BARS, format_value: Callable[[int], str] = format_number
) -> Chart:
    """Return the chart of these points.

    All values are written at their marks if there is room, or else the highest, and the last if it is not beside that.
    """
    highest = max((max(point.value, point.limit or 0) for point in points), default=0)
    step, room = WIDTH / max(len(points), 1), HEIGHT - TOP - BOTTOM
    label_step = -(-len(points) // MAX_LABELS) or 1
    texts = [_describe_value(point, format_value) for point in points]
    values = _choose_values(points, texts, step)
    max_length, bar_width = int(step * label_step / CHARACTER_WIDTH) - 1, min(step * BAR_SHARE, MAX_BAR_WIDTH)
    marks: list[Mark] = []
    label_end = 0.0
    for index, point in enumerate(points):
        height = room * point.value / highest if highest else 0
        x = step * (index + 0.5)
        short_label = point.label if len(point.label) <= max_length else f"{point.label[: max_length - 1]}…"
        label_x, half = _keep_inside(x, short_label), len(short_label) * CHARACTER_WIDTH / 2
        shows_label = index % label_step == 0 and label_x - half >= label_end
        if shows_label:
            label_end = label_x + half + CHARACTER_WIDTH
        marks.append(
            Mark(
                label=point.label,
                short_label=short_label,
                text=texts[index],
                x=round(x, 1),
                label_x=label_x,
                text_x=_keep_inside(x, texts[index]),
                y=round(HEIGHT - BOTTOM - height, 1),
                bar_x=round(x - bar_width / 2, 1),
                bar_width=round(bar_width, 1),
                bar_height=round(height, 1),
                shows_label=shows_label,
                shows_value=index in values,
                limit_y=None
                if point.limit is None
                else round(HEIGHT - BOTTOM - (room * point.limit / highest if highest else 0), 1),
            )
        )
    return Chart(title, kind, marks, " ".join(f"{mark.x},{mark.y}" for mark in marks))


def _describe_value(point: Point, format_value: Callable[[int], str]) -> str:
    if point.limit is None:
        return format_value(point.value)
    return gettext("%(number)s of %(limit)s", number=format_value(point.value), limit=format_value(point.limit))


def _choose_values(points: Sequence[Point], texts: Sequence[str], step: float) -> set[int]:
    """The positions of the values that are written, so that no two touch."""
    if len(points) <= MAX_LABELS and max(map(len, texts), default=0) * CHARACTER_WIDTH <= step:
        return set(range(len(points)))
    highest, last = max(range(len(points)), key=lambda index: points[index].value, default=0), len(points) - 1
    room = (len(texts[highest]) + len(texts[last])) * CHARACTER_WIDTH
    return {highest, last} if (last - highest) * step >= room else {highest}


def _keep_inside(x: float, text: str) -> float:
    """The middle of a text at `x`, moved so far that the text ends within the chart."""
    half = min(len(text) * CHARACTER_WIDTH, WIDTH) / 2
    return round(min(max(x, half), WIDTH - half), 1)
