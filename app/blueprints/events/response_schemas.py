"""Response schemas of events."""

from marshmallow import fields

from app.blueprints.events import schemas
from app.blueprints.events.custom_fields import StoredList
from app.events.reentry import REENTRY_MODES
from app.events.validation import CATEGORIES
from app.events.visibility import VISIBILITIES
from app.web.fields import Boolean, Choice, List, Nested, Number, TimeField, WholeNumber
from app.web.schema import Schema

STATUSES = ("on_sale", "not_started", "ended", "sold_out", "low")
PROMOTION = {"type": "object", "example": {"headline": "Two nights by the river"}}
SLUG = {"example": "windhoek-lights", "description": "the page of the event is /e/ and this"}
CURRENCY = {"enum": ["NAD"], "example": "NAD"}


def _text(example: str, **options: bool) -> fields.String:
    return fields.String(metadata={"example": example}, **options)  # type: ignore[arg-type]


class EventSummary(Schema):
    """An event in discovery."""

    id = fields.String(required=True)
    name = _text("Windhoek Lights", required=True)
    city = _text("Windhoek", required=True)
    venue = _text("River grounds", required=True)
    starts_at = TimeField(required=True, metadata={"example": "2026-12-04T16:00:00.000Z"})
    cover_image_url = fields.String(
        required=True,
        metadata={"example": "https://media.example.com/lights.jpg", "description": "empty when there is none"},
    )
    is_cashless = Boolean(required=True)


class EventRow(EventSummary):
    """An event in lists."""

    country = _text("NA", required=True)
    timezone = _text("Africa/Windhoek", required=True)
    ends_at = TimeField(required=True)
    category = fields.String(required=True, allow_none=True, metadata={"enum": [*CATEGORIES, None], "example": "music"})
    visibility = fields.String(required=True, metadata={"enum": list(VISIBILITIES), "example": "published"})
    publish_at = TimeField(required=True, allow_none=True)
    version = WholeNumber(required=True)


class PhaseData(Schema):
    name = _text("Early bird", required=True)
    starts_at = TimeField(required=True, allow_none=True)
    ends_at = TimeField(required=True, allow_none=True)
    price_minor = WholeNumber(required=True)
    quantity = WholeNumber(required=True, allow_none=True)


class TicketTypeData(Schema):
    id = fields.String(required=True)
    name = _text("Day ticket Saturday", required=True)
    description = fields.String(required=True, allow_none=True)
    price_minor = WholeNumber(required=True)
    min_per_order = WholeNumber(required=True, allow_none=True)
    max_per_order = WholeNumber(required=True, allow_none=True)
    valid_from = TimeField(required=True, allow_none=True)
    valid_until = TimeField(required=True, allow_none=True)
    phases = List(Nested(PhaseData), required=True)


class OwnTicketTypeData(TicketTypeData):
    quantity = WholeNumber(required=True)


class PublicEvent(Schema):
    """The public fields of an event."""

    id = fields.String(required=True)
    name = _text("Windhoek Lights", required=True)
    slug = fields.String(required=True, metadata=SLUG)
    description = fields.String(required=True, allow_none=True)
    cover_image_url = fields.String(required=True, metadata={"description": "empty when there is none"})
    poster_image_url = fields.String(required=True, metadata={"description": "empty when there is none"})
    venue = _text("River grounds", required=True)
    city = _text("Windhoek", required=True)
    country = _text("NA", required=True)
    latitude = Number(required=True, allow_none=True)
    longitude = Number(required=True, allow_none=True)
    timezone = _text("Africa/Windhoek", required=True)
    starts_at = TimeField(required=True)
    ends_at = TimeField(required=True)
    sales_end_at = TimeField(required=True, allow_none=True)
    applications_end_at = TimeField(required=True, allow_none=True)
    tickets_url = fields.String(required=True, allow_none=True)
    category = fields.String(required=True, allow_none=True, metadata={"enum": [*CATEGORIES, None], "example": "music"})
    keywords = List(fields.String(), required=True)
    is_cashless = Boolean(required=True)
    allowed_payment_option_slugs = List(fields.String(), required=True)
    organiser_name = _text("Windhoek Lights", required=True)
    currency = fields.String(required=True, metadata=CURRENCY)
    ticket_types = List(Nested(TicketTypeData), required=True)
    bulk_discounts = StoredList(schemas.BulkDiscount, max=20, required=True)
    payment_method_discounts = StoredList(schemas.PaymentMethodDiscount, max=50, required=True)
    sponsors = StoredList(schemas.Sponsor, max=200, required=True)
    stall_types = StoredList(schemas.StallType, max=50, required=True)
    tables = StoredList(schemas.Table, max=200, required=True)
    lineup = StoredList(schemas.LineupEntry, max=80, required=True)
    promotion = fields.Raw(required=True, allow_none=True, metadata=PROMOTION)


class EventWarning(Schema):
    """Something unusual that is no error."""

    path = _text("endDate", required=True)
    code = _text("event_is_over", required=True)
    message = fields.String(required=True)


