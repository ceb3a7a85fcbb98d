"""The charts of the desk: what is written in them is not cut off."""

from itertools import pairwise

import pytest

from app.blueprints.pages.desk.charts import BARS, CHARACTER_WIDTH, LINE, Point, build_chart


@pytest.mark.parametrize("kind", [BARS, LINE])
@pytest.mark.parametrize("count", [1, 2, 8, 22, 48, 66])
@pytest.mark.parametrize("limit", [None, 123_456])
def test_labels_and_values_end_within_the_chart(kind: str, count: int, limit: int | None) -> None:
    chart = build_chart("Sold", [Point("22 Sep", 12_345, limit) for _ in range(count)], kind=kind)
    for mark in chart.marks:
        for middle, text, is_shown in (
            (mark.label_x, mark.short_label, mark.shows_label),
            (mark.text_x, mark.text, mark.shows_value),
        ):
            half = len(text) * CHARACTER_WIDTH / 2
            assert not is_shown or (middle - half >= 0 and middle + half <= chart.width), (text, middle)
    labels = [(mark.label_x, mark.short_label) for mark in chart.marks if mark.shows_label]
    values = [(mark.text_x, mark.text) for mark in chart.marks if mark.shows_value]
    assert labels and values
    for texts, gap in ((labels, 1), (values, 0)):
        for (one, text), (other, other_text) in pairwise(texts):
            assert other - one >= ((len(text) + len(other_text)) / 2 + gap) * CHARACTER_WIDTH, "texts do not touch"


def test_a_label_with_room_is_at_its_mark() -> None:
    (mark,) = build_chart("Sold", [Point("22 Sep", 1)]).marks
    assert mark.x == mark.label_x == mark.text_x
