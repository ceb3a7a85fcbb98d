"""Schemas of scans and of the log of admissions."""

from marshmallow import fields

from app.admissions.kinds import ALLOCATION, IN, OUT, PLACE_KINDS, TICKET
from app.gate.log import RESULTS
from app.gate.refused_scans import REASONS
from app.web.fields import Boolean, Choice, Id, List, Nested, Text, TimeField, WholeNumber
from app.web.scans import ScanBody
from app.web.schema import Query, Schema

ID_METADATA = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}


def _text(example: str, *, nullable: bool = False) -> fields.String:
    return fields.String(required=True, allow_none=nullable, metadata={"example": example})


class TrainingScanBody(ScanBody):
    """A scan, or with `training` the question what it would do."""

    training = Boolean(
        load_default=False,
        metadata={
            "rare": True,
            "description": "only say what would happen: nobody is admitted, nothing is logged or counted",
        },
    )


class ScanData(Schema):
    admission_id = fields.String(
        required=True, allow_none=True, metadata={**ID_METADATA, "description": "null for `training`"}
    )
    kind = Choice(ALLOCATION, TICKET, required=True)
    place_id = _text(ID_METADATA["example"])
    name = _text("Frieda Amupolo", nullable=True)
    ticket_type = _text("Weekend pass")
    ticket_type_id = _text(ID_METADATA["example"])
    direction = Choice(IN, OUT, required=True)
    reentry = Boolean(required=True)
    admitted = WholeNumber(required=True, metadata={"description": "people of this scan"})
    remaining = WholeNumber(required=True, metadata={"description": "of the party who are still outside"})
    admitted_at = TimeField(required=True)
    gate = _text("North gate", nullable=True)
    by = _text("Scanner 2")
    training = Boolean(
        required=True, metadata={"description": "whether the response only says what would happen", "example": False}
    )


class UndoBody(Schema):
    reason = Text(required=True, min=1, max=200, metadata={"example": "the wrong ticket"})


class UndoData(Schema):
    admission_id = _text(ID_METADATA["example"])
    undone = WholeNumber(required=True, metadata={"description": "places of the scan"})
    undone_at = TimeField(required=True)
    by = _text("Nangula Shikongo")
    reason = _text("the wrong ticket")


class LogQuery(Query):
    q = Text(max=120, metadata={"example": "frieda am", "description": "beginnings of words of the guest's name"})
    gate = Text(max=80)
    by = Text(max=200, metadata={"description": "name of the person, device or key"})
    place_id = Id()


class AdmissionQuery(LogQuery):
    result = Choice(*RESULTS)
    conflict = Boolean(metadata={"description": "only scans without a network that the service would have refused"})


class RefusedQuery(LogQuery):
    reason = Choice(*REASONS)


class LogRow(Schema):
    """What admitted and refused scans have in the log."""

    id = _text(ID_METADATA["example"])
    place_id = _text(ID_METADATA["example"], nullable=True)
    ticket_type_id = _text(ID_METADATA["example"], nullable=True)
    ticket_type = _text("Weekend pass", nullable=True)
    name = _text("Frieda Amupolo", nullable=True)
    ticket_number = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "WLN-4711", "description": "of a block's ticket the end of its code: …4M7K"},
    )
    direction = Choice(IN, OUT, required=True)
    gate = _text("North gate", nullable=True)
    by = fields.String(
        required=True,
        allow_none=True,
        attribute="actor_name",
        metadata={"example": "Scanner 2", "description": "null after the retention time of guests"},
    )
    occurred_at = TimeField(required=True)
    recorded_at = TimeField(required=True)


class AdmissionRow(LogRow):
    scan_id = _text(ID_METADATA["example"])
    kind = Choice(*PLACE_KINDS, required=True, attribute="place_kind")
    result = Choice(*RESULTS, required=True)
    reentry = Boolean(required=True, attribute="is_reentry")
    conflict = _text("ALREADY_ADMITTED", nullable=True)
    code = _text("7K2Q9XRD4M", nullable=True)
    undone_at = TimeField(required=True, allow_none=True)
    undone_by = _text("Nangula Shikongo", nullable=True)
    undo_reason = _text("the wrong ticket", nullable=True)


