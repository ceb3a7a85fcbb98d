"""Jobs of campaigns: fan-out, deliveries, finishing, and recording of failed jobs."""

from typing import TypedDict

from app.campaigns import delivery, delivery_sql
from app.campaigns import delivery as campaign_fan_out
from app.campaigns.delivery import DeliveryResult
from app.campaigns.states import FAILED, UNCERTAIN
from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction


class FailedJob(TypedDict):
    """A job that ended without success."""

    kind: str
    payload: dict[str, str]
    state: str
    error: str | None


STATES = {"dead": FAILED, "uncertain": UNCERTAIN}


@job("campaigns.fan_out", Delivery.LOCAL, ended="campaigns.note_ends")
def fan_out(run: Run, *, campaign_id: str, turn: int) -> None:
    """Adds the recipients of the audience page by page, from where it stopped."""
    campaign_fan_out.fan_out(run, campaign_id, turn)


@job("campaigns.deliver", Delivery.AT_MOST_ONCE, bulk=True, ended="campaigns.note_ends", to_others=True)
def deliver(run: Run, *, recipient_id: str) -> None:
    """Sends one message, unless its recipient has unsubscribed meanwhile. Other mail goes first."""
    delivery.deliver(run, recipient_id)


@job("campaigns.deliver_test", Delivery.AT_MOST_ONCE, max_attempts=5)
def deliver_test(run: Run, *, account_id: str, event_id: str, channel: str, texts: dict[str, str | None]) -> None:
    """Sends a test to its author, as recipients would get it."""
    delivery.deliver_test(run, account_id, event_id, channel, texts)


@job("campaigns.finish", Delivery.LOCAL)
def finish(run: Run, *, campaign_id: str) -> None:
    """Finishes a campaign when no message is pending."""
    campaign_fan_out.finish_campaign(run, campaign_id)


@job("campaigns.note_ends", Delivery.LOCAL)
def record_failures(run: Run, *, ends: list[FailedJob]) -> None:
    """Records the failed and uncertain messages of campaigns, and campaigns whose fan-out failed."""
    deliveries = [end for end in ends if end["kind"] == "campaigns.deliver"]
    failed_campaigns = [end["payload"]["campaign_id"] for end in ends if end["kind"] == "campaigns.fan_out"]
    with transaction() as session:
        run.done_in(session)
        if deliveries:
            results = [
                DeliveryResult(end["payload"]["recipient_id"], STATES[end["state"]], end["error"]) for end in deliveries
            ]
            delivery.record_results(session, results)
        if failed_campaigns:
            session.execute(delivery_sql.FAIL, {"ids": failed_campaigns})
