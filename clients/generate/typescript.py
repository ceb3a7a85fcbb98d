"""Types for TypeScript: every shape, every operation with its path, query, body and data, every error's code."""

import json
from collections.abc import Iterator
from typing import Any

from clients.generate.contract import FORM, Contract, Operation

HEAD = """\
// Made from the OpenAPI document; `make clients` writes it anew. Do not edit.
// Every JSON answer is an Envelope; branch on `shortMessage`.

export interface Envelope<Data> {
  status: "success"; success: true; statusCode: "00000"; message: string; shortMessage: "SUCCESS";
  timestamp: string; requestId: string; data: Data;
}

export interface Refusal {
  status: "error"; success: false; statusCode: string; message: string; shortMessage: ErrorCode;
  timestamp: string; requestId: string; data: Record<string, unknown>;
}

"""
NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def source(contract: Contract) -> str:
    return HEAD + "\n".join(_parts(contract)) + "\n"


def _parts(contract: Contract) -> Iterator[str]:
    yield "export type ErrorCode =" + "".join(f"\n  | {json.dumps(code)}" for code in contract.codes) + ";\n"
    for name, schema in sorted(contract.schemas.items()):
        if not name.endswith("Envelope"):
            yield f"export type {name} = {_type(schema)};\n"
    yield "export interface Operations {"
    for operation in contract.operations:
        yield from _operation(operation)
    yield "}"


def _operation(operation: Operation) -> Iterator[str]:
    yield f"  /** {operation.summary} For {operation.access}. */"
    yield f"  {json.dumps(operation.title)}: {{"
    yield f"    path: {_parameters(operation.placed('path'))};"
    yield f"    query: {_parameters(operation.placed('query'))};"
    yield f"    body: {_body(operation)};"
    yield f"    data: {_type(operation.data) if operation.data is not None else 'Blob'};"
    yield "  };"


def _body(operation: Operation) -> str:
    if operation.body is None:
        return "undefined"
    return "FormData" if operation.body_type == FORM else _type(operation.body)


def _parameters(found: list[dict[str, Any]]) -> str:
    if not found:
        return "{}"
    members = (f"{json.dumps(it['name'])}{'' if it.get('required') else '?'}: {_type(it['schema'])}" for it in found)
    return "{ " + "; ".join(members) + " }"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(map(_type, schema[key])))
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(dict.fromkeys(_type({**schema, "type": each}) for each in kind))
    if kind == "array":
        return f"Array<{_type(schema.get('items', {}))}>"
    if kind == "object":
        return _object(schema)
    return NAMES.get(str(kind), "unknown")


def _object(schema: dict[str, Any]) -> str:
    if not schema.get("properties"):
        inner = schema.get("additionalProperties")
        values = _type(inner) if isinstance(inner, dict) and inner else "unknown"
        return f"Record<string, {'never' if inner is False else values}>"
    needed = set(schema.get("required", ()))
    members = (
        f"{json.dumps(name)}{'' if name in needed else '?'}: {_type(inner)}"
        for name, inner in schema["properties"].items()
    )
    return "{ " + "; ".join(members) + " }"
