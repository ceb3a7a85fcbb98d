"""Security headers of every response, and CORS."""

import re

import pytest
from werkzeug.test import TestResponse

from app.web.middleware import SECURITY_HEADERS
from tests.http import Client
from tests.web.conftest import Served
from tests.web.shop import stock

KINDS = {
    "json": ("GET", "/health"),
    "error": ("GET", "/nowhere"),
    "refused": ("DELETE", "/health"),
    "unforeseen": ("GET", "/t/boom"),
    "page": ("GET", "/"),
    "stylesheet": ("GET", "/static/pages.css"),
    "document": ("GET", "/openapi.json"),
    "head": ("HEAD", "/health"),
    "options": ("OPTIONS", "/health"),
}


def each_kind(client: Client) -> dict[str, TestResponse]:
    found = {kind: client.open(method, path) for kind, (method, path) in KINDS.items()}
    (item,) = stock(1)
    found["not modified"] = client.get(f"/t/items/{item}", headers={"If-None-Match": '"1"'})
    assert found["not modified"].status_code == 304
    return found


def test_every_kind_of_response_has_each_header_once(client: Client) -> None:
    for kind, response in each_kind(client).items():
        for name, _ in SECURITY_HEADERS:
            assert len(response.headers.getlist(name)) == 1, (kind, name)
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert re.fullmatch(r"[0-9a-f]{24}", response.headers["X-Request-Id"])
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy, kind
        assert "unsafe" not in policy and "*" not in policy, kind


def test_responses_are_not_cached_and_do_not_name_the_server(client: Client) -> None:
    for kind, response in each_kind(client).items():
        if kind != "stylesheet":
            assert response.headers["Cache-Control"] == "no-store", kind
        assert not re.search(r"(?i)werkzeug|python|flask", str(response.headers)), kind
        assert "Set-Cookie" not in response.headers


def test_https_is_pinned_where_it_is_served(served: Served, client: Client) -> None:
    assert "Strict-Transport-Security" not in client.get("/health").headers
    secure = served(PUBLIC_BASE_URL="https://api.example.com")
    assert secure.get("/health").headers["Strict-Transport-Security"].startswith("max-age=31536000")


PREFLIGHT = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization,if-match"}


def test_no_browser_origin_is_allowed_unless_named(client: Client) -> None:
    for method in ("GET", "OPTIONS"):
        headers = {"Origin": "https://app.example.com", **PREFLIGHT}
        response = client.open(method, "/health", headers=headers)
        assert not [name for name in response.headers.keys() if name.startswith("Access-Control")]  # noqa: SIM118


def test_a_named_origin_may_call_and_sends_no_cookies(served: Served) -> None:
    client = served(CORS_ORIGINS="https://app.example.com,https://admin.example.com")
    response = client.get("/health", headers={"Origin": "https://app.example.com"})
    assert response.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert {"ETag", "X-Request-Id"} <= set(response.headers["Access-Control-Expose-Headers"].split(", "))
    assert "Origin" in response.headers["Vary"]
    asked = client.open("OPTIONS", "/api/auth/me", headers={"Origin": "https://app.example.com", **PREFLIGHT})
    assert "PATCH" in asked.headers["Access-Control-Allow-Methods"]
    assert "authorization" in asked.headers["Access-Control-Allow-Headers"]
    error = client.get("/api/auth/me", headers={"Origin": "https://app.example.com"})
    assert error.headers["Access-Control-Allow-Origin"] == "https://app.example.com", "an error must be readable"


@pytest.mark.parametrize(
    "origin",
    [
        "https://app.example.com.evil.example",
        "https://appXexample.com",
        "http://app.example.com",
        "null",
        "*",
        "https://app.example.com:444",
        "https://evil.example/https://app.example.com",
        "https://APP.example.com.",
        "",
    ],
)
def test_only_the_exact_origin_is_allowed(served: Served, origin: str) -> None:
    client = served(CORS_ORIGINS="https://app.example.com")
    assert "Access-Control-Allow-Origin" not in client.get("/health", headers={"Origin": origin}).headers


def test_request_without_origin_gets_no_cors_header(served: Served) -> None:
    client = served(CORS_ORIGINS="https://app.example.com")
    assert "Access-Control-Allow-Origin" not in client.get("/health").headers


def test_a_deprecated_operation_says_since_when_and_until_when(client: Client) -> None:
    response = client.get("/t/old")
    assert response.headers["Deprecation"] == "@1793491200"
    assert response.headers["Sunset"] == "Tue, 01 Jun 2027 00:00:00 GMT"
    document = client.get("/openapi.json").get_json()
    operation = document["paths"]["/t/old"]["get"]
    assert operation["deprecated"] is True and {"Deprecation", "Sunset"} <= set(
        operation["responses"]["200"]["headers"]
    )
    other = client.get("/health")
    assert "Deprecation" not in other.headers and "deprecated" not in document["paths"]["/health"]["get"]
