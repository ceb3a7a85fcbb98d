"""Calling a campaign off before it is sent."""

from typing import Any

from app.accounts.caller import Caller
from app.campaigns import keeping
from app.campaigns.errors import CampaignStarted
from app.campaigns.states import CANCELED, OPEN
from app.core.transaction import transaction


def cancel_campaign(*, caller: Caller, event_id: str, campaign_id: str) -> dict[str, Any]:
    """The campaign, called off; one that is already stays as it is.

    Whoever comes first has it, this or its start: both change the one row. Raises NotFound, CampaignStarted.
    """
    with transaction() as session:
        was, _ = keeping.locked(session, caller, event_id, campaign_id)
        if was["status"] == CANCELED:
            return {**was, "tallies": None}
        if was["status"] not in OPEN:
            raise CampaignStarted(status=was["status"])
        keeping.unschedule(was)
        row = keeping.change(session, caller, was, "canceled", status=CANCELED, turn=was["turn"] + 1)
    return {**row, "tallies": None}
