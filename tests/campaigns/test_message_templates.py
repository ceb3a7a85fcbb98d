"""The built-in texts of campaigns."""

import pytest

from app.campaigns.message_templates import TEMPLATES, Template


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda template: str(template.id))
def test_every_sentence_begins_with_a_capital(template: Template) -> None:
    for paragraph in template.body.split("\n\n"):
        assert not paragraph[0].islower(), paragraph
