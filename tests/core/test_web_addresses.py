"""What counts as the address of a web page in a text that others get by mail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.addresses import BREAK, break_web_addresses, find_web_address

ADDRESSES = [
    "https://example.com",
    "HTTP://EXAMPLE.COM/x",
    "ftp://files.example",
    "//evil.example/x",
    "www.example",
    "WWW.example.com",
    "www2.bank.na",
    "example.com",
    "Example.Com/x",
    "win.example.com.",
    "(example.com)",
    "go to example.com, now",
    "bit.ly/3xY",
    "kapana.na",
    "kapana.com.na",
    "пример.рф",
    "例え.テスト/あ",
    "example．com",
    "exam\u200bple.com",
    "example。com",
    "x.co",
    "pay.example/now",
    "site.internal/login",
    "10.0.0.1/admin",
    "203.0.113.9:8080",
    "javascript:alert(1)",
    "mailto:a@b.example",
    "a.b.c.museum",
    "ünï.de",
    "foo.bar?x=1",
    "tomorrow.No",
    "evil.zip",
    "free-tickets.shop",
    "user@example.com/login",
    "-example.com",
    "..example.com",
    "example.com-",
    "สวัสดี.com",
    "हिन्दी.com",
    "भारत.भारत",
    "exam\u034fple\u0337.com",
    "example\ufe12com",
    "example.\ufe0fcom",
]
TEXTS = [
    "St. John",
    "N$ 1.500",
    "N$ 1.500,00",
    "Fr. 12.Dez",
    "12.Dez.2026",
    "12.12.2026",
    "a.m.",
    "6 p.m./7 p.m.",
    "e.g. this",
    "z.B. so",
    "Mr.Smith",
    "No.5",
    "Gate B/C",
    "and/or",
    "24/7",
    "18:00",
    "3:2",
    "Ph.D.",
    "J.R.R. Tolkien",
    "v1.2.3",
    "1.5 km",
    "50.5%",
    "Hello... we",
    "wait...what",
    "x..y",
    "O'Neill & Sons (Pty) Ltd.",
    "Café Ågren",
    "Ω.Ψ",
    "office@kapana.com.na",
    "write to anna.b@festival.na!",
    "",
    "C/o Frieda",
    "Dr.-Ing. Meyer",
    "12:30-14:00",
    "#1 burgers",
    "A. B. Braai",
    "10.0.0.1",
    "50/50 split",
    "T.b.a.",
    "Note: bring water",
    "Re: stalls",
]


@pytest.mark.parametrize("text", ADDRESSES)
def test_web_addresses_are_found(text: str) -> None:
    assert find_web_address(text) is not None
    assert find_web_address(f"Dear all, {text} is where") is not None


@pytest.mark.parametrize("text", TEXTS)
def test_ordinary_texts_hold_none(text: str) -> None:
    assert find_web_address(text) is None
    assert find_web_address(f"Hello {text} and so on") is None
    assert break_web_addresses(text) == text


@given(st.text(st.characters(categories=["L", "N", "Zs", "Sc"], include_characters=",;!?'()&-\n")))
def test_text_without_dots_slashes_and_colons_holds_none(text: str) -> None:
    assert find_web_address(text) is None


@given(st.lists(st.from_regex(r"[A-Za-zäöüß']{1,12}[.,!?]?", fullmatch=True)).map(" ".join))
def test_sentences_with_a_space_after_each_full_stop_hold_none(text: str) -> None:
    assert find_web_address(text) is None


@given(st.decimals(0, 10**7, places=2), st.dates(), st.times())
def test_amounts_dates_and_times_hold_none(amount: object, day: object, time: object) -> None:
    assert find_web_address(f"N$ {amount} until {day:%d.%m.%Y} or {day:%d/%m/%Y} {day:%d.%b} at {time}") is None


@given(
    st.text(st.characters(categories=["L", "Zs"]), max_size=20),
    st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True),
    st.sampled_from(["com", "na", "co.za", "ORG", "xn--p1ai", "shop"]),
)
def test_a_domain_is_found_in_any_place(before: str, label: str, ending: str) -> None:
    assert find_web_address(f"{before} {label}.{ending} {before}") is not None


@given(st.one_of(st.text(), st.sampled_from(ADDRESSES).map(lambda item: f"see {item} there")))
def test_a_broken_text_reads_the_same_and_never_fails(text: str) -> None:
    assert break_web_addresses(text).replace(BREAK, "") == text.replace(BREAK, "")


@pytest.mark.parametrize("text", ["example.com", "https://example.com/x", "www.example.com"])
def test_a_broken_address_has_a_break_at_every_joint(text: str) -> None:
    broken = break_web_addresses(text)
    assert f".{BREAK}com" in broken and "://" not in broken
