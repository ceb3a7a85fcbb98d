"""Every response has the envelope, also errors of the framework."""

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.version import __version__
from tests.http import Client, data, read_error
from tests.web.conftest import Served

KEYS = ["status", "success", "statusCode", "message", "shortMessage", "timestamp", "requestId", "data"]
BIG = b'{"name": "' + b"x" * (1024 * 1024) + b'"}'
JSON = {"Content-Type": "application/json"}
LEAKS = re.compile(r"(?i)traceback|file \"|hunter2|passwd|select \*|runtimeerror|sqlalchemy|psycopg|werkzeug|\.py")


def checked(response: TestResponse) -> dict[str, Any]:
    """The envelope, after looking at its form."""
    assert response.mimetype == "application/json"
    body: dict[str, Any] = response.get_json()
    assert list(body) == KEYS
    assert body["success"] is (body["status"] == "success") is (response.status_code < 400)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"])
    assert body["requestId"] == response.headers["X-Request-Id"]
    if not body["success"]:
        assert re.fullmatch(rf"{response.status_code}\d\d", body["statusCode"])
        assert re.fullmatch(r"[A-Z][A-Z0-9_]+", body["shortMessage"])
        assert body["message"].endswith(".") and isinstance(body["data"], dict)
        assert not LEAKS.search(response.get_data(as_text=True))
    return body


def test_a_success_has_the_eight_keys_in_their_order(client: Client) -> None:
    body = checked(client.get("/health"))
    assert (body["statusCode"], body["message"], body["shortMessage"]) == ("00000", "OK", "SUCCESS")
    assert body["data"] == {"ok": True, "version": __version__}
    assert data(client.post("/t/plain")) == {}


@pytest.mark.parametrize(
    ("method", "path", "options", "expected"),
    [
        ("GET", "/nowhere", {}, (404, "NOT_FOUND")),
        ("GET", "/api/auth/nowhere", {}, (404, "NOT_FOUND")),
        ("GET", "//api/auth//me", {}, (404, "NOT_FOUND")),
        ("GET", "/static/nothing.css", {}, (404, "NOT_FOUND")),
        ("GET", "/t/items/%00", {}, (404, "NOT_FOUND")),
        ("GET", "/t/items/%FF%FE", {}, (404, "NOT_FOUND")),
        ("GET", "/t/items/6565a1f0c3d2e1b0a9f8e7d6", {}, (404, "NOT_FOUND")),
        ("GET", "/t/items/6565A1F0C3D2E1B0A9F8E7D6", {}, (404, "NOT_FOUND")),
        ("DELETE", "/health", {}, (405, "METHOD_NOT_ALLOWED")),
        ("BREW", "/t/plain", {}, (405, "METHOD_NOT_ALLOWED")),
        ("POST", "/t/plain", {"data": BIG, "headers": JSON}, (413, "PAYLOAD_TOO_LARGE")),
        (
            "POST",
            "/t/plain",
            {"data": "name=x", "headers": {"Content-Type": "text/plain"}},
            (415, "UNSUPPORTED_MEDIA_TYPE"),
        ),
        ("POST", "/t/plain", {"data": b"{}", "headers": {}}, (415, "UNSUPPORTED_MEDIA_TYPE")),
        ("POST", "/t/plain", {"data": b'{"name"', "headers": JSON}, (400, "MALFORMED_JSON")),
        ("GET", "/api/auth/me", {}, (401, "TOKEN_MISSING")),
        ("GET", "/t/boom", {}, (500, "INTERNAL_ERROR")),
        ("GET", "/t/unsayable", {}, (500, "INTERNAL_ERROR")),
    ],
)
def test_every_refusal_has_the_envelope(
    client: Client, method: str, path: str, options: dict[str, Any], expected: tuple[int, str]
) -> None:
    response = client.open(method, path, **options)
    body = checked(response)
    assert (response.status_code, body["shortMessage"]) == expected


def test_a_chunked_body_is_bounded_as_well(client: Client) -> None:
    chunked = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    response = client.flask.open(
        "/t/plain", method="POST", input_stream=_stream(BIG), headers=JSON, environ_overrides=chunked
    )
    assert (response.status_code, checked(response)["shortMessage"]) == (413, "PAYLOAD_TOO_LARGE")
    assert read_error(client.post("/t/files", data={"title": "x" * 5000})) == (413, "PAYLOAD_TOO_LARGE")


def _stream(raw: bytes) -> Any:
    from io import BytesIO

    return BytesIO(raw)


def test_a_body_of_one_mebibyte_is_taken(client: Client) -> None:
    padding = b" " * (1024 * 1024 - 14)
    assert data(client.open("POST", "/t/plain", data=b'{"name": "x"}' + padding + b" ", headers=JSON)) == {}


def test_405_lists_allowed_methods(client: Client) -> None:
    allowed = client.get("/t/plain").headers["Allow"]
    assert set(allowed.split(", ")) == {"POST", "OPTIONS"}


