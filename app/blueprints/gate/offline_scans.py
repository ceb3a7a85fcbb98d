"""Scans that a phone made without a network, as it sends them: in a batch, or in a file that somebody uploads for it."""

from collections.abc import Sequence
from typing import Any

from marshmallow import ValidationError

from app.accounts.caller import Caller
from app.blueprints.gate.offline_schemas import OfflineScanBody
from app.core.errors import ValidationFailed
from app.gate.batch import REFUSED, OfflineScan, ScanResult, record_batch
from app.web.schema import to_validation_failed

MAX_NONCE_LENGTH = 80


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
    recorded = iter(record_batch(caller, event_id, scans))
    return [result or next(recorded) for result in results]


def _load_scan(body: object) -> OfflineScan:
    """Return a scan. Raises ValidationFailed."""
    schema = OfflineScanBody()
    try:
        loaded: dict[str, Any] = schema.load(body)  # type: ignore[arg-type]
    except ValidationError as error:
        raise to_validation_failed(error.messages, schema) from error
    return OfflineScan(people=loaded.pop("count", None), **loaded)
