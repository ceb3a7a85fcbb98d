"""Charts of the desk: bars or a line as SVG, drawn on the server. The macro `chart` of `desk/parts.html` shows them.

chart = build_chart("Tickets sold each day", [Point("1 May", 12), Point("2 May", 30)], kind="line")
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from app.core.formatting import format_number
from app.core.languages import gettext

WIDTH, HEIGHT, TOP, BOTTOM, ROW_HEIGHT = 560, 302, 24, 50, 22
BAR_SHARE, MAX_BAR_WIDTH, MAX_LABELS, MAX_LABEL_LENGTH = 0.7, 120, 8, 20
CHARACTER_WIDTH, PHONE_CHARACTER_WIDTH = 7, 11
"""On a phone the letters are larger."""
BARS, LINE = "bars", "line"


class Point(NamedTuple):
    """A label on the axis, and a value of 0 or more. A `limit`, of which the value is a part, is drawn around its bar."""

    label: str
    value: int
    limit: int | None = None


class Mark(NamedTuple):
    """A point as drawn. `value` is what is written at it, None where nothing is. `shows_label` says that a label has room;
    `label_class` that it has none on a phone (`wide`), or has it there only in the second row (`low`). `value_class` is
    `wide` for a value that has no room on a phone.

    `label_x` and `text_x` are the middles of the texts, which end within the chart. Labels are in two rows if one is full.
    """

    label: str
    short_label: str
    text: str
    x: float
    label_x: float
    label_y: int
    text_x: float
    y: float
    bar_x: float
    bar_width: float
    bar_height: float
    shows_label: bool
    label_class: str
    value: str | None
    value_class: str
    limit_y: float | None = None


class _Place(NamedTuple):
    x: float
    row: int
    style: str


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

    Values are written at their marks where there is room: the highest, the last if it is not beside that, the zeros of
    bars, for nothing else is seen of them, and the others of a few marks. If there is no room for limits, the values are
    written without.
    """
    highest = max((max(point.value, point.limit or 0) for point in points), default=0)
    step, room = WIDTH / max(len(points), 1), HEIGHT - TOP - BOTTOM
    texts = [_describe_value(point, format_value) for point in points]
    bar_width = min(step * BAR_SHARE, MAX_BAR_WIDTH)
    values = _choose_values(points, texts, [format_value(point.value) for point in points], step, kind)
    labels = [_shorten(point.label) for point in points]
    places = _place_labels(labels, step)
    marks: list[Mark] = []
    for index, point in enumerate(points):
        height = room * point.value / highest if highest else 0
        x = step * (index + 0.5)
        place = places.get(index, _Place(x, 0, ""))
        value, value_class = values.get(index, (None, ""))
        marks.append(
            Mark(
                label=point.label,
                short_label=labels[index],
                text=texts[index],
                x=round(x, 1),
                label_x=place.x,
                label_y=HEIGHT - BOTTOM + (place.row + 1) * ROW_HEIGHT - 2,
                text_x=_keep_inside(x, value or ""),
                y=round(HEIGHT - BOTTOM - height, 1),
                bar_x=round(x - bar_width / 2, 1),
                bar_width=round(bar_width, 1),
                bar_height=round(height, 1),
                shows_label=index in places,
                label_class=place.style,
                value=value,
                value_class=value_class,
                limit_y=None
                if point.limit is None
                else round(HEIGHT - BOTTOM - (room * point.limit / highest if highest else 0), 1),
            )
        )
    return Chart(title, kind, marks, " ".join(f"{mark.x},{mark.y}" for mark in marks))


def _shorten(label: str) -> str:
    return label if len(label) <= MAX_LABEL_LENGTH else f"{label[: MAX_LABEL_LENGTH - 1]}…"


def _place_labels(labels: Sequence[str], step: float) -> dict[int, _Place]:
    """Where the labels that have room are written: in the first row, or else in the second, also on a phone or not."""
    places = {}
    ends = {(row, size): 0.0 for row in (0, 1) for size in (CHARACTER_WIDTH, PHONE_CHARACTER_WIDTH)}
    every = -(-len(labels) // MAX_LABELS) or 1
    for index in range(0, len(labels), every):
        middle, length = step * (index + 0.5), len(labels[index])
        for row, phone_row in ((0, 0), (0, 1), (0, None), (1, 1), (1, None)):
            rows = {CHARACTER_WIDTH: row} | ({} if phone_row is None else {PHONE_CHARACTER_WIDTH: phone_row})
            x = _keep_inside(middle, labels[index], max(rows))
            is_near = phone_row is None or abs(x - middle) <= step * every / 2
            if is_near and all(x - length * size / 2 >= ends[row, size] for size, row in rows.items()):
                ends |= {(row, size): x + (length / 2 + 1) * size for size, row in rows.items()}
                places[index] = _Place(x, row, "wide" if phone_row is None else "low" if phone_row > row else "")
                break
    return places


def _describe_value(point: Point, format_value: Callable[[int], str]) -> str:
    if point.limit is None:
        return format_value(point.value)
    return gettext("%(number)s of %(limit)s", number=format_value(point.value), limit=format_value(point.limit))


def _choose_values(
    points: Sequence[Point], texts: Sequence[str], numbers: Sequence[str], step: float, kind: str
) -> dict[int, tuple[str, str]]:
    """The values that are written, with their classes, by their positions, so that no two touch."""
    highest, last = max(range(len(points)), key=lambda index: points[index].value, default=0), len(points) - 1
    is_zero = [kind == BARS and not point.value for point in points]
    is_few = len(points) <= MAX_LABELS
    if is_few and max(map(len, texts), default=0) * PHONE_CHARACTER_WIDTH <= step:
        return {index: (text, "") for index, text in enumerate(texts)}
    if is_few and max(map(len, texts)) * CHARACTER_WIDTH > step:
        texts = numbers
    room = (len(texts[highest]) + len(texts[last])) * PHONE_CHARACTER_WIDTH
    has_room = (last - highest) * step >= room and not is_zero[last]
    written = {index: (texts[index], "") for index in ({highest, last} if has_room else {highest})}
    others = [index for index, zero in enumerate(is_zero) if zero or (is_few and kind == BARS)]
    others.sort(key=lambda index: (not is_zero[index], -points[index].value))
    for size, value_class in ((PHONE_CHARACTER_WIDTH, ""), (CHARACTER_WIDTH, "wide"))[: 2 if is_few else 1]:
        for index in others:
            candidates = (texts[index], format_number(0)) if is_zero[index] else (texts[index],)
            text = next((text for text in candidates if _has_room(index, text, size, written, points, step)), None)
            if text is not None and index not in written:
                written[index] = text, value_class
    return written


def _has_room(
    index: int, text: str, size: int, written: Mapping[int, tuple[str, str]], points: Sequence[Point], step: float
) -> bool:
    """Whether a text at this position is in its column and touches none that is written."""
    tops = [max(point.value, point.limit or 0) for point in points]
    row = ROW_HEIGHT * max(tops) / (HEIGHT - TOP - BOTTOM)
    middle = _keep_inside(step * (index + 0.5), text)
    return len(text) * size <= step and not any(
        abs(tops[at] - tops[index]) <= row
        and abs(_keep_inside(step * (at + 0.5), other) - middle) < (len(text) + len(other)) / 2 * size
        for at, (other, _) in written.items()
    )


def _keep_inside(x: float, text: str, size: int = PHONE_CHARACTER_WIDTH) -> float:
    """The middle of a text at `x`, moved so far that the text ends within the chart."""
    half = min(len(text) * size, WIDTH) / 2
    return round(min(max(x, half), WIDTH - half), 1)
