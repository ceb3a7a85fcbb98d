"""Rows of a bank statement that name a fee which is paid: the transfer that is recorded, or a further one."""

import random
import time
from datetime import date, timedelta
from itertools import islice, product
from typing import Any

import pytest

from app.applications.fee_statement import StatementRow
from app.applications.models import REFERENCE_ALPHABET
from app.money.recorded_transfers import NamedRow, RecordedTransfer, match_transfers
from tests.applications.test_fee_statement import FEE, send
from tests.applications.test_fee_statement import event as event
from tests.applications.test_fee_statement import owner as owner
from tests.applications.test_fee_statement import references as references
from tests.factories.applications import LIST, TRANSFER_DAY
from tests.factories.payouts import assert_ledger_integrity, fetch_scalar
from tests.http import Client, data
from tests.races import run_concurrently

Event = dict[str, Any]
OTHER_DAY = (date.fromisoformat(TRANSFER_DAY) + timedelta(days=1)).isoformat()


def read(owner: Client, event: Event, *rows: str) -> list[str]:
    """What is said of each row, in the order of the file. Nothing may be recorded."""
    count = "SELECT count(*) FROM stall_fee_record"
    before = fetch_scalar(count)
    answers = [data(send(owner, event, *rows, dryRun=dry_run)) for dry_run in ("true", "false")]
    assert fetch_scalar(count) == before and answers[0]["matched"] == answers[1]["matched"] == []
    said = {line["row"]: "recorded" for line in answers[0]["alreadyRecorded"]}
    said |= {line["row"]: line["reason"] for line in answers[0]["unmatched"]}
    return [said[number] for number in sorted(said)]


def record(owner: Client, event: Event, *rows: str) -> None:
    assert len(data(send(owner, event, *rows, dryRun="false"))["matched"]) == len(rows)


def record_by_hand(owner: Client, reference: str, text: str) -> None:
    id = fetch_scalar(f"SELECT id FROM merchant_application WHERE reference = '{reference}'")
    body = {"amountMinor": 250000, "reference": text, "receivedOn": TRANSFER_DAY}
    data(owner.post(f"{LIST}/{id}/fee/received", body))


def row(text: str, day: str = TRANSFER_DAY) -> str:
    return f"{day},2500.00,{text}"


def test_another_text_on_the_same_day_is_a_second_payment(owner: Client, event: Event, references: list[str]) -> None:
    first, second, other = row(f"EFT {references[0]}"), row(f"{references[0]} again"), row(f"EFT {references[1]}")
    record(owner, event, first)
    assert read(owner, event, first) == ["recorded"]
    assert read(owner, event, first, second) == ["recorded", "paid_already"]
    assert read(owner, event, second, first) == ["paid_already", "recorded"]
    assert read(owner, event, second, first, second) == ["paid_already", "recorded", "paid_already"]
    record(owner, event, other)
    assert read(owner, event, other, second, first) == ["recorded", "paid_already", "recorded"]


def test_equal_rows_are_recorded_and_repeated(owner: Client, event: Event, references: list[str]) -> None:
    first, second = row(f"EFT {references[0]}"), row(f"{references[0]} again")
    found = data(send(owner, event, first, first, second))
    assert (len(found["matched"]), [line["reason"] for line in found["unmatched"]]) == (1, ["repeated"] * 2)
    record(owner, event, first)
    assert read(owner, event, first, first, first) == ["recorded", "repeated", "repeated"]
    assert read(owner, event, second, first, first) == ["paid_already", "recorded", "repeated"]


def test_a_row_of_another_day_is_a_second_payment_beside_the_first(
    owner: Client, event: Event, references: list[str]
) -> None:
    first, second = row(f"EFT {references[0]}"), row(f"EFT {references[0]}", OTHER_DAY)
    record(owner, event, first)
    assert read(owner, event, first, second) == ["recorded", "paid_already"]
    assert read(owner, event, second) == ["paid_already"]


