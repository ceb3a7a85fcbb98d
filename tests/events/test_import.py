"""`flask tickets import`: three kinds of exports, atomic, idempotent by reference, errors by row and column."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import func, select

from app.core.db import db
from app.core.spreadsheet import read_sheet
from app.events.actions.import_tickets import import_tickets
from app.events.models import Ticket
from app.events.ticket_files import parse_sheet
from app.events.ticket_import_result import ImportResult, ImportSource
from tests.events.law import assert_books_agree
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data
from tests.races import run_concurrently

DATA = Path(__file__).parent.parent / "data" / "tickets"
TYPES = [
    {"name": "Weekend pass", "priceMinor": 85000, "quantity": 500},
    {"name": "Day ticket Saturday", "priceMinor": 45000, "quantity": 500},
    {"name": "Camping add-on", "priceMinor": 12000, "quantity": 500},
    {"name": "Complimentary", "priceMinor": 0, "quantity": 500},
]
HEADER = "reference,ticketType,name,email,price,soldAt,status\n"

Run = Callable[..., Result]


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def event(owner: Client) -> dict[str, Any]:
    return create_published_event(owner, ticketTypes=TYPES)


@pytest.fixture
def run(app: Flask, event: dict[str, Any], tmp_path: Path) -> Run:
    def run_import(content: str | bytes | Path, *options: str) -> Result:
        path = content if isinstance(content, Path) else tmp_path / "tickets.csv"
        if not isinstance(content, Path):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return app.test_cli_runner().invoke(args=["tickets", "import", str(path), "--event", event["id"], *options])

    return run_import


def stats(owner: Client, event: dict[str, Any]) -> dict[str, Any]:
    return data(owner.get(f"/api/events/{event['id']}/ticket-stats"))


def count_tickets() -> int:
    return db.session.scalar(select(func.count()).select_from(Ticket)) or 0


def test_pretix_export_books_paid_tickets(run: Run, owner: Client, event: dict[str, Any]) -> None:
    result = run(DATA / "pretix-positions.csv")
    assert result.exit_code == 0, result.output
    assert "pretix order positions: 282 created, 0 updated, 0 unchanged, 114 not sold" in result.output
    sales = stats(owner, event)
    assert sales["totals"]["sold"] == 282 == sum(day["sold"] for day in sales["series"])
    assert sales["totals"]["revenueMinor"] == sum(
        round(float(row["Price"]) * 100)
        for row in csv.DictReader((DATA / "pretix-positions.csv").open())
        if row["Status"] == "paid"
    )
    assert db.session.scalar(select(Ticket.email).where(Ticket.reference == "K9DCE-2")) == "fan90@example.org"
    assert_books_agree()


def test_eventbrite_report_books_attendees(run: Run, owner: Client, event: dict[str, Any]) -> None:
    result = run(DATA / "eventbrite-attendees.csv")
    assert result.exit_code == 0, result.output
    assert "Eventbrite attendees: 103 created, 0 updated, 0 unchanged, 17 not sold" in result.output
    row = db.session.execute(select(Ticket.name, Ticket.sold_at).where(Ticket.reference == "9000000003")).one()
    assert row.name == "Zoë Shilongo" and row.sold_at.isoformat() == "2026-10-04T09:13:00+00:00"
    assert_books_agree()


@pytest.mark.parametrize("name", ["pretix-positions.csv", "eventbrite-attendees.csv"])
def test_importing_the_same_file_again_changes_nothing(run: Run, name: str) -> None:
    assert run(DATA / name).exit_code == 0
    before = count_tickets()
    result = run(DATA / name)
    assert result.exit_code == 0 and "0 created, 0 updated" in result.output
    assert count_tickets() == before
    assert_books_agree()


def as_excel(content: str) -> bytes:
    """The same table as Excel writes it with German settings."""
    out = io.StringIO()
    rows = list(csv.reader(io.StringIO(content)))
    csv.writer(out, delimiter=";", lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode("cp1252")


OWN = HEADER + 'A1,weekend pass,Zoë Großmann,Zoe@Example.org,"850.00",2026-10-01,\n'


@pytest.mark.parametrize(
    "content",
    [
        OWN.encode(),
        b"\xef\xbb\xbf" + OWN.encode(),
        OWN.encode("cp1252"),
        as_excel(OWN),
        as_excel(OWN.replace("850.00", "850,00").replace("2026-10-01", "01.10.2026")),
        OWN.replace('"', "").replace(",", "\t").encode(),
        OWN.replace("\n", "\r\n").encode("utf-16"),
        OWN.replace("reference,ticketType", "REFERENCE,Ticket type").encode(),
        OWN.replace("price,", "priceMinor,").replace('"850.00"', "85000").encode(),
        OWN.replace('"850.00"', "N$ 850").encode(),
    ],
)
def test_all_dialects_of_csv_give_the_same_ticket(run: Run, content: bytes) -> None:
    result = run(content)
    assert result.exit_code == 0, result.output
    row = db.session.execute(select(Ticket.name, Ticket.email, Ticket.price_minor, Ticket.sold_at)).one()
    assert row.name == "Zoë Großmann" and row.email == "zoe@example.org" and row.price_minor == 85000
    assert row.sold_at.isoformat() == "2026-09-30T22:00:00+00:00"


def test_problems_are_reported_by_row_and_column_and_nothing_is_written(run: Run) -> None:
    rows = [
        "A1,Weekend pass,Ok,ok@example.org,850,2026-10-01,sold",
        ",Weekend pass,No reference,ok@example.org,850,2026-10-01,sold",
        "A3,Weekend pass,Bad mail,not-an-address,850,2026-10-01,sold",
        "A4,Weekend pass,Half a cent,ok@example.org,0.015,2026-10-01,sold",
        "A5,Weekend pass,Bad day,ok@example.org,850,2026-13-01,sold",
        "A6,Weekend pass,Bad status,ok@example.org,850,2026-10-01,perhaps",
        "A1,Weekend pass,Twice,ok@example.org,850,2026-10-01,sold",
        "A8,Weekend pass,Less than nothing,ok@example.org,-1,2026-10-01,sold",
    ]
    result = run(HEADER + "\n".join(rows))
    assert result.exit_code == 1 and count_tickets() == 0
    for expected in (
        "row 3, reference:",
        "row 4, email:",
        "row 5, price:",
        "row 6, soldAt:",
        "row 7, status:",
        "row 8, reference:",
        "row 9, price:",
        "7 errors; nothing was written.",
    ):
        assert expected in result.output
    assert "row 2" not in result.output.replace("in row 2 already", "")


def test_unknown_ticket_type_is_an_error_without_create_types(run: Run, owner: Client, event: dict[str, Any]) -> None:
    content = HEADER + "A1,Backstage,Z,z@example.org,990,2026-10-01,\nA2,backstage,Y,y@example.org,990,2026-10-01,\n"
    result = run(content)
    assert result.exit_code == 1 and "row 2, ticketType: The event has no such ticket type" in result.output
    assert run(content, "--create-types").exit_code == 0
    new_type = stats(owner, event)["ticketTypes"][-1]
    assert (new_type["name"], new_type["total"], new_type["sold"], new_type["available"]) == ("Backstage", 2, 2, 0)
    assert data(owner.get(f"/api/events/{event['id']}"))["ticketTypes"][-1]["priceMinor"] == 99000
    assert_books_agree()


def test_invisible_ticket_type_counts_as_missing(run: Run, owner: Client, event: dict[str, Any]) -> None:
    result = run(HEADER + "A1,\u200b\u2060,Z,z@example.org,990,2026-10-01,\n", "--create-types")
    assert result.exit_code == 1 and "row 2, ticketType: Must not be empty." in result.output
    assert all(ticket_type["name"] for ticket_type in stats(owner, event)["ticketTypes"])


def test_more_than_the_total_is_an_error_without_allow_oversell(
    run: Run, owner: Client, client: Client, event: dict[str, Any]
) -> None:
    small = {"id": event["ticketTypes"][0]["id"], "name": "Weekend pass", "priceMinor": 1, "quantity": 2}
    owner.patch(f"/api/events/{event['id']}", {"ticketTypes": [small]})
    content = HEADER + "".join(f"A{i},Weekend pass,Z,z@example.org,850,2026-10-01,\n" for i in range(5))
    result = run(content)
    assert result.exit_code == 1 and count_tickets() == 0
    assert "row 4, ticketType: 5 more would be sold, and only 2 of 2 are free" in result.output
    assert run(content, "--allow-oversell").exit_code == 0
    totals = stats(owner, event)["totals"]
    assert (totals["total"], totals["sold"], totals["oversold"], totals["available"]) == (2, 5, 3, 0)
    stock = data(client.get(f"/api/events/public/{event['id']}/ticket-inventory"))["ticketTypes"][0]
    assert (stock["available"], stock["status"]) == (0, "sold_out")
    assert_books_agree()


def test_the_total_can_grow_with_what_is_sold(run: Run, owner: Client, event: dict[str, Any]) -> None:
    """Also that of a type which was oversold before; a type with enough places keeps its number."""
    small = {"id": event["ticketTypes"][0]["id"], "name": "Weekend pass", "priceMinor": 1, "quantity": 2}
    owner.patch(f"/api/events/{event['id']}", {"ticketTypes": [small, *event["ticketTypes"][1:]]})
    rows = [f"A{i},Weekend pass,Z,z@example.org,850,2026-10-01,\n" for i in range(7)]
    run(HEADER + "".join(rows[:4]), "--allow-oversell")
    content = HEADER + "".join(rows) + "B1,Complimentary,Z,z@example.org,0,2026-10-01,\n"
    result = run(content, "--raise-totals")
    assert result.exit_code == 0 and "Weekend pass has 7 tickets now; there were 2." in result.output
    totals = stats(owner, event)["totals"]
    assert (totals["total"], totals["sold"], totals["oversold"]) == (1507, 8, 0)
    assert "Warning" not in run(content, "--raise-totals").output, "and again it has enough"
    assert_books_agree()


def test_refund_returns_the_place(run: Run, owner: Client, event: dict[str, Any]) -> None:
    run(HEADER + "A1,Weekend pass,Z,z@example.org,850,2026-10-01,\n")
    result = run(HEADER + "A1,Weekend pass,Z,z@example.org,850,2026-10-01,refunded\n")
    assert "0 created, 1 updated" in result.output
    totals = stats(owner, event)["totals"]
    assert (totals["sold"], totals["revenueMinor"], totals["available"]) == (0, 0, 2000)
    assert_books_agree()


def test_ticket_can_change_type_and_holder(run: Run, owner: Client, event: dict[str, Any]) -> None:
    run(HEADER + "A1,Weekend pass,Z,z@example.org,850,2026-10-01,\n")
    result = run(HEADER + "A1,Day ticket Saturday,Y,y@example.org,450,2026-10-02,\n")
    assert "1 updated" in result.output
    sold = {ticket_type["name"]: ticket_type["sold"] for ticket_type in stats(owner, event)["ticketTypes"]}
    assert sold["Weekend pass"] == 0 and sold["Day ticket Saturday"] == 1
    assert_books_agree()


def test_dry_run_reports_and_writes_nothing(run: Run) -> None:
    result = run(DATA / "pretix-positions.csv", "--dry-run")
    assert result.exit_code == 0 and "282 created" in result.output and "nothing is written" in result.output
    assert count_tickets() == 0


def test_missing_price_and_time_default_to_the_type_and_now(run: Run) -> None:
    assert run("reference,ticketType\nA1,Weekend pass\n").exit_code == 0
    assert db.session.scalar(select(Ticket.price_minor)) == 85000
    second = run("reference,ticketType\nA1,Weekend pass\n")
    assert "1 unchanged" in second.output


def test_formula_is_stored_as_a_plain_name(run: Run) -> None:
    assert run(HEADER + 'A1,Weekend pass,"=SUM(A1:A9)",z@example.org,850,2026-10-01,\n').exit_code == 0
    assert db.session.scalar(select(Ticket.name)) == "=SUM(A1:A9)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not a text file"),
        (b"a,b,c\n1,2,3\n", "columns are not known"),
        ((HEADER + 'A1,"Weekend pass,Z').encode(), "not valid CSV"),
    ],
)
def test_file_that_is_no_table_of_tickets_is_refused(run: Run, content: bytes, message: str) -> None:
    result = run(content)
    assert result.exit_code == 1 and message in result.output


def test_unknown_event_is_refused(app: Flask, tmp_path: Path) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text(HEADER)
    for missing in ("6565a1f0c3d2e1b0a9f8e7d6", "nonsense"):
        result = app.test_cli_runner().invoke(args=["tickets", "import", str(path), "--event", missing])
        assert result.exit_code == 1 and f"There is no event {missing}" in result.output


def test_concurrent_imports_book_every_ticket_once(app: Flask, event: dict[str, Any]) -> None:
    parsed = parse_sheet(read_sheet((DATA / "pretix-positions.csv").read_bytes()))

    def book(_: int) -> ImportResult:
        with app.app_context():
            return import_tickets(
                event_id=event["id"],
                tickets=parsed.tickets,
                source=ImportSource("positions.csv", "pretix", "0" * 64),
                create_types=False,
                allow_oversell=False,
                dry_run=False,
            )

    results = run_concurrently(4, book)
    assert sorted(result.created for result in results) == [0, 0, 0, 282] and count_tickets() == 282
    assert sorted(result.unchanged for result in results) == [0, 282, 282, 282]
    assert_books_agree()


def test_a_word_for_a_status_is_explained(run: Run) -> None:
    content = "reference,ticketType,status\nA1,Weekend pass,Sponsor\nA2,Weekend pass,Test\n"
    assert "--status-word (statusWords) says what it means." in run(content).output
    assert "meanings are sold" in run(content, "--status-word", "Sponsor=maybe").output and count_tickets() == 0
    result = run(content, "--status-word", "sponsor=sold", "--status-word", "Test=omitted")
    assert result.exit_code == 0 and count_tickets() == 1, result.output
