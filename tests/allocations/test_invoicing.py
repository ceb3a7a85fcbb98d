"""Invoices of blocks: numbered without gaps, issued once, never changed, and corrected by credit notes."""

import re
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.allocations import invoice_context, invoices
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.invoicing import sql
from tests.allocations.blocks import block_of, festival, organiser_of, shrink
from tests.allocations.documents import extract_text
from tests.allocations.law import assert_books_agree
from tests.counting import record_statements
from tests.factories.accounts import create_account, create_signed_in_client, list_mails_to, run_jobs
from tests.factories.allocations import create_another_block, create_block
from tests.factories.organisations import ACCOUNT_NUMBER, VAT_NUMBER, register_for_vat
from tests.http import Client, data, list_problems, read_error
from tests.races import run_concurrently


def path(block: Any, end: str = "invoice.pdf") -> str:
    return f"/api/events/{block.event_id}/allocations/{block.id}/{end}"


def count(statement: str) -> int:
    with transaction() as session:
        return int(session.scalar(text(statement)) or 0)


def run_credit_job(block: Any) -> None:
    """Enqueue the credit job, as a release does, and run it."""
    with transaction():
        enqueue("allocations.credit", block_id=block.id)
    run_jobs()


def test_first_download_issues_the_invoice_and_later_ones_are_identical(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    answers = [owner.get(path(block)) for _ in range(3)]
    assert {response.status_code for response in answers} == {200}
    assert answers[0].content_type == "application/pdf" and answers[0].headers["Cache-Control"] == "private, no-store"
    assert answers[0].data == answers[1].data == answers[2].data
    number = re.search(r"Invoice (\d{4}-\d{6})", extract_text(answers[0].data))
    assert number and number[1].endswith("-000001")
    assert f'filename="{number[1]}.pdf"' in answers[0].headers["Content-Disposition"]
    assert "Bank Windhoek" in extract_text(answers[0].data) and count("SELECT last FROM invoice_counter") == 1


def test_issued_invoice_does_not_follow_later_changes(client: Client) -> None:
    owner, _ = organiser_of(client)
    made = festival(owner)
    block = block_of(made)
    before = owner.get(path(block)).data
    data(owner.patch(f"/api/events/{made['id']}", {"name": "Another name", "venue": "Elsewhere"}))
    with transaction() as session:
        session.execute(text("UPDATE allocation_block SET holder_name = 'Somebody', unit_price_minor = 1"))
    assert owner.get(path(block)).data == before


@pytest.mark.parametrize(
    "change", ["UPDATE invoice SET total_minor = 1", "DELETE FROM invoice", "TRUNCATE invoice CASCADE"]
)
def test_database_refuses_to_change_an_invoice(client: Client, change: str) -> None:
    owner, _ = organiser_of(client)
    data(owner.post(path(block_of(festival(owner)), "invoice/email")), 202)
    with pytest.raises(DBAPIError, match="never changed or removed"), transaction() as session:
        session.execute(text(change))


def test_invoice_lists_discounts_and_contained_vat(client: Client) -> None:
    owner, _ = organiser_of(client)
    discounts = [{"code": "bulk", "label": "Bulk discount 10 % (from 10 places)", "percent_off": 10.0}]
    block = block_of(festival(owner), 10, discounts=discounts)
    register_for_vat(owner)
    text_of = extract_text(owner.get(path(block)).data)
    for phrase in (
        "Bulk discount 10 % (from 10 places)",
        "Tax invoice 2",
        "VAT 15 %",
        VAT_NUMBER,
        ACCOUNT_NUMBER,
        "Due",
    ):
        assert phrase in text_of
    found = data(owner.get(path(block, "invoice")))
    assert (found["totalMinor"], found["creditedMinor"], found["status"]) == (765000, 0, "issued")


def test_block_has_a_summary_of_its_invoice(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 2)
    block_path = f"/api/events/{block.event_id}/allocations/{block.id}"
    assert data(owner.get(block_path))["invoice"] is None
    number = data(owner.post(path(block, "invoice/email")), 202)["number"]
    summary = {"number": number, "status": "issued", "totalMinor": 170000, "paidMinor": 0, "dueMinor": 170000}
    assert data(owner.get(block_path))["invoice"] == summary
    assert data(owner.get(block_path.rpartition("/")[0]))["allocations"][0]["invoice"] == summary


def test_complimentary_block_has_no_invoice(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), unit_price_minor=0)
    assert read_error(owner.get(path(block))) == (409, "NOTHING_TO_INVOICE")
    assert read_error(owner.post(path(block, "invoice/email"))) == (409, "NOTHING_TO_INVOICE")
    assert read_error(owner.get(path(block, "invoice"))) == (409, "INVOICE_NOT_ISSUED")
    assert count("SELECT count(*) FROM invoice_counter") == 0


