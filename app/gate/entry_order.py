"""The order of the entries of a place: the earliest by the time of the scan is the first, however they arrived."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from app.core.db import fetch_rows
from app.core.transaction import transaction
from app.gate.batch_sql import FIND_SCAN_PLACES, LOCK_PLACE, ORDER_ENTRIES, REFRESH_PLACE, TOUCH_SCAN


def refresh_places(event_id: str, scan_id: str) -> None:
    """Set the first entry and the last exit of the places of a scan by the log. The log shows them as changed again."""
    with transaction() as session:
        params: dict[str, object] = {"event_id": event_id, "scan_id": scan_id}
        for kind, place_id in fetch_rows(FIND_SCAN_PLACES, params):
            session.execute(LOCK_PLACE[kind], {**params, "place_id": place_id})
            refresh_place(session, kind, {**params, "place_id": place_id})
        session.execute(TOUCH_SCAN, params)


def refresh_place(session: Session, kind: str, params: Mapping[str, Any]) -> None:
    """Set the first entry and the last exit of a locked place by the log."""
    session.execute(ORDER_ENTRIES, params)
    session.execute(REFRESH_PLACE[kind], params)