class EventData(Schema):
    """An event as its organiser sees it."""

    id = fields.String(required=True)
    version = WholeNumber(required=True)
    organiser_id = fields.String(required=True)
    name = _text("Windhoek Lights", required=True)
    slug = fields.String(required=True, metadata=SLUG)
    description = fields.String(required=True, allow_none=True)
    cover_image_url = fields.String(required=True, allow_none=True)
    poster_image_url = fields.String(required=True, allow_none=True)
    venue = _text("River grounds", required=True)
    city = _text("Windhoek", required=True)
    country = _text("NA", required=True)
    latitude = Number(required=True, allow_none=True)
    longitude = Number(required=True, allow_none=True)
    timezone = _text("Africa/Windhoek", required=True)
    starts_at = TimeField(required=True)
    ends_at = TimeField(required=True)
    sales_end_at = TimeField(required=True, allow_none=True)
    applications_end_at = TimeField(required=True, allow_none=True)
    tickets_url = fields.String(required=True, allow_none=True)
    visibility = fields.String(required=True, metadata={"enum": list(VISIBILITIES), "example": "draft"})
    publish_at = TimeField(required=True, allow_none=True)
    reentry = Choice(*REENTRY_MODES, required=True)
    capacity = WholeNumber(required=True, allow_none=True)
    category = fields.String(required=True, allow_none=True, metadata={"enum": [*CATEGORIES, None], "example": "music"})
    keywords = List(fields.String(), required=True)
    is_cashless = Boolean(required=True)
    allowed_payment_option_slugs = List(fields.String(), required=True)
    currency = fields.String(required=True, metadata=CURRENCY)
    ticket_types = List(Nested(OwnTicketTypeData), required=True)
    promo_codes = StoredList(schemas.PromoCode, max=200, required=True, allow_none=True)
    bulk_discounts = StoredList(schemas.BulkDiscount, max=20, required=True)
    payment_method_discounts = StoredList(schemas.PaymentMethodDiscount, max=50, required=True)
    sponsors = StoredList(schemas.Sponsor, max=200, required=True)
    stall_types = StoredList(schemas.StallType, max=50, required=True)
    tables = StoredList(schemas.Table, max=200, required=True)
    lineup = StoredList(schemas.LineupEntry, max=80, required=True)
    promotion = fields.Raw(required=True, allow_none=True, metadata=PROMOTION)
    created_at = TimeField(required=True)
    updated_at = TimeField(required=True)
    warnings = List(Nested(EventWarning))


class Removed(Schema):
    id = fields.String(required=True)
    outcome = fields.String(required=True, metadata={"enum": ["deleted", "cancelled"], "example": "deleted"})


class TypeInventory(Schema):
    id = fields.String(required=True)
    name = _text("Day ticket Saturday", required=True)
    phase = fields.String(required=True, allow_none=True, metadata={"example": "Early bird"})
    phase_ends_at = TimeField(required=True, allow_none=True)
    price_minor = WholeNumber(required=True)
    total = WholeNumber(required=True)
    sold = WholeNumber(required=True)
    allocated = WholeNumber(required=True)
    available = WholeNumber(required=True)
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": "on_sale"})


class Inventory(Schema):
    event_id = fields.String(required=True)
    currency = fields.String(required=True, metadata=CURRENCY)
    sales_end_at = TimeField(required=True)
    ticket_types = List(Nested(TypeInventory), required=True)


class DiscoverPagination(Schema):
    limit = WholeNumber(required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class Discovered(Schema):
    events = List(Nested(EventSummary), required=True)
    pagination = Nested(DiscoverPagination, required=True)
    suggestions = List(
        fields.String(metadata={"example": "Windhoek Lights"}),
        metadata={"description": "when nothing matches q: similar names"},
    )


class Flows(Schema):
    sold = WholeNumber(required=True)
    allocated = WholeNumber(required=True)
    invited = WholeNumber(required=True)
    claimed = WholeNumber(required=True)
    admitted = WholeNumber(required=True)
    revoked = WholeNumber(required=True)
    released = WholeNumber(required=True)
    revenue_minor = WholeNumber(required=True, allow_none=True)


class TypeStats(Flows):
    id = fields.String(required=True)
    name = _text("Day ticket Saturday", required=True)
    total = WholeNumber(required=True)
    oversold = WholeNumber(required=True)
    available = WholeNumber(
        required=True, metadata={"description": "what remains for the public, within the event's capacity"}
    )


class DayStats(Flows):
    day = fields.Date(required=True, metadata={"example": "2026-11-21"})
    ticket_type_id = fields.String(required=True)


class Totals(Flows):
    total = WholeNumber(required=True)
    oversold = WholeNumber(required=True)
    available = WholeNumber(required=True)


class SourceStats(Schema):
    format = fields.String(
        required=True, metadata={"description": "pretix, eventbrite, own or mapping", "example": "pretix"}
    )
    tickets = WholeNumber(
        required=True,
        metadata={"description": "tickets that its imports added, without those undone", "example": 282},
    )


class MissingFacts(Schema):
    missing = List(
        fields.String(),
        required=True,
        metadata={
            "example": ["venue", "ticketTypes"],
            "description": "fields; `ticketTypes` or a capacity; often none",
        },
    )


class Stats(Schema):
    """Statistics of an event per ticket type, and per day of its time zone."""

    id = fields.String(required=True)
    name = _text("Windhoek Lights", required=True)
    city = _text("Windhoek", required=True)
    venue = _text("River grounds", required=True)
    timezone = _text("Africa/Windhoek", required=True)
    starts_at = TimeField(required=True)
    ends_at = TimeField(required=True)
    sales_end_at = TimeField(required=True, allow_none=True)
    visibility = fields.String(required=True, metadata={"enum": list(VISIBILITIES), "example": "published"})
    capacity = WholeNumber(required=True, allow_none=True)
    currency = fields.String(required=True, metadata=CURRENCY)
    totals = Nested(Totals, required=True)
    ticket_types = List(Nested(TypeStats), required=True)
    sources = List(Nested(SourceStats), required=True, metadata={"description": "the formats of the imported files"})
    series = List(Nested(DayStats), required=True)
