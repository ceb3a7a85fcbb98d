"""Blocks and claims for tests, created over HTTP."""

from itertools import count
from typing import Any

from tests.factories.events import WEEKEND, create_organiser_client, create_published_event
from tests.http import Client, data

_numbers = count(1)


class Block:
    """A block and the client of its organiser: `post("codes", count=2)` posts to `…/codes`."""

    def __init__(self, owner: Client, event: dict[str, Any], created: dict[str, Any]) -> None:
        self.owner, self.event, self.id = owner, event, created["id"]
        self.ticket_type_id = created["ticketTypeId"]

    @property
    def events(self) -> str:
        return f"/api/events/{self.event['id']}/allocations"

    @property
    def path(self) -> str:
        return f"{self.events}/{self.id}"

    def post(self, verb: str, **body: Any) -> Any:
        return self.owner.post(f"{self.path}/{verb}", body)

    def change(self, *, version: int | None = None, **body: Any) -> Any:
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        return self.owner.patch(self.path, body, headers=headers)

    def now(self, **query: Any) -> dict[str, Any]:
        return data(self.owner.get(self.path, query_string={"limit": 100, **query}))

    def codes(self, number: int | None = None) -> list[str]:
        created_codes = data(self.post("codes", **({} if number is None else {"count": number})), 201)
        return [code["code"] for code in created_codes["codes"]]

    def invite(self, *emails: str) -> list[dict[str, Any]]:
        body = {"recipients": [{"name": email.partition("@")[0], "email": email} for email in emails]}
        invited: list[dict[str, Any]] = data(self.post("invite", **body), 201)["invited"]
        return invited

    def open_link(self, **body: Any) -> str:
        return token_in(data(self.post("open-link", **body)))

    def allocator(self, **body: Any) -> str:
        return token_in(data(self.post("allocator-link", **body)))

    def revoke(self, slot_id: str, **body: Any) -> Any:
        return self.post(f"slots/{slot_id}/revoke", **body)

    def admit(self, slot_id: str, **body: Any) -> Any:
        return self.owner.post(f"{self.events}/will-call/{slot_id}/admit", body)

    def claimed(self, number: int, name: str = "Frieda") -> list[str]:
        """Claim slots by codes; return their ids."""
        return [data(claim_slot(self.owner, code, name=f"{name} {code}"))["slotId"] for code in self.codes(number)]


def create_block(client: Client, *, total: int = 100, owner: Client | None = None, **fields: Any) -> Block:
    """Create a block of ten places, by default of an event with 100 tickets."""
    owner = owner or create_organiser_client(client)
    event = create_published_event(owner, ticketTypes=[{**WEEKEND, "quantity": total}])
    return create_another_block(
        Block(owner, event, {"id": "", "ticketTypeId": event["ticketTypes"][0]["id"]}), **fields
    )


def create_sunday_block(client: Client, **fields: Any) -> Block:
    """Create a block of day tickets, at a festival of three days where a ticket enters once a day."""
    owner = create_organiser_client(client)
    sunday = {"validFrom": "2027-06-06T10:00:00", "validUntil": "2027-06-06T23:00:00"}
    event = create_published_event(owner, ticketTypes=[{**WEEKEND, "name": "Sunday", **sunday}], reentry="daily")
    return create_another_block(
        Block(owner, event, {"id": "", "ticketTypeId": event["ticketTypes"][0]["id"]}), **fields
    )


def create_another_block(first: Block, **fields: Any) -> Block:
    """Create another block of the same ticket type."""
    sent = {"ticketTypeId": first.ticket_type_id, "quantity": 10, "kind": "sponsor", "name": "Gold", **fields}
    return Block(first.owner, first.event, data(first.owner.post(first.events, sent), 201))


def claim_slot(client: Client, token: str, **body: Any) -> Any:
    """Claim as a new guest who is not signed in."""
    number = next(_numbers)
    sent = {"name": f"Guest {number}", "email": f"guest{number}@example.com", "delivery": "will_call", **body}
    return Client(client.flask).post(f"/api/allocations/claim/{token}", sent)


def token_in(link: dict[str, Any]) -> str:
    url: str = link["url"]
    return url.rpartition("/")[2]