def test_other_organisers_get_not_found(client: Client) -> None:
    owner, _ = organiser_of(client)
    other, _ = organiser_of(client)
    block = block_of(festival(owner))
    elsewhere = festival(other)["id"]
    assert read_error(other.get(path(block))) == (404, "NOT_FOUND")
    assert read_error(other.post(path(block, "invoice/email"))) == (404, "NOT_FOUND")
    assert read_error(owner.get(path(block) + "?number=CN-2026-000001")) == (404, "NOT_FOUND")
    assert read_error(other.get(f"/api/events/{elsewhere}/allocations/{block.id}/invoice.pdf")) == (404, "NOT_FOUND")


def test_analyst_cannot_issue_an_invoice(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    analyst = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    assert read_error(analyst.get(path(block))) == (409, "INVOICE_NOT_ISSUED")
    issued = owner.get(path(block)).data
    assert analyst.get(path(block)).data == issued


def test_concurrent_invoices_have_consecutive_numbers(client: Client) -> None:
    owner, who = organiser_of(client)
    made = festival(owner)
    blocks = [block_of(made, 2) for _ in range(30)]
    answers = run_concurrently(30, lambda number: owner.get(path(blocks[number])))
    assert Counter(response.status_code for response in answers) == {200: 30}
    with transaction() as session:
        found = list(session.scalars(text("SELECT number FROM invoice ORDER BY sequence")))
    assert [int(item[-6:]) for item in found] == list(range(1, 31)) and who.id


@pytest.mark.control
def test_numbers_collide_without_the_lock_of_the_counter(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, _ = organiser_of(client)
    made = festival(owner)
    blocks = [block_of(made, 2) for _ in range(30)]
    last = "SELECT coalesce(max(sequence), 0) + 1 FROM invoice WHERE organiser_id = :organiser_id AND kind = :series"
    unlocked = f"SELECT CAST(extract(year FROM now() AT TIME ZONE :home) AS int), ({last}) FROM pg_sleep(0.02)"
    monkeypatch.setattr(sql, "TAKE_NUMBER", text(unlocked))
    answers = run_concurrently(30, lambda number: owner.get(path(blocks[number])).status_code)
    found = Counter(answers)
    assert found[200] >= 1 and found[500] >= 1 and found[200] == count("SELECT count(*) FROM invoice")


def test_concurrent_downloads_issue_one_invoice(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    answers = run_concurrently(16, lambda _: owner.get(path(block)))
    assert len({response.data for response in answers}) == 1 and count("SELECT count(*) FROM invoice") == 1
    assert count("SELECT last FROM invoice_counter") == 1


def test_numbers_of_each_organiser_begin_at_one(client: Client) -> None:
    for _ in range(2):
        owner, _ = organiser_of(client)
        made = festival(owner)
        first, second = (extract_text(owner.get(path(block_of(made))).data) for _ in range(2))
        assert "-000001" in first and "-000002" in second


def test_failed_issue_leaves_no_gap(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, _ = organiser_of(client)
    made = festival(owner)
    with monkeypatch.context() as broken:
        broken.setattr(invoices, "parse_document", lambda _: 1 / 0)
        assert owner.get(path(block_of(made))).status_code == 500
    assert "-000001" in extract_text(owner.get(path(block_of(made))).data)


def test_released_places_are_credited_once(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 10)
    before = owner.get(path(block)).data
    shrink(block, 3)
    run_credit_job(block)
    run_credit_job(block)
    found = data(owner.get(path(block, "invoice")))
    (note,) = found["creditNotes"]
    assert (note["totalMinor"], found["creditedMinor"], found["status"]) == (-255000, 255000, "credited")
    assert note["number"].startswith("CN-") and note["number"].endswith("-000001")
    paper = owner.get(f"{path(block)}?number={note['number']}")
    assert "Credit note" in extract_text(paper.data) and f"For invoice\n{found['number']}" in extract_text(paper.data)
    assert owner.get(path(block)).data == before
    (mail,) = list_mails_to("tuli@bank.example")
    assert mail["subject"].rpartition(" ")[2] == note["number"]
    assert "Places were given back, so" in mail["text"] and "cancelled" not in mail["text"] + mail["html"]


def test_credit_notes_add_up_to_the_invoice_to_the_cent(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 7, unit_price_minor=33333)
    register_for_vat(owner)
    owner.get(path(block))
    for by in (1, 2, 4):
        shrink(block, by)
        run_credit_job(block)
    found = data(owner.get(path(block, "invoice")))
    assert found["creditedMinor"] == found["totalMinor"] == 7 * 33333
    assert count("SELECT sum((paper->>'vat_minor')::int) FROM invoice") == 0
    assert count("SELECT max((paper->>'vat_minor')::int) FROM invoice") == 30434
    last = owner.get(f"{path(block)}?number={found['creditNotes'][2]['number']}")
    assert "Tax credit note" in extract_text(last.data) and "Without VAT it was" in extract_text(last.data)
    assert [int(credit_note["number"][-6:]) for credit_note in found["creditNotes"]] == [1, 2, 3]


def test_concurrent_credit_jobs_issue_one_credit_note(app: Flask, client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 10)
    owner.get(path(block))
    shrink(block, 5)

    def settle(_: int) -> str | None:
        with app.app_context():
            made = invoices.issue_block_credit_note(block.id)
            return made.number if made else None

    assert Counter(item is None for item in run_concurrently(16, settle)) == {False: 1, True: 15}


def test_invoice_charges_the_places_held_at_issue(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 10)
    shrink(block, 4)
    run_credit_job(block)
    assert (
        data(owner.post(path(block, "invoice/email"), {"to": "books@bank.example"}), 202)["to"] == "books@bank.example"
    )
    assert data(owner.get(path(block, "invoice")))["totalMinor"] == 6 * 85000


def test_invoice_is_emailed_to_the_holder(client: Client) -> None:
    owner, who = organiser_of(client, name="Nangula Shikongo")
    block = block_of(festival(owner))
    sent = data(owner.post(path(block, "invoice/email")), 202)
    assert sent["to"] == "tuli@bank.example"
    (mail,) = list_mails_to("tuli@bank.example")
    assert sent["number"] in mail["subject"] and mail["headers"]["Reply-To"] == who.email
    assert "N$\u00a0850\u202f" not in mail["text"] and "N$\u00a08\u202f500.00" in mail["text"]


def test_invoice_email_needs_an_address(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), holder_email=None)
    assert read_error(owner.post(path(block, "invoice/email"))) == (409, "INVOICE_ADDRESS_MISSING")
    assert count("SELECT count(*) FROM invoice") == 0


def test_same_idempotency_key_sends_one_email(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    keyed = owner.with_(Idempotency_Key="invoice-for-bank")
    assert [keyed.post(path(block, "invoice/email")).status_code for _ in range(2)] == [202, 202]
    assert len(list_mails_to("tuli@bank.example")) == 1


def test_download_runs_few_statements(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    # The first one also records that the invoice was issued, and each one that it was downloaded.
    for most in (10, 3):
        with record_statements() as seen:
            owner.get(path(block))
        assert len(seen) <= most, seen


def test_places_move_neither_to_an_invoiced_block_nor_from_it(client: Client) -> None:
    made = create_block(client, quantity=5)
    target = create_another_block(made, quantity=1)
    assert target.owner.get(f"{target.path}/invoice.pdf").status_code == 200
    assert read_error(made.post("move", toBlockId=target.id, quantity=4)) == (409, "BLOCK_INVOICED")
    assert read_error(target.post("move", toBlockId=made.id, quantity=1)) == (409, "BLOCK_INVOICED")
    assert_books_agree()


BUYER = {
    "buyerName": "Bank Windhoek Ltd",
    "buyerAddress": "262 Independence Avenue\nWindhoek",
    "buyerVatNumber": "00123-01-5",
    "buyerReference": "PO-2026-118",
}


def test_invoice_and_credit_note_name_the_buyer_as_entered_before_the_issue(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner), 3)
    for wrong in ({"buyerName": "x" * 201, "buyerAddress": "x"}, {"buyerReference": 5}):
        answer = owner.patch(path(block, "invoice/buyer"), wrong)
        assert answer.status_code == 422 and len(answer.get_json()["data"]["errors"]) == len(wrong)
    version = data(owner.get(path(block, "")[:-1]))["version"]
    for _ in range(2):
        answer = data(owner.patch(path(block, "invoice/buyer"), BUYER))
        assert BUYER.items() <= answer.items() and answer["version"] == version + 1
    number = data(owner.post(path(block, "invoice/email")), 202)["number"]
    printed = ["Bank Windhoek Ltd", "262 Independence Avenue", "Windhoek", "VAT registration number 00123-01-5"]
    invoice = data(owner.get(path(block, "invoice")))
    assert (invoice["buyer"], invoice["buyerReference"]) == (printed, "PO-2026-118")
    for phrase in (*printed, "Purchase order", "PO-2026-118", number):
        assert phrase in extract_text(owner.get(path(block)).data), phrase
    assert read_error(owner.patch(path(block, "invoice/buyer"), {"buyerName": None})) == (409, "BLOCK_INVOICED")
    assert data(owner.patch(path(block, "invoice/buyer"), BUYER))["version"] == version + 1
    with transaction() as session:
        session.execute(text("UPDATE allocation_block SET buyer_name = NULL, holder_name = 'Another person'"))
    shrink(block, 1)
    run_credit_job(block)
    note = data(owner.get(path(block, "invoice")))["creditNotes"][0]["number"]
    assert printed[-1] in extract_text(owner.get(path(block, f"invoice.pdf?number={note}")).data)


def test_holder_with_an_address_is_the_buyer_by_default(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    holder = {"organisation": "Bank Windhoek", "name": "Tuli Amupolo", "email": "tuli@bank.example"}
    data(owner.patch(path(block, "")[:-1], {"holder": holder}))
    data(owner.patch(path(block, "invoice/buyer"), {"buyerAddress": "262 Independence Avenue"}))
    buyer = data(owner.get(path(block, "invoice/preview")))["buyer"]
    assert buyer == ["Bank Windhoek", "Tuli Amupolo", "262 Independence Avenue", "tuli@bank.example"]


def test_preview_takes_no_number_and_says_what_the_invoice_says(client: Client) -> None:
    owner, _ = organiser_of(client)
    register_for_vat(owner)
    made = festival(owner)
    block, other = block_of(made, 10), block_of(made)
    for one in (block, other):
        data(owner.patch(path(one, "")[:-1], {"holder": {"email": "tuli@bank.example"}}))
    data(owner.patch(path(block, "invoice/buyer"), BUYER))
    preview = data(owner.get(path(block, "invoice/preview")))
    assert preview["title"] == "Preview of the tax invoice" and preview["previousBuyer"] is None
    assert {"label": "Reference", "value": "The number of the invoice"} in preview["payment"]
    text_of = extract_text(owner.get(path(block, "invoice/preview?format=pdf")).data)
    assert "Preview of the tax invoice" in text_of and "This is a preview, not an invoice." in text_of
    assert count("SELECT count(*) FROM invoice") == count("SELECT count(*) FROM invoice_counter") == 0
    previous = data(owner.get(path(other, "invoice/preview")))["previousBuyer"]
    assert previous == {name: BUYER[name] for name in ("buyerName", "buyerAddress", "buyerVatNumber")}
    printed = extract_text(owner.get(path(block)).data)
    assert all(line in printed for line in [*preview["seller"], *preview["buyer"], preview["lines"][0]["description"]])
    assert data(owner.get(path(block, "invoice")))["totalMinor"] == preview["totalMinor"]
    assert read_error(owner.get(path(block, "invoice/preview"))) == (409, "BLOCK_INVOICED")


def read_preview(owner: Client, block: Any) -> dict[str, Any]:
    return data(owner.get(path(block, "invoice/preview")))


def test_mail_issues_only_what_its_preview_said(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    mail = path(block, "invoice/email")
    digest = read_preview(owner, block)["digest"]
    data(owner.patch(path(block, "invoice/buyer"), BUYER))
    to = {"to": "frieda@example.com"}
    assert read_error(owner.post(mail, {**to, "previewDigest": digest})) == (412, "STALE_VERSION")
    assert list_problems(owner.post(mail, {**to, "previewDigest": "x"})) == {"previewDigest": "wrong_length"}
    assert count("SELECT count(*) FROM invoice") == 0
    data(owner.post(mail, {**to, "previewDigest": read_preview(owner, block)["digest"]}), 202)
    data(owner.post(mail, {**to, "previewDigest": digest}), 202)


def test_dates_are_not_in_the_digest_of_a_preview(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    first = read_preview(owner, block)
    monkeypatch.setattr(invoice_context, "DAYS_TO_PAY", timedelta(days=3))
    second = read_preview(owner, block)
    assert first["digest"] == second["digest"] and first["facts"] != second["facts"]


def test_buyer_is_changed_in_the_version_that_was_read(client: Client) -> None:
    owner, _ = organiser_of(client)
    block = block_of(festival(owner))
    buyer = path(block, "invoice/buyer")
    assert read_error(owner.patch(buyer, BUYER, headers={"If-Match": '"99"'})) == (412, "STALE_VERSION")
    etag = owner.patch(buyer, BUYER).headers["ETag"]
    data(owner.patch(buyer, {"buyerName": None}, headers={"If-Match": etag}))
