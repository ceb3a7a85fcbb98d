"""The base schema: camelCase in JSON, snake_case in Python. One response reports all problems of a request."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Self, cast

import marshmallow
from marshmallow import EXCLUDE, RAISE, ValidationError, fields, validates_schema

from app.core.errors import ValidationFailed
from app.core.text_normalization import to_camel_case as to_camel_case
from app.web.fields import CodedMessage
from app.web.types import AnyField, JsonObject

UNKNOWN_FIELD = "Unknown field."
MAX_PROBLEMS, MAX_HINTS, MAX_NAME_LENGTH = 100, 20, 80
"""The most problems of a response, the most of them with a hint, and the longest name in a path, in characters.

They bound the work and the response for a large invalid body.
"""


@lru_cache(1024)
def to_snake_case(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


class Schema(marshmallow.Schema):
    """A JSON object. Unknown fields are refused; the message suggests the nearest known name."""

    error_messages = {"unknown": UNKNOWN_FIELD, "type": CodedMessage("invalid_type", "Must be an object.")}
    from_text = False

    class Meta:
        unknown = RAISE

    @classmethod
    def from_dict(cls, fields: dict[str, AnyField], *, name: str = "GeneratedSchema") -> type[Self]:
        """Return a subclass with these fields."""
        return cast(type[Self], super().from_dict(fields, name=name))

    def dump(self, obj: object, *, many: bool | None = None) -> Any:
        return obj if isinstance(obj, PartialResponse) else super().dump(obj, many=many)

    def on_bind_field(self, field_name: str, field_obj: AnyField) -> None:
        if field_obj.data_key is None:
            field_obj.data_key = to_camel_case(field_name)


class RequiredFieldsSchema(Schema):
    """A body that may be absent. `required_names` lists the fields that must be sent."""

    required_names: tuple[str, ...] = ()

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def _check_required_names(self, data: object, raw_data: object, **_: object) -> None:
        keys = [str(self.fields[name].data_key) for name in self.required_names]
        missing_keys = [key for key in keys if not isinstance(raw_data, Mapping) or key not in raw_data]
        if missing_keys:
            raise ValidationError({key: [CodedMessage("required", "This field is required.")] for key in missing_keys})


class PartialResponse(JsonObject):
    """Data that is already dumped and has only the fields that the client requested."""


class Multipart(Schema):
    """A multipart body, whose values arrive as text."""

    from_text = True


class Query(Schema):
    """Query parameters: values are read from text; unknown parameters are ignored."""

    from_text = True

    class Meta:
        unknown = EXCLUDE


class Empty(Schema):
    """An empty object."""


def has_amounts(schema: marshmallow.Schema) -> bool:
    """Whether the schema has an amount of money at any depth. A body with amounts may not repeat a key."""
    return _has_amounts(type(schema))


@cache
def _has_amounts(
    schema_class: type[marshmallow.Schema], parents: frozenset[type[marshmallow.Schema]] = frozenset()
) -> bool:
    if schema_class in parents:
        return False
    load_fields = schema_class().load_fields.values()
    inner_schemas = [inner_schema for inner_schema in map(_find_nested_schema, load_fields) if inner_schema is not None]
    return any((field.data_key or "").endswith("Minor") for field in load_fields) or any(
        _has_amounts(type(inner_schema), parents | {schema_class}) for inner_schema in inner_schemas
    )


def to_validation_failed(messages: object, schema: marshmallow.Schema) -> ValidationFailed:
    """Return the 422 for the messages of marshmallow: one entry per problem, with the path that the client sent."""
    return ValidationFailed(
        [
            _build_problem(path, message, error_schema, with_hint=number < MAX_HINTS)
            for number, (path, message, error_schema) in enumerate(
                islice(_flatten_messages(messages, "", schema), MAX_PROBLEMS)
            )
        ]
    )


def _flatten_messages(
    messages: object, path: str, schema: "ErrorSchema"
) -> Iterator[tuple[str, object, "ErrorSchema"]]:
    """Yield path, message and schema of every problem."""
    if isinstance(messages, Mapping):
        for key, member_messages in messages.items():
            yield from _flatten_messages(member_messages, _join_path(path, key), _find_member_schema(schema, key))
        return
    for message in messages if isinstance(messages, list) else [messages]:
        yield path, message, schema


def _join_path(path: str, key: object) -> str:
    if key == "_schema":
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    name = str(key)[:MAX_NAME_LENGTH]
    return f"{path}.{name}" if path else name


def _build_problem(path: str, message: object, schema: "ErrorSchema", *, with_hint: bool) -> dict[str, str]:
    if message == UNKNOWN_FIELD:
        hint = _suggest_name(schema.name, schema.known_names) if with_hint and isinstance(schema, UnknownField) else ""
        return {"path": path, "code": "unknown_field", "message": "This field is not known." + hint}
    code = message.code if isinstance(message, CodedMessage) else "invalid_type"
    return {"path": path, "code": code, "message": str(message)}


def _suggest_name(name: str, known_names: list[str]) -> str:
    plain_name = name.lower().replace("_", "")
    similar_names = [known_name for known_name in known_names if known_name.lower().replace("_", "") == plain_name]
    similar_names = similar_names or get_close_matches(name[:MAX_NAME_LENGTH], known_names, n=1, cutoff=0.6)
    return f" Did you mean {similar_names[0]}?" if similar_names else ""


class UnknownField:
    """A name that a schema does not know, and the names that it knows."""

    def __init__(self, name: str, schema: marshmallow.Schema) -> None:
        self.name = name
        self.known_names = [field.data_key for field in schema.load_fields.values() if field.data_key is not None]


ErrorSchema = marshmallow.Schema | UnknownField | None
"""The schema that a message is about: None below a field without a schema."""


def _find_member_schema(schema: ErrorSchema, key: object) -> ErrorSchema:
    if isinstance(key, int) or key == "_schema" or not isinstance(schema, marshmallow.Schema):
        return schema
    for field in schema.load_fields.values():
        if field.data_key == key:
            return _find_nested_schema(field)
    return UnknownField(str(key), schema)


def _find_nested_schema(field: AnyField) -> marshmallow.Schema | None:
    while isinstance(field, fields.List):
        field = field.inner
    return field.schema if isinstance(field, fields.Nested) else None
