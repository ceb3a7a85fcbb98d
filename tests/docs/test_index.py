"""The index of the documentation has everything, and its pictures are there, are used, and are small."""

import re
from pathlib import Path

import pytest
from PIL import Image

from tests.house.sources import ROOT, files, name

DOCS = ROOT / "docs"
INDEX = (DOCS / "README.md").read_text()
PAGES = [path for path in files("docs", suffix=".md") if path.name != "README.md"]
PICTURES = sorted((DOCS / "images").glob("*.png"))
MOST_BYTES, WIDEST = 120_000, 1_200


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_page_is_in_the_index(page: Path) -> None:
    assert f"]({page.relative_to(DOCS)}" in INDEX


@pytest.mark.parametrize("page", [*PAGES, DOCS / "README.md", ROOT / "README.md"], ids=name)
def test_links_to_a_section_work(page: Path) -> None:
    for target, part in re.findall(r"\]\((?!https?://|mailto:)([^)#\s]*)#([^)\s]+)\)", page.read_text()):
        there = page.parent / target if target else page
        assert part in parts(there), f"{target}#{part}"


def parts(page: Path) -> set[str]:
    """The anchors that a page's headings have where it is read."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("picture", PICTURES, ids=name)
def test_a_picture_is_small_and_used(picture: Path) -> None:
    assert picture.stat().st_size <= MOST_BYTES
    with Image.open(picture) as opened:
        assert opened.width <= WIDEST
    assert any(f"images/{picture.name})" in page.read_text() for page in PAGES)
