"""Sending again what nobody knows the fate of, on purpose."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.accounts.caller import Caller
from app.campaigns import keeping
from app.campaigns.errors import NothingUncertain
from app.campaigns.tallying import moving
from app.core.outbox.again import REVIVED
from app.core.transaction import transaction

MOST = 500
ID, IDS = "CAST(:campaign_id AS text)", "CAST(:ids AS text[])"
RESEND = text(f"""
    WITH chosen AS (
        SELECT r.id FROM campaign_recipient r
         WHERE r.campaign_id = {ID} AND r.state = 'uncertain'
           AND ({IDS} IS NULL OR r.id = ANY({IDS}))
         ORDER BY r.id LIMIT {MOST}),
    revived AS (
        UPDATE outbox SET {REVIVED} FROM chosen
         WHERE dedupe_key = 'campaign-' || chosen.id AND state = 'uncertain' RETURNING chosen.id),
    ended AS (SELECT id, 'pending' AS state, CAST(NULL AS text) AS reason FROM revived),
    {moving("ended")},
    noted AS (
        INSERT INTO campaign_act (campaign_id, verb, account_id, details)
        SELECT {ID}, 'resent', CAST(:caller_id AS text),
               jsonb_build_object('resent', count(*)) FROM moved
        HAVING count(*) > 0)
    SELECT count(*) FROM moved
""")


def resend_uncertain(
    *, caller: Caller, event_id: str, campaign_id: str, recipient_ids: Sequence[str] | None = None
) -> dict[str, Any]:
    """How many of the uncertain messages go out again: those named, or the first five hundred.

    Somebody may get one twice: that is what asking for it means, and it is noted who asked. Raises NotFound,
    NothingUncertain.
    """
    with transaction() as session:
        row, _ = keeping.locked(session, caller, event_id, campaign_id)
        values = {"campaign_id": campaign_id, "caller_id": caller.id, "ids": recipient_ids}
        count = session.execute(RESEND, values).scalar_one()
        if not count:
            raise NothingUncertain()
    return {"campaign_id": row["id"], "resent": count}
