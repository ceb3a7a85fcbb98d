"""The number of parts of a text message, which is what a provider bills."""

import pytest

from app.clients.sms import count_parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", 1),
        ("x" * 160, 1),
        ("x" * 161, 2),
        ("x" * 306, 2),
        ("x" * 307, 3),
        ("€" * 80, 1),
        ("€" * 81, 2),
        ("“" + "x" * 69, 1),
        ("“" + "x" * 70, 2),
        ("🎶" * 35, 1),
        ("🎶" * 36, 2),
        ("ñ" * 160, 1),
        ("ô" * 71, 2),
    ],
)
def test_a_part_has_160_characters_or_70_outside_of_gsm(text: str, parts: int) -> None:
    assert count_parts(text) == parts
