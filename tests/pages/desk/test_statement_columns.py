"""Bank statements whose headings are not known: a person chooses the columns, and the next statement has them."""

import os
import time
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.accounts.models import Account
from app.applications.errors import StatementUnreadable
from app.applications.fee_statement import parse_statement, read_sample
from app.applications.statement_columns import suggest_mapping
from app.blueprints.pages.desk.statement_columns import pack_file, unpack_file
from tests.factories.accounts import create_customer
from tests.factories.applications import TRANSFER_DAY
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.http import Client
from tests.pages.desk.test_events import EVENTS
from tests.pages.desk.test_statement_choices import event as event
from tests.pages.desk.test_statement_choices import fee as fee
from tests.pages.desk.test_statement_choices import record
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import add_member

HEADINGS = "Booked,N$,What,Who"
TITLE = "What are the columns?"


def upload(desk: Visitor, event: dict[str, Any], content: str, **fields: str) -> TestResponse:
    path = f"{EVENTS}/{event['id']}/stalls/statement"
    desk.open(path)
    body = {
        "csrf_token": desk.forms[1].fields["csrf_token"],
        "file": (BytesIO(content.encode()), "march.csv"),
        **fields,
    }
    desk.page = desk.flask.post(path, data=body, content_type="multipart/form-data")
    return desk.page


def choose(desk: Visitor, *meanings: str) -> TestResponse:
    chosen = {f"column{chr(ord('A') + number)}": meaning for number, meaning in enumerate(meanings)}
    return desk.send(form=1, **chosen)


def write(fee: str, headings: str = HEADINGS) -> str:
    return f"Account 62001234567\n{headings}\n{TRANSFER_DAY},2500.00,EFT,{fee}\n{TRANSFER_DAY},7.00,rent,x\n"


