"""Schemas of scanning without a network: the snapshot of a gate, batches of scans, conflicts."""

from marshmallow import fields

from app.admissions.kinds import PLACE_KINDS
from app.events.reentry import REENTRY_MODES
from app.gate.batch import RESULT_STATUSES
from app.web.fields import Boolean, List, Nested, Secret, TimeField
from app.web.schema import Query, Schema

MAX_BATCH = 500
PLACE = [
    "6565a1f0c3d2e1b0a9f8e7d6", "t", "q83vEjRWeJCrze8S", "Ndapewa Iita", 0, "c", None, None, None, None, None, None,
]  # fmt: skip


class SnapshotQuery(Query):
    """The position after which places changed."""

    since = Secret(max=2000, metadata={"description": "`position` of the snapshot before; leave it out for all places"})


class GateTicketType(Schema):
    """A ticket type at the gate."""

    id = fields.String(required=True)
    name = fields.String(required=True, metadata={"example": "Day ticket Saturday"})
    valid_from = TimeField(required=True, allow_none=True, metadata={"description": "when its tickets first admit"})
    valid_until = TimeField(required=True, allow_none=True, metadata={"description": "when they last admit"})


class GateEvent(Schema):
    """An event at the gate."""

    id = fields.String(required=True)
    name = fields.String(required=True, metadata={"example": "Windhoek Lights"})
    starts_at = TimeField(required=True)
    ends_at = TimeField(required=True)
    timezone = fields.String(required=True, metadata={"example": "Africa/Windhoek"})
    reentry = fields.String(required=True, metadata={"enum": list(REENTRY_MODES), "example": "none"})


class GateSnapshotData(Schema):
    """What a gate needs to decide without a network."""

    position = fields.String(required=True, metadata={"example": "1764956400-771:771:", "description": "for `since`"})
    taken_at = TimeField(required=True, metadata={"description": "by the clock of the service"})
    salt = fields.String(required=True, metadata={"example": "Vd1t0v6WmZc9b0Ykq3nR5A", "description": "of the codes"})
    full = Boolean(required=True, metadata={"description": "replace all places that the device has"})
    event = Nested(GateEvent, required=True)
    ticket_types = List(Nested(GateTicketType), required=True)
    removed = List(
        fields.String(),
        required=True,
        metadata={"example": ["6565a1f0c3d2e1b0a9f8e7d6"], "description": "ids that are no place any more"},
    )
    places = List(
        List(fields.Raw(allow_none=True)),
        required=True,
        metadata={
            "example": [PLACE],
            "description": "lists of id, kind (a: of a block, t: imported), hash of the code, name, number of the "
            "ticket type, state (c: may enter, a: admitted, r: revoked or cancelled, n: not claimed), party, time of "
            "admission, gate, own validity from and until, time of leaving, at events with `reentry` `daily` also time of the last "
            "entry; times in seconds since 1970",
        },
    )


class BatchBody(Schema):
    """Scans that a gate made without a network. Each is checked by itself (see `OfflineScanBody`)."""

    admissions = List(
        fields.Raw(),
        min=1,
        max=MAX_BATCH,
        required=True,
        metadata={
            "example": [{"code": "7K2Q9XRD4M", "nonce": "device7-0006", "occurredAt": "2026-12-04T16:00:00.000Z"}],
            "description": "bodies of `POST …/admissions`, each with `nonce` and `occurredAt`",
        },
    )


class ScanResultData(Schema):
    nonce = fields.String(required=True, metadata={"example": "device7-0006"})
    status = fields.String(required=True, metadata={"enum": list(RESULT_STATUSES), "example": "admitted"})
    admission_id = fields.String(required=True, allow_none=True)
    code = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "of the error with which the service would have refused the scan"},
    )
    data = fields.Dict(required=True, metadata={"example": {}, "description": "of that error"})


class BatchData(Schema):
    results = List(Nested(ScanResultData), required=True)


class ConflictEntry(Schema):
    admission_id = fields.String(required=True)
    occurred_at = fields.String(required=True, metadata={"example": "2026-12-04T16:00:00.000Z"})
    gate = fields.String(required=True, allow_none=True, metadata={"example": "North gate"})
    by = fields.String(required=True, metadata={"example": "Scanner 2"})


class ConflictRow(Schema):
    """A person whom an offline gate let in, and whom the service would have refused."""

    id = fields.String(required=True)
    reason = fields.String(required=True, metadata={"example": "ALREADY_ADMITTED"})
    kind = fields.String(required=True, metadata={"enum": list(PLACE_KINDS), "example": "ticket"})
    place_id = fields.String(required=True, allow_none=True)
    code = fields.String(required=True, allow_none=True, metadata={"description": "what was scanned, if unknown"})
    name = fields.String(required=True, allow_none=True, metadata={"example": "Ndapewa Iita"})
    ticket_type = fields.String(required=True, allow_none=True, metadata={"example": "Day ticket Saturday"})
    recorded_at = TimeField(required=True)
    entries = List(Nested(ConflictEntry), required=True, metadata={"description": "of the place, the earliest first"})
