"""Requests made from the document, by anyone who may send them, with ids of things that are there.

tests/contract/test_fuzz.py makes up ids too, so most of its requests end at 404. Here the path leads to something, the
caller may do it, and what is sent is the document's own, bent, or a known nuisance. Nothing may answer 5xx and
nothing may answer otherwise than the document says. (That what breaks the document's rules is refused is not asked
here: unknown query parameters are ignored on purpose, and the generator counts them.)
"""

import os
import re
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

from tests.contract.test_fuzz import EXPECTED as UNAVAILABLE
from tests.contract.test_fuzz import PARTS, share_of_kinds
from tests.security.expected import EXPECTED
from tests.security.requests import find_sample_request
from tests.security.test_matrix import world as world
from tests.security.world import World, restore_tables

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "2"))
CHECKS = [status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance]
NUISANCES = (
    "\x00",
    "a\u0000b",
    "\ud7ff\uffff",
    "\u202eevil",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "../" * 9,
    "%00%0d%0aSet-Cookie: a=b",
    "=HYPERLINK(1)",
    "A" * 5000,
    "-1",
    "1e400",
    "NaN",
    "null",
    "[]",
    "9" * 40,
    "٣",
    " ",
)


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_breaks_an_operation_from_inside(world: World, part: int) -> None:
    for position, operation in list(enumerate(_operations(world)))[part::PARTS]:
        for kind in share_of_kinds(position + 1):
            _flood(world, operation, kind)
        if operation.method.upper() != "GET":
            restore_tables()


def _operations(world: World) -> Iterator[Any]:
    app: Flask = world.client.flask.application
    for all_operation in schemathesis.openapi.from_wsgi("/openapi.json", app).get_all_operations():
        yield all_operation.ok()


def sender(title: str) -> str:
    """Who may send it."""
    area = EXPECTED[title]
    return "merchant" if "stall" in area else "organiser" if "event" in area else "super_admin"


def _flood(world: World, operation: Any, kind: GenerationMode) -> None:
    title = f"{operation.method.upper()} {operation.path}"
    named = {
        name: world.things[find_sample_request(title).path_values.get(name, name)]
        for name in re.findall(r"{(\w+)}", operation.path)
    }
    headers = {**world.callers[sender(title)].headers, "Accept-Encoding": "identity"}

    @settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=kind), nuisance=st.none() | st.sampled_from(NUISANCES))
    def send(case: Any, nuisance: str | None) -> None:
        case.path_parameters = named
        if nuisance is not None:
            _spoil(case, nuisance)
        response = case.call(headers=headers)
        case.validate_response(response, checks=CHECKS)
        assert response.status_code < 500 or response.json()["shortMessage"] in UNAVAILABLE, response.text

    with suppress(Unsatisfiable):  # An operation without parameters cannot be called wrongly.
        send()


def _spoil(case: Any, nuisance: str) -> None:
    """Puts the nuisance into every text of the body and of the query."""
    if isinstance(case.body, dict):
        case.body = {name: nuisance if isinstance(value, str) else value for name, value in case.body.items()}
    case.query = dict.fromkeys(case.query or {}, nuisance)
