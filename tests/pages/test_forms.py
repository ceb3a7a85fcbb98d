"""What holds for every form page: tokens, cookies, headers, limits, errors for people."""

import re

import pytest
from flask import Flask

from app.blueprints.pages.forms import Input
from app.blueprints.pages.rendering import format_wait
from app.web import rate_limits
from tests.http import Client
from tests.pages.pages import Visitor
from tests.settings import app_for

START = "/reset-password"


def test_no_page_takes_a_form_that_is_not_ours(app: Flask, client: Client) -> None:
    pages = [
        rule
        for rule in app.url_map.iter_rules()
        if "POST" in (rule.methods or ()) and not rule.rule.startswith("/api/")
    ]
    assert START in {rule.rule for rule in pages}
    for rule in pages:
        path = re.sub("<[^>]+>", "x", re.sub("<int:[^>]+>", "0", rule.rule))
        refused = client.flask.post(path, data={"email": "frieda@example.com"})
        assert (refused.status_code, "FORM_EXPIRED" in refused.text) == (400, True), rule.rule


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("2,000", "2000"),
        ("1.200.000", "1200000"),
        (" 2 000 ", "2000"),
        ("2,5", "2,5"),
        ("2,0000", "2,0000"),
        ("0,500", "0,500"),
        ("1,200.000", "1,200.000"),
    ],
)
def test_thousands_may_be_apart_in_whole_numbers(typed: str, read: str) -> None:
    assert Input("capacity", "Capacity", inputmode="numeric").normalize(typed) == read


@pytest.mark.parametrize("token", ["", "made-up", "another visitor's"])
def test_a_token_that_does_not_count_gets_a_page_that_helps(app: Flask, visitor: Visitor, token: str) -> None:
    stranger = Visitor(app.test_client())
    stranger.open(START)
    foreign = stranger.forms[0].fields["csrf_token"]
    visitor.open(START)
    page = visitor.send(email="frieda@example.com", csrf_token=foreign if "another" in token else token)
    assert page.status_code == 400
    assert page.content_type.startswith("text/html")
    assert "Nothing was changed." in page.text
    assert f'<a class="button" href="{START}">' in page.text
    assert page.headers["X-Request-Id"] in page.text
    visitor.open(START)
    assert visitor.send(email="frieda@example.com").request.path == f"{START}/code"


def test_the_api_needs_no_token_and_gives_no_cookie(client: Client) -> None:
    answer = client.post("/api/auth/password-reset/request", {"email": "frieda@example.com"})
    assert (answer.status_code, "Set-Cookie" in answer.headers) == (200, False)


def test_the_cookie_is_kept_from_scripts_and_other_sites(client: Client) -> None:
    cookie = client.get(START).headers["Set-Cookie"]
    assert cookie.startswith("console=")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert not re.search("Expires|Max-Age|Secure", cookie)


def test_under_https_the_cookie_is_secure_and_forms_need_no_referer(app: Flask) -> None:
    settings = app.extensions["settings"]
    secure = app_for(
        database_url=settings.DATABASE_URL, redis_url=settings.REDIS_URL, PUBLIC_BASE_URL="https://events.example"
    )
    visitor = Visitor(secure.test_client(), {"base_url": "https://events.example"})
    cookie = visitor.open(START).headers["Set-Cookie"]
    assert cookie.startswith("__Host-console=")
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert visitor.send(email="nobody at example").status_code == 422


def test_a_form_page_is_not_kept_tells_no_referer_and_runs_only_our_script(visitor: Visitor) -> None:
    for page in (visitor.open(START), visitor.send(email="")):
        assert page.headers["Cache-Control"] == "no-store"
        assert page.headers["Referrer-Policy"] == "no-referrer"
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert re.findall(r"<script[^>]*>", page.text) == ['<script src="/static/pages.js" defer>']
        assert not re.search(r"<style|\sstyle=|\son\w+=", page.text)


def test_the_page_and_its_operation_share_one_limit(client: Client, visitor: Visitor) -> None:
    asked = "/api/auth/password-reset/request"
    for number in range(rate_limits.EMAIL_REQUEST_LIMIT.per_minute):
        assert client.post(asked, {"email": f"nobody{number}@example.com"}).status_code == 200
    visitor.open(START)
    page = visitor.send(email="frieda@example.com")
    assert page.status_code == 429
    assert f"You tried too often in a short time. Try again in {page.headers['Retry-After']} second" in page.text


def test_tries_of_codes_are_limited_as_well(client: Client, visitor: Visitor) -> None:
    visitor.open(START)
    visitor.send(email="frieda@example.com")
    guess = {"email": "frieda@example.com", "code": "0"}
    for _ in range(rate_limits.CODE_ATTEMPT_LIMIT.per_minute):
        assert client.post("/api/auth/password-reset/verify", guess).status_code == 422
    page = visitor.send(code="000000", password="the rain came late to Gobabis")
    assert page.status_code == 429
    assert visitor.forms[0].fields["code"] == "000000"


def test_a_body_that_is_too_large_is_refused_by_a_page(visitor: Visitor) -> None:
    visitor.open(START)
    page = visitor.send(email="x" * 70_000)
    assert page.status_code == 413
    assert "<h1>This is too large</h1>" in page.text
    assert page.headers["X-Request-Id"] in page.text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (59, "59 seconds"), (120, "120 seconds"), (121, "3 minutes"), (80_000, "23 hours")],
)
def test_a_time_to_wait_is_shown_in_a_readable_unit(seconds: int, words: str) -> None:
    assert format_wait(seconds) == words


BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/claimm/abc", "/reset-passwort"])
def test_whoever_mistypes_an_address_in_a_browser_gets_a_page(client: Client, path: str) -> None:
    page = client.flask.get(path, headers=BROWSER)
    assert page.status_code == 404 and page.mimetype == "text/html"
    assert "Page not found" in page.text and "Check that you copied the whole link." in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [("GET", "/claimm/abc", {}), ("GET", "/api/nowhere", BROWSER), ("POST", "/nowhere", BROWSER)],
)
def test_programs_get_the_envelope_for_an_address_that_is_none(
    client: Client, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = client.flask.open(path, method=method, headers=headers)
    assert (answer.status_code, answer.get_json()["shortMessage"]) == (404, "NOT_FOUND")
