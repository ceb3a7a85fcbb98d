"""Fields: valid values, invalid values, and their error messages."""

from time import thread_time
from typing import Any

import pytest

from tests.factories.events import build_event_body, create_organiser_client
from tests.http import Client, data, list_problems, read_error

TYPES: dict[str, tuple[list[Any], list[tuple[Any, str]]]] = {
    "name": (
        ["ab", "  ab  ", "ünï", "a\nb", "日本"],
        [
            ("a", "too_short"),
            ("  a  ", "too_short"),
            ("x" * 11, "too_long"),
            (1, "invalid_type"),
            (None, "required"),
            ("a\x00b", "invalid_characters"),
            ("a\x1b[2Jb", "invalid_characters"),
            ("a\x7fb", "invalid_characters"),
            ("a\x85b", "invalid_characters"),
            ([], "invalid_type"),
            ({}, "invalid_type"),
            (True, "invalid_type"),
            ("x" * 200_000, "too_long"),
        ],
    ),
    "secret": (["abcd", "  ab", "\tab\x01", "ü" * 8], [("abc", "too_short"), ("x" * 9, "too_long")]),
    "whole": (
        [0, 5, 2**53 - 1, 100.0],
        [
            (True, "invalid_type"),
            ("100", "invalid_type"),
            (1.5, "invalid_type"),
            (-1, "too_small"),
            (2**53, "too_large"),
            (1e39, "too_large"),
            (None, "required"),
            ([1], "invalid_type"),
            ("", "invalid_type"),
        ],
    ),
    "anyWhole": ([-5, -(2**53) + 1], [(2**53 + 1, "too_large"), (-(2**53) - 1, "too_small"), (1e300, "too_large")]),
    "number": (
        [0, 1.5, 10],
        [
            ("1.5", "invalid_type"),
            (True, "invalid_type"),
            (10.01, "too_large"),
            (-0.1, "too_small"),
            (1e39, "too_large"),
            ({}, "invalid_type"),
        ],
    ),
    "flag": ([True, False], [("true", "invalid_type"), (1, "invalid_type"), (0, "invalid_type"), (None, "required")]),
    "choice": (
        ["red"],
        [("Red", "unknown_value"), ("blue", "unknown_value"), ("", "unknown_value"), (1, "invalid_type")],
    ),
    "email": (
        ["a@b.na", " A@B.Na ", "x@müller.example", "a+b@mail.test"],
        [
            ("a", "invalid_email"),
            ("a@", "invalid_email"),
            ("@b.na", "invalid_email"),
            ("a@b", "invalid_email"),
            ("a b@c.na", "invalid_email"),
            ("a@b.na\r\nBcc: x@y.na", "invalid_email"),
            ("a@[127.0.0.1]", "invalid_email"),
            ('"a b"@c.na', "invalid_email"),
            ("İ" * 64 + "@" + "b." * 90 + "na", "invalid_email"),
            ("a@b.na\x00", "invalid_characters"),
            (7, "invalid_type"),
        ],
    ),
    "phone": (
        ["+264811234567", "081 123 4567", "+49 (30) 123456"],
        [
            ("12", "invalid_phone"),
            ("call me", "invalid_phone"),
            ("+", "invalid_phone"),
            ("+2648112345678901", "invalid_phone"),
            ("0" * 40, "invalid_phone"),
            ("+264 81 123 45" + " " * 20 + "67", "too_long"),
            (811234567, "invalid_type"),
        ],
    ),
    "at": (
        [
            "2026-12-04T18:00:00+02:00",
            "2026-12-04T16:00:00Z",
            "2026-12-04t16:00z",
            "2026-12-04",
            "2026-12-04T16:00:00",
            "2026-12-04T16:00:00.123456789Z",
            "2024-02-29",
        ],
        [
            ("yesterday", "invalid_time"),
            ("2026-13-01", "invalid_time"),
            ("2023-02-29", "invalid_time"),
            ("20261204", "invalid_time"),
            ("2026-W01-1", "invalid_time"),
            ("2026-12-04T25:00", "invalid_time"),
            ("2026-12-04T16:00:60Z", "invalid_time"),
            ("0001-01-01", "invalid_time"),
            (1764864000, "invalid_time"),
            ("9999-12-31T23:59:59-01:00", "invalid_time"),
            ("2026-12-04T16:00:00+99:99", "invalid_time"),
            ("٢٠٢٦-12-04", "invalid_time"),
            (None, "required"),
            ("", "invalid_time"),
        ],
    ),
    "tags": (
        [[], ["a", "b", "c"]],
        [(["a"] * 4, "too_long"), ("a", "invalid_type"), ({}, "invalid_type"), (None, "required")],
    ),
    "note": ([None, "x"], [(1, "invalid_type")]),
    "free": ([{}, {"a": {"b": [1]}}], [([], "invalid_type"), ("x", "invalid_type")]),
}


