"""The request log: route, status and request id, and no secrets."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.core.logging import Lines, logged
from tests.factories.accounts import PASSWORD, create_customer, find_newest_code, sign_in
from tests.http import Client, data
from tests.settings import BOOTSTRAP_SECRET

CODE = "918273"
TOKEN = "canary-token-of-43-characters-canary-token-x"
SECRET = {
    "password": "canary-password",
    "bootstrapSecret": "canary-bootstrap",
    "refreshToken": "6565a1f0c3d2e1b0a9f8e7d6.0." + TOKEN,
    "resetToken": TOKEN,
    "code": CODE,
    "identity_token": f"eyJjYW5hcnki.{TOKEN}.{TOKEN}",
    "id_token": f"eyJjYW5hcnki.{TOKEN}.{TOKEN}",
    "nonce": "canary-nonce",
}
NAMES = {"name": "Frieda", "firstName": "Frieda", "lastName": "A", "businessName": "Kapana", "orgName": "Lights"}


@pytest.fixture
def lines(client: Client) -> Iterator[Lines]:
    with logged() as caught:
        yield caught


def operations(client: Client) -> list[tuple[str, str, set[str]]]:
    document: dict[str, Any] = client.get("/openapi.json").get_json()
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if path.startswith("/api/auth") and method != "parameters":
                found.append((method.upper(), path, set(fields_of(document, operation))))
    return found


def fields_of(document: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = body.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = document["components"]["schemas"].get(name, {}).get("properties", {})
    return found


def test_no_secret_sent_to_an_account_operation_is_logged(client: Client, lines: Lines) -> None:
    create_customer(email="frieda@example.com")
    known = operations(client)
    assert len(known) >= 15
    for method, path, fields in known:
        sound = {
            name: value for name, value in {**SECRET, **NAMES, "email": "frieda@example.com"}.items() if name in fields
        }
        for body in (sound, {**sound, "email": "n@b.na"}, {**sound, "nope": TOKEN}, {**sound, "password": [TOKEN]}):
            for headers in ({}, {"Authorization": f"Bearer {SECRET['id_token']}"}, {"Idempotency-Key": TOKEN}):
                client.open(method, path, None if method == "GET" else body, headers=headers)
    assert len(lines.all) > 100
    for secret in (TOKEN, CODE, "canary", "eyJjYW5hcnki"):
        assert secret not in lines.text


def test_no_secret_that_the_service_makes_is_logged(client: Client, lines: Lines) -> None:
    body = {"email": "ndapewa@example.com", "password": PASSWORD, "firstName": "Ndapewa", "lastName": "A"}
    data(client.post("/api/auth/register/customer", body), 201)
    code = find_newest_code("ndapewa@example.com")
    data(client.post("/api/auth/verify-email", {"email": "ndapewa@example.com", "code": code}))
    made = sign_in(client, "ndapewa@example.com")
    after = data(client.post("/api/auth/refresh", {"refreshToken": made["refreshToken"]}))
    client.as_(after["accessToken"]).post("/api/auth/register/merchant", {"password": PASSWORD})
    for secret in (code, PASSWORD, BOOTSTRAP_SECRET, made["accessToken"], made["refreshToken"], after["refreshToken"]):
        assert secret not in lines.text


def test_a_line_names_route_status_and_request(client: Client, lines: Lines) -> None:
    client.get("/t/items/6565a1f0c3d2e1b0a9f8e7d6", headers={"X-Request-Id": "request-0001"})
    (line,) = lines.all
    assert (line["route"], line["status"], line["request_id"]) == ("/t/items/<itemId>", 404, "request-0001")
    assert line["method"] == "GET" and line["ms"] >= 0


@pytest.mark.parametrize(
    "path",
    [
        "/claim/" + TOKEN,
        "/api/merchant-applications/docs/" + TOKEN,
        "/x/ABCD-EFGH-JKMN-PQRS",
        "/x/shortcode1",
        "/pay/" + TOKEN + "/more",
        "/t/items/" + TOKEN,
        "/x/%0d%0aFAKE-TOKEN",
        "/static/" + TOKEN,
    ],
)
def test_a_token_in_a_path_is_masked(client: Client, lines: Lines, path: str) -> None:
    for method in ("GET", "POST", "PURGE"):
        client.open(method, path, headers={"X-Request-Id": "request-0001"})
    assert [item["event"] for item in lines.all].count("request") == 3
    for secret in (TOKEN, "ABCD", "shortcode1", "FAKE"):
        assert secret not in lines.text


def test_the_query_is_not_logged(client: Client, lines: Lines) -> None:
    client.get(f"/nowhere?token={TOKEN}&q=canary")
    assert "canary" not in lines.text and TOKEN not in lines.text


def test_unexpected_error_is_logged_with_its_place_and_without_secrets(client: Client, lines: Lines) -> None:
    client.get("/t/boom", headers={"X-Request-Id": "request-0001"})
    unhandled, request = lines.all
    assert unhandled["level"] == request["level"] == "error"
    assert "RuntimeError" in unhandled["exception"] and "shop.py" in unhandled["exception"]
    assert unhandled["request_id"] == request["request_id"] == "request-0001"
    assert "hunter2" not in lines.text


def test_reads_that_go_well_leave_no_line(client: Client, lines: Lines) -> None:
    client.get("/health")
    client.get("/t/items")
    assert lines.text == ""
