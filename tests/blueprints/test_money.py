"""The money of an event and its reconciliation, the journal and the VAT of an organisation."""

import csv
from collections import defaultdict
from contextlib import nullcontext
from decimal import Decimal
from io import BytesIO, StringIO
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from app.money import event_money
from app.money.journal import HEADER
from app.money.sql import ACCOUNTS
from tests.allocations.blocks import block_of, festival, organiser_of
from tests.factories.money import FEE, create_settled_event
from tests.factories.organisations import VAT_NUMBER
from tests.http import Client, data, read_error
from tests.races import run_concurrently

ORGANISATION = "/api/organisations/me"


@pytest.fixture
def owner(client: Client) -> Client:
    return organiser_of(client)[0]


@pytest.fixture
def event(client: Client, owner: Client) -> dict[str, Any]:
    return create_settled_event(client, owner)


def read_journal(owner: Client, query: str = "") -> list[dict[str, str]]:
    answer = owner.get(f"{ORGANISATION}/journal.csv{query}")
    assert answer.status_code == 200 and answer.data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(StringIO(answer.get_data(as_text=True).removeprefix("\ufeff"))))


def test_the_money_of_an_event(owner: Client, event: dict[str, Any]) -> None:
    money = data(owner.get(f"/api/events/{event['id']}/money"))
    (row,) = money["tickets"]
    assert (row["sold"], row["soldMinor"], row["refunded"], row["refundedMinor"]) == (2, 170000, 1, 85000)
    assert money["blockInvoices"] == {
        "invoices": 2,
        "issuedMinor": 1190000,
        "creditedMinor": 170000,
        "paidMinor": 850000,
        "openMinor": 340000,
        "owedBackMinor": 170000,
        "uninvoicedBlocks": 0,
        "uninvoicedMinor": 0,
    }
    assert (money["stallFees"]["dueMinor"], money["stallFees"]["refundedMinor"]) == (2 * FEE, 50000)
    figures = {row["figure"]: (row["bookedMinor"], row["ledgerMinor"]) for row in money["reconciliation"]}
    assert figures == {
        "stall_fee": (2 * FEE, 2 * FEE),
        "stall_fee_refund": (-50000, -50000),
        "block_invoice": (850000, 850000),
    }
    assert money["reconciled"] is True and not any(row["differenceMinor"] for row in money["reconciliation"])


@pytest.mark.parametrize(
    ("damage", "figure", "difference"),
    [
        ("UPDATE invoice_payment SET amount_minor = amount_minor + 1", "block_invoice", 1),
        ("UPDATE stall_fee_refund SET amount_minor = 49999", "stall_fee_refund", 1),
        ("UPDATE merchant_application SET amount_minor = amount_minor + 7 WHERE id = (SELECT max(id) FROM "
         "merchant_application)", "stall_fee", 7),
        ("UPDATE ledger_entry e SET amount_minor = e.amount_minor + 3 FROM ledger_transaction t WHERE t.id = "
         "e.transaction_id AND t.kind = 'block_invoice' AND e.account = 'organisation'", "block_invoice", -3),
    ],
)  # fmt: skip
def test_a_damaged_row_is_a_difference(
    owner: Client, event: dict[str, Any], damage: str, figure: str, difference: int
) -> None:
    with transaction() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text(damage))
    money = data(owner.get(f"/api/events/{event['id']}/money"))
    found = {row["figure"]: row["differenceMinor"] for row in money["reconciliation"] if row["differenceMinor"]}
    assert found == {figure: difference} and money["reconciled"] is False


def read_while_the_ledger_changes(app: Flask, owner: Client, event: dict[str, Any], patch: pytest.MonkeyPatch) -> Any:
    """The money of an event, whose ledger another process changes after the first figures were read."""
    load = event_money._load_ledger_sums

    def change(_: int) -> None:
        with app.app_context(), transaction() as session:
            session.execute(text("SET LOCAL session_replication_role = replica"))
            session.execute(text("UPDATE ledger_entry SET amount_minor = amount_minor + 3"))

    def load_late(event_ids: Any) -> Any:
        run_concurrently(1, change)
        return load(event_ids)

    with patch.context() as patched:
        patched.setattr(event_money, "_load_ledger_sums", load_late)
        return data(owner.get(f"/api/events/{event['id']}/money"))


