"""The built-in texts of campaigns."""

import pytest

from app.campaigns.message_templates import TEMPLATES, Template, is_unfilled


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda template: str(template.id))
def test_every_sentence_begins_with_a_capital(template: Template) -> None:
    for paragraph in template.body.split("\n\n"):
        assert not paragraph[0].islower(), paragraph


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello,\n\n…\n\nLights", True),
        ("…", True),
        ("Hello,\r\n … \r\nLights", True),
        ("Wait … the gates are open", False),
        ("And so on…", False),
        ("… and this is news", False),
        ("Hello\n...\nLights", False),
        ("", False),
    ],
)
def test_only_a_line_with_nothing_but_the_mark_is_unfilled(text: str, expected: bool) -> None:
    assert is_unfilled(text) is expected


def test_only_the_blank_template_has_to_be_filled() -> None:
    assert [template.id for template in TEMPLATES.values() if is_unfilled(template.body)] == ["blank"]
