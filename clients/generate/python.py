"""A method for each operation, for the small client in clients/python."""

import keyword
from collections.abc import Iterator
from typing import Any

from clients.generate.contract import FORM, Contract, Operation, snake

HEAD = '''\
"""Made from the OpenAPI document; `make clients` writes it anew. Do not edit."""

from typing import Any

from event_commerce.transport import OMITTED, Transport


class Operations(Transport):
    """A method for each operation. Fields are keywords in snake_case; what is left out is not sent."""
'''


def source(contract: Contract) -> str:
    return HEAD + "".join(line for each in contract.operations for line in _method(contract, each))


def _method(contract: Contract, operation: Operation) -> Iterator[str]:
    fields = _fields(contract, operation)
    taken = {each["name"] for each in operation.parameters}
    body = {name: schema for name, schema in fields.items() if name not in taken}
    given = [*(f"{_plain(each['name'])}: str" for each in operation.placed("path"))]
    options = [
        *(f"{_plain(name)}: Any" for name in body if name in _needed(contract, operation)),
        *(f"{_plain(name)}: Any = OMITTED" for name in body if name not in _needed(contract, operation)),
        *(f"{_plain(each['name'])}: Any = OMITTED" for each in operation.placed("query")),
    ]
    raw = operation.body is not None and not fields
    options += ["content: bytes | None = None"] if raw else []
    result = "dict[str, Any]" if operation.data is not None else "bytes"
    yield f"\n    def {_plain(operation.name)}(\n        self,\n"
    yield from (f"        {each},\n" for each in given)
    yield from (["        *,\n", *(f"        {each},\n" for each in options)] if options else [])
    yield f"    ) -> {result}:\n"
    yield f'        """{operation.summary} For {operation.access}."""\n'
    yield "        return self._call(  # type: ignore[no-any-return]\n"
    yield f'            "{operation.method}",\n            "{operation.path}",\n'
    yield from _mapping("path", {each["name"]: each for each in operation.placed("path")})
    yield from _mapping("query", {each["name"]: each for each in operation.placed("query")})
    yield from _mapping("files" if operation.body_type == FORM else "body", body)
    yield "            content=content,\n" if raw else ""
    yield "        )\n"


def _mapping(name: str, fields: dict[str, Any]) -> Iterator[str]:
    if fields:
        yield f"            {name}={{\n"
        yield from (f'                "{each}": {_plain(each)},\n' for each in fields)
        yield "            },\n"


def _fields(contract: Contract, operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = contract.follow(operation.body or {}).get("properties", {})
    return found


def _needed(contract: Contract, operation: Operation) -> set[str]:
    return set(contract.follow(operation.body or {}).get("required", ()))


def _plain(name: str) -> str:
    found = snake(name)
    return f"{found}_" if keyword.iskeyword(found) else found
