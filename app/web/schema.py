"""Schemas: camelCase outside, snake_case inside, and all problems told at once."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import marshmallow
from marshmallow import EXCLUDE, RAISE, fields

from app.core.errors import ValidationFailed
from app.web.fields import Problem

UNKNOWN = "Unknown field."


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


class Schema(marshmallow.Schema):
    """A JSON object. Unknown fields are refused, with the nearest known name suggested."""

    error_messages = {"unknown": UNKNOWN, "type": "Must be an object."}
    from_text = False

    class Meta:
        unknown = RAISE

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:
        return obj if isinstance(obj, Chosen) else super().dump(obj, many=many)

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        if field_obj.data_key is None:
            field_obj.data_key = camel(field_name)


class Chosen(dict[str, Any]):
    """Data that is dumped already, and cut to the fields asked for."""


class Query(Schema):
    """Query parameters: read from text; unknown ones are ignored."""

    from_text = True

    class Meta:
        unknown = EXCLUDE


class Empty(Schema):
    """An empty object."""


def failure(messages: Mapping[str, Any], schema: marshmallow.Schema) -> ValidationFailed:
    """The 422 for what marshmallow said about `schema`: one entry per problem, paths as the client wrote them."""
    return ValidationFailed(list(_flat(messages, "", schema)))


def _flat(messages: Any, path: str, schema: Any) -> Iterator[dict[str, str]]:
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from _flat(inner, _step(path, key), _below(schema, key))
        return
    for message in messages if isinstance(messages, list) else [messages]:
        yield _entry(path, message, schema)


def _step(path: str, key: Any) -> str:
    if key == "_schema":
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)


def _entry(path: str, message: Any, schema: Any) -> dict[str, str]:
    if message == UNKNOWN:
        name = path.rpartition(".")[2]
        return {
            "path": path,
            "code": "unknown_field",
            "message": "This field is not known." + _hint(name, schema),
        }
    code = message.code if isinstance(message, Problem) else "invalid_type"
    return {"path": path, "code": code, "message": str(message)}


def _hint(name: str, parent: Any) -> str:
    known = [field.data_key for field in parent.load_fields.values()] if parent is not None else []
    near = get_close_matches(name, known, n=1, cutoff=0.6) or [
        each for each in known if each.lower().replace("_", "") == name.lower().replace("_", "")
    ]
    return f" Did you mean {near[0]}?" if near else ""


class _Unknown:
    """What stands below a name the schema does not know: the schema that refused it."""

    def __init__(self, schema: Any) -> None:
        self.load_fields = schema.load_fields


def _below(schema: Any, key: Any) -> Any:
    if isinstance(key, int) or key == "_schema" or not hasattr(schema, "load_fields"):
        return schema
    for field in schema.load_fields.values():
        if field.data_key == key:
            return _inner_schema(field)
    return _Unknown(schema)


def _inner_schema(field: Any) -> Any:
    while isinstance(field, fields.List):
        field = field.inner
    return field.schema if isinstance(field, fields.Nested) else None
