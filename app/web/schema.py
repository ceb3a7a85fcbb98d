"""Schemas: camelCase outside, snake_case inside, and all problems told at once."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any

import marshmallow
from marshmallow import EXCLUDE, RAISE, ValidationError, fields, validates_schema

from app.core.errors import ValidationFailed
from app.web.fields import Problem

UNKNOWN = "Unknown field."
TOLD, HINTED, SHOWN = 100, 20, 80
"""Problems told, those with a hint among them, and characters of a name: a megabyte of nonsense gets no more."""


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def snake(name: str) -> str:
    return "".join(f"_{item.lower()}" if item.isupper() else item for item in name)


class Schema(marshmallow.Schema):
    """A JSON object. Unknown fields are refused, with the nearest known name suggested."""

    error_messages = {"unknown": UNKNOWN, "type": Problem("invalid_type", "Must be an object.")}
    from_text = False

    class Meta:
        unknown = RAISE

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:
        return obj if isinstance(obj, Chosen) else super().dump(obj, many=many)

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        if field_obj.data_key is None:
            field_obj.data_key = camel(field_name)


class Needing(Schema):
    """A body that the specification does not list: it may be absent, but `needs` names what nothing can replace."""

    needs: tuple[str, ...] = ()

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def _check_needs(self, data: Any, sent: Any, **_: Any) -> None:
        keys = [str(self.fields[name].data_key) for name in self.needs]
        missing = [key for key in keys if not isinstance(sent, Mapping) or key not in sent]
        if missing:
            raise ValidationError({key: [Problem("required", "This field is required.")] for key in missing})


class Chosen(dict[str, Any]):
    """Data that is dumped already, and cut to the fields asked for."""


class Query(Schema):
    """Query parameters: read from text; unknown ones are ignored."""

    from_text = True

    class Meta:
        unknown = EXCLUDE


class Empty(Schema):
    """An empty object."""


def carries_money(schema: marshmallow.Schema) -> bool:
    """Whether an amount stands anywhere in it; there, a name that occurs twice is no slip but an attack."""
    kind: Any = type(schema)
    return _carries_money(kind)


@cache
def _carries_money(kind: Any, above: frozenset[Any] = frozenset()) -> bool:
    if kind in above:
        return False
    found = kind().load_fields.values()
    inner = [item for item in map(_inner_schema, found) if item is not None]
    return any((field.data_key or "").endswith("Minor") for field in found) or any(
        _carries_money(item.__class__, above | {kind}) for item in inner
    )


def failure(messages: Any, schema: marshmallow.Schema) -> ValidationFailed:
    """The 422 for what marshmallow said about `schema`: one entry per problem, paths as the client wrote them."""
    return ValidationFailed(
        [
            _entry(path, message, known, hinted=number < HINTED)
            for number, (path, message, known) in enumerate(islice(_flat(messages, "", schema), TOLD))
        ]
    )


def _flat(messages: Any, path: str, schema: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from _flat(inner, _step(path, key), _below(schema, key))
        return
    for message in messages if isinstance(messages, list) else [messages]:
        yield path, message, schema


def _step(path: str, key: Any) -> str:
    if key == "_schema":
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    name = str(key)[:SHOWN]
    return f"{path}.{name}" if path else name


def _entry(path: str, message: Any, schema: Any, *, hinted: bool) -> dict[str, str]:
    if message == UNKNOWN:
        hint = _hint(schema.name, schema.known) if hinted and isinstance(schema, _Unknown) else ""
        return {"path": path, "code": "unknown_field", "message": "This field is not known." + hint}
    code = message.code if isinstance(message, Problem) else "invalid_type"
    return {"path": path, "code": code, "message": str(message)}


def _hint(name: str, known: list[str]) -> str:
    plain = name.lower().replace("_", "")
    near = [item for item in known if item.lower().replace("_", "") == plain]
    near = near or get_close_matches(name[:SHOWN], known, n=1, cutoff=0.6)
    return f" Did you mean {near[0]}?" if near else ""


class _Unknown:
    """What stands below a name that a schema does not know: the name, and those it knows."""

    def __init__(self, name: str, schema: Any) -> None:
        self.name = name
        self.known = [field.data_key for field in schema.load_fields.values()]


def _below(schema: Any, key: Any) -> Any:
    if isinstance(key, int) or key == "_schema" or not hasattr(schema, "load_fields"):
        return schema
    for field in schema.load_fields.values():
        if field.data_key == key:
            return _inner_schema(field)
    return _Unknown(str(key), schema)


def _inner_schema(field: Any) -> Any:
    while isinstance(field, fields.List):
        field = field.inner
    return field.schema if isinstance(field, fields.Nested) else None