def test_all_figures_are_of_the_same_moment(
    app: Flask, owner: Client, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_while_the_ledger_changes(app, owner, event, monkeypatch)["reconciled"] is True
    assert data(owner.get(f"/api/events/{event['id']}/money"))["reconciled"] is False


@pytest.mark.control
def test_without_the_snapshot_they_are_not(
    app: Flask, owner: Client, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_money, "snapshot", nullcontext)
    assert read_while_the_ledger_changes(app, owner, event, monkeypatch)["reconciled"] is False


def test_a_payment_that_was_taken_back_is_booked_the_other_way_today(owner: Client, event: dict[str, Any]) -> None:
    """Journal, figures and ledger agree to the cent; the VAT, which is of the documents, does not change."""
    vat = data(owner.get(f"{ORGANISATION}/vat"))
    row = next(row for row in read_journal(owner) if row["description"] == "Invoice of a block paid: Bank Windhoek")
    money = data(owner.get(f"/api/events/{event['id']}/money"))
    (path,) = {
        f"/api/events/{event['id']}/allocations/{block['id']}/invoice"
        for block in data(owner.get(f"/api/events/{event['id']}/allocations"))["allocations"]
        if block["invoice"]["number"] == row["document"]
    }
    assert (
        data(owner.post(f"{path}/received/take-back", {"number": 1, "reason": "Another invoice"}))["dueMinor"] == 680000
    )
    rows = read_journal(owner)
    words = "Payment for an invoice of a block taken back: Bank Windhoek"
    back = [row for row in rows if row["description"] == words]
    assert [(it["accountCode"], it["debit"], it["credit"]) for it in back] == [
        ("1100", "8500.00", ""),
        ("1000", "", "8500.00"),
    ]
    assert {it["receivedOn"] for it in back} == {""} and back[0]["transfer"] == row["transfer"]
    assert back[0]["document"] == row["document"]
    accounts: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        accounts[row["accountCode"]] += Decimal(row["debit"] or 0) - Decimal(row["credit"] or 0)
    after = data(owner.get(f"/api/events/{event['id']}/money"))
    open_minor = after["blockInvoices"]["openMinor"]
    assert open_minor == money["blockInvoices"]["openMinor"] + 680000 and after["reconciled"] is True
    assert accounts["1000"] == Decimal("2000.00") and accounts["1100"] == Decimal(open_minor) / 100
    assert data(owner.get(f"{ORGANISATION}/vat")) == vat


def test_every_entry_of_the_journal_balances(owner: Client, event: dict[str, Any]) -> None:
    rows = read_journal(owner)
    assert tuple(rows[0]) == HEADER and {row["event"] for row in rows} == {"Windhoek Lights"}
    sums: dict[str, Decimal] = defaultdict(Decimal)
    accounts: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        assert bool(row["debit"]) != bool(row["credit"]) and row["accountName"] == ACCOUNTS[row["accountCode"]]
        amount = Decimal(row["debit"] or 0) - Decimal(row["credit"] or 0)
        sums[row["entry"]] += amount
        accounts[row["accountCode"]] += amount
    received = {
        (row["description"], row["receivedOn"], bool(row["transfer"])) for row in rows if row["entry"][0] == "L"
    }
    assert {(what, bool(day), has_text) for what, day, has_text in received} == {
        ("Stall fee paid: Kapana Corner", True, True),
        ("Stall fee paid: Kapana Corner", False, False),
        ("Stall fee refunded: Kapana Corner", False, True),
        ("Invoice of a block paid: Bank Windhoek", True, True),
    }
    documents = {row["document"] for row in rows if row["entry"][0] == "D"}
    assert {row["document"] for row in rows if row["entry"][0] == "L"} <= documents
    assert not any(sums.values())
    assert (accounts["1000"], accounts["1010"]) == (Decimal("10500.00"), Decimal("2500.00"))
    gross = accounts["2100"] + accounts["4000"] + accounts["4100"]
    assert gross == -(accounts["1000"] + accounts["1010"] + accounts["1100"])
    assert accounts["2100"] == -Decimal(data(owner.get(f"{ORGANISATION}/vat"))["vatMinor"]) / 100


def test_the_journal_has_the_days_and_the_event_asked_for(owner: Client, event: dict[str, Any]) -> None:
    assert read_journal(owner, "?from=2020-01-01&to=2020-12-31") == []
    assert read_journal(owner, f"?eventId={event['id']}") == read_journal(owner)
    assert read_journal(owner, f"?eventId={festival(owner)['id']}") == []
    backwards = owner.get(f"{ORGANISATION}/journal.csv?from=2026-02-01&to=2026-01-01")
    assert read_error(backwards) == (422, "VALIDATION_FAILED")


def test_vat_by_rate_with_credit_notes_apart(owner: Client, event: dict[str, Any]) -> None:
    found = data(owner.get(f"{ORGANISATION}/vat"))
    assert found["vatNumber"] == VAT_NUMBER
    lines = {row["kind"]: row for row in found["lines"]}
    assert {row["vatPercent"] for row in found["lines"]} == {15.0}
    assert (lines["credit_note"]["documents"], lines["credit_note"]["grossMinor"]) == (2, -220000)
    assert all(row["netMinor"] + row["vatMinor"] == row["grossMinor"] for row in found["lines"])
    assert found["vatMinor"] == sum(row["vatMinor"] for row in found["lines"])


def test_without_a_vat_number_there_is_no_vat(owner: Client) -> None:
    block = block_of(festival(owner), holder_organisation="=HYPERLINK(1)")
    data(owner.post(f"/api/events/{block.event_id}/allocations/{block.id}/invoice/email"), 202)
    assert data(owner.get(f"{ORGANISATION}/vat"))["lines"] == []
    rows = read_journal(owner)
    assert [row["accountCode"] for row in rows] == ["1100", "4000"]
    assert {row["description"] for row in rows} == {"'=HYPERLINK(1)"}


def test_other_organisations_see_nothing(client: Client, owner: Client, event: dict[str, Any]) -> None:
    other = organiser_of(client)[0]
    assert read_error(other.get(f"/api/events/{event['id']}/money")) == (404, "NOT_FOUND")
    assert read_journal(other) == [] and read_journal(other, f"?eventId={event['id']}") == []
    assert data(other.get(f"{ORGANISATION}/vat"))["lines"] == []


def test_documents_of_an_event_and_their_pdfs(client: Client, owner: Client, event: dict[str, Any]) -> None:
    path = f"/api/events/{event['id']}/money/documents"
    documents = data(owner.get(path))["documents"]
    money = data(owner.get(f"/api/events/{event['id']}/money"))
    by_source = {source: [row for row in documents if row["source"] == source] for source in ("block", "stall_fee")}
    blocks = money["blockInvoices"]
    assert sum(row["openMinor"] for row in documents) == blocks["openMinor"]
    assert sum(row["totalMinor"] for row in by_source["block"]) == blocks["issuedMinor"] - blocks["creditedMinor"]
    assert {row["kind"] for row in by_source["stall_fee"]} == {"invoice", "credit_note"}
    for row in documents:
        answer = owner.get(f"{path}/{row['id']}")
        assert answer.data.startswith(b"%PDF-") and f"{row['number']}.pdf" in answer.headers["Content-Disposition"]
    other = organiser_of(client)[0]
    assert read_error(other.get(path)) == (404, "NOT_FOUND")
    elsewhere = f"/api/events/{festival(other)['id']}/money/documents/{documents[0]['id']}"
    assert read_error(other.get(elsewhere)) == (404, "NOT_FOUND")


def test_a_program_gets_settlement_and_invoices_as_files(owner: Client, event: dict[str, Any]) -> None:
    settlement = f"/api/events/{event['id']}/money/settlement"
    file_id = data(owner.post(settlement), 202)["fileId"]
    assert data(owner.post(settlement), 202)["fileId"] == file_id, "one that is being made is not begun again"
    archive_id = data(owner.post(f"{ORGANISATION}/money/invoices", {"eventId": event["id"]}), 202)["fileId"]
    assert read_error(owner.get(f"{ORGANISATION}/files/{file_id}/content")) == (404, "NOT_FOUND")
    run_due_jobs(worker="test")
    report = owner.get(f"{ORGANISATION}/files/{file_id}/content")
    assert report.data.startswith(b"%PDF-") and report.headers["Cache-Control"] == "private, no-store"
    archive = ZipFile(BytesIO(owner.get(f"{ORGANISATION}/files/{archive_id}/content").data))
    documents = data(owner.get(f"/api/events/{event['id']}/money/documents"))["documents"]
    assert sorted(archive.namelist()) == sorted(f"{row['number']}.pdf" for row in documents)
    data(owner.delete(f"{ORGANISATION}/files/{archive_id}"))
    assert read_error(owner.get(f"{ORGANISATION}/files/{archive_id}")) == (404, "NOT_FOUND")
    assert data(owner.get(f"{ORGANISATION}/files/{file_id}"))["status"] == "done"


def test_a_period_without_invoices_is_refused(owner: Client, event: dict[str, Any]) -> None:
    empty = owner.post(f"{ORGANISATION}/money/invoices", {"from": "2020-01-01", "to": "2020-12-31"})
    assert read_error(empty) == (422, "VALIDATION_FAILED")
    backwards = owner.post(f"{ORGANISATION}/money/invoices", {"from": "2026-02-01", "to": "2026-01-01"})
    assert read_error(backwards) == (422, "VALIDATION_FAILED")


def test_the_money_of_all_events_is_that_of_each(client: Client, owner: Client, event: dict[str, Any]) -> None:
    later = festival(owner)
    found = data(owner.get(f"{ORGANISATION}/money"))["events"]
    assert {row["id"]: row["money"] for row in found} == {
        shown["id"]: data(owner.get(f"/api/events/{shown['id']}/money")) for shown in (event, later)
    }
    assert data(organiser_of(client)[0].get(f"{ORGANISATION}/money"))["events"] == []
