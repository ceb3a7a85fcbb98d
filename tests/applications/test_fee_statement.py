"""Bank statements: rows that pay a stall fee are found, and recorded once."""

import json
from datetime import date, timedelta
from io import BytesIO
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from app.applications.errors import StatementUnreadable
from app.applications.fee_statement import MAX_ROWS, StatementRow, parse_statement, write_statement
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.applications import (
    LIST,
    TRANSFER_DAY,
    create_approved_application,
    find_mailed_token,
    pay_stall_fee,
)
from tests.factories.events import create_organiser_client, create_published_event
from tests.factories.payouts import assert_ledger_integrity, execute_sql, fetch_scalar
from tests.http import Client, data, read_error
from tests.races import run_concurrently

FEE = 250000
HEADER = "Date,Amount,Description"


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, name="Windhoek Lights")


@pytest.fixture
def references(client: Client, owner: Client, event: dict[str, Any]) -> list[str]:
    """The references of three applications with an open fee."""
    return [
        create_approved_application(
            client, owner, eventId=event["id"], documentsRequired=[], email=f"stall{number}@example.com"
        )["reference"]
        for number in range(3)
    ]


def send(owner: Client, event: dict[str, Any], *lines: str, header: str = HEADER, **fields: str) -> Any:
    content = "\n".join((header, *lines, "")).encode()
    form = {"file": (BytesIO(content), "statement.csv"), **fields}
    return owner.post(f"/api/events/{event['id']}/stall-fees/statement", data=form, content_type="multipart/form-data")


def test_a_dry_run_writes_nothing_and_applying_records(
    owner: Client, event: dict[str, Any], references: list[str]
) -> None:
    lines = [
        f"{TRANSFER_DAY},2500.00,EFT {references[0]} KAPANA",
        f"{TRANSFER_DAY},2500.00,fnb {references[1].replace('-', ' ').lower()}",
    ]
    found = data(send(owner, event, *lines))
    assert found["dryRun"] and [line["reference"] for line in found["matched"]] == references[:2]
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == 0
    applied = data(send(owner, event, *lines, dryRun="false"))
    assert not applied["dryRun"] and len(applied["matched"]) == 2
    assert fetch_scalar("SELECT reference FROM stall_fee_record ORDER BY reference LIMIT 1").startswith("EFT MA-")
    assert fetch_scalar("SELECT count(*) FROM merchant_application WHERE status = 'ready'") == 2
    again = data(send(owner, event, *lines, dryRun="false"))
    assert (again["matched"], len(again["alreadyRecorded"]), again["unmatched"]) == ([], 2, [])
    assert fetch_scalar("SELECT count(*) FROM ledger_transaction") == 2
    assert_ledger_integrity()


def test_rows_that_pay_no_fee_say_why(
    client: Client, owner: Client, event: dict[str, Any], references: list[str]
) -> None:
    pay_stall_fee(client, find_mailed_token("pay", "stall2@example.com"))
    other = create_approved_application(client, owner, documentsRequired=[], email="other@example.com")
    lines = {
        f"{TRANSFER_DAY},2500.00,salaries": "no_reference",
        f"{TRANSFER_DAY},2500.00,{other['reference']}": "unknown_reference",
        f"{TRANSFER_DAY},2500.00,{references[0]} {references[1]}": "several_references",
        f"{TRANSFER_DAY},2499.99,{references[0]}": "wrong_amount",
        f"{TRANSFER_DAY},2500.00,{references[2]}": "paid_already",
        f"2199-01-01,2500.00,{references[0]}": "future",
        f"1 Jan 0001,2500.00,{references[0]}": "too_early",
        f"{TRANSFER_DAY},many,{references[0]}": "amount_unreadable",
        f"yesterday,2500.00,{references[0]}": "date_unreadable",
    }
    found = data(send(owner, event, *lines, dryRun="false"))
    assert found["matched"] == []
    assert [line["reason"] for line in found["unmatched"]] == list(lines.values())
    twice = [f"{TRANSFER_DAY},2500.00,{references[0]}"] * 2
    found = data(send(owner, event, *twice))
    assert (len(found["matched"]), [line["reason"] for line in found["unmatched"]]) == (1, ["repeated"])


