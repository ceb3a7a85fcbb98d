"""`mode=partial` of an import of tickets: the correct rows are written, and no ticket is ever booked twice."""

import json
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.events.actions import import_ticket_file
from tests.blueprints.test_ticket_import_undo import HEADER as FULL_HEADER
from tests.blueprints.test_ticket_imports import MAPPING, OTHER, count_tickets, send
from tests.events.law import assert_books_agree
from tests.events.test_import import TYPES
from tests.factories.accounts import create_account, create_signed_in_client
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data, read_error
from tests.races import run_concurrently

HEADER = "reference,ticketType,name,email,price,secret\n"
GOOD = "A1,Weekend pass,Zoë,z@example.com,850,one\nA2,Weekend pass,Petrus,p@example.com,850,two\n"
BAD = "A3,Weekend pass,Selma,nobody,850,three\n"
CORRECTED = BAD.replace("nobody", "s@example.com")


@pytest.fixture
def owner(client: Client) -> Client:
    return create_organiser_client(client)


@pytest.fixture
def path(owner: Client) -> str:
    return f"/api/events/{create_published_event(owner, ticketTypes=TYPES)['id']}/tickets"


def send_partial(client: Client, path: str, content: str, **fields: Any) -> Any:
    return send(client, path, content, mode="partial", **fields)


def list_references(client: Client, path: str) -> list[str]:
    return [ticket["reference"] for ticket in data(client.get(path))["tickets"]]


def count(result: dict[str, Any]) -> tuple[int, ...]:
    return tuple(result[name] for name in ("created", "updated", "unchanged", "wrongRows", "errorCount"))


def test_correct_rows_are_written_and_then_the_rest_of_the_corrected_file(owner: Client, path: str) -> None:
    dry_run = data(send_partial(owner, path, HEADER + GOOD + BAD, dryRun="true"))
    assert count(dry_run) == (2, 0, 0, 1, 1) and dry_run["importId"] is None and count_tickets() == 0
    first = data(send_partial(owner, path, HEADER + GOOD + BAD))
    assert len(dry_run["firstTickets"]) == 2 and first.pop("firstTickets") == []
    assert first.pop("importId") and first == {name: dry_run[name] for name in first}
    assert [(error["row"], error["column"]) for error in first["errors"]] == [(4, "email")]
    assert list_references(owner, path) == ["A1", "A2"]
    again = data(send_partial(owner, path, HEADER + GOOD + BAD))
    assert count(again) == (0, 0, 2, 1, 1) and count_tickets() == 2
    rest = data(send(owner, path, HEADER + GOOD + CORRECTED))
    assert count(rest) == (1, 0, 2, 0, 0) and list_references(owner, path) == ["A1", "A2", "A3"]
    assert data(owner.get(f"{path.removesuffix('/tickets')}/ticket-stats"))["totals"]["sold"] == 3
    assert_books_agree()


def test_without_errors_partial_writes_all_rows(owner: Client, path: str) -> None:
    assert count(data(send_partial(owner, path, HEADER + GOOD))) == (2, 0, 0, 0, 0)


@pytest.mark.parametrize("fields", [{}, {"mode": "atomic"}])
def test_all_rows_or_none_is_the_default(owner: Client, path: str, fields: dict[str, str]) -> None:
    response = send(owner, path, HEADER + GOOD + BAD, **fields)
    assert read_error(response) == (422, "IMPORT_REJECTED") and count_tickets() == 0
    dry_run = data(send(owner, path, HEADER + GOOD + BAD, dryRun="true", **fields))
    assert count(dry_run) == (0, 0, 0, 0, 1)


def test_an_unknown_mode_is_refused(owner: Client, path: str) -> None:
    assert read_error(send(owner, path, HEADER + GOOD, mode="some")) == (422, "VALIDATION_FAILED")


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        (HEADER + BAD + BAD.replace("A3", "A4"), 2),
        ("reference,ticketType,name,Name\nA1,Weekend pass,Zoë,Tuli\n", 1),
        (HEADER + GOOD.replace("Weekend pass", "Backstage"), 2),
        (HEADER + GOOD.replace("A2", "A1"), 2),
    ],
    ids=["all rows wrong", "header", "unknown types", "one number"],
)
def test_a_file_without_correct_rows_is_rejected(owner: Client, path: str, content: str, errors: int) -> None:
    response = send_partial(owner, path, content)
    assert read_error(response) == (422, "IMPORT_REJECTED") and count_tickets() == 0
    assert count(response.get_json()["data"]) == (0, 0, 0, 0, errors)
    assert data(send_partial(owner, path, content, dryRun="true"))["errorCount"] == errors
    assert data(owner.get(f"{path}/imports"))["imports"] == []