class RefusedScanRow(LogRow):
    """A scan that was refused. `times` counts the same scan by the same device within ten seconds."""

    reason = fields.String(
        required=True,
        metadata={"enum": list(REASONS), "example": "ALREADY_ADMITTED", "description": "the error's code"},
    )
    kind = fields.String(
        required=True,
        allow_none=True,
        attribute="place_kind",
        metadata={"enum": [ALLOCATION, TICKET, None], "example": TICKET},
    )
    code_start = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "7K2Q…", "description": "beginning of a code that no ticket of the event has"},
    )
    times = WholeNumber(required=True, metadata={"example": 1, "description": "scans within ten seconds"})


class PlaceQuery(Query):
    q = Text(required=True, min=1, max=120, metadata={"example": "frieda am", "description": "beginnings of words"})


class PlaceData(Schema):
    id = _text(ID_METADATA["example"])
    kind = Choice(ALLOCATION, TICKET, required=True)
    name = _text("Frieda Amupolo", nullable=True)
    email = _text("frieda@example.com", nullable=True)
    ticket_type = _text("Weekend pass")
    status = fields.String(required=True, metadata={"enum": ["claimed", "sold", "admitted"], "example": "claimed"})
    party_size = WholeNumber(required=True)
    admitted_at = TimeField(required=True, allow_none=True)
    left_at = TimeField(required=True, allow_none=True)
    details = List(
        fields.String(),
        required=True,
        metadata={
            "description": "tells guests of the same name apart: block or its holder, end of the code or order number, "
            "masked email address, end of the phone number",
            "example": ["Gold sponsor", "…XRD4", "f•••@example.com"],
        },
    )


class PlacesData(Schema):
    places = List(Nested(PlaceData), required=True)


class PeakData(Schema):
    count = WholeNumber(required=True)
    at = TimeField(required=True, allow_none=True)


class Figures(Schema):
    sold = WholeNumber(required=True)
    expected = WholeNumber(required=True, metadata={"description": "sold and claimed places, admitted or not"})
    admitted = WholeNumber(required=True, metadata={"description": "places that entered"})
    entries = WholeNumber(required=True)
    reentries = WholeNumber(required=True)
    exits = WholeNumber(required=True)
    inside = WholeNumber(required=True, allow_none=True)
    peak = Nested(PeakData, required=True, allow_none=True)


class TypeFigures(Figures):
    id = _text(ID_METADATA["example"])
    name = _text("Weekend pass")


class GateFigures(Schema):
    gate = _text("North gate", nullable=True)
    admitted = WholeNumber(required=True)
    entries = WholeNumber(required=True)
    exits = WholeNumber(required=True)
    last_at = TimeField(required=True)


class QuarterFigures(Schema):
    start = TimeField(required=True, data_key="from")
    entries = WholeNumber(required=True)
    exits = WholeNumber(required=True)
    by_type = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={"example": {"6565a1f0c3d2e1b0a9f8e7d6": 4}},
    )


class DayFigures(Schema):
    date = fields.Date(required=True, metadata={"description": "in the event's time zone; it ends at 5 in the morning"})
    expected = WholeNumber(
        required=True, metadata={"description": "sold and claimed places whose ticket type admits on this day"}
    )
    admitted = WholeNumber(required=True, metadata={"description": "places that entered for the first time"})
    entries = WholeNumber(required=True)
    exits = WholeNumber(required=True)


class AdmissionStatsData(Schema):
    total = Nested(Figures, required=True)
    ticket_types = List(Nested(TypeFigures), required=True)
    gates = List(Nested(GateFigures), required=True)
    quarters = List(Nested(QuarterFigures), required=True)
    days = List(Nested(DayFigures), required=True)
    today = fields.Date(required=True, metadata={"description": "the day that the gate counts for now"})
