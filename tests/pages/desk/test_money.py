"""The money of an event and of an organisation at the desk: who sees it, the figures, the exports, the settlement."""

import re
from datetime import date
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.models import Account
from app.core.formatting import format_money
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from tests.allocations.blocks import block_of, festival
from tests.counting import count_statements
from tests.factories.money import FEE, create_settled_event
from tests.factories.payouts import execute_sql, fetch_scalar
from tests.http import Client, data
from tests.pages.desk.test_events import open_as
from tests.pages.desk.test_files import FILES, READERS, ROLES
from tests.pages.pages import Visitor
from tests.pages.test_account_page import sign_in_browser
from tests.pages.test_team_pages import create_owner
from tests.pdf_text import NEEDS_PDFTOTEXT, read_pdf

MONEY = "/desk/money"
EXPORTS = ("journal.csv", "vat.csv", "vat.pdf")
HOSTILE = ("never", "2026-02-30", "10000-01-01", "-1", "0" * 400, "2026-01-01T00:00", "\x00", "' OR 1=1")


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_owner("Namib Events")


@pytest.fixture
def event(client: Client, organiser: Client) -> dict[str, Any]:
    return create_settled_event(client, organiser)


def build_path(event: dict[str, Any]) -> str:
    return f"/desk/events/{event['id']}/money"


def show(text: str) -> str:
    """The text of a page or PDF with plain spaces."""
    return re.sub(r"\s+", " ", text.replace("\u202f", " ").replace("\u00a0", " "))


def money(amount_minor: int) -> str:
    return show(format_money(amount_minor))


def press(visitor: Visitor, action: str) -> str:
    """Send the form with this action, have the file made, and return the address of its download."""
    number = next(number for number, form in enumerate(visitor.forms) if form.action.endswith(action))
    answer = visitor.press(form=number)
    assert answer.status_code == 303, answer.text
    run_due_jobs(worker="test")
    return f"{answer.headers['Location']}/download"


def open_pdf(visitor: Visitor, path: str) -> str:
    answer = visitor.open(path)
    assert answer.status_code == 200 and answer.data.startswith(b"%PDF"), answer.text
    return show(read_pdf(answer.data))


def damage(statement: str) -> None:
    with transaction() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text(statement))


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_what_it_may(app: Flask, client: Client, owner: Account, organiser: Client, role: str) -> None:
    event = festival(organiser)
    visitor = open_as(app, client, owner, role)
    expected = 200 if role in READERS else 403
    for path in (build_path(event), MONEY, *(f"{MONEY}/{name}" for name in EXPORTS)):
        assert visitor.open(path).status_code == expected, path
    visitor.open("/desk/events")
    token = visitor.forms[0].fields["csrf_token"]
    if role not in READERS:
        for path in (f"{build_path(event)}/settlement", f"{MONEY}/invoices"):
            assert visitor.flask.post(path, data={"csrf_token": token}).status_code == 403, path
        assert visitor.open(f"{build_path(event)}/documents/{'a' * 24}").status_code == 403
        assert fetch_scalar("SELECT count(*) FROM organisation_file") == 0


@NEEDS_PDFTOTEXT
def test_a_member_of_one_event_sees_its_money_only(
    app: Flask, client: Client, owner: Account, organiser: Client
) -> None:
    mine, other = festival(organiser), festival(organiser)
    visitor = open_as(app, client, owner, "finance", eventIds=[mine["id"]])
    page = visitor.open(build_path(mine))
    assert page.status_code == 200 and "Journal, VAT and invoices" not in page.text
    assert visitor.open(build_path(other)).status_code == 404
    assert visitor.open(MONEY).status_code == 403
    visitor.open(build_path(mine))
    assert "Namib Events" in open_pdf(visitor, press(visitor, "/settlement"))


def test_money_of_others_is_not_there(app: Flask, desk: Visitor, event: dict[str, Any]) -> None:
    document = desk.open(build_path(event)).text.split("/documents/")[1][:24]
    stranger = sign_in_browser(app, create_owner("Other"))
    for path in ("", f"/documents/{document}"):
        assert stranger.open(f"{build_path(event)}{path}").status_code == 404
    assert desk.open(f"{build_path(event)}/documents/{'a' * 24}").status_code == 404
    page = stranger.open(MONEY)
    assert "Windhoek Lights" not in page.text
    token = stranger.forms[0].fields["csrf_token"]
    assert stranger.flask.post(f"{build_path(event)}/settlement", data={"csrf_token": token}).status_code == 404
    answer = stranger.flask.post(f"{MONEY}/invoices", data={"csrf_token": token, "eventId": event["id"]})
    assert answer.status_code == 404 and fetch_scalar("SELECT count(*) FROM organisation_file") == 0
    assert stranger.open(f"{MONEY}/journal.csv?eventId={event['id']}").text.count("\n") == 1
    assert stranger.open(f"{MONEY}/vat.pdf?eventId={event['id']}").status_code == 404


