"""A JSON client for the API, and helpers that read its responses."""

import json
from dataclasses import dataclass, field
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.leaks.ledger import RUN


@dataclass
class Client:
    """A JSON client; `as_(token)` returns a signed-in one."""

    flask: FlaskClient
    headers: dict[str, str] = field(default_factory=dict)

    def as_(self, token: str) -> "Client":
        return Client(self.flask, {**self.headers, "Authorization": f"Bearer {token}"})

    def with_(self, **headers: str) -> "Client":
        return Client(
            self.flask, {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        )

    def open(self, method: str, path: str, body: Any = None, **options: Any) -> TestResponse:
        if body is not None:
            options["json"] = body
        headers = {**self.headers, **options.pop("headers", {})}
        response = self.flask.open(path, method=method, headers=headers, **options)
        if isinstance(options.get("json"), dict):
            RUN.learn(json.dumps(options["json"]))
        if response.mimetype == "application/json" and response.content_encoding is None:
            RUN.learn(response.get_data(as_text=True))
        return response

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.open("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self.open("POST", path, body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self.open("PATCH", path, body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self.open("PUT", path, body, **options)

    def delete(self, path: str, **options: Any) -> TestResponse:
        return self.open("DELETE", path, **options)


def data(response: TestResponse, status: int = 200) -> dict[str, Any]:
    """The data of the response; asserts the status."""
    assert response.status_code == status, response.get_data(as_text=True)
    response_data: dict[str, Any] = response.get_json()["data"]
    return response_data


def read_error(response: TestResponse) -> tuple[int, str]:
    """Status and code of an error response."""
    body = response.get_json()
    assert body["success"] is False, body
    return response.status_code, body["shortMessage"]


def list_problems(response: TestResponse) -> dict[str, str]:
    """Path and code of every problem in a 422 response."""
    assert read_error(response) == (422, "VALIDATION_FAILED"), response.get_data(as_text=True)
    return {error["path"]: error["code"] for error in response.get_json()["data"]["errors"]}
