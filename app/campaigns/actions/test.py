"""A message to oneself, before others get it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from app.accounts.caller import Caller
from app.campaigns import drafts, queries
from app.campaigns.errors import NoWayToYou
from app.core import throttle
from app.core.errors import Throttled
from app.core.outbox import enqueue_all, errand
from app.core.throttle import Rule
from app.core.transaction import transaction
from app.events.queries import WRITES

TESTS = Rule("campaign-tests", 30, timedelta(hours=1))
COPY = ("title", "body", "href", "image_url", "banner_url")


def send_test(*, caller: Caller, event_id: str, channels: Sequence[str], **fields: Any) -> dict[str, Any]:
    """On which channels the texts are on their way to the caller, each variant once.

    Raises NotFound, NoWayToYou, and Throttled after thirty an hour.
    """
    drafts.check(fields)
    queries.facts_of(caller, event_id, tier=WRITES)
    ways = [channel for channel in channels if channel != "sms" or caller.phone]
    if not ways:
        raise NoWayToYou()
    works = [
        errand("campaigns.deliver_test", account_id=caller.id, event_id=event_id, channel=channel, texts=texts)
        for channel in ways
        for texts in _variants(fields)
    ]
    with transaction() as session:
        tests = throttle.hit(session, TESTS, caller.id)
        if not tests.exceeded:
            enqueue_all(works)
    if tests.exceeded:
        raise Throttled("Thirty tests an hour are enough; go on later.", retry_after=tests.seconds)
    return {"channels": ways, "to": caller.email, "messages": len(works)}


def _variants(fields: dict[str, Any]) -> list[dict[str, Any]]:
    plain = {name: fields.get(name) for name in COPY}
    if not fields.get("ab_test_enabled"):
        return [plain]
    other = {"title": fields.get("variant_b_title"), "body": fields.get("variant_b_body")}
    return [plain, {**plain, **{name: said for name, said in other.items() if said}}]