def test_rows_with_the_number_or_code_of_a_wrong_row_are_left_out_too(owner: Client, path: str) -> None:
    rows = [
        "A1,Weekend pass,Zoë,z@example.com,850,one",
        "A2,Weekend pass,Petrus,p@example.com,850,two",
        "A2,Weekend pass,Paul,p@example.com,850,three",
        "A4,Weekend pass,Selma,s@example.com,850,four",
        "A5,Weekend pass,Ruusa,r@example.com,850,four",
        "A6,Weekend pass,Tuli,nobody,850,six",
        "A6,Weekend pass,Tuli,t@example.com,850,seven",
    ]
    result = data(send_partial(owner, path, HEADER + "\n".join(rows)))
    assert count(result) == (1, 0, 0, 6, 6) and list_references(owner, path) == ["A1"]
    errors = [(error["row"], error["code"], error["value"]) for error in result["errors"]]
    assert [row for row, _, _ in errors] == [3, 4, 5, 6, 7, 8], "each row that is left out is listed"
    assert [error for error in errors if error[1] == "left_out"] == [
        (3, "left_out", "A2"),
        (5, "left_out", "A4"),
        (8, "left_out", "A6"),
    ]


def test_a_wrong_row_without_a_code_leaves_the_others_without_one(owner: Client, path: str) -> None:
    for header, good, wrong in (
        ("reference,ticketType,name,email\n", "A1,Weekend pass,Zoë,z@example.com\n", "A2,Weekend pass,Tuli,nobody\n"),
        (HEADER, "B1,Weekend pass,Zoë,z@example.com,850,\n", "B2,Weekend pass,Tuli,nobody,850,\n"),
    ):
        result = data(send_partial(owner, path, header + good + wrong))
        assert count(result) == (1, 0, 0, 1, 1), result


def test_a_number_that_is_the_code_too_is_one_problem(owner: Client, path: str) -> None:
    content = "No,Kind\n1,Weekend pass\n1,Weekend pass\n2,Weekend pass\n"
    mapping = json.dumps({"reference": "No", "secret": "No", "ticketType": "Kind"})
    result = data(send(owner, path, content, mapping=mapping, dryRun="true"))
    assert [(error["row"], error["code"]) for error in result["errors"]] == [(3, "duplicate")]


def test_a_number_of_an_order_is_not_taken_for_that_of_its_first_ticket(owner: Client, path: str) -> None:
    content = "Order,Ticket,Kind\n1,1-1,Weekend pass\n1,1-2,Weekend pass\n2,2-1,Weekend pass\n"
    mapping = {"reference": "Order", "ticketType": "Kind"}
    first = data(send_partial(owner, path, content, mapping=json.dumps(mapping)))
    assert count(first) == (1, 0, 0, 2, 2) and list_references(owner, path) == ["2"]


def test_codes_and_times_of_tickets_that_are_here_are_checked(owner: Client, path: str) -> None:
    data(send(owner, path, "reference,ticketType,secret\nA1,Weekend pass,one\nA2,Weekend pass,two\n"))
    rows = [
        "B1,Weekend pass,Zoë,,,,,one,,",
        "B2,Weekend pass,Petrus,,,,,new,2026-10-05,2026-10-04",
        "B3,Weekend pass,Selma,nobody,,,,free,,",
        "B4,Weekend pass,Ruusa,,,,,four,,",
    ]
    result = data(send_partial(owner, path, FULL_HEADER + "\n".join(rows)))
    assert count(result) == (1, 0, 0, 3, 3)
    assert [(error["row"], error["code"]) for error in result["errors"]] == [
        (2, "duplicate"),
        (3, "ends_before_start"),
        (4, "invalid_email"),
    ]
    assert list_references(owner, path) == ["A1", "A2", "B4"]
    assert_books_agree()


