"""Fields and metadata that the response schemas of allocations share."""

from marshmallow import fields

from app.allocations.states import DELIVERIES, SLOT_STATES

ID_METADATA = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
CODE_METADATA = {"example": "7K2Q9XRD4M"}
DELIVERY_METADATA = {"enum": [*DELIVERIES, None], "example": "e_ticket"}
STATUS_METADATA = {"enum": list(SLOT_STATES), "example": "invited"}


def text_field(example: str | None = None, *, required: bool = False, allow_none: bool = False) -> fields.String:
    """A text, with an example of it."""
    metadata = {"example": example} if example else {}
    return fields.String(metadata=metadata, required=required, allow_none=allow_none)


def nullable_text_field(example: str | None = None) -> fields.String:
    """A text that is always there, and may be null."""
    return text_field(example, required=True, allow_none=True)
