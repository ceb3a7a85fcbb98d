"""Reading the service's OpenAPI document."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")


def shape(path: str) -> str:
    """A path without the names of its parameters: two spellings of one route are the same."""
    return re.sub(r"\{[^}]+\}", "{}", path)


@dataclass(frozen=True)
class Document:
    """The document, its references followed."""

    raw: dict[str, Any]

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Method, path and description of each operation; what all methods of a path share is in each."""
        for path, item in (self.raw["paths"] | self.raw["webhooks"]).items():
            for method in METHODS:
                if method in item:
                    shared = item.get("parameters", [])
                    own = item[method]
                    yield method.upper(), path, {**own, "parameters": [*shared, *own.get("parameters", [])]}

    def find(self, method: str, path: str) -> dict[str, Any] | None:
        for item, where, operation in self.operations():
            if (item, shape(where)) == (method, shape(path)):
                return operation
        return None

    def follow(self, node: Any) -> dict[str, Any]:
        """What a node stands for."""
        while isinstance(node, dict) and "$ref" in node:
            found: Any = self.raw
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return dict(node or {})

    def body(self, operation: dict[str, Any]) -> dict[str, Any]:
        """The schema of the body, whatever its content type; empty when there is none."""
        for content in self.follow(operation.get("requestBody")).get("content", {}).values():
            return self.follow(content["schema"])
        return {}

    def faces(self, schema: Any) -> Iterator[dict[str, Any]]:
        """A schema, its alternatives, and what it holds when it is a list."""
        found = self.follow(schema)
        yield found
        for inner in (*found.get("anyOf", ()), *found.get("oneOf", ()), *found.get("allOf", ())):
            yield from self.faces(inner)
        if "items" in found:
            yield from self.faces(found["items"])

    def queries(self, operation: dict[str, Any]) -> dict[str, dict[str, Any]]:
        found = [self.follow(parameter) for parameter in operation["parameters"]]
        return {item["name"]: item for item in found if item["in"] == "query"}
