"""The operations that users were promised (operations.json), held against the document that the service serves."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.conftest import OPERATIONS
from tests.contract.document import Document, shape
from tests.contract.not_yet import NOT_YET

BOUNDS = {
    "min": "minLength",
    "max": "maxLength",
    "minimum": "minimum",
    "maximum": "maximum",
    "minItems": "minItems",
    "maxItems": "maxItems",
}
TYPES = {
    "string": "string",
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "array": "array",
    "object": "object",
    "date": "string",
    "datetime": "string",
    "strings": "array",
}

Promise = dict[str, Any]


def title(promise: Promise) -> str:
    return f"{promise['method']} {promise['path']}"


PROMISED = {title(operation): operation for operation in OPERATIONS}
BUILT = [item for name, item in PROMISED.items() if name not in NOT_YET]


def built(document: Document, **having: Any) -> Iterator[tuple[Promise, dict[str, Any]]]:
    """Promises that are kept by now, each with what the document says of it."""
    for promise in BUILT:
        operation = document.find(promise["method"], promise["path"])
        if operation and all(promise.get(name) == value for name, value in having.items()):
            yield promise, operation


def test_ninety_eight_operations_are_specified() -> None:
    assert len(PROMISED) == len({(operation["method"], shape(operation["path"])) for operation in OPERATIONS}) == 98


def test_what_is_listed_as_missing_is_promised_and_missing(document: Document) -> None:
    assert set(PROMISED) >= NOT_YET
    there = [name for name in NOT_YET if document.find(PROMISED[name]["method"], PROMISED[name]["path"])]
    assert there == [], "these exist by now: take them off the list"


@pytest.mark.parametrize("promise", BUILT, ids=title)
def test_an_operation_is_there_as_promised(document: Document, promise: Promise) -> None:
    operation = document.find(promise["method"], promise["path"])
    assert operation, "there is no such operation"
    assert operation["summary"]
    assert any(status.startswith("2") for status in operation["responses"])
    if promise["auth"] == "bearer":
        assert operation["security"] == [{"bearerAuth": []}] and "401" in operation["responses"]
    else:
        assert operation["security"] == [] or {} in operation["security"], "a token may be sent, but need not"


def test_bodies_take_the_fields_that_were_promised(document: Document) -> None:
    for promise, operation in built(document, fieldsAre="body"):
        body = document.body(operation)
        needed = {field["name"] for field in promise["fields"] if field["required"]}
        assert {field["name"] for field in promise["fields"]} <= set(body["properties"]), title(promise)
        assert set(body.get("required", ())) == needed, title(promise)
        for field in promise["fields"]:
            _check(document, field, body["properties"][field["name"]])


def _check(document: Document, field: Promise, schema: Any) -> None:
    faces = list(document.faces(schema))
    types = {type_ for face in faces for type_ in _types(face)}
    assert TYPES[field["type"]] in types or not types, (field["name"], types)
    bounds = {BOUNDS[name]: value for name, value in field.items() if name in BOUNDS}
    if "length" in field:
        bounds |= {"minLength": field["length"], "maxLength": field["length"]}
    for bound, value in bounds.items():
        assert any(face.get(bound) == value for face in faces), (field["name"], bound, value)
    for values in (field.get("enum"), field.get("enumDecided")):
        assert not values or any(set(values) <= set(face.get("enum") or ()) for face in faces), field["name"]


def _types(face: dict[str, Any]) -> list[str]:
    named = face.get("type", [])
    return [named] if isinstance(named, str) else named


def test_queries_take_the_parameters_that_were_promised(document: Document) -> None:
    for promise, operation in built(document, fieldsAre="query"):
        queries = document.queries(operation)
        promised = {field["name"] for field in promise["fields"]}
        assert promised <= set(queries) or "fields" in queries, title(promise)
        assert not [name for name in promised & set(queries) if queries[name].get("required")], title(promise)


# The specification lists no fields for these; what they cannot do without is decided: a picture.
NEED_A_FILE = {"POST /api/events/upload-cover", "POST /api/events/{id}/notifications/upload-image"}


FILES = (".csv", ".pdf", "/stream")


def test_operations_without_fields_need_no_body(document: Document) -> None:
    for promise, operation in built(document, fieldsAre=None):
        if title(promise) in NEED_A_FILE:
            continue
        assert not document.follow(operation.get("requestBody")).get("required"), title(promise)


def test_answers_hold_the_data_that_was_promised(document: Document) -> None:
    for promise, operation in built(document):
        success, *_ = [it for status, it in operation["responses"].items() if status.startswith("2")]
        if "application/json" not in success["content"]:
            assert not promise.get("data") or promise["path"].endswith(FILES), title(promise)
            continue
        envelope = document.follow(success["content"]["application/json"]["schema"])
        data = document.follow(envelope["properties"]["data"])
        assert set(promise.get("data", ())) <= set(data.get("properties", ())), title(promise)
