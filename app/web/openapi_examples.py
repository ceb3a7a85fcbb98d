"""Examples for the OpenAPI document, built from the fields. `metadata={"example": …}` of a field takes precedence."""

import marshmallow
from marshmallow import fields, validate

from app.core.errors import AppError
from app.web.schema import Schema
from app.web.types import AnyField, JsonObject

EXAMPLE_ID = "6565a1f0c3d2e1b0a9f8e7d6"
EXAMPLE_TIME = "2026-12-04T16:00:00.000Z"
EXAMPLE_TEXT = "Windhoek Lights by the river, first edition of the summer season"


def build_example(schema: type[marshmallow.Schema] | marshmallow.Schema) -> JsonObject:
    """Return an object that fits `schema`."""
    instance = schema() if isinstance(schema, type) else schema
    fields_by_name = {**instance.load_fields, **instance.dump_fields}
    return {
        field.data_key or name: build_field_example(field)
        for name, field in fields_by_name.items()
        if not field.metadata.get("rare")
    }


def build_field_example(field: AnyField) -> object:
    """Return one value that fits `field`."""
    if "example" in field.metadata:
        return field.metadata["example"]
    if isinstance(field, fields.Constant):
        return field.constant
    if isinstance(field, fields.Nested):
        member = build_example(field.schema)
        return [member] if field.many else member
    if isinstance(field, fields.List):
        return [build_field_example(field.inner)]
    choices = next((validator.choices for validator in field.validators if isinstance(validator, validate.OneOf)), None)
    return next(iter(choices)) if choices else _build_plain_example(field)


def _build_plain_example(field: AnyField) -> object:
    low, high = _find_bounds(field)
    if isinstance(field, fields.Boolean):
        return True
    if isinstance(field, fields.Number):
        return low if low is not None and low > 0 else min(1, high) if high is not None else 1
    if isinstance(field, fields.Dict):
        return {}
    if isinstance(field, fields.String):
        name = field.data_key or ""
        if name.lower().endswith("id"):
            return EXAMPLE_ID
        if field.metadata.get("format") == "date-time":
            return EXAMPLE_TIME
        length = min(max(low or 1, 12), high or 60)
        return (EXAMPLE_TEXT * (length // len(EXAMPLE_TEXT) + 1))[:length].strip().ljust(low or 0, "x")
    return EXAMPLE_TIME


def _find_bounds(field: AnyField) -> tuple[int | None, int | None]:
    for validator in field.validators:
        if isinstance(validator, validate.Length | validate.Range):
            equal = getattr(validator, "equal", None)
            return (equal, equal) if equal is not None else (validator.min, validator.max)
    return None, None


def build_success_example(schema: type[Schema]) -> JsonObject:
    """Return a success envelope with an example of `schema` as its data."""
    return {
        "status": "success",
        "success": True,
        "statusCode": "00000",
        "message": "OK",
        "shortMessage": "SUCCESS",
        "timestamp": EXAMPLE_TIME,
        "requestId": "5f3c9a1be2d04c77",
        "data": build_example(schema),
    }


def build_error_example(error: type[AppError]) -> JsonObject:
    """Return the envelope of an error."""
    data = {"errors": [{"path": "email", "code": "required", "message": "This field is required."}]}
    return {
        "status": "error",
        "success": False,
        "statusCode": str(error.number),
        "message": error.message,
        "shortMessage": error.code,
        "timestamp": EXAMPLE_TIME,
        "requestId": "5f3c9a1be2d04c77",
        "data": data if error.code == "VALIDATION_FAILED" else {},
    }
