"""Schemas: camelCase outside, snake_case inside, and all problems told at once."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any

import marshmallow
from marshmallow import EXCLUDE, RAISE, ValidationError, fields, validates_schema

from app.core.errors import ValidationFailed
from app.web.fields import CodedMessage

UNKNOWN_FIELD = "Unknown field."
MAX_PROBLEMS, MAX_HINTS, MAX_NAME_LENGTH = 100, 20, 80
"""Problems told, those with a hint among them, and characters of a name: a megabyte of nonsense gets no more."""


def to_camel_case(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def to_snake_case(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


class Schema(marshmallow.Schema):
    """A JSON object. Unknown fields are refused, with the nearest known name suggested."""

    error_messages = {"unknown": UNKNOWN_FIELD, "type": CodedMessage("invalid_type", "Must be an object.")}
    from_text = False

    class Meta:
        unknown = RAISE

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:
        return obj if isinstance(obj, PartialResponse) else super().dump(obj, many=many)

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        if field_obj.data_key is None:
            field_obj.data_key = to_camel_case(field_name)


class RequiredFieldsSchema(Schema):
    """A body that may be absent. `required_names` lists the fields that must be sent."""

    required_names: tuple[str, ...] = ()

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def _check_required_names(self, data: Any, raw_data: Any, **_: Any) -> None:
        keys = [str(self.fields[name].data_key) for name in self.required_names]
        missing_keys = [key for key in keys if not isinstance(raw_data, Mapping) or key not in raw_data]
        if missing_keys:
            raise ValidationError({key: [CodedMessage("required", "This field is required.")] for key in missing_keys})


class PartialResponse(dict[str, Any]):
    """Data that is dumped already, and cut to the fields asked for."""


class Query(Schema):
    """Query parameters: read from text; unknown ones are ignored."""

    from_text = True

    class Meta:
        unknown = EXCLUDE


class Empty(Schema):
    """An empty object."""


def has_amounts(schema: marshmallow.Schema) -> bool:
    """Whether an amount stands anywhere in it; there, a name that occurs twice is no slip but an attack."""
    schema_class: Any = type(schema)
    return _has_amounts(schema_class)


@cache
def _has_amounts(schema_class: Any, parents: frozenset[Any] = frozenset()) -> bool:
    if schema_class in parents:
        return False
    load_fields = schema_class().load_fields.values()
    inner_schemas = [inner_schema for inner_schema in map(_find_nested_schema, load_fields) if inner_schema is not None]
    return any((field.data_key or "").endswith("Minor") for field in load_fields) or any(
        _has_amounts(inner_schema.__class__, parents | {schema_class}) for inner_schema in inner_schemas
    )


def to_validation_failed(messages: Any, schema: marshmallow.Schema) -> ValidationFailed:
    """The 422 for what marshmallow said about `schema`: one entry per problem, paths as the client wrote them."""
    return ValidationFailed(
        [
            _build_problem(path, message, error_schema, with_hint=number < MAX_HINTS)
            for number, (path, message, error_schema) in enumerate(
                islice(_flatten_messages(messages, "", schema), MAX_PROBLEMS)
            )
        ]
    )


def _flatten_messages(messages: Any, path: str, schema: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(messages, Mapping):
        for key, member_messages in messages.items():
            yield from _flatten_messages(member_messages, _join_path(path, key), _find_member_schema(schema, key))
        return
    for message in messages if isinstance(messages, list) else [messages]:
        yield path, message, schema


def _join_path(path: str, key: Any) -> str:
    if key == "_schema":
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    name = str(key)[:MAX_NAME_LENGTH]
    return f"{path}.{name}" if path else name


def _build_problem(path: str, message: Any, schema: Any, *, with_hint: bool) -> dict[str, str]:
    if message == UNKNOWN_FIELD:
        hint = _suggest_name(schema.name, schema.known_names) if with_hint and isinstance(schema, _UnknownField) else ""
        return {"path": path, "code": "unknown_field", "message": "This field is not known." + hint}
    code = message.code if isinstance(message, CodedMessage) else "invalid_type"
    return {"path": path, "code": code, "message": str(message)}


def _suggest_name(name: str, known_names: list[str]) -> str:
    plain_name = name.lower().replace("_", "")
    similar_names = [known_name for known_name in known_names if known_name.lower().replace("_", "") == plain_name]
    similar_names = similar_names or get_close_matches(name[:MAX_NAME_LENGTH], known_names, n=1, cutoff=0.6)
    return f" Did you mean {similar_names[0]}?" if similar_names else ""


class _UnknownField:
    """What stands below a name that a schema does not know: the name, and those it knows."""

    def __init__(self, name: str, schema: Any) -> None:
        self.name = name
        self.known_names = [field.data_key for field in schema.load_fields.values()]


def _find_member_schema(schema: Any, key: Any) -> Any:
    if isinstance(key, int) or key == "_schema" or not hasattr(schema, "load_fields"):
        return schema
    for field in schema.load_fields.values():
        if field.data_key == key:
            return _find_nested_schema(field)
    return _UnknownField(str(key), schema)


def _find_nested_schema(field: Any) -> Any:
    while isinstance(field, fields.List):
        field = field.inner
    return field.schema if isinstance(field, fields.Nested) else None