def test_the_figures_are_those_of_the_api(organiser: Client, desk: Visitor, event: dict[str, Any]) -> None:
    found = data(organiser.get(f"/api/events/{event['id']}/money"))
    page = show(desk.open(build_path(event)).text)
    fees, blocks = found["stallFees"], found["blockInvoices"]
    for amount in (*fees.values(), *(blocks[name] for name in blocks if name.endswith("Minor"))):
        assert money(amount) in page, amount
    for row in found["reconciliation"]:
        assert money(row["bookedMinor"]) in page
    assert "agree with the ledger to the cent" in page and "wrong-word" not in page
    assert money(850000 - 170000 + 340000) not in page
    received = fees["paidMinor"] + fees["receivedMinor"] + blocks["paidMinor"]
    page = show(desk.open(MONEY).text)
    assert "All events</td>" not in page
    other = festival(organiser)
    page = show(desk.open(MONEY).text)
    assert f'All events</td><td data-label="Received, less refunds" class="amount"><strong>{money(received)}' in page
    data(organiser.delete(f"/api/events/{other['id']}"))
    page = show(desk.open(MONEY).text)
    for amount in (received, fees["openMinor"] + blocks["openMinor"], 50000, 170000):
        assert money(amount) in page, amount
    assert "agree with the ledger" in page


@NEEDS_PDFTOTEXT
def test_a_difference_is_loud(desk: Visitor, event: dict[str, Any]) -> None:
    damage("UPDATE invoice_payment SET amount_minor = amount_minor + 1")
    page = show(desk.open(build_path(event)).text)
    assert "The books do not agree with the ledger" in page and f'wrong-word">{money(1)}' in page
    assert "agree with the ledger to the cent" not in page
    page = show(desk.open(MONEY).text)
    assert 'role="alert"' in page and "at Windhoek Lights" in page
    desk.open(build_path(event))
    assert "do not agree with the ledger" in open_pdf(desk, press(desk, "/settlement"))


@NEEDS_PDFTOTEXT
def test_invoices_are_listed_with_what_is_open_and_downloaded(desk: Visitor, event: dict[str, Any]) -> None:
    page = desk.open(build_path(event)).text
    assert "6 documents" in page and "Credit note" in page and "/stalls/" in page and '/invoice">Block' in page
    rows = show(page).split("<tr>")
    (open_row,) = [row for row in rows if money(340000) in row and 'data-label="Number"' in row]
    assert open_row.count(money(340000)) == 2
    document = open_row.split("/documents/")[1][:24]
    pdf = open_pdf(desk, f"{build_path(event)}/documents/{document}")
    assert "Tax invoice" in pdf and money(340000) in pdf
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE action = 'exports.invoice'") == 1
    assert "STL-" in desk.open(f"{build_path(event)}?format=csv").text


@NEEDS_PDFTOTEXT
def test_exports_have_the_days_and_the_event(organiser: Client, desk: Visitor, event: dict[str, Any]) -> None:
    this_year = date.today().year
    query = f"from={this_year - 1}-01-01&to={this_year + 1}-12-31&eventId={event['id']}"
    journal = desk.open(f"{MONEY}/journal.csv?{query}")
    assert journal.data.startswith(b"\xef\xbb\xbf") and ',"1100",' in journal.text and "Windhoek Lights" in journal.text
    assert f"journal-{this_year - 1}-01-01" in journal.headers["Content-Disposition"]
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE action = 'exports.journal'") == 1
    assert desk.open(f"{MONEY}/journal.csv?from=2020-01-01&to=2020-12-31").text.count("\n") == 1
    vat = data(organiser.get("/api/organisations/me/vat"))
    lines = desk.open(f"{MONEY}/vat.csv?{query}").text.splitlines()
    assert len(lines) == 1 + len(vat["lines"]) and all(",15," in line for line in lines[1:])
    assert sum(round(float(line.split(",")[6]) * 100) for line in lines[1:]) == vat["vatMinor"]
    assert money(vat["vatMinor"]) in show(desk.open(f"{MONEY}?{query}").text)
    pdf = open_pdf(desk, f"{MONEY}/vat.pdf?{query}")
    assert money(vat["vatMinor"]) in pdf and "Windhoek Lights" in pdf and "VAT registration number" in pdf
    assert "No invoice of this period has VAT" in desk.open(f"{MONEY}?from=2020-01-01&to=2020-12-31").text


