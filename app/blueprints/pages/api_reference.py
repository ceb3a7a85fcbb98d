"""The operations of the OpenAPI document in the form that the pages under /docs show."""

import json
from dataclasses import dataclass
from typing import Any

from flask import current_app

from app.web.openapi import API_KEY

METHODS = ("get", "post", "put", "patch", "delete")
MAX_DEPTH = 3


@dataclass(frozen=True)
class Property:
    """A parameter, or a property of a body. Names of nested properties have dots, and [] for each item of a list."""

    name: str
    type: str
    description: str
    required: bool


@dataclass(frozen=True)
class Reply:
    """A documented response."""

    status: str
    description: str


@dataclass(frozen=True)
class OperationReference:
    """An operation as its page shows it. Examples are indented JSON, or "" without one."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[Property]
    body: list[Property]
    body_example: str
    result: list[Property]
    result_example: str
    replies: list[Reply]


@dataclass(frozen=True)
class OperationGroup:
    """The operations of a tag."""

    tag: str
    title: str
    operations: list[OperationReference]


def load_groups() -> dict[str, OperationGroup]:
    """Return the groups by tag, in the order of the document. They are built once per application."""
    groups: dict[str, OperationGroup] | None = current_app.extensions.get("api_reference")
    if groups is None:
        groups = current_app.extensions["api_reference"] = _build_groups(
            current_app.extensions[API_KEY].load_document()
        )
    return groups


def _build_groups(document: dict[str, Any]) -> dict[str, OperationGroup]:
    groups = {
        tag["name"]: OperationGroup(tag["name"], tag["description"] or tag["name"], []) for tag in document["tags"]
    }
    for path, item in (document["paths"] | document["webhooks"]).items():
        for method in METHODS:
            if method in item:
                operation = _build_operation(document, method, path, item)
                groups[item[method]["tags"][0]].operations.append(operation)
    return {tag: group for tag, group in groups.items() if group.operations}


def _build_operation(document: dict[str, Any], method: str, path: str, item: dict[str, Any]) -> OperationReference:
    operation = item[method]
    body_schema, body_example = _read_content(operation.get("requestBody", {}))
    success: dict[str, Any] = next(
        (response for status, response in operation["responses"].items() if status[0] == "2"), {}
    )
    envelope, result_example = _read_content(success)
    result_schema = _resolve(document, envelope).get("properties", {}).get("data", {})
    parameters = [
        _resolve(document, parameter) for parameter in [*item.get("parameters", []), *operation.get("parameters", [])]
    ]
    return OperationReference(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation["description"],
        parameters=[
            Property(
                parameter["name"],
                f"{parameter['in']}, {_name_type(document, parameter['schema'])}",
                parameter["description"],
                bool(parameter.get("required")),
            )
            for parameter in parameters
        ],
        body=_list_properties(document, body_schema),
        body_example=body_example,
        result=_list_properties(document, result_schema),
        result_example=result_example,
        replies=[Reply(status, response["description"]) for status, response in operation["responses"].items()],
    )


def _read_content(node: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the schema and the example of the first media type; {} and "" without one."""
    content: dict[str, Any] = next(iter(node.get("content", {}).values()), {})
    example = content.get("example")
    return content.get("schema", {}), "" if example is None else json.dumps(example, indent=2, ensure_ascii=False)


def _resolve(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Return what a reference names; for alternatives the first one that is not null."""
    while True:
        if "$ref" in node:
            _, section, kind, name = node["$ref"].split("/")
            node = document[section][kind][name]
        elif alternatives := node.get("anyOf") or node.get("oneOf") or node.get("allOf"):
            node = next(item for item in alternatives if item.get("type") != "null")
        else:
            return node


def _name_type(document: dict[str, Any], schema: dict[str, Any]) -> str:
    target = _resolve(document, schema)
    types = target.get("type", "any")
    name = " or ".join(types) if isinstance(types, list) else types
    if "array" in name:
        name = name.replace("array", f"list of {_name_type(document, target.get('items', {}))}")
    if choices := target.get("enum"):
        name = ", ".join("null" if choice is None else str(choice) for choice in choices)
    return f"{name} ({target['format']})" if "format" in target else name


def _list_properties(
    document: dict[str, Any], schema: dict[str, Any], prefix: str = "", depth: int = 1
) -> list[Property]:
    target = _resolve(document, schema)
    if "items" in target:
        return _list_properties(document, target["items"], f"{prefix}[]", depth)
    rows: list[Property] = []
    for name, member in target.get("properties", {}).items():
        path = f"{prefix}.{name}" if prefix else name
        required = name in target.get("required", ())
        rows.append(Property(path, _name_type(document, member), member.get("description", ""), required))
        if depth < MAX_DEPTH:
            rows += _list_properties(document, member, path, depth + 1)
    return rows
