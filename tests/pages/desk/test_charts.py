"""The charts of the desk: what is written in them is not cut off."""

from itertools import pairwise

import pytest

from app.blueprints.pages.desk.charts import (
    BARS,
    CHARACTER_WIDTH,
    LINE,
    PHONE_CHARACTER_WIDTH,
    ROW_HEIGHT,
    WIDTH,
    Point,
    build_chart,
)


@pytest.mark.parametrize("kind", [BARS, LINE])
@pytest.mark.parametrize("count", [1, 2, 5, 8, 22, 48, 66])
@pytest.mark.parametrize("limit", [None, 123_456])
@pytest.mark.parametrize("label", ["22 Sep", "Weekend pass", "A name that is longer than a label"])
@pytest.mark.parametrize("size", [CHARACTER_WIDTH, PHONE_CHARACTER_WIDTH])
def test_labels_and_values_end_within_the_chart(
    kind: str, count: int, limit: int | None, label: str, size: int
) -> None:
    chart = build_chart("Sold", [Point(label, 12_345, limit) for _ in range(count)], kind=kind)
    is_phone = size == PHONE_CHARACTER_WIDTH
    labels = [mark for mark in chart.marks if mark.shows_label and not (mark.label_class == "wide" and is_phone)]
    rows: dict[int, list[tuple[float, str]]] = {}
    for mark in labels:
        y = mark.label_y + (ROW_HEIGHT if is_phone and mark.label_class == "low" else 0)
        rows.setdefault(y, []).append((mark.label_x, mark.short_label))
    values = [
        (mark.text_x, mark.value)
        for mark in chart.marks
        if mark.value is not None and not (mark.value_class == "wide" and is_phone)
    ]
    assert labels and values and max(rows) < chart.height
    for texts, gap in (*((row, 1) for row in rows.values()), (values, 0)):
        for middle, text in texts:
            half = len(text) * size / 2
            assert middle - half >= 0 and middle + half <= chart.width, (text, middle)
        for (one, text), (other, other_text) in pairwise(texts):
            assert other - one >= ((len(text) + len(other_text)) / 2 + gap) * size - 0.2, "texts do not touch"


@pytest.mark.parametrize(
    ("labels", "rows"),
    [
        ([f"{day} November" for day in range(10, 14)], 1),
        ([f"{day} Nov" for day in range(10, 18)], 1),
        (["Weekend pass", "By transfer", "Day ticket", "VIP"], 1),
        ([f"Weekend pass {number}" for number in range(8)], 2),
    ],
)
def test_labels_are_whole_where_there_is_room(labels: list[str], rows: int) -> None:
    marks = build_chart("Sold", [Point(label, 1) for label in labels]).marks
    assert [mark.short_label for mark in marks if mark.shows_label] == labels
    assert len({mark.label_y for mark in marks}) == rows


def test_a_phone_has_two_rows_and_fewer_names_but_cuts_none() -> None:
    marks = build_chart("Sold", [Point(f"{day} Nov", 1) for day in range(10, 18)]).marks
    assert [mark.label_class for mark in marks] == ["", "low"] * 4
    marks = build_chart("Sold", [Point(f"Weekend pass {number}", 1) for number in range(8)]).marks
    on_phone = [mark for mark in marks if mark.label_class != "wide"]
    assert 2 <= len(on_phone) < 8 and all(mark.short_label == mark.label for mark in on_phone)


@pytest.mark.parametrize("count", [3, 9, 31, 48])
@pytest.mark.parametrize("limit", [None, 150])
def test_a_bar_of_zero_has_its_number(count: int, limit: int | None) -> None:
    points = [Point(f"{day} Nov", 123 if day == 1 else 0, limit) for day in range(count)]
    marks = build_chart("Sold", points).marks
    hidden = [index for index, mark in enumerate(marks) if mark.value is None]
    assert marks[1].value in ("123", "123 of 150")
    assert all(mark.value in (None, "0", "0 of 150") for mark in (marks[0], *marks[2:]))
    assert all(mark.text == ("0 of 150" if limit else "0") for mark in marks[2:]), "the table has all of it"
    assert limit or not hidden, "the number of the highest is far above"
    if limit and hidden:
        texts = sorted((mark.text_x, len(mark.value)) for mark in marks if mark.value)
        for (one, length), (other, other_length) in pairwise(texts):
            assert other - one >= (length + other_length) / 2 * PHONE_CHARACTER_WIDTH - 0.2
        assert max(hidden) * WIDTH / count < (len("123 of 150") + 1) * PHONE_CHARACTER_WIDTH, "those beside the highest"
    line = build_chart("Sold", points, kind=LINE).marks
    assert sum(mark.value is not None for mark in line) <= max(2, 8 * (count <= 8))


def test_a_chart_of_zeros_has_them_all() -> None:
    marks = build_chart("Sold", [Point(f"{day} Nov", 0) for day in range(20)]).marks
    assert [mark.value for mark in marks] == ["0"] * 20 and {mark.bar_height for mark in marks} == {0}


def test_a_label_with_room_is_at_its_mark() -> None:
    (mark,) = build_chart("Sold", [Point("22 Sep", 1)]).marks
    assert mark.x == mark.label_x == mark.text_x


@pytest.mark.parametrize("count", [2, 4, 6, 8])
@pytest.mark.parametrize("limit", [None, 1500])
def test_each_of_a_few_bars_has_its_number_on_a_wide_screen(count: int, limit: int | None) -> None:
    points = [Point(f"Type {number}", 1000 + number * 50, limit) for number in range(count)]
    marks = build_chart("Sold", points).marks
    numbers = {number for mark in marks for number in (mark.text, mark.text.split(" of ")[0])}
    assert all(mark.value in numbers for mark in marks)
    amounts = build_chart("Takings", points, format_value=lambda value: f"N$ {value}.00").marks
    assert count == 8 or limit or all(mark.value == mark.text for mark in amounts)
