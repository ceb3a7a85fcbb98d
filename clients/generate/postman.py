"""A Postman collection (format 2.1): a folder for each subject, a request for each operation, an example in each."""

import json
import re
from itertools import groupby
from typing import Any

from clients.generate.contract import BYTES, FORM, JSON, Contract, Operation

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
# A token comes back from signing in, and every later request carries it.
KEEP_TOKEN = [
    "const data = pm.response.json().data;",
    "pm.collectionVariables.set('token', data.accessToken);",
    "pm.collectionVariables.set('refreshToken', data.refreshToken);",
]


def source(contract: Contract) -> str:
    ordered = sorted(contract.operations, key=lambda each: each.tag)
    collection = {
        "info": {
            "name": contract.document["info"]["title"],
            "description": "Sign in first: the token is kept for every other request.",
            "schema": SCHEMA,
        },
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
        "variable": [
            {"key": "baseUrl", "value": "http://localhost:8000"},
            {"key": "token", "value": ""},
            {"key": "refreshToken", "value": ""},
        ],
        "item": [
            {"name": tag, "item": [_item(each) for each in group]}
            for tag, group in groupby(ordered, key=lambda each: each.tag)
        ],
    }
    return json.dumps(collection, indent=1, ensure_ascii=False) + "\n"


def _item(operation: Operation) -> dict[str, Any]:
    item: dict[str, Any] = {"name": operation.summary.rstrip("."), "request": _request(operation)}
    if operation.name in ("login", "refresh"):
        item["event"] = [{"listen": "test", "script": {"type": "text/javascript", "exec": KEEP_TOKEN}}]
    return item


def _request(operation: Operation) -> dict[str, Any]:
    header = [{"key": "Content-Type", "value": JSON}] if operation.body_type == JSON else []
    if operation.idempotent:
        header.append({"key": "Idempotency-Key", "value": "{{$guid}}"})
    request: dict[str, Any] = {
        "method": operation.method,
        "header": header,
        "url": _url(operation),
        "description": f"For {operation.access}. {operation.description}".strip(),
    }
    if operation.open:
        request["auth"] = {"type": "noauth"}
    if operation.body_type:
        request["body"] = _body(operation)
    return request


def _url(operation: Operation) -> dict[str, Any]:
    path = re.sub(r"\{(\w+)\}", r":\1", operation.path)
    return {
        "raw": "{{baseUrl}}" + path,
        "host": ["{{baseUrl}}"],
        "path": path.strip("/").split("/"),
        "variable": [{"key": each["name"], "value": ""} for each in operation.placed("path")],
        "query": [
            {
                "key": each["name"],
                "value": str(each["schema"].get("example", "")),
                "disabled": True,
                "description": each.get("description", ""),
            }
            for each in operation.placed("query")
        ],
    }


def _body(operation: Operation) -> dict[str, Any]:
    if operation.body_type == FORM:
        names = (operation.body or {}).get("properties") or {"file": {}}
        return {"mode": "formdata", "formdata": [{"key": name, "type": "file"} for name in names]}
    if operation.body_type == BYTES:
        return {"mode": "file"}
    return {"mode": "raw", "raw": json.dumps(operation.example, indent=2, ensure_ascii=False)}