@pytest.mark.parametrize("name", ["from", "to", "eventId"])
def test_a_wrong_period_is_an_error_and_makes_nothing(desk: Visitor, name: str) -> None:
    desk.open(MONEY)
    token = desk.forms[0].fields["csrf_token"]
    for value in HOSTILE:
        page = desk.flask.get(MONEY, query_string={name: value})
        assert page.status_code == 422 and "Journal as CSV" not in page.text, value
        for export in EXPORTS:
            assert desk.flask.get(f"{MONEY}/{export}", query_string={name: value}).status_code == 422, (export, value)
        answer = desk.flask.post(f"{MONEY}/invoices", data={"csrf_token": token, name: value})
        assert answer.status_code == 422, value
    assert fetch_scalar("SELECT count(*) FROM organisation_file") == 0


def test_periods_at_the_ends_of_the_calendar(desk: Visitor, event: dict[str, Any]) -> None:
    for query in ("from=0001-01-01&to=9999-12-31", "to=0001-12-31", "from=0001-01-01"):
        for path in (MONEY, *(f"{MONEY}/{export}" for export in EXPORTS)):
            assert desk.open(f"{path}?{query}").status_code == 200, (path, query)
    page = desk.open(f"{MONEY}?from=9999-12-31").text
    assert "Choose a last day that is not before the first day." in page and 'value="9999-12-31"' in page
    assert desk.open(f"{MONEY}?from=2026-02-01&to=2026-01-01").status_code == 422


def test_all_invoices_as_one_archive(app: Flask, desk: Visitor, event: dict[str, Any]) -> None:
    desk.open(MONEY)
    answer = desk.open(press(desk, "/invoices"))
    assert answer.headers["Content-Type"] == "application/zip"
    with ZipFile(BytesIO(answer.data)) as archive:
        names = archive.namelist()
        assert len(names) == 6 and {name.split("-")[0] for name in names} >= {"CN", "STL"}
        assert all(archive.read(name).startswith(b"%PDF") for name in names)
    assert fetch_scalar("SELECT count(*) FROM audit_entry WHERE action = 'exports.file'") == 1
    desk.open(f"{MONEY}?from=2020-01-01&to=2020-12-31")
    number = next(number for number, form in enumerate(desk.forms) if form.action.endswith("/invoices"))
    answer = desk.press(form=number)
    assert answer.status_code == 422 and "There are no invoices in this period." in answer.text


