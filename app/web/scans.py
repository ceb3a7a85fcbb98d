"""A scan as a phone sends it: at once, later in a batch, or in a file that somebody uploads for it."""

from collections.abc import Sequence
from typing import Any

from marshmallow import ValidationError, validates_schema

from app.accounts.caller import Caller
from app.admissions.kinds import IN, OUT
from app.core.errors import ValidationFailed
from app.gate.batch import REFUSED, OfflineScan, ScanResult, record_batch
from app.gate.refused_scans import log_refused_batch
from app.web.fields import Choice, Id, Secret, Text, TimeField, WholeNumber, field_error
from app.web.schema import Schema, to_validation_failed

MAX_NONCE_LENGTH, MAX_PARTY_SIZE = 80, 100


class ScanBody(Schema):
    """A scan of a place, by its code or its id."""

    code = Secret(
        max=200,
        metadata={
            "example": "7K2Q9XRD4M",
            "description": "as scanned or typed: a ticket's code, or an imported secret",
        },
    )
    place_id = Id(metadata={"rare": True, "description": "instead of `code`: a guest who was found by name"})
    nonce = Secret(required=True, max=80, metadata={"example": "scan-7f3a", "description": "of this scan"})
    count = WholeNumber(
        min=1, max=MAX_PARTY_SIZE, allow_none=True, metadata={"rare": True, "description": "of the party"}
    )
    gate = Text(max=80, allow_none=True, metadata={"example": "North gate"})
    occurred_at = TimeField(
        allow_none=True,
        metadata={"rare": True, "description": "up to 72 hours ago, from a scanner without a network"},
    )
    direction = Choice(IN, OUT, load_default=IN, metadata={"rare": True})

    @validates_schema
    def check_place(self, data: dict[str, Any], **_: Any) -> None:
        for name in ("code", "nonce"):
            if not data.get(name, "").isprintable():
                raise ValidationError({name: field_error("invalid_characters", "Must be printable.").messages})
        if ("code" in data) == ("place_id" in data):
            raise ValidationError({"code": field_error("required", "Send either code or placeId.").messages})


class OfflineScanBody(ScanBody):
    """A scan of a batch."""

    occurred_at = TimeField(required=True)


def record_scans(caller: Caller, event_id: str, bodies: Sequence[object]) -> list[ScanResult]:
    """Record scans and return what became of each, in their order; one that cannot be read is refused.

    Raises NotFound, Busy.
    """
    results: list[ScanResult | None] = []
    scans = []
    for body in bodies:
        try:
            scans.append(_load_scan(body))
            results.append(None)
        except ValidationFailed as error:
            nonce = body.get("nonce") if isinstance(body, dict) else None
            results.append(ScanResult(str(nonce or "")[:MAX_NONCE_LENGTH], REFUSED, code=error.code, data=error.data))
    recorded = record_batch(caller, event_id, scans)
    refused = [
        (offline_scan, result.code or "")
        for offline_scan, result in zip(scans, recorded, strict=True)
        if result.status == REFUSED
    ]
    log_refused_batch(caller, event_id, refused)
    remaining = iter(recorded)
    return [result or next(remaining) for result in results]


def _load_scan(body: object) -> OfflineScan:
    """Return a scan. Raises ValidationFailed."""
    schema = OfflineScanBody()
    try:
        loaded: dict[str, Any] = schema.load(body)  # type: ignore[arg-type]
    except ValidationError as error:
        raise to_validation_failed(error.messages, schema) from error
    return OfflineScan(people=loaded.pop("count", None), **loaded)
