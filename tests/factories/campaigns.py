"""Campaigns for tests: an event with ticket holders, and the messages of its organiser."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.core.ids import new_id
from app.core.outbox import executor
from app.core.outbox.lease import lease_next
from app.core.outbox.tuning import get_tuning
from app.core.transaction import transaction
from tests.factories.accounts import run_jobs
from tests.factories.events import create_organiser_client, create_published_event
from tests.http import Client, data

TICKETS = text("""
    INSERT INTO ticket (id, event_id, ticket_type_id, reference, name, email, price_minor, sold_at, status)
    SELECT t.id, :event, :type, 'R-' || t.id, t.name, t.email, 0, now(), :status
      FROM unnest(CAST(:ids AS text[]), CAST(:emails AS text[]), CAST(:names AS text[])) AS t (id, email, name)
""")
SOLD = text("UPDATE ticket_type SET sold = sold + :count WHERE id = :type")


class CampaignEvent:
    """An event and its organiser: `campaign_event.sold("frieda@example.com")`, `campaign_event.send(title=…)`."""

    def __init__(self, client: Client, **event: Any) -> None:
        self.client = client
        self.owner = event.pop("owner", None) or create_organiser_client(client)
        weekend = {"name": "Weekend pass", "priceMinor": 85000, "quantity": 100_000}
        self.event = create_published_event(self.owner, **{"ticketTypes": [weekend], **event})
        self.type = self.event["ticketTypes"][0]["id"]

    @property
    def path(self) -> str:
        return f"/api/events/{self.event['id']}/notifications"

    def sold(self, *emails: str | None, status: str = "sold", names: Sequence[str | None] = ()) -> list[str]:
        """Adds tickets for these addresses and returns their ids."""
        ids = [new_id() for _ in emails]
        values = {
            "event": self.event["id"],
            "type": self.type,
            "ids": ids,
            "emails": list(emails),
            "names": list(names) or [None] * len(emails),
            "status": status,
        }
        with transaction() as session:
            session.execute(TICKETS, values)
            if status == "sold":
                session.execute(SOLD, {"type": self.type, "count": len(ids)})
        return ids

    def body(self, **fields: Any) -> dict[str, Any]:
        return {
            "name": "Gates",
            "templateId": "event-reminder",
            "title": "{eventName}: see you soon",
            "body": "Hello {firstName}, you have {tickets}.",
            "channels": ["email"],
            "sendNow": True,
            "audienceType": "event_ticket_holders",
            "respectPreferences": True,
            **fields,
        }

    def broadcast(self, **fields: Any) -> Any:
        headers = fields.pop("headers", {})
        return self.owner.post(f"{self.path}/broadcast", self.body(**fields), headers=headers)

    def send(self, **fields: Any) -> str:
        """The id of a new campaign."""
        return str(data(self.broadcast(**fields), 202)["campaignId"])

    def draft(self, **fields: Any) -> str:
        return self.send(sendNow=False, **fields)

    def one(self, campaign_id: str) -> str:
        return f"{self.path}/campaigns/{campaign_id}"

    def now(self, campaign_id: str) -> dict[str, Any]:
        return data(self.owner.get(self.one(campaign_id)))

    def preview(self, **body: Any) -> dict[str, Any]:
        return data(self.owner.post(f"{self.path}/audience-preview", body))

    def finished(self, campaign_id: str) -> dict[str, Any]:
        """The campaign after its jobs have run."""
        for _ in range(40):
            run_jobs()
            campaign = self.now(campaign_id)
            if campaign["status"] != "sending":
                return campaign
            make_postponed_jobs_due()
        raise AssertionError((fetch_sql_rows("SELECT kind, state, last_error FROM outbox"), campaign))


def make_postponed_jobs_due() -> None:
    """Makes postponed campaign jobs due now."""
    with transaction() as session:
        session.execute(
            text(
                "UPDATE outbox SET run_at = now() WHERE state = 'ready' AND kind LIKE 'campaigns.%' "
                "AND run_at < now() + interval '2 minutes'"
            )
        )


def fetch_sql_rows(statement: str, **values: Any) -> list[Any]:
    """The rows of a statement."""
    with transaction() as session:
        return list(session.execute(text(statement), values))


def run_fan_out() -> None:
    """Runs only the fan-out, in as many attempts as a slow machine needs: creates the recipients and sends nothing."""
    ((outbox_id,),) = fetch_sql_rows("SELECT id FROM outbox WHERE kind = 'campaigns.fan_out' AND state = 'ready'")
    outcome = "postponed"
    while outcome == "postponed":
        lease = lease_next(outbox_id, worker="test", tuning=get_tuning())
        assert lease
        outcome = executor.run(lease, get_tuning())
    assert outcome == "done"
