"""The catalogue: every error once, with a number that fits its status."""

import re

import pytest

from app.core.errors import SHARED_NUMBER, AppError, Conflict, NotFound, Unauthorised, Unavailable, ValidationFailed


@pytest.mark.parametrize(("number", "code"), [(40400, "NEW_ONE"), (40477, "NOT_FOUND"), (50077, "NEW_ONE"), (0, "NEW")])
def test_a_duplicate_or_invalid_number_or_code_is_refused(number: int, code: str) -> None:
    with pytest.raises(TypeError, match=code):
        type("Doubled", (NotFound,), {"number": number, "code": code, "message": "No."})
    assert AppError.catalogue["NOT_FOUND"] is NotFound


def test_conflicts_above_the_first_hundred_share_a_number() -> None:
    try:
        for code in ("ONE_MORE_CONFLICT", "ANOTHER_CONFLICT"):
            type("Extra", (Conflict,), {"number": SHARED_NUMBER, "code": code, "message": "No."})
            assert AppError.catalogue[code].number == SHARED_NUMBER
        with pytest.raises(TypeError, match="ANOTHER_CONFLICT"):
            type("Doubled", (Conflict,), {"number": SHARED_NUMBER, "code": "ANOTHER_CONFLICT", "message": "No."})
    finally:
        for code in ("ONE_MORE_CONFLICT", "ANOTHER_CONFLICT"):
            AppError.catalogue.pop(code, None)


def test_every_error_has_a_sentence_and_a_stable_code() -> None:
    assert len(AppError.catalogue) > 25
    for code, error in AppError.catalogue.items():
        assert re.fullmatch(r"[A-Z][A-Z0-9_]+", code)
        assert error.number // 100 == error.status
        assert re.match(r"[A-Z].*[.]$", error.message), code


def test_a_subclass_without_a_code_inherits_it() -> None:
    class Special(Conflict):
        pass

    assert Special.code == "CONFLICT" and Special().status == 409


def test_an_error_has_data_and_headers() -> None:
    error = Conflict("Read it again.", retry_after=3, available=5)
    assert (error.text, str(error), error.data) == ("Read it again.", "Read it again.", {"available": 5})
    assert error.headers == {"Retry-After": "3"}
    assert Conflict().text == Conflict.message and Conflict().headers == {}
    assert Unavailable().headers == {"Retry-After": "2"}
    assert Unauthorised().headers == {"WWW-Authenticate": "Bearer"}
    assert ValidationFailed.of("a[0].b", "required", "Say it.").data == {
        "errors": [{"path": "a[0].b", "code": "required", "message": "Say it."}]
    }