def test_a_fee_recorded_by_hand_is_the_first_row_that_names_it(
    owner: Client, event: Event, references: list[str]
) -> None:
    record_by_hand(owner, references[0], "seen at the bank")
    named, again = row(f"EFT {references[0]}"), row(f"{references[0]} again")
    assert read(owner, event, named) == read(owner, event, again) == ["recorded"]
    assert read(owner, event, named, again) == read(owner, event, again, named) == ["recorded", "paid_already"]
    assert read(owner, event, named, named) == ["recorded", "repeated"]


def test_a_fee_recorded_by_hand_with_the_text_of_a_row_is_this_row(
    owner: Client, event: Event, references: list[str]
) -> None:
    record_by_hand(owner, references[0], f"EFT {references[0]}")
    assert read(owner, event, row(references[0]), row(f"EFT {references[0]}")) == ["paid_already", "recorded"]
    record_by_hand(owner, references[1], "KAPANA")
    assert read(owner, event, row("KAPANA")) == ["recorded"]
    assert read(owner, event, row(references[1]), row("KAPANA")) == ["paid_already", "recorded"]


@pytest.mark.parametrize("length", [60, 80, 200])
def test_a_long_text_is_compared_as_it_is_recorded(
    owner: Client, event: Event, references: list[str], length: int
) -> None:
    first, second = (row(f"{text} {references[0]} ".ljust(length, "x")) for text in ("A", "B"))
    record(owner, event, first)
    assert read(owner, event, second, first) == ["paid_already", "recorded"]


def test_a_transfer_that_went_back_is_the_recorded_one(owner: Client, event: Event, references: list[str]) -> None:
    first, second = row(f"EFT {references[0]}"), row(f"{references[0]} again")
    record(owner, event, first)
    back = f"{OTHER_DAY},-2500.00,REVERSAL {references[0]}"
    assert read(owner, event, first, second, back) == ["reversed", "paid_already"]


@pytest.mark.parametrize("seed", range(4))
def test_a_growing_statement_reports_what_it_recorded(
    owner: Client, event: Event, references: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    texts = ("EFT {}", "{} again", "FNB {} March")
    rows = [
        row(chance.choice(texts).format(chance.choice(references)), chance.choice((TRANSFER_DAY, OTHER_DAY)))
        for _ in range(9)
    ]
    for end in (3, 6, 9):
        statement = rows[:end]
        chance.shuffle(statement)
        matched = {line["row"] for line in data(send(owner, event, *statement, dryRun="false"))["matched"]}
        said = read(owner, event, *statement)
        recorded = {statement[number] for number, status in enumerate(said) if status == "recorded"}
        assert {statement[number - 2] for number in matched} <= recorded
        assert len(recorded) == said.count("recorded") == fetch_scalar("SELECT count(*) FROM stall_fee_record")
        assert set(said) <= {"recorded", "repeated", "paid_already"}
    assert_ledger_integrity()


def test_of_two_transfers_sent_at_once_one_is_a_second_payment(
    owner: Client, event: Event, references: list[str]
) -> None:
    rows = [row(f"EFT {references[0]}"), row(f"{references[0]} again")]
    answers = run_concurrently(8, lambda number: data(send(owner, event, *rows[:: 1 - number % 2 * 2], dryRun="false")))
    assert sum(len(answer["matched"]) for answer in answers) == 1
    assert sorted(read(owner, event, *rows)) == ["paid_already", "recorded"]
    assert_ledger_integrity()


def test_very_many_recorded_fees_of_a_day_are_matched_in_time() -> None:
    day = date(2026, 11, 20)
    names = [f"MA-{''.join(letters)}" for letters in islice(product(REFERENCE_ALPHABET, repeat=8), 5000)]
    rows = [NamedRow(StatementRow(number, day, FEE, f"EFT {name}"), {name}, set()) for number, name in enumerate(names)]
    transfers = [RecordedTransfer(FEE, day, f"EFT {name}", name, "event", name, None) for name in reversed(names)]
    start = time.monotonic()
    assert match_transfers(transfers, rows) == [*reversed(transfers)]
    assert time.monotonic() - start < 5, "each row was compared with each fee"
