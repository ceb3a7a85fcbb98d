"""The pages for people, over HTTP."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.blueprints import pages
from app.blueprints.pages.rendering import render_error
from app.clients import dev_mailbox
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.core.errors import AppError, Gone, Throttled
from tests.http import Client

STATIC = Path(__file__).resolve().parents[2] / "app" / "static"
RENDERED: list[str] = ["/", "/dev/mail", "/docs"]


@pytest.fixture(autouse=True)
def mailbox_folder(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = replace(app.extensions["settings"], DATA_DIR=tmp_path, SMTP_URL=None)
    monkeypatch.setitem(app.extensions, "settings", ours)


@pytest.fixture
def code_mail(app: Flask) -> dict[str, Any]:
    mail = render_email(
        "verify_email", to="ndapewa@kitchen.example", key="code:1", name="Ndapewa", code="123456", minutes=10
    )
    send(mail, fence=lambda: None)
    return dev_mailbox.list_messages()[0]


def test_the_start_page_says_what_this_is_and_links_on(client: Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    for target in ("/docs", "/openapi.json", "/health", "/dev/mail"):
        assert f'href="{target}"' in page.text
    assert "A service for events" in page.text


@pytest.mark.parametrize("path", RENDERED)
def test_pages_have_no_inline_script_or_style_and_nothing_from_elsewhere(client: Client, path: str) -> None:
    page = client.get(path).text
    assert not re.search(r"(?i)<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|javascript:", page)
    assert re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"', page) == []


@pytest.mark.parametrize("path", RENDERED)
def test_pages_tell_language_width_and_title(client: Client, path: str) -> None:
    page = client.get(path).text
    assert '<html lang="en"' in page
    assert 'name="viewport"' in page
    assert re.search(r"<title>\S.*</title>", page)
    assert page.count("<main") == 1


def test_the_stylesheet_is_small_and_draws_on_nothing_outside() -> None:
    css = (STATIC / "pages.css").read_text()
    assert len(css.encode()) < 16 * 1024  # with the tables, figures and charts of the desk
    assert not re.search(r"url\(|@import|@font-face", css)
    assert "prefers-color-scheme: dark" in css
    assert not re.search(r"(?:margin|padding|border)-(?:left|right)\b|text-align: (?:left|right)", css)


def test_the_mailbox_as_json_is_a_bare_list_newest_first(client: Client, code_mail: dict[str, Any]) -> None:
    dev_mailbox.store_message("sms", "+264811234567", None, "Your code is 654 321")
    answer = client.get("/dev/mail.json")
    assert answer.content_type.startswith("application/json")
    newest, oldest = answer.get_json()
    assert (newest["channel"], oldest["channel"]) == ("sms", "email")
    assert set(oldest) == {"id", "channel", "to", "subject", "text", "html", "sentAt"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", oldest["sentAt"])


@pytest.mark.parametrize(
    ("to", "found"),
    [
        ("ndapewa@kitchen.example", 1),
        ("NDAPEWA@kitchen.example", 1),
        ("other@kitchen.example", 0),
    ],
)
def test_the_mailbox_is_searched_by_address(
    client: Client,
    code_mail: dict[str, Any],
    to: str,
    found: int,
) -> None:
    assert len(client.get("/dev/mail.json", query_string={"to": to}).get_json()) == found
    assert client.get("/dev/mail", query_string={"to": to}).text.count("Your code is 123 456") == found


def test_the_mailbox_is_looked_through_by_channel(client: Client, code_mail: dict[str, Any]) -> None:
    dev_mailbox.store_message("sms", "+264811234567", None, "Your code is 654 321")
    dev_mailbox.store_message("push", "device-1", "Gates open", "At 16:00", headers={"Platform": "ios"})
    for channel, words in [("email", "Your code is 123 456"), ("sms", "654 321"), ("push", "Gates open")]:
        assert [it["channel"] for it in client.get(f"/dev/mail.json?channel={channel}").get_json()] == [channel]
        page = client.get(f"/dev/mail?channel={channel}").text
        assert words in page and page.count("<li>") == 1 and page.count('aria-current="page"') == 1
    assert len(client.get("/dev/mail.json?channel=fax").get_json()) == 3
    assert "No message of this kind was sent to nobody yet" in client.get("/dev/mail?channel=sms&to=nobody").text
    shown = client.get(f"/dev/mail/{dev_mailbox.list_messages()[0]['id']}").text
    assert "Gates open" in shown and "At 16:00" in shown and "ios" in shown


def test_a_message_shows_its_text_its_headers_and_a_frame(client: Client, code_mail: dict[str, Any]) -> None:
    page = client.get(f"/dev/mail/{code_mail['id']}")
    assert page.status_code == 200
    assert "Enter it to confirm your address." in page.text
    assert "Message-ID" in page.text
    assert re.search(rf'<iframe [^>]*\bsandbox\b[^>]*src="/dev/mail/{code_mail["id"]}/html"', page.text)
    assert "frame-src 'self'" in page.headers["Content-Security-Policy"]


def test_the_framed_mail_may_run_nothing_and_load_our_own_pictures(client: Client, code_mail: dict[str, Any]) -> None:
    page = client.get(f"/dev/mail/{code_mail['id']}/html")
    assert page.text == code_mail["html"]
    policy = page.headers["Content-Security-Policy"]
    assert policy == "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"
    assert page.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_links_in_a_text_can_be_followed_and_markup_in_it_is_only_shown(client: Client) -> None:
    dev_mailbox.store_message("sms", "+264811234567", None, "<script>x</script> https://events.example/claim/abc")
    page = client.get(f"/dev/mail/{dev_mailbox.list_messages()[0]['id']}").text
    assert 'href="https://events.example/claim/abc"' in page
    assert "<script>" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/dev/mail/" + "0" * 24,
        "/dev/mail/x/html",
        "/docs/assets/index.css",
        "/docs/operations/..",
    ],
)
def test_what_is_not_there_is_not_found(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_production_has_no_mailbox(app: Flask) -> None:
    settings = replace(app.extensions["settings"], APP_ENV="production")
    fresh = Flask(app.import_name)
    fresh.extensions["settings"] = settings
    pages.register(fresh, settings)
    visitor = fresh.test_client()
    assert "/dev/mail" not in visitor.get("/").text
    for path in ("/dev/mail", "/dev/mail.json", "/dev/mail/" + "0" * 24):
        assert visitor.get(path).status_code == 404


def test_the_links_of_the_api_documentation_work(client: Client) -> None:
    page = client.get("/docs")
    targets = {target.partition("#")[0] for target in re.findall(r'(?:src|href)="([^"]+)"', page.text)} - {"data:,", ""}
    assert "/docs/operations/events" in targets and "/docs/errors" in targets
    for target in targets:
        assert client.get(target).status_code == 200, target
    assert "script-src" not in page.headers["Content-Security-Policy"], "the pages need no script"
    assert client.get("/docs/operations/nothing").status_code == 404


def test_every_operation_and_error_is_in_the_api_documentation(client: Client) -> None:
    document = client.get("/openapi.json").get_json()
    start, pages = client.get("/docs").text, {}
    for path, item in (document["paths"] | document["webhooks"]).items():
        for method, operation in item.items():
            if method in ("get", "post", "put", "patch", "delete"):
                tag = operation["tags"][0]
                page = pages.setdefault(tag, client.get(f"/docs/operations/{tag}").text.replace("<wbr>", ""))
                assert f'id="{operation["operationId"]}"' in page and f"{method.upper()} {path}" in page
                assert f'/docs/operations/{tag}#{operation["operationId"]}"' in start
    errors = client.get("/docs/errors").text
    assert [code for code in AppError.catalogue if f'id="{code}"' not in errors] == []


def test_a_long_path_of_an_operation_may_break_after_a_slash(client: Client) -> None:
    for page in ("/docs", "/docs/operations/campaigns"):
        assert "POST /api/<wbr>events/<wbr>{id}/<wbr>notifications/<wbr>broadcast</code>" in client.get(page).text


def test_a_reference_of_an_operation_has_its_nested_properties_and_example(client: Client) -> None:
    page = client.get("/docs/operations/events").text
    assert "ticketTypes[].phases[].priceMinor" in page and "<h3>Example of a body</h3>" in page


@pytest.mark.parametrize("path", ["/dev/mail/" + "0" * 24, "/dev/mail/x/html"])
def test_people_get_errors_as_pages(client: Client, path: str) -> None:
    page = client.get(path)
    assert page.content_type.startswith("text/html")
    assert "<h1>Page not found</h1>" in page.text
    assert page.headers["X-Request-Id"] in page.text
    assert "style-src 'self'" in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "error",
    [
        Gone("Ask the organiser for a new link.", contact="host@lights.example"),
        Throttled("Wait for a minute.", retry_after=60, contact="host@lights.example"),
    ],
)
def test_an_render_error_says_what_to_do_what_to_quote_and_whom_to_ask(app: Flask, error: AppError) -> None:
    with app.test_request_context():
        answer = render_error(error)
    assert answer.status_code == error.status
    for fact in (error.code, error.text, "mailto:host@lights.example"):
        assert fact in answer.get_data(as_text=True)
    assert answer.headers.get("Retry-After") == error.headers.get("Retry-After")