@pytest.mark.parametrize("name", TYPES)
def test_what_fits_is_taken_and_the_rest_is_named(client: Client, name: str) -> None:
    good, bad = TYPES[name]
    for value in good:
        data(client.post("/t/wish", {name: value}))
    for value, code in bad:
        assert list_problems(client.post("/t/wish", {name: value})) == {name: code}, repr(value)[:80]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"name": "  ab \t"}, {"name": "ab"}),
        ({"name": "a\r\nb\rc"}, {"name": "a\nb\nc"}),
        ({"name": "A\u030apfel"}, {"name": "\u00c5pfel"}),
        ({"secret": "  ab "}, {"secret": "  ab "}),
        ({"email": " Frieda@Example.COM "}, {"email": "frieda@example.com"}),
        ({"phone": "081 123 4567"}, {"phone": "+264811234567"}),
        ({"at": "2026-12-04T18:00:00+02:00"}, {"at": "2026-12-04T16:00:00.000Z"}),
        ({"whole": 7.0}, {"whole": 7}),
    ],
)
def test_text_is_normalized(client: Client, sent: dict[str, Any], kept: dict[str, Any]) -> None:
    assert data(client.post("/t/wish", sent)) == kept


def test_one_response_has_all_problems_with_their_paths(client: Client) -> None:
    body = {
        "name": "a",
        "colour": "red",
        "tags": ["ok", "far too long", 7],
        "ticketTypes": [{"name": "A", "priceMinor": -5}, {"priceminor": 1}, 7, {"name": "B", "priceMinor": 1, "x": {}}],
    }
    assert list_problems(client.post("/t/wish", body)) == {
        "name": "too_short",
        "colour": "unknown_field",
        "tags[1]": "too_long",
        "tags[2]": "invalid_type",
        "ticketTypes[0].priceMinor": "too_small",
        "ticketTypes[1].name": "required",
        "ticketTypes[1].priceMinor": "required",
        "ticketTypes[1].priceminor": "unknown_field",
        "ticketTypes[2]": "invalid_type",
        "ticketTypes[3].x": "unknown_field",
    }


@pytest.mark.parametrize(
    ("unknown", "meant"),
    [("nmae", "name"), ("ticket_types", "ticketTypes"), ("ANYWHOLE", "anyWhole"), ("emial", "email"), ("zzzzz", None)],
)
def test_unknown_field_gets_the_nearest_name_as_hint(client: Client, unknown: str, meant: str | None) -> None:
    (told,) = client.post("/t/wish", {unknown: 1}).get_json()["data"]["errors"]
    assert told["code"] == "unknown_field" and told["path"] == unknown
    assert told["message"].endswith(f"Did you mean {meant}?" if meant else "not known.")


def test_a_nested_unknown_field_is_compared_with_its_own_neighbours(client: Client) -> None:
    (told,) = client.post("/t/wish", {"ticketTypes": [{"name": "A", "priceMinor": 1, "nam": 1}]}).get_json()["data"][
        "errors"
    ]
    assert told["path"] == "ticketTypes[0].nam" and told["message"].endswith("Did you mean name?")


