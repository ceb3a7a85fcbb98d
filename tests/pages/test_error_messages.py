"""No page speaks the language of the API: what it says of every error, and of every problem with a field."""

import re

import pytest
from flask import Flask

from app.blueprints.pages.forms import FIELD_MESSAGES
from app.blueprints.pages.rendering import FOR_PROGRAMS, describe_error
from app.core.errors import AppError, Conflict, Throttled, Unprocessable
from tests.house.sources import ROOT

TECHNICAL = re.compile(
    r"\bdata[. ]|Retry-After|`|/api/|docs/|\b[a-z]+[A-Z]\w+|\bJSON\b|\bPOST\b|\brequestId\b|\btoken\b"
)


@pytest.fixture(autouse=True)
def within(app: Flask) -> object:
    with app.test_request_context("/"):
        yield


@pytest.mark.parametrize("code", sorted(set(AppError.catalogue) - {"VALIDATION_FAILED"}))
def test_page_says_every_error_in_plain_words(code: str) -> None:
    said = describe_error(AppError.catalogue[code]())
    assert not TECHNICAL.search(said) and not FOR_PROGRAMS.search(said), said


@pytest.mark.parametrize(
    "text",
    [
        "This address has a place already; send allowDuplicates to give it another.",
        "Say which with payrailMsisdn.",
        "POST /api/merchants/me first.",
        "The body is not valid JSON.",
    ],
)
def test_message_of_its_own_that_is_for_programs_is_not_shown(text: str) -> None:
    for error in (Conflict(text), Unprocessable(text), Throttled(text, retry_after=60)):
        assert not TECHNICAL.search(describe_error(error))


def test_message_of_its_own_in_plain_words_is_shown() -> None:
    assert describe_error(Conflict("The tent has no room left.")) == "The tent has no room left."
    assert describe_error(Throttled(retry_after=60)).endswith("Try again in 60 seconds.")


def test_pages_have_words_for_every_problem_with_a_field() -> None:
    """The messages of fields are for programs: `Must be an id: 24 lower-case hex digits.`"""
    sources = "".join(
        (ROOT / "app" / "web" / name).read_text("utf-8") for name in ("fields.py", "text_fields.py", "schema.py")
    )
    codes = set(re.findall(r"field_error\(\s*\"([a-z_]+)\"", sources))
    assert codes - set(FIELD_MESSAGES) == {"invalid_id"}, "nobody types an id"
