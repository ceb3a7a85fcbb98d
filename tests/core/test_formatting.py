"""Counts of things in English."""

from decimal import Decimal

import pytest

from app.core.formatting import format_count
from app.core.spreadsheet import Rejected, RowError
from app.inventory.formatting import format_quantity


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(1, "error", "1 error"), (0, "error", "0 errors"), (2, "entry", "2 entries"), (2, "box", "2 boxes")],
)
def test_count_has_the_form_of_its_number(count: int, noun: str, text: str) -> None:
    assert format_count(count, noun) == text


def test_one_error_is_one_error() -> None:
    assert str(Rejected([RowError(2, "sku", "required", "Missing.", "")])).endswith("\n1 error; nothing was written.")


@pytest.mark.parametrize(
    ("quantity", "unit", "text"),
    [
        ("39", "sleeve", "39 sleeves"),
        ("1", "sleeve", "1 sleeve"),
        ("2", "box", "2 boxes"),
        ("12.5", "kg", "12.5 kg"),
        ("3", "pcs", "3 pcs"),
        ("3", "6-pack", "3 6-pack"),
        ("4", None, "4"),
    ],
)
def test_unit_has_the_form_of_its_quantity(quantity: str, unit: str | None, text: str) -> None:
    assert format_quantity(Decimal(quantity), unit) == text