def test_401_names_its_scheme(client: Client) -> None:
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Basic eDp5"}, {"Authorization": "Bearer"}):
        response = client.get("/api/auth/me", headers=headers)
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert checked(response)["shortMessage"] in ("TOKEN_MISSING", "TOKEN_INVALID")


@pytest.mark.parametrize("header", ["Token x", "Basic eDp5", "Bearer", "eyJhbGciOiJSUzI1NiJ9.e30.x", "JWT a.b.c"])
def test_another_form_of_the_header_names_the_right_one(client: Client, header: str) -> None:
    body = checked(client.get("/api/auth/me", headers={"Authorization": header}))
    assert body["shortMessage"] == "TOKEN_INVALID" and "Authorization: Bearer <token>" in body["message"]


@pytest.mark.parametrize(
    "token", ["", ".", "..", "a.b.c", "e30.e30.", "\u00e9.x.y", "x" * 5000, "null", "eyJhbGciOiJub25lIn0.e30.", "\x7f"]
)
def test_rubbish_for_a_token_is_401(client: Client, token: str) -> None:
    response = client.get("/api/auth/me", headers={"Authorization": f"Bearer {token}"})
    assert read_error(response) == (401, "TOKEN_INVALID")


def test_a_token_that_does_not_count_is_no_absent_token(client: Client) -> None:
    assert read_error(client.get("/t/who", headers={"Authorization": "Bearer x"})) == (401, "TOKEN_INVALID")
    assert data(client.get("/t/who"))["id"] is None


@pytest.mark.parametrize("given", ["abcd1234", "A.b_c-d.9", "x" * 64])
def test_valid_request_id_is_used(client: Client, given: str) -> None:
    assert checked(client.get("/health", headers={"X-Request-Id": given}))["requestId"] == given


@pytest.mark.parametrize("given", ["short", "x" * 65, "with space", "semi;colon", "ümlaut--", ""])
def test_invalid_request_id_is_replaced(client: Client, given: str) -> None:
    made = checked(client.get("/nowhere", headers={"X-Request-Id": given}))["requestId"]
    assert made != given and re.fullmatch(r"[0-9a-f]{24}", made)


def test_a_trailing_slash_changes_nothing(client: Client) -> None:
    assert data(client.get("/health/")) == {"ok": True, "version": __version__}
    assert read_error(client.get("/api/auth/me/")) == (401, "TOKEN_MISSING")


def test_head_is_get_without_a_body(client: Client) -> None:
    response = client.open("HEAD", "/health")
    assert response.status_code == 200 and response.data == b"" and response.headers["X-Request-Id"]
    assert client.open("HEAD", "/nowhere").status_code == 404
    assert client.open("HEAD", "/t/plain").status_code == 405


def test_options_lists_methods_and_asks_for_no_token(client: Client) -> None:
    response = client.open("OPTIONS", "/api/auth/memberships")
    assert response.status_code == 200 and set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_an_error_gives_data_in_camel_case_and_wire_types(app: Flask) -> None:
    from datetime import UTC, datetime
    from decimal import Decimal

    from app.core.errors import Conflict
    from app.web.envelope import error_response

    with app.test_request_context():
        error = Conflict(available_minor=5, seen_at=datetime(2026, 1, 2, tzinfo=UTC), rate=Decimal("1.5"))
        assert error_response(error).get_json()["data"] == {
            "availableMinor": 5,
            "seenAt": "2026-01-02T00:00:00.000Z",
            "rate": 1.5,
        }


def test_a_number_beyond_64_bits_goes_out_as_a_double() -> None:
    from app.web.envelope import dump_json

    assert dump_json({"free": [{"n": 10**300, "m": 7}]}) == b'{"free":[{"n":1e+300,"m":7}]}'


def test_an_untrusted_host_is_refused(served: Served) -> None:
    client = served(TRUSTED_HOSTS="api.example.com,localhost")
    assert data(client.get("/health", headers={"Host": "api.example.com"})) == {"ok": True, "version": __version__}
    for host in ("evil.example", "api.example.com.evil.example", "api.example.com@evil.example", "a b", ""):
        response = client.get("/health", headers={"Host": host})
        assert (response.status_code, checked(response)["shortMessage"]) == (400, "HOST_NOT_TRUSTED"), host


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/api/event", "/api/events"),
        ("/api/auth/log-in", "/api/auth/login"),
        ("/api/events/secret-of-a-client/inventori", "/api/events/{eventId}/inventory"),
        ("/api/nothing/like/it", None),
        ("/api/" + "x" * 300, None),
    ],
)
def test_an_unknown_path_gets_the_most_similar_route(client: Client, path: str, route: str | None) -> None:
    response = client.get(path)
    assert read_error(response) == (404, "NOT_FOUND")
    message = response.get_json()["message"]
    assert (f"Did you mean {route}?" in message) if route else ("Did you mean" not in message)
    assert "secret-of-a-client" not in message


def test_a_wrong_method_gets_the_supported_ones(client: Client) -> None:
    response = client.delete("/api/events")
    assert response.get_json()["message"] == "This address supports GET and POST."
