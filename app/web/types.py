"""The types that all modules of the web layer share. This module imports nothing of the application."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from marshmallow import fields

JsonObject = dict[str, object]
"""An object of JSON whose members the code only passes on."""

View = Callable[..., object]
"""A view function: it returns data for a schema, a `Response`, or either of them with headers."""

RawData = Mapping[str, object] | None
"""The object that holds the value of a field, as marshmallow passes it to the field."""

AnyField = fields.Field[Any]
"""A field of any type of value."""


class FieldOptions(TypedDict, total=False):
    """The options of a marshmallow field that the fields of this project pass on."""

    load_default: object
    dump_default: object
    data_key: str | None
    attribute: str | None
    required: bool
    allow_none: bool | None
    load_only: bool
    dump_only: bool
    metadata: Mapping[str, object]
