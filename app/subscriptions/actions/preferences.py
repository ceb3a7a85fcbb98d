"""Changing one's wishes: which channels, and which organisers may write again."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.accounts.caller import Caller
from app.core.errors import StaleVersion
from app.core.ids import new_id
from app.core.transaction import transaction
from app.subscriptions import queries
from app.subscriptions.channels import CHANNELS
from app.subscriptions.claiming import claim

CHANGE = text("""
    WITH wish AS (
        INSERT INTO channel_preference AS known (account_id, channel, wanted)
        SELECT :account_id, asked.* FROM unnest(CAST(:channels AS text[]), CAST(:wanted AS boolean[])) AS asked
            ON CONFLICT (account_id, channel) DO UPDATE
           SET wanted = excluded.wanted, version = known.version + 1, updated_at = now()
         WHERE known.wanted <> excluded.wanted
    ), again AS (
        DELETE FROM unsubscribe WHERE address = :address
           AND (organiser_id = ANY(:resubscribe) OR (organiser_id IS NULL AND :from_all IS FALSE))
    )
    INSERT INTO unsubscribe (id, address) SELECT :id, :address WHERE :from_all ON CONFLICT DO NOTHING
""")


def change_preferences(
    *,
    caller: Caller,
    expected_version: int | None,
    resubscribe: Sequence[str] = (),
    unsubscribed_from_all: bool | None = None,
    **wishes: bool,
) -> dict[str, Any]:
    """The caller's wishes with these changes: a channel's name with whether it is wanted; organisers (ids) that may
    write again; none at all from any organiser. What is not named stays. Raises StaleVersion."""
    asked = {channel: wishes[channel] for channel in CHANNELS if channel in wishes}
    with transaction() as session:
        claim(session, caller.id)
        if expected_version not in (None, queries.preferences(caller)["version"]):
            raise StaleVersion()
        session.execute(
            CHANGE,
            {
                "account_id": caller.id,
                "address": caller.email,
                "channels": list(asked),
                "wanted": list(asked.values()),
                "resubscribe": list(resubscribe),
                "from_all": unsubscribed_from_all,
                "id": new_id(),
            },
        )
        return queries.preferences(caller)
