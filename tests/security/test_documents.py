"""What the documents of security claim exists: each test they name, each file, a state in each row."""

import ast
import re

import pytest

from tests.house.sources import ROOT

PAGES = ["docs/asvs.md", "docs/security.md", "SECURITY.md", "CONTRIBUTING.md"]
STATES = {"met", "partly", "not met", "not applicable"}
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in (ROOT / "docs" / "asvs.md").read_text().splitlines()
    if line.startswith("| V")
]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_test_that_is_named_exists(page: str) -> None:
    for path, test in re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", (ROOT / page).read_text()):
        assert (ROOT / path).exists(), path
        if test:
            tree = ast.parse((ROOT / path).read_text())
            assert test in {item.name for item in tree.body if isinstance(item, ast.FunctionDef)}, f"{path}::{test}"


@pytest.mark.parametrize("page", ["SECURITY.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", (ROOT / page).read_text()):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_section_has_a_status_and_nothing_is_met_without_a_test(row: list[str]) -> None:
    _, state, how, held = row
    assert state in STATES and how
    assert state != "met" or "::" in held


def test_every_chapter_is_there() -> None:
    assert {int(chapter) for row in ROWS for chapter in re.findall(r"V(\d+)", row[0])} == set(range(1, 18))
