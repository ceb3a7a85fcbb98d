"""Links that end messages, and links that count clicks: what they carry, and that nobody can make one."""

from base64 import urlsafe_b64decode
from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.datastructures import Headers

from app.core.encrypted_tokens import decrypt_token, encrypt_token
from app.core.ids import new_id
from app.subscriptions import click_tracking
from app.subscriptions.click_tracking import TrackedLink, build_click_url, is_human_click
from app.subscriptions.unsubscribe_links import (
    UnsubscribeTarget,
    build_unsubscribe_links,
    decode_unsubscribe_token,
    encode_unsubscribe_token,
)

ADDRESS = "ndapewa@kitchen.example"
PHONE = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Mobile Safari/537.36"


@pytest.fixture(autouse=True)
def settings(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = replace(app.extensions["settings"], PUBLIC_BASE_URL="https://events.example")
    monkeypatch.setitem(app.extensions, "settings", ours)


@pytest.mark.parametrize("address", [ADDRESS, "a@b.na", "ünïcode@straße.example", "x" * 242 + "@abc.example"])
@pytest.mark.parametrize("organiser", [None, "6565a1f0c3d2e1b0a9f8e7d6", "000000000000000000000001"])
def test_a_link_names_person_and_organiser_again(address: str, organiser: str | None) -> None:
    token = encode_unsubscribe_token(UnsubscribeTarget(address, organiser))
    assert decode_unsubscribe_token(token) == UnsubscribeTarget(address, organiser)
    assert token == encode_unsubscribe_token(UnsubscribeTarget(address, organiser)), "the same link each time"


def test_a_link_shows_nobody_whose_it_is() -> None:
    token = encode_unsubscribe_token(UnsubscribeTarget(ADDRESS, new_id()))
    raw = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    for part in (ADDRESS, "ndapewa", "kitchen"):
        assert part.encode() not in raw and part not in token
    assert len(token) < 80


def test_mail_programs_are_told_the_same_link() -> None:
    links = build_unsubscribe_links(ADDRESS, new_id())
    assert links.url.startswith("https://events.example/unsubscribe/")
    assert links.headers == {
        "List-Unsubscribe": f"<{links.url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def test_a_link_that_was_touched_is_none_of_ours() -> None:
    token = encode_unsubscribe_token(UnsubscribeTarget(ADDRESS, new_id()))
    changed = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    for wrong in [*changed, "", "a", token + "A", token[:-1], token + "=", token + "\n", "é" * 40, " " + token]:
        assert decode_unsubscribe_token(wrong) is None, wrong


def test_what_is_sealed_for_one_purpose_opens_for_no_other() -> None:
    assert decrypt_token("one", encrypt_token("one", b"fact")) == b"fact"
    assert decrypt_token("other", encrypt_token("one", b"fact")) is None


def test_a_new_secret_ends_all_links(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    token, link = (
        encode_unsubscribe_token(UnsubscribeTarget(ADDRESS, None)),
        click_tracking.encode_click_token(TrackedLink("7", 0)),
    )
    monkeypatch.setitem(app.config, "SECRET_KEY", "another-key-of-more-than-32-characters")
    assert decode_unsubscribe_token(token) is None and click_tracking.decode_click_token(link) is None


@pytest.mark.parametrize("recipient", ["6565a1f0c3d2e1b0a9f8e7d6", 1, 9_223_372_036_854_775_807])
@pytest.mark.parametrize("number", [0, 1, 99])
def test_a_counted_link_names_its_recipient_and_never_where_it_leads(recipient: str | int, number: int) -> None:
    url = build_click_url(recipient, number)
    base, _, token = url.rpartition("/")
    assert base == "https://events.example/r" and len(token) <= 44
    assert click_tracking.decode_click_token(token) == TrackedLink(str(recipient), number)


@pytest.mark.parametrize("recipient", ["", "A", "1.2", "x" * 33, "../etc", "ä", "1\n"])
def test_only_plain_ids_can_be_named(recipient: str) -> None:
    with pytest.raises(ValueError, match="no token"):
        build_click_url(recipient)


def test_a_number_has_an_end() -> None:
    for number in (-1, 100):
        with pytest.raises(ValueError, match="no token"):
            build_click_url(1, number)


def test_nobody_can_make_or_change_a_counted_link() -> None:
    token = click_tracking.encode_click_token(TrackedLink("12345", 1))
    changed = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    moved = [token.replace("12345.1", other) for other in ("12346.1", "12345.2", "12345.01", "012345.1", "1234.51")]
    for wrong in [*changed, *moved, "", ".", "..", token + "A", token + "\n", "12345.1.", "１2345.1." + "A" * 16]:
        assert click_tracking.decode_click_token(wrong) is None, wrong
    mark = token.rpartition(".")[2]
    assert (
        click_tracking.decode_click_token(f"12345.1.{click_tracking.derived_text('unsubscribe', '12345', 1)[:16]}")
        is None
        and mark
    )


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
def test_programs_that_look_where_a_link_leads_do_not_count(method: str, headers: dict[str, str], counts: bool) -> None:
    assert is_human_click(method, Headers(headers)) is counts