@pytest.mark.parametrize("body", ["[]", "[{}]", "null", "7", '"x"', "true"])
def test_a_body_that_is_no_object_is_422(client: Client, body: str) -> None:
    response = client.open("POST", "/t/wish", data=body, headers={"Content-Type": "application/json"})
    assert list_problems(response) == {"": "invalid_type"}


def test_problems_of_body_and_query_come_together(client: Client) -> None:
    from tests.factories.accounts import create_account, create_signed_in_client

    merchant = create_signed_in_client(client, create_account("merchant"))
    response = merchant.put(f"/t/strict/x?shelf={'x' * 21}", {"priceMinor": 0})
    assert list_problems(response) == {"name": "required", "priceMinor": "too_small", "shelf": "too_long"}


def test_reserved_domains_receive_no_mail_in_production(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    app = client.flask.application
    production = replace(app.extensions["settings"], APP_ENV="production")
    monkeypatch.setitem(app.extensions, "settings", production)
    for address in ("a@b.test", "a@b.EXAMPLE", "a@b.localhost", "a@b.invalid"):
        assert list_problems(client.post("/t/wish", {"email": address})) == {"email": "invalid_email"}
    data(client.post("/t/wish", {"email": "a@b.na"}))


def test_megabyte_of_nonsense_gets_a_short_and_fast_response(client: Client) -> None:
    bodies: list[dict[str, Any]] = [
        {f"unknown{number}": 1 for number in range(50_000)},
        {"n" * 500_000: 1},
        {"tags": [7] * 300_000},
        {"email": "a" * 900_000 + "@b.na"},
        {"email": "a@" + "b." * 450_000},
        {"name": "\u0308" * 300_000},
        {"phone": "1" * 900_000},
        {"at": "2" * 900_000},
    ]
    for body in bodies:
        started = thread_time()
        response = client.post("/t/wish", body)
        assert read_error(response) == (422, "VALIDATION_FAILED")
        assert len(response.data) < 50_000 and thread_time() - started < 1.5, str(body)[:40]


@pytest.mark.parametrize("query", ["?nonsense=1", "?Limit=0", "?filter[x]=1", "?%00=1", "?=", "?&&", "?%FF=%FF"])
def test_unknown_query_parameters_are_ignored(client: Client, query: str) -> None:
    assert data(client.get("/t/items" + query))["items"] == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("limit=0", {"limit": "too_small"}),
        ("limit=101", {"limit": "too_large"}),
        ("limit=-1", {"limit": "too_small"}),
        ("limit=ten", {"limit": "invalid_type"}),
        ("limit=1.5", {"limit": "invalid_type"}),
        ("limit=", {"limit": "invalid_type"}),
        ("limit=" + "9" * 30, {"limit": "invalid_type"}),
        ("limit=%D9%A1", {"limit": "invalid_type"}),
        ("sort=price", {"sort": "unknown_value"}),
        ("sort=--name", {"sort": "unknown_value"}),
        ("withTotal=maybe", {"withTotal": "invalid_type"}),
        ("shelf=%00", {"shelf": "invalid_characters"}),
        ("cursor=x", {"cursor": "invalid_cursor"}),
        ("cursor=", {"cursor": "too_short"}),
        (
            "limit=0&sort=x&cursor=&shelf=%01",
            {"limit": "too_small", "sort": "unknown_value", "cursor": "too_short", "shelf": "invalid_characters"},
        ),
    ],
)
def test_bad_query_parameters_are_422(client: Client, query: str, expected: dict[str, str]) -> None:
    assert list_problems(client.get("/t/items?" + query)) == expected


def test_an_amount_with_a_fraction_names_cents(client: Client) -> None:
    organiser = create_organiser_client(client)
    ticket_types = [{"name": "Weekend", "priceMinor": 85.5, "quantity": 1}]
    response = organiser.post("/api/events", build_event_body(ticketTypes=ticket_types))
    assert list_problems(response) == {"ticketTypes[0].priceMinor": "invalid_type"}
    assert response.get_json()["data"]["errors"][0]["message"] == "Must be a whole number of cents."