def test_a_payment_that_is_under_way_is_left_alone(
    client: Client, owner: Client, event: dict[str, Any], references: list[str]
) -> None:
    data(client.post(f"{LIST}/pay/{find_mailed_token('pay', 'stall0@example.com')}"))
    execute_sql("UPDATE stall_payment SET tries = 1, status = 'processing'")
    found = data(send(owner, event, f"{TRANSFER_DAY},2500.00,{references[0]}", dryRun="false"))
    assert [line["reason"] for line in found["unmatched"]] == ["payment_in_progress"]


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("Transaction Date;Details;Credit;Debit;Balance", "20/11/2026;{text};2 500,00;;9 000,00"),
        ("Datum\tBeskrywing\tBedrag", "20 Nov 2026\t{text}\t2,500.00Cr"),
        ("Date,Description,Reference,Amount", "20.11.2026,EFT,{text},+N$ 2 500.00"),
        ("Buchungstag;Verwendungszweck;Betrag", "20.11.2026;{text};2.500,00"),
        ("Posting Date,Transaction Details,Money Out,Money In", "2026-11-20,{text},,2500.00"),
        ("Account 62001234567\n\nValue Date,Narrative,Amount (NAD)", '2026/11/20,{text},"2,500.00"'),
    ],
)
def test_columns_are_found_by_the_names_of_banks(header: str, line: str) -> None:
    (row,) = parse_statement(f"{header}\n{line.format(text='MA-23456789')}\n".encode())
    assert (row.amount_minor, str(row.day), row.possible_references) == (FEE, "2026-11-20", {"MA-23456789"})


def test_a_file_with_other_headings_says_which_are_known() -> None:
    with pytest.raises(StatementUnreadable, match="This one has: When, What, N\\$") as error:
        parse_statement(b"When,What,N$\n2026-11-20,MA-23456789,2500\n")
    assert "“Date”, “Amount”, “Description”" in str(error.value)


def test_a_mapping_names_other_columns(owner: Client, event: dict[str, Any], references: list[str]) -> None:
    lines = [f"{TRANSFER_DAY},2500.00,,{references[0]}", f"{TRANSFER_DAY},,9.00,{references[1]}"]
    header, mapping = (
        "Booked,Plus,Minus,What",
        {"date": "Booked", "amount": "Plus", "moneyOut": "Minus", "text": "what"},
    )
    assert read_error(send(owner, event, *lines, header=header)) == (422, "STATEMENT_UNREADABLE")
    found = data(send(owner, event, *lines, header=header, mapping=json.dumps(mapping)))
    assert [line["reference"] for line in found["matched"]] == references[:1] and found["unmatched"] == []


@pytest.mark.parametrize(
    ("mapping", "code"),
    [
        ({"date": "Booked", "amount": "Plus", "text": "Whatever"}, "STATEMENT_UNREADABLE"),
        ({"date": "Booked", "amount": "Plus", "text": "booked"}, "STATEMENT_UNREADABLE"),
        ({"date": "Booked", "amount": "Plus"}, "VALIDATION_FAILED"),
        ({"date": "Booked", "amount": "Plus", "text": "What", "note": "What"}, "VALIDATION_FAILED"),
        ({"date": "Booked", "amount": "Booked", "text": "What"}, "VALIDATION_FAILED"),
    ],
)
def test_a_wrong_mapping_is_refused(owner: Client, event: dict[str, Any], mapping: dict[str, str], code: str) -> None:
    answer = send(owner, event, f"{TRANSFER_DAY},1.00,x", header="Booked,Plus,What", mapping=json.dumps(mapping))
    assert read_error(answer) == (422, code)


