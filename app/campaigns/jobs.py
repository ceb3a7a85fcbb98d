"""Sending campaigns: the audience becomes rows, each row a message, and how each ended becomes a figure."""

from typing import Any

from app.campaigns import delivery, statistics
from app.campaigns import fan_out as campaign_fan_out
from app.campaigns.states import FAILED, UNCERTAIN
from app.campaigns.statistics import DeliveryResult
from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction

STATES = {"dead": FAILED, "uncertain": UNCERTAIN}


@job("campaigns.fan_out", Delivery.LOCAL, ended="campaigns.note_ends")
def fan_out(run: Run, *, campaign_id: str, turn: int) -> None:
    """Makes the rows of the audience, page after page, from where it stopped."""
    campaign_fan_out.fan_out(run, campaign_id, turn)


@job("campaigns.deliver", Delivery.AT_MOST_ONCE, bulk=True, ended="campaigns.note_ends", to_others=True)
def deliver(run: Run, *, recipient_id: str) -> None:
    """Sends one message, unless its reader has said no meanwhile. Nobody waits for a ticket because of a campaign."""
    delivery.deliver(run, recipient_id)


@job("campaigns.deliver_test", Delivery.AT_MOST_ONCE, max_attempts=5)
def deliver_test(run: Run, *, account_id: str, event_id: str, channel: str, texts: dict[str, Any]) -> None:
    """Sends a message to anyone who writes it, as others would get it."""
    delivery.deliver_test(run, account_id, event_id, channel, texts)


@job("campaigns.finish", Delivery.LOCAL)
def finish(run: Run, *, campaign_id: str) -> None:
    """Ends a campaign once nothing of it is pending."""
    campaign_fan_out.finish_campaign(run, campaign_id)


@job("campaigns.note_ends", Delivery.LOCAL)
def record_failures(run: Run, *, ends: list[dict[str, Any]]) -> None:
    """Tells a campaign which of its messages failed, and of which nobody knows."""
    messages = [end for end in ends if end["kind"] == "campaigns.deliver"]
    failed = [end["payload"]["campaign_id"] for end in ends if end["kind"] == "campaigns.fan_out"]
    with transaction() as session:
        run.done_in(session)
        if messages:
            statistics.record_delivery(
                session,
                [DeliveryResult(it["payload"]["recipient_id"], STATES[it["state"]], it["error"]) for it in messages],
            )
        if failed:
            session.execute(campaign_fan_out.FAIL, {"ids": failed})