def test_columns_are_chosen_and_known_for_the_next_statement(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    page = upload(desk, event, write(fee))
    assert TITLE in page.text and "march.csv, 2 rows" in page.text and "For example: EFT · rent" in page.text
    page = choose(desk, "date", "amount", "text", "text")
    assert "Pays a fee or an invoice (1)" in page.text and "Nothing is recorded yet." in page.text
    assert "Fees recorded as received: 1." in record(desk, event)
    assert fetch_scalar("SELECT reference FROM stall_fee_record") == f"EFT {fee}"
    page = upload(desk, event, write(fee))
    assert TITLE not in page.text and "Recorded before (1)" in page.text
    assert "Day: Booked · Amount, or money in: N$" in page.text
    page = upload(desk, event, write(fee), columns="choose")
    assert TITLE in page.text and "The columns are as you chose them last time." in page.text
    assert page.text.count('<option value="text" selected>') == 2
    page = upload(desk, event, write(fee, "N$,Booked,What,Balance"))
    assert TITLE in page.text and "Some columns are as you chose them last time." in page.text
    assert_ledger_integrity()


def test_money_in_and_money_out_are_two_columns(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    rows = f"{TRANSFER_DAY};2 500,00;;{fee}\n{TRANSFER_DAY};;9,00;{fee} bank fee\n"
    page = upload(desk, event, f"Booked;Plus;Minus;What\n{rows}")
    page = choose(desk, "date", "amount", "moneyOut", "text")
    assert "Pays a fee or an invoice (1)" in page.text and "bank fee" not in page.text


def test_every_problem_of_the_columns_is_told(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    upload(desk, event, write(fee))
    page = choose(desk, "date", "date", "", "")
    assert page.status_code == 422 and "“Booked” is “Day” already." in page.text
    for field in ("Amount, or money in", "Text"):
        assert f"Choose the column that is “{field}”." in page.text
    assert "Pays a fee" in choose(desk, "date", "amount", "text", "text").text, "the file is still there"
    headings = "Booked,N$,A,B,C,D,E,F\n"
    upload(desk, event, f"{headings}{TRANSFER_DAY},1.00,a,b,c,d,e,f\n")
    page = choose(desk, "date", "amount", *["text"] * 6)
    assert "Choose “Text” for at most 5 columns." in page.text
    assert fetch_scalar("SELECT count(*) FROM import_mapping") == 1


def test_a_file_of_which_two_columns_may_be_meant_is_asked_about(
    desk: Visitor, event: dict[str, Any], fee: str
) -> None:
    content = f"Date,Amount,Credit,Description\n{TRANSFER_DAY},1.00,2500.00,{fee}\n"
    page = upload(desk, event, content)
    assert TITLE in page.text and '<option value="text" selected>' in page.text
    assert "Pays a fee or an invoice (1)" in choose(desk, "date", "", "amount", "text").text
    assert "Pays a fee or an invoice (1)" in upload(desk, event, content).text
    clear = f"Date,Amount,Description\n{TRANSFER_DAY},2500.00,{fee}\n"
    assert "Pays a fee or an invoice (1)" in upload(desk, event, clear).text
    assert TITLE in upload(desk, event, clear, columns="choose").text


@pytest.mark.parametrize(
    ("headings", "row", "expected"),
    [
        ("Bank date,What,N$,Valuta", "2026-11-20,EFT 1,2500.00,NAD", "date text amount -"),
        ("Gebucht,Wer,Wofür,Saldo,Plus", '20.11.2026,Gold,Kapana,"1.000,00","2.500,00"', "date text text - amount"),
        ("Valuta,Boekdatum,Omskrywing,Bedrag", "NAD,20 Nov 2026,EFT,2500.00", "- date text amount"),
        ("Gebucht,Wert N$,Was", "20.11.2026,N$ 2 500.00,EFT 1", "date amount text"),
        ("Gebucht,Wert,Saldo,Was", "20.11.2026,2500,10.00,EFT 1", "date - - text"),
        ("When,Balance,Money,Ref", "2026-11-20,9,N$ 1 500.00 Cr,A1", "date - amount text"),
        ("a,b,Date,Description", "2026-11-19,X,,rent", "- - date text"),
    ],
)
def test_unknown_columns_are_suggested_by_their_values(headings: str, row: str, expected: str) -> None:
    other = row.replace("EFT 1", "EFT 2").replace("Gold", "Silver").replace("Kapana", "Biltong").replace("A1", "B2")
    sample = read_sample(f"{headings}\n{row}\n{other}\n".encode())
    fields = {column: field.rstrip("2345") for field, column in suggest_mapping(sample.columns).items()}
    assert [fields.get(column, "-") for column in sample.headings] == expected.split()


def test_a_known_heading_without_a_day_is_asked_about(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    content = "Valuta,Posted,Amount,Description\n" + f"NAD,{TRANSFER_DAY},2500.00,{fee}\n" * 2
    page = upload(desk, event, content)
    assert TITLE in page.text and '<option value="date" selected>' in page.text
    assert "Pays a fee or an invoice (1)" in choose(desk, "", "date", "amount", "text").text


@pytest.mark.parametrize(
    "content",
    [f"{TRANSFER_DAY},5.00,a,b\n{TRANSFER_DAY},6.00,a,b\n", "name,city\na,b\n", "", "Booked,N$,What\n1,2,\0\n"],
)
def test_a_file_without_headings_is_refused(desk: Visitor, event: dict[str, Any], content: str) -> None:
    page = upload(desk, event, content)
    assert page.status_code == 422 and TITLE not in page.text


@pytest.mark.parametrize(
    ("headings", "row"),
    [
        ("Booked,N$,Way,What", "{day},2500.00,Credit,{fee}"),
        ("Booked,N$,Way,What", "{day},2500.00,Deposit,{fee}"),
        ("Booked,N$,Ref1,Ref2,Ref3", "{day},2500.00,{fee},KAPANA,WINDHOEK"),
        ("Booked;N$;What", "{day};2500,00;{fee} Kapana, Tuli, Katutura, Windhoek, food"),
        ("Booked;N$;What", "{day};2500,00;{fee} Kapana Corner, Windhoek, Namibia, Food, Stall"),
        ("No;Booked;N$;What", "1;{day};2500,00;{fee} Kapana, Tuli, Katutura, Windhoek, food, credit"),
    ],
)
def test_the_row_of_headings_is_found(desk: Visitor, event: dict[str, Any], fee: str, headings: str, row: str) -> None:
    line = row.format(day=TRANSFER_DAY, fee=fee)
    page = upload(desk, event, f"{headings}\n{line}\n{line}\n")
    assert TITLE in page.text and ">Booked<" in page.text


def test_a_column_whose_name_is_a_sign_can_be_chosen(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    content = f"Booked,+,-,What\n{TRANSFER_DAY},2500.00,,{fee}\n{TRANSFER_DAY},,2500.00,{fee}\n"
    page = upload(desk, event, content)
    assert ">+<" in page.text and ">-<" in page.text
    for _ in range(2):
        page = choose(desk, "date", "amount", "moneyOut", "text") if TITLE in page.text else page
        assert "Pays nothing (1)" in page.text and "A later row sends the money back" in page.text
        page = upload(desk, event, content)
        assert TITLE not in page.text
    assert "Some columns" not in upload(desk, event, "Day,?,Text\n1,2,3\n").text


@pytest.mark.parametrize(("column", "pays"), [("N$", 0), ("N$ (2)", 1)])
def test_equal_headings_are_numbered(desk: Visitor, event: dict[str, Any], fee: str, column: str, pays: int) -> None:
    page = upload(desk, event, f"Booked,N$,N$,What\n{TRANSFER_DAY},7.00,2500.00,{fee}\n")
    assert page.text.index("For example: 7.00") < page.text.index(">N$ (2)<") < page.text.index("For example: 2500.00")
    choices = ("amount", "") if column == "N$" else ("", "amount")
    assert f"Pays a fee or an invoice ({pays})" in choose(desk, "date", *choices, "text").text


@pytest.mark.parametrize("headings", ["Date,Description,Amount,Amount", "Date,Description,Amount,amount"])
def test_equal_headings_are_asked_about(desk: Visitor, event: dict[str, Any], fee: str, headings: str) -> None:
    """Money out may be in the first one, and money in in the second."""
    assert TITLE in upload(desk, event, f"{headings}\n{TRANSFER_DAY},Refund {fee},2500.00,\n").text


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        *((word, None) for word in ("S", "Soll", "Belastung", "SEPA-Lastschrift", "Zahlungsausgang", "Abgang", "-")),
        *((word, None) for word in ("Debit order", "Af", "Uitgaande", "Uitbetaling", "EFT payment")),
        *((word, "") for word in ("H", "Haben", "Gutschrift", "Zahlungseingang", "Inkomende", "Deposit", "+", "")),
        *((word, "direction_unknown") for word in ("EFT", "Überweisung", "Pago")),
    ],
)
def test_a_chosen_word_says_whether_money_went_out(word: str, reason: str | None) -> None:
    mapping = {"date": "Tag", "amount": "N$", "direction": "Art", "text": "What"}
    rows = parse_statement(f"Tag;N$;Art;What\n{TRANSFER_DAY};2500,00;{word};x\n".encode(), mapping)
    assert [row.problem or "" for row in rows] == ([] if reason is None else [reason])


@pytest.mark.parametrize(("headings", "problem"), [("Dr/Cr", "direction_unknown"), ("Type", None)])
def test_unknown_words_are_a_problem_unless_the_column_may_have_others(headings: str, problem: str | None) -> None:
    (row,) = parse_statement(f"Date,Amount,{headings},Details\n{TRANSFER_DAY},2500.00,Transfer,x\n".encode())
    assert row.problem == problem
    (row,) = parse_statement(f"Date,Credit,Debit,{headings},Details\n{TRANSFER_DAY},25.00,,EFT,x\n".encode())
    assert row.problem is None


def test_a_row_with_an_unknown_word_pays_nothing(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    upload(desk, event, f"Tag;N$;Art;What\n{TRANSFER_DAY};2500,00;Pago;{fee}\n")
    page = choose(desk, "date", "amount", "direction", "text")
    assert "Pays a fee or an invoice (0)" in page.text and "The word for money in or out is not known" in page.text


def test_a_member_of_one_event_does_not_choose_the_columns_of_all(
    app: Flask, client: Client, owner: Account, desk: Visitor, event: dict[str, Any], fee: str
) -> None:
    """The member calls the balance the amount."""
    content = f"Date,Balance,Amount,Description\n{TRANSFER_DAY},2500.00,1.00,{fee}\n"
    member = create_customer()
    add_member(client, owner, member, "finance", eventIds=[event["id"]])
    visitor = sign_in_browser(app, member)
    upload(visitor, event, content, columns="choose")
    assert "Pays a fee or an invoice (1)" in choose(visitor, "date", "amount", "", "text").text
    assert fetch_scalar("SELECT count(*) FROM import_mapping") == 0
    assert "Not the whole fee" in upload(desk, event, content).text


def test_a_file_of_very_many_short_rows_is_refused_at_once(desk: Visitor, event: dict[str, Any]) -> None:
    """The same file is 10 KB in the hidden field."""
    content = ",".join(f"H{'x' * number}" for number in range(190)) + "\n" + "a\n" * 950_000
    packed = pack_file(content.encode())
    assert len(packed) < 20_000
    start = time.monotonic()
    assert (
        "A statement may have 5000 rows; send it in parts, each day in one part." in upload(desk, event, content).text
    )
    page = desk.send(form=1, content=packed)
    assert page.status_code == 422 and "send it in parts, each day in one part." in page.text
    assert time.monotonic() - start < 20, "all rows took more than 60 seconds"


def test_a_long_file_is_sent_in_parts_and_a_broken_form_again(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    assert unpack_file(pack_file(b"a,b\n")) == b"a,b\n"
    path = f"{EVENTS}/{event['id']}/stalls/statement"
    token = desk.open(path) and desk.forms[1].fields["csrf_token"]
    for content in ("x", "ÿ", "eJz=", pack_file(b"\0" * 3 * 1024 * 1024)):
        page = desk.flask.post(path, data={"csrf_token": token, "content": content})
        assert page.status_code == 422 and "Open the page again." in page.text, content[:9]
    with pytest.raises(StatementUnreadable, match="in parts"):
        pack_file(os.urandom(350_000))