def test_money_that_went_out_is_left_out() -> None:
    lines = ("2026-11-20,-2500.00,rent", "2026-11-20,(90.00),fees", "2026-11-20,,x", "2026-11-20,90.00 Dr,fees")
    assert parse_statement("\n".join((HEADER, *lines)).encode()) == []
    marked = (
        "Date,Description,Amount,Dr/Cr\n2026-11-20,MA-23456789 refund,2500.00,DR\n2026-11-21,MA-23456789,2500.00,CR\n"
    )
    assert [str(row.day) for row in parse_statement(marked.encode())] == ["2026-11-21"]


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("Date,Description,Amount,Type", "{text},2500.00,Withdrawal"),
        ("Date,Description,Amount,Type", "{text},2500.00,EFT Payment"),
        ("Date,Description,Amount,Type", "{text},2500.00,Deposit reversal"),
        ("Date,Description,Debit,Amount", "{text},2500.00,2500.00"),
        ("Date,Description,Money Out,Credit", "{text},2500.00,"),
        ("Date,Description,Amount", "{text},\u22122500.00"),
    ],
)
def test_money_that_went_out_is_found_by_the_words_of_banks(header: str, line: str) -> None:
    assert parse_statement(f"{header}\n2026-11-20,{line.format(text='MA-23456789')}\n".encode()) == []


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("Date,Description,Amount,Type", "{text},2500.00,Payment received"),
        ("Date,Description,Amount,Type", "{text},2500.00,EFT"),
        ("Date,Description,Debit,Amount", "{text},0.00,2500.00"),
        ("Date,Description,Debit,Credit", "{text},-,2500.00"),
    ],
)
def test_money_that_came_in_is_not_taken_for_the_other(header: str, line: str) -> None:
    (row,) = parse_statement(f"{header}\n2026-11-20,{line.format(text='MA-23456789')}\n".encode())
    assert (row.amount_minor, row.problem) == (FEE, None)


def test_money_that_went_out_again_pays_nothing(owner: Client, event: dict[str, Any], references: list[str]) -> None:
    other_day = (date.fromisoformat(TRANSFER_DAY) + timedelta(days=1)).isoformat()
    lines = [
        f"{other_day},-2500.00,REVERSAL {references[0]}",
        f"{TRANSFER_DAY},2500.00,{references[0]}",
        f"{TRANSFER_DAY},-2500.00,REVERSAL {references[1]}",
        f"{other_day},2500.00,{references[1]} second transfer",
        f"{TRANSFER_DAY},2500.00,{references[2]}",
        f"{other_day},-10.00,bank fee {references[2]}",
    ]
    found = data(send(owner, event, *lines, dryRun="false"))
    assert [(line["reference"], line["reason"]) for line in found["unmatched"]] == [(references[0], "reversed")]
    assert [line["reference"] for line in found["matched"]] == references[1:]


def test_a_row_stays_for_each_that_was_not_reversed() -> None:
    lines = [f"2026-11-{day},{amount}.00,MA-23456789" for day, amount in ((13, 5), (12, -5), (11, 5))]
    rows = parse_statement("\n".join((HEADER, *lines)).encode())
    assert [(row.number, row.problem) for row in rows] == [(2, None), (4, "reversed")]


def test_money_that_went_back_is_the_first_of_what_its_row_names() -> None:
    """In each process, whatever the order of its sets: what is checked is what is recorded."""
    names = [f"MA-{letter * 8}" for letter in "DCBA"]
    lines = (*(f"2026-11-20,100.00,{name}" for name in names), f"2026-11-21,-100.00,{' '.join(names)}")
    rows = parse_statement("\n".join((HEADER, *lines)).encode())
    assert [row.problem for row in rows] == [None, None, None, "reversed"]


