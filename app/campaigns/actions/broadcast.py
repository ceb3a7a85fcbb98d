"""A new campaign: written anew, or a copy."""

from typing import Any

from app.accounts.caller import Caller
from app.campaigns import counting, drafts, keeping, queries
from app.campaigns.states import HOLDERS
from app.core.transaction import transaction

NAME_LENGTH = 120


def broadcast(*, caller: Caller, event_id: str, **fields: Any) -> dict[str, Any]:
    """A campaign as it begins: sending, scheduled or a draft, and whom it is for.

    Of an audience of more than a thousand places only their number is told; it is counted when sending starts.
    Raises NotFound, ValidationFailed for a time that is past where the event is.
    """
    found = counting.counted(caller, event_id, keeping.audience_of(fields))
    checked = drafts.resolved(fields, found.timezone)
    with transaction() as session:
        row = keeping.create(session, caller, event_id, checked, audience=found.audience)
    return {**row, "audience": found.audience}


def duplicate(*, caller: Caller, event_id: str, campaign_id: str, **fields: Any) -> dict[str, Any]:
    """A copy called "… (copy)", with the given fields in place of its own: a draft unless they say when to send.

    Raises NotFound, ValidationFailed.
    """
    was = queries.original(caller, event_id, campaign_id)
    kept = {name: was[name] for name in drafts.FIELDS}
    if fields.get("audience_type") == HOLDERS:
        kept["user_ids"] = []
    merged = {**kept, "name": _copied(was["name"]), **fields}
    checked = drafts.resolved(merged, was["timezone"])
    with transaction() as session:
        row = keeping.create(session, caller, event_id, checked, copied_from=campaign_id)
    return {**row, "tallies": None}


def _copied(name: str) -> str:
    ending = " (copy)"
    return name[: NAME_LENGTH - len(ending)].rstrip() + ending
