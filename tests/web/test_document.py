"""The OpenAPI document of the test shop describes its lists, files, versions and sparse responses."""

from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, given, settings

from tests.contract.document import Document
from tests.contract.test_document import list_errors, validator
from tests.contract.test_fuzz import CHECKS
from tests.http import Client
from tests.web.shop import stock

MEANT = {"/t/boom", "/t/unsayable"}


@pytest.fixture
def document(client: Client) -> Document:
    return Document(client.get("/openapi.json").get_json())


def test_it_is_valid(document: Document) -> None:
    assert list_errors(document) == []


def test_a_file_is_described_as_a_file(document: Document) -> None:
    operation = document.find("POST", "/t/files")
    assert operation and list(operation["requestBody"]["content"]) == ["multipart/form-data"]
    assert document.body(operation)["properties"]["file"]["format"] == "binary"


def test_a_list_is_described_with_its_parameters(document: Document) -> None:
    operation = document.find("GET", "/t/items")
    assert operation
    queries = document.queries(operation)
    assert set(queries) == {"shelf", "limit", "cursor", "sort", "withTotal"}
    assert queries["limit"]["schema"] | {"minimum": 1, "maximum": 100, "default": 20} == queries["limit"]["schema"]
    assert "-rating" in queries["sort"]["schema"]["enum"] and queries["sort"]["schema"]["default"] == "at"


def test_conditions_and_keys_are_described(document: Document) -> None:
    def headers(method: str, path: str) -> set[str]:
        operation = document.find(method, path)
        assert operation
        return {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "header"}

    assert headers("GET", "/t/items/{}") == {"If-None-Match"} and headers("PATCH", "/t/items/{}") == {"If-Match"}
    assert headers("POST", "/t/items") == {"Idempotency-Key"} and headers("GET", "/t/items") == set()
    read, change = document.find("GET", "/t/items/{}"), document.find("PATCH", "/t/items/{}")
    assert read and {"200", "304", "404", "422"} <= set(read["responses"])
    assert change and {"200", "404", "412", "413", "415", "422"} <= set(change["responses"])


@pytest.mark.parametrize("query", ["", "?fields=name", "?fields=id"])
def test_chosen_fields_are_an_answer_as_described(client: Client, document: Document, query: str) -> None:
    (item,) = stock(1)
    operation = document.find("GET", "/t/items/{}")
    assert operation
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    validator(document, schema).validate(client.get(f"/t/items/{item}{query}").get_json())


def test_nothing_breaks_the_shop(app: Flask) -> None:
    (item,) = stock(1)
    found = schemathesis.openapi.from_wsgi("/openapi.json", app)
    for result in found.include(path_regex="^/t/").get_all_operations():
        operation = result.ok()
        if operation.path not in MEANT and operation.path != "/t/limited":
            _flood(operation, item)


def _flood(operation: Any, item: str) -> None:
    @settings(max_examples=15, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def send(case: Any) -> None:
        if "itemId" in (case.path_parameters or {}) and len(item) % 2 == 0:
            case.path_parameters["itemId"] = item
        response = case.call()
        case.validate_response(response, checks=CHECKS)
        assert response.status_code < 500, response.text

    send()