def test_control_and_direction_characters_are_left_out(
    owner: Client, event: dict[str, Any], references: list[str]
) -> None:
    workbook = BytesIO()
    with xlsxwriter.Workbook(workbook) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, HEADER.split(","))
        for row, reference in enumerate(references[:2], 1):
            sheet.write_row(row, 0, [TRANSFER_DAY, 2500, f"EFT\0\x01 \u202e\u2066{reference}"])
    workbook.seek(0)
    form = {"file": (workbook, "statement.xlsx"), "dryRun": "false"}
    path = f"/api/events/{event['id']}/stall-fees/statement"
    found = data(owner.post(path, data=form, content_type="multipart/form-data"))
    assert [line["text"] for line in found["matched"]] == [f"EFT {reference}" for reference in references[:2]]
    assert fetch_scalar("SELECT min(reference) FROM stall_fee_record") == f"EFT {min(references[:2])}"


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01", b"name,city\na,b\n", b"Date,Amount\n2026-11-20,5\n", b'Date,Amount,Text\n"x', b"%PDF-1.7 x"],
)
def test_another_file_is_refused(owner: Client, event: dict[str, Any], content: bytes) -> None:
    form = {"file": (BytesIO(content), "statement.csv")}
    path = f"/api/events/{event['id']}/stall-fees/statement"
    answer = owner.post(path, data=form, content_type="multipart/form-data")
    assert read_error(answer) == (422, "STATEMENT_UNREADABLE")


def test_a_long_statement_is_refused() -> None:
    with pytest.raises(StatementUnreadable, match="in parts"):
        parse_statement("\n".join((HEADER, *["2026-11-20,1.00,x"] * (MAX_ROWS + 1))).encode())


def test_a_statement_that_pays_too_many_is_refused(
    owner: Client, event: dict[str, Any], references: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.money.statements.MAX_RECORDED", 2)
    lines = [f"{TRANSFER_DAY},2500.00,{reference}" for reference in references]
    for dry_run in ("true", "false"):
        answer = send(owner, event, *lines, dryRun=dry_run)
        assert read_error(answer) == (422, "STATEMENT_UNREADABLE") and "3 fees" in answer.get_json()["message"]
    assert fetch_scalar("SELECT count(*) FROM stall_fee_record") == 0
    assert len(data(send(owner, event, *lines[:2], dryRun="false"))["matched"]) == 2
    found = data(send(owner, event, *lines, dryRun="false"))
    assert (len(found["matched"]), len(found["alreadyRecorded"])) == (1, 2), "recorded rows do not count"


def test_the_same_statement_at_once_counts_once(owner: Client, event: dict[str, Any], references: list[str]) -> None:
    lines = [f"{TRANSFER_DAY},2500.00,{reference}" for reference in references]
    answers = run_concurrently(8, lambda _: data(send(owner, event, *lines, dryRun="false")))
    assert sum(len(answer["matched"]) for answer in answers) == 3
    assert sum(len(answer["alreadyRecorded"]) for answer in answers) == 21
    assert_ledger_integrity()


def test_another_organiser_finds_nothing(client: Client, event: dict[str, Any], references: list[str]) -> None:
    stranger = create_signed_in_client(client, create_account("organiser"))
    assert read_error(send(stranger, event, f"{TRANSFER_DAY},2500.00,{references[0]}")) == (404, "NOT_FOUND")


@given(
    rows=st.lists(
        st.tuples(
            st.dates(date(2000, 1, 1), date(2200, 1, 1)),
            st.integers(1, 10**10),
            st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=40),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_statement_that_is_written_is_read_again(rows: list[tuple[date, int, str]]) -> None:
    content = f"{HEADER}\n" + "\n".join(f"{day},{cents / 100:.2f},x" for day, cents, _ in rows)
    read_rows = [
        StatementRow(row.number, row.day, row.amount_minor, " ".join(text.split()))
        for row, (_, _, text) in zip(parse_statement(content.encode()), rows, strict=True)
    ]
    again = parse_statement(write_statement(read_rows).encode("utf-8", "replace"))
    facts = [[(row.day, row.amount_minor, row.possible_references) for row in them] for them in (again, read_rows)]
    assert facts[0] == facts[1]
