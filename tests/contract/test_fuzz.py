"""Thousands of requests made from the document: nothing is a 5xx, nothing undocumented, nothing of another shape."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.core.db import db
from tests.factories.accounts import create_account, sign_in
from tests.http import Client
from tests.settings import app_for

CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXPECTED = {"PROVIDER_NOT_CONFIGURED"}
IS_LONG = "FUZZ_EXAMPLES" in os.environ
"""Whether this is `make fuzz`. `make test` takes the share of it that `share_of_kinds` and PARTS give."""
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "3"))
PARTS = 6 if IS_LONG else 3
KINDS = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)


def share_of_kinds(position: int) -> tuple[GenerationMode, ...]:
    """The kinds of requests for the operation at a position in the document: both in `make fuzz`.

    In `make test` one kind, by turns. tests/security/test_fuzz_inside.py takes the other one, so that each operation
    gets both there as well.
    """
    return KINDS if IS_LONG else (KINDS[position % 2],)


@pytest.fixture(scope="module")
def flooded(application: Flask) -> Iterator[Flask]:
    """The application with limits that let a flood through."""
    ours = application.extensions["settings"]
    flooded = app_for(database_url=ours.DATABASE_URL, redis_url=ours.REDIS_URL, RATE_LIMIT_SCALE="100000")
    yield flooded
    with flooded.app_context():
        db.engine.dispose()


@pytest.fixture
def fuzzed(app: Flask, flooded: Flask) -> Iterator[Flask]:
    """The same with empty tables, and a context around the test."""
    with flooded.app_context():
        yield flooded
        db.session.remove()


@pytest.fixture
def token(fuzzed: Flask) -> str:
    who = create_account("admin", roles=["admin", "customer"])
    return str(sign_in(Client(fuzzed.test_client()), who.email)["accessToken"])


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_breaks_an_operation(fuzzed: Flask, token: str, part: int) -> None:
    """The operations in several parts, so that several workers share them."""
    found = schemathesis.openapi.from_wsgi("/openapi.json", fuzzed).get_all_operations()
    for position, operation in list(enumerate(found))[part::PARTS]:
        for kind in share_of_kinds(position):
            _flood(operation.ok(), kind, token)


def _flood(operation: Any, kind: GenerationMode, token: str) -> None:
    """Requests that keep to the document, or that do not, with a token and without."""

    @settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=kind), signed_in=st.booleans())
    def send(case: Any, signed_in: bool) -> None:
        headers = {"Authorization": f"Bearer {token}"} if signed_in else {}
        response = case.call(headers=headers)
        case.validate_response(response, checks=CHECKS)
        assert response.status_code < 500 or response.json()["shortMessage"] in EXPECTED, response.text

    with suppress(Unsatisfiable):  # An operation without parameters cannot be called wrongly.
        send()
