"""Logs: one JSON object a line, with the request's id, and never a secret."""

import errno
import io
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from flask import Flask

from app.core import logs
from app.core.context import request_id
from tests.core.logging import Lines, logged

TOKEN = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
OPAQUE = "q7Zr0mJ9n2Xw5Lk8Vb3Tc6Yd1Fh4Gs_Pa-Ue0Ri9Ko2"


@pytest.fixture
def lines(app: Flask) -> Iterator[Lines]:
    with logged() as caught:
        yield caught


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "new_password",
        "refreshToken",
        "secret",
        "Authorization",
        "cookie",
        "otp",
        "code",
        "reset_code",
        "key",
        "api_key",
        "payrailMsisdn",
        "signature",
        "bootstrapSecret",
    ],
)
def test_a_field_with_a_secret_name_is_masked_at_any_depth(lines: Lines, name: str) -> None:
    structlog.get_logger("t").info("said", **{name: "canary"}, deep={"list": [{name: ["canary"]}]})
    assert "canary" not in lines.text and lines.text.count("[masked]") == 2


@pytest.mark.parametrize(
    "text",
    [
        TOKEN,
        OPAQUE,
        f"Bearer {TOKEN}",
        "Authorization: Bearer canary",
        "password=canary",
        "'password': 'canary x'",
        '{"token":"canary"}',
        "secret: canary,",
        "postgresql://user:canary@host/db",
        "GET /claim/" + OPAQUE,
    ],
)
def test_a_value_that_looks_like_a_secret_is_masked(lines: Lines, text: str) -> None:
    logging.getLogger("library").warning("it was %s", text)
    structlog.get_logger("t").info(text, note=text, list=[text], error=ValueError(text), raw=text.encode())
    try:
        raise RuntimeError(text)
    except RuntimeError:
        structlog.get_logger("t").exception("failed")
    assert len(lines.all) == 3
    for secret in ("canary", TOKEN, OPAQUE):
        assert secret not in lines.text


def test_other_values_are_not_masked(lines: Lines) -> None:
    structlog.get_logger("t").info("paid", payout_id="6565a1f0c3d2e1b0a9f8e7d6", amount=5, ok=True, none=None, rate=1.5)
    (line,) = lines.all
    assert line | {"payout_id": "6565a1f0c3d2e1b0a9f8e7d6", "amount": 5, "ok": True, "none": None, "rate": 1.5} == line
    assert (line["event"], line["level"], line["logger"]) == ("paid", "info", "t")


@pytest.mark.parametrize("text", ["a\r\nb", "\x1b[31mred", "\u2028", "\u202e", "\x00", 'a"}\n{"level": "fake"', "\x85"])
def test_a_record_is_one_line(lines: Lines, text: str) -> None:
    structlog.get_logger("t").info("said", text=text)
    logging.getLogger("library").warning("said %s", text)
    assert lines.text.count("\n") == 2 and len(lines.all) == 2
    assert lines.text.isascii() and "\x1b" not in lines.text
    assert lines.all[0]["text"] == text


def test_every_line_has_the_request_id(lines: Lines) -> None:
    token = request_id.set("piece-of-work-1")
    structlog.get_logger("t").info("one")
    logging.getLogger("library").warning("two")
    request_id.reset(token)
    assert [line["request_id"] for line in lines.all] == ["piece-of-work-1"] * 2


def test_values_that_json_lacks_are_logged_as_text(lines: Lines) -> None:
    odd: dict[str, Any] = {"set": {1}, "object": object(), "type": int, "error": KeyError("x")}
    structlog.get_logger("t").info("odd", **odd)
    assert lines.all[0]["set"] == [1] and lines.all[0]["error"] == "KeyError('x')"


class Full(io.StringIO):
    """A file on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_line_that_cannot_be_written_is_counted_and_raises_nothing(
    app: Flask, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[int] = []
    monkeypatch.setattr(logs, "LOST", type("Counting", (), {"add": lambda self: lost.append(1)})())
    handler = next(handler for handler in logging.getLogger().handlers if isinstance(handler, logs.Handler))
    before = handler.setStream(Full())
    structlog.get_logger("t").warning("said")
    handler.setStream(before or lines)
    assert lost == [1] and lines.text == ""
