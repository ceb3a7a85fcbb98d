"""What the QR code of an imported ticket says, and when the ticket is valid: `secret`, `validFrom`, `validUntil`."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.core.db import db, transaction_engine
from app.events.models import Ticket
from tests.events.law import assert_books_agree
from tests.events.test_import import DATA, TYPES
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client

HEADER = "reference,ticketType,secret,status\n"
Run = Callable[..., Result]


@pytest.fixture
def event(client: Client) -> dict[str, Any]:
    return create_published_event(create_organiser_client(client), ticketTypes=TYPES)


@pytest.fixture
def run(app: Flask, event: dict[str, Any], tmp_path: Path) -> Run:
    def run_import(content: str | Path, *options: str) -> Result:
        path = content if isinstance(content, Path) else tmp_path / "tickets.csv"
        if not isinstance(content, Path):
            path.write_text(content)
        return app.test_cli_runner().invoke(args=["tickets", "import", str(path), "--event", event["id"], *options])

    return run_import


@pytest.fixture
def notices(app: Flask) -> Iterator[Callable[[], list[str]]]:
    """The events that the channel of the gate has named since the test began."""
    url = db.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("LISTEN gate")
        yield lambda: [notice.payload for notice in connection.notifies(timeout=0.5)]


def secrets() -> dict[str, str | None]:
    return {row.reference: row.secret for row in db.session.execute(select(Ticket.reference, Ticket.secret))}


def transactions() -> dict[str, int]:
    rows = db.session.execute(select(Ticket.reference, Ticket.transaction_id))
    return {row.reference: int(row.transaction_id) for row in rows}


def test_pretix_tickets_keep_their_secret(run: Run) -> None:
    assert run(DATA / "pretix-positions.csv").exit_code == 0
    with (DATA / "pretix-positions.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["Status"] == "paid"]
    assert secrets() == {f"{row['Order code']}-{row['Position ID']}": row["Ticket secret"] for row in rows}


def test_eventbrite_attendees_keep_their_barcode(run: Run) -> None:
    assert run(DATA / "eventbrite-attendees.csv").exit_code == 0
    assert secrets()["9000000002"] == "70000000019000000002001" and len(set(secrets().values())) == 103


@pytest.mark.parametrize(
    ("cell", "secret"), [("0012", "0012"), ('"=""0012"""', "0012"), ("  aB c-9 ", "aB c-9"), ("1e5", "1e5")]
)
@pytest.mark.parametrize("column", ["secret", "Barcode", "ticketSecret"])
def test_secret_is_kept_as_it_is(run: Run, column: str, cell: str, secret: str) -> None:
    result = run(f"reference,ticketType,{column}\nA1,Weekend pass,{cell}\n")
    assert result.exit_code == 0, result.output
    assert secrets() == {"A1": secret}


@pytest.mark.parametrize("cell", ["7E+22", '"7,00E+22"', "7.00000000090000e+22", "70000000009000000000000"])
def test_number_that_a_spreadsheet_has_rounded_is_refused(run: Run, cell: str) -> None:
    content = (DATA / "eventbrite-attendees.csv").read_text().replace("70000000019000000002001", cell)
    result = run(content)
    assert result.exit_code == 1 and "row 4, Barcode #: A spreadsheet has rounded this number" in result.output
    assert secrets() == {}


def test_bad_secrets_are_errors_by_row_and_column(run: Run) -> None:
    result = run(HEADER + f"A1,Weekend pass,{'x' * 201},\nA2,Weekend pass,a\x07b,\n")
    assert "row 2, secret: Must have at most 200" in result.output and "row 3, secret: Invisible" in result.output
    assert result.exit_code == 1 and secrets() == {}


def test_secret_twice_in_the_file_is_an_error(run: Run) -> None:
    result = run("reference,ticketType,Barcode\nA1,Weekend pass,one\nA2,Weekend pass,one\nA3,Weekend pass,ONE\n")
    assert result.exit_code == 1 and "row 3, Barcode: Row 2 has the same Barcode. ('one')" in result.output
    assert "1 error;" in result.output and secrets() == {}


