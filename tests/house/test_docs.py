"""The documentation that is made from the code is fresh, and its links lead somewhere."""

import re

import pytest
from flask import Flask

from app.core.errors import AppError
from app.web import docs_generator
from tests.house.sources import ROOT, files, name


@pytest.mark.parametrize("page", docs_generator.PAGE_RENDERERS)
def test_a_page_made_from_the_code_is_fresh(application: Flask, page: str) -> None:
    assert (ROOT / "docs" / page).read_text() == docs_generator.PAGE_RENDERERS[page](), "run: make docs"


def test_every_error_has_its_row(application: Flask) -> None:
    text = (ROOT / "docs" / "errors.md").read_text()
    for code, error in AppError.catalogue.items():
        if error.__module__.startswith("app."):
            assert text.count(f"| `{code}` | `{error.number}` | {error.status} | ") == 1


def test_every_setting_is_explained() -> None:
    for setting in re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", docs_generator.render_settings_page(), re.M):
        assert len(setting[1]) > 10, setting


def test_links_between_pages_work() -> None:
    for page in [ROOT / "README.md", *files("docs", suffix=".md")]:
        for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{name(page)}: {target}"


def test_a_decision_has_a_title_and_a_date() -> None:
    for page in files("docs/decisions", suffix=".md"):
        assert re.match(r"# \S.+\n\n(Accepted|Superseded) \d{4}-\d\d-\d\d\b", page.read_text()), name(page)