def test_a_code_that_a_left_out_row_would_have_freed_is_not_taken(
    owner: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "reference,ticketType,secret,validFrom,validUntil\n"
    data(send(owner, path, header + "A1,Weekend pass,one,,\nA2,Weekend pass,two,,\n"))
    rows = (
        "A1,Weekend pass,two,,\nA2,Weekend pass,new,2026-10-05,2026-10-04\nB1,Weekend pass,one,,\nB2,Weekend pass,b,,\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr(import_ticket_file, "MAX_ATTEMPTS", 2)
        assert read_error(send_partial(owner, path, header + rows)) == (422, "IMPORT_REJECTED")
    result = data(send_partial(owner, path, header + rows))
    assert count(result) == (1, 0, 0, 3, 3) and list_references(owner, path) == ["A1", "A2", "B2"]
    secrets = {row.reference: row.secret for row in db.session.execute(text("SELECT reference, secret FROM ticket"))}
    assert secrets == {"A1": "one", "A2": "two", "B2": "b"}


def test_tickets_of_unknown_types_are_left_out_or_get_a_type(owner: Client, path: str) -> None:
    content = (
        HEADER
        + GOOD
        + "A3,Parking,Selma,,50,three\n"
        + BAD.replace("A3", "A4").replace("Weekend pass", "Tent").replace("three", "four")
    )
    result = data(send_partial(owner, path, content))
    assert count(result) == (2, 0, 0, 2, 2) and result["unknownTypes"] == [{"name": "Parking", "rows": 1}]
    result = data(send_partial(owner, path, content, createTypes="true"))
    assert count(result) == (1, 0, 2, 1, 1) and result["newTypes"] == 1


def test_more_tickets_than_places_are_an_error_of_the_whole_file(owner: Client) -> None:
    types = [{"name": "Weekend pass", "priceMinor": 1, "quantity": 1}]
    path = f"/api/events/{create_published_event(owner, ticketTypes=types)['id']}/tickets"
    response = send_partial(owner, path, HEADER + GOOD + BAD)
    assert read_error(response) == (422, "IMPORT_REJECTED") and count_tickets() == 0
    codes = {error["code"] for error in response.get_json()["data"]["errors"]}
    assert codes == {"sold_out", "invalid_email"}
    assert count(data(send_partial(owner, path, HEADER + GOOD + BAD, allowOversell="true"))) == (2, 0, 0, 1, 1)
    assert_books_agree()


def test_an_import_of_correct_rows_is_undone_like_any_other(owner: Client, path: str) -> None:
    data(send(owner, path, HEADER + GOOD.splitlines()[0]))
    changed = HEADER + GOOD.replace("Zoë", "Zora") + BAD
    import_id = data(send_partial(owner, path, changed))["importId"]
    undone = data(owner.post(f"{path}/imports/{import_id}/undo"))
    assert (undone["state"], undone["created"], undone["updated"]) == ("undone", 1, 1)
    (ticket,) = data(owner.get(path))["tickets"]
    assert (ticket["reference"], ticket["name"]) == ("A1", "Zoë")
    assert count(data(send(owner, path, HEADER + GOOD + CORRECTED))) == (2, 0, 1, 0, 0)
    assert_books_agree()


def test_mapped_and_cancelled_rows_count_as_in_a_whole_import(owner: Client, path: str) -> None:
    content = OTHER + "9;Weekend pass;009;850,00;lent\n"
    result = data(send_partial(owner, path, content, mapping=json.dumps(MAPPING)))
    assert count(result) == (1, 0, 0, 1, 1) and result["skipped"] == 1


def test_two_imports_at_once_book_every_correct_ticket_once(app: Flask, owner: Client, path: str) -> None:
    def run(number: int) -> dict[str, Any]:
        client = Client(app.test_client(), owner.headers)
        return data(send_partial(client, path, HEADER + GOOD + (BAD if number % 2 else CORRECTED)))

    results = run_concurrently(4, run)
    assert sum(result["created"] for result in results) == 3 == count_tickets()
    assert_books_agree()


def test_a_repeated_key_gets_the_first_answer(owner: Client, path: str) -> None:
    key = {"Idempotency-Key": "partial-import-0001"}
    results = [data(send(owner, path, HEADER + GOOD + BAD, key, mode="partial")) for _ in range(2)]
    assert results[0] == results[1] and count(results[0]) == (2, 0, 0, 1, 1)


def test_others_import_no_correct_rows(client: Client, owner: Client, path: str) -> None:
    analyst = create_signed_in_client(client, create_account("admin", admin_tier="analyst"))
    assert send_partial(create_organiser_client(client), path, HEADER + GOOD + BAD).status_code == 404
    assert send_partial(analyst, path, HEADER + GOOD + BAD).status_code == 403
    assert count_tickets() == 0


def test_a_row_with_the_code_of_a_wrong_row_is_left_out(owner: Client, path: str) -> None:
    sheet = HEADER + "A1,Weekend pass,Selma,nobody,850,one\n" + "A2,Weekend pass,Petrus,p@example.com,850,one\n"
    result = data(send_partial(owner, path, sheet + "A3,Weekend pass,Zoë,z@example.com,850,three\n"))
    assert list_references(owner, path) == ["A3"] and result["wrongRows"] == 2


def test_a_new_type_has_places_for_the_rows_that_come_later(owner: Client, path: str) -> None:
    sheet = (HEADER + GOOD + BAD).replace("Weekend pass", "VIP")
    assert count(data(send_partial(owner, path, sheet, createTypes="true")))[0] == 2
    corrected = (HEADER + GOOD + CORRECTED).replace("Weekend pass", "VIP")
    assert count(data(send(owner, path, corrected))) == (1, 0, 2, 0, 0)
