"""Examples for the OpenAPI document, built from the fields. `metadata={"example": …}` of a field takes precedence."""

import marshmallow
from marshmallow import fields, validate

from app.core.errors import AppError
from app.web.schema import Schema
from app.web.types import AnyField, JsonObject

EXAMPLE_ID = "6565a1f0c3d2e1b0a9f8e7d6"
EXAMPLE_TIME = "2026-12-04T16:00:00.000Z"
EXAMPLE_TEXT = "Ask for Tuli at gate B."
EXAMPLES: dict[str, object] = {
    "accountNumber": "••••4567",
    "activationMessage": "We need one socket.",
    "allowedPaymentOptionSlugs": "card",
    "bannerUrl": "https://example.com/banner.jpg",
    "barcode": "6001108034107",
    "batchNumber": "L2611",
    "blockName": "Gold sponsor",
    "body": "Hello {firstName}, the gates open at 17:00.",
    "brand": "Tafel",
    "businessName": "Kapana Corner",
    "category": "food",
    "city": "Windhoek",
    "code": "7F3K9Q2M",
    "contactEmail": "nangula@windhoek-lights.example",
    "contactName": "Tuli Hamutenya",
    "country": "NA",
    "coverImageUrl": "https://example.com/cover.jpg",
    "currency": "NAD",
    "decidedBy": "6565a1f0c3d2e1b0a9f8e7d6",
    "declineReason": "All places for food are taken.",
    "description": "Three nights of music and light by the river.",
    "email": "frieda@example.com",
    "eventName": "Windhoek Lights",
    "fileName": "identity.pdf",
    "gate": "Main gate",
    "headline": "Bring a friend",
    "href": "https://example.com/getting-there",
    "imageUrl": "https://example.com/picture.jpg",
    "inviteSlug": "kapana-corner-7f3k9q2m",
    "keywords": "kwaito",
    "logoUrl": "https://example.com/logo.png",
    "message": "Gladly.",
    "name": "Frieda Amupolo",
    "nextCursor": "eyJ2IjoxfQ",
    "note": "Two crates were broken.",
    "notes": "Next to gate B.",
    "orgName": "Windhoek Lights",
    "organisation": "Kalahari Coffee",
    "organiserName": "Windhoek Lights",
    "payrailMsisdn": "••••4567",
    "phone": "+264811234567",
    "platform": "android",
    "posterImageUrl": "https://example.com/poster.jpg",
    "productType": "beer",
    "products": "Kapana, fat cakes",
    "promoCode": "EARLY26",
    "reason": "The wallet does not exist.",
    "reference": "KC-2026-0042",
    "reply": "Gladly.",
    "reviewerNotes": "Known from last year.",
    "role": "till",
    "sheetUrl": "/api/events/6565a1f0c3d2e1b0a9f8e7d6/inventory/orders/6565a1f0c3d2e1b0a9f8e7d6/sheet.pdf",
    "shiftCodeQr": "data:image/svg+xml;base64,PHN2Zy8+",
    "sku": "BEE-002",
    "slug": "kapana-corner-7f3k9q2m",
    "stage": "River stage",
    "stallName": "Kapana Corner",
    "stallType": "Food stall",
    "storageLocation": "Tent 3, shelf 1",
    "suggestions": "Windhoek Lights",
    "supplier": "Namibia Breweries",
    "ticketTypeName": "Weekend pass",
    "ticketsUrl": "https://tickets.example/windhoek-lights",
    "timezone": "Africa/Windhoek",
    "title": "{eventName}: see you soon",
    "unit": "case",
    "variantBBody": "Hello {firstName}, come early: the gates open at 17:00.",
    "variantBTitle": "{eventName}: gates at 17:00",
    "venue": "River grounds",
    "visibility": "published",
    "website": "https://kapana-corner.example",
    "AdminBody.title": "Support",
    "AdminData.title": "Support",
    "BlockBody.name": "Gold sponsor",
    "CrewEntry.name": "Selma Nangolo",
    "CrewRow.name": "Selma Nangolo",
    "EventChanges.name": "Windhoek Lights",
    "EventData.name": "Windhoek Lights",
    "EventRow.name": "Windhoek Lights",
    "ItemChanges.name": "Tafel Lager 500 ml",
    "ItemRow.name": "Tafel Lager 500 ml",
    "NewEvent.name": "Windhoek Lights",
    "NewItem.name": "Tafel Lager 500 ml",
    "PublicEvent.name": "Windhoek Lights",
    "Requirement.message": "Upload the identity document.",
    "RowErrorData.message": "This is not a number.",
    "StallType.name": "Food stall",
    "TicketTypeShape.name": "Weekend pass",
}
"""Examples by the name of a property, or by `Schema.name`."""


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
    if isinstance(field, fields.String) and (example := _find_named_example(field)) is not None:
        return example
    if isinstance(field, fields.Constant):
        return field.constant
    if isinstance(field, fields.Nested):
        member = build_example(field.schema)
        return [member] if field.many else member
    if isinstance(field, fields.List):
        return [build_field_example(field.inner)]
    choices = next((validator.choices for validator in field.validators if isinstance(validator, validate.OneOf)), None)
    return next(iter(choices)) if choices else _build_plain_example(field)


def _find_named_example(field: AnyField) -> object:
    named_field = field.parent if isinstance(field.parent, fields.List) else field
    schema = type(named_field.parent).__name__.removesuffix("Schema").removesuffix("WithKey").removesuffix("Chosen")
    name = named_field.data_key or named_field.name
    return EXAMPLES.get(f"{schema}.{name}", EXAMPLES.get(str(name)))


def _build_plain_example(field: AnyField) -> object:
    low, high = _find_bounds(field)
    if isinstance(field, fields.Boolean):
        return True
    if isinstance(field, fields.Number):
        return low if low is not None and low > 0 else min(1, high) if high is not None else 1
    if isinstance(field, fields.Dict):
        return {}
    if isinstance(field, fields.String):
        name = field.data_key or field.name or ""
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