def test_secret_of_another_ticket_is_an_error(run: Run) -> None:
    run(HEADER + "A1,Weekend pass,one,\n")
    result = run(HEADER + "A2,Weekend pass,two,\nA3,Weekend pass,one,\n")
    assert result.exit_code == 1 and "row 3, secret: The ticket A1 of this event has this secret." in result.output
    assert secrets() == {"A1": "one"}
    result = run(HEADER + "A3,Weekend pass,one,\nA1,Weekend pass,,\n")
    assert result.exit_code == 1 and "row 2, secret: The ticket A1" in result.output


def test_tickets_can_swap_secrets(run: Run) -> None:
    run(HEADER + "A1,Weekend pass,one,\nA2,Weekend pass,two,\n")
    result = run(HEADER + "A3,Weekend pass,one,\nA1,Weekend pass,two,\nA2,Weekend pass,three,\n")
    assert result.exit_code == 0 and "1 created, 2 updated" in result.output
    assert secrets() == {"A1": "two", "A2": "three", "A3": "one"}


def test_changed_secret_replaces_the_old_one_and_a_missing_column_keeps_it(run: Run) -> None:
    run(HEADER + "A1,Weekend pass,one,\n")
    assert "1 updated" in run(HEADER + "A1,Weekend pass,new,\n").output
    assert "1 unchanged" in run("reference,ticketType\nA1,Weekend pass\n").output
    assert "1 unchanged" in run(HEADER + "A1,Weekend pass,,\n").output
    assert secrets() == {"A1": "new"}


def test_times_without_an_offset_are_in_the_zone_of_the_event(run: Run) -> None:
    content = "reference,ticketType,validFrom,validUntil\n"
    assert run(content + "A1,Weekend pass,2026-10-02 08:00,2026-10-02\n").exit_code == 0
    ticket = db.session.execute(select(Ticket.valid_from, Ticket.valid_until)).one()
    assert ticket.valid_from.isoformat() == "2026-10-02T06:00:00+00:00"
    assert ticket.valid_until.isoformat() == "2026-10-02T22:00:00+00:00"
    assert "1 unchanged" in run("reference,ticketType\nA1,Weekend pass\n").output
    result = run("reference,ticketType,validUntil\nA1,Weekend pass,2026-10-02T05:59Z\n")
    assert result.exit_code == 1 and "row 2, validUntil: Must be after validFrom." in result.output


def test_pretix_has_times_of_validity(run: Run) -> None:
    with (DATA / "pretix-positions.csv").open() as file:
        reader = csv.DictReader(file)
        row = next(row for row in reader if row["Status"] == "paid")
    row.update({"Valid from": "2026-10-02 08:00", "Valid until": "03.10.2026 02:00"})
    text = ";".join(row) + "\n" + ";".join(row.values()) + "\n"
    assert run(text).exit_code == 0
    ticket = db.session.execute(select(Ticket.valid_from, Ticket.valid_until)).one()
    assert ticket.valid_until.isoformat() == "2026-10-03T00:00:00+00:00" and ticket.valid_from is not None


def test_the_gate_is_told_once_of_what_changed(
    run: Run, event: dict[str, Any], notices: Callable[[], list[str]]
) -> None:
    run(HEADER + "A1,Weekend pass,one,\nA2,Weekend pass,two,\n")
    assert notices() == [event["id"]]
    before = transactions()
    run(HEADER + "A1,Weekend pass,one,\nA2,Weekend pass,two,cancelled\n")
    assert notices() == [event["id"]]
    after = transactions()
    assert after["A1"] == before["A1"] and after["A2"] > before["A2"]
    run(HEADER + "A1,Weekend pass,one,\nA2,Weekend pass,two,cancelled\n")
    run(HEADER + "A1,Weekend pass,three,\n", "--dry-run")
    run(HEADER + "A1,Weekend pass,two,\n")
    assert notices() == []


def test_admitted_ticket_that_is_cancelled_stays_admitted(run: Run) -> None:
    run(HEADER + "A1,Weekend pass,one,\n")
    with Session(transaction_engine(db.engine)) as session:
        session.execute(update(Ticket).values(admitted_at="2026-10-02T18:00Z"))
        session.commit()
    assert "1 updated" in run(HEADER + "A1,Weekend pass,one,cancelled\n").output
    ticket = db.session.execute(select(Ticket.status, Ticket.admitted_at, Ticket.secret)).one()
    assert ticket.status == "cancelled" and ticket.admitted_at is not None and ticket.secret == "one"
    assert_books_agree()
