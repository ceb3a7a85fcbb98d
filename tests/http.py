"""Talking to the API as a client does."""

import json
from dataclasses import dataclass, field
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.leaks.ledger import RUN


@dataclass
class Client:
    """A JSON client; `as_(token)` gives one that is signed in."""

    flask: FlaskClient
    headers: dict[str, str] = field(default_factory=dict)

    def as_(self, token: str) -> "Client":
        return Client(self.flask, {**self.headers, "Authorization": f"Bearer {token}"})

    def with_(self, **headers: str) -> "Client":
        return Client(self.flask, {**self.headers, **{name.replace("_", "-"): it for name, it in headers.items()}})

    def open(self, method: str, path: str, body: Any = None, **options: Any) -> TestResponse:
        if body is not None:
            options["json"] = body
        headers = {**self.headers, **options.pop("headers", {})}
        answer = self.flask.open(path, method=method, headers=headers, **options)
        if isinstance(options.get("json"), dict):
            RUN.learn(json.dumps(options["json"]))
        if answer.mimetype == "application/json":
            RUN.learn(answer.get_data(as_text=True))
        return answer

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
    """The answer's data, after checking that it succeeded."""
    assert response.status_code == status, response.get_data(as_text=True)
    found: dict[str, Any] = response.get_json()["data"]
    return found


def refusal(response: TestResponse) -> tuple[int, str]:
    """Status and code of an error."""
    body = response.get_json()
    assert body["success"] is False, body
    return response.status_code, body["shortMessage"]


def problems(response: TestResponse) -> dict[str, str]:
    """Path and code of every problem in a 422."""
    assert refusal(response) == (422, "VALIDATION_FAILED"), response.get_data(as_text=True)
    return {error["path"]: error["code"] for error in response.get_json()["data"]["errors"]}
