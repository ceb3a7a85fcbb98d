"""Changing a campaign before it is sent, sending it, or giving it another time."""

from typing import Any

from sqlalchemy import RowMapping

from app.accounts.caller import Caller
from app.campaigns import drafts, keeping
from app.campaigns.errors import CampaignFrozen
from app.campaigns.states import HOLDERS, OPEN, SCHEDULED
from app.core.errors import StaleVersion
from app.core.transaction import transaction


def change_campaign(
    *, caller: Caller, event_id: str, campaign_id: str, expected_version: int | None, **fields: Any
) -> dict[str, Any]:
    """The campaign with these fields. `send_now` sends it; `scheduled_at` gives it a time, and null takes it away.

    Raises NotFound, ValidationFailed, StaleVersion, CampaignFrozen once sending has begun.
    """
    with transaction() as session:
        was, zone = keeping.locked(session, caller, event_id, campaign_id)
        merged = _merged(was, fields)
        checked = drafts.resolved(merged, zone) if was["status"] in OPEN else merged
        if expected_version not in (None, was["version"]):
            raise StaleVersion()
        if was["status"] not in OPEN:
            raise CampaignFrozen(status=was["status"])
        keeping.unschedule(was)
        row = keeping.change(
            session,
            caller,
            was,
            "changed",
            **drafts.columns(checked),
            status=keeping.state_of(checked),
            scheduled_at=checked["scheduled_at"],
            turn=was["turn"] + 1,
        )
        keeping.start(session, caller, row)
    return {**row, "tallies": None}


def _merged(was: RowMapping, fields: dict[str, Any]) -> dict[str, Any]:
    kept = {name: was[name] for name in drafts.FIELDS}
    if fields.get("audience_type") == HOLDERS:
        kept["user_ids"] = []
    if was["status"] == SCHEDULED and not fields.get("send_now"):
        kept["scheduled_at"] = was["scheduled_at"]
    return {**kept, **fields}
