"""Request and response schemas of crew and shifts (specification 4.3)."""

from marshmallow import fields

from app.crew.planned_shifts import DUE, LATE
from app.crew.states import STATUSES
from app.web.fields import (
    Boolean,
    Choice,
    Email,
    List,
    Nested,
    Phone,
    Secret,
    Text,
    TimeField,
    WholeNumber,
)
from app.web.schema import RequiredFieldsSchema, Schema
from app.web.text_fields import Name, Pin

ID_METADATA = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
CODE_METADATA = {"example": "402913"}
OCCURRED_AT_METADATA = {
    "rare": True,
    "description": "up to 12 hours ago, for a device that had no network; without an offset, in the event's time zone",
}
PLANNED_METADATA = {"description": "without an offset, in the event's time zone"}
STALL_CODE_METADATA = {"example": "40291375", "description": "the rotating code that the stall shows; null without one"}
MAX_CREW_SIZE, MAX_PLANNED_SHIFTS = 500, 2000


class CrewEntry(Schema):
    id = Text(min=1, max=24, allow_none=True, metadata={**ID_METADATA, "rare": True})
    name = Name(required=True, min=1, max=120, metadata={"example": "Selma Nangolo"})
    phone = Phone(allow_none=True)
    email = Email(allow_none=True)
    role = Text(max=80, allow_none=True, metadata={"example": "till"})
    pin = Pin(allow_none=True, metadata={"example": "4029", "description": "a shift code of one's own choice"})
    rotate_code = Boolean(metadata={"rare": True, "description": "true gives a new shift code"})


class CrewBody(RequiredFieldsSchema):
    required_names = ("crew",)

    crew = List(Nested(CrewEntry), max=MAX_CREW_SIZE)


class VerifyBody(RequiredFieldsSchema):
    required_names = ("code",)

    crew_member_id = Text(min=1, max=24, allow_none=True, metadata={**ID_METADATA, "rare": True})
    code = Secret(max=20, metadata=CODE_METADATA)
    occurred_at = TimeField(allow_none=True, metadata=OCCURRED_AT_METADATA)
    stall_code = Secret(max=20, allow_none=True, metadata={**STALL_CODE_METADATA, "rare": True})


class CheckoutBody(Schema):
    status = Choice(*STATUSES, required=True)
    crew_member_id = Text(
        min=1, max=24, allow_none=True, metadata={"rare": True, **ID_METADATA, "description": "else everybody at work"}
    )
    occurred_at = TimeField(allow_none=True, metadata=OCCURRED_AT_METADATA)


class PlannedShiftEntry(Schema):
    crew_member_id = Text(required=True, min=1, max=24, metadata=ID_METADATA)
    starts_at = TimeField(required=True, metadata=PLANNED_METADATA)
    ends_at = TimeField(required=True, metadata={**PLANNED_METADATA, "example": "2030-06-04T23:00:00+02:00"})
    note = Text(max=200, allow_none=True, metadata={"example": "Till 2"})


class ShiftPlanBody(RequiredFieldsSchema):
    required_names = ("planned_shifts",)

    planned_shifts = List(Nested(PlannedShiftEntry), max=MAX_PLANNED_SHIFTS)


class PlannedShiftRow(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    crew_member_id = fields.String(required=True, metadata=ID_METADATA)
    name = fields.String(required=True)
    starts_at = TimeField(required=True)
    ends_at = TimeField(required=True)
    note = fields.String(required=True, allow_none=True, metadata={"example": "Till 2"})


class ShiftPlanData(Schema):
    planned_shifts = List(Nested(PlannedShiftRow), required=True)
    version = WholeNumber(required=True)


class AtRiskRow(PlannedShiftRow):
    state = fields.String(required=True, metadata={"enum": [LATE, DUE], "example": LATE})
    phone = fields.String(required=True, allow_none=True)


class AtRiskData(Schema):
    planned_shifts = List(Nested(AtRiskRow), required=True)


class RotatingCodeBody(Schema):
    rotating_code = Boolean(required=True)


class RotatingCodeData(Schema):
    rotating_code = Boolean(required=True)
    stall_code = fields.String(required=True, allow_none=True, metadata=STALL_CODE_METADATA)
    url = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": "https://example.com/check-in/6565a1f0c3d2e1b0a9f8e7d6…/40291375",
            "description": "the page that the QR code at the stall opens",
        },
    )
    changes_at = TimeField(required=True, allow_none=True, metadata={"description": "when the next code begins"})


class CrewRow(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    name = fields.String(required=True)
    phone = fields.String(required=True, allow_none=True)
    email = fields.String(required=True, allow_none=True)
    role = fields.String(required=True, allow_none=True)
    shift_code = fields.String(metadata={**CODE_METADATA, "description": "only in the response that made it"})
    shift_code_qr = fields.String(metadata={"description": "the id and the code as a QR code, an SVG data URI"})


class CrewData(Schema):
    crew = List(Nested(CrewRow), required=True)
    version = WholeNumber(required=True)


class ShiftData(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    crew_member_id = fields.String(required=True, metadata=ID_METADATA)
    name = fields.String(required=True)
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": STATUSES[0]})
    started_at = TimeField(required=True)
    on_break_since = TimeField(required=True, allow_none=True)
    ended_at = TimeField(required=True, allow_none=True)
    automatic = Boolean(required=True, metadata={"description": "ended automatically after 16 hours"})


class CheckoutData(Schema):
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": STATUSES[0]})
    shifts = List(Nested(ShiftData), required=True)


class Day(Schema):
    date = fields.String(required=True, metadata={"example": "2026-12-04"})
    shifts = WholeNumber(required=True)
    worked_minutes = WholeNumber(required=True)
    break_minutes = WholeNumber(required=True)


class OpenShift(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": STATUSES[0]})
    started_at = TimeField(required=True, attribute="start")
    on_break_since = TimeField(required=True, allow_none=True)


class StatsData(Schema):
    id = fields.String(required=True, metadata=ID_METADATA)
    name = fields.String(required=True)
    role = fields.String(required=True, allow_none=True)
    active = Boolean(required=True, metadata={"description": "false when retired"})
    timezone = fields.String(required=True)
    shifts = WholeNumber(required=True)
    worked_minutes = WholeNumber(required=True, metadata={"description": "without breaks"})
    break_minutes = WholeNumber(required=True)
    first_seen_at = TimeField(required=True, allow_none=True)
    last_seen_at = TimeField(required=True, allow_none=True)
    automatic = WholeNumber(required=True, metadata={"description": "shifts that ended automatically"})
    per_day = List(Nested(Day), required=True)
    open_shift = Nested(OpenShift)
