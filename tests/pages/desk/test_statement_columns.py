"""Bank statements whose headings are not known: a person chooses the columns, and the next statement has them."""

import os
from io import BytesIO
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.applications.errors import StatementUnreadable
from app.blueprints.pages.desk.statement_columns import pack_file, unpack_file
from tests.factories.applications import TRANSFER_DAY
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.pages.desk.test_events import EVENTS
from tests.pages.desk.test_statement_choices import event as event
from tests.pages.desk.test_statement_choices import fee as fee
from tests.pages.desk.test_statement_choices import record
from tests.pages.pages import Visitor

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
    headings = "Booked,N$,A,B,C,D\n"
    upload(desk, event, f"{headings}{TRANSFER_DAY},1.00,a,b,c,d\n")
    page = choose(desk, "date", "amount", *["text"] * 4)
    assert "Choose “Text” for at most 3 columns." in page.text
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
    "content",
    [f"{TRANSFER_DAY},5.00,a,b\n{TRANSFER_DAY},6.00,a,b\n", "name,city\na,b\n", "", "Booked,N$,What\n1,2,\0\n"],
)
def test_a_file_without_headings_is_refused(desk: Visitor, event: dict[str, Any], content: str) -> None:
    page = upload(desk, event, content)
    assert page.status_code == 422 and TITLE not in page.text


def test_a_file_of_very_many_short_rows_is_refused_at_once(desk: Visitor, event: dict[str, Any]) -> None:
    """The same file is 10 KB in the hidden field."""
    content = ",".join(f"H{'x' * number}" for number in range(190)) + "\n" + "a\n" * 950_000
    packed = pack_file(content.encode())
    assert len(packed) < 20_000
    start = time.monotonic()
    assert "A statement may have 5000 rows; send it in parts." in upload(desk, event, content).text
    page = desk.send(form=1, content=packed)
    assert page.status_code == 422 and "send it in parts." in page.text
    with timely("two files of 950,000 rows"):
        assert time.monotonic() - start < 8


def test_a_long_file_is_sent_in_parts_and_a_broken_form_again(desk: Visitor, event: dict[str, Any], fee: str) -> None:
    assert unpack_file(pack_file(b"a,b\n")) == b"a,b\n"
    path = f"{EVENTS}/{event['id']}/stalls/statement"
    token = desk.open(path) and desk.forms[1].fields["csrf_token"]
    for content in ("x", "ÿ", "eJz=", pack_file(b"\0" * 3 * 1024 * 1024)):
        page = desk.flask.post(path, data={"csrf_token": token, "content": content})
        assert page.status_code == 422 and "Open the page again." in page.text, content[:9]
    with pytest.raises(StatementUnreadable, match="in parts"):
        pack_file(os.urandom(350_000))
