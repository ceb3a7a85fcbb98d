"""Opaque tokens, and values derived from the secret key."""

import re

import pytest
from flask import Flask

from app.core.tokens import derive, derived_text, fingerprint, opaque_token, same


def test_a_token_has_256_bits_and_is_url_safe() -> None:
    made = {opaque_token() for _ in range(1000)}
    assert len(made) == 1000 and all(re.fullmatch(r"[A-Za-z0-9_-]{43}", item) for item in made)


def test_a_fingerprint_is_sha256() -> None:
    assert fingerprint("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert fingerprint("abc") != fingerprint("abd")


def test_a_derived_value_depends_on_key_purpose_and_parts(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    made = derive("purpose", "a", 1)
    assert made == derive("purpose", "a", "1") and len(made) == 32
    others = [
        derive("other", "a", 1),
        derive("purpose", "a", 2),
        derive("purpose", "a1"),
        derive("purpose", "", "a", 1),
    ]
    monkeypatch.setitem(app.config, "SECRET_KEY", "another-key-0123456789-0123456789")
    assert len({made, derive("purpose", "a", 1), *others}) == 6
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", derived_text("purpose"))


def test_parts_are_separated(app: Flask) -> None:
    assert derive("p", "a", "b") != derive("p", "ab", "") != derive("p", "", "ab")


def test_same_compares_texts() -> None:
    assert same("ünï", "ünï") and not same("a", "b") and not same("a", "aa") and same("", "")
