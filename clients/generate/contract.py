"""The OpenAPI document as generators read it: one `Operation` each, references followed where it matters."""

import re
from dataclasses import dataclass
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")
JSON, FORM, BYTES = "application/json", "multipart/form-data", "application/octet-stream"


@dataclass(frozen=True)
class Operation:
    """`parameters` are those of path and query; `body` is a schema and its content type; `data` is the schema of what
    the envelope holds, None where the answer is a file or a stream."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    tag: str
    access: str
    parameters: list[dict[str, Any]]
    body: dict[str, Any] | None
    body_type: str | None
    example: Any
    data: dict[str, Any] | None
    idempotent: bool
    open: bool

    @property
    def title(self) -> str:
        return f"{self.method} {self.path}"

    def placed(self, where: str) -> list[dict[str, Any]]:
        return [each for each in self.parameters if each["in"] == where]


class Contract:
    """The document and its operations, in its own order."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.schemas: dict[str, Any] = document["components"]["schemas"]
        self.codes = sorted(document["components"]["examples"])
        self.operations = [
            self._operation(method, path, {**item[method]}, item.get("parameters", []))
            for path, item in document["paths"].items()
            for method in METHODS
            if method in item
        ]

    def follow(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rpartition("/")[2]]
        return schema

    def _operation(self, method: str, path: str, it: dict[str, Any], shared: list[dict[str, Any]]) -> Operation:
        parameters = [*shared, *it.get("parameters", [])]
        content = it.get("requestBody", {}).get("content", {})
        body_type = next(iter(content), None)
        chosen = content.get(body_type, {})
        return Operation(
            name=it["operationId"],
            method=method.upper(),
            path=path,
            summary=it["summary"],
            description=it.get("description", ""),
            tag=it["tags"][0],
            access=it["x-access"],
            parameters=[each for each in parameters if each["in"] in ("path", "query")],
            body=chosen.get("schema"),
            body_type=body_type,
            example=chosen.get("example"),
            data=self._data(it["responses"]),
            idempotent=any(each["name"] == "Idempotency-Key" for each in parameters),
            open=it["security"] == [],
        )

    def _data(self, responses: dict[str, Any]) -> dict[str, Any] | None:
        for status, response in responses.items():
            if status.startswith("2") and JSON in response.get("content", {}):
                found: dict[str, Any] = self.follow(response["content"][JSON]["schema"])["properties"]["data"]
                return found
        return None


def served() -> Contract:
    """The contract of this very program; no database is asked for it."""
    from app import create_app
    from app.config import load

    nowhere = {"DATABASE_URL": "postgresql://nobody@localhost/none", "REDIS_URL": "redis://localhost/0"}
    answer = create_app(load(nowhere)).test_client().get("/openapi.json")
    return Contract(answer.get_json())


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
