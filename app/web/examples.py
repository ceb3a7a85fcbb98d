"""Examples for the API document, made from the fields themselves (`metadata={"example": …}` wins)."""

from typing import Any

from marshmallow import fields, validate

from app.core.errors import AppError
from app.web.schema import Schema

ID = "6565a1f0c3d2e1b0a9f8e7d6"
TIME = "2026-12-04T16:00:00.000Z"
TEXT = "Windhoek Lights by the river, first edition of the summer season"


def example_of(schema: type[Schema] | Schema) -> dict[str, Any]:
    """An object that `schema` takes (or gives)."""
    instance = schema() if isinstance(schema, type) else schema
    shown = {**instance.load_fields, **instance.dump_fields}
    return {field.data_key or name: value_of(field) for name, field in shown.items() if not field.metadata.get("rare")}


def value_of(field: fields.Field[Any]) -> Any:
    """One value that `field` takes."""
    if "example" in field.metadata:
        return field.metadata["example"]
    if isinstance(field, fields.Constant):
        return field.constant
    if isinstance(field, fields.Nested):
        schema: Any = field.schema
        inner = example_of(schema)
        return [inner] if field.many else inner
    if isinstance(field, fields.List):
        return [value_of(field.inner)]
    choices = next((validator.choices for validator in field.validators if isinstance(validator, validate.OneOf)), None)
    return next(iter(choices)) if choices else _plain(field)


def _plain(field: fields.Field[Any]) -> Any:
    low, high = _bounds(field)
    if isinstance(field, fields.Boolean):
        return True
    if isinstance(field, fields.Number):
        return low if low is not None and low > 0 else min(1, high) if high is not None else 1
    if isinstance(field, fields.Dict):
        return {}
    if isinstance(field, fields.String):
        name = field.data_key or ""
        if name.lower().endswith("id"):
            return ID
        if field.metadata.get("format") == "date-time":
            return TIME
        length = min(max(low or 1, 12), high or 60)
        return (TEXT * (length // len(TEXT) + 1))[:length].strip().ljust(low or 0, "x")
    return TIME


def _bounds(field: fields.Field[Any]) -> tuple[Any, Any]:
    for validator in field.validators:
        if isinstance(validator, validate.Length | validate.Range):
            equal = getattr(validator, "equal", None)
            return (equal, equal) if equal is not None else (validator.min, validator.max)
    return None, None


def success_example(schema: type[Schema]) -> dict[str, Any]:
    return {
        "status": "success",
        "success": True,
        "statusCode": "00000",
        "message": "OK",
        "shortMessage": "SUCCESS",
        "timestamp": TIME,
        "requestId": "5f3c9a1be2d04c77",
        "data": example_of(schema),
    }


def error_example(error: type[AppError]) -> dict[str, Any]:
    data = {"errors": [{"path": "email", "code": "required", "message": "This field is required."}]}
    return {
        "status": "error",
        "success": False,
        "statusCode": str(error.number),
        "message": error.message,
        "shortMessage": error.code,
        "timestamp": TIME,
        "requestId": "5f3c9a1be2d04c77",
        "data": data if error.code == "VALIDATION_FAILED" else {},
    }
