"""The OpenAPI document: valid, complete, and true to itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flask import Flask

from app.core.errors import AppError
from app.web.operation_definition import Operation
from tests.contract.document import Document

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

FRAMEWORK = {"static", "api-docs.openapi_json"}


def declared(application: Flask) -> dict[tuple[str, str], Operation]:
    """Every route of the API, by method and path, with what it declared."""
    found: dict[tuple[str, str], Operation] = {}
    for rule in application.url_map.iter_rules():
        operation = getattr(application.view_functions[rule.endpoint], "operation", None)
        if operation:
            found[operation.method, rule.rule] = operation
    return found


def validator(document: Document, schema: Any) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator({**schema, "components": document.raw["components"]})


def list_errors(document: Document) -> list[str]:
    """What is wrong with a document. Its library takes two seconds to import, which only a worker that calls this pays."""
    from openapi_spec_validator import OpenAPIV31SpecValidator

    return [str(error) for error in OpenAPIV31SpecValidator(document.raw).iter_errors()]


def test_the_document_is_valid(document: Document) -> None:
    assert document.raw["openapi"].startswith("3.1")
    assert list_errors(document) == []


def is_page(application: Flask, endpoint: str) -> bool:
    """Whether people see it in a browser; pages have their own rules (tests/pages)."""
    blueprint = application.blueprints.get(endpoint.rpartition(".")[0])
    return blueprint is not None and blueprint.import_name.startswith("app.blueprints.pages")


def test_every_route_of_the_application_has_access_or_is_a_page(application: Flask) -> None:
    operations = declared(application)
    for rule in application.url_map.iter_rules():
        if rule.endpoint not in FRAMEWORK and not is_page(application, rule.endpoint):
            assert any(rule.rule == where for _, where in operations), f"{rule.rule} has no access"


def test_every_operation_is_in_the_document_with_its_access(application: Flask, document: Document) -> None:
    described = {(method, path): it for method, path, it in document.operations()}
    for (method, rule), operation in declared(application).items():
        found = described.pop((method, rule.replace("<", "{").replace(">", "}")))
        assert found["x-access"] == operation.access.name
        assert found["summary"].endswith(".") and found["tags"] and found["operationId"]
    assert described == {}, "described, but not served"


def test_callbacks_are_webhooks_and_no_operations_of_clients(document: Document) -> None:
    assert list(document.raw["webhooks"]) == ["/api/payrail/callbacks"]
    assert not [path for path in document.raw["paths"] if "callback" in path]


def test_every_error_an_operation_declares_is_documented_with_its_status(
    application: Flask, document: Document
) -> None:
    for (method, rule), operation in declared(application).items():
        found = document.find(method, rule.replace("<", "{").replace(">", "}"))
        assert found
        for error in operation.errors:
            shown = found["responses"][str(error.status)]["content"]["application/json"]["examples"]
            assert error.code in shown, (method, rule)
        assert {"500", "503"} <= set(found["responses"])
        assert not operation.request_schemas or "422" in found["responses"]
        assert operation.access.public or "401" in found["responses"]
        assert not operation.limit or "429" in found["responses"]


def test_every_error_of_the_catalogue_is_shown(document: Document) -> None:
    shown = document.raw["components"]["examples"]
    ours = {code: it for code, it in AppError.catalogue.items() if it.__module__.startswith("app.")}
    assert set(ours) <= set(shown)
    schema = document.raw["components"]["schemas"]["ErrorEnvelope"]
    for code, error in ours.items():
        value = shown[code]["value"]
        validator(document, schema).validate(value)
        assert (value["statusCode"], value["shortMessage"]) == (str(error.number), code)


def test_every_operation_has_an_example_that_its_schema_takes(document: Document) -> None:
    for method, path, operation in document.operations():
        for status, response in operation["responses"].items():
            for kind, content in response.get("content", {}).items():
                if kind == "application/json" and status.startswith("2"):
                    errors = validator(document, content["schema"]).iter_errors(content["example"])
                    assert [error.message for error in errors] == [], (method, path, status)
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            if kind == "application/json":
                errors = validator(document, content["schema"]).iter_errors(content["example"])
                assert [error.message for error in errors] == [], (method, path)


def test_every_body_example_is_taken_by_the_service_itself(application: Flask) -> None:
    from app.web.openapi_examples import build_example

    with application.test_request_context():
        for operation in declared(application).values():
            for schema, place in operation.request_schemas:
                if place == "json":
                    schema().load(build_example(schema))


def test_a_body_refuses_unknown_fields_in_the_document_as_in_the_program(document: Document) -> None:
    for method, path, operation in document.operations():
        if body := document.body(operation):
            assert body.get("additionalProperties") is False, (method, path)


def test_a_description_that_lists_values_lists_those_of_the_schema(document: Document) -> None:
    """A list is two or more words in backticks of which one is a value; a reader copies what stands there."""
    for name, schema in document.raw["components"]["schemas"].items():
        for key, found in schema.get("properties", {}).items():
            values, words = set(found.get("enum", ())), set(re.findall("`([^`]+)`", found.get("description", "")))
            if len(words) > 1 and words & values:
                assert words <= values, f"{name}.{key}: {words - values}"
