"""Amounts of money as people type them into forms."""

import pytest

from app.blueprints.pages.inputs import parse_amount


@pytest.mark.parametrize(
    ("text", "amount_minor"),
    [
        ("1500", 150000),
        ("N$ 1 500.50", 150050),
        ("1,500.5", 150050),
        ("1.500,50", 150050),
        ("1.500", 150000),
        ("12,345,678", 1234567800),
        ("0.50", 50),
        ("0,5", 50),
        ("007", 700),
    ],
)
def test_an_amount_is_read_as_it_was_meant(text: str, amount_minor: int) -> None:
    assert parse_amount(text) == amount_minor


@pytest.mark.parametrize(
    "text",
    [
        "1500.000",
        "12345.678",
        "0.500",
        "0,001",
        "1500,000.50",
        "1,5000",
        "1,50.000",
        "12,345.678",
        "",
        "-1",
        "1e3",
        "NaN",
        "١",
        "1" * 31,
    ],
)
def test_an_amount_that_can_be_meant_otherwise_is_refused(text: str) -> None:
    assert parse_amount(text) is None