def test_an_archive_has_a_limit(desk: Visitor, event: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.money.documents.MAX_ARCHIVED", 5)
    desk.open(MONEY)
    number = next(number for number, form in enumerate(desk.forms) if form.action.endswith("/invoices"))
    answer = desk.press(form=number)
    assert answer.status_code == 422 and "These are 6 invoices." in answer.text


@NEEDS_PDFTOTEXT
def test_the_settlement_agrees_with_the_ledger_to_the_cent(desk: Visitor, event: dict[str, Any]) -> None:
    desk.open(build_path(event))
    path = press(desk, "/settlement")
    pdf = open_pdf(desk, path)
    for kind, label in (
        ("stall_fee", "Stall fees that came in"),
        ("stall_fee_refund", "Stall fees sent back"),
        ("block_invoice", "Invoices of blocks that were paid"),
    ):
        ledger = fetch_scalar(
            "SELECT sum(e.amount_minor)::bigint FROM ledger_entry e JOIN ledger_transaction t ON t.id = e.transaction_id"
            " WHERE t.event_id = :event AND t.kind = :kind AND e.account = 'organisation'",
            event=event["id"],
            kind=kind,
        )
        amount = money(ledger)
        assert f"{label} {amount} {amount} {money(0)}" in pdf, label
    kept = fetch_scalar(
        "SELECT sum(e.amount_minor)::bigint FROM ledger_entry e JOIN ledger_transaction t ON t.id = e.transaction_id"
        " WHERE t.event_id = :event AND e.account = 'organisation'",
        event=event["id"],
    )
    assert money(kept) in pdf and "agree with the ledger to the cent" in pdf
    for text_ in (
        "Windhoek Lights",
        "VAT registration number",
        "Weekend pass",
        "Refunded",
        money(2 * FEE),
        "Stall by stall",
    ):
        assert text_ in pdf, text_
    assert f"Together {money(2 * FEE)} {money(2 * FEE - 50000)} {money(50000)}" in pdf
    assert money(340000) in pdf and "VAT" in pdf and "Payouts" in pdf and "Page 1 of" in pdf
    assert desk.open(FILES).text.count("Settlement report") >= 1


@NEEDS_PDFTOTEXT
def test_the_settlement_says_who_entered_and_whether_the_event_is_over(desk: Visitor, event: dict[str, Any]) -> None:
    execute_sql(
        "INSERT INTO admission_tally (event_id, ticket_type_id, gate, quarter, stripe, first_entries, entries, exits)"
        " SELECT y.event_id, y.id, gate, date_trunc('hour', now()), 0, 2, 3, 1"
        " FROM ticket_type y, unnest(ARRAY['A', 'B']) gate WHERE y.event_id = :event AND y.position = 0",
        event=event["id"],
    )
    name = event["ticketTypes"][0]["name"]
    assert "The event is not over yet: these figures" in desk.open(build_path(event)).text
    pdf = open_pdf(desk, press(desk, "/settlement"))
    assert "Admitted at the gate" in pdf and "The event is not over yet. The figures" in pdf
    assert re.search(rf"{name} \d+ \d+ 4\b", pdf), pdf
    execute_sql(
        "UPDATE event SET starts_at = now() - interval '2 days', ends_at = now() - interval '1 day' WHERE id = :event",
        event=event["id"],
    )
    assert "not over yet" not in desk.open(build_path(event)).text
    assert "not over yet" not in open_pdf(desk, press(desk, "/settlement"))
    execute_sql(
        "UPDATE event SET visibility = 'cancelled', ends_at = now() + interval '1 day' WHERE id = :event",
        event=event["id"],
    )
    assert "This event is cancelled" in desk.open(build_path(event)).text
    pdf = open_pdf(desk, press(desk, "/settlement"))
    assert "The event is cancelled. The figures" in pdf and "not over yet" not in pdf


def test_the_page_says_whether_money_has_moved_since_the_report(desk: Visitor, event: dict[str, Any]) -> None:
    assert "A settlement report was made" not in desk.open(build_path(event)).text
    press(desk, "/settlement")
    page = desk.open(build_path(event)).text
    assert "A settlement report was made" in page and "make a new one" not in page
    execute_sql("UPDATE organisation_file SET created_at = now() - interval '1 day'")
    assert "make a new one" in desk.open(build_path(event)).text


def test_two_who_ask_at_once_get_one_settlement(desk: Visitor, event: dict[str, Any]) -> None:
    desk.open(build_path(event))
    number = next(number for number, form in enumerate(desk.forms) if form.action.endswith("/settlement"))
    first, second = (desk.press(form=number).headers["Location"] for _ in range(2))
    assert first == second and fetch_scalar("SELECT count(*) FROM organisation_file") == 1


def test_blocks_without_an_invoice_are_told(organiser: Client, desk: Visitor, event: dict[str, Any]) -> None:
    assert "Not yet invoiced" not in desk.open(build_path(event)).text
    block, _ = (block_of(event, quantity=4, unit_price_minor=price) for price in (12345, 0))
    found = data(organiser.get(f"/api/events/{event['id']}/money"))
    blocks = found["blockInvoices"]
    assert (blocks["uninvoicedBlocks"], blocks["uninvoicedMinor"]) == (1, 4 * 12345)
    assert f"<dt>Not yet invoiced</dt><dd>{money(4 * 12345)} · <a" in show(desk.open(build_path(event)).text)
    assert organiser.get(f"/api/events/{event['id']}/allocations/{block.id}/invoice.pdf").status_code == 200
    assert "Not yet invoiced" not in desk.open(build_path(event)).text


def test_the_pages_take_few_statements(desk: Visitor, event: dict[str, Any]) -> None:
    for path, count in ((build_path(event), 16), (MONEY, 12)):
        _, statements = count_statements(lambda path=path: desk.flask.get(path))  # type: ignore[misc]
        assert len(statements) == count, (path, statements)
