"""The document as it is served; what stands in it is the matter of tests/contract."""

import json
import re

from flask import Flask

from tests.http import Client


def test_the_document_is_json_for_anybody(client: Client) -> None:
    response = client.get("/openapi.json")
    assert response.status_code == 200 and response.mimetype == "application/json"
    assert response.get_json()["info"]["title"] == "Event commerce"
    assert response.data == client.get("/openapi.json").data


def test_the_command_prints_the_same(app: Flask, client: Client) -> None:
    printed = app.test_cli_runner().invoke(args=["openapi", "print"])
    assert json.loads(printed.output) == client.get("/openapi.json").get_json()


def test_it_holds_no_secret_and_nothing_of_the_inside(client: Client) -> None:
    text = client.get("/openapi.json").get_data(as_text=True)
    assert not re.search(r"(?i)postgres|redis://|sqlalchemy|flask|psycopg|traceback|\.py\b", text)


def test_the_bearer_scheme_is_declared(client: Client) -> None:
    document = client.get("/openapi.json").get_json()
    assert document["components"]["securitySchemes"]["bearerAuth"] == {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
    }
