"""Descriptions of fields, parameters, headers and access for the OpenAPI document."""

from collections.abc import Iterable

from app.web.access import Access
from app.web.openapi_property_descriptions import DESCRIPTIONS
from app.web.schema import Query
from app.web.types import AnyField

PARAMETERS: dict[str, str] = {
    "cashless": "Only events whose stalls take no cash, or only those that do.",
    "expiringBefore": "Only items whose last day of use is before this day.",
    "from": "Start of the period; without an offset in the event's time zone.",
    "lat": "Latitude in degrees, for `radiusKm` and `sort=distance`.",
    "lng": "Longitude in degrees, for `radiusKm` and `sort=distance`.",
    "q": "Beginnings of words; case and accents do not matter.",
    "radiusKm": "Only events within so many kilometres of `lat` and `lng`.",
    "sort": "The order; `-` in front reverses it.",
    "to": "End of the period; without an offset in the event's time zone.",
    "type": "The report.",
}
"""Query parameters that are not a property to filter by."""

PATH_PARAMETERS: dict[str, str] = {
    "accountId": "Id of the account.",
    "admissionId": "Id of the scan, or of one of its records.",
    "importId": "Id of the import of tickets.",
    "applicationId": "Id of the application.",
    "blockId": "Id of the allocation block.",
    "campaignId": "Id of the campaign.",
    "crewMemberId": "Id of the crew member.",
    "deviceId": "Id of the device.",
    "documentId": "Id of the invoice or credit note.",
    "eventId": "Id of the event.",
    "fileId": "Id of the file.",
    "id": "Id of the object that the path names: an event, or a payout.",
    "inviteId": "Id of the invitation.",
    "merchantId": "Id of the merchant.",
    "itemId": "Id of the stock item.",
    "keyId": "Id of the API key.",
    "memberId": "Id of the member, or of an open invitation.",
    "membershipId": "Id of your membership.",
    "name": "Name of the file.",
    "orderId": "Id of the purchase order.",
    "packId": "Id of the ticket pack.",
    "provider": "Sign-in provider: `apple` or `google`.",
    "sessionId": "Id of the session.",
    "slotId": "Id of the place.",
    "slug": "Last part of the invitation link.",
    "token": "Last part of the mailed link.",
}

RESPONSE_HEADERS: dict[str, tuple[str, str]] = {
    "X-Request-Id": ("string", "Id of the request, also in the logs."),
    "Deprecation": ("string", "Since when the operation is deprecated, as `@` and seconds since 1970 (RFC 9745)."),
    "Sunset": ("string", "From when the operation may be gone, as an HTTP date (RFC 8594)."),
    "ETag": ("string", "Version of the response; send it as `If-None-Match` or `If-Match`."),
    "Idempotent-Replayed": ("string", "`true` if this is the stored response to an earlier request with the same key."),
    "Retry-After": ("integer", "Seconds until the next try can succeed."),
    "RateLimit-Limit": ("integer", "Requests per minute."),
    "RateLimit-Remaining": ("integer", "Requests that are left in this minute."),
    "RateLimit-Reset": ("integer", "Seconds until all requests are available again."),
}
"""Type and description of each response header."""


def describe_field(converter: object, field: AnyField, **_: object) -> dict[str, str]:
    """Return the description of a field for apispec; empty if the field has its own, or none is known."""
    name = str(field.data_key or field.name)
    if "description" in field.metadata or field.parent is None:
        return {}
    if isinstance(field.parent, Query):
        text = PARAMETERS.get(name) or (
            f"Only rows with this value. {DESCRIPTIONS[name]}" if name in DESCRIPTIONS else ""
        )
    else:
        schema = type(field.parent).__name__.removesuffix("Schema").removesuffix("WithKey").removesuffix("Chosen")
        schema = "Envelope" if schema.endswith("Envelope") else schema
        text = DESCRIPTIONS.get(f"{schema}.{name}") or DESCRIPTIONS.get(name, "")
    return {"description": text} if text else {}


def describe_access(access: Access) -> str:
    """Return who may call an operation, in one or two sentences."""
    verified = " Needs a verified email address." if access.needs_verified_email else ""
    return f"For {access.name}.{verified}"


def list_header_references(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return references to the components of response headers, by name."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
