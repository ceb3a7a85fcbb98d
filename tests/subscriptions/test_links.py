"""Tokens of unsubscribe links and tracked links: their content, and that they cannot be forged."""

from base64 import urlsafe_b64decode
from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.datastructures import Headers

from app.core.ids import new_id
from app.core.tokens import decrypt_token, encrypt_token
from app.subscriptions import message_links
from app.subscriptions.message_links import (
    TrackedLink,
    UnsubscribeTarget,
    build_click_url,
    build_unsubscribe_links,
    decode_unsubscribe_token,
    encode_unsubscribe_token,
    is_human_click,
)

ADDRESS = "ndapewa@kitchen.example"
PHONE = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Mobile Safari/537.36"


@pytest.fixture(autouse=True)
def settings(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    test_settings = replace(app.extensions["settings"], PUBLIC_BASE_URL="https://events.example")
    monkeypatch.setitem(app.extensions, "settings", test_settings)


@pytest.mark.parametrize("address", [ADDRESS, "a@b.na", "ünïcode@straße.example", "x" * 242 + "@abc.example"])
@pytest.mark.parametrize("organiser", [None, "6565a1f0c3d2e1b0a9f8e7d6", "000000000000000000000001"])
def test_unsubscribe_token_round_trip(address: str, organiser: str | None) -> None:
    token = encode_unsubscribe_token(UnsubscribeTarget(address, organiser))
    assert decode_unsubscribe_token(token) == UnsubscribeTarget(address, organiser)
    assert token == encode_unsubscribe_token(UnsubscribeTarget(address, organiser)), "the token is always the same"


def test_unsubscribe_token_hides_the_address() -> None:
    token = encode_unsubscribe_token(UnsubscribeTarget(ADDRESS, new_id()))
    decoded = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    for part in (ADDRESS, "ndapewa", "kitchen"):
        assert part.encode() not in decoded and part not in token
    assert len(token) < 80


def test_unsubscribe_headers_have_the_same_link() -> None:
    links = build_unsubscribe_links(ADDRESS, new_id())
    assert links.url.startswith("https://events.example/unsubscribe/")
    assert links.headers == {
        "List-Unsubscribe": f"<{links.url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def test_changed_unsubscribe_token_is_invalid() -> None:
    token = encode_unsubscribe_token(UnsubscribeTarget(ADDRESS, new_id()))
    changed_tokens = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    for invalid_token in [
        *changed_tokens,
        "",
        "a",
        token + "A",
        token[:-1],
        token + "=",
        token + "\n",
        "é" * 40,
        " " + token,
    ]:
        assert decode_unsubscribe_token(invalid_token) is None, invalid_token


def test_token_is_valid_only_for_its_purpose() -> None:
    assert decrypt_token("one", encrypt_token("one", b"fact")) == b"fact"
    assert decrypt_token("other", encrypt_token("one", b"fact")) is None


def test_new_secret_key_voids_all_links(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    token, link = (
        encode_unsubscribe_token(UnsubscribeTarget(ADDRESS, None)),
        message_links.encode_click_token(TrackedLink("7", 0)),
    )
    monkeypatch.setitem(app.config, "SECRET_KEY", "another-key-of-more-than-32-characters")
    assert decode_unsubscribe_token(token) is None and message_links.decode_click_token(link) is None


@pytest.mark.parametrize("recipient", ["6565a1f0c3d2e1b0a9f8e7d6", 1, 9_223_372_036_854_775_807])
@pytest.mark.parametrize("number", [0, 1, 99])
def test_click_token_has_recipient_and_number_but_no_destination(recipient: str | int, number: int) -> None:
    url = build_click_url(recipient, number)
    base, _, token = url.rpartition("/")
    assert base == "https://events.example/r" and len(token) <= 44
    assert message_links.decode_click_token(token) == TrackedLink(str(recipient), number)


@pytest.mark.parametrize("recipient", ["", "A", "1.2", "x" * 33, "../etc", "ä", "1\n"])
def test_click_token_refuses_invalid_ids(recipient: str) -> None:
    with pytest.raises(ValueError, match="no token"):
        build_click_url(recipient)


def test_click_token_refuses_invalid_numbers() -> None:
    for number in (-1, 100):
        with pytest.raises(ValueError, match="no token"):
            build_click_url(1, number)


def test_forged_click_token_is_invalid() -> None:
    token = message_links.encode_click_token(TrackedLink("12345", 1))
    changed_tokens = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    tokens_of_other_links = [
        token.replace("12345.1", other) for other in ("12346.1", "12345.2", "12345.01", "012345.1", "1234.51")
    ]
    for invalid_token in [
        *changed_tokens,
        *tokens_of_other_links,
        "",
        ".",
        "..",
        token + "A",
        token + "\n",
        "12345.1.",
        "１2345.1." + "A" * 16,
    ]:
        assert message_links.decode_click_token(invalid_token) is None, invalid_token
    other_signature = message_links.derived_text("unsubscribe", "12345", 1)[:16]
    assert message_links.decode_click_token(f"12345.1.{other_signature}") is None


@pytest.mark.parametrize(
    ("method", "headers", "counts"),
    [
        ("GET", {"User-Agent": PHONE}, True),
        ("HEAD", {"User-Agent": PHONE}, False),
        ("POST", {"User-Agent": PHONE}, False),
        ("GET", {}, False),
        ("GET", {"User-Agent": PHONE, "Sec-Purpose": "prefetch;prerender"}, False),
        ("GET", {"User-Agent": PHONE, "purpose": "prefetch"}, False),
        ("GET", {"User-Agent": PHONE, "X-Moz": "prefetch"}, False),
        ("GET", {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}, False),
        ("GET", {"User-Agent": "Mozilla/5.0 (compatible; bingbot/2.0)"}, False),
        ("GET", {"User-Agent": "Mozilla/5.0 (Windows NT 10.0) BarracudaCentral"}, False),
        ("GET", {"User-Agent": "Mozilla/5.0 Mimecast URL Scan"}, False),
        ("GET", {"User-Agent": "Mozilla/5.0 (X11) HeadlessChrome/130.0"}, False),
        ("GET", {"User-Agent": "WhatsApp/2.23.20.0 A"}, False),
        ("GET", {"User-Agent": "facebookexternalhit/1.1"}, False),
        ("GET", {"User-Agent": "curl/8.5.0"}, False),
        ("GET", {"User-Agent": "python-requests/2.32"}, False),
        ("GET", {"User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1"}, True),
        ("GET", {"User-Agent": "Mozilla/5.0 (Macintosh) Cubot/1 Safari/604.1"}, False),
    ],
)
def test_only_human_clicks_count(method: str, headers: dict[str, str], counts: bool) -> None:
    assert is_human_click(method, Headers(headers)) is counts
