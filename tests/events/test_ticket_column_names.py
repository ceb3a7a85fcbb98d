"""Which columns of a seller's list are suggested for which field."""

import pytest

from app.events.ticket_column_names import suggest_mapping
from app.events.ticket_uploads import complete_mapping, suggest_for_sample


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["Ticketcode", "Art", "Einzelpreis", "Bestellstatus"], ["reference", "ticketType", "price", "status"]),
        (["Ticket", "Type", "Ticket Price", "Order Status"], ["reference", "ticketType", "price", "status"]),
        (["Ticket no", "Ticket code", "Unit price"], ["reference", "secret", "price"]),
        (["Kaartjienommer", "Kaartjiesoort", "Prys", "Betaalstatus"], ["reference", "ticketType", "price", "status"]),
        (["Price (N$)", "Ticketpreis inkl. MwSt."], ["price", None]),
        (["Amount", "Price paid", "Total Paid"], [None, "price", None]),
        (["Order total", "Gesamtbetrag", "Booking fee", "Discount", "Fees paid"], [None] * 5),
        (["Total", "Order total"], ["price", None]),
        (["State", "Payment status"], [None, "status"]),
        (["Ticket status", "Status der Bestellung"], ["status", None]),
        (["Date", "Order date"], [None, "soldAt"]),
        (["Ticketnummer", "Ticket", "Kategorie"], ["reference", None, "ticketType"]),
    ],
)
def test_columns_of_shops_are_known(columns: list[str], expected: list[str | None]) -> None:
    fields = {column: field for field, column in suggest_mapping(columns).items()}
    assert [fields.get(column) for column in columns] == expected


@pytest.mark.parametrize(
    ("values", "repeats", "is_number"),
    [
        (["1001", "1002"], False, True),
        (["Weekend pass", "Day ticket"], False, False),
        (["Day 1", "Day 2"], True, False),
    ],
)
def test_a_column_called_ticket_is_the_number_only_with_numbers(
    values: list[str], repeats: bool, is_number: bool
) -> None:
    sample = [
        {"name": "Ticket", "values": values, "repeats": repeats},
        {"name": "Type", "values": ["Adult"], "repeats": True},
    ]
    number = {"reference": "Ticket"} if is_number else {}
    assert suggest_for_sample(sample) == {"ticketType": "Type", **number}


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"E-pos koper": ["a@b.example"], "Soort kaartjie": ["Unknown"]}, {"email": 0, "ticketType": 1}),
        ({"Pos": ["a@b.example", "c@d.example"], "Wat": ["weekend PASS", "Dag"]}, {"email": 0, "ticketType": 1}),
        ({"Pos": ["a@b.example", "none"], "Wat": ["Weekend pass", "Other"]}, {}),
        ({"Pos": ["a@b.example"], "Tweede": ["c@d.example"]}, {}),
        ({"No.": ["17", "18"], "Foon": ["+264811"], "Wanneer": ["2026-10-01"], "Fooi": ["12,50"]}, {"reference": 0}),
        ({"Een": ["17", "18"], "Twee": ["27", "28"]}, {}),
        ({"Strepieskode": ["001", "002"]}, {"secret": 0, "reference": 0}),
        ({"Strepieskode": ["001", "002"], "Nr.": ["1", "2"]}, {"secret": 0, "reference": 1}),
        ({"Een": [], "Strepieskode": ["001"], "Prys": ["85"]}, {"secret": 1, "reference": 1, "price": 2}),
    ],
)
def test_columns_are_known_by_their_values(columns: dict[str, list[str]], expected: dict[str, int]) -> None:
    sample = [{"name": name, "values": values, "repeats": False} for name, values in columns.items()]
    names = list(columns)
    assert complete_mapping({}, sample, ["Weekend pass", "Dag"]) == {
        field: names[number] for field, number in expected.items()
    }


def test_a_repeated_code_is_no_number_and_a_known_column_stays() -> None:
    sample = [
        {"name": "Strepieskode", "values": ["1"], "repeats": True},
        {"name": "Wat", "values": ["Dag"], "repeats": True},
    ]
    assert complete_mapping({"name": "Wat"}, sample, ["Dag"]) == {"secret": "Strepieskode", "name": "Wat"}
